"""What waits for a person: runs to go on with, failed entries to ask for again, reviews to see to."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from rosetta_tui.session.resuming import may_resume, may_retry
from rosetta_tui.show import figures
from rosetta_tui.show.cells import Cell
from rosetta_tui.show.columns import Column
from rosetta_tui.show.run_facts import setup_words

if TYPE_CHECKING:
    from harness.store.runs import RunSummary
    from rosetta_tui.review.organiser.desk import OrganiserDesk
    from rosetta_tui.review.organiser.facts import ReviewLine


class Lead(StrEnum):
    """Where an item leads."""

    RESUME = "resume"
    RETRY = "retry"
    REVIEW = "review"
    IMPORT = "import"


@dataclass(frozen=True, slots=True)
class WaitingItem:
    """One thing that waits."""

    lead: Lead
    name: str
    """Id of the run, or name of the review; empty for ratings to take in."""
    words: str


SIGNS = {
    Lead.RESUME: Cell("■", "warn"),
    Lead.RETRY: Cell("✗", "bad"),
    Lead.REVIEW: Cell("◇", "mark"),
    Lead.IMPORT: Cell("↓", "mark"),
}

OFFERS = {
    Lead.RESUME: "go on",
    Lead.RETRY: "ask again",
    Lead.REVIEW: "open the review",
    Lead.IMPORT: "take in",
}
"""What opening an item does, in words."""

COLUMNS = (
    Column("sign", "", 1),
    Column("waiting", "waiting for you", 20, share=1),
    Column("offer", "enter", 15, drop=1),
)


class WaitingRows:
    """One row for each item."""

    def __init__(self, items: Sequence[WaitingItem]) -> None:
        self.items = items

    @property
    def count(self) -> int:
        """How many items there are."""
        return len(self.items)

    def key(self, index: int) -> Hashable:
        """Return the item itself: it is all that the row shows."""
        return self.items[index]

    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row."""
        item = self.items[index]
        return (SIGNS[item.lead], Cell(item.words), Cell(OFFERS[item.lead], "quiet"))

    def prepare(self, first: int, last: int) -> None:
        """Everything is there already."""


def waiting_runs(runs: Sequence[RunSummary]) -> Iterator[WaitingItem]:
    """Yield the runs that a person may want to go on with: cut ones, then those with failed entries.

    A run that was asked again already has its successor in the list, a card from elsewhere has no method to
    ask here, and outputs that were made elsewhere would be the same again; none of these waits.
    """
    from harness.method.takes import asks

    followed = {run.retry_of for run in runs}
    for run in runs:
        if may_resume(run):
            share = f"{figures.count(run.done)} of {figures.count(run.total)} done"
            failed = f", {figures.count(run.failed)} of them failed" if run.failed else ""
            yield WaitingItem(
                Lead.RESUME, run.run_id, f"Stopped, {share}{failed} · {_run_words(run)}"
            )
    for run in runs:
        if may_retry(run) and run.run_id not in followed and asks(run.method):
            entries = "entry" if run.failed == 1 else "entries"
            failed = f"{figures.count(run.failed)} {entries} failed"
            yield WaitingItem(Lead.RETRY, run.run_id, f"{failed} · {_run_words(run)}")


def _run_words(run: RunSummary) -> str:
    return f"{run.dataset_id} · {setup_words(run)} · {run.run_id[:8]}"


def waiting_reviews(desk: OrganiserDesk) -> list[WaitingItem]:
    """Return what an organiser of reviews has to see to; waits for the disk, StoreError in words.

    Looks at nobody's ratings: only at what came, what nobody vouched for, and what nobody decided.
    """
    if not desk.has_office:
        return []
    from rosetta_tui.review.organiser.facts import read_reviews

    items = [*_ratings(desk), *_strangers(desk)]
    for line in read_reviews(desk):
        items += _review(desk, line)
    return items


def _ratings(desk: OrganiserDesk) -> Iterator[WaitingItem]:
    """Tell of files of ratings on sticks that were not taken in yet."""
    from review.files.finding import RATINGS_SUFFIX, find_batches, mounted_sticks

    found = find_batches(mounted_sticks(), RATINGS_SUFFIX)
    if not found:
        return
    with desk.office() as office:
        known = {each.sha256 for each in office.imports()}
        known |= {each.sha256 for each in office.quarantine()}
    fresh = sum(_sha256(each.path, each.size) not in known for each in found)
    if fresh:
        yield WaitingItem(Lead.IMPORT, "", f"{_many(fresh, 'file')} of ratings on a stick")


MOST_HASHED = 64_000_000
"""Bytes of a file of ratings that are read to know it again; a larger one counts as new."""


def _sha256(path: Path, size: int) -> str:
    from hashlib import file_digest

    if size > MOST_HASHED:
        return ""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:  # the stick was pulled out meanwhile: there is nothing to take in any more
        return ""


def _strangers(desk: OrganiserDesk) -> Iterator[WaitingItem]:
    from review.office.results.progress import waiting

    with desk.office() as office:
        files = sum(each.files for each in waiting(office))
    if files:
        words = f"{_many(files, 'file')} of ratings from laptops that nobody vouched for"
        yield WaitingItem(Lead.REVIEW, "", words)


def _review(desk: OrganiserDesk, line: ReviewLine) -> Iterator[WaitingItem]:
    from review.verdict.gate.adjudication import queue

    name = line.progress.name
    with desk.office() as office:
        review = office.review(name)
        cases = sum(case.is_open for case in queue(office.state_of_any(review), review.key))
    if cases:
        yield WaitingItem(
            Lead.REVIEW, name, f"{_many(cases, 'flagged item')} to decide about · {name}"
        )
    if any(verdict is not None and verdict.recompute for verdict in line.verdicts):
        yield WaitingItem(Lead.REVIEW, name, f"A certificate is to be issued anew · {name}")
    back, asked = line.progress.done, line.progress.asked
    if asked and back >= asked and None in line.verdicts:
        yield WaitingItem(
            Lead.REVIEW, name, f"All ratings are back; the gate is to be decided · {name}"
        )


def _many(count: int, noun: str) -> str:
    return f"{figures.count(count)} {noun}{'s' * (count != 1)}"
