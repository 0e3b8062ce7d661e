"""Charts as places in per cent of their width and height, so that one drawing fits a phone, a screen and a sheet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from corpora.text.messages import minus
from rosetta_tui.plots.points import Axis, PlotPicture, Point
from scoring.core.inventory import row_of

MOST_TICKS = 6
HISTOGRAM_BARS = 20  # bars of a histogram; the plot's bins are counted together


@dataclass(frozen=True, slots=True)
class AxisTick:
    """A round number beside an axis."""

    at: float  # per cent of the axis from its low end
    words: str

    @property
    def anchor(self) -> str:
        """Which end of the words is there, so that none reaches over the chart's edge."""
        return "start" if self.at < 5 else "end" if self.at > 95 else "middle"


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """Something with a score, before it is arranged."""

    name: str
    score: float | None
    ends: tuple[float, float] | None
    words: str  # the score in words
    kind: str = "other"  # `own`: the page's subject; `other`: next to it; `floor`: worthless
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a chart; places in per cent, None where there is none."""

    of: ScoreLine
    at: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class BarChart:
    """Scores with their intervals, one line each, on one axis."""

    caption: str
    axis: str  # what the axis measures
    head: str  # what the lines are
    ticks: tuple[AxisTick, ...]
    bars: tuple[Bar, ...]
    line: float | None = None  # place of a line through all of them, such as the best floor
    line_words: str = ""
    beside: str = ""  # what is not drawn, and why
    told: str = "score (95 % interval)"  # what the numbers at the end of a line are


def score_chart(
    caption: str,
    head: str,
    metric: str,
    measured: Sequence[ScoreLine],
    *,
    line: float | None = None,
    line_words: str = "",
    beside: str = "",
) -> BarChart:
    """Draw scores of one metric on the axis of its range; of one without a highest value on that of the scores."""
    row = row_of(metric)
    more = {"higher": "more is better", "lower": "less is better"}
    words = more.get("higher" if row is None else row.info.better, "")
    chart = bar_chart(caption, head, metric_axis(metric, measured), measured, lambda at: minus(f"{at:g}"))
    at = None if line is None else place(metric_axis(metric, measured), line)
    return replace(chart, axis=words, line=at, line_words=line_words, beside=beside)


def bar_chart(
    caption: str, head: str, axis: Axis, measured: Sequence[ScoreLine], tick: Callable[[float], str]
) -> BarChart:
    """Draw scores on an axis; ``tick`` writes a place on it."""

    def at(number: float | None) -> float | None:
        return None if number is None else place(axis, number)

    bars = (Bar(line, at(line.score), *map(at, line.ends or (None, None))) for line in measured)
    return BarChart(caption, "", head, tuple(_ticks(axis, tick)), tuple(bars))


def metric_axis(metric: str, measured: Iterable[ScoreLine]) -> Axis:
    """Return the range of a metric; where it has no ends, one with room for the scores and 0."""
    row = row_of(metric)
    low, high = (0.0, 1.0) if row is None else (row.info.low, row.info.high)
    if math.isfinite(low) and math.isfinite(high):
        return Axis(low, high)
    numbers = [0.0]
    for score_line in measured:
        numbers += [] if score_line.score is None else [score_line.score]
        numbers += score_line.ends or ()
    return Axis.of(numbers)


def place(axis: Axis, number: float) -> float:
    """Return where a number lies, in per cent of the axis."""
    return round(100 * axis.share(number), 2)


def _ticks(axis: Axis, words: Callable[[float], str]) -> Iterable[AxisTick]:
    return (AxisTick(place(axis, number), label) for number, label in axis.labels(MOST_TICKS, words))


# One thing against another


@dataclass(frozen=True, slots=True)
class Dot:
    """One point of a scatter, in per cent from the left and from the top."""

    number: int
    of: Point
    x: float
    y: float
    low: float
    high: float  # ends of its interval from the top; both are `y` where it has none
    own: bool


@dataclass(frozen=True, slots=True)
class Scatter:
    """What runs took against what they reached."""

    caption: str
    across: str
    up: str
    across_ticks: tuple[AxisTick, ...]
    up_ticks: tuple[AxisTick, ...]
    dots: tuple[Dot, ...]
    beside: str


def scatter(caption: str, picture: PlotPicture, own: str = "") -> Scatter:
    """Draw a plot of effort and quality; ``own`` is the id of the run that the page is about."""
    wide = Axis.of([point.across for point in picture.points], logarithmic=picture.logarithmic)
    ends = [end for point in picture.points for end in (point.up or 0.0, *(point.up_ends or ()))]
    high = Axis.of(ends)
    dots = []
    for number, point in enumerate(picture.points, 1):
        up = point.up or 0.0
        y, low, top = (round(100 - place(high, height), 2) for height in (up, *(point.up_ends or (up, up))))
        dots.append(Dot(number, point, place(wide, point.across), y, low, top, point.run_id == own))
    return Scatter(
        caption,
        picture.across.partition("   ")[0],
        picture.up,
        tuple(_ticks(wide, picture.tick)),
        tuple(replace(tick, at=round(100 - tick.at, 2)) for tick in _ticks(high, picture.up_tick)),
        tuple(dots),
        picture.beside,
    )


# How often


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often each part of an axis was met."""

    caption: str
    axis: str
    words: str
    ticks: tuple[AxisTick, ...]
    heights: tuple[float, ...]  # per cent of the highest bar; all bars are as wide as one another
    middle: float  # place of the median, in per cent
    late: float  # place of the 95th percentile


def histogram(caption: str, picture: PlotPicture) -> Histogram | None:
    """Draw the latencies of the first run of a plot; None where it has none."""
    if not picture.points or picture.bounds is None:
        return None
    point, axis = picture.points[0], Axis(*picture.bounds, logarithmic=True)
    together = len(point.counts) // HISTOGRAM_BARS
    counts = [sum(point.counts[n : n + together]) for n in range(0, len(point.counts), together)]
    middle, late = point.ends or (point.across, point.across)
    return Histogram(
        caption,
        picture.across,
        point.words,
        tuple(_ticks(axis, picture.tick)),
        tuple(round(100 * count / max(counts), 1) for count in counts),
        place(axis, middle),
        place(axis, late),
    )
