"""Verifying cards: what is changed is found, and named by its place."""

import json
from collections.abc import Callable
from sqlite3 import Connection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.card.assembling import measured, scored
from harness.card.checking.recompute import card_material
from harness.card.checking.verdict import CardVerdict, differences
from harness.card.checking.verify_card import seal, verify_card, verify_rows
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.foreign_cards import adopt
from harness.card.importing import import_card
from harness.card.reading import card_head, claim_of
from harness.card.rows import load_card, rows_of
from harness.core.failures import UsageError
from harness.store.runs import read_run
from scoring.core.specification import Tier
from tests.harness.card import factory
from tests.harness.card.factory import OLDER, add_secret_run, build_card, checks, first_path, resealed, sealed, written
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples

Change = Callable[[dict[str, Any]], None]


def copied(*, secret: bool = False) -> dict[str, Any]:
    card: dict[str, Any] = json.loads(written(sealed(secret=secret)))
    return card


def changed(change: Change, *, reseal: bool = True) -> bytes:
    card = copied()
    change(card)
    return resealed(card) if reseal else written(card)


def put(path: str, value: Any) -> Change:
    """Return a change that puts a value at a dotted path."""

    def change(card: dict[str, Any]) -> None:
        *way, last = path.split(".")
        node: Any = card
        for step in way:
            node = node[int(step)] if isinstance(node, list) else node[step]
        assert last in node
        node[last] = value

    return change


def test_true_card_holds() -> None:
    verdict = verify_card(written(sealed()))
    assert (verdict.ok, verdict.first_difference) == (True, None)
    names = ("seal", "fingerprint", "entries", "cost, speed, tokens", "scores", "tiers and floors")
    assert checks(verdict) == dict.fromkeys(names, True)
    turned = dict(reversed(sealed().items()))
    assert verify_card(json.dumps(turned).encode()).ok, "white space and order do not matter"


def test_claim_by_earlier_rules_is_not_computed_again() -> None:
    card = copied()
    for name in ("rules", "coverage"):
        del card["scores"]["claim"][name]
    card["scores"]["claim"]["limits"] = []
    verdict = verify_card(resealed(card))
    assert verdict.ok, verdict.differences
    assert any("decided by earlier rules" in check.words for check in verdict.checks)
    assert claim_of(card).claimable_tier is Tier.BASELINE


CHANGES: list[tuple[str, Any, str | None]] = [
    ("scores.chrf_plus_plus", 62.2, ""), ("scores.bleu", 99.0, ""), ("scores.composite", 0.9, ""),
    ("scores.quality_tier", "fluent", ""), ("scores.total", 3, ""), ("scores.errors", 0, ""),
    ("scores.exact_matches", 2, ""), ("scores.at_floor", False, ""),
    ("scores.cost_adjusted", 9.9, ""), ("scores.avg_latency_seconds", 0.1, ""),
    ("scores.confidence_intervals.composite.ci_lower", 0.5, ""),
    ("scores.by_difficulty.2.bleu", 1.0, None), ("scores.floors.constant.composite", 0.0, ""),
    ("floors.2.composite", 0.0, "$.floors[2].composite"), ("claimable_tier", "fluent", ""),
    ("cost.total_cost_usd", 0.0, ""), ("cost.cost_per_source_char", 0.0, ""),
    ("totals.cost_per_entry_usd", 0.0, ""), ("speed.p95_latency_seconds", 0.1, ""),
    ("tokens.total_tokens", 1, ""), ("budget.spent_usd", 0.0, ""), ("retries.attempts", 4, ""),
    ("elapsed_seconds", 1.0, ""), ("stretches.0.seconds", 1.0, "$.elapsed_seconds"),
    ("results.0.predicted", "Mi vidas la katon.", "$.results[0].exact_match"),
    ("results.3.entry_chrf", 80.0, "$.results[3].entry_chrf"),
    ("results.3.exact_match", True, "$.results[3].exact_match"),
    ("results.1.variants", [], "$.scores.equivalent_match_rate"),
    ("results.3.cost_usd", 0.0, "$.cost.total_cost_usd"),
    ("results.3.cost_usd", None, "$.cost.total_cost_usd"), ("temperature", 0.3, ""),
    ("model_slug", "other", ""), ("method.batch_size", 7, None), ("fingerprint.hash", "00", ""),
    ("fingerprint.setup_hash", "00", ""), ("dataset.sha256", "cd" * 32, "$.fingerprint.hash"),
    ("harness_version", "9.9.9", "$.fingerprint.hash"),
]  # fmt: skip
"""Where a value is put, which, and which place is named: the same where empty."""


BLOCKS = [CHANGES[:15], CHANGES[15:24], *([change] for change in CHANGES[24:])]
"""Numbers of one card may be wrong together; what others follow from is changed alone."""


@pytest.mark.parametrize("part", range(3))
def test_change_is_found_even_where_sealed_again(part: int) -> None:
    for block in BLOCKS[part::3]:
        card = copied()
        for path, value, _ in block:
            put(path, value)(card)
        verdict = verify_card(resealed(card))
        assert (verdict.ok, checks(verdict)["seal"]) == (False, True), block
        assert verdict.first_difference is not None
        found = [difference.path for difference in verdict.differences]
        for path, _, named in block:
            assert named is None or (named or f"$.{path}") in found, path


def test_tier_that_only_the_card_vouches_for_is_named() -> None:
    verdict = verify_card(changed(put("verification_tier", "gds-verified")))
    said = next(check for check in verdict.checks if check.name == "verification tier")
    assert (said.ok, verdict.ok) == (None, True)
    assert said.words.startswith("states gds-verified; nothing here shows it")


def test_intervals_are_made_again_from_the_recorded_seed() -> None:
    raw = sealed()
    material = card_material(adopt(raw, "card"))
    other: dict[str, Any] = {**scored(material, measured(material), seed=777)}

    def exchange(card: dict[str, Any]) -> None:
        card["scores"] = other
        card["claimable_tier"] = other["claimable_tier"]
        card["floors"] = [{"name": name, **floor} for name, floor in other["floors"].items()]

    made = other["confidence_intervals"]["chrf_plus_plus"]
    assert made["seed"] == 777
    assert made != raw["scores"]["confidence_intervals"]["chrf_plus_plus"]
    assert first_path(changed(exchange)) == ""
    first = verify_card(changed(put("results.3.predicted", "niwâpamâw atim"))).first_difference
    assert first is not None
    assert (first.path, first.expected, first.found) == ("$.results[3].exact_match", True, False)


def test_words_may_differ_but_the_seal_covers_them() -> None:
    change = put("scores.reasons.semantic_score", "no model is set up")
    assert verify_card(changed(change)).ok
    verdict = verify_card(changed(change, reseal=False))
    assert (verdict.ok, checks(verdict)["seal"]) == (False, False)
    assert verdict.first_difference is None
    card = copied()
    card["scores"]["new_metric"] = 0.5
    assert verify_card(resealed(card)).ok, "an unknown field is no fault, but sealed"
    card["scores"]["new_metric"] = 0.6
    assert not verify_card(written(card)).ok
    unsealed = written(sealed()).replace(b'"run_card_hash"', b'"un_card_hash"')
    assert not verify_card(unsealed).ok


@examples(16, 500)
@given(st.data())
def test_any_changed_byte_or_removed_piece_is_detected(data: st.DataObject) -> None:
    original = written(sealed())
    start = data.draw(st.integers(0, len(original) - 1))
    if data.draw(st.booleans()):
        byte = data.draw(st.integers(0, 255).filter(lambda b: b != original[start]))
        forged = original[:start] + bytes([byte]) + original[start + 1 :]
    else:
        forged = original[:start] + original[data.draw(st.integers(start + 1, len(original))) :]
    try:
        verdict = verify_card(forged)
    except UsageError:
        return  # no card any more, said in words
    if verdict.ok:  # then the bytes must mean the same
        assert json.loads(forged) == sealed()


def test_last_bits_of_numbers_may_differ() -> None:
    """Of those of another machine."""
    chrf = sealed()["scores"]["chrf_plus_plus"]
    assert verify_card(changed(put("scores.chrf_plus_plus", chrf * (1 + 1e-12)))).ok
    assert not verify_card(changed(put("scores.chrf_plus_plus", chrf * (1 + 1e-8)))).ok


@pytest.mark.parametrize("flattery", [0.0, 0.1])
def test_composite_with_a_newer_metric_follows_its_formula(flattery: float) -> None:
    def change(card: dict[str, Any]) -> None:
        scores = card["scores"]
        scores["semantic_score"] = 1.0
        chrf, exact = scores["chrf_plus_plus"] / 100, scores["exact_match_rate"]
        weighted = 0.25 + 0.25 * chrf + 0.15 * scores["equivalent_match_rate"] + 0.10 * exact
        scores["composite"] = weighted / 0.75 + flattery
        scores["quality_tier"] = "functional"

    verdict = verify_card(changed(change))
    if flattery:
        assert first_path(changed(change)) == "$.scores.composite"
    else:
        assert (verdict.ok, checks(verdict)["metrics"]) == (True, None)
        assert checks(verdict)["composite"]


def test_card_with_secret_entries_says_what_was_not_checked() -> None:
    verdict = verify_card(written(sealed(secret=True)))
    assert (verdict.ok, checks(verdict)["scores"]) == (True, None)
    words = next(check.words for check in verdict.checks if check.name == "scores")
    assert "1 of 5 entries" in words
    card = copied(secret=True)
    card["results"][0]["predicted"] = "Mi"  # the rest is checked all the same
    assert first_path(resealed(card)) == "$.results[0].exact_match"
    card = copied()  # and nothing but secret entries may be withheld
    texts = ("source", "reference", "predicted", "variants")
    card["results"][3].update(dict.fromkeys(texts), withheld=True)
    assert first_path(resealed(card)) == "$.results[3].withheld"


def test_store_gives_what_is_hidden(connection: Connection, there: Connection) -> None:
    assert verify_card(written(sealed(secret=True)), connection).ok, "the run is not here"
    card: dict[str, Any] = build_card(connection, add_secret_run(connection), whole=True).as_json()
    verdict = verify_card(written(card), connection)
    assert verdict.ok
    assert checks(verdict)["numbers, from the stored rows"]
    import_card(there, written(card), "card.json")
    verdict = verify_card(written(card), there)  # which only imported it
    assert (verdict.ok, checks(verdict)["scores"]) == (True, None)
    assert "numbers, from the stored rows" not in checks(verdict)
    card["scores"]["by_segment"]["gold_standard"]["bleu"] = 77.7
    assert first_path(resealed(card), connection) == "$.scores.by_segment.gold_standard.bleu"
    card["results"][4]["entry_chrf"] = card["scores"]["composite"] = 1.0
    for store in (None, connection):
        words = repr(verify_card(written(card), store))
        assert not any(secret in words for secret in factory.SECRETS)


def test_stored_run_is_verified_as_its_file_and_written_by_blocks(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.card.rows.BLOCK", 2)
    monkeypatch.setattr("harness.card.checking.recompute.BLOCK", 3)
    number = factory.add_run(connection)
    seal(connection, number)
    run = read_run(connection, number)
    head = card_head(connection, run)

    def verified(head: dict[str, Any]) -> CardVerdict:
        rows = rows_of(connection, run, head)
        verdict = verify_rows(connection, run, head, rows)
        assert verdict == verify_card(written({**head, "results": [*rows.as_json()]}))
        return verdict

    assert set(checks(verified(head)).values()) == {True}
    assert export_run(connection, number, ExportForm.CARD) == card_bytes(load_card(connection, number))
    flattered = json.loads(json.dumps(head))
    flattered["scores"]["bleu"] = 99.0
    assert [check.name for check in verified(flattered).checks if not check.ok] == ["seal", "scores"]
    connection.execute("UPDATE results SET output = (SELECT max(output) FROM results) WHERE position = 0")
    assert [check.name for check in verified(head).checks if not check.ok] == ["seal", "entries", "scores"]
    connection.execute("UPDATE results SET headline = headline + 1 WHERE position = 3")
    assert "$.results[3].entry_chrf" in [difference.path for difference in verified(head).differences]


def test_older_layout_is_verified_as_far_as_it_carries_data() -> None:
    """A card as the reference implementation publishes it: no rows, rounded, sorted-key seal."""
    data = OLDER.read_bytes()
    verdict = verify_card(data)
    expected = {"seal": True, "fingerprint": True, "numbers": None, "composite": True}
    assert (verdict.ok, checks(verdict)) == (True, expected)
    assert "older form" in verdict.checks[0].words
    card = json.loads(data)
    card["scores"]["composite"] = 0.8
    first = verify_card(written(card)).first_difference
    assert first is not None
    assert first.path == "$.scores.composite"
    assert not verify_card(data.replace(b'"errors": 0', b'"errors": 1')).ok


def test_leaderboard_row_says_what_was_not_checked() -> None:
    row = {"modelSlug": "m", "compositeScore": 0.61, "qualityTier": "Functional", "chrF": 50}
    verdict = verify_card(written(row))
    assert (verdict.ok, checks(verdict)) == (True, {"seal": None, "numbers": None, "tier": True})
    assert not verify_card(written({**row, "qualityTier": "Fluent"})).ok
    odd: list[dict[str, Any]] = [{}, {"scores": 1}, {"scores": {}, "dataset": []}, {"a": [{}]}]
    for value in odd:
        refuses(UsageError, "not a run card", verify_card, written(value))
    refuses(UsageError, r"\$\.results\[1\]\.entry_chrf", verify_card, changed(put("results.1.entry_chrf", "high")))


def test_differences_name_lengths_types_and_odd_keys() -> None:
    found = {"a": [1, 2], "b c": 1, "d": True, "e": None, "only": 1}
    expected = {"a": [1], "b c": 2, "d": 1, "e": 0.0, "other": 1}
    paths = [difference.path for difference in differences(found, expected)]
    assert paths == ["$.a.length", "$['b c']", "$.d", "$.e"]
    assert list(differences({"x": 0.123}, {"x": 0.12349}, rounded=True)) == []
    assert list(differences({"x": 0.123}, {"x": 0.1236}, rounded=True))
