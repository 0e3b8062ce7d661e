"""Reading a card's bytes: a file from elsewhere is hostile until it has been examined."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from corpora.files.decode import open_regular
from corpora.files.json_types import Json, JsonObject
from corpora.files.packed_list import PackedList
from corpora.text.comparison import comparison_form
from harness.card.card_reader import MOST_BYTES, CardReader
from harness.core.canonical import StreamedArray
from harness.core.failures import HarnessError, UsageError
from harness.store.runs import Run, read_card
from scoring.card.caveats import LEAST_SHARE, MOST_IDENTICAL, Caveat, CaveatKind
from scoring.card.claim import (
    CLAIM_RULES,
    FLOORS_VERSION,
    HIGHEST_WITHOUT_REVIEW,
    Claim,
    ClaimReason,
    FloorScores,
    Limit,
    Score,
    attainable,
    decide_claim,
)
from scoring.core.inventory import Composite, Input, counting_gaps
from scoring.core.specification import Tier, quality_tier, specified, stated_weighing

if TYPE_CHECKING:
    from harness.card.model import EntryResult, RunCard


MOST_STREAMED = 4 * 1024**3
"""Largest card that is read row by row; one of a million entries is about half of it."""

MOST_SMALL = 16 * 1024 * 1024
"""Largest file that may be another one beside cards: a released card, the proof of a row, a record of a reproduction."""


def read_card_bytes(path: Path) -> bytes:
    """Return the bytes of a file; raises UsageError where it cannot be read or is too large."""
    with _opened(path, MOST_BYTES) as file:
        return file.read(MOST_BYTES + 1)


def read_small_file(path: Path) -> bytes:
    """Return the bytes of a file, none of one larger than ``MOST_SMALL``. Raises UsageError where it cannot be read."""
    with _opened(path, MOST_STREAMED) as file:
        data = file.read(MOST_SMALL + 1)
    return data if len(data) <= MOST_SMALL else b""


def read_card_file(path: Path) -> dict[str, Any]:
    """Return the JSON object of a card's file, whose rows are a ``StreamedArray`` in little memory.

    Raises UsageError as ``read_card_bytes`` and ``parse_object`` do.
    """
    with _opened(path, MOST_STREAMED) as file:
        card: dict[str, Any] = CardReader(file, path.name, PackedList).card()
    if isinstance(rows := card.get("results"), PackedList):
        card["results"] = StreamedArray(lambda: rows, len(rows))
    return card


@contextmanager
def _opened(path: Path, most: int) -> Iterator[BinaryIO]:
    try:
        size = path.stat().st_size
        if size > most:
            raise UsageError(f"{path.name}: the file has {size:,} bytes; a run card may have {most:,}.")
        with open_regular(path) as file:
            yield file
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror}.") from error


def parse_object(data: bytes, name: str) -> dict[str, Json]:
    """Parse the bytes of a card as its JSON object; ``name`` is the file's name in messages.

    Raises UsageError for bytes that are no UTF-8, no JSON or no object, for doubled keys (readers
    would differ on which one counts), numbers that are not finite, half surrogate pairs, and nesting
    beyond MOST_DEPTH.
    """
    return CardReader(BytesIO(data), name, list).card()


def number(value: object) -> float | None:
    """Return a field of a card that is a finite number, None for anything else; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        finite = float(value)
    except OverflowError:
        return None
    return finite if math.isfinite(finite) else None


def block(card: JsonObject, name: str) -> JsonObject:
    """Return a field of a card that is an object, an empty one where it is none."""
    return _object(card.get(name))


def named_metrics(card: JsonObject) -> list[str]:
    """Return the metrics that a card says it was scored with."""
    named = block(card, "scoring").get("metrics")
    return list(map(str, named)) if isinstance(named, list | tuple) else []


def objects(card: JsonObject, name: str) -> list[JsonObject]:
    """Return the objects of a field of a card that is a list, none where it is no list."""
    listed = card.get(name)
    return [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, list | tuple) else []


def interval(scores: JsonObject, metric: str) -> tuple[float, float] | None:
    """Return a metric's 95 % interval, None where it is missing; Wilson's at rates of 0 and 1, where the bootstrap's is a point."""
    ends = block(block(scores, "confidence_intervals"), metric)
    low, high = number(ends.get("ci_lower")), number(ends.get("ci_upper"))
    if low is None or high is None or low != high:
        return None if low is None or high is None else (low, high)
    # Wilson's stands next to the bootstrap's; of a part it follows from the entries.
    lower, upper = number(ends.get("wilson_lower")), number(ends.get("wilson_upper"))
    if lower is not None and upper is not None:
        return lower, upper
    rate, entries = number(scores.get(metric)), number(scores.get("n"))
    if metric != "exact_match_rate" or rate is None or not entries:
        return low, high
    from scoring.statistics.intervals import wilson

    exact = wilson(rate * entries, entries)
    return (low, high) if exact is None else (exact.lower, exact.upper)


# ---- What may be claimed of a run by its card, which may come from elsewhere or from an earlier
# version.
#
# A card claims no more than its own numbers do, and no more than it says itself; what is not of
# the expected form counts as absent.

_MOST = 10**9  # No run has as many entries


def claim_of(card: JsonObject) -> Claim:
    """Return what a card may claim before a review.

    Decided from the numbers that it states; for a card of this version that is the record it was sealed
    with, and its own lower claim holds.
    """
    scores = block(card, "scores")
    made = decide_claim(
        _mixed(card, scores),
        _lower(scores, "composite"),
        Score(number(scores.get("chrf_plus_plus")), _lower(scores, "chrf_plus_plus")),
        stated_floors(card),
        identical=scores.get("mostly_identical") is True,
        caveats=stated_caveats(scores.get("claim")),
    )
    # what the card itself claims less than its numbers allow
    limits = list(made.limits)
    if scores.get("at_floor") is True and not made.at_floor and made.composite is not None:
        limits.append(Limit(ClaimReason.COMPOSITE_FLOOR, Tier.BASELINE, clear=False))
    stated = card.get("claimable_tier")
    if isinstance(stated, str) and stated in set(Tier) and Tier(stated).rank < made.tier().rank:
        limits.append(Limit(ClaimReason.STATED, Tier(stated)))
    made = replace(made, limits=tuple(limits))
    return replace(made, claimable_tier=made.tier())


def of_earlier_version(card: JsonObject) -> bool:
    """Return whether a card states floors that were worked out otherwise than now."""
    return bool(stated_floors(card)) and card.get("floors_version") != FLOORS_VERSION


def of_these_rules(scores: JsonObject) -> bool:
    """Return whether a card's claim was decided by the rules of now, or it states no record of its claim."""
    return "claim" not in scores or block(scores, "claim").get("rules") == CLAIM_RULES


def without_rise(card: JsonObject) -> float | None:
    """Return the composite in which inputs without a value count as nothing; None where it is the stated one.

    Only inputs of which worthless outputs have a value are counted (``scoring.core.inventory.counting_gaps``).
    """
    mixed = _mixed(card, _object(card.get("scores")))
    even = counting_gaps(mixed, attainable(stated_floors(card)))
    return None if even == mixed.value else even


def stated_floors(card: JsonObject) -> dict[str, FloorScores]:
    """Return the floors of a card by name."""
    listed = card.get("floors") or block(card, "scores").get("floors")
    if isinstance(listed, Mapping):
        listed = [{"name": name, **_object(floor)} for name, floor in listed.items()]
    floors = listed if isinstance(listed, list | tuple) else ()
    known = {}
    for floor in floors:
        if isinstance(floor, dict):
            inputs = floor.get("inputs")
            known[str(floor.get("name", ""))] = FloorScores(
                number(floor.get("composite")),
                number(floor.get("chrf_plus_plus")),
                tuple(map(str, inputs)) if isinstance(inputs, list | tuple) else (),
                _whole(floor.get("entries")),
                _whole(floor.get("searched")),
            )
    return known


def _mixed(card: JsonObject, scores: JsonObject) -> Composite:
    weighing = stated_weighing(card.get("scoring")) or specified()
    stated = scores.get("composite_profile")
    profile = stated if isinstance(stated, str) and stated in weighing.profiles else "B"
    inputs = []
    for part in objects(scores, "composite_inputs"):
        name = part.get("metric")
        numbers = [number(part.get(key)) for key in ("value", "normalised", "weight", "effective_weight")]
        if isinstance(name, str) and None not in numbers:
            inputs.append(Input(name, *(number or 0.0 for number in numbers)))
    covered = number(scores.get("composite_coverage"))
    coverage = 1.0 if covered is None else covered
    return Composite(number(scores.get("composite")), profile, "", tuple(inputs), {}, coverage, weighing)


def stated_caveats(claim: object) -> tuple[Caveat, ...]:
    """Return the caveats of a card's record of its claim."""
    listed, caveats = _object(claim).get("caveats"), []
    for value in listed if isinstance(listed, list | tuple) else ():
        part = _object(value)
        share, kind = number(part.get("share")), part.get("kind")
        kind = CaveatKind(kind) if isinstance(kind, str) and kind in set(CaveatKind) else None
        if share is not None and 0 <= share <= 1 and kind is not None:
            entries, of = _whole(part.get("entries")) or 0, _whole(part.get("of")) or 0
            threshold = number(part.get("threshold")) or LEAST_SHARE
            caveats.append(Caveat(kind, share, entries, of, threshold))
    return tuple(caveats)


def has_caveats(claim: object) -> dict[CaveatKind, bool]:
    """Return for each kind of caveat whether a card's record of its claim has it."""
    held = {caveat.kind for caveat in stated_caveats(claim)}
    return {kind: kind in held for kind in CaveatKind}


def _object(value: object) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _whole(value: object) -> int | None:
    finite = number(value)
    whole = finite is not None and finite.is_integer() and 0 <= finite <= _MOST
    return int(finite or 0) if whole else None


def _lower(scores: JsonObject, metric: str) -> float | None:
    return number(block(block(scores, "confidence_intervals"), metric).get("ci_lower"))


# What cards claimed that state no record of it


def earlier_claim(card: RunCard, rows: Iterable[EntryResult], scores: JsonObject) -> dict[str, Json]:
    """Return the fields by which cards before ``floors_version`` 2 claimed, by the rules of then; ``rows`` are the card's.

    A run was at its floor where the composite's interval, computed again in ``scores``, did not clear the
    best composite among the card's floors, or where one text, written the same, made up more than half of
    the outputs.
    """
    outputs = _largest_share(row.predicted or "" for row in rows)
    references = _largest_share(row.reference or "" for row in rows)
    identical = outputs > max(MOST_IDENTICAL, references)
    known = [floor.composite for floor in card.floors if floor.composite is not None]
    lower = _lower(scores, "composite")
    at_floor = lower is not None and (identical or (bool(known) and lower <= max(known)))
    tier = quality_tier(number(scores["composite"]))
    if at_floor and tier is not Tier.UNSCORED:
        tier = Tier.BASELINE
    tier = min(tier, HIGHEST_WITHOUT_REVIEW, key=lambda claimed_tier: claimed_tier.rank)
    return {"at_floor": at_floor, "mostly_identical": identical, "claimable_tier": tier.value}


def _largest_share(texts: Iterable[str]) -> float:
    counts = Counter(form for text in texts if (form := comparison_form(text)))
    total = sum(counts.values())
    return counts.most_common(1)[0][1] / total if total > 1 else 0.0


# ---- Cards whose numbers stay on this computer: those of runs with secret entries (DESIGN V3).


def kept_inside(card: JsonObject | None) -> bool:
    """Return whether a card of this store has numbers over secret entries, of which only a released card leaves."""
    return card is not None and ("withheld" in card or any(row.get("withheld") for row in objects(card, "results")))


def refuse_inside(card: JsonObject | None, run_id: str) -> None:
    """Raise UsageError where a card is one that does not leave as it is."""
    if kept_inside(card):
        raise UsageError(inside_words(run_id))


def inside_words(run_id: str) -> str:
    """Return how the scores of a run with secret entries leave."""
    name = run_id[:8]
    return (
        f"Run {name} has secret entries: its numbers leave in no file, pipe or copy but as a released card, which is coarse, "
        f"signed and counted: rosetta runs export {name} --submitter NAME -o FILE. "
        f"`rosetta runs show {name}` and the app show them here."
    )


def must_be_released(connection: sqlite3.Connection, run: Run) -> bool:
    """Return whether the numbers of a run, finished or not, leave as a released card only (``harness.release``).

    An imported card leaves as it came: who exported it decided what it says.
    """
    if run.imported:
        return False
    from harness.store.corpora.entries import holds_secrets

    return kept_inside(read_card(connection, run.id)) or holds_secrets(connection, run)


def refuse_to_leave(connection: sqlite3.Connection, runs: Iterable[Run]) -> None:
    """Raise UsageError, in words that say what leaves instead, where the numbers of one of these runs stay inside."""
    for run in runs:
        if must_be_released(connection, run):
            raise UsageError(inside_words(run.run_id))


def card_head(connection: sqlite3.Connection, run: Run) -> dict[str, Json]:
    """Return the JSON of a run's card without its rows; HarnessError where the run is not complete."""
    head = read_card(connection, run.id)
    if head is None:
        raise HarnessError(
            f"Run {run.run_id[:8]} has no card yet: it is not complete. `{run.goes_on_with}` continues with it."
        )
    return head
