"""Several texts in one call, keyed by number, so that no entry can receive another's translation.

Both ways the texts go as a JSON object keyed by number. Line forms cannot tell a skipped number from
a text of several lines; in JSON a missing, doubled or invented key is plain to see.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from harness.core.storable import storable
from harness.methods.cleaning import cleaned


def numbered(texts: Sequence[str]) -> str:
    """Write the texts as a JSON object with the keys 1 … n."""
    return json.dumps(
        {str(number): text for number, text in enumerate(texts, 1)}, ensure_ascii=False, indent=0
    )


def by_number(reply: str, count: int) -> list[str | None]:
    """Read the texts 1 … count out of a reply; None where a number cannot be trusted.

    Order does not matter, the number does. A number that is missing between others, doubled, or has
    no text costs only its own entry. But an invented number, or a last number that is missing, is how
    it looks when the model split or joined texts and shifted the rest: then none is trusted.
    """
    pairs = _pairs(reply)
    times = Counter(number for number, _ in pairs)
    if times.keys() - set(range(1, count + 1)) or count not in times:
        return [None] * count
    texts: list[str | None] = [None] * count
    for number, text in pairs:
        if times[number] == 1 and isinstance(text, str):
            texts[number - 1] = storable(text).strip()
    return texts


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object, doubled keys included."""


def _pairs(reply: str) -> list[tuple[int, Any]]:
    """Read the outermost JSON object, with words before and after it or not; [] where there is none.

    A key that is no number becomes 0, which no text has: it counts as invented.
    """
    text = cleaned(reply)
    first, last = text.find("{"), text.rfind("}")
    try:
        members = json.loads(text[first : last + 1], object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return []
    if not isinstance(members, _Pairs):
        return []
    return [(_number(key), value) for key, value in members]


def _number(key: str) -> int:
    plain = key.isascii() and key.isdigit() and len(key) < 6
    return int(key) if plain else 0
