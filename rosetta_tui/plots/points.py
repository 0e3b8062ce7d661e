"""What the plots are made of: one point for each run, or for each run on one level of difficulty.

Everything comes from sealed cards, except the single latencies. A run without the value is named, not drawn.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from corpora.files.json_types import JsonObject
from corpora.text.messages import counted
from harness.card.reading import block, interval, number
from harness.store.run_list import RunSummary
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import ends_record, kept_of, score, stated_metrics, with_interval
from rosetta_tui.show.columns import Record, Value
from rosetta_tui.show.figures import value
from rosetta_tui.show.run_facts import iso, setup_words, tiered, when
from scoring.card.cost import percentiles
from scoring.core.inventory import row_of, short_title

BINS = 60  # parts of the axis in which latencies are counted
MOST_TOGETHER = 6  # runs that are shown together on each level of difficulty
COMPOSITE = "composite"


class PlotKind(StrEnum):
    """The plots, in the order in which they are offered."""

    SCORES = "Scores"
    COST = "Cost and quality"
    LATENCY = "Latency"
    DIFFICULTY = "By difficulty"


@dataclass(frozen=True, slots=True)
class Point:
    run_id: str
    name: str
    across: float  # place on the axis that goes across
    words: str  # what is said of it when it has the focus
    ends: tuple[float, float] | None = None  # of its interval; of latencies median and 95 %
    up: float | None = None  # place on the axis that goes up, where there is one
    up_ends: tuple[float, float] | None = None
    front: bool = False  # true where no other run is both better and cheaper
    heading: str = ""  # what it stands under
    counts: tuple[int, ...] = ()  # how many latencies fall into each part of the axis
    record: Record = field(default_factory=dict)  # its numbers, for an export


@dataclass(frozen=True, slots=True)
class PlotPicture:
    """One plot, before it is known how large it is drawn."""

    kind: PlotKind
    across: str  # what the axis that goes across measures
    up: str  # the same of the one that goes up; empty for a plot with a line for each point
    points: tuple[Point, ...]
    tick: Callable[[float], str]  # writes a place across
    up_tick: Callable[[float], str] = str
    logarithmic: bool = False
    beside: str = ""  # which runs are not in it, and why
    bounds: tuple[float, float] | None = None  # ends of the axis across, if not the points'


@dataclass(frozen=True, slots=True)
class PlotCorpus:
    """What runs must share to be in one plot."""

    dataset_id: str
    language_pair: str
    sha256: str

    @property
    def words(self) -> str:
        return f"{self.dataset_id} · {self.language_pair}"


def by_corpus(runs: Sequence[RunSummary]) -> dict[PlotCorpus, list[RunSummary]]:
    """Group the sealed runs by what they translated, the corpus with most runs first."""
    groups: dict[PlotCorpus, list[RunSummary]] = {}
    for run in runs:
        if run.card is not None:
            sha256 = block(run.card, "dataset").get("sha256")
            corpus = PlotCorpus(run.dataset_id, run.language_pair, str(sha256))
            groups.setdefault(corpus, []).append(run)
    return dict(sorted(groups.items(), key=lambda pair: -len(pair[1])))


def metrics_of(runs: Sequence[RunSummary]) -> list[str]:
    """Return the metrics that any of the runs has a value of: the composite first, else what ranks runs of their task."""
    leads = (kept_of(run).headline for run in runs if not tiered(run))
    known = dict.fromkeys([COMPOSITE, *leads, *stated_metrics(_scores(run) for run in runs)])
    return [name for name in known if any(score(run, name) is not None for run in runs)]


def metric_shown(runs: Sequence[RunSummary], wanted: str) -> str:
    """Return the metric that runs are drawn by: as was chosen, where any of them has it."""
    metrics = metrics_of(runs)
    return wanted if wanted in metrics or not metrics else metrics[0]


def scores(runs: Sequence[RunSummary], metric: str, *, by_name: bool = False) -> PlotPicture:
    """Return the score of each run with its interval, in the order of time or of names."""
    points = [
        Point(
            run.run_id,
            name,
            reached,
            f"{short_title(metric)} {with_interval(_scores(run), metric)}",
            ends=interval(_scores(run), metric),
            record=_record(run, _scores(run), metric),
        )
        for run, name in _named(runs)
        if (reached := score(run, metric)) is not None
    ]
    if by_name:
        points.sort(key=lambda point: point.name.casefold())
    return PlotPicture(
        PlotKind.SCORES,
        _axis(metric),
        "",
        tuple(points),
        lambda place: value(metric, place),
        beside=_without(runs, points, f"no {short_title(metric)}"),
    )


class Effort(StrEnum):
    """What an entry took, which goes across the plot of effort and quality."""

    COST = "cost"
    TOKENS = "tokens"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class _Measure:
    """How an effort is read from a card and written."""

    block: str
    field: str
    axis: str
    front: str
    entry: Callable[[float], str]  # writes what one entry took
    tick: Callable[[float], str]


_EFFORTS: Mapping[Effort, _Measure] = {
    Effort.COST: _Measure(
        "cost", "cost_per_entry_usd", "US dollars for 1,000 entries", "cheaper",
        figures.money, lambda place: f"${place * 1000:.4g}" if place else "free",
    ),
    Effort.TOKENS: _Measure(
        "tokens", "tokens_per_entry", "tokens an entry took", "of fewer tokens",
        lambda took: f"{took:,.0f} tokens", lambda place: f"{place:,.4g}",
    ),
    Effort.SECONDS: _Measure(
        "speed", "avg_latency_seconds", "seconds an entry took, on average", "faster",
        lambda took: f"{figures.seconds(took)} s", lambda place: f"{figures.seconds(place)} s",
    ),
}  # fmt: skip


def efforts_of(runs: Sequence[RunSummary]) -> list[Effort]:
    """Return the efforts that tell runs apart, most telling first; tokens and seconds replace money where all are free."""
    known = {effort: [took for run in runs if (took := _took(run, effort)) is not None] for effort in Effort}
    paid = any(known[Effort.COST])
    others = [effort for effort in (Effort.TOKENS, Effort.SECONDS) if any(known[effort])]
    return [Effort.COST, *others] if paid or not others else others


def cost(runs: Sequence[RunSummary], metric: str, effort: Effort = Effort.COST) -> PlotPicture:
    """Return what an entry took against the score; those that no other run beats on both are the front."""
    by = _EFFORTS[effort]
    points = [
        Point(
            run.run_id,
            name,
            took,
            f"{by.entry(took)} an entry · {short_title(metric)} {with_interval(_scores(run), metric)}",
            up=reached,
            up_ends=interval(_scores(run), metric),
            record={by.field: took, **_record(run, _scores(run), metric)},
        )
        for run, name in _named(runs)
        if (reached := score(run, metric)) is not None and (took := _took(run, effort)) is not None
    ]
    front = _front(points, _better(metric))
    marked = []
    for point in sorted(points, key=lambda point: (point.across, point.up or 0.0)):
        unbeaten = point.run_id in front
        words = f"{point.words} · {'◆ not beaten' if unbeaten else '○ another run beats it'}"
        record = {**point.record, "pareto_front": unbeaten}
        marked.append(replace(point, front=unbeaten, words=words, record=record))
    taken = [point.across for point in points if point.across > 0]
    return PlotPicture(
        PlotKind.COST,
        f"{by.axis}   ◆ no run is both better and {by.front}",
        _axis(metric),
        tuple(marked),
        by.tick,
        lambda place: value(metric, place),
        logarithmic=bool(taken) and max(taken) > 20 * min(taken),
        beside=_without(runs, points, f"unknown {effort} or no {short_title(metric)}"),
    )


def _front(points: Sequence[Point], better: str) -> set[str]:
    """Return the ids of the runs that none beats: as cheap and better, or cheaper and as good."""
    sign = {"higher": 1, "lower": -1}.get(better)
    if sign is None:
        return set()

    def beaten(point: Point) -> bool:
        return any(
            other.across <= point.across
            and sign * (other.up or 0.0) >= sign * (point.up or 0.0)
            and (other.across, other.up) != (point.across, point.up)
            for other in points
        )

    return {point.run_id for point in points if not beaten(point)}


def latency(runs: Sequence[RunSummary], seconds: Mapping[str, Sequence[float]]) -> PlotPicture:
    """Return how the latencies of each run are spread; ``seconds``: by run, of entries neither cached nor failed."""
    known = {id_: np.asarray(second) for id_, second in seconds.items() if len(second)}
    low = min((float(values.min()) for values in known.values()), default=0.0)
    high = max((float(values.max()) for values in known.values()), default=1.0)
    low, high = max(low, 1e-4), max(high, 2e-4, low * 1.01)
    edges = np.geomspace(low, high, BINS + 1)
    points = []
    for run, name in _named(runs):
        if run.run_id not in known:
            continue
        measured = known[run.run_id]
        middle, late = percentiles(measured.tolist())
        counts, _ = np.histogram(np.clip(measured, edges[0], edges[-1]), edges)
        words = f"p50 {figures.seconds(middle)} s · p95 {figures.seconds(late)} s"
        points.append(
            Point(
                run.run_id,
                name,
                middle or 0.0,
                f"{words} · {counted(len(measured), 'entry', 'entries')}",
                ends=(middle or 0.0, late or 0.0),
                counts=tuple(map(int, counts)),
                record={**_about(run), "p50_seconds": middle, "p95_seconds": late, "latency_entries": len(measured)},
            )
        )
    return PlotPicture(
        PlotKind.LATENCY,
        "seconds without the cache",
        "",
        tuple(points),
        lambda place: f"{figures.seconds(place)} s",
        logarithmic=True,
        beside=_without(runs, points, "no latency measured"),
        bounds=(low, high),
    )


def difficulty(runs: Sequence[RunSummary], metric: str) -> PlotPicture:
    """Return the score of each run on each level of difficulty, the runs of a level under one another."""
    points = sorted(
        (point for run, name in _named(runs) for point in _levels(run, name, metric)), key=lambda point: point.heading
    )
    return PlotPicture(
        PlotKind.DIFFICULTY,
        _axis(metric),
        "",
        tuple(points),
        lambda place: value(metric, place),
        beside=_without(runs, points, f"no {short_title(metric)} by difficulty"),
    )


def _levels(run: RunSummary, name: str, metric: str) -> Iterator[Point]:
    levels = block(_scores(run), "by_difficulty")
    for level in sorted(levels):
        group = block(levels, level)
        score, entries = number(group.get(metric)), number(group.get("n"))
        if score is not None:
            many = "entries unknown" if entries is None else counted(int(entries), "entry", "entries")
            yield Point(
                run.run_id,
                name,
                score,
                f"difficulty {level} · {short_title(metric)} {with_interval(group, metric)} · {many}",
                ends=interval(group, metric),
                heading=f"difficulty {level}",
                record={"difficulty": level, "entries": entries, **_record(run, group, metric)},
            )


# What a run says of itself


def _named(runs: Sequence[RunSummary]) -> Iterator[tuple[RunSummary, str]]:
    """Yield each run with a name that no other has."""
    # what is not the same of all of them
    parts = [(run.distinction, run.method, run.model_slug, run.condition) for run in runs]
    apart = [place for place in range(4) if len({part[place] for part in parts}) > 1]
    words = [list(dict.fromkeys(part[place] for place in apart if part[place])) for part in parts]
    names = [" · ".join(own) if own else setup_words(run) for own, run in zip(words, runs, strict=True)]
    often = Counter(names)
    for run, name in zip(runs, names, strict=True):
        yield run, name if often[name] == 1 else f"{run.run_id[:8]} · {name}"


def _scores(run: RunSummary) -> JsonObject:
    return block(run.card or {}, "scores")


def _took(run: RunSummary, effort: Effort) -> float | None:
    by = _EFFORTS[effort]
    return number(block(run.card or {}, by.block).get(by.field))


def _about(run: RunSummary) -> dict[str, Value]:
    return {
        "run_id": run.run_id,
        "created": iso(run.created),
        "method": run.method,
        "model": run.model_slug,
        "condition": run.condition,
    }


def _record(run: RunSummary, group: JsonObject, metric: str) -> Record:
    return {**_about(run), **ends_record(group, metric)}


def point_words(point: Point, runs: Mapping[str, RunSummary]) -> tuple[str, str]:
    """Return in two lines which run a point is, and its numbers."""
    run = runs[point.run_id]
    return f"{setup_words(run)} · {when(run.created)} · {run.run_id[:8]}", point.words


def _axis(metric: str) -> str:
    row = row_of(metric)
    better = "1 is ideal" if row and row.info.one_is_ideal else _BETTER[_better(metric)]
    return f"{short_title(metric)}, {better}"


_BETTER = {"higher": "more is better", "lower": "less is better", "neither": "no end is better"}


def _better(metric: str) -> str:
    row = row_of(metric)
    return "higher" if row is None else row.info.better


def _without(runs: Sequence[RunSummary], points: Sequence[Point], why: str) -> str:
    drawn = {point.run_id for point in points}
    names = [name for run, name in _named(runs) if run.run_id not in drawn]
    if not points:
        return f"Nothing to draw: {why}." if names else ""
    return f"not drawn ({why}): {', '.join(names)}" if names else ""


def over_fewer(runs: Sequence[RunSummary]) -> str:
    """Name the runs that translated fewer entries than the longest: their scores are not of the same text."""
    most = max((run.total for run in runs), default=0)
    short = [f"{name} ({run.total:,})" for run, name in _named(runs) if run.total < most]
    return f"over fewer than {counted(most, 'entry', 'entries')}: {', '.join(short)}" if short else ""


# ---- Numbers arranged along a line, straight or by powers, with round numbers to read them by.


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers arranged over cells."""

    low: float
    high: float
    logarithmic: bool = False

    @classmethod
    def of(cls, numbers: Sequence[float], *, logarithmic: bool = False) -> Axis:
        """Make an axis that has room for all numbers; of a logarithmic one 0 is the first cell, apart."""
        kept = [n for n in numbers if math.isfinite(n) and (n > 0 or not logarithmic)]
        low, high = (min(kept), max(kept)) if kept else (1.0, 2.0)
        if logarithmic:
            low = low / 2 if len(kept) < len(numbers) else low
            return cls(low, high if high > low else low * 10, logarithmic=True)
        room = (high - low) * 0.05 or (max(abs(high) * 0.05, 1e-6) if high else 0.05)
        return cls(0.0 if low >= 0 > low - room else low - room, high + room)

    def share(self, number: float) -> float:
        """Return where a number is, 0 for the low end to 1 for the high end."""
        if self.logarithmic:
            if number <= 0:
                return 0.0
            number, low, high = math.log(number), math.log(self.low), math.log(self.high)
        else:
            low, high = self.low, self.high
        return max(0.0, min(1.0, (number - low) / (high - low)))

    def place(self, number: float, cells: int) -> int:
        """Return the cell of a number, from 0."""
        return round(self.share(number) * (cells - 1))

    def ticks(self, most: int) -> list[float]:
        """Return round numbers within the axis, at most that many."""
        if self.logarithmic:
            return self._powers(most)
        step = 10 ** math.floor(math.log10((self.high - self.low) / max(1, most)))
        step = next(step * n for n in (1, 2, 5, 10) if (self.high - self.low) / (step * n) < most)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(step * number, 12) for number in range(first, last + 1)]

    def labels(self, most: int, words: Callable[[float], str]) -> list[tuple[float, str]]:
        """Return ticks with their words, so few that no two read alike; where even one is too many, the middle."""
        for fewer in range(most, 0, -1):
            labels = [(tick, words(tick)) for tick in self.ticks(fewer)]
            if labels and len({label for _, label in labels}) == len(labels):
                return labels
        middle = (self.low + self.high) / 2
        return [(middle, words(middle))]

    def _powers(self, most: int) -> list[float]:
        places: list[float] = []
        for factors in ((1, 2, 5), (1, 3), (1,)):
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            places = [by * 10.0**power for power in powers for by in factors]
            places = [number for number in places if self.low <= number <= self.high]
            if len(places) <= most:
                return places or [self.low, self.high]
        return places[:: -(-len(places) // most)]
