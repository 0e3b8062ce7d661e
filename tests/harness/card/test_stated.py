"""Numbers that a card states and nobody can compute again, and cards that were made to break things."""

from __future__ import annotations

import contextlib
import copy
import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from harness.card.checking.recompute import card_material, measures_again, rows_again, scores_again
from harness.card.checking.verify import verify_card
from harness.card.exporting import ExportForm, export_run
from harness.card.foreign.layouts import adopt
from harness.card.importing import import_card
from harness.card.seal import card_hash
from harness.core.failures import HarnessError, UsageError
from harness.store.deletion import delete_run
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from rosetta_tui.report.card import card_text
from rosetta_tui.show.run_facts import run_line
from rosetta_tui.show.text import table
from tests.harness.card import factory
from tests.harness.card.older_reports import OLDER, report
from tests.harness.card.sealed_cards import checks, resealed, sealed, written
from tests.harness.run.scored_demo import ScoredDemo
from tests.review.thorough import examples

FST = "fst_acceptance_rate"
Card = dict[str, Any]


def fitted(card: Card) -> Card:
    """Compute all scores of a card from its changed rows, as a careful forger would."""
    read = adopt(card, "card")
    material = card_material(read)
    for row, numbers in zip(card["results"], rows_again(material), strict=True):
        row.update(numbers)
    card["scores"] |= scores_again(read, material, measures_again(read, material))
    card["claimable_tier"] = card["scores"]["claimable_tier"]
    return card


def refused(card: Card, path: str, store: sqlite3.Connection | None = None) -> None:
    """Expect that neither verifying nor importing takes the card, and that both name the place."""
    data = resealed(card)
    verdict = verify_card(data)
    assert (verdict.ok, checks(verdict)["seal"]) == (False, True)
    assert verdict.first_difference is not None
    assert verdict.first_difference.path == path
    if store is not None:
        with pytest.raises(UsageError) as caught:
            import_card(store, data, "card.json", unverified=True)
        assert path in str(caught.value)


def test_numbers_not_computed_again_are_named(card: Card) -> None:
    verdict = verify_card(written(card))
    assert verdict.ok
    stated = next(check for check in verdict.checks if check.name == "stated numbers")
    assert stated.ok is None
    for name in (FST, "consistency_score", "composites of the floors"):
        assert name in stated.words
    assert "chrf_plus_plus" not in stated.words
    assert "stated numbers" not in checks(verify_card(written(sealed()))), "all is in the texts"


def test_scores_of_a_careful_forger_are_found(card: Card, there: sqlite3.Connection) -> None:
    for row in card["results"]:
        row["statistics"][FST] = [9, 1, 1]
    forged = fitted(card)
    assert forged["scores"]["composite"] > 1
    refused(forged, f"$.results[0].statistics.{FST}", there)


IMPOSSIBLE: dict[str, list[list[float]]] = {
    FST: [[-5, 1, 0], [0, 0, 1], [1e300, 1e300, 1], [2, 1, 1], [1, 0, 1], [0, 0, 0], [2, 2, 0], [1, 2, 1],
          [1.5, 2, 0], [1, 1], []],
    "orthographic_accuracy": [[3, 2], [3, 0]],
    "code_switching_rate": [[-1, 3], [0, 1e9 + 1]],
    "compliance_index": [[6, 5, 5], [5, 6, 5]],
}  # fmt: skip


@pytest.mark.parametrize("metric", IMPOSSIBLE)
def test_impossible_statistics(card: Card, there: sqlite3.Connection, metric: str) -> None:
    for place, numbers in enumerate(IMPOSSIBLE[metric]):
        card["results"][3]["statistics"][metric] = numbers
        refused(card, f"$.results[3].statistics.{metric}", None if place else there)


def test_entry_is_right_or_wrong_once(there: sqlite3.Connection) -> None:
    """Where a language has rules for equivalence, its verdicts are stated too."""
    card = json.loads(written(sealed()))
    card["scoring"] = {
        "metrics": ["exact_match_rate", "equivalent_match_rate", "chrf_plus_plus"],
        "source_language": "en", "target_language": "eo", "language_card": "eo",
        "language_card_sha256": "ab" * 32, "variant_rules": True,
    }  # fmt: skip
    for row in card["results"]:
        row["statistics"] = {"equivalent_match_rate": [0, 1]}
    assert checks(verify_card(resealed(card))).get("stated numbers") is not False
    for numbers in ([5, 5], [0.5, 1], [1, 2], [0, 0]):
        card["results"][2]["statistics"]["equivalent_match_rate"] = numbers
        refused(card, "$.results[2].statistics.equivalent_match_rate", there)


@pytest.mark.parametrize(
    "path",
    ["$.floors[2].composite", "$.floors[1].chrf_plus_plus", "$.floors", "$.scores.consistency_score",
     f"$.results[0].statistics.{FST}"],
)  # fmt: skip
def test_impossible_numbers_are_refused(card: Card, there: sqlite3.Connection, path: str) -> None:
    if path == "$.floors":  # taken away
        card["floors"], card["scores"]["floors"] = [], {}
        card = fitted(card)
    elif path.startswith("$.results"):  # of a secret row too
        texts = ("source", "reference", "predicted", "variants")
        secret = dict.fromkeys(texts) | {"segment": "gold_standard", "withheld": True}
        card["results"][0].update(secret)
        card["results"][0]["statistics"][FST] = [3, 1, 1]
    elif path.startswith("$.scores"):
        card["scores"]["consistency_score"] = 2.5
    elif path.endswith("composite"):
        card["floors"][2]["composite"] = -0.5
    else:
        card["floors"][1]["chrf_plus_plus"] = 100.5
    refused(card, path, there)


def test_acceptance_of_a_row_follows_from_its_counts(card: Card) -> None:
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
@examples(100, 100)
@given(
    st.sampled_from([FST, "compliance_index", "orthographic_accuracy"]),
    st.lists(NUMBERS, min_size=2, max_size=3) | st.lists(NUMBERS),
)
def test_any_statistics_are_judged(demo_run: ScoredDemo, metric: str, numbers: list[float]) -> None:
    card = demo_run.card
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


SEEDS = (sealed, lambda: sealed(secret=True), lambda: json.loads(OLDER.read_bytes()), report)

_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([0, -1, 2**53, 0.5, -1.0, 1e308, -1e308, 5e-324]),
    st.text(max_size=8),
    st.sampled_from(["\x1b[2J", "\ud800", "'; DROP TABLE runs; --", "=1+1", "\x00", "9" * 400]),
    st.sampled_from([[], {}]),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.text(max_size=4), st.integers(0, 3), max_size=3),
)


@st.composite
def forged(draw: st.DrawFn) -> bytes:
    """Return a card in which one to three values were replaced or removed, sealed again where it can be."""
    card = copy.deepcopy(draw(st.sampled_from(SEEDS))())
    for _ in range(draw(st.integers(1, 3))):
        _forge(draw, card)
    try:
        card["run_card_hash"] = card_hash(card)
    except HarnessError:
        card["run_card_hash"] = "0"
    return json.dumps(card).encode()


def _forge(draw: st.DrawFn, card: Card) -> None:
    """Walk down from the top, so that every level is met as often, and change what is there."""
    node: Any = card
    while True:
        key = draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
        if isinstance(node[key], dict | list) and node[key] and draw(st.booleans()):
            node = node[key]
        elif draw(st.integers(0, 3)) == 0:
            del node[key]
            return
        else:
            node[key] = draw(_values)
            return


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    with factory.store(tmp_path_factory.mktemp("hostile")) as connection:
        yield connection


@examples(4, 200, suppress_health_check=list(HealthCheck))
@given(forged())
def test_verify_and_import_answer_in_words(one_store: sqlite3.Connection, data: bytes) -> None:
    with contextlib.suppress(HarnessError):
        repr(verify_card(data, one_store))
    try:
        done = import_card(one_store, data, "card.json", unverified=True)
    except HarnessError:
        assert list_runs(one_store) == []
        assert one_store.execute("SELECT count(*) FROM corpora").fetchone() == (0,)
        return
    run = find_run(one_store, done.run_id)
    for form in ExportForm:
        export_run(one_store, run.id, form)
    (summary,) = list_runs(one_store)
    assert summary.card is not None
    list(table([run_line(summary)]))
    card_text(summary.card)
    delete_run(one_store, run.id)


@examples(40, 1000)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
def test_any_bytes_are_answered_in_words(data: bytes) -> None:
    with pytest.raises(HarnessError):
        verify_card(data)


def test_hostile_card_is_exported_as_it_came(there: sqlite3.Connection) -> None:
    card = copy.deepcopy(sealed())
    card["results"][0]["predicted"] = '=cmd|"/c calc"!A1\r\n\x00\u202e'
    card["run_card_hash"] = card_hash(card)
    data = json.dumps(card).encode()
    run = find_run(there, import_card(there, data, "card.json").run_id)
    assert export_run(there, run.id, ExportForm.CARD) == data
    first = export_run(there, run.id, ExportForm.JSONL).split(b"\n")[0]
    assert json.loads(first)["predicted"] == card["results"][0]["predicted"]
