"""The runs of the store as rows of a table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.card.reading import block, number
from rosetta_tui.session.resuming import resume_call
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import (
    caveats_in_words,
    claimable,
    cost,
    interval,
    review_of,
    tier_sign,
    tier_words,
    with_interval,
)
from rosetta_tui.show.cells import Cell
from rosetta_tui.show.columns import Column, widest
from rosetta_tui.show.records import Record, Value
from rosetta_tui.show.run_facts import (
    OTHER_INPUTS,
    OTHER_INPUTS_WORDS,
    failed_told,
    iso,
    other_inputs,
    setup_words,
    so_far,
    when,
)
from scoring.core.wording import percent

if TYPE_CHECKING:
    from harness.store.runs import RunSummary

COLUMNS = (
    Column("state", "", 3),
    Column("id", "id", 8, drop=2),
    Column("when", "when", 16, drop=4),
    Column("corpus", "corpus", 10, share=1),
    Column("pair", "pair", 5, share=1, drop=7),
    Column("method", "method · model · condition", 24, share=6),
    Column("result", "result", 17),
    Column("chrf", "chrF++", 16, drop=1),
    Column("composite", "composite", 9, right=True, drop=3),
    Column("cost", "cost", 9, right=True, drop=5),
    Column("failed", "failed", 6, right=True, drop=6),
    Column("notes", "tags · note", 14, share=1, drop=8, exported=False),
)
"""What a row shows of a run."""

UNDER_WAY = frozenset({"running", "paused", "draining"})
"""States of a run that a process is at work on."""

_SYMBOLS = {
    "running": Cell("▶", "mark"),
    "paused": Cell("‖", "warn"),
    "draining": Cell("▷", "mark"),
    "stopped": Cell("■", "warn"),
    "complete": Cell("✓", "good"),
}


class RunRows:
    """One row for each run, in the order given."""

    def __init__(self, runs: Sequence[RunSummary], marked: frozenset[str] = frozenset()) -> None:
        self.runs = runs
        self._marked = marked
        self.others = other_inputs(runs)
        """Runs whose composite does not compare with most of the same corpus."""

    @property
    def count(self) -> int:
        """How many runs there are."""
        return len(self.runs)

    def find(self, run_id: str) -> int | None:
        """Return the row of a run, None where it is gone."""
        return next((i for i, run in enumerate(self.runs) if run.run_id == run_id), None)

    def key(self, index: int) -> Hashable:
        """Return what the row's look depends on; a sealed card never changes."""
        run = self.runs[index]
        beside = tuple(each.sha256 for each in run.certificates)
        words = (run.tags, run.note, run.run_id in self._marked)
        name = (run.run_id, run.distinction, run.run_id in self.others)
        now = tuple(so_far(run).values())
        return (name, run.state, run.done, run.failed, run.card is None, beside, words, now)

    def cells(self, index: int) -> Sequence[Cell]:
        """Return the cells of one row."""
        run = self.runs[index]
        state, *cells = run_cells(run, other=run.run_id in self.others)
        mark = "●" if run.run_id in self._marked else " "
        return (Cell(f"{mark} {state.text}", state.tone), *cells)

    def record(self, index: int) -> Record:
        """Return the values of one row; tags and notes stay on this computer."""
        return run_record(self.runs[index])

    def needs(self) -> Sequence[int]:
        """Return the cells that the widest text of each column takes, 0 where no run has one."""
        texts = {
            "corpus": (run.dataset_id for run in self.runs),
            "pair": (run.language_pair for run in self.runs),
            "method": (setup_words(run) for run in self.runs),
            "notes": (beside_words(run) for run in self.runs),
        }
        return widest(COLUMNS, texts)

    def prepare(self, first: int, last: int) -> None:
        """Everything is there already."""


def run_record(run: RunSummary) -> dict[str, Value]:
    """Return everything that the list knows about a run and that may leave this computer."""
    card = run.card or {}
    scores = block(card, "scores")
    record: dict[str, Value] = {
        "run_id": run.run_id,
        "created": iso(run.created),
        "state": run.state,
        "dataset_id": run.dataset_id,
        "language_pair": run.language_pair,
        "method": run.method,
        "model": run.model_slug,
        "condition": run.condition,
        "entries": run.total,
        "done": run.done,
        "failed": run.failed,
        "failures": ", ".join(f"{name} {count}" for name, count in run.failures.items()) or None,
        "retry_of": run.retry_of or None,
        "rescore_of": run.rescore_of or None,
    }
    for name in ("chrf_plus_plus", "composite"):
        low, high = interval(scores, name) or (None, None)
        record |= {name: number(scores.get(name)), f"{name}_lower": low, f"{name}_upper": high}
    record["cost_usd"] = number(block(card, "cost").get("total_cost_usd"))
    if run.card is not None:
        record["claimable_tier"] = claimable(card, review_of(card, run.certificates))
        record["caveats"] = caveats_in_words(card) or None
    return record


def run_cells(run: RunSummary, *, other: bool = False) -> tuple[Cell, ...]:
    """Say in one row what a run is and what came out; ``other``: its composite has other inputs than most."""
    scores = block(run.card or {}, "scores")
    return (
        _SYMBOLS[run.state],
        Cell(run.run_id[:8], "quiet"),
        Cell(when(run.created), "quiet"),
        Cell(run.dataset_id),
        Cell(run.language_pair, "quiet"),
        Cell(setup_words(run)),
        _result(run),
        *_numbers(run, scores, other=other),
        Cell(cost(run.card), "quiet"),
        Cell(figures.count(run.failed), "bad" if run.failed else "quiet"),
        Cell(beside_words(run), "quiet"),
    )


def _numbers(run: RunSummary, scores: Mapping[str, Any], *, other: bool) -> tuple[Cell, Cell]:
    """Return chrF++ and composite; of a run under way those so far, which are no result yet."""
    if run.card is None and (now := so_far(run)):
        chrf = figures.number(now.get("chrf_plus_plus"), 1)
        return (
            Cell(f"{chrf} so far", "quiet"),
            Cell(figures.number(now.get("composite"), 2), "quiet"),
        )
    composite = figures.number(number(scores.get("composite")), 2)
    return (
        Cell(with_interval(scores, "chrf_plus_plus")),
        Cell(composite + (OTHER_INPUTS if other else "")),
    )


def beside_words(run: RunSummary) -> str:
    """Say what a person wrote beside a run: its tags, then the note."""
    tags = " ".join(f"#{tag}" for tag in run.tags)
    return " · ".join(part for part in (tags, run.note) if part)


def _result(run: RunSummary) -> Cell:
    """Say how far a run is, or what may be claimed of it, in words that no list cuts."""
    if run.card is not None:
        review = review_of(run.card, run.certificates)
        return Cell(f"{tier_sign(run.card, review)} {claimable(run.card, review)}")
    share = f" {percent(run.done / run.total)}" if run.total else ""
    return Cell(f"{run.state}{share}", "mark" if run.state in UNDER_WAY else "warn")


def _result_words(run: RunSummary) -> str:
    """Say the same whole: the numbers behind it, the review, the caveats."""
    if run.card is not None:
        review = review_of(run.card, run.certificates)
        return f"{tier_sign(run.card, review)} {tier_words(run.card, review)}"
    return f"{_result(run).text} · {figures.count(run.done)} of {figures.count(run.total)}"


def run_words(run: RunSummary, *, other: bool = False) -> tuple[str, str]:
    """Return everything about one run in two lines, for the place below the list; ``other`` as in ``run_cells``."""
    cells = dict(zip((column.key for column in COLUMNS), run_cells(run, other=other), strict=True))
    parts = [cells[name].text for name in ("corpus", "pair", "method", "id", "notes")]
    name = " · ".join(part for part in parts if part)
    failed = failed_told(run.failed, run.failures)
    result = _result_words(run)
    numbers = [f"chrF++ {cells['chrf'].text}", f"composite {cells['composite'].text}"]
    if run.card is None:
        stopped = run.state == "stopped" and not run.imported
        again = f" · {resume_call(run.run_id, run.failed)}" if stopped else ""
        now = numbers if so_far(run) else []
        return name, " · ".join([result, *now, failed]) + again
    told = [result, *numbers, cells["cost"].text, failed]
    return name, " · ".join([*told, OTHER_INPUTS_WORDS] if other else told)
