"""The runs of the store as rows of a table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rosetta_tui import figures
from rosetta_tui.widgets.columns import Column
from rosetta_tui.widgets.result_table import Cell

if TYPE_CHECKING:
    from harness.store.runs import RunSummary

COLUMNS = (
    Column("state", "", 1),
    Column("when", "when", 16, drop=5),
    Column("corpus", "corpus", 10, share=1),
    Column("method", "method · model · condition", 16, share=2),
    Column("result", "result", 22, share=4),
    Column("chrf", "chrF++", 16, drop=2),
    Column("composite", "comp.", 5, right=True, drop=3),
    Column("cost", "cost", 8, right=True, drop=4),
    Column("failed", "failed", 6, right=True, drop=6),
)
"""What a row shows of a run."""

UNDER_WAY = frozenset({"running", "paused", "draining"})
"""States in which another process is at work on the run."""

_SYMBOLS = {
    "running": Cell("▶", "mark"),
    "paused": Cell("‖", "warn"),
    "draining": Cell("▷", "mark"),
    "stopped": Cell("■", "warn"),
    "complete": Cell("✓", "good"),
}


class RunRows:
    """One row for each run, newest first."""

    def __init__(self, runs: Sequence[RunSummary]) -> None:
        self.runs = runs
        self._cells: dict[int, Sequence[Cell]] = {}

    @property
    def count(self) -> int:
        """How many runs there are."""
        return len(self.runs)

    def find(self, run_id: str) -> int | None:
        """Give the row of a run, None where it is gone."""
        return next((i for i, run in enumerate(self.runs) if run.run_id == run_id), None)

    def key(self, index: int) -> Hashable:
        """Give what the row's look depends on; a sealed card never changes."""
        run = self.runs[index]
        return (run.run_id, run.state, run.done, run.failed, run.card is None)

    def cells(self, index: int) -> Sequence[Cell]:
        """Give the cells of one row."""
        return run_cells(self.runs[index])

    def prepare(self, first: int, last: int) -> None:
        """Everything is there already."""


def run_cells(run: RunSummary) -> tuple[Cell, ...]:
    """Say in one row what a run is and what came out."""
    scores = _scores(run.card)
    parts = [run.method, "" if run.model_slug == run.method else run.model_slug, run.condition]
    return (
        _SYMBOLS[run.state],
        Cell(datetime.fromtimestamp(run.created).strftime("%Y-%m-%d %H:%M"), "quiet"),  # noqa: DTZ006  the person's own time
        Cell(f"{run.dataset_id} · {run.language_pair}"),
        Cell(" · ".join(part for part in parts if part)),
        _result(run, scores),
        Cell(_chrf(scores)),
        Cell(figures.number(_number(scores.get("composite")), 2)),
        Cell(figures.money(_cost(run)) if run.card is not None else figures.NONE, "quiet"),
        Cell(figures.count(run.failed), "bad" if run.failed else "quiet"),
    )


def _result(run: RunSummary, scores: Mapping[str, Any]) -> Cell:
    if run.card is not None:
        return Cell(tier_words(run.card, scores))
    share = f" {run.done / run.total:.0%}" if run.total else ""
    words = f"{run.state}{share} · {figures.count(run.done)} of {figures.count(run.total)}"
    return Cell(words, "mark" if run.state in UNDER_WAY else "warn")


def _scores(card: Mapping[str, Any] | None) -> Mapping[str, Any]:
    scores = (card or {}).get("scores")
    return scores if isinstance(scores, Mapping) else {}


def tier_words(card: Mapping[str, Any], scores: Mapping[str, Any]) -> str:
    """Give the tier of a sealed card as shape and words; a card from elsewhere claims no more (T1)."""
    from scoring.tiers import Tier, claimable_tier, quality_tier, tier_in_words

    mixed = _number(scores.get("composite"))
    at_floor = scores.get("at_floor") is True
    claimable = claimable_tier(quality_tier(mixed), review_passed=False, at_floor=at_floor)
    claimed = card.get("claimable_tier", scores.get("claimable_tier"))
    if claimed in set(Tier):
        claimable = min(claimable, Tier(claimed), key=lambda tier: tier.rank)
    words = tier_in_words(mixed, claimable, review_passed=False, at_floor=at_floor)
    return f"{figures.meter(claimable)} {words}"


def run_words(run: RunSummary) -> tuple[str, str]:
    """Give everything about one run in two lines, for the place below the list."""
    cells = dict(zip((column.key for column in COLUMNS), run_cells(run), strict=True))
    name = f"{cells['corpus'].text} · {cells['method'].text} · {run.run_id[:8]}"
    failed = f"{cells['failed'].text} failed"
    if run.card is None:
        return name, f"{cells['result'].text} · {failed}"
    numbers = [f"chrF++ {cells['chrf'].text}", f"composite {cells['composite'].text}"]
    parts = [cells["result"].text, *numbers, cells["cost"].text, failed]
    return name, " · ".join(parts)


def _chrf(scores: Mapping[str, Any]) -> str:
    value = _number(scores.get("chrf_plus_plus"))
    intervals = scores.get("confidence_intervals")
    ends = intervals.get("chrf_plus_plus") if isinstance(intervals, Mapping) else None
    low, high = (
        (_number(ends.get("ci_lower")), _number(ends.get("ci_upper")))
        if isinstance(ends, Mapping)
        else (None, None)
    )
    if value is None or low is None or high is None:
        return figures.number(value, 1)
    return f"{value:.1f} ({low:.1f}–{high:.1f})"


def _cost(run: RunSummary) -> float | None:
    cost = (run.card or {}).get("cost")
    return _number(cost.get("total_cost_usd")) if isinstance(cost, Mapping) else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
