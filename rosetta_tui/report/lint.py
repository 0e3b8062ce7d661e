"""What linting found, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rosetta_tui.show import figures
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from harness.lint.finding import LintFinding, LintReport

MOST_IDS = 12
"""Ids of entries that are named; JSON has all."""

SIGNS = {"look": "!", "note": "–"}

BESIDE = (
    "Not examined here: whether scores can be reproduced, entries that were moved between segments, and what people say of the "
    "outputs (benchmark-specification §9.2–9.3)."
)


def lint_lines(found: Sequence[LintReport]) -> Iterator[str]:
    """Yield what ``rosetta runs lint`` prints."""
    for report in found:
        yield f"{report.run}: {_summary(report)}"
        for finding in report.findings:
            yield from _finding(finding)
        for skipped in report.not_looked_at:
            yield f"  – {skipped.check}: not examined, because {skipped.why}"
        yield ""
    yield BESIDE


def _summary(report: LintReport) -> str:
    count = sum(finding.severity == "look" for finding in report.findings)
    if count:
        return f"{count} to look at"
    skipped = {not_looked_at.check for not_looked_at in report.not_looked_at}
    if "all" in skipped:
        return "no check could be made"
    made = f"nothing found by {report.checks - len(skipped)} of {report.checks} checks"
    return f"{made}; the outputs themselves were not examined" if "outputs" in skipped else made


def _finding(each: LintFinding) -> Iterator[str]:
    chance = "" if each.chance is None else f" By chance: {figures.p_words(each.chance)}."
    yield f"  {SIGNS[each.severity]} {each.check}: {each.seen}.{chance}"
    if each.examples:
        yield f"      such as   {' · '.join(map(plain, each.examples))}"
    if each.entries:
        more = f" and {len(each.entries) - MOST_IDS:,} more" if len(each.entries) > MOST_IDS else ""
        yield f"      entries   {', '.join(map(str, each.entries[:MOST_IDS]))}{more}"
    if each.rests_on:
        yield f"      rests on  {each.rests_on}"
    if each.proves_not:
        yield f"      proves    not {each.proves_not}"
