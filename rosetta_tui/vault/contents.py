"""What a vault holds, and its log: who did what with it, and what for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from corpora.model.entry import Segment
from harness.vault.folder import VaultState
from harness.vault.grants.messages import counts
from harness.vault.log import withdrawals_of, withdrawn_words
from harness.vault.records import Added, Opened, OpenedByGrant, Used
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.section_page import Commands, Line, SectionPage, moment
from rosetta_tui.vault.facts import VaultFacts
from rosetta_tui.vault.messages import LoggedAct, telling, told_outside
from scoring.core.messages import counted

_HOLDS = (
    Column("corpus", "corpus", 12, share=2),
    Column("entries", "entries", 7, right=True),
    *(
        Column(str(segment), str(segment), len(segment), right=True, drop=1 + segment.secret)
        for segment in Segment
    ),
    Column("opened", "last opened", 16, drop=4),
)


def contents(facts: VaultFacts, folder: str) -> SectionPage:
    """Return what a vault holds: its corpora, how many entries they have, when they were opened."""
    state = facts.state
    made = facts.log[0]
    about_lines: list[Line] = [
        ("✓ Whole and unchanged: every file and every signature was checked, and no text was opened for it.", "good"),
        (f"Made {moment(made.when)} by {made.by} · number {state.head.vault[:16]} · {folder}", "quiet"),
        *((line, "bad") for line in facts.older_copy),
    ]  # fmt: skip
    if state.left_over:
        about_lines.append(("A change was stopped before its end. Nothing is lost; the next one clears what is left of it.", "warn"))  # fmt: skip
    rows, about, commands = [], [], []
    for number, corpus in state.head.corpora.items():
        opened = _openings(facts, number)
        last = opened[-1] if opened else None
        rows.append(
            (
                Cell(corpus.name),
                Cell(f"{sum(corpus.entries.values()):,}"),
                *(Cell(f"{corpus.entries.get(segment, 0):,}") for segment in Segment),
                Cell(moment(last.when) if last else "never", "plain" if last else "quiet"),
            )
        )
        about.append(list(_about_corpus(facts, number, opened)))
        commands.append(_content_commands(state, folder, corpus.name))
    return SectionPage(
        about_lines, _HOLDS, rows, about, commands or [_content_commands(state, folder, "")],
        "Nothing is in it yet. What to do (c) has the command that seals a corpus and puts it in.",
    )  # fmt: skip


def _openings(facts: VaultFacts, number: str) -> list[LoggedAct]:
    """Return the lines of the log that say that a corpus was opened."""
    kinds = Opened | Used | OpenedByGrant
    return [
        logged_act
        for logged_act, line in zip(facts.log, facts.state.lines, strict=True)
        if isinstance(line.record.act, kinds) and line.record.act.corpus == number
    ]


def _about_corpus(facts: VaultFacts, number: str, opened: Sequence[LoggedAct]) -> Iterator[Line]:
    stored_corpus = facts.state.head.corpora[number]
    yield f"{stored_corpus.name}: {counts(stored_corpus.entries)}", "plain"
    acts = zip(facts.log, facts.state.lines, strict=True)
    put = next(logged_act for logged_act, line in acts if isinstance(line.record.act, Added) and line.record.act.corpus == number)  # fmt: skip
    times = f"opened {counted(len(opened), 'time')}" if opened else "never opened"
    last = f", the last time by {opened[-1].by}: {opened[-1].purpose}" if opened else ""
    yield f"put in {moment(put.when)} by {put.by} · {times}{last}", "quiet"
    if (line := withdrawals_of(facts.state.lines).get(number)) is not None:
        yield withdrawn_words(facts.state.lines, line), "bad"
    yield from (
        (f"{line}.", "plain") for line in (*telling(stored_corpus), *told_outside(stored_corpus))
    )
    if stored_corpus.entries.get(Segment.HELD_OUT):
        yield "Entries of held_out are kept for later and never opened, until they are moved by name.", "quiet"  # fmt: skip


def _content_commands(state: VaultState, folder: str, corpus: str) -> Commands:
    vault = ("rosetta", "vault")
    commands: dict[str, Sequence[str]] = {"Seal one more corpus": (*vault, "add", folder, "FILE")}
    if corpus:
        if state.split is None:
            commands[f"Open {corpus} in memory, to try the keys"] = (*vault, "open", folder, corpus, "--purpose", "WORDS")  # fmt: skip
        else:
            commands[f"Ask the keepers to open {corpus} once"] = (*vault, "open", folder, corpus, "--purpose", "WORDS", "--ask", "NAME.rosetta-request")  # fmt: skip
        commands["Move entries that were kept for later into use"] = (*vault, "check-up", folder, corpus, "--do", "rotate", "--count", "NUMBER", "--purpose", "WORDS")  # fmt: skip
    commands["Make a sealed copy, on a stick for example"] = (*vault, "export", folder, "FOLDER", "--purpose", "WORDS")  # fmt: skip
    return commands


_LOG = (
    Column("when", "when (UTC)", 16),
    Column("by", "who", 8, share=1),
    Column("words", "what", 24, share=4),
    Column("purpose", "what for", 12, share=2, drop=1),
)


def log(facts: VaultFacts, folder: str) -> SectionPage:
    """Return the log of a vault, the newest line first."""
    newest = list(reversed(facts.log))
    about_lines = [
        (f"{counted(len(newest), 'line')}, the newest first. Each is signed and names the one before it; all of them fit together.", "plain")
    ]  # fmt: skip
    rows = [
        (
            Cell(moment(logged_act.when)),
            Cell(logged_act.by),
            Cell(logged_act.words, "warn" if logged_act.clock_set_back else "plain"),
            Cell(logged_act.purpose or "", "quiet"),
        )
        for logged_act in newest
    ]
    commands: Commands = {
        "Show the log in a shell, the oldest line first": ("rosetta", "vault", "log", folder)
    }
    return SectionPage(about_lines, _LOG, rows, [list(_about_act(logged_act)) for logged_act in newest], [commands] * len(rows))  # fmt: skip


def _about_act(act: LoggedAct) -> Iterator[Line]:
    yield f"{moment(act.when)}  {act.by}: {act.words}", "plain"
    if act.purpose:
        yield f"what for: {act.purpose}", "plain"
    if act.clock_set_back:
        yield "The clock of an earlier line was wrong; anyone who wrote this line said so.", "warn"
    yield f"line {act.id[:16]}", "quiet"
