"""Numbers that a card states and nobody can compute again: impossible ones neither verify nor come in."""

from __future__ import annotations

import json
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.card.canonical import card_hash
from harness.card.checking.recompute import card_material, measures_again, rows_again, scores_again
from harness.card.checking.verify import verify_card
from harness.card.foreign.layouts import adopt
from harness.card.importing import import_card
from harness.core.failures import UsageError
from harness.store.file.database import open_store
from tests.harness.card.sealed_cards import checks, sealed, written
from tests.harness.run.scored_demo import scored

FST = "fst_acceptance_rate"


@cache
def demo_card() -> str:
    """Return the card of the demo, scored with everything that ships."""
    with tempfile.TemporaryDirectory() as folder:
        return json.dumps(scored(Path(folder) / "rosetta.sqlite"))


@pytest.fixture
def card() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(demo_card())
    return read


def resealed(card: dict[str, Any]) -> bytes:
    card["run_card_hash"] = card_hash(card)
    return written(card)


def fitted(card: dict[str, Any]) -> dict[str, Any]:
    """Compute all scores of a card from its changed rows, as a careful forger would."""
    read = adopt(card, "card")
    material = card_material(read)
    for row, numbers in zip(card["results"], rows_again(material), strict=True):
        row.update(numbers)
    card["scores"] |= scores_again(read, material, measures_again(read, material))
    card["claimable_tier"] = card["scores"]["claimable_tier"]
    return card


def refused(card: dict[str, Any], path: str, tmp_path: Path) -> None:
    """Expect that neither verifying nor importing takes the card, and that both name the place."""
    data = resealed(card)
    verdict = verify_card(data)
    assert not verdict.ok
    assert checks(verdict)["seal"]
    assert verdict.first_difference is not None
    assert verdict.first_difference.path == path
    with (
        closing(open_store(tmp_path / "import.sqlite")) as store,
        pytest.raises(UsageError) as caught,
    ):
        import_card(store, data, "card.json", unverified=True)
    assert path in str(caught.value)


def test_what_was_not_computed_again_is_said(card: dict[str, Any]) -> None:
    verdict = verify_card(written(card))
    assert verdict.ok
    stated = next(check for check in verdict.checks if check.name == "stated numbers")
    assert stated.ok is None
    for name in (FST, "consistency_score", "composites of the floors"):
        assert name in stated.words
    assert "chrf_plus_plus" not in stated.words


def test_where_all_follows_from_texts_nothing_is_taken_as_stated() -> None:
    assert "stated numbers" not in checks(verify_card(written(sealed())))


def test_the_scores_of_a_careful_forger_are_found(card: dict[str, Any], tmp_path: Path) -> None:
    for row in card["results"]:
        row["statistics"][FST] = [9, 1, 1]
    forged = fitted(card)
    assert forged["scores"]["composite"] > 1
    refused(forged, f"$.results[0].statistics.{FST}", tmp_path)


@pytest.mark.parametrize(
    ("metric", "numbers"),
    [
        (FST, [-5, 1, 0]),
        (FST, [1e300, 1e300, 1]),
        (FST, [2, 1, 1]),
        (FST, [1, 0, 1]),
        (FST, [0, 0, 0]),
        (FST, [2, 2, 0]),
        (FST, [1, 2, 1]),
        (FST, [1.5, 2, 0]),
        (FST, [1, 1]),
        (FST, []),
        ("orthographic_accuracy", [3, 2]),
        ("orthographic_accuracy", [3, 0]),
        ("code_switching_rate", [-1, 3]),
        ("code_switching_rate", [0, 1e9 + 1]),
        ("compliance_index", [6, 5, 5]),
        ("compliance_index", [5, 6, 5]),
    ],
)
def test_impossible_statistics(
    card: dict[str, Any], tmp_path: Path, metric: str, numbers: list[float]
) -> None:
    card["results"][3]["statistics"][metric] = numbers
    refused(card, f"$.results[3].statistics.{metric}", tmp_path)


@pytest.mark.parametrize("numbers", [[5, 5], [0.5, 1], [1, 2], [0, 0]])
def test_an_entry_is_right_or_wrong_once(tmp_path: Path, numbers: list[float]) -> None:
    """Where a language has rules for equivalence, its verdicts are stated too."""
    card = json.loads(written(sealed()))
    card["scoring"] = {
        "metrics": ["exact_match_rate", "equivalent_match_rate", "chrf_plus_plus"],
        "source_language": "en",
        "target_language": "eo",
        "language_card": "eo",
        "language_card_sha256": "ab" * 32,
        "variant_rules": True,
    }
    for row in card["results"]:
        row["statistics"] = {"equivalent_match_rate": [0, 1]}
    assert "stated numbers" not in [
        c.name for c in verify_card(resealed(card)).checks if c.ok is False
    ]
    card["results"][2]["statistics"]["equivalent_match_rate"] = numbers
    refused(card, "$.results[2].statistics.equivalent_match_rate", tmp_path)


def test_impossible_floors(card: dict[str, Any], tmp_path: Path) -> None:
    card["floors"][2]["composite"] = -0.5
    refused(card, "$.floors[2].composite", tmp_path)


def test_an_impossible_chrf_of_a_floor(card: dict[str, Any], tmp_path: Path) -> None:
    card["floors"][1]["chrf_plus_plus"] = 100.5
    refused(card, "$.floors[1].chrf_plus_plus", tmp_path)


def test_floors_that_were_taken_away(card: dict[str, Any], tmp_path: Path) -> None:
    card["floors"], card["scores"]["floors"] = [], {}
    refused(fitted(card), "$.floors", tmp_path)


def test_an_impossible_value_of_the_whole(card: dict[str, Any], tmp_path: Path) -> None:
    card["scores"]["consistency_score"] = 2.5
    refused(card, "$.scores.consistency_score", tmp_path)


def test_whether_all_words_are_accepted_follows_from_the_counts(card: dict[str, Any]) -> None:
    row = next(row for row in card["results"] if row["fst_accepted"] is False)
    row["fst_accepted"] = True
    verdict = verify_card(resealed(card))
    assert verdict.first_difference is not None
    assert verdict.first_difference.path.endswith(".fst_accepted")


NUMBERS = (
    st.integers(-2, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(10**400), 10**400)
)


@pytest.mark.thorough
@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([FST, "compliance_index", "orthographic_accuracy"]),
    st.lists(NUMBERS, min_size=2, max_size=3) | st.lists(NUMBERS),
)
def test_any_statistics_are_judged_in_words(metric: str, numbers: list[float]) -> None:
    card = json.loads(demo_card())
    card["results"][1]["statistics"][metric] = numbers
    try:
        verdict = verify_card(written(card))
    except UsageError:
        assert any(abs(number) > 2**53 for number in numbers)
        return
    if checks(verdict)["stated numbers"] is None:
        part, whole = numbers[0], numbers[1 if metric == FST else -1]
        assert len(numbers) == (2 if metric == "orthographic_accuracy" else 3)
        assert 0 <= part <= whole <= 10**9


def test_statistics_of_secret_rows_are_judged_too(card: dict[str, Any], tmp_path: Path) -> None:
    texts = ("source", "reference", "predicted", "variants")
    secret = dict.fromkeys(texts) | {"segment": "gold_standard", "withheld": True}
    card["results"][0].update(secret)
    card["results"][0]["statistics"][FST] = [3, 1, 1]
    refused(card, f"$.results[0].statistics.{FST}", tmp_path)
