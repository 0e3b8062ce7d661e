"""Runs whose outputs are scored by several references: what is sealed, verified, kept apart."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.samples import DEMO_CORPUS, DEMO_WEAK, sample_path
from harness.card.checking.verify import verify_card
from harness.card.importing import import_card
from harness.card.load import load_card
from harness.core.failures import HarnessError
from harness.method.options import MethodOptions
from harness.run.rescoring import Explainer, rescore
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import changes, require_same, stated_setup
from harness.store.corpora.entries import read_entries
from harness.store.file.database import open_store
from harness.store.results import read_results
from harness.store.runs import find_run
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus

SURFACE = ("exact_match_rate", "chrf_plus_plus", "bleu", "ter", "length_ratio")
BY_REFERENCES = ("chrf_plus_plus", "bleu", "ter")


def scored(path: Path, given: Corpus | None = None, **scoring: Any) -> dict[str, Any]:
    """Score the weak outputs of the demo, or one text for all entries; give the card."""
    outputs = MethodOptions(**LANGUAGES, outputs=sample_path(DEMO_WEAK))
    constant = MethodOptions(**LANGUAGES, text="ENTRY NUMBER 3")
    plan = Plan(
        method="replay" if given is None else "constant",
        options=outputs if given is None else constant,
        scoring=ScoringOptions(**{"metrics": SURFACE, **scoring}),
    )
    run_corpus(path, given or load(sample_path(DEMO_CORPUS)), plan)
    return last(path)


def last(path: Path) -> dict[str, Any]:
    with closing(open_store(path)) as connection:
        return load_card(connection, find_run(connection, "last").id).as_json()


def again(path: Path, **told: Any) -> dict[str, Any]:
    with closing(open_store(path)) as connection:
        run = find_run(connection, "last")
        run_id = rescore(connection, run, ScoringOptions(**told), lambda words: None)
        return load_card(connection, find_run(connection, run_id).id).as_json()


def test_the_scores_of_the_demo_are_sacrebleus(store_path: Path) -> None:
    card = scored(store_path, multi_ref=True)
    outputs = [row["predicted"] or "" for row in card["results"]]  # one of them failed
    texts = [[row["reference"], *row["variants"]] for row in card["results"]]
    streams = [
        [each[place] if place < len(each) else None for each in texts]
        for place in range(max(map(len, texts)))
    ]
    oracles = {"chrf_plus_plus": CHRF(word_order=2), "bleu": BLEU(), "ter": TER()}
    for id_, oracle in oracles.items():
        expected = oracle.corpus_score(outputs, streams).score  # type: ignore[arg-type]
        assert card["scores"][id_] == pytest.approx(expected, abs=1e-9)
        signature = card["scores"]["signatures"][id_]
        assert signature.startswith(f"{oracle.get_signature()}|")
        assert "nrefs:var|" in signature
    singles = [
        CHRF(word_order=2).sentence_score(output, each).score
        for output, each in zip(outputs, texts, strict=True)
    ]
    assert [row["entry_chrf"] for row in card["results"]] == pytest.approx(singles, abs=1e-9)


def test_only_what_is_measured_by_references_changes(store_path: Path) -> None:
    one, several = scored(store_path), scored(store_path, multi_ref=True)
    better = {id_: several["scores"][id_] - one["scores"][id_] for id_ in SURFACE}
    assert better["chrf_plus_plus"] > 1
    assert better["bleu"] > 0 > better["ter"]
    assert better["length_ratio"] == better["exact_match_rate"] == 0
    assert several["scores"]["composite"] > one["scores"]["composite"]


def test_two_runs_with_and_without_are_never_scored_with_the_same(store_path: Path) -> None:
    one, several = scored(store_path), scored(store_path, multi_ref=True)
    setups = [stated_setup(card["scoring"]) for card in (one, several)]
    assert changes(*setups) == ["multi_ref"]  # type: ignore[arg-type]
    with pytest.raises(HarnessError, match="multi_ref changed"):
        require_same(*setups)  # type: ignore[arg-type]
    for id_ in BY_REFERENCES:
        assert one["scores"]["signatures"][id_] != several["scores"]["signatures"][id_]


def test_floors_are_worked_out_with_the_same_references(store_path: Path) -> None:
    """The second run finds the first on the same entries, whose floors are lower."""
    one, several = scored(store_path), scored(store_path, multi_ref=True)
    for floor, other in zip(one["floors"], several["floors"], strict=True):
        assert (other["chrf_plus_plus"] > floor["chrf_plus_plus"]) is (floor["name"] != "empty")
    (best,) = [f["chrf_plus_plus"] for f in several["floors"] if f["name"] == "constant"]
    again_first = scored(store_path)
    assert again_first["floors"] == one["floors"]
    assert best not in [floor["chrf_plus_plus"] for floor in one["floors"]]


def test_the_card_verifies_also_on_another_machine(store_path: Path, tmp_path: Path) -> None:
    card = scored(store_path, multi_ref=True, metrics=("rosetta",))
    data = json.dumps(card).encode()
    verdict = verify_card(data)
    assert verdict.ok, verdict.first_difference
    assert {check.name for check in verdict.checks if check.ok} >= {"seal", "entries", "scores"}
    with closing(open_store(tmp_path / "other" / "rosetta.sqlite")) as connection:
        import_card(connection, data, "card.json")
        assert load_card(connection, find_run(connection, "last").id).as_json() == card
        assert verify_card(data, connection).ok


@pytest.mark.parametrize("lie", [True, False])
def test_a_card_that_lies_about_its_references_is_found_out(store_path: Path, lie: bool) -> None:
    card = scored(store_path, multi_ref=not lie)
    card["scoring"]["multi_ref"] = lie
    verdict = verify_card(json.dumps(card).encode())
    assert not verdict.ok
    assert any("chrf" in difference.path for difference in verdict.differences)


def test_a_changed_variant_on_a_card_is_found_out(store_path: Path) -> None:
    card = scored(store_path, multi_ref=True)
    row = next(row for row in card["results"] if row["variants"])
    row["variants"] = [row["predicted"]]
    verdict = verify_card(json.dumps(card).encode())
    assert any(difference.path.startswith("$.results") for difference in verdict.differences)


def test_a_corpus_without_variants_has_one_reference_for_each_entry(store_path: Path) -> None:
    one = scored(store_path, corpus(6))
    several = scored(store_path, corpus(6), multi_ref=True)
    assert [several["scores"][id_] for id_ in SURFACE] == [one["scores"][id_] for id_ in SURFACE]
    assert "nrefs:var|" in several["scores"]["signatures"]["ter"]
    assert several["scoring"] != one["scoring"]


@pytest.mark.thorough
def test_a_finished_run_is_scored_again_with_its_variants_and_without(store_path: Path) -> None:
    one = scored(store_path)
    several = again(store_path, multi_ref=True, metrics=("ter",))
    assert several["scoring"]["multi_ref"] is True
    assert several["scores"]["chrf_plus_plus"] > one["scores"]["chrf_plus_plus"]
    assert verify_card(json.dumps(several).encode()).ok
    kept = again(store_path, metrics=("compliance_index",))
    assert kept["scores"]["chrf_plus_plus"] == several["scores"]["chrf_plus_plus"]
    back = again(store_path, multi_ref=False, metrics=("ter",))
    assert {id_: back["scores"][id_] for id_ in SURFACE} == {
        id_: one["scores"][id_] for id_ in SURFACE
    }


def test_variants_of_secret_entries_count_and_stay_here(store_path: Path) -> None:
    secret = corpus(4, segment="held_out", variants=("sekreta varianto", "ENTRY NUMBER 3"))
    card = scored(store_path, secret, multi_ref=True)
    assert card["scores"]["chrf_plus_plus"] == 100.0
    assert card["scores"]["exact_match_rate"] == 0.25
    written = json.dumps(card)
    assert "sekreta" not in written
    with closing(open_store(store_path)) as connection:
        assert verify_card(written.encode(), connection).ok
    assert verify_card(written.encode()).ok


def test_the_entry_says_which_variant_it_was_measured_by(store_path: Path) -> None:
    given = corpus(5, variants=("something else", "ENTRY NUMBER 3"))
    scored(store_path, given, multi_ref=True)
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        entries = read_entries(connection, run.corpus, run.positions)
        explainer = Explainer(connection, run)
        said = {
            result.position: explainer.explain(entries[result.position], result).sentences
            for result in read_results(connection, run.id)
        }
        explainer.close()
    nearest = ("Measured by variant 2, the nearest of 3 accepted translations.",)
    assert said[0]["chrf_plus_plus"] == nearest
    assert "chrf_plus_plus" not in said[3]
