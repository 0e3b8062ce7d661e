"""The sentences of a corpus in the making: by difficulty, register and where they came from; none of them is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from corpora.model.entry import REGISTERS
from harness.project.asking import TIERS
from harness.project.candidates import WEIGHTS
from rosetta_tui.project.facts import ProjectFacts
from rosetta_tui.project.requirements import BAR, SEGMENTS, bar
from rosetta_tui.report.project import middle_words
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.section_page import Line, SectionPage
from scoring.core.messages import counted, percent

_COLUMNS = (
    Column("side", "sorted by", 10),
    Column("which", "which", 36, share=1),
    Column("bar", "", BAR, drop=2),
    Column("count", "sentences", 9, right=True),
    Column("part", "part", 6, right=True, drop=3),
)


def sentences(facts: ProjectFacts, folder: Path) -> SectionPage:
    """Return how many sentences there are of each kind."""
    progress = facts.progress
    total = sum(segment.sources for segment in progress.segments)
    kinds = list(_kinds(facts)) if total else []
    commands = {
        "Add sentences from a file": ("rosetta", "corpus", "sources", str(folder), "FILE"),
        "Take out those that were added last": ("rosetta", "corpus", "sources", str(folder), "--undo"),
    }  # fmt: skip
    rows = [
        (
            Cell(side if number == 0 or kinds[number - 1][0] != side else "", "quiet"),
            Cell(which),
            Cell(bar(count, total), "mark"),
            Cell(f"{count:,}", "plain" if count else "quiet"),
            Cell(percent(count / total), "quiet"),
        )
        for number, (side, which, count, _) in enumerate(kinds)
    ]
    about: list[list[Line]] = [[(meaning, "quiet")] for *_, meaning in kinds]
    about_lines = list(_said(facts, total))
    return SectionPage(
        about_lines, _COLUMNS, rows, about, [commands] * max(1, len(rows)),
        "There are no sentences yet. Press s to add them from a file: a table, or a text with one on each line.",
    )  # fmt: skip


def _said(facts: ProjectFacts, total: int) -> Iterator[Line]:
    if total:
        middle = middle_words(facts.progress.by_difficulty)
        yield f"{counted(total, 'sentence')} collected; {middle}.", "plain"
        yield "What they say is not shown here: some of them are secret.", "quiet"


def _kinds(facts: ProjectFacts) -> Iterator[tuple[str, str, int, str]]:
    """Yield each kind: by what it is sorted, its name, how many there are, and what it means."""
    progress = facts.progress
    for segment in progress.segments:
        plain, meaning = SEGMENTS[segment.segment]
        yield "use", plain, segment.sources, f"{segment.segment}: {meaning}"
    for tier, words in TIERS.items():
        share = percent(WEIGHTS[tier])
        meaning = f"Difficulty {tier} is {words}. About {share} of all sentences should be of it."
        yield "difficulty", f"{tier}  {words}", progress.by_difficulty.get(str(tier), 0), meaning
    registers: Mapping[str, int] = dict.fromkeys(REGISTERS, 0) | progress.by_register
    for name, count in registers.items():
        yield "register", name, count, "Sentences of two registers or more are needed."
    for name, count in progress.by_origin.items():
        yield "origin", name, count, "The corpus says of each sentence where it came from."
