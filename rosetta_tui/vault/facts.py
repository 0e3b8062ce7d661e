"""What the custodian's screens show, read in a thread: vaults, what this computer told of secret entries, and what is due.

No text is opened. To read, no key of a vault is needed: only the release ledger is known by the keys of this
computer's keeper, which are asked for where there is one. An answer to a request is signed with a keeper's keys.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from corpora.files.json_types import JsonObject
from corpora.model.entry import Segment
from corpora.text.messages import to_minute
from harness.consent.withdrawals_in_force import standing as withdrawals
from harness.core.failures import HarnessError, UsageError
from harness.core.storage import PUBLISHED, file_stamp
from harness.leaderboard.official import withdrawn_of
from harness.release import FOLDER, ledger
from harness.release.budget import MOMENT, History
from harness.release.ledger_records import LEAST_CONFIRMED, CertificateTold
from harness.sealed import stick
from harness.sealed.keys import Identity, Role, key_phrase
from harness.sealed.strict_records import FileError, FileProblem
from harness.store.sqlite.database import opened
from harness.vault.folder import LOCK, VaultState
from harness.vault.grant_log import request_id
from harness.vault.grants.files import (
    ANSWER_SUFFIX,
    MOST_BYTES,
    asked_words,
    refuse_over,
    request_facts,
    standing,
)
from harness.vault.grants.grants import grant_in, grant_of, read_asked
from harness.vault.keepers import own_identity
from harness.vault.log import moment
from harness.vault.opening import folders_seen, grants_of, vault_at
from harness.vault.shares import shares_tried
from harness.vault.vault_records import (
    Added,
    ConsentChanged,
    CopyMade,
    Dealt,
    Enrolled,
    Founded,
    GrantRequest,
    Opened,
    OpenedByGrant,
    Revoked,
    Rotated,
    Used,
)
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.content import SectionPage
from rosetta_tui.vault.messages import LoggedAct, logged_acts

_CONSENT = "consent.jsonl"


@dataclass(frozen=True)
class VaultFacts:
    """A vault that is whole and unchanged."""

    state: VaultState
    log: Sequence[LoggedAct]
    """The oldest line first."""
    taken_out: Mapping[str, str]
    """Signing key of a keeper → the notice by which they are none any more, which this copy does not know."""
    phrases: Mapping[str, str] = field(default_factory=dict)
    """Signing key of a keeper → the six words by which others know it; slow to make, so only where they are shown."""
    requests: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Id of a request → what it asks for, line by line; as slow."""
    tried: Mapping[str, str] = field(default_factory=dict)
    """Signing key of a keeper → when they last tried the share that they have now."""

    @property
    def name(self) -> str:
        """Name of the vault."""
        return self.state.founded.name

    @property
    def older_copy(self) -> Sequence[str]:
        """Return for each keeper who was taken out since that this copy does not know it; none where it is up to date."""
        return [
            f"OLDER COPY: {self.state.keepers[key].name} is no keeper any more, by a notice: {notice_words}. Bring this copy up to date."
            for key, notice_words in self.taken_out.items()
        ]


@dataclass(frozen=True)
class ToldScores:
    """The ledger of this computer: what it told of secret entries, of whatever vault."""

    history: History | None
    """None where it cannot be read; ``trouble`` says why."""
    trouble: str = ""
    withdrawn: frozenset[str] = frozenset()
    """Runs whose scores were told, and consent to which was withdrawn."""


@dataclass(frozen=True)
class VaultReading:
    """What reading a vault's folder gave."""

    folder: Path
    mark: Hashable
    """Changes where a file of the vault does, or one of this computer that belongs to it."""
    facts: VaultFacts | None = None
    """None where the vault cannot be shown; ``problem`` and ``trouble`` say why."""
    problem: FileProblem | None = None
    trouble: str = ""
    told: ToldScores = field(default_factory=lambda: ToldScores(History()))

    @property
    def name(self) -> str:
        """Name of the vault; of one that cannot be shown, that of its folder."""
        return self.facts.name if self.facts else self.folder.name


def read_vault(folder: Path, home: Path, before: VaultReading | None = None, *, anyway: bool = True) -> VaultReading:
    """Read and check every byte of a vault, and the ledger of the data folder ``home``.

    Gives ``before`` back where nothing has changed since, unless it is to be read ``anyway``.
    """
    mark = _mark(folder, home)
    if before is not None and not anyway and before.mark == mark:
        return before
    scores = told_scores(home)
    try:
        facts = vault_facts(folder, home)
    except (HarnessError, OSError) as error:
        problem = error.problem if isinstance(error, FileError) else None
        return VaultReading(folder, mark, problem=problem, trouble=str(error), told=scores)
    # reading notes how far this computer saw the vault, so the mark of before may be another one already
    return VaultReading(folder, _mark(folder, home), facts, told=scores)


def vault_facts(folder: Path, home: Path) -> VaultFacts:
    """Read and check every byte of a vault; HarnessError where it cannot be shown."""
    vault = vault_at(folder, home)
    state, withdrawn = vault.read(), withdrawals(home)
    gone = {
        key: notice.said for key in state.keepers if (notice := withdrawn.of_keeper(state.head.vault, key)) is not None
    }
    tried = shares_tried(state, vault.memory)
    return VaultFacts(state, logged_acts(state), gone, tried=tried)


def read_in_full(folder: Path, home: Path, before: VaultReading | None, *, anyway: bool) -> VaultReading:
    """Read a vault as ``read_vault`` does, with the six words of its keepers and what each request asks for."""
    vault = read_vault(folder, home, before, anyway=anyway)
    facts = vault.facts
    if vault is before or facts is None:
        return vault
    phrases = {key: key_phrase(key) for key in facts.state.keepers}
    requests = {
        grant.id: (
            asked_words(grant.request, facts.state),
            *map(": ".join, request_facts(grant.request, compared=not grant.used)),
        )
        for grant in facts.state.grants.values()
    }
    return replace(vault, facts=replace(facts, phrases=phrases, requests=requests))


def read_vaults(home: Path, before: Sequence[VaultReading] | None, *, anyway: bool) -> Sequence[VaultReading]:
    """Read every vault that this computer saw, those that changed since ``before`` or, with ``anyway``, all; by name.

    Gives ``before`` back where none of them changed.
    """
    known = {vault_reading.folder: vault_reading for vault_reading in before or ()}
    folders = [Path(name) for name in dict.fromkeys(folders_seen(home))]
    vault_readings = [read_vault(folder, home, known.get(folder), anyway=anyway) for folder in folders]
    vault_readings.sort(key=lambda reading: (reading.name.casefold(), str(reading.folder)))
    if before is not None and list(map(id, before)) == list(map(id, vault_readings)):
        return before
    return vault_readings


def told_scores(home: Path) -> ToldScores:
    """Read the ledger of this computer; keys are made for nobody who has none."""
    try:
        if not (history := ledger.told_so_far(home)).acts:
            return ToldScores(history)
        with opened() as store:
            return ToldScores(history, withdrawn=withdrawn_of(history, store))
    except (HarnessError, OSError) as error:
        return ToldScores(None, str(error))


def _mark(folder: Path, home: Path) -> Hashable:
    """Return what changes where a file does: of the vault's folder all but its lock, of the data folder those that count."""
    hashables: list[Hashable] = []
    try:
        with os.scandir(folder) as files:
            hashables += sorted((file.name, file_stamp(file)) for file in files if file.name != LOCK)
    except OSError as error:
        hashables.append(error.errno)
    ours = (home / FOLDER / ledger.LEDGER, home / _CONSENT)
    return (*hashables, *map(file_stamp, ours))


# ---- Answering a request: what it asks for in plain words, and the answer as the commands write it.


@dataclass(frozen=True)
class AskedRequest:
    """A request that can be answered, in the vault of a folder or a copy of it."""

    folder: Path
    home: Path
    """The data folder."""
    request: GrantRequest
    data: bytes | None
    """Of its file; None for one of the log."""
    asks: str
    """Who asks for which texts."""
    facts: Sequence[tuple[str, str]]
    """What else it says, and who answered so far: what is said, and the words."""
    here: bool
    """True where this computer asked, so that the answer is imported at once."""
    proposal: Path
    """A free name for the file of the answer, beside that of the request."""


def asked_in_file(folder: Path, home: Path, path: Path) -> AskedRequest:
    """Read and check a request in a file; HarnessError in words where it cannot be answered any more, or never could."""
    data = stick.read_file(path, MOST_BYTES)
    request, state = read_asked(vault_at(folder, home), data)
    return _asked(folder, home, state, request, data, path.with_suffix(ANSWER_SUFFIX))


def asked_in_log(folder: Path, home: Path, number: str) -> AskedRequest:
    """Read a request of a vault's log by its SHA-256; raises as ``asked_in_file``."""
    state = vault_at(folder, home).read()
    request = grant_of(state, number).request
    return _asked(folder, home, state, request, None, Path.cwd() / f"{number[:8]}{ANSWER_SUFFIX}")


def _asked(
    folder: Path, home: Path, state: VaultState, request: GrantRequest, data: bytes | None, proposal: Path
) -> AskedRequest:
    grant = grant_in(state, request)
    now = moment(vault_at(folder, home).clock())
    refuse_over(state, grant, max(now, state.lines[-1].record.when))
    facts = (*request_facts(request), ("so far", standing(state, grant)))
    here = request_id(request) in state.grants and Identity.known(home, Role.COMPUTER)  # without own keys none asks
    here = here and Identity.load(home, Role.COMPUTER).public.signing_key == request.machine
    number, free = 2, proposal
    while free.exists():
        free = proposal.with_stem(f"{proposal.stem}-{number}")
        number += 1
    return AskedRequest(folder, home, request, data, asked_words(request, state), facts, here, free)


def give_answer(asked: AskedRequest, *, allowed: bool, reason: str, keys: Path | None, target: Path) -> str:
    """Allow or refuse a request, and take the answer in, or write it to ``target`` where another computer asked; say which.

    ``keys``: a file of a keeper's keys; None: those of this computer's keeper. HarnessError in words where it cannot be.
    """
    if not asked.here and target.exists():
        raise UsageError(f"{target.name} is there already. Choose another name.")
    grants = grants_of(vault_at(asked.folder, asked.home), asked.home)
    identity = own_identity(asked.home, keys)
    if asked.data is None:
        request, state = asked.request, grants.vault.read()
    else:
        request, state = read_asked(grants.vault, asked.data)
    data = grants.answer_asked(request, state, identity, allowed=allowed, reason=reason)
    did = "Allowed" if allowed else "Refused"
    if asked.here:
        grant, _ = grants.take(data, identity)
        return f"{did}; the log has it. {standing(grants.vault.read(), grant)}"
    stick.write_file(target, data, PUBLISHED)
    return f"{did}, and written: {target}. It goes back to anyone who asked."


# ---- What is due with a vault, each with the one command that does it ----


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
        words = f"The last copy is of {to_minute(records[copied].when)}, before the vault changed."
    else:
        return CheckItem("copy", False, f"The copy of {to_minute(records[copied].when)} has it all.")
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
