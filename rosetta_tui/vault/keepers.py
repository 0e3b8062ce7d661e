"""Who opens a vault, alone or together with others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.vault.folder import VaultState
from harness.vault.log import LogLine
from harness.vault.records import Dealt, Enrolled, Founded, Keeper, Revoked
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.section_page import Commands, Line, SectionPage, moment
from rosetta_tui.vault.facts import VaultFacts
from rosetta_tui.vault.messages import losing
from scoring.core.messages import counted

_KEEPERS = (
    Column("keeper", "keeper", 12, share=1),
    Column("kind", "what it is", 12, drop=4),
    Column("since", "since (UTC)", 16, drop=3),
    Column("phrase", "six words of their keys", 40, share=2),
)


def keepers(facts: VaultFacts, folder: str) -> SectionPage:
    """Return who opens a vault, alone or together, and what it means to lose a key."""
    state = facts.state
    people = list(state.keepers.values())
    count = len(people)
    if state.split is None:
        opens = f"Each of these {count} opens it alone."
        lost = f"If all {count} keys are lost, nobody can ever open the texts again."
    else:
        opens = f"Any {state.threshold} of these {count} open it together, and nobody alone."
        lost = losing(count, state.threshold)
    about_lines = [(opens, "plain"), (lost, "warn"), *((line, "bad") for line in facts.older_copy)]
    rows, about = [], []
    for person in people:
        gone = facts.taken_out.get(person.signing_key)
        kind = "recovery key" if person.recovery else "keeper"
        phrase = facts.phrases.get(person.signing_key, "")
        rows.append(
            (
                Cell(person.name),
                Cell("taken out" if gone else kind, "bad" if gone else "plain"),
                Cell(moment(_since(state.lines, person.signing_key)), "quiet"),
                Cell(phrase),
            )
        )
        about.append(list(_about_keeper(facts, person, phrase)))
    commands = [_keeper_commands(state, folder, person) for person in people]
    return SectionPage(about_lines, _KEEPERS, rows, about, commands, waiting=len(facts.taken_out))


def _since(lines: Sequence[LogLine], key: str) -> str:
    """Return when somebody became a keeper, the last time where they came again."""
    when, before = "", False
    for line in lines:
        match line.record.act:
            case Founded(keepers=people) | Dealt(keepers=people):
                here = key in {person.signing_key for person in people}
            case Enrolled(keeper=one):
                here = before or one.signing_key == key
            case Revoked(keeper=gone):
                here = before and gone != key
            case _:
                continue
        if here and not before:
            when = line.record.when
        before = here
    return when


def _about_keeper(facts: VaultFacts, keeper: Keeper, phrase: str) -> Iterator[Line]:
    wrote = [logged_act for logged_act, line in zip(facts.log, facts.state.lines, strict=True) if line.record.by == keeper.signing_key]  # fmt: skip
    last = f", the last at {moment(wrote[-1].when)}" if wrote else ""
    yield f"{keeper.name} signed {counted(len(wrote), 'line')} of the log{last}.", "plain"
    if keeper.recovery:
        yield "The recovery key is on no computer: it is a file that you lock away, apart from the computers and from this folder.", "quiet"  # fmt: skip
    yield f"Their six words: {phrase}. By telephone they read them to you from their own computer; other words mean other keys.", "quiet"  # fmt: skip


def _keeper_commands(state: VaultState, folder: str, keeper: Keeper) -> Commands:
    vault = ("rosetta", "vault")
    commands: dict[str, Sequence[str]] = {
        "Let one more person be a keeper": (*vault, "enrol", folder, "NAME.rosetta-keeper", "--purpose", "WORDS"),
        f"Take {keeper.name} out": (*vault, "revoke", folder, keeper.name, "--purpose", "WORDS"),
    }  # fmt: skip
    if state.split is not None:
        commands["Print my share of the key"] = (*vault, "share", folder, "--print", "FILE.html")
        commands["Try whether my share is right"] = (*vault, "share", folder)
        commands["Make new shares, when one is lost"] = (*vault, "check-up", folder, "--do", "shares", "--with", "FILE", "--purpose", "WORDS")  # fmt: skip
    return commands
