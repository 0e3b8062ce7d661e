"""Progress by pseudonym: who was asked how much, and how much of it is here. Never how anybody rated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from review.files.reviewer_codes import printed
from rosetta_tui.review.organiser.pages.batches import minute
from rosetta_tui.review.organiser.pages.plain_table import PlainTable
from rosetta_tui.review.organiser.words.letters import not_shown_words
from rosetta_tui.review.organiser.words.sharing import kept_back_words, may_be_used
from rosetta_tui.show import figures
from rosetta_tui.show.cells import Cell
from rosetta_tui.show.columns import Column
from rosetta_tui.toolkit.content import show

if TYPE_CHECKING:
    from review.office.results.progress import ReviewerProgress, ReviewProgress
    from rosetta_tui.review.organiser.facts import ReviewNow

BAR = 16

_COLUMNS = (
    Column("who", "reviewer", 9),
    Column("bar", "", BAR),
    Column("done", "done", 12),
    Column("unjudged", "cannot judge", 12, right=True),
    Column("later", "later", 5, right=True, drop=4),
    Column("trained", "trained", 7, right=True, drop=2),
    Column("agreed", "agreed", 7, drop=3),
    Column("shares", "may be used", 11, drop=1),
    Column("harmful", "harmful", 7, right=True, drop=5),
    Column("seen", "last seen", 16, drop=1),
)


def people(now: ReviewNow) -> Iterator[Widget]:
    """Yield the section."""
    found = now.progress
    yield Static(
        Content.assemble(
            (f"{found.done:,} of {found.asked:,}", "bold"),
            f" decisions are here, from {figures.count(found.imports)} "
            f"file{'s' * (found.imports != 1)}.",
        ),
        classes="words",
    )
    yield _table(found)
    for line in (*kept_back_words(found), *not_shown_words(found)):
        yield Static(show(line, "$warn"), classes="after")
    yield Static(
        show(
            "In the order of the batches. It says how far people are, never how they rated.",
            "$quiet",
        ),
        classes="after",
    )


def _table(found: ReviewProgress) -> PlainTable:
    """Return a row for each person; only translations are put to a use that each decides about."""
    shown = [n for n, column in enumerate(_COLUMNS) if column.key != "shares" or not found.runs]
    rows = [_row(each) for each in found.reviewers]
    return PlainTable([_COLUMNS[n] for n in shown], [[row[n] for n in shown] for row in rows])


def _row(each: ReviewerProgress) -> tuple[Cell, ...]:
    from review.log.payloads import Scope

    seen = Cell(minute(each.last_import), "quiet")
    if each.withdrawn - {Scope.COMMENTS}:
        gone = (Cell("took it back", "quiet"), *(Cell("") for _ in range(6)))
        return (Cell(printed(each.reviewer)), Cell("·" * BAR, "quiet"), *gone, seen)
    share = each.done / each.asked if each.asked else 0
    return (
        Cell(printed(each.reviewer)),
        Cell(figures.progress_bar(share, BAR), "mark"),
        Cell(f"{each.done:,} of {each.asked:,}"),
        Cell(figures.count(each.cannot_judge)),
        Cell(figures.count(each.skipped)),
        Cell(figures.count(each.trained)),
        Cell("yes" if each.consented else "not yet", "plain" if each.consented else "quiet"),
        Cell(may_be_used(each), "warn" if each.kept_back else "plain"),
        Cell(figures.count(each.flagged), "warn" if each.flagged else "plain"),
        seen,
    )
