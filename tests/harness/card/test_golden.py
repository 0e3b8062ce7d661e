"""The card's form on disk, pinned, and no number of a single secret entry on it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry, Segment
from harness.card.build import build_card, store_card
from harness.card.checking.stated import differences
from harness.card.checking.verify import verify_card
from harness.card.exporting import ExportForm, card_bytes, export_run, must_be_released
from harness.card.foreign.layouts import adopt
from harness.card.importing import import_card
from harness.card.load import load_card
from harness.card.model import RunCard
from harness.card.schema import card_schema
from harness.card.seal import seal_form
from harness.card.withholding import LEAST, too_small
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.harness.card.sealed_cards import add_secret_run, first_path, resealed
from tests.harness.evaluation import corpus_of, run_corpus, whole_card
from tests.harness.run.constant_runs import constant

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


@pytest.fixture
def golden() -> dict[str, Any]:
    card: dict[str, Any] = json.loads(GOLDEN.read_bytes())
    return card


def test_bytes_and_seal_are_pinned(golden: dict[str, Any]) -> None:
    assert sha256(canonical_bytes(golden)).hexdigest() == CANONICAL_SHA256
    assert seal_form(golden) is not None
    print_ = golden["fingerprint"]
    assert [golden["run_card_hash"], print_["hash"], print_["setup_hash"]] == [
        SEAL,
        FINGERPRINT,
        SETUP_HASH,
    ]
    verdict = verify_card(GOLDEN.read_bytes())
    assert verdict.ok, verdict.differences
    for path in (GOLDEN, BEFORE_CLAIMS):  # the model gives it back byte for byte
        assert card_bytes(adopt(json.loads(path.read_bytes()), "golden")) == path.read_bytes()


@pytest.mark.skipif(
    shutil.which("node") is None, reason="node, the other implementation, is absent"
)
def test_another_implementation_finds_the_same_hashes() -> None:
    command = ["node", "-e", _NODE, str(GOLDEN)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert done.stdout.split() == [CANONICAL_SHA256, SEAL, FINGERPRINT, SETUP_HASH]


def test_card_before_claims_is_held_to_the_rules_of_then() -> None:
    verdict = verify_card(BEFORE_CLAIMS.read_bytes())
    assert verdict.ok, verdict.differences
    assert any("floors of an earlier version" in check.words for check in verdict.checks)
    for name, value in (("claimable_tier", "functional"), ("mostly_identical", True)):
        card = json.loads(BEFORE_CLAIMS.read_bytes())
        card["scores"][name] = value
        assert first_path(resealed(card)) == f"$.scores.{name}"


def test_same_run_has_the_same_card(golden: dict[str, Any], connection: sqlite3.Connection) -> None:
    number = add_secret_run(connection)
    card = build_card(connection, number, whole=True).as_json()  # as older versions sealed it
    assert set(golden) <= set(card)
    assert set(golden["scores"]) <= set(card["scores"])
    versioned = "signatures reasons composite_missing composite_profile_reason tier_in_words"
    for words in versioned.split():
        golden["scores"].pop(words)
    found = {name: value for name, value in golden.items() if name != "run_card_hash"}
    assert list(differences(found, card)) == []


def test_cards_validate_by_the_shipped_schema(golden: dict[str, Any]) -> None:
    text = files("harness.card").joinpath("run-card.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    assert schema == card_schema(), "python -m harness.card.schema writes it anew"
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert list(validator.iter_errors(golden)) == []
    assert list(validator.iter_errors({**golden, "further": {"x": 1}})) == []
    without = {name: value for name, value in golden.items() if name != "scores"}
    assert [error.validator for error in validator.iter_errors(without)] == ["required"]


def test_card_has_every_field_of_the_specification(golden: dict[str, Any]) -> None:
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


def test_card_without_claim_or_floors_does_not_verify(golden: dict[str, Any]) -> None:
    golden["results"] = [row for row in golden["results"] if not row["withheld"]]
    for block, path in ((golden["scores"], "$.scores.claim"), (golden, "$.floors")):
        gone = block.pop(path.split(".")[-1])
        verdict = verify_card(resealed(golden))
        assert path in {difference.path for difference in verdict.differences}
        block[path.split(".")[-1]] = gone


OUTPUT = "ENTRY NUMBER 3"


def entries(secret: int, public: int = 0) -> list[Entry]:
    return [
        Entry(id=f"id-{n}", source=f"entry number {n}", reference=f"ENTRY NUMBER {n}",
              segment=Segment.HELD_OUT if n < secret else Segment.DEVELOPMENT,
              difficulty=1 + (n % 7 == 0) + (n % 2))
        for n in range(secret + public)
    ]  # fmt: skip


def played(path: Path, made: list[Entry]) -> sqlite3.Connection:
    run_corpus(path, corpus_of(made), constant())
    return open_store(path)


def numbers_in(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(inner)
    else:
        yield value


@pytest.mark.parametrize("public", [0, 20])
def test_card_has_no_row_or_id_of_an_entry(store_path: Path, public: int) -> None:
    made = entries(23, public)
    with closing(played(store_path, made)) as store:
        card, number = whole_card(store_path), find_run(store, "last").id
        for form in (ExportForm.JSONL, ExportForm.CSV):
            with pytest.raises(UsageError, match="no row of it leaves"):
                export_run(store, number, form)
    assert card["results"] == []
    assert not any(str(each).startswith("id-") for each in numbers_in(card))
    assert card["withheld"]["secret"] == 23
    assert card["withheld"]["entries"] == card["scores"]["total"] == 23 + public
    assert verify_card(json.dumps(card).encode()).ok
    if not public:
        return
    counts = {tier: sum(e.secret and e.difficulty == tier for e in made) for tier in (1, 2, 3)}
    assert counts == {1: 10, 2: 11, 3: 2}
    # 3 is too small, and 1 goes with it: else all minus 1 and 2 told of the two
    assert set(card["scores"]["by_difficulty"]) == {"2"}
    assert card["withheld"]["suppressed"]["difficulty"] == ["1", "3"]
    assert set(card["scores"]["by_segment"]) == {"held_out", "development"}


@given(
    st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.integers(0, 12)),
    st.integers(0, 9),
)
def test_left_out_parts_are_not_found_by_subtraction(parts: dict[str, int], untagged: int) -> None:
    secret = sum(parts.values()) + untagged
    left_out = too_small(parts, secret)
    kept = {tag: count for tag, count in parts.items() if tag not in left_out}
    assert all(count >= LEAST for count in kept.values())
    rest = secret - sum(kept.values())
    assert rest == 0 or rest >= LEAST or not kept
    if not any(0 <= count < LEAST for count in parts.values()) and (
        untagged == 0 or untagged >= LEAST
    ):
        assert left_out == set()


def test_store_computes_a_secret_card_again(store_path: Path, there: sqlite3.Connection) -> None:
    with closing(played(store_path, entries(12))) as store:
        number, card = find_run(store, "last").id, whole_card(store_path)
        data = card_bytes(load_card(store, number))  # as older versions let it leave
        verdict = verify_card(data, store)
        assert verdict.ok
        assert any(check.name == "numbers, from the stored rows" for check in verdict.checks)
        card["scores"]["bleu"] = 77.7
        assert first_path(resealed(card), store) == "$.scores.bleu"
        old = build_card(store, number, whole=True)
        store.execute("UPDATE runs SET run_card = NULL WHERE id = ?", (number,))
        store_card(store, number, old.as_json())
        assert len(load_card(store, number).results) == 12
        assert must_be_released(store, find_run(store, "last"))
        for form in ExportForm:
            with pytest.raises(UsageError, match=r"no row|released card"):
                export_run(store, number, form)
    assert "12 of 12 entries are secret" in str(verify_card(data).checks)
    import_card(there, data, "card.json")
    run = find_run(there, "last")
    assert export_run(there, run.id, ExportForm.CARD) == data
    assert load_card(there, run.id).scores.total == 12
