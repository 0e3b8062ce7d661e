"""How far the reviewers agree, and the items that split the panel or that somebody called harmful."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from review.files.reviewer_codes import printed
from review.verdict.panel.agreement import MEASURES, SHARES
from rosetta_tui.review.organiser.pages.batches import title
from rosetta_tui.review.organiser.pages.parts import hidden
from rosetta_tui.review.organiser.words import gate as gate_words
from rosetta_tui.review.organiser.words.cases import so_far
from rosetta_tui.show import figures
from rosetta_tui.show.columns import Cell, Column, Rows
from rosetta_tui.toolkit.content import Field, show
from rosetta_tui.toolkit.result_table import ResultTable

if TYPE_CHECKING:
    from review.office.store.store import Review
    from review.verdict.certificate.certify import EvidenceReading
    from review.verdict.gate.adjudication import Case
    from review.verdict.panel.agreement import AgreementMeasure
    from rosetta_tui.review.organiser.facts import ReviewNow, RunNow

BAR = 31

_MEANINGS = {
    "alpha": "1 is full agreement, 0 (╿) what chance gives. Near 0 too where nearly all is rated alike.",
    "ac2": "The same, made for ratings that are nearly all alike.",
    "exact": "Of two ratings of one translation, how often they are the same.",
    "within_one": "How often they are the same or one step apart.",
}


def agreeing(now: ReviewNow, run: RunNow) -> Iterator[Widget]:
    """Yield the section for one run."""

    reading = run.reading
    if reading is None:
        yield from hidden(now, run)
        return
    if not gate_words.has_numbers(reading):
        yield Static(show("Too little is rated for numbers. The gate (4) says what is missing."))
        return
    measured = reading.agreement
    yield Static(
        show(f"{measured.items} items that two reviewers or more rated, {measured.reviewers} reviewers; ")
        + show("each value with its 95 % interval", "$quiet"),
        classes="words",
    )  # fmt: skip
    for name, label in MEASURES.items():
        yield _measure(reading, name, label)
    yield title("Leniency, for you alone")
    yield from _leniency(now.review, reading)
    if run.advice:
        yield title("Please look together")
        yield Static(Content("\n").join(map(show, run.advice)), classes="words")


def _measure(reading: EvidenceReading, name: str, label: str) -> Field:

    measure: AgreementMeasure = getattr(reading.agreement, name)
    centred = name not in SHARES
    return Field(
        label,
        Content.assemble(
            _bar(measure, centred=centred),
            show(gate_words.measured(reading, name), "bold"),
            (f"\n{_MEANINGS[name]}", "$quiet"),
        ),
        classes="-apart",
    )


def _bar(measure: AgreementMeasure, *, centred: bool) -> Content:
    """Draw a measure with its interval, from 0 to 1, or where it may be negative from -1 to 1."""
    if measure.value is None:
        return Content("")
    low, wide = (1.0, 2.0) if centred else (0.0, 1.0)
    ends = measure.interval
    bar = figures.interval_bar(
        measure.value + low,
        None if ends is None else (ends.lower + low, ends.upper + low),
        top=wide,
        width=BAR,
        floor=1.0 if centred else None,
    )
    return Content.assemble((bar, "$mark"), "  ")


def _leniency(review: Review, reading: EvidenceReading) -> Iterator[Widget]:

    yield Static(
        show(
            "Whether somebody finds more or fewer of the same translations acceptable than the panel (╿) does. "
            "It is no mark: people may have good reasons, and the panel needs them all.",
            "$quiet",
        ),
        classes="words",
    )
    people = {
        review.code(who): agreement_measure
        for who, agreement_measure in reading.agreement.leniency.items()
    }
    for code, measure in sorted(people.items()):
        yield Field(
            printed(code),
            Content.assemble(_bar(measure, centred=True), show(lenient_words(measure))),
        )


def lenient_words(measure: AgreementMeasure) -> str:
    """Return how lenient a person is beside the panel."""
    if measure.value is None or measure.interval is None:
        return str(measure.why)
    ends = measure.interval
    difference = f"{_signed(measure.value)} ({_signed(ends.lower)} to {_signed(ends.upper)})"
    if ends.lower <= 0 <= ends.upper:
        return f"{difference}, as the panel"
    return f"{difference}, {'milder' if measure.value > 0 else 'stricter'} than the panel"


def _signed(share: float) -> str:
    """Return a difference of shares with its sign; nothing has none."""
    return figures.signed(share, 0, share=True)


NOT_HERE = "(secret)"

_COLUMNS = (
    Column("text", "translation", 20, share=1),
    Column("reject", "reject", 6, right=True),
    Column("gist", "gist", 4, right=True),
    Column("acceptable", "accept.", 7, right=True),
    Column("excellent", "excell.", 7, right=True),
    Column("harmful", "harmful", 7, right=True),
    Column("said", "decided", 8),
)


class CaseRows(Rows["Case"]):
    """One row for each item, in the order of the queue, which tells nothing of runs or people."""

    def __init__(self, now: ReviewNow) -> None:
        super().__init__(now.cases)
        self._now = now

    def key(self, index: int) -> Hashable:
        """Return the row's cells themselves: rows are few."""
        return self.cells(index)

    def cells(self, index: int) -> tuple[Cell, ...]:
        """Return the cells of one row."""
        case = self.items[index]
        text = (
            Cell(NOT_HERE, "quiet")
            if self._now.secret
            else Cell(self._now.texts[case.item].candidate)
        )
        counts = (Cell(str(count) if count else "·") for count in case.counts)
        flags = Cell(
            figures.count(case.flags) if case.flags else "·", "warn" if case.is_open else "plain"
        )
        return (text, *counts, flags, decided_cell(case))


def decided_cell(case: Case) -> Cell:
    """Return what was decided, or that a flag waits."""
    if so_far(case):
        return Cell(so_far(case))
    return Cell("waits", "warn") if case.is_open else Cell("–", "quiet")


def split(now: ReviewNow) -> Iterator[Widget]:
    """Yield the section; of ratings nothing where looking would be a new look."""
    flagged = sum(case.is_open for case in now.cases)
    if now.unseen:
        words = f"{flagged} called harmful and not decided. An open flag stops the gate.\n"
        yield Static(show(words, "bold $warn" if flagged else "$quiet"), classes="words")
        yield from hidden(now, now.most_looked, "What split the panel, and how it was rated,")
        return
    if not now.cases:
        yield Static(show("Nothing waits: no open flag, no item that splits the panel."))
        return
    apart = sum(case.is_split for case in now.cases)
    yield Static(
        Content.assemble(
            (f"{flagged} called harmful and not decided", "bold $warn" if flagged else ""),
            f" · {apart} rated two steps apart or more\n",
            ("Decided without system and names: enter opens one. An open flag stops the gate.", "$quiet"),
        ),
        classes="words",
    )  # fmt: skip
    yield ResultTable(_COLUMNS, CaseRows(now), id="cases")
