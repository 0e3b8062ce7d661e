"""Scoring a finished run again: a record of its own, no method called, the old one untouched."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.files.problems import StoredValueError
from corpora.languages.shipped.epo.build import ANALYSER
from corpora.model.entry import Entry
from harness.card.checking.verify import verify_card
from harness.card.load import load_card
from harness.core.failures import HarnessError, StoreError, UsageError
from harness.events.control import Control
from harness.run import rescoring
from harness.run.beginning import tools_for
from harness.run.final_scores import finish_scores
from harness.run.rescoring import rescore, stored_statistics
from harness.run.running import execute_run
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import ScoringTools, without
from harness.store.deletion import delete_run, trash
from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from harness.store.runs import find_run, read_card
from scoring.core.scorer import Scorer
from scoring.core.setup import ScoringSetup
from scoring.core.table import Table
from scoring.core.translation import Translation
from scoring.metrics.inventory import make_scorer
from scoring.words.resources import Resources
from tests.harness.evaluation import Heard, begun, corpus, corpus_of, kept, run_corpus
from tests.harness.run.constant_runs import FEW, constant


def again(path: Path, **told: Any) -> dict[str, Any]:
    with closing(open_store(path)) as connection:
        run = find_run(connection, "last")
        run_id = rescore(connection, run, ScoringOptions(**told), lambda words: None)
        return load_card(connection, find_run(connection, run_id).id).as_json()


def test_metrics_are_added_and_everything_else_stays(store_path: Path) -> None:
    run_corpus(store_path, corpus(8), constant())
    old = kept(store_path)
    assert old.card is not None
    assert old.card["scores"]["ter"] is None
    card = again(store_path, metrics=("ter",))
    assert card["scores"]["ter"] > 0
    assert card["scores"]["chrf_plus_plus"] == old.card["scores"]["chrf_plus_plus"]
    assert card["rescore_of"] == {
        "run_id": old.run.run_id,
        "run_card_hash": old.card["run_card_hash"],
    }
    assert card["fingerprint"] == old.card["fingerprint"]
    assert [row["predicted"] for row in card["results"]] == ["ENTRY NUMBER 3"] * 8
    assert kept(store_path, old.run.run_id).card == old.card


def test_a_rescored_card_verifies_from_its_own_bytes(store_path: Path) -> None:
    run_corpus(store_path, corpus(8), constant())
    card = again(store_path, metrics=("rosetta",))
    verdict = verify_card(json.dumps(card).encode())
    assert verdict.ok, [check for check in verdict.checks if check.ok is False]


def runs(path: Path) -> int:
    with closing(open_store(path)) as connection:
        return len(list_runs(connection))


@pytest.mark.usefixtures("no_waits")
def test_what_adds_nothing_makes_no_run(store_path: Path) -> None:
    run_corpus(store_path, corpus(8), constant())
    with pytest.raises(HarnessError, match="Nothing new comes of it") as caught:
        again(store_path, metrics=FEW)
    assert not isinstance(caught.value, UsageError)
    with pytest.raises(HarnessError, match=r"\nsemantic_score: no embeddings"):
        again(store_path, metrics=("semantic_score",))
    nobody = {"embeddings": "http://localhost:9", "embeddings_model": "m"}
    with pytest.raises(
        HarnessError, match=r"\nsemantic_score: No connection to localhost:9: start"
    ):
        again(store_path, metrics=("semantic_score",), **nobody)
    assert runs(store_path) == 1


@pytest.mark.parametrize("at", ["assemble", "store_card"])
def test_what_breaks_off_before_the_seal_leaves_no_run(
    store_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """A run without a card would be offered for going on with, which is asking its method."""
    writable = []

    def killed(*_: object) -> None:
        with closing(open_store(store_path)) as other:
            other.execute("PRAGMA busy_timeout = 0")
            try:
                other.execute("BEGIN IMMEDIATE")
                writable.append(True)
            except sqlite3.OperationalError:
                writable.append(False)
        raise KeyboardInterrupt

    run_corpus(store_path, corpus(8), constant())
    monkeypatch.setattr(rescoring, at, killed)
    with pytest.raises(KeyboardInterrupt):
        again(store_path, metrics=("ter",))
    assert runs(store_path) == 1
    assert writable == [at == "assemble"], "the slow part keeps no other process from writing"


def test_stored_statistics_are_laid_out_at_once_and_one_by_one_only_where_one_is_damaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = [Translation(each, each.reference) for each in corpus(5).entries]
    scorer = make_scorer(
        Resources(ScoringSetup(source_language="eng", target_language="epo", metrics=FEW))
    )
    whole = scorer.statistics(given)
    packed = [scorer.pack(each) for each in whole]
    sizes: list[int] = []
    real = Scorer.unpack_table

    def noted(self: Scorer, some: Sequence[bytes]) -> Table:
        sizes.append(len(some))
        return real(self, some)

    monkeypatch.setattr(Scorer, "unpack_table", noted)
    assert stored_statistics(scorer, packed) == whole
    assert sizes == [5]
    assert stored_statistics(scorer, [*packed[:2], b"\xc1", *packed[3:]]) == [
        *whole[:2],
        {},
        *whole[3:],
    ]
    assert stored_statistics(scorer, []) == []


def test_another_instrument_makes_a_run_even_without_a_new_metric(store_path: Path) -> None:
    given = corpus(4, variants=("ENTRY NUMBER 3",))
    run_corpus(store_path, given, constant())
    card = again(store_path, metrics=FEW, multi_ref=True)
    assert card["scores"]["chrf_plus_plus"] == 100
    assert runs(store_path) == 2


def test_metrics_whose_analyser_is_gone_stay_and_are_named(
    store_path: Path, tmp_path: Path
) -> None:
    analyser = tmp_path / "mine.hfstol"
    analyser.write_bytes(ANALYSER.read_bytes())
    given = corpus_of([Entry(id=1, source="the dog", reference="la hundo")])
    run_corpus(store_path, given, constant(("fst_acceptance_rate",), analyser=analyser))
    before = kept(store_path).card
    assert before is not None
    notes: list[str] = []
    with closing(open_store(store_path)) as connection:
        connection.execute("UPDATE runs SET plan = json_remove(plan, '$.scoring.analyser')")
        connection.execute(
            "UPDATE corpora SET dataset = json_set(dataset, '$.target_language', 'tlh')"
        )
        run = find_run(connection, "last")
        options = ScoringOptions(metrics=("chrf_plus_plus",))
        run_id = rescore(connection, run, options, lambda words: None, notes.append)
    after = kept(store_path, run_id).card
    assert after is not None
    assert after["scores"]["fst_acceptance_rate"] == before["scores"]["fst_acceptance_rate"]
    [note] = notes
    assert "stay as they were" in note
    assert "\nfst_acceptance_rate: " in note
    assert "chrf" not in note


def test_an_open_run_is_not_scored_again(store_path: Path) -> None:
    begun(store_path, corpus(3), constant())
    with pytest.raises(UsageError, match="not complete"):
        again(store_path)


def test_a_secret_run_is_scored_again_without_its_texts_on_the_card(store_path: Path) -> None:
    run_corpus(store_path, corpus(4, segment="held_out"), constant())
    card = again(store_path, metrics=("ter",))
    assert card["scores"]["ter"] is not None
    assert all(row["withheld"] and row["predicted"] is None for row in card["results"])
    assert "ENTRY NUMBER" not in json.dumps(card["results"])


class Slow:
    """An annotator in place of a model; it fails where it is told to."""

    slow = True

    def __init__(self, id_: str, value: float | None) -> None:
        self.id = id_
        self.value = value
        self.asked = 0
        self.closed = False

    def annotate(self, translations: Sequence[Translation]) -> list[Any]:
        self.asked += len(translations)
        if self.value is None:
            raise HarnessError("the model is gone")
        return [self.value] * len(translations)

    def close(self) -> None:
        self.closed = True


def with_slow(path: Path, *slow: Slow) -> tuple[int, Any, ScoringTools]:
    """Begin a run that is scored with the surface metrics and slow annotators."""
    made, plan = corpus(6), constant()
    with closing(open_store(path)) as connection:
        found = tools_for(connection, made, range(6), plan)
    number, method = begun(path, made, plan)
    return number, method, ScoringTools(found.resources, found.scorer, tuple(slow))


def test_slow_annotators_are_asked_once_all_outputs_are_in(store_path: Path) -> None:
    slow = Slow("comet", 0.5)
    number, method, tools = with_slow(store_path, slow)
    heard = Heard()
    execute_run(store_path, number, method, heard, Control(), tools=tools)
    assert heard.finished.card_hash
    assert "asking comet" in [each.doing for each in heard.progress]
    assert slow.asked >= 6
    assert slow.closed


def test_a_model_that_is_gone_turns_its_metric_off_and_the_run_is_sealed(store_path: Path) -> None:
    number, method, tools = with_slow(store_path, Slow("comet", None))
    heard = Heard()
    execute_run(store_path, number, method, heard, Control(), tools=tools)
    with closing(open_store(store_path)) as connection:
        card = read_card(connection, number)
    assert heard.finished.card_hash
    assert card is not None
    assert card["scores"]["reasons"]["comet_score"] == "the model is gone"
    assert card["scores"]["chrf_plus_plus"] is not None


def test_without_a_model_the_widths_follow() -> None:
    slow = Slow("comet", None)
    entry = Entry(id=1, source="a", reference="b")
    setup = constant().scoring
    assert setup.wanted == set(FEW)
    found = corpus_of([entry])
    resources = Resources(_setup(found.dataset.target_language))
    left = without(ScoringTools(resources, make_scorer(resources), (slow,)), slow, "gone")
    assert left.annotators == ()
    assert left.setup.off["comet_score"] == "gone"
    assert "comet_score" not in left.setup.metrics


def _setup(target: str) -> Any:
    from scoring.metrics.inventory import surface_setup

    return surface_setup("en", target, [])


def test_nothing_is_done_twice_where_nothing_is_slow(store_path: Path) -> None:
    number, _, tools = with_slow(store_path)
    with closing(open_store(store_path)) as connection:
        before = connection.total_changes
        finish_scores(connection, number, tools, lambda words: None)
        assert connection.total_changes == before


@pytest.mark.parametrize("other", [False, True], ids=["alone", "with-another-run"])
@pytest.mark.parametrize("end", [delete_run, trash])
def test_a_run_that_is_deleted_meanwhile_leaves_no_new_run(
    store_path: Path, end: Callable[[sqlite3.Connection, int], object], *, other: bool
) -> None:
    for _ in range(1 + other):
        run_corpus(store_path, corpus(8), constant())

    def delete(_: str) -> None:
        with closing(open_store(store_path)) as second:
            end(second, run.id)

    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        with pytest.raises(StoreError, match="deleted"):
            rescore(connection, run, ScoringOptions(metrics=("ter",)), once(delete))
    assert runs(store_path) == int(other)


def once(tell: Callable[[str], None]) -> Callable[[str], None]:
    waiting = [tell]
    return lambda words: waiting.pop()(words) if waiting else None


@pytest.mark.parametrize("damage", ["c1", "90", "91a178"], ids=["no-msgpack", "none", "a-word"])
def test_an_entry_with_damaged_statistics_is_scored_again(store_path: Path, damage: str) -> None:
    run_corpus(store_path, corpus(8), constant())
    whole = kept(store_path).card
    assert whole is not None
    with closing(open_store(store_path)) as connection:
        connection.execute(f"UPDATE results SET statistics = x'{damage}' WHERE position = 2")
    card = again(store_path)
    assert card["scores"]["chrf_plus_plus"] == whole["scores"]["chrf_plus_plus"]
    assert verify_card(json.dumps(card).encode()).ok


def test_damage_that_stops_the_card_makes_no_run(store_path: Path) -> None:
    run_corpus(store_path, corpus(8), constant())
    with closing(open_store(store_path)) as connection:
        connection.execute("UPDATE results SET trace = x'c1' WHERE position = 2")
    with pytest.raises(StoredValueError):
        again(store_path, metrics=("ter",))
    assert runs(store_path) == 1
