"""Values with their intervals on one common axis, and differences around zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from corpora.text.messages import counted
from rosetta_tui.compare.sentences import number, told_apart
from rosetta_tui.show import figures
from rosetta_tui.show.run_facts import stated_mark
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.result_table import crop
from scoring.core.inventory import row_of

if TYPE_CHECKING:
    from harness.compare.comparison import Comparison
    from harness.compare.pairs import ComparedRun

_LEAST_LINE, _MOST_LINE = 12, 60
_LEAST_NAME = 14
_MARGIN = 0.08  # share of the axis that is left free at each end


class DifferenceAxis(Widget):
    """The runs by letter, each with its value and interval as a line on one axis."""

    DEFAULT_CSS = "DifferenceAxis { height: auto; padding: 0 1; }"

    def __init__(self) -> None:
        super().__init__(id="axis")
        self._shown: tuple[Comparison, str, frozenset[str], bool, bool] | None = None

    def show_runs(
        self, comparison: Comparison, metric: str, chosen: frozenset[str], *, tested: bool, details: bool
    ) -> None:
        """Show the runs by a metric; ``chosen`` are the letters of the pair that is spoken of."""
        before = None if self._shown is None else (len(self._shown[0].runs), self._shown[4])
        self._shown = (comparison, metric, chosen, tested, details)
        self.refresh(layout=(len(comparison.runs), details) != before)

    def render(self) -> Content:
        if self._shown is None:
            return Content()
        comparison, metric, chosen, tested, details = self._shown
        width = self.content_size.width
        lines = axis_lines(comparison.runs, metric, width, chosen, tested=tested, details=details)
        return Content("\n").join(lines)


def axis_lines(
    runs: Sequence[ComparedRun], metric: str, width: int, chosen: frozenset[str], *, tested: bool, details: bool
) -> list[Content]:
    """Return one line a run; with ``details`` its facts below, and the ends of the axis at last."""
    low, high = span(runs, metric, tested=tested)
    reached = [run.values.get(metric) for run in runs]
    values = ["no value" if value is None else number(metric, value) for value in reached]
    intervals = [_interval(run, metric, tested=tested) or () for run in runs]
    ends = ["–".join(number(metric, end) for end in interval) for interval in intervals]
    wide = max(map(len, values)), max(map(len, ends))
    room = width - 2 - sum(wide) - 3
    names = _names(runs, room - _LEAST_LINE)
    longest = max(map(cell_len, names))
    name = min(longest, max(_LEAST_NAME, room - _LEAST_LINE))
    line = max(_LEAST_LINE, min(_MOST_LINE, room - name))
    lines = []
    for run, words, value, end in zip(runs, names, values, ends, strict=True):
        tone = "bold $mark" if run.letter in chosen else "$quiet"
        lines.append(
            Content.assemble(
                (f"{run.letter} ", tone),
                f"{crop(words, name)} ",
                (f"{value:>{wide[0]}} ", "bold"),
                (_line(run, metric, low, high, line, tested=tested), "$mark"),
                (f" {end}", "$quiet"),
            )
        )
        if details:
            lines.append(Content.styled(f"  {crop(facts(run), width - 2)}", "$quiet"))
    if not details:
        return lines
    # Write the ends of the axis below its line.
    before = 2 + name + 1 + wide[0] + 1
    left, right = number(metric, low), number(metric, high)
    gap = max(1, line - len(left) - len(right))
    scale = Content.styled(f"{' ' * before}{left}{' ' * gap}{right}", "$quiet")
    return [*lines, scale]


def _names(runs: Sequence[ComparedRun], room: int) -> list[str]:
    """Name the runs; where that is too long, only what they do not share, with files or ids to tell them apart."""
    parts = [plain(words).split(" · ") for words in told_apart(runs)]
    if max(cell_len(" · ".join(own)) for own in parts) > room:
        shared = set.intersection(*map(set, parts))
        parts = [[part for part in own if part not in shared] or own for own in parts]
    states = [
        "" if run.complete else f"{'going on' if run.under_way else 'stopped'} {run.done:,}/{run.total:,} · "
        for run in runs
    ]
    return [state + " · ".join(own) for state, own in zip(states, parts, strict=True)]


def facts(run: ComparedRun) -> str:
    """Return what else is known of a run, in one line."""
    unknown = run.cost_usd is None and not run.known_cost_usd
    parts = [
        run.run_id[:8],
        counted(run.done, "entry", "entries") if run.done == run.total else f"{run.done:,} of {run.total:,} entries",
        f"{run.failed:,} failed" if run.failed else "none failed",
        "cost unknown" if unknown else figures.cost(run.cost_usd, run.known_cost_usd),
        f"{figures.seconds(run.median_seconds)} s" if run.median_seconds is not None else "",
        "UNVERIFIED" if run.unverified else "",
        stated_mark(run).strip(),
    ]
    return " · ".join(part for part in parts if part)


def _interval(run: ComparedRun, metric: str, *, tested: bool) -> tuple[float, float] | None:
    """Return a run's interval; that of a run under way would not hold at every look."""
    interval = run.intervals.get(metric) if tested and run.complete else None
    return None if interval is None else (interval.lower, interval.upper)


def span(runs: Sequence[ComparedRun], metric: str, *, tested: bool) -> tuple[float, float]:
    """Return the ends of an axis on which all values and intervals lie, with some room beside them."""
    points = [value for run in runs if (value := run.values.get(metric)) is not None]
    for run in runs:
        points += _interval(run, metric, tested=tested) or ()
    low, high = min(points, default=0.0), max(points, default=1.0)
    free = (high - low) * _MARGIN or abs(high) * 0.01 or 1.0
    # Ends of a metric's own scale, which no axis goes beyond.
    row = row_of(metric)
    least, most = (0.0, 1.0) if row is None else (row.info.low, row.info.high)
    return max(least, low - free), min(most, high + free)


def _line(run: ComparedRun, metric: str, low: float, high: float, width: int, *, tested: bool) -> str:
    value, ends = run.values.get(metric), _interval(run, metric, tested=tested)
    if value is None:
        return "·" * width
    return figures.interval_bar(value, ends, low=low, top=high, width=width)
