"""What leaves of a run with secret entries: sums over enough of them, and no number of a single one (DESIGN V3).

Anyone who knows how a method did on each entry of a secret set can climb to its references without ever
seeing them. The card of such a run therefore has no rows, and a part of the corpus that holds fewer than
``LEAST`` secret entries is left out of its breakdowns, with as many others as it takes to keep it from
being found by subtraction. What two runs over nearly the same entries tell together is not prevented.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from corpora.model.entry import Entry
from harness.card.comparability import NO_SEGMENT, card_id, ids_sha256
from scoring.statistics.intervals import DIMENSIONS

LEAST = 5  # Fewest secret entries whose sum may leave


def withheld_part(card: Mapping[str, Any], entries: Sequence[Entry]) -> dict[str, Any]:
    """Return the fields of a card as they may leave, where an entry is secret; none where all are open."""
    secret = sum(entry.secret for entry in entries)
    if not secret:
        return {}
    scores = dict(card["scores"])
    suppressed: dict[str, list[str]] = {}
    for dimension in DIMENSIONS:
        name = f"by_{dimension}"
        tags = [e.open_tag(DIMENSIONS[dimension]) for e in entries if e.secret]
        left_out = too_small(Counter(str(tag) for tag in tags if tag is not None), secret)
        if name not in scores:
            continue
        groups = scores[name] or {}
        scores[name] = {tag: group for tag, group in groups.items() if tag not in left_out}
        if gone := sorted(left_out & set(groups)):
            suppressed[dimension] = gone
    if secret < LEAST:  # with its sum, the spread of two values tells both
        scores.pop("spread", None)
        scores.pop("findings", None)
    elif "findings" in scores:  # counts alone: a cost is another score
        scores["findings"] = [{**finding, "cost": None} for finding in scores["findings"]]
    segments = Counter(entry.segment or NO_SEGMENT for entry in entries)
    withheld = {
        "entries": len(entries),
        "secret": secret,
        "least": LEAST,
        "suppressed": suppressed,
        "segments": {str(name): segments[name] for name in sorted(segments)},
        "ids_sha256": ids_sha256(card_id(entry.id) for entry in entries),
    }
    return {"scores": scores, "results": [], "withheld": withheld}


def without_retried(retry_of: Mapping[str, Any]) -> dict[str, Any]:
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
