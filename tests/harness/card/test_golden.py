"""The card's form on disk, pinned: a change here breaks every card that people have kept."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness.card.build import build_card
from harness.card.canonical import canonical_bytes, card_hash, seal_form
from harness.card.checking.difference import differences
from harness.card.checking.verify import verify_card
from harness.card.exporting import card_bytes
from harness.card.foreign.layouts import adopt
from harness.card.model import RunCard
from harness.card.schema import card_schema
from tests.harness.card import factory

GOLDEN = Path(__file__).parents[2] / "data" / "run-card.json"
BEFORE_CLAIMS = Path(__file__).parents[2] / "data" / "run-card-before-claims.json"
"""A card as it was sealed when it had four floors and no record of its claim."""

SEAL = "f3e13df4ca81a065b5f082a9a3ea001a2e4c074b6355bca82ee83d6faea86148"
CANONICAL_SHA256 = "30208ae4ba354205d3110e66de75d09391c4819dfed7df13d0002126d61f1d25"
FINGERPRINT = "fd3a4e6a2e00cff82dd8d745b63a6866c16980052c550c3a2c8f885bc06a94c3"
SETUP_HASH = "3ed4b77cfb8569768e8cfbef0d2dda981b7017ac4a3273fe1d5dde699d951867"

_NODE = r"""
const {createHash} = require("crypto");
const text = v => v === null || typeof v !== "object" ? JSON.stringify(v)
  : Array.isArray(v) ? "[" + v.map(text).join(",") + "]"
  : "{" + Object.keys(v).sort().map(k => JSON.stringify(k) + ":" + text(v[k])).join(",") + "}";
const hash = v => createHash("sha256").update(text(v), "utf8").digest("hex");
const card = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
console.log(hash(card));
console.log(hash({...card, run_card_hash: ""}));
console.log(hash(card.fingerprint.components));
console.log(hash(card.fingerprint.setup_components));
"""


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    card: dict[str, Any] = json.loads(GOLDEN.read_bytes())
    return card


def test_bytes_and_seal_are_pinned(golden: dict[str, Any]) -> None:
    assert sha256(canonical_bytes(golden)).hexdigest() == CANONICAL_SHA256
    assert golden["run_card_hash"] == SEAL
    assert seal_form(golden) is not None
    assert golden["fingerprint"]["hash"] == FINGERPRINT
    assert golden["fingerprint"]["setup_hash"] == SETUP_HASH


@pytest.mark.skipif(
    shutil.which("node") is None, reason="node, the other implementation, is absent"
)
def test_another_implementation_finds_the_same_hashes() -> None:
    done = subprocess.run(
        ["node", "-e", _NODE, str(GOLDEN)], capture_output=True, check=True, text=True
    )
    assert done.stdout.split() == [CANONICAL_SHA256, SEAL, FINGERPRINT, SETUP_HASH]


def test_the_golden_card_verifies() -> None:
    verdict = verify_card(GOLDEN.read_bytes())
    assert verdict.ok, verdict.differences


@pytest.mark.parametrize("path", [GOLDEN, BEFORE_CLAIMS])
def test_the_model_gives_it_back_byte_for_byte(path: Path) -> None:
    assert card_bytes(adopt(json.loads(path.read_bytes()), "golden")) == path.read_bytes()


def test_a_card_before_claims_verifies_and_says_what_it_cannot_show() -> None:
    verdict = verify_card(BEFORE_CLAIMS.read_bytes())
    assert verdict.ok, verdict.differences
    assert any("floors of an earlier version" in check.words for check in verdict.checks)


@pytest.mark.parametrize(
    ("name", "value"), [("claimable_tier", "functional"), ("mostly_identical", True)]
)
def test_a_card_before_claims_is_held_to_the_rules_of_then(name: str, value: object) -> None:
    card = json.loads(BEFORE_CLAIMS.read_bytes())
    card["scores"][name] = value
    card["run_card_hash"] = card_hash(card)
    found = verify_card(canonical_bytes(card)).first_difference
    assert found is not None
    assert found.path == f"$.scores.{name}"


def test_the_same_run_has_the_same_card_today(
    golden: dict[str, Any], connection: sqlite3.Connection
) -> None:
    entries = (*factory.ENTRIES, factory.SECRET_ENTRY)
    number = factory.add_run(connection, entries, (*factory.OUTPUTS, factory.SECRETS[3]))
    card = build_card(connection, number, whole=True).as_json()  # as older versions sealed it
    assert set(golden) <= set(card)
    assert set(golden["scores"]) <= set(card["scores"])
    for words in (
        "signatures",
        "reasons",
        "composite_missing",
        "composite_profile_reason",
        "tier_in_words",
    ):
        golden["scores"].pop(words)  # they name versions
    found = {name: value for name, value in golden.items() if name != "run_card_hash"}
    assert list(differences(found, card)) == []


def shipped_schema() -> Any:
    text = files("harness.card").joinpath("run-card.schema.json").read_text(encoding="utf-8")
    return json.loads(text)


def test_the_shipped_schema_is_current() -> None:
    assert shipped_schema() == card_schema(), "python -m harness.card.schema writes it anew"


def test_cards_validate_by_the_schema(golden: dict[str, Any]) -> None:
    schema = shipped_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert list(validator.iter_errors(golden)) == []
    assert list(validator.iter_errors({**golden, "further": {"x": 1}})) == []
    without = {name: value for name, value in golden.items() if name != "scores"}
    assert [error.validator for error in validator.iter_errors(without)] == ["required"]


def test_every_field_of_the_specification_has_its_place(golden: dict[str, Any]) -> None:
    # benchmark-specification §3.1–3.9, written out from the document
    top = """run_id harness_version timestamp elapsed_seconds model_slug model_id condition temperature
        system_prompt_sha256 system_prompt_used coaching_data_sha256 fst_version tools_enabled
        batch_size max_retries dataset scores totals results fingerprint run_card_hash
        cost speed tokens"""
    dataset = "id version language_pair sha256 entry_count"
    scores = """total exact_matches exact_match_rate equivalent_matches equivalent_match_rate
        fst_accepted fst_acceptance_rate morphological_accuracy chrf_plus_plus semantic_score
        composite errors by_difficulty by_provenance avg_latency_seconds median_latency_seconds
        p95_latency_seconds bleu ter length_ratio orthographic_accuracy comet_score comet_model
        code_switching_rate hallucination_rate terminology_adherence consistency_score
        quality_tier cost_adjusted confidence_intervals evaluated"""
    totals = """prompt_tokens completion_tokens reasoning_tokens cached_tokens total_cost_usd
        cost_per_entry_usd"""
    row = """entry_id source reference predicted exact_match entry_chrf fst_accepted fst_analysis
        difficulty provenance latency_seconds usage error"""
    cost = "total_cost_usd cost_per_entry_usd cost_per_1k_tokens cost_per_source_char"
    speed = """elapsed_seconds avg_latency_seconds median_latency_seconds p95_latency_seconds
        tokens_per_second entries_per_minute"""
    tokens = """prompt_tokens completion_tokens reasoning_tokens cached_tokens total_tokens
        tokens_per_entry"""
    for block, fields in (
        (golden, top),
        (golden["dataset"], dataset),
        (golden["scores"], scores),
        (golden["totals"], totals),
        (golden["results"][0], row),
        (golden["cost"], cost),
        (golden["speed"], speed),
        (golden["tokens"], tokens),
    ):
        assert set(fields.split()) <= set(block)
    assert set(RunCard.model_fields) - {"scoring", "withheld"} == set(golden) - {"scoring"}


def test_a_card_of_now_without_its_claim_or_floors_does_not_verify(golden: dict[str, Any]) -> None:
    public = [row for row in golden["results"] if not row["withheld"]]
    for gone in ("claim", "floors"):
        card = json.loads(json.dumps(golden))
        card["results"] = public
        (card["scores"] if gone == "claim" else card).pop(gone)
        card["run_card_hash"] = card_hash(card)
        verdict = verify_card(canonical_bytes(card))
        path = {"claim": "$.scores.claim", "floors": "$.floors"}[gone]
        assert path in {difference.path for difference in verdict.differences}
