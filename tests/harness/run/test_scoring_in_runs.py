"""Runs with everything that they can be scored with: a real analyser, a real server of embeddings."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Entry
from harness.card.checking.verify import verify_card
from harness.card.importing import import_card
from harness.card.load import load_card
from harness.card.seal import card_hash
from harness.core.failures import HarnessError, UsageError
from harness.method.options import MethodOptions
from harness.run.rescoring import Explainer, rescore
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.corpora.entries import read_entries
from harness.store.file.database import open_store
from harness.store.results import read_results
from harness.store.runs import find_run
from scoring.core.specification import specification
from tests.harness.annotators.embedded import embedded
from tests.harness.evaluation import (
    begun,
    corpus,
    corpus_of,
    query,
    resume,
    run_corpus,
    sealed_card,
)
from tests.harness.run.constant_runs import constant
from tests.harness.run.scored_demo import demo, scored
from tests.harness.scripted import Scripted, error


def test_the_demo_has_profile_a_and_every_metric_a_value_or_a_reason(store_path: Path) -> None:
    card = scored(store_path)
    scores = card["scores"]
    assert scores["composite_profile"] == "A"
    assert set(scores["reasons"]) == {"semantic_score", "comet_score", "repair_effectiveness"}
    assert (
        scores["fst_acceptance_rate"]
        < 0.9
        < card["scoring"]["analyser"]["reference_accepted"]
        / (card["scoring"]["analyser"]["reference_words"])
    )
    accepted = [row["statistics"]["fst_acceptance_rate"] for row in card["results"]]
    assert scores["fst_accepted"] == sum(taken[0] for taken in accepted)
    assert scores["fst_accepted_entries"] == sum(row["fst_accepted"] for row in card["results"])
    facts = card["scoring"]["analyser"]
    assert card["method"]["fst_version"] is None
    assert card["fst_version"] == (
        f"{facts['name']} sha256:{facts['sha256']} {facts['engine']} {facts['engine_version']}"
    )
    assert scores["consistency_score"] is not None
    assert "consistency_score" not in scores["confidence_intervals"]


def test_rows_say_what_the_analyser_made_of_each_output(store_path: Path) -> None:
    card = scored(store_path)
    rows = [row for row in card["results"] if not row["withheld"]]
    assert rows
    for row in rows:
        accepted, words, _ = row["statistics"]["fst_acceptance_rate"]
        rejected = [each for each in row["fst_analysis"] if each.endswith("+?")]
        if row["predicted"]:
            assert len(rejected) == words - accepted
            assert len(row["fst_analysis"]) >= words
    assert any("+V" in each or "+N" in each for row in rows for each in row["fst_analysis"])


def test_a_language_with_rules_of_variants_has_a_lint_verdict_in_each_row(
    store_path: Path,
) -> None:
    entries = [
        Entry(id=1, source="I see him.", reference="niwâpamâw"),
        Entry(id=2, source="He sees me.", reference="niwâpamik"),
    ]
    given = corpus_of(entries)
    dataset = given.dataset.model_copy(update={"target_language": "crk", "language_pair": "EN→CRK"})
    options = MethodOptions(source_language="en", target_language="crk", text="niwâpamâw")
    run_corpus(
        store_path, replace(given, dataset=dataset), Plan(method="constant", options=options)
    )
    with closing(open_store(store_path)) as connection:
        card = load_card(connection, find_run(connection, "last").id).as_json()
    assert [row["lint_verdict"] for row in card["results"]] == ["EXACT", "MISS"]
    assert verify_card(json.dumps(card).encode()).ok
    for place, wrong in ((0, "MISS"), (1, "EXACT"), (1, "PERFECT")):
        forged = json.loads(json.dumps(card))
        forged["results"][place]["lint_verdict"] = wrong
        forged["run_card_hash"] = card_hash(forged)
        assert not verify_card(json.dumps(forged).encode()).ok


def test_rows_of_outputs_that_are_scored_again_keep_their_analyses(store_path: Path) -> None:
    before = scored(store_path, metrics=("chrf_plus_plus", "fst_acceptance_rate"))
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        rescore(connection, run, ScoringOptions(metrics=("bleu",)), str)  # type: ignore[arg-type]
        after = load_card(connection, find_run(connection, "last").id).as_json()
    assert after["run_id"] != before["run_id"]
    found = [[row["fst_analysis"] for row in card["results"]] for card in (before, after)]
    assert found[0] == found[1]
    assert any(found[0])


def test_a_secret_row_has_no_analyses(store_path: Path) -> None:
    from corpora.model.entry import Segment
    from harness.store.results import read_row_words
    from tests.harness.ranked import play, ranked_corpus

    store_path.parent.mkdir()
    play(store_path, ranked_corpus(6, Segment.GOLD_STANDARD), 3, "secret")
    with closing(open_store(store_path)) as store:
        assert read_row_words(store, find_run(store, "last").id) == {}


def test_a_card_holds_where_neither_analyser_nor_dictionary_is(store_path: Path) -> None:
    data = json.dumps(scored(store_path)).encode()
    assert verify_card(data).ok


@pytest.mark.thorough
def test_what_is_kept_damaged_of_an_analyser_is_asked_again(store_path: Path) -> None:
    first = scored(store_path)
    with closing(open_store(store_path)) as connection:
        connection.execute("UPDATE findings SET value = x'c1'")
    assert scored(store_path)["scoring"] == first["scoring"]


def test_a_changed_count_of_accepted_words_is_noticed(store_path: Path) -> None:
    card = scored(store_path)
    card["results"][0]["statistics"]["fst_acceptance_rate"][0] += 1
    verdict = verify_card(json.dumps(card).encode())
    assert not verdict.ok
    assert "fst_accept" in str(verdict.first_difference) or "composite" in str(
        verdict.first_difference
    )


def test_an_imported_card_keeps_its_scores(store_path: Path, tmp_path: Path) -> None:
    card = scored(store_path)
    other = tmp_path / "other" / "rosetta.sqlite"
    with closing(open_store(other)) as connection:
        import_card(connection, json.dumps(card).encode(), "card.json")
        run = find_run(connection, "last")
        assert load_card(connection, run.id).as_json() == card
        assert Explainer(connection, run).why_not == (
            "the run was imported; only its numbers are here"
        )


def test_words_of_secret_entries_stay_out_of_the_memo(store_path: Path) -> None:
    made = corpus(3, segment="held_out", reference="sekreta vorto", source="a secret word")
    run_corpus(store_path, made, constant(("rosetta",)))
    keys = {row[0] for row in query(store_path, "SELECT key FROM findings")}
    assert not {"sekreta", "vorto", "secret", "word"} & keys


def test_a_run_goes_on_only_with_what_it_began_with(store_path: Path, tmp_path: Path) -> None:
    terms = tmp_path / "terms.tsv"
    terms.write_text("entry\tero\n", "utf-8")
    begun(store_path, corpus(4), constant(("rosetta",), terms=terms))
    terms.write_text("entry\talia\n", "utf-8")
    with pytest.raises(HarnessError, match="terms_sha256 changed"):
        resume(store_path)


def test_explanations_name_the_words(store_path: Path) -> None:
    run_corpus(store_path, *demo())
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        entries = read_entries(connection, run.corpus, run.positions)
        explainer = Explainer(connection, run)
        said = [
            explainer.explain(entries[result.position], result)
            for result in read_results(connection, run.id)
        ]
        explainer.close()
    assert explainer.why_not is None
    assert any(
        "English" in " ".join(each.sentences.get("code_switching_rate", ())) for each in said
    )
    assert any(each.words and any(not word.accepted for word in each.words.output) for each in said)


def embeddings(endpoint: Scripted) -> dict[str, Any]:
    return {"embeddings": endpoint.url, "embeddings_model": "m", "metrics": ("semantic_score",)}


def test_embeddings_are_asked_for_when_all_outputs_are_in_and_kept(
    endpoint: Scripted, store_path: Path
) -> None:
    endpoint.answer = embedded
    plan = constant(("rosetta",), embeddings=endpoint.url, embeddings_model="m")
    run_corpus(store_path, corpus(5), plan)
    card = sealed_card(store_path)
    assert 0 < card["scores"]["semantic_score"] <= 1
    assert card["scores"]["confidence_intervals"]["semantic_score"]["ci_lower"] > 0
    assert {part["metric"] for part in card["scores"]["composite_inputs"]} >= {"semantic_score"}
    asked = len(endpoint.asked)
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        with pytest.raises(HarnessError, match="Nothing new"):
            rescore(connection, run, ScoringOptions(**embeddings(endpoint)), lambda words: None)
    assert len(endpoint.asked) == asked


def test_a_finished_run_gets_a_semantic_score_and_its_card_verifies(
    endpoint: Scripted, store_path: Path
) -> None:
    endpoint.answer = embedded
    run_corpus(store_path, corpus(5), constant(("rosetta",)))
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        run_id = rescore(
            connection, run, ScoringOptions(**embeddings(endpoint)), lambda words: None
        )
        card = load_card(connection, find_run(connection, run_id).id).as_json()
    assert card["scores"]["semantic_score"] > 0
    assert card["scores"]["chrf_plus_plus"] is not None
    assert verify_card(json.dumps(card).encode()).ok


@pytest.mark.parametrize("answered", [0, 1], ids=["all", "the floors only"])
def test_a_server_that_refuses_leaves_the_run_sealed_with_the_reason(
    endpoint: Scripted, store_path: Path, answered: int
) -> None:
    left = [1] * answered
    endpoint.answer = lambda asked: embedded(asked) if left and left.pop() else error(401)
    plan = constant(("rosetta",), embeddings=endpoint.url, embeddings_model="m")
    assert run_corpus(store_path, corpus(5), plan).finished.card_hash
    scores = sealed_card(store_path)["scores"]
    assert scores["semantic_score"] is None
    assert "401" in scores["reasons"]["semantic_score"]
    assert scores["composite"] is not None


def test_secret_texts_are_not_sent_to_another_machine(store_path: Path) -> None:
    plan = constant(("rosetta",), embeddings="https://models.example", embeddings_model="m")
    with pytest.raises(UsageError, match="secret segment"):
        run_corpus(store_path, corpus(2, segment="held_out"), plan)


def test_offline_runs_ask_no_model_elsewhere(store_path: Path) -> None:
    plan = constant(("rosetta",), embeddings="https://models.example", embeddings_model="m")
    offline = plan.model_copy(update={"run": RunOptions(offline=True)})
    with pytest.raises(UsageError, match="--offline"):
        run_corpus(store_path, corpus(2), offline)


def test_a_damaged_analyser_that_nobody_named_only_turns_metrics_off(
    store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(store_path.parent))
    folder = store_path.parent / "languages" / "eo"
    folder.mkdir(parents=True)
    (folder / "eo.hfstol").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    run_corpus(store_path, corpus(3), constant(("rosetta",)))
    card = sealed_card(store_path)
    assert card["scores"]["composite_profile"] == "B"
    assert "Git LFS pointer" in card["scores"]["reasons"]["fst_acceptance_rate"]
    assert "model_invalid" in card["scores"]["reasons"]["fst_acceptance_rate"]


def test_a_damaged_analyser_that_was_named_is_refused(store_path: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.hfstol"
    bad.write_bytes(b"")
    with pytest.raises(HarnessError, match=r"bad\.hfstol is empty"):
        run_corpus(store_path, corpus(3), constant(("rosetta",), analyser=bad))


def test_secret_references_beside_public_entries_stay_out_of_the_memo(store_path: Path) -> None:
    public = corpus(2, reference="publika vorto", source="a public word").entries
    secret = corpus(1, segment="held_out", reference="sekretega ritaro", source="hidden").entries
    made = corpus_of([*public, secret[0].model_copy(update={"id": 99})])
    run_corpus(store_path, made, constant(("rosetta",)))
    keys = {row[0] for row in query(store_path, "SELECT key FROM findings")}
    assert not {"sekretega", "ritaro", "hidden"} & keys


def test_a_run_whose_model_failed_before_the_seal_can_go_on(
    endpoint: Scripted, store_path: Path
) -> None:
    endpoint.answer = lambda _: error(401)
    plan = constant(("rosetta",), embeddings=endpoint.url, embeddings_model="m")
    run_corpus(store_path, corpus(4), plan)
    with closing(open_store(store_path)) as connection:
        connection.execute("UPDATE runs SET run_card = NULL, state = 'stopped'")
    endpoint.answer = embedded
    assert resume(store_path).finished.card_hash
    card = sealed_card(store_path)
    assert card["scores"]["semantic_score"] > 0


def test_a_run_that_another_engine_began_goes_on(store_path: Path) -> None:
    made, plan = demo()
    begun(store_path, made, plan)
    with closing(open_store(store_path)) as connection:
        stated = "json_extract(opening, '$.scoring.analyser.engine')"
        changed = "json_set(opening, '$.scoring.analyser.engine', 'hfst')"
        connection.execute(f"UPDATE runs SET opening = {changed}")
        assert connection.execute(f"SELECT {stated} FROM runs").fetchone() == ("hfst",)
    assert resume(store_path).finished.card_hash
    run_corpus(store_path, made, plan)
    card = sealed_card(store_path)
    assert card["scoring"]["analyser"]["engine"] == "builtin"


@pytest.mark.thorough
def test_an_imported_run_keeps_the_metrics_that_cannot_be_taken_anew(
    store_path: Path, tmp_path: Path
) -> None:
    card = scored(store_path, metrics=tuple({*specification().metrics} - {"ter"}))
    with closing(open_store(tmp_path / "other" / "rosetta.sqlite")) as connection:
        import_card(connection, json.dumps(card).encode(), "card.json")
        run_id = rescore(
            connection, find_run(connection, "last"), ScoringOptions(), lambda words: None
        )
        again = find_run(connection, run_id)
        new = load_card(connection, again.id).as_json()
        assert Explainer(connection, again).why_not is not None
    for id_ in ("hallucination_rate", "terminology_adherence", "morphological_accuracy"):
        assert new["scores"][id_] == pytest.approx(card["scores"][id_])
    assert new["scores"]["composite"] == pytest.approx(card["scores"]["composite"])
    assert verify_card(json.dumps(new).encode()).ok


def test_changed_terms_are_not_explained_as_if_they_were_the_same(
    store_path: Path, tmp_path: Path
) -> None:
    terms = tmp_path / "terms.tsv"
    terms.write_text("entry\tENTRY\n", "utf-8")
    run_corpus(store_path, corpus(4), constant(("rosetta",), terms=terms))
    terms.write_text("entry\talia\n", "utf-8")
    with closing(open_store(store_path)) as connection:
        why_not = Explainer(connection, find_run(connection, "last")).why_not
    assert why_not == "the run was scored with something else: terms_sha256 changed since"


def test_what_will_be_missing_is_said_truly_from_the_first_moment(store_path: Path) -> None:
    heard = run_corpus(store_path, *demo())
    missing = heard.started.missing
    assert missing["consistency_score"] == "worked out when all outputs are in"
    assert "terminology_adherence" not in missing
    assert set(missing) == {
        "semantic_score",
        "comet_score",
        "consistency_score",
        "repair_effectiveness",
    }
