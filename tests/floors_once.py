"""Floors of a corpus, worked out once a process: they depend on its entries and the set-up alone, and cost a third of a small run."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from corpora.model.entry import Entry
from scoring.card.claim import FloorScores
from scoring.card.floors import floors

_known: dict[str, dict[str, FloorScores]] = {}


def floors_once(entries: Sequence[Entry], metrics: Sequence[Any], **told: Any) -> dict[str, FloorScores]:  # fmt: skip
    """Return what ``floors`` does; ``annotate`` is a method of the run's scoring tools, of which the set-up is known."""
    tools = told["annotate"].__self__
    resources = (tools.setup.model_dump_json(), repr(tools.resources.terms), told.get("weighing"))
    asked = sha256(repr((entries, resources)).encode()).hexdigest()
    if asked not in _known:
        _known[asked] = floors(entries, metrics, **told)
    return dict(_known[asked])
