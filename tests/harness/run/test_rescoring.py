"""Scoring a finished run again: a record of its own, no method called, the old one untouched."""

from __future__ import annotations

import json
import shutil
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
from harness.store.runs import find_run
from scoring.core.scorer import Scorer
from scoring.core.setup import ScoringSetup
from scoring.core.table import Table
from scoring.core.translation import Translation
from scoring.metrics.inventory import make_scorer, surface_setup
from scoring.words.resources import Resources
from tests.harness.evaluation import (
    Heard,
    begun,
    corpus,
    corpus_of,
    kept,
    query,
    rescored,
    run_corpus,
    sealed_card,
)
from tests.harness.run.constant_runs import FEW, constant


def runs(path: Path) -> int:
    with closing(open_store(path)) as connection:
        return len(list_runs(connection))


@pytest.fixture(scope="module")
def constant_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("constant") / "rosetta.sqlite"
    run_corpus(path, corpus(8), constant())
    return path


@pytest.fixture
def done(constant_store: Path, store_path: Path) -> Path:
    """A store of the test's own with a finished run."""
    store_path.parent.mkdir()
    return Path(shutil.copy(constant_store, store_path))


def test_metrics_are_added_and_the_rest_stays(done: Path) -> None:
    old = kept(done)
    assert old.card is not None
    assert old.card["scores"]["ter"] is None
    card = rescored(done, metrics=("ter",))
    assert card["scores"]["ter"] > 0
    assert card["scores"]["chrf_plus_plus"] == old.card["scores"]["chrf_plus_plus"]
    of = {"run_id": old.run.run_id, "run_card_hash": old.card["run_card_hash"]}
    assert (card["rescore_of"], card["fingerprint"]) == (of, old.card["fingerprint"])
    assert [row["predicted"] for row in card["results"]] == ["ENTRY NUMBER 3"] * 8
    assert kept(done, old.run.run_id).card == old.card
    card = rescored(done, metrics=("rosetta",))
    verdict = verify_card(json.dumps(card).encode())
    assert verdict.ok, [check for check in verdict.checks if check.ok is False]


@pytest.mark.usefixtures("no_waits")
def test_nothing_new_makes_no_run(done: Path) -> None:
    nobody = {"embeddings": "http://localhost:9", "embeddings_model": "m"}
    for metrics, more, words in (
        (FEW, {}, "Nothing new comes of it"),
        (("semantic_score",), {}, r"\nsemantic_score: no embeddings"),
        (("semantic_score",), nobody, r"\nsemantic_score: No connection to localhost:9: start"),
    ):
        with pytest.raises(HarnessError, match=words) as caught:
            rescored(done, metrics=metrics, **more)
        assert not isinstance(caught.value, UsageError)
    assert runs(done) == 1


@pytest.mark.parametrize("at", ["assemble", "store_card"])
def test_break_before_the_seal(done: Path, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    """A run without a card would be offered for going on with, which is asking its method."""
    writable = []

    def killed(*_: object) -> None:
        with closing(open_store(done)) as other:
            other.execute("PRAGMA busy_timeout = 0")
            try:
                other.execute("BEGIN IMMEDIATE")
                writable.append(True)
            except sqlite3.OperationalError:
                writable.append(False)
        raise KeyboardInterrupt

    monkeypatch.setattr(rescoring, at, killed)
    with pytest.raises(KeyboardInterrupt):
        rescored(done, metrics=("ter",))
    assert runs(done) == 1
    assert writable == [at == "assemble"], "the slow part keeps no other process from writing"


def test_statistics_are_unpacked_at_once_unless_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [Translation(each, each.reference) for each in corpus(5).entries]
    setup = ScoringSetup(source_language="eng", target_language="epo", metrics=FEW)
    scorer = make_scorer(Resources(setup))
    whole = scorer.statistics(given)
    packed = [scorer.pack(each) for each in whole]
    sizes: list[int] = []
    real = Scorer.unpack_table

    def noted(self: Scorer, some: Sequence[bytes]) -> Table:
        sizes.append(len(some))
        return real(self, some)

    monkeypatch.setattr(Scorer, "unpack_table", noted)
    assert (stored_statistics(scorer, packed), sizes) == (whole, [5])
    damaged = stored_statistics(scorer, [*packed[:2], b"\xc1", *packed[3:]])
    assert damaged == [*whole[:2], {}, *whole[3:]]
    assert stored_statistics(scorer, []) == []


def test_another_instrument_makes_a_run(store_path: Path) -> None:
    run_corpus(store_path, corpus(4, variants=("ENTRY NUMBER 3",)), constant())
    assert rescored(store_path, metrics=FEW, multi_ref=True)["scores"]["chrf_plus_plus"] == 100
    assert runs(store_path) == 2


def test_metrics_whose_analyser_is_gone_stay(store_path: Path, tmp_path: Path) -> None:
    analyser, fst = tmp_path / "mine.hfstol", "fst_acceptance_rate"
    analyser.write_bytes(ANALYSER.read_bytes())
    given = corpus_of([Entry(id=1, source="the dog", reference="la hundo")])
    run_corpus(store_path, given, constant((fst,), analyser=analyser))
    before, notes = sealed_card(store_path), list[str]()
    query(store_path, "UPDATE runs SET plan = json_remove(plan, '$.scoring.analyser')")
    tlh = "json_set(dataset, '$.target_language', 'tlh')"
    query(store_path, f"UPDATE corpora SET dataset = {tlh}")
    with closing(open_store(store_path)) as connection:
        run, options = find_run(connection, "last"), ScoringOptions(metrics=("chrf_plus_plus",))
        run_id = rescore(connection, run, options, lambda words: None, notes.append)
    assert sealed_card(store_path, run_id)["scores"][fst] == before["scores"][fst]
    [note] = notes
    assert "stay as they were" in note
    assert f"\n{fst}: " in note
    assert "chrf" not in note


def test_open_run_is_not_rescored(store_path: Path) -> None:
    begun(store_path, corpus(3), constant())
    with pytest.raises(UsageError, match="not complete"):
        rescored(store_path)


def test_secret_run_is_rescored_without_its_texts(store_path: Path) -> None:
    run_corpus(store_path, corpus(4, segment="held_out"), constant())
    card = rescored(store_path, metrics=("ter",))
    assert card["scores"]["ter"] is not None
    assert all(row["withheld"] and row["predicted"] is None for row in card["results"])
    assert "ENTRY NUMBER" not in json.dumps(card["results"])


class Slow:
    """An annotator in place of a model; it fails where it has no value."""

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


@pytest.mark.parametrize("value", [0.5, None])
def test_slow_annotators_are_asked_at_the_end(store_path: Path, value: float | None) -> None:
    slow = Slow("comet", value)
    number, method, tools = with_slow(store_path, slow)
    heard = Heard()
    execute_run(store_path, number, method, heard, Control(), tools=tools)
    assert heard.finished.card_hash
    assert "asking comet" in [each.doing for each in heard.progress]
    assert slow.closed
    if value is not None:
        assert slow.asked >= 6
        return
    scores = sealed_card(store_path)["scores"]
    assert scores["reasons"]["comet_score"] == "the model is gone"
    assert scores["chrf_plus_plus"] is not None


def test_tools_without_a_model_drop_its_metric(store_path: Path) -> None:
    slow = Slow("comet", None)
    assert constant().scoring.wanted == set(FEW)
    resources = Resources(surface_setup("en", "eo", []))
    left = without(ScoringTools(resources, make_scorer(resources), (slow,)), slow, "gone")
    assert (left.annotators, left.setup.off["comet_score"]) == ((), "gone")
    assert "comet_score" not in left.setup.metrics
    number, _, tools = with_slow(store_path)
    with closing(open_store(store_path)) as connection:
        before = connection.total_changes
        finish_scores(connection, number, tools, lambda words: None)
        assert connection.total_changes == before, "nothing is done twice where nothing is slow"


@pytest.mark.parametrize("other", [False, True], ids=["alone", "with-another-run"])
@pytest.mark.parametrize("end", [delete_run, trash])
def test_run_deleted_meanwhile_leaves_no_new_run(
    done: Path, end: Callable[[sqlite3.Connection, int], object], *, other: bool
) -> None:
    if other:
        run_corpus(done, corpus(8), constant())
    waiting = [1]

    def delete(_: str) -> None:
        if waiting and waiting.pop():
            with closing(open_store(done)) as second:
                end(second, run.id)

    with closing(open_store(done)) as connection:
        run = find_run(connection, "last")
        with pytest.raises(StoreError, match="deleted"):
            rescore(connection, run, ScoringOptions(metrics=("ter",)), delete)
    assert runs(done) == int(other)


def test_damaged_statistics_are_computed_again(done: Path) -> None:
    whole = sealed_card(done)
    for place, damage in enumerate(("c1", "90", "91a178"), 2):  # no msgpack, none, a word
        query(done, f"UPDATE results SET statistics = x'{damage}' WHERE position = {place}")
    card = rescored(done)
    assert card["scores"]["chrf_plus_plus"] == whole["scores"]["chrf_plus_plus"]
    assert verify_card(json.dumps(card).encode()).ok
    query(done, "UPDATE results SET trace = x'c1' WHERE position = 2")
    with pytest.raises(StoredValueError):
        rescored(done, metrics=("ter",))
    assert runs(done) == 2
