"""Cards with something planted into every text."""

from __future__ import annotations

from typing import Any

PLANTED = (
    "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">",
    "</style></svg></title><svg onload=\"document.title='run'\">",
    "\" onmouseover=\"document.title='run'\" x=\"' autofocus onfocus='document.title=1'",
    "]]><!-- --><a href=\"javascript:document.title='run'\">here</a>{{ 7 * 7 }}{% raw %}",
)


def spoilt(value: Any, text: str, *, keys: bool = False) -> Any:
    """Put a text before every text of a card, and into names of parts; what a card is read by stays."""
    if isinstance(value, str):
        return f"{text}{value}"
    if isinstance(value, list):
        return [spoilt(each, text) for each in value]
    if isinstance(value, dict):
        return {
            f"{name}{text}" if keys else name: each
            if name in _READ_BY
            else spoilt(each, text, keys=name in _PARTS)
            for name, each in value.items()
        }
    return value


_PARTS = frozenset({"by_difficulty", "by_provenance", "by_register", "by_segment", "reasons"})
_READ_BY = frozenset({"composite_profile", "quality_tier", "claimable_tier", "results_of", "metrics"})  # fmt: skip
