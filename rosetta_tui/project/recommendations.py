"""What is worth having beside the minimum (§11.2), and the hours and money of a language (§10.3)."""

from __future__ import annotations

from pathlib import Path

from rosetta_tui.project.facts import ProjectFacts
from rosetta_tui.project.requirements import BAR, bar
from rosetta_tui.report.framework import amount
from rosetta_tui.report.project import advice, cost_notes, cost_words, total_words
from rosetta_tui.show.columns import Cell, Column
from rosetta_tui.toolkit.section_page import Line, SectionPage

_ADVICE = (
    Column("name", "worth having", 46),
    Column("bar", "", BAR, drop=2),
    Column("found", "there", 10, right=True),
)


def worth_having(facts: ProjectFacts, folder: Path) -> SectionPage:
    """Return what is no requirement and helps, and how much of it there is."""
    done = sum(segment.translated for segment in facts.progress.segments)
    rows, about, commands = [], [], []
    for advice_item in advice(facts.progress, folder):
        counted = advice_item.found is not None
        rows.append(
            (
                Cell(advice_item.name),
                Cell(bar(advice_item.found, done) if advice_item.found is not None else "", "mark"),
                Cell(f"{advice_item.found} of {done}" if counted else "–", "plain" if counted else "quiet"),
            )
        )  # fmt: skip
        about.append([(f"{advice_item.name}: {advice_item.words}", "plain")])
        commands.append(advice_item.commands)
    about_lines: list[Line] = [("No requirement, and worth having (benchmark-specification §11.2).", "plain")]  # fmt: skip
    return SectionPage(about_lines, _ADVICE, rows, about, commands)


_COSTS = (
    Column("name", "what a language takes", 30, share=1),
    Column("usd", "US dollars", 14, right=True),
    Column("notes", "", 20, share=1, drop=1),
)


def costs(facts: ProjectFacts) -> SectionPage:
    """Return what a language costs until it is established, and the hours of its speakers."""
    worked = facts.costs
    total = () if worked.establishment_total is None else (worked.establishment_total,)
    rows = [
        (Cell(cost_row.name), Cell(amount(cost_row.usd)), Cell(cost_notes(cost_row), "quiet"))
        for cost_row in (*worked.establishment, *total)
    ]
    about_lines: list[Line] = [
        (line, "warn" if line.startswith("!") else "plain") for line in cost_words(worked)
    ]
    about_lines.append((f"Speakers until now: {next(total_words(facts.worked))}", "plain"))
    about_lines.append((f"Numbers of {worked.source}.", "quiet"))
    mine = {
        "Write these numbers to a file, to change them": ("rosetta", "cost", "--write", "FILE.toml"),
        "Work out what your own numbers come to": ("rosetta", "cost", "FILE.toml"),
    }  # fmt: skip
    about: list[list[Line]] = [[(f"{row[0].text}: {row[1].text}", "plain"), (row[2].text, "quiet")] for row in rows]  # fmt: skip
    return SectionPage(about_lines, _COSTS, rows, about, [mine] * len(rows))
