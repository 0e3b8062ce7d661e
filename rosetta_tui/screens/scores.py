"""Every metric of a run: value, interval, its part in the composite, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from rosetta_tui import figures
from rosetta_tui.live import LiveRun
from rosetta_tui.metric_words import by_reason, digits, floor_words, title, value
from rosetta_tui.text import show
from rosetta_tui.widgets.quality_panel import tier_line
from scoring.composite import Composite, composite
from scoring.specification import specification

WIDTH = 24
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
            yield Static(Content.styled("\nesc goes back", "$quiet"))


def score_lines(live: LiveRun) -> Iterator[Content]:
    """Give the page line by line."""
    yield tier_line(live)
    if live.progress is None or live.started is None:
        return
    mixed = composite(live.progress.values, live.started.missing)
    yield Content.styled(
        f"composite of profile {mixed.profile}: {mixed.coverage:.0%} of its weight has a value",
        "$quiet",
    )
    yield show(mixed.profile_reason, "$quiet")
    yield Content("")
    for metric in _with_value(live):
        yield _metric(live, mixed, metric)
    yield Content("")
    for floor in live.started.floors:
        numbers = f"{figures.number(floor.composite, 2)}   chrF++ {figures.number(floor.chrf, 1)}"
        yield Content.assemble(
            show(f"floor: {floor_words(floor.name)}".ljust(WIDTH + 4), "$quiet"), numbers
        )
    gaps = {**mixed.missing, **live.started.missing}
    for reason, metrics in by_reason(gaps):
        yield Content("")
        yield show(f"no value: {metrics}")
        yield show(f"  {reason}", "$quiet")


def _with_value(live: LiveRun) -> list[str]:
    values = live.progress.values if live.progress else {}
    known = [metric for metric in specification().metrics if values.get(metric) is not None]
    return ["composite", *known] if values.get("composite") is not None else known


def _metric(live: LiveRun, mixed: Composite, metric: str) -> Content:
    progress = live.progress
    number = progress.values.get(metric) if progress else None
    interval = progress.intervals.get(metric) if progress else None
    ends = (
        ""
        if interval is None
        else f"{interval[0]:.{digits(metric)}f}–{interval[1]:.{digits(metric)}f}"
    )
    part = next((each for each in mixed.inputs if each.metric == metric), None)
    weight = (
        "" if part is None else f"weight {part.effective_weight:.2f} (target {part.weight:.2f})"
    )
    beside = "" if part or metric == "composite" else "not in the composite"
    return Content.assemble(
        show(title(metric).ljust(WIDTH)),
        (f"{value(metric, number):>7}  ", "bold"),
        (f"{ends:<13} ", "$quiet"),
        (weight or beside, "$quiet"),
    )
