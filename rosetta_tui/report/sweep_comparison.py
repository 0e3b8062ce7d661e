"""The methods of a sweep against its baselines, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rosetta_tui.show import figures
from rosetta_tui.show.metric_words import value
from rosetta_tui.show.text import stacked
from scoring.core.messages import counted
from scoring.core.metric_rows import short_title

if TYPE_CHECKING:
    from harness.sweep.comparing import ComparedSetup, MethodVerdict, SweepComparison
    from harness.sweep.effects import AxisEffect

_HEADINGS = ("method", "value", "best baseline", "difference", "95 % to the best", "p", "p of maximum", "p (Holm)", "")  # fmt: skip
_PARTS = ("set-up", "value", "runs", "sd of entries", "sd of repetitions", "sd of the rest")
_EFFECTS = ("axis", "value", "adds", "95 % interval", "to", "pairs")
_DIGITS = 4


def comparison_lines(found: SweepComparison, width: int | None) -> Iterator[str]:
    """Yield what `rosetta sweep compare` prints."""
    many = counted(len(found.baselines), "baseline")
    against = (
        f": {counted(len(found.methods), 'method')} against the best of {many}"
        if found.methods
        else ""
    )
    yield f"Sweep {found.name} ({found.id}) by {short_title(found.metric)}{against}"
    if found.effects:
        yield ""
        yield from stacked([_EFFECTS, *(_effect(effect) for effect in found.effects)], width, ())
        yield "adds: mean difference to the first value of the axis, over pairs of set-ups that differ in nothing else."
    if found.methods:
        yield ""
        yield from _methods(found, width)
    if found.unanswered:
        yield found.unanswered
    for name, why in found.left_out.items():
        yield f"left out, {name}: {why}"


def _methods(found: SweepComparison, width: int | None) -> Iterator[str]:
    yield from stacked([_HEADINGS, *(_row(found, method) for method in found.methods)], width, ())
    for method in found.methods:
        if method.nearest != method.best:
            yield f"{method.method.name}: its lead is least sure over {method.nearest}."
    yield ""
    setups = [*(method.method for method in found.methods), *found.baselines]
    yield from stacked([_PARTS, *(_parts(found, setup) for setup in setups)], width, _PARTS[1:])
    yield "p: against that baseline alone, as if it had been named before. p of maximum: against the best of all."
    yield f"p (Holm): that of the maximum, corrected for {counted(len(found.methods), 'method')}; a method beats them where it is below 0.05."
    for setup in setups:
        if setup.unparted:
            yield f"{setup.name}: {setup.unparted}."


def _effect(effect: AxisEffect) -> tuple[str, ...]:
    return (
        effect.axis,
        effect.value,
        figures.signed(effect.difference, _DIGITS),
        f"{figures.signed(effect.lower, _DIGITS)} … {figures.signed(effect.upper, _DIGITS)}",
        effect.reference,
        str(effect.pairs),
    )


def _row(found: SweepComparison, each: MethodVerdict) -> tuple[str, ...]:
    return (
        each.method.name,
        value(found.metric, each.method.value),
        each.best,
        figures.signed(each.difference, _DIGITS),
        f"{figures.signed(each.lower, _DIGITS)} … {figures.signed(each.upper, _DIGITS)}",
        figures.p_value(each.p_picked),
        figures.p_value(each.p_maximum),
        figures.p_value(each.p_holm),
        "beats the best" if each.beats else "not shown",
    )


def _parts(found: SweepComparison, each: ComparedSetup) -> tuple[str, ...]:
    parts = (each.between_entries, each.between_repetitions, each.remainder)
    deviations = (None if part is None else part**0.5 for part in parts)
    return (
        each.name,
        value(found.metric, each.value),
        str(len(each.runs)),
        *(figures.number(part, _DIGITS) for part in deviations),
    )
