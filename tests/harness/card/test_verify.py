"""Verifying cards: what is changed is found, and named by its place."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.card.build import build_card, measured, scored
from harness.card.checking.recompute import card_material
from harness.card.checking.stated import differences
from harness.card.checking.verify import verify_card
from harness.card.foreign.layouts import adopt
from harness.card.importing import import_card
from harness.card.seal import card_hash
from harness.core.failures import UsageError
from tests.harness.card import factory
from tests.harness.card.sealed_cards import checks, sealed, written


def changed(change: Callable[[dict[str, Any]], None], *, reseal: bool) -> dict[str, Any]:
    card: dict[str, Any] = json.loads(written(sealed()))
    change(card)
    if reseal:
        card["run_card_hash"] = card_hash(card)
    return card


def put(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change that puts a value at a dotted path."""

    def change(card: dict[str, Any]) -> None:
        *way, last = path.split(".")
        node: Any = card
        for step in way:
            node = node[int(step)] if isinstance(node, list) else node[step]
        assert last in node
        node[last] = value

    return change


def test_a_true_card_holds() -> None:
    verdict = verify_card(written(sealed()))
    assert verdict.ok
    assert verdict.first_difference is None
    assert checks(verdict) == {
        "seal": True,
        "fingerprint": True,
        "entries": True,
        "cost, speed, tokens": True,
        "scores": True,
        "tiers and floors": True,
    }


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("scores.chrf_plus_plus", 62.2, "$.scores.chrf_plus_plus"),
        ("scores.bleu", 99.0, "$.scores.bleu"),
        ("scores.composite", 0.9, "$.scores.composite"),
        ("scores.quality_tier", "fluent", "$.scores.quality_tier"),
        ("scores.total", 3, "$.scores.total"),
        ("scores.errors", 0, "$.scores.errors"),
        ("scores.exact_matches", 2, "$.scores.exact_matches"),
        ("scores.at_floor", False, "$.scores.at_floor"),
        ("scores.cost_adjusted", 9.9, "$.scores.cost_adjusted"),
        ("scores.avg_latency_seconds", 0.1, "$.scores.avg_latency_seconds"),
        (
            "scores.confidence_intervals.composite.ci_lower",
            0.5,
            "$.scores.confidence_intervals.composite.ci_lower",
        ),
        ("scores.by_difficulty.2.bleu", 1.0, None),
        ("scores.floors.constant.composite", 0.0, "$.scores.floors.constant.composite"),
        ("floors.2.composite", 0.0, "$.floors[2].composite"),
        ("claimable_tier", "fluent", "$.claimable_tier"),
        ("cost.total_cost_usd", 0.0, "$.cost.total_cost_usd"),
        ("cost.cost_per_source_char", 0.0, "$.cost.cost_per_source_char"),
        ("totals.cost_per_entry_usd", 0.0, "$.totals.cost_per_entry_usd"),
        ("speed.p95_latency_seconds", 0.1, "$.speed.p95_latency_seconds"),
        ("tokens.total_tokens", 1, "$.tokens.total_tokens"),
        ("budget.spent_usd", 0.0, "$.budget.spent_usd"),
        ("retries.attempts", 4, "$.retries.attempts"),
        ("elapsed_seconds", 1.0, "$.elapsed_seconds"),
        ("stretches.0.seconds", 1.0, "$.elapsed_seconds"),
        ("results.0.predicted", "Mi vidas la katon.", "$.results[0].exact_match"),
        ("results.3.entry_chrf", 80.0, "$.results[3].entry_chrf"),
        ("results.3.exact_match", True, "$.results[3].exact_match"),
        ("results.1.variants", [], "$.scores.equivalent_match_rate"),
        ("results.3.cost_usd", 0.0, "$.cost.total_cost_usd"),
        ("results.3.cost_usd", None, "$.cost.total_cost_usd"),
        ("temperature", 0.3, "$.temperature"),
        ("model_slug", "other", "$.model_slug"),
        ("method.batch_size", 7, None),
        ("fingerprint.hash", "00", "$.fingerprint.hash"),
        ("fingerprint.setup_hash", "00", "$.fingerprint.setup_hash"),
        ("dataset.sha256", "cd" * 32, "$.fingerprint.hash"),
        ("harness_version", "9.9.9", "$.fingerprint.hash"),
    ],
)
def test_a_change_is_found_even_where_the_card_was_sealed_again(
    path: str, value: Any, named: str | None
) -> None:
    verdict = verify_card(written(changed(put(path, value), reseal=True)))
    assert not verdict.ok
    assert checks(verdict)["seal"]
    assert verdict.first_difference is not None
    if named is not None:
        assert named in [difference.path for difference in verdict.differences]


def test_a_tier_that_only_the_card_vouches_for_is_named() -> None:
    verdict = verify_card(written(changed(put("verification_tier", "gds-verified"), reseal=True)))
    said = next(check for check in verdict.checks if check.name == "verification tier")
    assert (said.ok, verdict.ok) == (None, True)
    assert said.words.startswith("states gds-verified; nothing here shows it")


def test_intervals_are_made_again_from_the_seed_that_the_card_records() -> None:
    raw = sealed()
    material = card_material(adopt(raw, "card"))
    other = scored(material, measured(material), seed=777)

    def exchange(card: dict[str, Any]) -> None:
        card["scores"] = other
        card["claimable_tier"] = other["claimable_tier"]
        card["floors"] = [{"name": name, **floor} for name, floor in other["floors"].items()]

    made = other["confidence_intervals"]["chrf_plus_plus"]
    assert made["seed"] == 777
    assert made != raw["scores"]["confidence_intervals"]["chrf_plus_plus"]
    verdict = verify_card(written(changed(exchange, reseal=True)))
    assert verdict.ok, verdict.first_difference


def test_the_first_difference_is_the_one_nearest_to_the_cause() -> None:
    card = changed(put("results.3.predicted", "niwâpamâw atim"), reseal=True)
    first = verify_card(written(card)).first_difference
    assert first is not None
    assert (first.path, first.expected, first.found) == ("$.results[3].exact_match", True, False)


def test_words_may_differ_between_versions_but_the_seal_covers_them() -> None:
    change = put("scores.reasons.semantic_score", "no model is set up")
    assert verify_card(written(changed(change, reseal=True))).ok
    verdict = verify_card(written(changed(change, reseal=False)))
    assert not verdict.ok
    assert verdict.first_difference is None
    assert checks(verdict)["seal"] is False


@pytest.mark.thorough
@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_changed_byte_is_detected(data: st.DataObject) -> None:
    original = written(sealed())
    place = data.draw(st.integers(0, len(original) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != original[place]))
    forged = original[:place] + bytes([byte]) + original[place + 1 :]
    try:
        verdict = verify_card(forged)
    except UsageError:
        return  # no card any more, said in words
    if verdict.ok:  # then the bytes must mean the same
        assert json.loads(forged) == sealed()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_removed_piece_is_detected(data: st.DataObject) -> None:
    original = written(sealed())
    start = data.draw(st.integers(0, len(original) - 1))
    end = data.draw(st.integers(start + 1, len(original)))
    forged = original[:start] + original[end:]
    try:
        verdict = verify_card(forged)
    except UsageError:
        return
    if verdict.ok:
        assert json.loads(forged) == sealed()


def test_white_space_and_order_do_not_matter() -> None:
    card = dict(reversed(sealed().items()))
    assert verify_card(json.dumps(card).encode()).ok


def test_numbers_of_another_machine_may_differ_in_the_last_bits() -> None:
    chrf = sealed()["scores"]["chrf_plus_plus"]
    near = changed(put("scores.chrf_plus_plus", chrf * (1 + 1e-12)), reseal=True)
    assert verify_card(written(near)).ok
    far = changed(put("scores.chrf_plus_plus", chrf * (1 + 1e-8)), reseal=True)
    assert not verify_card(written(far)).ok


def test_unknown_fields_are_no_fault_but_sealed() -> None:
    card = changed(lambda card: card["scores"].update(new_metric=0.5), reseal=True)
    assert verify_card(written(card)).ok
    card["scores"]["new_metric"] = 0.6
    assert not verify_card(written(card)).ok


def test_a_metric_of_a_newer_version_is_named_and_the_composite_checked_by_formula() -> None:
    def change(card: dict[str, Any]) -> None:
        scores = card["scores"]
        scores["semantic_score"] = 1.0
        chrf, equivalent, exact = (
            scores["chrf_plus_plus"] / 100,
            scores["equivalent_match_rate"],
            scores["exact_match_rate"],
        )
        weighted = 0.25 * 1.0 + 0.25 * chrf + 0.15 * equivalent + 0.10 * exact
        scores["composite"] = weighted / 0.75
        scores["quality_tier"] = "functional"

    verdict = verify_card(written(changed(change, reseal=True)))
    assert verdict.ok
    assert checks(verdict)["metrics"] is None
    assert checks(verdict)["composite"]

    def flatter(card: dict[str, Any]) -> None:
        change(card)
        card["scores"]["composite"] += 0.1

    verdict = verify_card(written(changed(flatter, reseal=True)))
    assert not verdict.ok
    assert verdict.first_difference is not None
    assert verdict.first_difference.path == "$.scores.composite"


class TestSecretEntries:
    def test_it_says_what_could_not_be_checked(self) -> None:
        verdict = verify_card(written(sealed(secret=True)))
        assert verdict.ok
        assert checks(verdict)["scores"] is None
        words = next(check.words for check in verdict.checks if check.name == "scores")
        assert "1 of 5 entries" in words

    def test_the_rest_is_checked_all_the_same(self) -> None:
        card = json.loads(written(sealed(secret=True)))
        card["results"][0]["predicted"] = "Mi"
        card["run_card_hash"] = card_hash(card)
        first = verify_card(written(card)).first_difference
        assert first is not None
        assert first.path == "$.results[0].exact_match"

    def test_only_they_may_be_withheld(self) -> None:
        def hide(card: dict[str, Any]) -> None:
            texts = ("source", "reference", "predicted", "variants")
            card["results"][3].update(dict.fromkeys(texts), withheld=True)

        verdict = verify_card(written(changed(hide, reseal=True)))
        first = verdict.first_difference
        assert not verdict.ok
        assert first is not None
        assert first.path == "$.results[3].withheld"

    def test_the_store_gives_what_the_card_withholds(self, connection: sqlite3.Connection) -> None:
        entries = (*factory.ENTRIES, factory.SECRET_ENTRY)
        number = factory.add_run(connection, entries, (*factory.OUTPUTS, factory.SECRETS[3]))
        card = build_card(connection, number, whole=True).as_json()
        verdict = verify_card(written(card), connection)
        assert verdict.ok
        assert checks(verdict)["numbers, from the stored rows"]

        card["scores"]["by_segment"]["gold_standard"]["bleu"] = 77.7
        card["run_card_hash"] = card_hash(card)
        verdict = verify_card(written(card), connection)
        assert verdict.first_difference is not None
        assert verdict.first_difference.path == "$.scores.by_segment.gold_standard.bleu"

    def test_a_store_that_only_imported_the_card_gives_nothing(
        self, connection: sqlite3.Connection, tmp_path: Path
    ) -> None:
        entries = (*factory.ENTRIES, factory.SECRET_ENTRY)
        number = factory.add_run(connection, entries, (*factory.OUTPUTS, factory.SECRETS[3]))
        card = written(build_card(connection, number, whole=True).as_json())
        with factory.store(tmp_path / "other") as other:
            import_card(other, card, "card.json")
            verdict = verify_card(card, other)
        assert verdict.ok
        assert "numbers, from the stored rows" not in checks(verdict)
        assert checks(verdict)["scores"] is None

    def test_no_text_of_it_is_in_any_message(self, connection: sqlite3.Connection) -> None:
        entries = (*factory.ENTRIES, factory.SECRET_ENTRY)
        number = factory.add_run(connection, entries, (*factory.OUTPUTS, factory.SECRETS[3]))
        card = build_card(connection, number, whole=True).as_json()
        card["results"][4]["entry_chrf"] = 1.0
        card["scores"]["composite"] = 1.0
        for verdict in (verify_card(written(card)), verify_card(written(card), connection)):
            words = repr(verdict)
            assert not any(secret in words for secret in factory.SECRETS)


class TestOlderLayout:
    """A card as the reference implementation publishes it: no rows, rounded, sorted-key seal."""

    CARD = Path(__file__).parent / "older-card.json"

    def test_it_is_verified_as_far_as_it_carries_data(self) -> None:
        verdict = verify_card(self.CARD.read_bytes())
        assert verdict.ok
        assert checks(verdict) == {
            "seal": True,
            "fingerprint": True,
            "numbers": None,
            "composite": True,
        }
        assert "older form" in verdict.checks[0].words

    def test_a_composite_that_does_not_follow_is_found(self) -> None:
        card = json.loads(self.CARD.read_bytes())
        card["scores"]["composite"] = 0.8
        first = verify_card(written(card)).first_difference
        assert first is not None
        assert first.path == "$.scores.composite"

    def test_a_changed_byte_breaks_its_seal(self) -> None:
        verdict = verify_card(self.CARD.read_bytes().replace(b'"errors": 0', b'"errors": 1'))
        assert not verdict.ok

    def test_the_example_of_the_specification_does_not_follow_from_its_numbers(self) -> None:
        # DESIGN S2: 0.8988 is stated, the formula gives 0.8275
        scores = {
            "exact_match_rate": 0.6613,
            "equivalent_match_rate": 0.7258,
            "chrf_plus_plus": 80.65,
            "fst_acceptance_rate": 1.0,
            "semantic_score": 0.6842,
            "composite": 0.8988,
            "quality_tier": "fluent",
            "total": 62,
            "errors": 0,
        }
        card = {
            "run_id": "x",
            "model_slug": "m",
            "scores": scores,
            "dataset": {"id": "d", "language_pair": "EN→CRK", "entry_count": 62},
        }
        verdict = verify_card(written(card))
        first = verdict.first_difference
        assert first is not None
        assert first.path == "$.scores.composite"
        assert first.expected == pytest.approx(0.8275, abs=5e-5)

    def test_a_leaderboard_row_says_what_was_not_checked(self) -> None:
        row = {"modelSlug": "m", "compositeScore": 0.61, "qualityTier": "Functional", "chrF": 50}
        verdict = verify_card(written(row))
        assert verdict.ok
        assert checks(verdict) == {"seal": None, "numbers": None, "tier": True}
        assert not verify_card(written({**row, "qualityTier": "Fluent"})).ok


@pytest.mark.parametrize("value", [{}, {"scores": 1}, {"scores": {}, "dataset": []}, {"a": [{}]}])
def test_what_is_no_card_is_refused(value: Any) -> None:
    with pytest.raises(UsageError, match="no run card"):
        verify_card(written(value))


def test_a_wrong_type_is_named_by_path() -> None:
    card = changed(put("results.1.entry_chrf", "high"), reseal=True)
    with pytest.raises(UsageError, match=r"\$\.results\[1\]\.entry_chrf"):
        verify_card(written(card))


def test_differences_name_lengths_types_and_odd_keys() -> None:
    found = {"a": [1, 2], "b c": 1, "d": True, "e": None, "only": 1}
    expected = {"a": [1], "b c": 2, "d": 1, "e": 0.0, "other": 1}
    paths = [difference.path for difference in differences(found, expected)]
    assert paths == ["$.a.length", "$['b c']", "$.d", "$.e"]
    assert list(differences({"x": 0.123}, {"x": 0.12349}, rounded=True)) == []
    assert list(differences({"x": 0.123}, {"x": 0.1236}, rounded=True))


def test_a_connection_without_the_run_is_no_matter(connection: sqlite3.Connection) -> None:
    assert verify_card(written(sealed(secret=True)), connection).ok


def test_a_card_of_ours_that_lost_its_seal_does_not_hold() -> None:
    forged = written(sealed()).replace(b'"run_card_hash"', b'"un_card_hash"')
    assert not verify_card(forged).ok
