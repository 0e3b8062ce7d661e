"""What a card says of a run that goes back to another and asked only for its failed entries again.

Entries that are tried until they succeed flatter a score: the card says which they are, and each row how often
its entry was tried in all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from corpora.model.entry import Entry
from harness.card.fingerprint import fingerprint
from harness.card.rows import card_id
from harness.store.mixed_setups import parts_of, tried_before
from harness.store.runs import Run


def retry_block(
    run: Run, entries: Mapping[int, Entry], dataset_sha256: str
) -> dict[str, Any] | None:
    """Return ``retry_of`` of a run's card; None for a run of its own."""
    stored = run.opening.get("retry_of")
    if stored is None:
        return None
    again = sorted(tried_before(run))
    parts = parts_of(run)
    later = sum(len(part.positions) for part in parts)
    counts = [len(run.positions) - later, *(len(part.positions) for part in parts[1:])]
    return {
        "run_id": stored["run_id"],
        "run_card_hash": stored["run_card_hash"],
        "kept": len(run.positions) - len(again),
        "retried": len(again),
        "retried_entries": [card_id(entries[place].id) for place in again],
        "parts": [
            {
                "entries": count,
                "setup_hash": fingerprint(
                    part.setup, dataset_sha256, run.harness_version
                ).setup_hash,
                "setup": part.setup.model_dump(mode="json"),
            }
            for part, count in zip(parts, counts, strict=True)
        ],
    }
