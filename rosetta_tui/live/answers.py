"""How good the answers are so far where a corpus asks for something else than translations.

Such a run has no composite, no tier and no floors: its headline leads, with its interval and how the entries' own
values lie; the other metrics are in a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isinf

from textual.content import Content

from corpora.text.messages import counted
from harness.run.events import Progress
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.show import figures
from rosetta_tui.show.figures import better_arrow, by_reason, scale, shares, value
from rosetta_tui.toolkit.content import show
from scoring.core.inventory import in_order, row_of, short_title
from scoring.core.packs import RAISED
from scoring.core.specification import TRANSLATIONS, KeptColumns

BAR = 21  # cells of a bar over the metric's range


def asks_for_answers(live: LiveRun) -> bool:
    """Return whether the run is of another task than translation."""
    return live.started is not None and live.started.columns != TRANSLATIONS


def answers_panel(live: LiveRun, *, compact: bool) -> Content:
    """Return the headline, how the entries' values of it lie, and the next metrics; in two lines where compact."""
    kept = live.started.columns if live.started else TRANSLATIONS
    beside = _beside(live, [id_ for id_ in kept.ids if id_ != kept.headline])
    if compact:
        lead = Content("   ").join([_headline(live, kept, bar=False), _spread(live, kept)])
        # That judgements failed and metrics are off, in as few words as a small terminal has room
        # for.
        failed = 0 if live.progress is None else _failures(live.progress)[0]
        parts = [
            Content.styled(f"! {counted(failed, 'judgement')} failed" if failed else "", "$warn"),
            _not_judged(live),
            Content.styled(unavailable(_missing(live)), "$quiet"),
        ]
        more = Content("   ").join([part for part in parts if part.plain])
        contents = (*_shares(live, kept.headline), beside, more)
        return Content("\n").join([lead, Content("   ").join([x for x in contents if x.plain])])
    lines = [_headline(live, kept, bar=True), _spread(live, kept), beside]
    return Content("\n").join([line for line in lines if line.plain])


def _shares(live: LiveRun, id_: str) -> Iterator[Content]:
    """Yield the shares that a metric takes the mean of, where it does."""
    for of, share in shares(id_, live.values):
        yield Content.assemble(show(f"{of} ", "$quiet"), share)


def answers_line(live: LiveRun) -> Content:
    """Return the metrics that have no place in the panel, and those without a value, with the reason."""
    if live.progress is None or live.started is None:
        return Content("")
    missing = _missing(live)
    shown = {*live.started.columns.ids, "composite"}
    others = [id_ for id_ in _known(live) if id_ not in shown]
    gaps = [show(f"no value: {names} ({reason})", "$quiet") for reason, names in by_reason(missing)]
    parts = [part for id_ in _known(live) for part in _shares(live, id_)]
    contents = [*judged_in_vain(live.progress), _not_judged(live), *parts, _beside(live, others), *gaps]
    return Content.styled(" · ", "$quiet").join([part for part in contents if part.plain])


def answer_lines(live: LiveRun) -> Iterator[Content]:
    """Yield the page of all metrics line by line: value, interval and scale of each, then the gaps."""
    if live.progress is None or live.started is None:
        return
    kept = live.started.columns
    yield _headline(live, kept, bar=False)
    yield _spread(live, kept)
    yield Content("")
    for id_ in _known(live):
        yield Content.assemble(
            show(f"{short_title(id_):<23}"),
            (f"{value(id_, live.progress.values[id_]):>7}  ", "bold"),
            (f"{_ends(live, id_):<12} {scale(id_)}", "$quiet"),
        )
        yield from (show(f"  {of:<24}{share}") for of, share in shares(id_, live.progress.values))
        if row := row_of(id_):
            yield show(f"  {row.what}", "$quiet")
    yield from filter(None, [*judged_in_vain(live.progress), _not_judged(live)])
    if live.progress.scoring is not None:
        cost = figures.cost(live.progress.scoring.cost_usd, live.progress.scoring.known_cost_usd)
        calls = counted(live.progress.scoring.calls, "call")
        yield show(f"scoring asked endpoints: {calls}, cost {cost}, apart from the outputs'", "$quiet")
    missing = _missing(live)
    if missing:
        yield Content("")
    for reason, names in by_reason(missing):
        yield show(names)
        yield show(f"  no value: {reason}", "$quiet")


def _missing(live: LiveRun) -> dict[str, str]:
    """Return why metrics have no value; what was missing at the beginning may have come since."""
    missing = live.started.missing if live.started else {}
    return {id_: why for id_, why in missing.items() if live.values.get(id_) is None}


def _known(live: LiveRun) -> list[str]:
    """Return the metrics with a value, in the order of their tables; a card has more numbers than these."""
    return in_order(id_ for id_, number in live.values.items() if number is not None and row_of(id_) is not None)


_FAILED = "_judge_failed"


def judged_in_vain(progress: Progress) -> Iterator[Content]:
    """Return by metric how many judgements, and at how many entries a pack's code, failed; they are not in its value."""
    for id_, number in progress.values.items():
        if id_.endswith(RAISED) and number:
            entries = counted(int(number), "entry", "entries")
            name = short_title(id_.removesuffix(RAISED))
            yield show(f"! {name}: the code of its pack failed at {entries}", "$warn")
    total, failed = _failures(progress)
    if total:
        named = ", ".join(f"{name} {number:,}" for name, number in failed.items())
        beside = f": {named}" if len(failed) > 1 else f" ({named})" if failed else ""
        yield show(f"! {counted(total, 'judgement')} failed{beside}", "$warn")


def _failures(progress: Progress) -> tuple[int, dict[str, int]]:
    """Return how many judgements failed, and of which metric; while judges are asked no metric has them yet."""
    failed = {
        short_title(id_.removesuffix(_FAILED)): int(number)
        for id_, number in progress.values.items()
        if id_.endswith(_FAILED) and number
    }
    return sum(failed.values()) or (progress.scoring.failed if progress.scoring else 0), failed


def _not_judged(live: LiveRun) -> Content:
    """Return of how many outputs there is no judgement at all, of the metric that leads; judges are asked at the end."""
    now, headline = live.progress, live.started.columns.headline if live.started else ""
    if now is None or now.spread is None or not live.over or headline + _FAILED not in now.values:
        return Content("")
    left = now.done - now.spread.n - int(now.values[headline + _FAILED] or 0)
    return show(f"{counted(left, 'entry', 'entries')} not judged" if left > 0 else "", "$quiet")


def _headline(live: LiveRun, kept: KeptColumns, *, bar: bool) -> Content:
    id_ = kept.headline
    less = "↓ " if better_arrow(id_) == "↓" else ""
    name = show(f"{short_title(id_)} {less}", "$quiet")
    number = live.values.get(id_)
    if number is None or live.progress is None:
        why = "no value" if live.done else "no entry is scored yet"
        return name.append(Content.styled(why, "$quiet"))
    interval = live.progress.intervals.get(id_)
    # Ends of a metric's range; 0 and 1 of one that nothing here knows.
    row = row_of(id_)
    low, high = (0.0, 1.0) if row is None else (row.info.low, row.info.high)
    drawn = ""
    if bar and not isinf(high):
        inside = max(low, min(high, number))
        drawn = f" {figures.interval_bar(inside, interval, top=high, width=BAR, low=low)}"
    ends = _ends(live, id_)
    return Content.assemble(
        name, (value(id_, number), "bold"), (drawn, "$mark"), (f" {ends}" if ends else "", "$quiet")
    )


def _spread(live: LiveRun, kept: KeptColumns) -> Content:
    spread = live.progress.spread if live.progress else None
    if spread is None:
        return Content("")
    mean, std = (value(kept.headline, number) for number in (spread.mean, spread.std))
    of = counted(spread.n, "entry", "entries")
    return Content.assemble(("mean ", "$quiet"), f"{mean} ± {std}", (f" of {of}", "$quiet"))


def _beside(live: LiveRun, ids: list[str]) -> Content:
    parts = [Content.assemble(show(f"{short_title(id_)} ", "$quiet"), value(id_, live.values.get(id_))) for id_ in ids]
    return Content.styled(" · ", "$quiet").join(parts)


def _ends(live: LiveRun, id_: str) -> str:
    interval = live.progress.intervals.get(id_) if live.progress else None
    return "" if interval is None else "–".join(value(id_, end) for end in interval)


def unavailable(missing: Mapping[str, str]) -> str:
    """Return how many metrics have no value, and which key tells why; empty for none."""
    return f"{counted(len(missing), 'metric')} unavailable: m" if missing else ""
