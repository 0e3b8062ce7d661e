"""Findings of the doctor as lines for a terminal and rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import Any

from harness.doctor.finding import Finding, Health
from rosetta_tui.show.columns import Cell, Column, Rows
from rosetta_tui.show.text import plain

SIGNS = {Health.OK: "✓", Health.MISSING: "○", Health.BROKEN: "✗", Health.UNKNOWN: "?"}
"""Health → the shape that stands before its word."""

_TONES = {
    Health.OK: "good",
    Health.MISSING: "warn",
    Health.BROKEN: "bad",
    Health.UNKNOWN: "quiet",
}

COLUMNS = (
    Column("state", "state", 9),
    Column("area", "about", 9, drop=1),
    Column("name", "what", 13, share=1),
    Column("words", "found", 20, share=9),
)


class FindingRows(Rows[Finding]):
    """One row for each finding."""

    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row; what its words lead on to stands below the table."""
        finding = self.items[index]
        return (
            Cell(f"{SIGNS[finding.health]} {finding.health}", _TONES[finding.health]),
            Cell(finding.area, "quiet"),
            Cell(finding.name),
            Cell(
                f"{finding.words.removesuffix(':')} …"
                if finding.words.endswith(":")
                else finding.words
            ),
        )


def finding_lines(finding: Finding, *, new_area: bool, width: int | None = None) -> Iterator[str]:
    """Yield the lines of one finding, with the name of its area before it where that is another.

    Words are broken to lines of ``width`` cells at most, where it is given; what is to be copied never is.
    """
    if new_area:
        yield finding.area
    sign = f"{SIGNS[finding.health]} {finding.health}"
    whole = f"  {sign:<10}{plain(finding.name)}: {plain(finding.words)}"
    yield from [whole] if width is None else wrap(whole, width, **_BREAKS)
    yield from (f"{_INDENT}{line}" for line in finding.mend)


_INDENT = " " * 12
_BREAKS: Any = {
    "subsequent_indent": _INDENT,
    "break_long_words": False,
    "break_on_hyphens": False,
    "drop_whitespace": True,
}


def summary(findings: Sequence[Finding]) -> str:
    """Return how it stands with everything together."""
    counts = {health: sum(finding.health is health for finding in findings) for health in Health}
    broken, missing = counts[Health.BROKEN], counts[Health.MISSING]
    verdict = "Nothing is broken" if not broken else f"{broken} broken"
    rest = f"{missing} missing" if missing else "nothing is missing"
    unknown = f", {counts[Health.UNKNOWN]} not known" if counts[Health.UNKNOWN] else ""
    return f"{verdict}, {rest}{unknown}."


def findings_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return findings for programs."""
    return {
        "healthy": all(finding.health is not Health.BROKEN for finding in findings),
        "findings": [asdict(finding) for finding in findings],
    }
