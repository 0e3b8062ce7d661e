"""What is due with a vault, each with the one command that does it: for ``rosetta vault check-up`` and the vault's screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from corpora.files.json_types import JsonObject
from corpora.model.entry import Segment
from harness.release.budget import MOMENT
from harness.release.ledger_records import LEAST_CONFIRMED, CertificateTold
from harness.vault.vault_records import (
    Added,
    ConsentChanged,
    CopyMade,
    Dealt,
    Enrolled,
    Founded,
    Opened,
    OpenedByGrant,
    Revoked,
    Rotated,
    Used,
)
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.content import SectionPage, moment
from rosetta_tui.vault.facts import ToldScores, VaultFacts

ROTATE: Final = "rotate"
SHARES: Final = "shares"
TRIED_DAYS: Final = 366
"""Keys and shares are tried once a year."""
_VAULT: Final = ("rosetta", "vault")
_CHANGES: Final = Founded | Added | Rotated | Enrolled | Revoked | Dealt | ConsentChanged
"""What a copy has to know: what a vault holds, who opens it, and what was taken back."""


@dataclass(frozen=True)
class CheckItem:
    """One checked item."""

    name: str
    due: bool
    words: str
    command: Sequence[str] = ()
    """What does it, word by word; words in capital letters are to be filled in."""
    corpus: str = ""
    """The one corpus that it is about."""

    def as_json(self) -> JsonObject:
        return {
            "name": self.name,
            "due": self.due,
            "words": self.words,
            "command": list(self.command),
            "corpus": self.corpus or None,
        }


def check_up(facts: VaultFacts, told: ToldScores, folder: str, now: datetime) -> list[CheckItem]:
    """Return the checked items, due ones first; no key is needed for it, and no text is opened."""
    items = [*_tried(facts, folder, now), *_answers(facts, told, folder), _copy(facts, folder)]
    if facts.state.split is not None:
        command = (*_VAULT, "check-up", folder, "--do", SHARES, "--with", "FILE", "--purpose", "WORDS")
        words = "When a printed page was lost or seen, or you doubt a keeper: make new shares."
        items.append(CheckItem(SHARES, False, words, command))
    return sorted(items, key=lambda item: not item.due)


def _tried(facts: VaultFacts, folder: str, now: datetime) -> Iterator[CheckItem]:
    """Yield who did not try their share, or their keys where each opens alone, within a year."""
    state, since = facts.state, (now - timedelta(days=TRIED_DAYS)).strftime(MOMENT)
    alone = state.split is None
    tried = facts.tried
    if alone:
        opened = Opened | Used | OpenedByGrant
        records = [line.record for line in state.lines]
        tried = {record.by: record.when for record in records if isinstance(record.act, opened)}
    late = [keeper for key, keeper in state.keepers.items() if tried.get(key, "") < since]
    what = "keys" if alone else "share"
    count = len(state.keepers)
    if not late:
        yield CheckItem("tried", False, f"All {count} tried their {what} within a year.")
        return
    ready = "" if alone else f" {count - len(late)} of {count} did; {state.threshold} are needed to open it."
    names = ", ".join(keeper.name for keeper in late)
    words = f"Not tried within a year, each on their own computer: the {what} of {names}.{ready}"
    command = [*_VAULT, "share", folder]
    if alone:
        corpora = [corpus.name for corpus in state.head.corpora.values()] or ["CORPUS"]
        command = [*_VAULT, "open", folder, corpora[0], "--purpose", "WORDS"]
    yield CheckItem("tried", True, words, (*command, "--key", "FILE") if late[0].recovery else command)


def _answers(facts: VaultFacts, told: ToldScores, folder: str) -> Iterator[CheckItem]:
    """Yield for each corpus with released scores how many answers were given since its entries were last moved."""
    if told.history is None:
        yield CheckItem(ROTATE, False, told.trouble)
        return
    for number, corpus in facts.state.head.corpora.items():
        acts = [line.record for line in facts.state.lines if isinstance(line.record.act, Rotated)]
        moved = max((r.when for r in acts if getattr(r.act, "corpus", "") == number), default="")
        given = sum(
            act.corpus == corpus.name and when > moved and not isinstance(act, CertificateTold)
            for when, act in told.history.answers
        )
        most = told.history.policy("", corpus.name).everybody
        if given:
            words = f"{given:,} of {most:,} answers about {corpus.name!r} were given since its entries were last moved."
            due, command = given >= most, tuple[str, ...]()
            if due:  # unseen entries come into use, or into the vault where none are kept for later
                left = corpus.entries.get(Segment.HELD_OUT, 0)
                named, count = (*_VAULT, "check-up", folder, corpus.name), str(min(left, LEAST_CONFIRMED))
                move = (*named, "--do", ROTATE, "--count", count, "--purpose", "WORDS")
                command = move if left else (*_VAULT, "add", folder, "FILE")
            yield CheckItem(ROTATE, due, words, command, corpus.name)


def _copy(facts: VaultFacts, folder: str) -> CheckItem:
    if facts.older_copy:
        return CheckItem("copy", True, " ".join(facts.older_copy))
    records = [line.record for line in facts.state.lines]
    copied = max((n for n, r in enumerate(records) if isinstance(r.act, CopyMade)), default=-1)
    changed = max(n for n, r in enumerate(records) if isinstance(r.act, _CHANGES))
    command = (*_VAULT, "export", folder, "FOLDER", "--purpose", "WORDS")
    if copied < 0:
        words = "No copy was made: a broken disk would take everything."
    elif copied < changed:
        words = f"The last copy is of {moment(records[copied].when)}, before the vault changed."
    else:
        return CheckItem("copy", False, f"The copy of {moment(records[copied].when)} has it all.")
    return CheckItem("copy", True, words, command)


def check_up_lines(items: Sequence[CheckItem]) -> Iterator[str]:
    """Yield the items as lines, each with its command below."""
    for item in items:
        yield f"{'!' if item.due else '✓' if not item.command else '·'} {item.name}: {item.words}"
        if item.command:
            yield f"    {command_line(item.command)}"
    due = sum(item.due for item in items)
    yield f"{due} due." if due else "Nothing is due."


_COLUMNS = (Column("name", "what", 8), Column("due", "due", 4), Column("words", "why", 24, share=1))


def check_up_page(items: Sequence[CheckItem]) -> SectionPage:
    """Return the items as a section of the vault's screen."""
    about_lines = [("What is due; found without a key. c copies the command.", "plain")]
    rows = [(Cell(item.name), Cell("due" if item.due else "", "warn"), Cell(item.words)) for item in items]
    about = [[(item.words, "warn" if item.due else "plain")] for item in items]
    commands = [{item.words: item.command} if item.command else {} for item in items]
    return SectionPage(about_lines, _COLUMNS, rows, about, commands, waiting=sum(item.due for item in items))
