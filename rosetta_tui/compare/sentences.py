"""What a comparison says, in sentences that a person understands who knows no statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import TYPE_CHECKING

from corpora.text.messages import counted
from harness.card.reading import claim_of, inside_words
from harness.store.run_list import distinctions, setup_facts
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import review_of, tier_words
from rosetta_tui.show.figures import digits
from rosetta_tui.show.run_facts import stated_mark
from scoring.card.claim import ClaimReason
from scoring.core.inventory import direction, title
from scoring.core.specification import COMPOSITE, TRANSLATIONS, stated_columns
from scoring.statistics.repetitions import Holding

if TYPE_CHECKING:
    from harness.compare.comparison import RepeatedSetup
    from harness.compare.pairs import ComparedRun, Pair, RunningDifference
    from scoring.statistics.repetitions import Reproduction
    from scoring.statistics.significance import Difference

_NAMES = {COMPOSITE: "composite", "ter": "TER"}  # names of metrics whose titles read as words
_MOST_DIGITS = 6


def kept_words(pair: Pair) -> str:
    """Return why the numbers of a pair leave in no copy and no file; empty where they may."""
    sides = (pair.first, pair.second)
    inside = [side for side in sides if side.inside]
    return inside_words(inside[0].run_id) if inside else ""


def name(metric: str) -> str:
    """Return a metric's name within a sentence."""
    return _NAMES.get(metric) or title(metric)


def run_words(run: ComparedRun) -> str:
    """Return what a run was: method, model and condition; a name that is all of these stands once."""
    setup = run.setup
    parts = dict.fromkeys((setup.method, setup.model_slug, setup.condition))
    return " · ".join(part for part in parts if part)


def told_apart(runs: Sequence[ComparedRun], *, by_id: bool = True) -> list[str]:
    """Return what each run was; those that are called the same by what parts them, and at last by their id."""
    words = [run_words(run) for run in runs]
    ids = [run.run_id[:8] if by_id else "" for run in runs]
    facts = [setup_facts(run.setup.model_dump(), run.file) for run in runs]
    apart = distinctions(words, [(*fact, id_) for fact, id_ in zip(facts, ids, strict=True)])
    return [" · ".join(filter(None, words_of_run)) for words_of_run in zip(apart, words, strict=True)]


def lettered(runs: Sequence[ComparedRun]) -> dict[str, str]:
    """Return letter and words of each run, by id."""
    return {run.run_id: f"{run.letter}  {words}" for run, words in zip(runs, told_apart(runs), strict=True)}


def sentence(pair: Pair, metric: str) -> str:
    """Return which of two runs is better by a metric, by how much, and how easily chance would show the same."""
    if pair.under_way:
        return _running(pair, metric)
    difference = pair.by_metric.get(metric)
    if difference is None:
        why = pair.left_out.get(metric, "it has no value in both")
        return f"{_both(pair)} do not compare by {name(metric)}: {why}"
    if difference.difference == 0:
        return f"{_both(pair)} have the same {name(metric)}"
    p = pair.p_adjusted.get(metric, difference.p_randomisation)
    several = f", with all {pair.pairs} comparisons counted" if pair.pairs > 1 else ""
    chance = f"chance alone would show this in {cases(p)}{several}"
    if difference.direction == "neither":
        return _higher(pair, metric, difference, chance)
    ahead, behind = _order(pair, str(difference.ahead))
    by = amount(metric, difference.difference)
    if pair.significant(metric):
        return f"{ahead} is better than {behind} by {by}; {chance}"
    also = _although(pair, metric)
    return f"{_both(pair)} cannot be told apart by {name(metric)}: {ahead} is ahead by {by}, but {chance}{also}"


def _higher(pair: Pair, metric: str, difference: Difference, chance: str) -> str:
    """Return which value is higher where that makes no run better."""
    one, other = pair.first.letter, pair.second.letter
    high, low = (other, one) if difference.difference > 0 else (one, other)
    by = number(metric, abs(difference.difference))
    sure = "" if pair.significant(metric) else ", which may be chance"
    return f"the {name(metric)} of {high} is higher than that of {low} by {by}{sure}; {chance}"


def _although(pair: Pair, metric: str) -> str:
    """Return what else is missing for a difference to count: the tests disagree, or its interval holds zero."""
    difference, alpha = pair.by_metric[metric], pair.by_metric[metric].alpha
    shuffled, drawn = difference.p_randomisation, difference.p_bootstrap
    if (shuffled < alpha) != (drawn < alpha):
        one, other = figures.p_words(shuffled), figures.p_value(drawn)
        return f", and the two tests disagree: {one} by shuffling, {other} by bootstrap"
    if pair.p_adjusted.get(metric, 1.0) < alpha and difference.lower <= 0 <= difference.upper:
        return f", and the interval of the difference ({ends(metric, difference)}) holds zero"
    return ""


def _both(pair: Pair) -> str:
    return f"{pair.first.letter} and {pair.second.letter}"


def _order(pair: Pair, ahead: str) -> tuple[str, str]:
    """Return the letters of the run that is ahead and of the other."""
    one, other = pair.first.letter, pair.second.letter
    return (one, other) if ahead == "first" else (other, one)


def cases(p: float) -> str:
    """Return a probability as cases of a thousand, such as ``3 of 1,000 cases``."""
    return "fewer than 1 of 1,000 cases" if p < 0.001 else f"{round(1000 * p):,} of 1,000 cases"


def amount(metric: str, difference: float) -> str:
    """Return how large a difference is, such as ``2.1 chrF++ points`` or ``0.04 in the composite``."""
    by = number(metric, abs(difference))
    lower = " (lower is better)" if direction(metric) == "lower" else ""
    if digits(metric) == 1:
        return f"{by} {name(metric)} points{lower}"
    return f"{by} in {'the ' * (metric == COMPOSITE)}{name(metric)}{lower}"


def number(metric: str, value: float, *, sign: bool = False) -> str:
    """Write a value with the metric's digits, and with more where nothing but zeros would be left."""
    places = digits(metric)
    while value and not round(value, places) and places < _MOST_DIGITS:
        places += 1
    return figures.signed(value, places) if sign else figures.number(round(value, places) + 0.0, places)


def ends(metric: str, difference: Difference | RunningDifference) -> str:
    """Write the interval of a difference, such as ``+0.4 … +3.8``."""
    lower, upper = (number(metric, end, sign=True) for end in (difference.lower, difference.upper))
    return f"{lower} … {upper}"


def _running(pair: Pair, metric: str) -> str:
    """Return what may be said while a run is under way, however often it is examined."""
    running_difference = pair.running.get(metric)
    if running_difference is None:
        return f"{name(metric)} says nothing before both runs are complete"
    scale = f"{name(metric)} of single entries"
    if not pair.significant(metric):
        return (
            f"so far nothing is decided: {pair.second.letter} minus {pair.first.letter} lies between "
            f"{ends(metric, running_difference).replace(' … ', ' and ')} in the mean {scale}, however often one looks"
        )
    if running_difference.better is None:
        return f"so far the mean {scale} differs by {ends(metric, running_difference)}, however often one looks"
    ahead, behind = _order(pair, running_difference.better)
    return (
        f"so far {ahead} is better than {behind} by {number(metric, abs(running_difference.mean))} in the mean {scale} "
        f"({ends(metric, running_difference)}); this may be said however often one looks"
    )


def repeated_words(found: RepeatedSetup, metric: str, *, deviations: bool = True) -> str:
    """Return how much repeats of one set-up vary; with ``deviations`` also how much of that is luck."""
    letters = f"{', '.join(found.letters[:-1])} and {found.letters[-1]} repeat one set-up"
    if found.equal:
        return f"{letters} and score the same on every entry: nothing varies between them."
    if found.parts is None:
        return f"{letters}; what varies cannot be taken apart by {name(metric)}."
    parts = found.parts
    between, within, chance = (
        number(metric, sqrt(part)) for part in (parts.between_repetitions, parts.between_entries, parts.remainder)
    )
    interval = parts.interval(Holding.REPETITIONS)
    least, most = figures.scale_ends(metric)  # Student's t knows of no ends
    bounds = f"{number(metric, max(least, interval.lower))}–{number(metric, min(most, interval.upper))}"
    mean = f"{letters}: {name(metric)} {number(metric, parts.mean)}, {bounds} for other repeats (95 %)."
    if not deviations:
        return mean
    return f"{mean} Standard deviation: {between} between repeats, {within} between entries, {chance} of an entry between repeats."


def reproduction_words(found: Reproduction) -> Iterator[str]:
    """Return whether a run of the same set-up reached the same scores (±2 %)."""
    match found.reproduced:
        case None:
            yield "same set-up: neither has a composite or chrF++ by which it could be reproduced"
            return
        case True:
            yield "same set-up: reproduced, composite and chrF++ are within ±2 %"
        case False:
            yield "same set-up: NOT reproduced, composite or chrF++ is more than 2 % away"
    for metric in found.outside:
        deviation = found.deviations[metric]
        share = "" if deviation.share is None else f" ({figures.signed(deviation.share, 1, share=True)})"
        claimed, repeated = number(metric, deviation.claimed), number(metric, deviation.repeated)
        yield f"  {name(metric)}: {claimed} became {repeated}{share}"


def claim_words(run: ComparedRun) -> str:
    """Return what may be claimed of a run, over all of its entries; empty before it has a card, and of answers."""
    if run.card is None or stated_columns(run.card.get("scoring")) != TRANSLATIONS:
        return ""
    words = tier_words(run.card, review_of(run.card, run.certificates), beside=False)
    return f"{run.letter} may be called {words}{stated_mark(run)}"


def floor_lines(run: ComparedRun) -> Iterator[str]:
    """Name each floor that a run does not clear, with the two numbers that were compared."""
    for limit in () if run.card is None else claim_of(run.card).limits:
        if limit.floor is not None:
            metric = COMPOSITE if limit.reason is ClaimReason.COMPOSITE_FLOOR else "chrf_plus_plus"
            begins = figures.NONE if limit.lower is None else number(metric, limit.lower)
            floor = number(metric, limit.floor)
            yield f"{run.letter}: {name(metric)} from {begins}, best floor {floor}"


def doubtful(run: ComparedRun) -> bool:
    """Return whether a run does not clear its floors, or a part of its outputs fails."""
    if run.card is None:
        return False
    claim = claim_of(run.card)
    return claim.at_floor or bool(claim.caveats)


def cached_words(run: ComparedRun) -> str:
    """Warn of a repetition whose outputs were not made again; empty where they were."""
    if not run.cached:
        return ""
    outputs = counted(run.cached, "output")
    return f"{outputs} of {run.letter} came from the cache: nothing was repeated there"
