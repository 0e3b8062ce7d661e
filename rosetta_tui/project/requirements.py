"""What a corpus in the making still needs: the minimum requirements as progress, and the next step (§11.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from corpora.checks.requirements import Requirement
from corpora.model.entry import Segment
from harness.project.authoring import SegmentProgress
from rosetta_tui.project.facts import ProjectFacts
from rosetta_tui.report.project import VAULT_INIT, Command, NextStep, consent_command, next_step
from rosetta_tui.show.clipboard import command_line
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.section_page import Commands, Line, SectionPage
from scoring.core.messages import counted

BAR = 16
"""Cells of a bar."""

SEGMENTS: Final[Mapping[str, tuple[str, str]]] = {
    Segment.GOLD_STANDARD: (
        "secret sentences to judge with",
        "Methods are judged with them, so nobody may see them before. They are stored encrypted here, and in a vault at the end.",
    ),
    Segment.DEVELOPMENT: (
        "open sentences to practise with",
        "Anyone who makes a method sees these, with their translations.",
    ),
    Segment.DIAGNOSTIC: (
        "open sentences that test one thing",
        "Each shows one thing of the language, such as a possessive; its variant class says which.",
    ),
    Segment.HELD_OUT: (
        "secret sentences for later",
        "They replace sentences to judge with once too much is known of those. Sealed like them.",
    ),
}
"""Segment → what it is in plain words, and what it is for."""

_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    **{f"{name} entries": words for name, words in SEGMENTS.items()},
    "entries with provenance": (
        "each translation says its origin",
        "Asked of speakers, out of a textbook, or looked over by a second speaker: each translation says which.",
    ),
    "difficulty tiers": (
        "levels of difficulty",
        "From 1, single words, to 5, several clauses. Most sentences should be of 2 to 4.",
    ),
    "registers": (
        "kinds of speech",
        "Such as conversational, formal or educational, so that a method is not judged by one alone.",
    ),
    "community consent": (
        "the community agreed",
        "Who said so for the community, on which day and to what, signed with the key of this computer's organisation.",
    ),
}  # fmt: skip
"""Requirement → the same in plain words, and what it means."""

_HERE: Final = {"sources": "press s", "gather": "then press t"}
"""Command about a corpus → what is said behind its step, where a key of the screen does the same."""

_COLUMNS = (
    Column("sign", "", 1),
    Column("what", "what a benchmark needs", 36),
    Column("bar", "", BAR, drop=2),
    Column("found", "there", 8, right=True),
    Column("short", "missing", 7, right=True, drop=1),
)


def needs(facts: ProjectFacts, folder: Path) -> SectionPage:
    """Return how much there is of each minimum requirement, and what comes next."""
    project_progress, step = facts.progress, next_step(facts.progress, folder)
    by_name = {f"{segment.segment} entries": segment for segment in project_progress.segments}
    rows, about = [], []
    for row in project_progress.requirements:
        segment = by_name.get(row.name)
        rows.append(
            (
                _sign(row),
                Cell(_WORDS.get(row.name, (row.name, ""))[0]),
                Cell(bar(row.found, row.needed, segment.sources if segment else 0), "good" if row.met else "mark"),
                Cell(f"{row.found} of {row.needed}"),
                Cell("" if row.met else str(row.short_by), "warn"),
            )
        )  # fmt: skip
        about.append(list(_about(row, segment)))
    commands = [commands_of(step, folder, in_vault=project_progress.in_vault)] * len(rows)
    return SectionPage(list(_said(facts, step)), _COLUMNS, rows, about, commands)


def _sign(row: Requirement) -> Cell:
    if not row.needed:
        return Cell("–", "quiet")
    return Cell("✓", "good") if row.met else Cell("○", "warn")


def bar(found: int, needed: int, coming: int = 0) -> str:
    """Draw how much of what is needed is there, with a thin line for what is on its way."""
    whole = max(1, needed)
    full, ahead = (min(BAR, BAR * amount // whole) for amount in (found, max(found, coming)))
    return "━" * full + "╌" * (ahead - full) + "·" * (BAR - ahead)


def met(facts: ProjectFacts) -> str:
    """Return how many requirements are met."""
    rows = facts.progress.requirements
    return f"{sum(row.met for row in rows)} of {len(rows)} met"


def _said(facts: ProjectFacts, step: NextStep) -> Iterator[Line]:
    here = next((_HERE[command[2]] for command in step.commands if command[2] in _HERE), "")
    yield f"Next: {step.words}{f' ({here})' if here else ''}", "plain"
    for command in step.commands:
        yield f"  {command_line(command)}", "mark"
    if facts.progress.warnings:
        yield f"The check of the corpus has {counted(facts.progress.warnings, 'warning')}.", "warn"


def _about(row: Requirement, segment: SegmentProgress | None) -> Iterator[Line]:
    plain, meaning = _WORDS.get(row.name, (row.name, ""))
    yield f"{plain} ({row.name})", "plain"
    if meaning:
        yield meaning, "quiet"
    if segment is not None:
        back = f"{segment.translated} translated · {segment.agreed} looked over by a second speaker"
        yield f"{segment.needed} needed · {segment.sources} collected · {back}", "quiet"
    if row.note:
        yield row.note, "quiet"


def commands_of(step: NextStep, folder: Path, *, in_vault: bool) -> Commands:
    """Return what can be done with a project, what comes next first."""
    corpus, here = ("rosetta", "corpus"), str(folder)
    sealed = ("--passphrases", "-o", "STICK")
    every: dict[str, Command] = {
        "Add sentences from a file": (*corpus, "sources", here, "FILE"),
        "Let a model on this machine write sentences": (*corpus, "sources", here, "--model", "NAME", "--difficulty", "3", "--register", "formal"),
        "Hand sentences to speakers, sealed": (*corpus, "translate", here, *sealed),
        "Take in what came back on a stick": ("rosetta", "review", "import", "STICK"),
        "Take it into this corpus": (*corpus, "gather", here),
        "Hand translations to a second speaker": (*corpus, "agree", here, *sealed),
        "Confirm what an analyser proposes": (*corpus, "analyse", here, "--by", "NAME"),
        "Record that the community agreed": consent_command(folder),
        "Make a vault": VAULT_INIT,
        "Seal all of it in a vault": ("rosetta", "vault", "add", "VAULT", here),
    }  # fmt: skip
    if in_vault:
        every = {"Check the corpus in its vault": (*corpus, "check", "CORPUS", "--vault", "VAULT", "--purpose", "WORDS")}  # fmt: skip
    names = {command[:3]: words for words, command in every.items()}
    first = {f"Next: {names.get(command[:3], step.words)}": command for command in step.commands}
    done = {command[:3] for command in step.commands}
    return {
        **first,
        **{words: arguments for words, arguments in every.items() if arguments[:3] not in done},
    }
