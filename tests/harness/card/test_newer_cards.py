"""Cards of newer harnesses, which retired the composite and the tiers: they come in, and nothing is made up for them.

``newer-card.json`` is made by hand as version 0.4.0 of the reference implementation lays a card out.
"""

from __future__ import annotations

import sqlite3
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from harness.card.checking.verify import verify_card
from harness.card.exporting import ExportForm, export_run
from harness.card.foreign.layouts import adopt
from harness.card.importing import import_card
from harness.card.load import load_card
from harness.card.seal import card_hash
from harness.core.failures import UsageError
from harness.leaderboard.ranking import leaderboards
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from rosetta_tui.report.card import card_text
from tests.harness.card.sealed_cards import sealed, written

NEWER = Path(__file__).parent / "newer-card.json"


def without_composite(**changes: Any) -> dict[str, Any]:
    """Return a card of our layout, with its rows, as a harness would seal it that has neither composite nor tier."""
    card = deepcopy(sealed())
    gone = [each for each in card["scores"] if "composite" in each]
    for name in (*gone, "claim", "at_floor", "claimable_tier", "quality_tier", "cost_adjusted"):
        card["scores"].pop(name, None)
    for name in ("claimable_tier", "floors", "floors_version"):
        card.pop(name, None)
    card |= {"scoring_standard": "standard/1", **changes}
    return {**card, "run_card_hash": card_hash(card)}


def test_newer_layout_comes_out_unchanged(there: sqlite3.Connection) -> None:
    done = import_card(there, NEWER.read_bytes(), "newer.json")
    assert done.unverified is None
    run = find_run(there, done.run_id)
    assert export_run(there, run.id, ExportForm.CARD) == NEWER.read_bytes()
    card = load_card(there, run.id)
    assert (card.scores.composite, card.scores.quality_tier) == (None, "unscored")
    assert card.claimable_tier == "unscored"
    kept = card.as_json()
    assert (kept["scoring_standard"], kept["trust"]) == ("standard/1", "self-reported")
    assert kept["scores"]["chrf_signature"].endswith("version:2.5.1")
    assert import_card(there, NEWER.read_bytes(), "newer.json").known
    text = card_text(kept)
    assert "no composite stated: harness 0.4.0 gives none, and none is worked out here" in text
    assert "61.5 (55.1–67.2)" in text
    assert "unscored" in text
    import_card(there, written(without_composite()), "newer.json")
    assert len(list_runs(there)) == 2
    assert leaderboards(there) == [], "in no list by composite"


def test_card_without_composite_is_verified_by_its_rows(
    there: sqlite3.Connection,
) -> None:
    card = without_composite()
    import_card(there, written(card), "newer.json")
    verdict = verify_card(written(card), there, "newer.json")
    assert verdict.first_difference is None
    assert export_run(there, find_run(there, card["run_id"]).id, ExportForm.CARD) == written(card)
    card["scores"]["chrf_plus_plus"] += 1
    card["run_card_hash"] = card_hash(card)
    assert not verify_card(written(card), None, "newer.json").ok


def test_composite_without_a_tier_is_refused() -> None:
    card = without_composite()
    card["scores"].setdefault("reasons", {})["composite"] = "retired by standard/1"
    assert "no composite stated: retired by standard/1" in card_text(card)
    card["scores"]["composite"] = 0.5
    with pytest.raises(UsageError, match=r"\$\.scores\.quality_tier: Field required"):
        adopt(card, "newer.json")
