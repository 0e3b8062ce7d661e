"""Cards from stored rows, and which experiment a run was."""

from __future__ import annotations

import json
import sqlite3
from hashlib import sha256
from typing import Any

import pytest
import sacrebleu

from harness.card.build import build_card, seal
from harness.card.fingerprint import fingerprint
from harness.card.load import load_card
from harness.card.seal import SealForm, seal_form
from harness.core.canonical import canonical_bytes
from harness.core.failures import HarnessError, StoreError, UsageError
from harness.method.method import MethodClass, Setup
from harness.store.run_list import list_runs
from harness.store.runs import read_card
from tests.harness.card import factory
from tests.harness.card.sealed_cards import add_secret_run


def setup(**changes: Any) -> Setup:
    fields: dict[str, Any] = {
        "method": "chat", "method_class": MethodClass.RAW_LLM, "method_version": "1",
        "model_slug": "example/model", "condition": "zero-shot", "temperature": 0.2,
        "system_prompt_sha256": "cd", "tools_enabled": ("lookup", "check"),
    }  # fmt: skip
    return Setup.model_validate({**fields, **changes})


_SIX = {"model_slug": "x", "condition": "x", "system_prompt_sha256": "x", "temperature": 0.7}

_BESIDE = {
    "method": "other", "method_class": MethodClass.CUSTOM_PLUGIN, "method_version": "2",
    "method_sha256": "ef", "provider": "openrouter", "max_tokens": 100,
    "prompt_version": "plain-v2", "coaching_data_sha256": "01", "outputs_sha256": "02",
    "fst_sha256": "03", "tools_enabled": ("lookup",), "batch_size": 2, "max_retries": 3,
    "replicate": 1, "options": {"a": [1, None]},
}  # fmt: skip


def test_hash_covers_exactly_the_six_components() -> None:
    # written out by hand in RFC 8785 form, so that the library is not checked against itself
    text = (
        '{"condition":"zero-shot","dataset_sha256":"ab","harness_version":"0.1.0",'
        '"model_slug":"example/model","system_prompt_sha256":"cd","temperature":0.2}'
    )
    found = fingerprint(setup(), "ab", "0.1.0")
    assert found.hash == sha256(text.encode()).hexdigest()
    assert found.components == json.loads(text)


def test_component_changes_both_hashes() -> None:
    one = fingerprint(setup(), "ab", "0.1.0")
    for name, value in _SIX.items():
        two = fingerprint(setup(**{name: value}), "ab", "0.1.0")
        assert one.hash != two.hash, name
        assert one.setup_hash != two.setup_hash, name
    for name, value in _BESIDE.items():
        two = fingerprint(setup(**{name: value}), "ab", "0.1.0")
        assert one.hash == two.hash, name
        assert one.setup_hash != two.setup_hash, name
    hashes = {
        fingerprint(setup(), sha, version).hash
        for sha in ("ab", "cd")
        for version in ("0.1.0", "0.2.0")
    }
    assert len(hashes) == 4
    one = fingerprint(setup(temperature=1.0), "ab", "0.1.0")
    two = fingerprint(setup(tools_enabled=("check", "lookup"), temperature=1), "ab", "0.1.0")
    assert (one.hash, one.setup_hash) == (two.hash, two.setup_hash)
    with pytest.raises(UsageError, match=r"2\^53"):
        fingerprint(setup(options={"seed": 2**63}), "ab", "0.1.0")


def test_every_field_of_the_setup_is_covered() -> None:
    covered = set(fingerprint(setup(), "ab", "0.1.0").setup_components)
    assert set(Setup.model_fields) - covered == {"method_name", "system_prompt_used", "fst_version"}


def test_card_tells_what_the_rows_hold(connection: sqlite3.Connection) -> None:
    card = build_card(connection, factory.add_run(connection))
    assert (card.run_id, card.timestamp) == (factory.RUN_ID, "2026-11-18T11:06:40.250Z")
    assert card.elapsed_seconds == pytest.approx(2.25)
    assert card.model_id == "example/model-2026-10"
    assert card.dataset.entry_count == card.dataset.corpus_entry_count == 4
    assert card.method.prompt_version == "plain-v1"
    assert card.verification_tier == "self-benchmarked"
    assert card.budget is not None
    assert card.retries is not None
    assert card.budget.budget_usd == 0.05
    assert card.budget.spent_usd == pytest.approx(0.0001 + 0.0003 + 0.0004)
    assert card.cost.total_cost_usd == pytest.approx(0.001)
    assert card.totals.total_cost_usd == card.cost.total_cost_usd
    assert card.totals.cost_per_entry_usd == card.cost.cost_per_entry_usd
    assert card.tokens.prompt_tokens == card.totals.prompt_tokens == 86
    assert card.tokens.total_tokens == 86 + 28
    retries = card.retries
    assert (retries.attempts, retries.retried_entries, retries.rate_limited) == (6, 1, 2)
    assert retries.waited_seconds == 1.25


def test_scores_are_those_of_sacrebleu(connection: sqlite3.Connection) -> None:
    card = build_card(connection, factory.add_run(connection))
    scores = card.scores
    assert card.speed.avg_latency_seconds == pytest.approx((0.25 + 0.625) / 2), "of answered ones"
    assert scores.avg_latency_seconds == card.speed.avg_latency_seconds
    assert scores.p95_latency_seconds == card.speed.p95_latency_seconds
    outputs = [output or "" for output in factory.OUTPUTS]
    references = [entry.reference for entry in factory.ENTRIES]
    chrf = sacrebleu.corpus_chrf(outputs, [references], word_order=2).score
    assert scores.chrf_plus_plus == pytest.approx(chrf, abs=1e-9)
    assert (scores.total, scores.errors, scores.exact_matches) == (4, 1, 1)
    assert (scores.exact_match_rate, scores.equivalent_matches) == (0.25, 2)
    assert scores.fst_acceptance_rate is None
    assert scores.reasons["fst_acceptance_rate"]
    for row, output, reference in zip(card.results, outputs, references, strict=True):
        sentence = sacrebleu.sentence_chrf(output, [reference], word_order=2).score
        assert row.entry_chrf == pytest.approx(sentence, abs=1e-9)


def test_unknown_price_is_null_everywhere(connection: sqlite3.Connection) -> None:
    card = build_card(connection, factory.add_run(connection, priced=False))
    assert card.cost.total_cost_usd is None
    assert card.totals.total_cost_usd is None
    assert card.budget is not None
    assert card.budget.spent_usd is None
    assert card.scores.cost_adjusted is None


def test_same_rows_give_the_same_bytes(
    connection: sqlite3.Connection, there: sqlite3.Connection
) -> None:
    one, two = (build_card(store, factory.add_run(store)) for store in (connection, there))
    assert canonical_bytes(one.as_json()) == canonical_bytes(two.as_json())
    assert seal_form(one.as_json()) is SealForm.JCS


def test_a_sealed_card_comes_back_as_it_was(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection)
    sealed = seal(connection, number)
    loaded = load_card(connection, number)
    assert canonical_bytes(loaded.as_json()) == canonical_bytes(sealed.as_json())
    head = read_card(connection, number)
    assert head is not None
    assert "results" not in head
    summary = list_runs(connection)[0]
    assert summary.card == head
    columns = connection.execute(
        "SELECT composite_score, quality_tier, chrf_plus_plus, corpus_bleu, total_cost_usd,"
        " avg_latency_seconds FROM runs"
    ).fetchone()
    assert columns == (
        sealed.scores.composite,
        sealed.scores.quality_tier,
        sealed.scores.chrf_plus_plus,
        sealed.scores.bleu,
        sealed.cost.total_cost_usd,
        sealed.speed.avg_latency_seconds,
    )
    with pytest.raises(StoreError, match="never changes"):
        seal(connection, number)


def test_changed_store_is_noticed(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection)
    seal(connection, number)
    for change in (
        "UPDATE results SET headline = headline + 0.001 WHERE position = 0",
        "UPDATE results SET output = (SELECT max(id) FROM texts) WHERE position = 0",
        "UPDATE results SET cost_usd = 0 WHERE position = 3",
        "UPDATE runs SET run_card = json_set(run_card, '$.scores.composite', 0.9)",
        "DELETE FROM results WHERE position = 3",
    ):
        connection.execute("BEGIN")
        connection.execute(change)
        with pytest.raises(StoreError, match="seal"):
            load_card(connection, number)
        connection.execute("ROLLBACK")
        load_card(connection, number)


def test_an_unfinished_run_has_no_card(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection, stored=2)
    with pytest.raises(HarnessError, match=r"2 of 4 entries are missing.*rosetta resume 6f1c3a52"):
        build_card(connection, number)
    with pytest.raises(HarnessError, match="rosetta resume 6f1c3a52"):
        load_card(connection, number)


def test_nothing_of_a_secret_entry_is_on_the_card(connection: sqlite3.Connection) -> None:
    number = add_secret_run(connection)
    text = json.dumps(seal(connection, number).as_json(), ensure_ascii=False)
    for secret in factory.SECRETS:
        assert secret not in text
    card = load_card(connection, number)
    assert card.results == []
    assert card.withheld is not None
    assert (card.withheld.entries, card.withheld.secret) == (5, 1)


def test_words_of_a_secret_failure_are_withheld(connection: sqlite3.Connection) -> None:
    number = factory.add_run(
        connection, (factory.SECRET_ENTRY,), (None,), error=f"cannot translate {factory.SECRETS[0]}"
    )
    for whole in (True, False):
        card = build_card(connection, number, whole=whole)
        assert factory.SECRETS[0] not in json.dumps(card.as_json(), ensure_ascii=False)
        assert card.scores.errors == 1


def test_an_id_too_large_for_json_numbers_is_a_string(connection: sqlite3.Connection) -> None:
    entry = factory.ENTRIES[0].model_copy(update={"id": 2**60 + 1})
    number = factory.add_run(connection, (entry,), ("Mi vidas",))
    seal(connection, number)
    assert load_card(connection, number).results[0].entry_id == "1152921504606846977"
