"""How good the run is so far: chrF++ beside the composite, the tier, and every metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from corpora.text.messages import percent
from harness.store.file.openings import Floor
from rosetta_tui.live.answers import answer_lines, answers_line, answers_panel, asks_for_answers, judged_in_vain
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
    row_of,
    short_title,
    title,
    told_of,
)
from scoring.core.specification import Tier, Weighing

BAR = 21  # cells of a bar from 0 to the metric's top
INPUT_LINES = 3  # lines for the composite's inputs and gaps; the metrics screen has the rest


class QualityPanel(DetailLine):
    """Scores with their intervals, the tier in words, and the floors."""

    def show_run(self, live: LiveRun, *, compact: bool) -> None:
        """Show the run's scores now."""
        title = None if compact else "Quality"
        width = self.content_size.width
        if asks_for_answers(live):
            self.tell(answers_panel(live, compact=compact), title)
            return
        self.tell(_compact(live) if compact else _full(live, width), title)


class InputsLine(DetailLine):
    """What the composite rests on, what is next to it, and what is missing and why."""

    def show_run(self, live: LiveRun) -> None:
        """Show the metrics of the run now."""
        width = max(1, self.content_size.width)
        self.tell(answers_line(live) if asks_for_answers(live) else inputs_line(live, width))


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


def _compact(live: LiveRun) -> Content:
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
    off = Content.styled(f"   {_count(_missing(live))}" if _missing(live) else "", "$quiet")
    return Content.assemble(numbers, "\n", tier_line(live), off)


def _value(live: LiveRun, metric: str) -> float | None:
    return live.progress.values.get(metric) if live.progress else None


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


def best_floor_words(floor: Floor | None) -> Content:
    """Return what the best worthless method reaches (T2)."""
    if floor is None:
        return Content("")
    return Content.assemble(
        ("╿ best floor ", "$quiet"),
        f"{figures.number(floor.composite, 2)} ",
        show(f"({figures.floor_words(floor.name)})", "$quiet"),
    )


def inputs_line(live: LiveRun, width: int) -> Content:
    """Return caveats, the composite's inputs with their weights, the metrics next to it, floors and gaps."""
    progress, started = live.progress, live.started
    if progress is None or started is None:
        return Content("")
    mixed = composite(progress.values, started.missing, _weighing(live))
    inside = [
        _input(part.metric, part.value, live).append(Content.styled(f" ×{part.effective_weight:.2f}", "$quiet"))
        for part in mixed.inputs
    ]
    floor = [best_floor_words(live.best_floor)] if live.best_floor else []
    fails = [
        Content.styled(f"! {caveat_words(caveat)}", "$warn") for caveat in (live.claim.caveats if live.claim else ())
    ]
    fails += judged_in_vain(progress)
    # the metrics outside the composite that have a value (T3), as many as there is room for
    inside_ids = composite_metrics()
    outside = [id_ for id_, number in progress.values.items() if number is not None and row_of(id_) is not None]
    beside = [
        _input(id_, progress.values[id_], live) for id_ in in_order(id_ for id_ in outside if id_ not in inside_ids)
    ]
    room = INPUT_LINES * width - width // 4  # lines break at words, which costs some room
    room -= _cells([*fails, *inside, *floor])
    lengths = accumulate(part.cell_length + len(_DOT) for part in beside)
    shown = beside[: sum(length <= room - len(_count(started.missing)) - len(_DOT) for length in lengths)]
    more = len(shown) < len(beside)
    gaps = _gaps_in_room(started.missing, room - _cells(shown), more=more)
    return Content.styled(_DOT, "$quiet").join([*fails, *inside, *shown, *floor, *gaps])


def _weighing(live: LiveRun) -> Weighing | None:
    return None if live.claim is None else live.claim.weighing


def _cells(parts: Sequence[Content]) -> int:
    return sum(part.cell_length + len(_DOT) for part in parts)


_DOT = " · "


def _missing(live: LiveRun) -> Mapping[str, str]:
    return live.started.missing if live.started else {}


def _input(metric: str, number: float | None, live: LiveRun) -> Content:
    name = show(f"{short_title(metric)} ", "$quiet")
    return name.append(shown_value(metric, number, live.references))


def _gaps_in_room(missing: Mapping[str, str], room: int, *, more: bool) -> list[Content]:
    """Return which metrics have no value and why, as far as there is room for reasons, less if ``more``; else how many."""
    contents: list[Content] = []
    left = dict(missing)
    groups: dict[str, list[str]] = {}
    for id_, reason in () if more else missing.items():
        groups.setdefault(reason, []).append(id_)
    # those of the composite first: their lack changes what it means
    inside = composite_metrics()
    for reason, metrics in sorted(groups.items(), key=lambda group: inside.isdisjoint(group[1])):
        words = show(f"no value: {', '.join(map(short_title, metrics))} ({reason})", "$quiet")
        room -= words.cell_length + len(_DOT)
        if room < len(_count(left)):
            break
        contents.append(words)
        left = {id_: why for id_, why in left.items() if id_ not in metrics}
    rest = _count(left) if left else "more: m" if more else ""
    return [*contents, Content.styled(rest, "$quiet")] if rest else contents


def _count(missing: Mapping[str, str]) -> str:
    """Return how many metrics have no value, and which key tells why."""
    return f"{len(missing)} {'metric' if len(missing) == 1 else 'metrics'} off: m"


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
    for category, metrics in by_category(set(told_of(has, gaps)) - apart):
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
    progress = live.progress
    number = progress.values.get(metric) if progress else None
    interval = progress.intervals.get(metric) if progress else None
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
    if live.progress is None or live.progress.values.get(metric) is None:
        return
    entries = live.progress.total if metric in live.progress.intervals else None
    remark_words = remark(metric, entries)
    beside = beside_value(metric, live.references)
    if remark_words:
        yield show(f"  {beside}{': ' if beside else ''}{remark_words}", "$quiet")


def _gaps(gaps: Mapping[str, str]) -> Iterator[Content]:
    if not gaps:
        return
    yield Content("")
    yield Content.styled("no value, and why", "$mark")
    for reason, metrics in by_reason(gaps):
        yield show(metrics)
        yield show(f"  {reason}", "$quiet")
