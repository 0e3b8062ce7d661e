"""How good the run is so far: chrF++ beside the composite, the tier, and every metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from corpora.text.messages import percent
from rosetta_tui.live.answers import (
    answer_lines,
    answers_line,
    answers_panel,
    asks_for_answers,
    judged_in_vain,
    unavailable,
)
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.show import figures
from rosetta_tui.show.figures import beside_value, by_reason, floor_words, remark, scale, value
from rosetta_tui.toolkit.content import DetailLine, show, shown_value
from scoring.card.claim import caveat_sentence, caveat_words
from scoring.core.inventory import (
    by_category,
    composite,
    composite_metrics,
    in_order,
    profile_note,
    reported_metrics,
    row_of,
    short_title,
    title,
)
from scoring.core.specification import Tier, Weighing

BAR = 21  # cells of a bar from 0 to the metric's top
INPUT_LINES = 3  # lines for the composite's inputs and gaps; the metrics screen has the rest
ROOMY = 40  # lines of a terminal from which all of them are used
_LEAST_CELL = 52  # cells of a metric with its bar, so that two stand side by side at 120
_CELL_BAR = 11


class QualityPanel(DetailLine):
    """Scores with their intervals, the tier in words, and the floors."""

    def show_run(self, live: LiveRun, *, compact: bool) -> None:
        """Show the run's scores now."""
        title = None if compact else "Quality"
        width, without = self.content_size.width, "" if compact else without_failed(live)
        if without != (self.border_subtitle or ""):
            self.border_subtitle = without
        if asks_for_answers(live):
            self.tell(answers_panel(live, compact=compact), title)
            return
        self.tell(_compact(live, width) if compact else _full(live, width), title)


def without_failed(live: LiveRun) -> str:
    """Return the scores without the entries that failed, which count as empty outputs in all others; "" without any."""
    now, started = live.progress, live.started
    if now is None or started is None:
        return ""
    wanted = [started.columns.headline, *(["composite"] if not asks_for_answers(live) else [])]
    known = [(id_, number) for id_ in wanted if (number := now.answered.get(id_)) is not None]
    parts = [f"{short_title(id_)} {value(id_, number)}" for id_, number in known]
    return f"without {live.errors:,} failed: {' · '.join(parts)}" if parts else ""


class InputsLine(DetailLine):
    """What the composite rests on, what is next to it, and what is missing and why."""

    def show_run(self, live: LiveRun) -> None:
        """Show the metrics of the run now."""
        width, most = max(1, self.content_size.width), INPUT_LINES if self.app.size.height >= ROOMY else INPUT_LINES - 1
        self.tell(answers_line(live) if asks_for_answers(live) else input_bars(live, width, most))


def _full(live: LiveRun, width: int) -> Content:
    """Return three lines; where the tier is too long, its shape goes, then the composite's value, which stands above."""
    tier = tier_line(live, caveats=False)
    if 0 < width < tier.cell_length:
        tier = tier[tier.plain.index(" ") + 1 :]
    if 0 < width < tier.cell_length and (reasons := tier.plain.partition("; ")[2]):
        tier = Content(f"{tier.plain.partition(' ')[0]} ({reasons}")
    floor = live.best_floor
    mixed = _bar_line(live, "composite", "composite", 1, 2, floor.composite if floor else None)
    return Content("\n").join(
        [_bar_line(live, "chrf_plus_plus", "chrF++   ", 100, 1, live.best_chrf_floor), mixed, tier]
    )


def _compact(live: LiveRun, width: int) -> Content:
    chrf, mixed = _value(live, "chrf_plus_plus"), _value(live, "composite")
    floor = live.best_floor
    best = "" if floor is None else f"best floor {figures.number(floor.composite, 2)}"
    numbers = Content("   ").join(
        [
            Content.assemble(
                ("chrF++ ", "$quiet"), (figures.number(chrf, 1), "bold"), _ends(live, "chrf_plus_plus", 1)
            ),
            Content.assemble(("composite ", "$quiet"), (figures.number(mixed, 2), "bold"), _ends(live, "composite", 2)),
            Content.styled(best, "$quiet"),
        ]
    )
    rest = [unavailable(live.started.missing if live.started else {}), without_failed(live)]
    off = Content.styled("".join(f"   {words}" for words in rest if words), "$quiet")
    tier = tier_line(live)
    apart = "\n" if 0 < width < tier.cell_length + off.cell_length else ""
    return Content.assemble(numbers, "\n", tier, apart, off[3:] if apart else off)


def _value(live: LiveRun, metric: str) -> float | None:
    return live.values.get(metric)


def _interval(live: LiveRun, metric: str) -> tuple[float, float] | None:
    return live.progress.intervals.get(metric) if live.progress else None


def _bar_line(live: LiveRun, metric: str, title: str, top: float, digits: int, floor: float | None) -> Content:
    value, interval = _value(live, metric), _interval(live, metric)
    head = Content.assemble((f"{title} ", "$quiet"), (f"{figures.number(value, digits):>5} ", "bold"))
    if value is None:
        return head.append(Content.styled("no entry is scored yet" if not live.done else "no value", "$quiet"))
    bar = figures.interval_bar(value, interval, top=top, width=BAR, floor=floor)
    return Content.assemble(head, (bar, "$mark"), _ends(live, metric, digits))


def _ends(live: LiveRun, metric: str, digits: int) -> Content:
    interval = _interval(live, metric)
    if interval is None:
        return Content("")
    return Content.styled(f" {interval[0]:.{digits}f}–{interval[1]:.{digits}f}", "$quiet")


def tier_line(live: LiveRun, *, caveats: bool = True) -> Content:
    """Return the tier as shape and words: what may be claimed, and what it rests on (T1)."""
    claim = live.claim
    if claim is None:
        return Content.assemble((figures.meter(Tier.UNSCORED), "$mark"), " ", Tier.UNSCORED.value)
    return Content.assemble(
        (figures.meter(claim.claimable_tier), "$mark"), " ", claim.words(brief=True, caveats=caveats)
    )


def input_bars(live: LiveRun, width: int, most: int) -> Content:
    """Return caveats in a line, then metrics as aligned bars in at most ``most`` lines; the key for the rest is last.

    First the composite's inputs with their weights, then what has a value beside them (T3).
    """
    progress, started = live.progress, live.started
    if progress is None or started is None:
        return Content("")
    caveats = live.claim.caveats if live.claim else ()
    fails = [Content.styled(f"! {caveat_words(caveat)}", "$warn") for caveat in caveats]
    fails += judged_in_vain(progress)
    weights = {
        part.metric: part.effective_weight
        for part in composite(progress.values, started.missing, _weighing(live)).inputs
    }
    others = (id_ for id_, number in progress.values.items() if number is not None and row_of(id_) is not None)
    metrics = [*weights, *in_order(id_ for id_ in others if id_ not in composite_metrics())]
    columns = max(1, width // _LEAST_CELL)
    wide, room = width // columns, max(1, most - bool(fails)) * columns
    off = unavailable(started.missing)
    shown = metrics if len(metrics) + bool(off or live.best_floor) <= room else metrics[: room - 1]
    cells = [_bar_cell(id_, weights.get(id_), live) for id_ in shown]
    floor = "" if live.best_floor is None else f"╿ best floor {figures.number(live.best_floor.composite, 2)}"
    more = "" if len(shown) == len(metrics) else f"{len(metrics) - len(shown)} more: m"
    rest = _DOT.join(filter(None, [floor, more, off]))
    cells += [Content.styled(rest, "$quiet")] if rest else []
    cells = [cell.truncate(wide - 2, ellipsis=True).pad_right(max(0, wide - cell.cell_length)) for cell in cells]
    lines = [Content("").join(cells[at : at + columns]) for at in range(0, len(cells), columns)]
    head = [Content.styled(_DOT, "$quiet").join(fails)] if fails else []
    return Content("\n").join([*head, *lines])


def _bar_cell(metric: str, weight: float | None, live: LiveRun) -> Content:
    """Return a metric's name, value, bar with its interval and floor, weight, and change over the last entries."""
    number, row = _value(live, metric), row_of(metric)
    head = show(f"{short_title(metric):<14.14} ", "$quiet")
    share = Content.styled(f" ×{weight:.2f}" if weight is not None else "      ", "$quiet")
    if number is None or row is None:
        return head
    if beside_value(metric, live.references):  # an acceptance never stands without that of the references
        return Content.assemble(head, shown_value(metric, number, live.references), share)
    interval = _interval(live, metric)
    low, top = row.info.low, row.info.high
    floor = live.best_chrf_floor if metric == "chrf_plus_plus" else None
    bounded = isfinite(low) and isfinite(top)
    bar = figures.interval_bar(number, interval, low=low, top=top, width=_CELL_BAR, floor=floor) if bounded else ""
    change = live.change(metric)
    steps = "" if change is None else f" {figures.signed(change, 1 if top > 1 else 2)}"
    ends = "" if interval is None else " " + "–".join(value(metric, end) for end in interval)
    return Content.assemble(
        head,
        (f"{value(metric, number):>5} ", "bold"),
        (f"{bar:<{_CELL_BAR}}", "$mark"),
        share,
        (ends, "$quiet"),
        (steps, "$quiet"),
    )


def _weighing(live: LiveRun) -> Weighing | None:
    return None if live.claim is None else live.claim.weighing


_DOT = " · "


BETTER_LEGEND = "↑ more is better   ↓ less is better"
LEGEND = f"{BETTER_LEGEND}   ╿ a worthless method\nweight: in this composite (in the specification)"
"""What the signs of a line mean."""

WIDTH = 23  # cells for the name of a metric


class ScoresScreen(ModalScreen[None]):
    """What the composite is made of, what is next to it, the floors, and the gaps."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,m,enter", "dismiss(None)", "Back")]

    def __init__(self, live: LiveRun) -> None:
        super().__init__()
        self._live = live

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog -wide"):
            answers = asks_for_answers(self._live)
            lines = answer_lines(self._live) if answers else score_lines(self._live)
            legend = f"{BETTER_LEGEND if answers else LEGEND}\n"
            yield Static(Content("\n").join(list(lines)))
            yield Static(Content.styled(f"\n{legend}esc goes back", "$quiet"))


def score_lines(live: LiveRun) -> Iterator[Content]:
    """Yield the page line by line."""
    yield tier_line(live)
    for caveat in live.claim.caveats if live.claim else ():
        yield Content.styled(f"  ! {caveat_sentence(caveat)}", "$warn")
    if live.progress is None or live.started is None:
        return
    values = live.progress.values
    gaps = dict(live.started.missing)
    mixed = composite(values, gaps, _weighing(live))
    yield show(f"profile {mixed.profile}: {mixed.profile_reason}", "$quiet")
    if note := profile_note(mixed.profile, calibrated=bool(mixed.weighing.calibration)):
        yield show(note, "$quiet")
    yield Content("")
    yield _metric("composite", live, "0–1↑", f"{percent(mixed.coverage)} of its weight")
    yield from _floors(live)
    apart = {id_ for values in live.as_stated.values() for id_ in values}
    has = [id_ for id_, number in values.items() if number is not None]
    for category, metrics in by_category(set(reported_metrics(has, gaps)) - apart):
        yield Content("")
        yield Content.styled(category, "$mark")
        for metric in metrics:
            if values.get(metric) is None:
                gaps.setdefault(metric, "no entry has been scored yet")
            beside = "" if values.get(metric) is None else "not in the composite"
            part = next((input_ for input_ in mixed.inputs if input_.metric == metric), None)
            weight = "" if part is None else f"weight {part.effective_weight:.2f} ({part.weight:.2f})"
            yield _metric(metric, live, scale(metric), weight or beside)
            yield from _remark(metric, live)
    # the values of metrics that cannot be computed here as the card has them
    for why, values in live.as_stated.items():
        yield Content("")
        yield show(why, "$mark")
        for metric, stated in values.items():
            yield Content.assemble(show(f"{metric:<{WIDTH}}"), (f"{figures.number(stated, 2):>7}", "bold"))
    yield from _gaps(gaps)


def _floors(live: LiveRun) -> Iterator[Content]:
    for floor in live.floors:
        name = f"  ╿ {floor_words(floor.name)}"
        parts = [figures.number(floor.composite, 2), f"chrF++ {figures.number(floor.chrf, 1)}"]
        if floor.searched:
            parts.append(f"best of {floor.searched:,} references")
        if floor.entries not in {None, live.total}:
            parts.append(f"on {floor.entries:,} entries")
        yield show(f"{name:<{WIDTH + 3}} {'   '.join(parts)}", "$quiet")


def _metric(metric: str, live: LiveRun, ends_of_scale: str, part: str) -> Content:
    number, interval = _value(live, metric), _interval(live, metric)
    ends = "" if interval is None else "–".join(value(metric, end) for end in interval)
    name = title(metric)
    return Content.assemble(
        show(f"{name:<{WIDTH}}", "" if number is not None else "$quiet"),
        (f"{value(metric, number):>7}  ", "bold"),
        (f"{ends:<12} ", "$quiet"),
        (f"{ends_of_scale:<6} ", "$quiet"),
        (part, "$quiet"),
    )


def _remark(metric: str, live: LiveRun) -> Iterator[Content]:
    """Return what a value is not, where it is easily taken for something else."""
    if live.progress is None or _value(live, metric) is None:
        return
    beside = beside_value(metric, live.references)
    if remark_words := remark(metric, live.progress.total if _interval(live, metric) else None):
        yield show(f"  {beside}{': ' if beside else ''}{remark_words}", "$quiet")


def _gaps(gaps: Mapping[str, str]) -> Iterator[Content]:
    if not gaps:
        return
    yield Content("")
    yield Content.styled("no value, and why", "$mark")
    for reason, metrics in by_reason(gaps):
        yield show(metrics)
        yield show(f"  {reason}", "$quiet")
