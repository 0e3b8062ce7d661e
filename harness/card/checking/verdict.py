"""What came out of verifying a card: checks that held, failed or could not be made, and values that differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from typing import TypeGuard

from corpora.model.task import TRANSLATION
from harness.card.model import EntryResult, RunCard
from harness.card.rows import StoredRows, stated_statistics
from harness.core.canonical import StreamedArray
from harness.setup.scoring_tools import stated_setup
from scoring.card.claim import FLOORS_VERSION
from scoring.core.inventory import STRUCTURAL_KEY, composite_metrics
from scoring.core.metric import MatchRate, Metric
from scoring.core.scorer import Scorer
from scoring.core.specification import MetricInfo
from scoring.metrics.maker import OutsideMetric

# ---- What a card states and its texts cannot tell again: whether it can be true at all ----
#
# Statistics that an analyser, a dictionary, a language card or a model gave are taken from the
# rows as they stand; a sum of impossible ones would look like any other score.
#
# Differences of two JSON values are named by JSON path.

TOLERANCE = 1e-9
"""Numbers this close (relative to the larger, absolute below 1) are the same: sums may be imported
another order on another machine."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class CardDifference:
    """One value that is not what it should be."""

    path: str
    """Such as ``$.results[3].entry_chrf``."""
    expected: object
    """The value computed again, or words for what it must be."""
    found: object
    computed: bool = True
    """False where nothing could be computed, and the value is one that cannot be."""

    def __str__(self) -> str:
        how = "computed again it is" if self.computed else "it must be"
        return f"{self.path} is {_short(self.found)}, {how} {_short(self.expected)}"


def _short(value: object) -> str:
    text = "null" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def differences(found: object, expected: object, path: str = "$", *, rounded: bool = False) -> Iterator[CardDifference]:
    """Yield where ``found`` is not ``expected``, in the order of ``found``.

    Members that only one of the two has are passed over: a card may lack a field or have further ones.
    ``rounded`` takes a number as right when it is the expected one at its own number of decimals.
    """
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for name, value in found.items():
            if name in expected:
                yield from differences(value, expected[name], member(path, str(name)), rounded=rounded)
    elif isinstance(found, list | StreamedArray) and isinstance(expected, list | StreamedArray):
        if len(found) != len(expected):
            yield CardDifference(f"{path}.length", len(expected), len(found))
        for place, (one, other) in enumerate(zip(found, expected, strict=False)):
            yield from differences(one, other, f"{path}[{place}]", rounded=rounded)
    elif not _same(found, expected, rounded=rounded):
        yield CardDifference(path, expected, found)


def member(path: str, name: str) -> str:
    """Return the path of an object's member."""
    return f"{path}.{name}" if _NAME.fullmatch(name) else f"{path}[{name!r}]"


def _same(found: object, expected: object, *, rounded: bool) -> bool:
    if _is_number(found) and _is_number(expected):
        one, other = float(found), float(expected)
        room = TOLERANCE * max(1.0, abs(one), abs(other))
        if rounded:  # half a unit of the last decimal: 12.35 may be 12.345 to 12.355
            exponent = Decimal(repr(found)).as_tuple().exponent
            room += 0.5 * 10.0 ** min(int(exponent), 0)
        return abs(one - other) <= room
    return type(found) is type(expected) and found == expected


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


MOST = 10**9  # No entry has as many words, terms or rules; sums of larger numbers would lose digits
MOST_EFFORT = 10**12  # No run costs as many dollars, takes as many seconds or is as fast

FLOORS = ("empty", "source", "constant")
"""Floors that every run has; one of a single entry has no ``shuffled`` and no ``words``."""


def impossible(card: RunCard, scorer: Scorer, rows: Sequence[EntryResult] | StoredRows) -> Iterator[CardDifference]:
    """Yield everything stated that no run can have given, by JSON path, in the order of the card. ``rows`` are its rows.

    Rows with the same numbers, as most are, are judged once.
    """
    for metric in scorer.corpus_metrics:
        value = getattr(card.scores, metric.info.id, None)
        if isinstance(value, int | float) and not _within(metric.info, value):
            path = f"$.scores.{metric.info.id}"
            yield CardDifference(path, f"within {_range(metric.info)}", value, computed=False)
    yield from _impossible_floors(card, scorer, some_rows=len(rows) > 0)
    # only translations have floors and a claim: what the data asks for is what was scored
    setup = stated_setup(card.scoring)
    scored = TRANSLATION if setup is None else setup.task
    if scored != (card.dataset.task or TRANSLATION):
        yield CardDifference("$.dataset.task", scored, card.dataset.task, computed=False)
    yield from _impossible_effort(card)
    metrics = {metric.info.id: metric for metric in beyond_texts(scorer)}
    known: dict[tuple[str, tuple[float, ...]], str | None] = {}
    for place, statistics in enumerate(stated_statistics(rows)):
        for id_, numbers in statistics.items():
            if id_ not in metrics or numbers is None:
                continue
            key = (id_, tuple(numbers))
            if key not in known:
                known[key] = _fault(metrics[id_], numbers)
            if must := known[key]:
                path = f"$.results[{place}].statistics.{id_}"
                yield CardDifference(path, must, numbers, computed=False)


def _fault(metric: Metric, numbers: Sequence[float]) -> str | None:
    """Return what the statistics of one entry must be and are not; None where they can be true."""
    if not numbers and isinstance(metric, OutsideMetric):
        return None
    if len(numbers) != metric.width:
        return f"{metric.width} numbers"
    counts = "." not in metric.info.id  # a pack's may be of any kind

    least = 0 if counts else -MOST
    if not all(isfinite(number) and least <= number <= MOST for number in numbers):
        return f"numbers from {least:,} to {MOST:,}"
    value = metric.value(numbers)
    if (counts and value is None and numbers[0] > 0) or not _within(metric.info, value):
        return f"of a value within {_range(metric.info)}"
    return _fault_of_its_own(metric, numbers)


def _fault_of_its_own(metric: Metric, numbers: Sequence[float]) -> str | None:
    """Return what holds for one metric's statistics beyond their value."""
    if isinstance(metric, MatchRate) and (numbers[0] not in {0, 1} or numbers[1] != 1):
        return "1 or 0, and 1 for the entry"
    whole = all(float(number).is_integer() for number in numbers[:2])
    if metric.info.id == STRUCTURAL_KEY and not (
        whole and numbers[1] >= 1 and numbers[2] == (numbers[0] == numbers[1])
    ):
        return "whole numbers: accepted words, words, and 1 where all are accepted, else 0"
    if metric.has_verdicts and metric.verdict_of(tuple(numbers)) is None:
        return "numbers that stand for a verdict"
    if metric.info.id == "compliance_index" and numbers[1] > numbers[2]:
        return "points of the output, of the raw answer, and those there were to get"
    return None


def beyond_texts(scorer: Scorer) -> list[Metric]:
    """List the metrics whose statistics are taken as the rows state them."""
    return [metric for metric in scorer.metrics if metric.info.id not in scorer.from_texts]


def floors_are_stated(card: RunCard, scorer: Scorer) -> bool:
    """Return whether the floors of a card are of another version, or rest on more than texts."""
    return card.floors_version != FLOORS_VERSION or _beyond_texts(scorer)


def _beyond_texts(scorer: Scorer) -> bool:
    """Return whether the composite of worthless outputs rests on more than their texts."""
    foreign = any("." not in id_ for id_ in scorer.foreign)  # a pack's metric weighs nothing in it
    return foreign or not composite_metrics() & set(scorer.ids) <= scorer.from_texts


def taken_as_stated(card: RunCard, scorer: Scorer) -> str:
    """Return what nothing was compared with; empty where everything follows from the texts."""
    parts = []
    if rows := [metric.info.id for metric in beyond_texts(scorer)]:
        parts.append(f"what the rows state for {', '.join(rows)}")
    parts += [metric.info.id for metric in scorer.corpus_metrics]
    parts += [f"{id_}, which this version does not compute" for id_ in scorer.foreign]
    if _beyond_texts(scorer):
        parts.append("the composites of the floors")
    if not parts:
        return _earlier(card)
    return (
        f"{'; '.join(parts)}: possible, but taken as stated, because computing them again needs the "
        f"{'' if '.' not in ''.join(rows) else 'fields of the records, or the '}analyser, dictionaries, "
        "language card or models of the run"
    ) + (f"; {_earlier(card)}" if _earlier(card) else "")


def _earlier(card: RunCard) -> str:
    """Return that floors were computed otherwise; empty where they are of this version, or there are none."""
    if card.floors_version == FLOORS_VERSION or not card.floors:
        return ""
    return (
        "floors of an earlier version, without words at random and without a constant searched among all "
        "references: taken as stated"
    )


def _impossible_effort(card: RunCard) -> Iterator[CardDifference]:
    """Yield costs and times below 0 or beyond all measure: lists sort by them."""
    for name, part in (("cost", card.cost), ("speed", card.speed)):
        for key, stated in part:
            if isinstance(stated, int | float) and not 0 <= stated <= MOST_EFFORT:
                must = f"within 0 to {MOST_EFFORT:,}"
                yield CardDifference(f"$.{name}.{key}", must, stated, computed=False)


def _impossible_floors(card: RunCard, scorer: Scorer, *, some_rows: bool) -> Iterator[CardDifference]:
    named = [floor.name for floor in card.floors]
    if not scorer.mixes:
        if named:
            yield CardDifference("$.floors", [], named, computed=False)
        return
    of_ours = _beyond_texts(scorer) or getattr(card.scores, "at_floor", None) is not None
    if of_ours and some_rows and not set(FLOORS) <= set(named):
        must = f"those of {', '.join(FLOORS)} outputs at least"
        yield CardDifference("$.floors", must, named, computed=False)
    if card.floors_version == FLOORS_VERSION and getattr(card.scores, "claim", None) is None:
        must = "what may be claimed, and why no more"
        yield CardDifference("$.scores.claim", must, None, computed=False)
    for place, floor in enumerate(card.floors):
        for name, high in (("composite", 1), ("chrf_plus_plus", 100)):
            value = getattr(floor, name)
            if value is not None and not 0 <= value <= high:
                path = f"$.floors[{place}].{name}"
                yield CardDifference(path, f"within 0–{high}", value, computed=False)


def _within(info: MetricInfo, value: float | None) -> bool:
    return value is None or info.low <= value <= info.high


def _range(info: MetricInfo) -> str:
    return f"{info.low:g}–{info.high:g}"


@dataclass(frozen=True, slots=True)
class CardCheck:
    """One thing that was examined."""

    name: str
    ok: bool | None  # None: it could not be checked
    words: str


@dataclass(slots=True)
class CardVerdict:
    """What came out of verifying a card."""

    checks: list[CardCheck] = field(default_factory=list)
    differences: list[CardDifference] = field(default_factory=list)
    """Every value that is not what it should be: fingerprint, rows, measures, scores, in this order."""

    @property
    def ok(self) -> bool:
        """True where nothing that could be checked was wrong."""
        return all(check.ok is not False for check in self.checks)

    @property
    def first_difference(self) -> CardDifference | None:
        """The first value that is wrong; None where only the seal is, or nothing."""
        return self.differences[0] if self.differences else None

    def compare(self, name: str, found: object, expected: object, *, rounded: bool) -> None:
        """Record how a part of the card compares with what was computed again."""
        self.judge(name, list(differences(found, expected, rounded=rounded)))

    def judge(self, name: str, wrong: list[CardDifference]) -> None:
        """Record what is wrong in a part of the card, if anything."""
        self.differences += wrong
        words = "as computed again" if not wrong else f"{len(wrong):,} wrong, first: {wrong[0]}"
        self.checks.append(CardCheck(name, not wrong, words))

    def skip(self, name: str, words: str) -> None:
        """Record what could not be checked, and why."""
        self.checks.append(CardCheck(name, None, words))
