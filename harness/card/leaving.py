"""Cards whose numbers stay on this computer: those of runs with secret entries (DESIGN V3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.core.failures import UsageError


def kept_inside(card: Mapping[str, Any] | None) -> bool:
    """Return whether a card of this store has numbers over secret entries, of which only a released card leaves."""
    rows = (card or {}).get("results") or ()
    return bool(card) and ("withheld" in (card or {}) or any(row.get("withheld") for row in rows))


def refuse_inside(card: Mapping[str, Any] | None, run_id: str) -> None:
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
