"""Every metric of a run: value, interval, its part in the composite, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from rosetta_tui.live.quality_panel import tier_line
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.show import figures
from rosetta_tui.show.metric_words import (
    beside_value,
    by_category,
    by_reason,
    floor_words,
    remark,
    value,
)
from rosetta_tui.toolkit.content import show
from scoring.card.claim import caveat_sentence
from scoring.core.composite import Composite, composite
from scoring.core.metric_names import title
from scoring.core.specification import specification
from scoring.core.wording import percent

LEGEND = (
    "↑ more is better   ↓ less is better   ╿ a worthless method\n"
    "weight: in this composite (in the specification)"
)
"""What the signs of a line mean."""

WIDTH = 23
"""Cells for the name of a metric."""


class ScoresScreen(ModalScreen[None]):
    """What the composite is made of, what stands beside it, the floors, and the gaps."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,m,enter", "dismiss(None)", "Back"),
    ]

    def __init__(self, live: LiveRun) -> None:
        super().__init__()
        self._live = live

    def compose(self) -> ComposeResult:
        """Lay out the scores."""
        with VerticalScroll(classes="dialog -wide"):
            yield Static(Content("\n").join(list(score_lines(self._live))))
            yield Static(Content.styled(f"\n{LEGEND}\nesc goes back", "$quiet"))


def score_lines(live: LiveRun) -> Iterator[Content]:
    """Yield the page line by line."""
    yield tier_line(live)
    for caveat in live.claim.caveats if live.claim else ():
        yield Content.styled(f"  ! {caveat_sentence(caveat)}", "$warn")
    if live.progress is None or live.started is None:
        return
    values = live.progress.values
    gaps = dict(live.started.missing)
    mixed = composite(values, gaps)
    yield show(f"profile {mixed.profile}: {mixed.profile_reason}", "$quiet")
    yield Content("")
    yield _metric("composite", live, "0–1↑", f"{percent(mixed.coverage)} of its weight")
    yield from _floors(live)
    for category, metrics in by_category(specification().metrics):
        yield Content("")
        yield Content.styled(category, "$mark")
        for metric in metrics:
            if values.get(metric) is None:
                gaps.setdefault(metric, "no entry has been scored yet")
            beside = "" if values.get(metric) is None else "not in the composite"
            yield _metric(metric, live, _scale(metric), _weight(metric, mixed) or beside)
            yield from _remark(metric, live)
    yield from _gaps(gaps)


def _floors(live: LiveRun) -> Iterator[Content]:
    for floor in live.started.floors if live.started else ():
        name = f"  ╿ {floor_words(floor.name)}"
        numbers = f"{figures.number(floor.composite, 2)}   chrF++ {figures.number(floor.chrf, 1)}"
        searched = f"   best of {floor.searched:,} references" if floor.searched else ""
        yield show(f"{name:<{WIDTH + 3}} {numbers}{searched}", "$quiet")


def _metric(metric: str, live: LiveRun, scale: str, part: str) -> Content:
    progress = live.progress
    number = progress.values.get(metric) if progress else None
    interval = progress.intervals.get(metric) if progress else None
    ends = "" if interval is None else "–".join(value(metric, end) for end in interval)
    name = title(metric) if metric in specification().metrics else metric
    return Content.assemble(
        show(f"{name:<{WIDTH}}", "" if number is not None else "$quiet"),
        (f"{value(metric, number):>7}  ", "bold"),
        (f"{ends:<12} ", "$quiet"),
        (f"{scale:<6} ", "$quiet"),
        (part, "$quiet"),
    )


def _scale(metric: str) -> str:
    """Return the range of a metric, with an arrow to its better end."""
    info = specification().metrics[metric].info
    high = "∞" if info.high == inf else f"{info.high:g}"
    return f"{info.low:g}–{high}{_BETTER.get(info.better, '')}"


_BETTER = {"higher": "↑", "lower": "↓"}


def _weight(metric: str, mixed: Composite) -> str:
    part = next((each for each in mixed.inputs if each.metric == metric), None)
    return "" if part is None else f"weight {part.effective_weight:.2f} ({part.weight:.2f})"


def _remark(metric: str, live: LiveRun) -> Iterator[Content]:
    """Say what a value is not, where it is easily taken for something else."""
    if live.progress is None or live.progress.values.get(metric) is None:
        return
    entries = live.progress.total if metric in live.progress.intervals else None
    said = remark(metric, entries)
    beside = beside_value(metric, live.references)
    if said:
        yield show(f"  {beside}{': ' if beside else ''}{said}", "$quiet")


def _gaps(gaps: Mapping[str, str]) -> Iterator[Content]:
    if not gaps:
        return
    yield Content("")
    yield Content.styled("no value, and why", "$mark")
    for reason, metrics in by_reason(gaps):
        yield show(metrics)
        yield show(f"  {reason}", "$quiet")
