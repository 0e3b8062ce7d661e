"""What leaves of a run with secret entries: sums over enough of them, and no number of a single one (DESIGN V3).

Anyone who knows how a method did on each entry of a secret set can climb to its references without ever
seeing them. The card of such a run therefore has no rows, and a part of the corpus that holds fewer than
``LEAST`` secret entries is left out of its breakdowns, with as many others as it takes to keep it from
being found by subtraction. What released scores over nearly the same entries tell together, atoms say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from math import ceil, floor, isfinite, log2, log10, sqrt
from typing import Any, Final

from corpora.files.json_types import Json, JsonObject
from corpora.model.entry import Entry, secrets_among
from harness.card.comparability import NO_SEGMENT, card_id, ids_sha256
from harness.card.reading import block, objects
from harness.sealed.strict_records import StrictRecord
from scoring.core.inventory import row_of
from scoring.statistics.intervals import DIMENSIONS

LEAST: Final = 5  # Fewest secret entries whose sum may leave


def withheld_part(stated: JsonObject, entries: Sequence[Entry]) -> dict[str, Json]:
    """Return the fields of a card as they may leave, where an entry is secret; none where all are open. ``stated``: its scores."""
    secret = sum(1 for _ in secrets_among(entries))
    if not secret:
        return {}
    scores = dict(stated)
    suppressed: dict[str, list[str]] = {}
    for dimension in DIMENSIONS:
        name = f"by_{dimension}"
        tags = [e.open_tag(DIMENSIONS[dimension]) for e in entries if e.secret]
        left_out = too_small(Counter(str(tag) for tag in tags if tag is not None), secret)
        if name not in scores:
            continue
        groups = block(scores, name)
        scores[name] = {tag: group for tag, group in groups.items() if tag not in left_out}
        if gone := sorted(left_out & set(groups)):
            suppressed[dimension] = gone
    if secret < LEAST:  # with its sum, the spread of two values tells both
        scores.pop("spread", None)
        scores.pop("findings", None)
    elif "findings" in scores:  # counts alone: a cost is another score
        scores["findings"] = [{**finding, "cost": None} for finding in objects(scores, "findings")]
    segments = Counter(entry.segment or NO_SEGMENT for entry in entries)
    withheld: JsonObject = {
        "entries": len(entries),
        "secret": secret,
        "least": LEAST,
        "suppressed": suppressed,
        "segments": {str(name): segments[name] for name in sorted(segments)},
        "ids_sha256": ids_sha256(card_id(entry.id) for entry in entries),
    }
    return {"scores": scores, "results": [], "withheld": withheld}


def without_retried(retry_of: JsonObject) -> dict[str, Json]:
    """Omit which entries were asked for again; how many stays."""
    return {**retry_of, "retried_entries": []}


def too_small(parts: Mapping[str, int], secret: int) -> set[str]:
    """Return the parts to leave out: those of too few secret entries, and what would tell them by subtraction.

    ``parts`` counts the secret entries in each, ``secret`` all of them, those in no part too.
    """
    # Of 23 secret entries in parts of 12, 8 and 3 the part of 3 is left out as too small. But 23 - 12 - 8 = 3 tells
    # it again, so the smallest of the others goes too: 23 - 12 = 11 are hidden together then, which is enough.
    left_out = {tag for tag, count in parts.items() if count < LEAST}
    kept = sorted((count, tag) for tag, count in parts.items() if count >= LEAST)
    hidden = secret - sum(count for count, _ in kept)
    while kept and 0 < hidden < LEAST:
        count, tag = kept.pop(0)
        left_out.add(tag)
        hidden += count
    return left_out


# ---- Atoms: what sums over secret entries tell together, of scores and of certificates ----
#
# Each sum that was ever released cuts the entries in two; all cuts together divide them into atoms, the entries of which
# every sum and difference of sums counts alike.

Part = tuple[str, str]  # A breakdown, and a part of it
Atoms = Mapping[Any, int]
"""Entry → its atom, from 1; of entries that are not there nothing is known, and so they may be few."""


def divided(atoms: Atoms, labels: Atoms) -> Atoms:
    """Return the atoms once entries with one label can also be distinguished from those with another, or none."""
    sides = {key: (atoms.get(key, 0), labels.get(key, 0)) for key in {*atoms, *labels}}
    numbers = {side: place for place, side in enumerate(sorted(set(sides.values())), start=1)}
    return {key: numbers[side] for key, side in sides.items()}


def are_safe(atoms: Atoms) -> bool:
    """Return whether no atom has fewer than ``LEAST`` entries."""
    return min(Counter(atoms.values()).values(), default=LEAST) >= LEAST


def tellable(before: Atoms, whole: Collection[Any], parts: Mapping[Part, Collection[Any]]) -> tuple[frozenset[Part], Atoms] | None:  # fmt: skip
    """Return the parts that may be released with the sum over a ``whole``, and the atoms after it; None where not even that may be."""
    after, chosen = divided(before, dict.fromkeys(whole, 1)), set[Part]()
    if not whole or not are_safe(after):
        return None
    # large parts first: a small one gives way, and those from which it would follow
    for name in sorted(parts, key=lambda part: (-len(set(parts[part])), part)):
        if are_safe(cut := divided(after, dict.fromkeys(parts[name], 1))):
            after = cut
            chosen.add(name)
    return frozenset(chosen), after


def set_id(entries: Collection[str]) -> str:
    """Return the id of a set of entries by their digests."""
    return sha256("\n".join(sorted(entries)).encode()).hexdigest()


# ---- Steps in which scores leave ----

Range = tuple[float, float]  # Lowest and highest value of a metric; infinite where it has none


def range_of(id_: str) -> Range:
    """Return the lowest and highest value of a metric; those of the composite where no table has it."""
    row = row_of(id_)
    return (0.0, 1.0) if row is None else (row.info.low, row.info.high)


def rounded(value: float, step: float) -> float:
    """Return the multiple of ``step`` that is nearest."""
    return clean(round(value / step) * step)


def one_two_five(value: float) -> float:
    """Return 1, 2 or 5 times a power of ten, the nearest by ratio (0.005 for 0.0034); 0 stays 0."""
    if not value > 0:
        return 0.0
    steps = (digit * 10.0 ** floor(log10(value)) for digit in (1, 2, 5, 10))
    return clean(min(steps, key=lambda step: abs(log10(step / value))))


def expected_half(entries: int, ends: Range, value: float) -> float:
    """Return half of the 95 % interval that a mean over this number of entries is expected to have: 4.9 points of chrF++ for 100.

    Values of entries are expected to spread by a quarter of the metric's range, or of the value where it has no ends, as
    a ratio of lengths: 1.96 standard errors of 25 points are 1.96 * 25 / sqrt(100) = 4.9.
    """
    span = ends[1] - ends[0] if isfinite(ends[1] - ends[0]) else abs(value)
    return 1.96 * 0.25 * span / sqrt(entries) if entries else 0.0


def clean(value: float) -> float:
    """Return a multiple of a step without the last digits of binary numbers; no minus zero."""
    return float(f"{value:.12g}") + 0.0


class ReleasedScore(StrictRecord):
    """A score with its 95 % interval, all in multiples of ``step``; the first metric and the composite have an interval."""

    value: float
    lower: float | None
    upper: float | None
    step: float

    @property
    def interval(self) -> Range | None:
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)


def stepped(value: float, lower: float | None, upper: float | None, step: float, ends: Range) -> ReleasedScore:
    """Return a score to the nearest multiple of ``step``; its interval, if it has one, contains the exact and the rounded one.

    chrF++ 52.37 (47.92 to 56.61) becomes 52 (47 to 57) in steps of 1: nothing is shifted.
    """

    def upward(end: float) -> float:
        above = clean(ceil(end / step) * step)
        return above if above >= end else clean(above + step)

    near = clean(min(ends[1], max(ends[0], rounded(value, step))))
    if lower is None or upper is None:
        return ReleasedScore(value=near, lower=None, upper=None, step=step)
    low, high = max(ends[0], min(-upward(-min(lower, value)), near)), min(ends[1], max(upward(max(upper, value)), near))
    return ReleasedScore(value=near, lower=clean(low), upper=clean(high), step=step)


def bits(score: ReleasedScore, ends: Range) -> float:
    """Return how many bits a score tells at most, its interval included: the logarithm of what it could have been."""
    span = ends[1] - ends[0] if isfinite(ends[1] - ends[0]) else max(1.0, abs(score.value))
    return (1 if score.lower is None else 3) * log2(span / score.step + 1)
