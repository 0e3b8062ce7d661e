"""Runs whose outputs are scored by several references: what is sealed, verified, kept apart."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from corpora.model.corpus import Corpus
from harness.card.checking.verify import verify_card
from harness.card.importing import import_card
from harness.core.failures import HarnessError
from harness.run.rescoring import Explainer
from harness.setup.scoring_tools import changes, require_same, stated_setup
from harness.store.corpora.entries import read_entries
from harness.store.file.database import open_store
from harness.store.results import read_results
from harness.store.runs import find_run
from tests.harness.evaluation import corpus, rescored, run_corpus, whole_card
from tests.harness.run.constant_runs import constant
from tests.harness.run.scored_demo import demo, scored

SURFACE = ("exact_match_rate", "chrf_plus_plus", "bleu", "ter", "length_ratio")
BY_REFERENCES = ("chrf_plus_plus", "bleu", "ter")
SIZE = 24
"""Entries of the demo, an output that failed among them."""


def of_constant(path: Path, given: Corpus, **scoring: Any) -> dict[str, Any]:
    run_corpus(path, given, constant(SURFACE, **scoring))
    return whole_card(path)


def of_demo(path: Path, **scoring: Any) -> dict[str, Any]:
    return scored(path, SIZE, metrics=SURFACE, terms=None, **scoring)


Pair = tuple[str, str]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Cards of the same outputs, scored with one reference and with several."""
    path = tmp_path_factory.mktemp("pair") / "rosetta.sqlite"
    one, several = of_demo(path), of_demo(path, multi_ref=True)
    assert of_demo(path)["floors"] == one["floors"], "not those of the run before it"
    return json.dumps(one), json.dumps(several)


@pytest.fixture
def cards(pair: Pair) -> tuple[dict[str, Any], dict[str, Any]]:
    return json.loads(pair[0]), json.loads(pair[1])


Cards = tuple[dict[str, Any], dict[str, Any]]


def test_scores_of_the_demo_are_sacrebleus(cards: Cards) -> None:
    card = cards[1]
    outputs = [row["predicted"] or "" for row in card["results"]]
    texts = [[row["reference"], *row["variants"]] for row in card["results"]]
    streams = [
        [each[place] if place < len(each) else None for each in texts]
        for place in range(max(map(len, texts)))
    ]
    assert len(streams) > 1
    oracles = {"chrf_plus_plus": CHRF(word_order=2), "bleu": BLEU(), "ter": TER()}
    for id_, oracle in oracles.items():
        expected = oracle.corpus_score(outputs, streams).score  # type: ignore[arg-type]
        assert card["scores"][id_] == pytest.approx(expected, abs=1e-9)
        signature = card["scores"]["signatures"][id_]
        assert signature.startswith(f"{oracle.get_signature()}|")
        assert "nrefs:var|" in signature
    chrf = CHRF(word_order=2)
    singles = [chrf.sentence_score(*each).score for each in zip(outputs, texts, strict=True)]
    assert [row["entry_chrf"] for row in card["results"]] == pytest.approx(singles, abs=1e-9)


def test_only_scores_and_floors_by_references_change(cards: Cards) -> None:
    one, several = cards
    better = {id_: several["scores"][id_] - one["scores"][id_] for id_ in SURFACE}
    assert better["chrf_plus_plus"] > 1
    assert better["bleu"] > 0 > better["ter"]
    assert better["length_ratio"] == better["exact_match_rate"] == 0
    assert several["scores"]["composite"] > one["scores"]["composite"]
    for floor, other in zip(one["floors"], several["floors"], strict=True):
        assert (other["chrf_plus_plus"] > floor["chrf_plus_plus"]) is (floor["name"] != "empty")
    setups = [stated_setup(card["scoring"]) for card in cards]
    assert changes(*setups) == ["multi_ref"]  # type: ignore[arg-type]
    with pytest.raises(HarnessError, match="multi_ref changed"):
        require_same(*setups)  # type: ignore[arg-type]
    for id_ in BY_REFERENCES:
        assert one["scores"]["signatures"][id_] != several["scores"]["signatures"][id_]


def test_card_verifies_also_on_another_machine(store_path: Path, tmp_path: Path) -> None:
    run_corpus(store_path, *demo(multi_ref=True), positions=range(6))
    card = whole_card(store_path)
    data = json.dumps(card).encode()
    verdict = verify_card(data)
    assert verdict.ok, verdict.first_difference
    assert {check.name for check in verdict.checks if check.ok} >= {"seal", "entries", "scores"}
    other = tmp_path / "other" / "rosetta.sqlite"
    with closing(open_store(other)) as connection:
        import_card(connection, data, "card.json")
        assert verify_card(data, connection).ok
    assert whole_card(other) == card


@pytest.mark.parametrize("lie", [True, False])
def test_card_that_lies_about_its_references_is_found(cards: Cards, lie: bool) -> None:
    card = cards[not lie]
    card["scoring"]["multi_ref"] = lie
    verdict = verify_card(json.dumps(card).encode())
    assert not verdict.ok
    assert any("chrf" in difference.path for difference in verdict.differences)


def test_changed_variant_on_a_card_is_found(cards: Cards) -> None:
    row = next(row for row in cards[1]["results"] if row["variants"])
    row["variants"] = [row["predicted"]]
    verdict = verify_card(json.dumps(cards[1]).encode())
    assert any(difference.path.startswith("$.results") for difference in verdict.differences)


def test_corpus_without_variants_has_one_reference(store_path: Path) -> None:
    one = of_constant(store_path, corpus(6))
    several = of_constant(store_path, corpus(6), multi_ref=True)
    assert [several["scores"][id_] for id_ in SURFACE] == [one["scores"][id_] for id_ in SURFACE]
    assert "nrefs:var|" in several["scores"]["signatures"]["ter"]
    assert several["scoring"] != one["scoring"]


@pytest.mark.thorough
def test_finished_run_is_rescored_with_variants_and_without(store_path: Path) -> None:
    one = of_demo(store_path)
    several = rescored(store_path, multi_ref=True, metrics=("ter",))
    assert several["scoring"]["multi_ref"] is True
    assert several["scores"]["chrf_plus_plus"] > one["scores"]["chrf_plus_plus"]
    assert verify_card(json.dumps(several).encode()).ok
    kept = rescored(store_path, metrics=("compliance_index",))
    assert kept["scores"]["chrf_plus_plus"] == several["scores"]["chrf_plus_plus"]
    back = rescored(store_path, multi_ref=False, metrics=("ter",))
    assert [back["scores"][id_] for id_ in SURFACE] == [one["scores"][id_] for id_ in SURFACE]


def test_variants_of_secret_entries_count_and_stay_here(store_path: Path) -> None:
    secret = corpus(4, segment="held_out", variants=("sekreta varianto", "ENTRY NUMBER 3"))
    card = of_constant(store_path, secret, multi_ref=True)
    assert card["scores"]["chrf_plus_plus"] == 100.0
    assert card["scores"]["exact_match_rate"] == 0.25
    written = json.dumps(card)
    assert "sekreta" not in written
    with closing(open_store(store_path)) as connection:
        assert verify_card(written.encode(), connection).ok
    assert verify_card(written.encode()).ok


def test_entry_tells_which_variant_it_was_measured_by(store_path: Path) -> None:
    of_constant(
        store_path, corpus(5, variants=("something else", "ENTRY NUMBER 3")), multi_ref=True
    )
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        entries = read_entries(connection, run.corpus, run.positions)
        explainer = Explainer(connection, run)
        rows = read_results(connection, run.id)
        said = [explainer.explain(entries[row.position], row).sentences for row in rows]
        explainer.close()
    nearest = ("Measured by variant 2, the nearest of 3 accepted translations.",)
    assert said[0]["chrf_plus_plus"] == nearest
    assert "chrf_plus_plus" not in said[3]
