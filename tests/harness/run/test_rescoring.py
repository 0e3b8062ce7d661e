"""Scoring a finished run again: a record of its own, no method called, the old one untouched."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpora.files.problems import StoredValueError
from corpora.languages.shipped.epo.build import ANALYSER
from corpora.model.entry import Entry
from harness.card.checking.verify_card import verify_card
from harness.core.failures import HarnessError, StoreError, UsageError
from harness.endpoint.endpoints import no_key
from harness.method.method import MethodClass, Setup
from harness.privacy import remember
from harness.run import rescoring
from harness.run.beginning import tools_for
from harness.run.events import Control, EntryScored, Event
from harness.run.final_scores import retried_scores, retry
from harness.run.rescoring import rescore
from harness.run.running import execute_run
from harness.setup.scoring_options import ScoringOptions
from harness.store.deletion import delete_run, trash
from harness.store.live_runs import spent_usd
from harness.store.mixed_setups import parts_of, whole_setup, with_part
from harness.store.run_list import list_runs
from harness.store.runs import find_run, read_run
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import SetupPart
from scoring.core.setup import Translation
from tests.harness.evaluation import (
    Heard,
    begun,
    chat_plan,
    corpus,
    corpus_of,
    kept,
    query,
    rescored,
    resume,
    run_corpus,
    sealed_card,
    whole_card,
)
from tests.harness.run.made import FEW, constant
from tests.harness.scripted import Answer, Asked, Scripted, completion, error, json_answer, serving
from tests.harness.sealed.refusals import refuses


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
    other = done.with_name("other.sqlite")
    run_corpus(other, corpus(4, variants=("ENTRY NUMBER 3",)), constant())
    assert rescored(other, metrics=FEW, multi_ref=True)["scores"]["chrf_plus_plus"] == 100
    assert runs(other) == 2
    begun(other, corpus(3), constant())
    refuses(UsageError, "not complete", rescored, other)
    run_corpus(other, corpus(4, segment="held_out"), constant())
    card = rescored(other, metrics=("ter",))
    assert card["scores"]["ter"] is not None
    assert all(row["withheld"] and row["predicted"] is None for row in card["results"])
    assert "ENTRY NUMBER" not in json.dumps(card["results"])


class SlowAnnotator:
    """In the place of a model: notes how many outputs were stored when it was asked."""

    id, slow = "comet", True

    def __init__(self, path: Path) -> None:
        self._path = path
        self.stored: list[int] = []
        self.closed = False

    def annotate(self, translations: Sequence[Translation]) -> list[float]:
        self.stored.append(len(kept(self._path).results))
        return [0.5] * len(translations)

    def close(self) -> None:
        self.closed = True


def test_slow_annotators_are_asked_when_all_outputs_are_in(store_path: Path) -> None:
    given, plan, slow = corpus(6), constant(), SlowAnnotator(store_path)
    with closing(open_store(store_path)) as connection:
        tools = replace(tools_for(connection, given, given.entries, plan), annotators=(slow,))
    number, method = begun(store_path, given, plan)
    heard = Heard()
    execute_run(store_path, number, method, heard, heard.control, tools=tools)
    assert set(slow.stored) == {6}
    assert slow.closed
    assert "asking comet" in [each.doing for each in heard.progress]
    assert heard.finished.card_hash


def test_card_names_only_a_file_of_comet_scores_that_fits(store_path: Path, tmp_path: Path) -> None:
    file = tmp_path / "comet_given.txt"
    for lines, value in ((5, None), (4, 0.5)):
        file.write_text("0.5\n" * lines, "utf-8")
        scoring = ScoringOptions(comet=file)
        plan = constant().model_copy(update={"scoring": scoring})
        run_corpus(store_path, corpus(4), plan)
        card = sealed_card(store_path)
        scores = card["scores"]
        assert scores["comet_score"] == value
        if value is None:
            assert "4" in scores["reasons"]["comet_score"]
            assert (scores["comet_model"], card["scoring"]["comet"]) == ("", None)
        else:
            assert "comet_given" in scores["comet_model"]


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


@pytest.mark.parametrize("at", ["sealed_card", "store_card"])
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
    refuses(KeyboardInterrupt, "", rescored, done, metrics=("ter",))
    assert runs(done) == 1
    assert writable == [at == "sealed_card"], "the slow part keeps no other process from writing"


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
        refuses(StoreError, "deleted", rescore, connection, run, ScoringOptions(metrics=("ter",)), delete)
    assert runs(done) == int(other)


def test_damaged_statistics_are_computed_again(done: Path) -> None:
    whole = sealed_card(done)
    for place, damage in enumerate(("c1", "90", "91a178"), 2):  # no msgpack, none, a word
        query(done, f"UPDATE results SET statistics = x'{damage}' WHERE position = {place}")
    card = rescored(done)
    assert card["scores"]["chrf_plus_plus"] == whole["scores"]["chrf_plus_plus"]
    assert verify_card(json.dumps(card).encode()).ok
    query(done, "UPDATE results SET trace = x'c1' WHERE position = 2")
    refuses(StoredValueError, "", rescored, done, metrics=("ter",))
    assert runs(done) == 2


FAILING = {1, 4, 7}


def failing(asked: Asked) -> Answer:
    return error(400) if number_of(asked) in FAILING else right(asked)


def right(asked: Asked) -> Answer:
    return json_answer(completion(f"ENTRY NUMBER {number_of(asked)}"))


def number_of(asked: Asked) -> int:
    found = re.search(r"entry number (\d+)", asked.source)
    assert found is not None
    return int(found[1])


def again(path: Path, name: str = "last", heard: Heard | None = None, **changes: Any) -> Heard:
    """Retry a run and bring the new one as far as it goes."""
    heard = heard or Heard()
    with closing(open_store(path)) as connection:
        made = retry(connection, find_run(connection, name), changes, no_key)
    execute_run(path, made.number, made.cleared, heard, heard.control, tools=made.tools)
    return heard


@pytest.fixture(scope="module")
def server() -> Iterator[Scripted]:
    with serving() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def half_failed(server: Scripted, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a complete run with three failed entries of ten."""
    server.answer = failing
    path = tmp_path_factory.mktemp("failed") / "rosetta.sqlite"
    run_corpus(path, corpus(10), chat_plan(server.url))
    return path


@pytest.fixture
def endpoint(server: Scripted) -> Scripted:
    server.asked.clear()
    server.answer = right
    return server


@pytest.fixture
def failed(endpoint: Scripted, half_failed: Path, store_path: Path) -> str:
    """Return the id of that run, in a store of the test's own."""
    store_path.parent.mkdir()
    shutil.copy(half_failed, store_path)
    return kept(store_path).run.run_id


def test_only_failures_are_asked_again(endpoint: Scripted, store_path: Path, failed: str) -> None:
    before, old = kept(store_path), whole_card(store_path)
    heard = again(store_path, concurrency=2, timeout_seconds=5.0, most_attempts=3)
    assert sorted(number_of(each) for each in endpoint.asked) == sorted(FAILING)
    assert (heard.finished.done, heard.finished.failed) == (10, 0)
    after = kept(store_path)
    assert after.run.run_id != failed
    assert [each.output for each in after.results] == [f"ENTRY NUMBER {n}" for n in range(10)]
    assert kept(store_path, failed) == before
    card = whole_card(store_path)
    told = card["retry_of"]
    assert (told["run_id"], told["run_card_hash"]) == (failed, old["run_card_hash"])
    assert (told["kept"], told["retried"], told["retried_entries"]) == (7, 3, sorted(FAILING))
    [part] = told["parts"]
    assert (part["entries"], part["setup"]) == (10, old["method"])
    tries = {row["entry_id"]: row["attempts"] for row in card["results"]}
    assert {number for number, count in tries.items() if count == 2} == FAILING
    assert card["retries"]["retried_entries"] == 3
    assert verify_card(json.dumps(card).encode()).ok
    assert card["fingerprint"] == old["fingerprint"], "the same settings are the same experiment"
    assert card["model_slug"] == "mock"
    with closing(open_store(store_path)) as connection:
        assert [run.retry_of for run in list_runs(connection)] == [failed, ""]


def test_other_settings_make_a_second_part(store_path: Path, failed: str) -> None:
    """Never passed off as one model's."""
    table: list[dict[str, Any]] = [
        {"model": "other"}, {"temperature": 0.7}, {"temperature": None}, {"max_tokens": 9},
        {"body": {"top_p": 0.5}}, {"prompt": "plain-v1", "condition": "second"},
    ]  # fmt: skip
    with closing(open_store(store_path)) as connection:
        old = find_run(connection, failed)
        hashes = {old.setup_hash}
        for changes in table:
            run = read_run(connection, retry(connection, old, changes, no_key).number)
            first, second = parts_of(run)
            assert (first.setup, second.positions) == (old.setup, frozenset(FAILING))
            assert "retry" in run.setup.condition
            hashes.add(run.setup_hash)
    assert len(hashes) == len(table) + 1
    again(store_path, failed, temperature=0.7, max_tokens=9)
    old_card, card = whole_card(store_path, failed), whole_card(store_path)
    one, two = card["retry_of"]["parts"]
    assert (one["entries"], two["entries"]) == (7, 3)
    assert one["setup"] == old_card["method"]
    assert one["setup_hash"] == old_card["fingerprint"]["setup_hash"]
    assert len({card["fingerprint"]["setup_hash"], one["setup_hash"], two["setup_hash"]}) == 3
    assert card["method"]["options"]["retried_with"] == [{"temperature": 0.7, "max_tokens": 9}]
    assert (two["setup"]["temperature"], two["setup"]["max_tokens"]) == (0.7, 9)
    assert verify_card(json.dumps(card).encode()).ok


def test_failed_retry_is_retried_again(endpoint: Scripted, store_path: Path, failed: str) -> None:
    def half(asked: Asked) -> Answer:
        bad = number_of(asked) in {4, 7}
        return error(400) if bad else right(asked)

    endpoint.answer = half
    again(store_path, model="second")
    middle = whole_card(store_path)
    assert middle["scores"]["errors"] == 2
    endpoint.answer = right
    again(store_path, model="third")
    card = whole_card(store_path)
    assert card["model_slug"] == "mock + second + third"
    assert [part["entries"] for part in card["retry_of"]["parts"]] == [7, 1, 2]
    assert card["retry_of"]["run_id"] == middle["run_id"]
    assert {row["entry_id"]: row["attempts"] for row in card["results"]}[4] == 3
    assert verify_card(json.dumps(card).encode()).ok


def test_retry_pays_its_own_calls(endpoint: Scripted, store_path: Path, prices: Path) -> None:
    endpoint.answer = failing
    run_corpus(store_path, corpus(10), chat_plan(endpoint.url, prices=prices))
    old = whole_card(store_path)
    endpoint.answer = right
    heard = again(store_path, budget_usd=10.0)
    card = whole_card(store_path)
    rows = {row["entry_id"]: row for row in card["results"]}
    assert all(rows[n]["spent_usd"] == 0 for n in range(10) if n not in FAILING)
    assert all(rows[n]["spent_usd"] > 0 for n in FAILING)
    assert card["cost"]["total_cost_usd"] > old["cost"]["total_cost_usd"]
    assert card["budget"]["budget_usd"] == 10.0
    assert card["elapsed_seconds"] > old["elapsed_seconds"]
    with closing(open_store(store_path)) as connection:
        paid = spent_usd(connection, find_run(connection, "last").id)
    assert paid == pytest.approx(sum(rows[n]["spent_usd"] for n in FAILING))
    assert heard.finished.card_hash


def test_cut_retry_goes_on(endpoint: Scripted, store_path: Path, failed: str) -> None:
    """Whatever it was told otherwise, resume needs nothing but its name."""

    def stop(event: Event, control: Control) -> None:
        if isinstance(event, EntryScored):
            control.stop()

    def last_takes_long(asked: Asked) -> Answer:
        seconds = 20 if number_of(asked) == max(FAILING) else 0
        return json_answer(completion(f"ENTRY NUMBER {number_of(asked)}"), seconds=seconds)

    endpoint.answer = last_takes_long
    heard = again(store_path, heard=Heard(react=stop), model="other", concurrency=1)
    endpoint.answer = right
    assert heard.finished.card_hash is None
    assert 7 < heard.finished.done < 10
    assert resume(store_path).finished.card_hash
    card = whole_card(store_path)
    assert card["model_slug"] == "mock + other"
    assert {row["attempts"] for row in card["results"] if row["entry_id"] in FAILING} == {2}


def test_coaching_changes_no_score(endpoint: Scripted, store_path: Path, tmp_path: Path) -> None:
    """Terms are scored as they were: otherwise the two halves were scored differently."""
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    for path, word in ((first, "ENTRY"), (second, "NUMBER")):
        path.write_text(json.dumps({"dictionary": {word.lower(): word}}), "utf-8")
    endpoint.answer = failing
    plan = chat_plan(endpoint.url, coaching=first, metrics=("terminology_adherence",))
    run_corpus(store_path, corpus(10), plan)
    endpoint.answer = right
    old = whole_card(store_path)
    again(store_path, heard=Heard(react=lambda _, control: control.stop()), coaching=second)
    assert resume(store_path).finished.card_hash
    card = whole_card(store_path)
    assert card["scoring"]["terms_sha256"] == old["scoring"]["terms_sha256"]
    assert card["scores"]["terminology_adherence"] == 1.0


def test_scores_with_and_without_retried(endpoint: Scripted, store_path: Path, failed: str) -> None:
    endpoint.answer = lambda _: json_answer(completion("nothing alike"))
    again(store_path)
    before, after = whole_card(store_path, failed), whole_card(store_path)
    with closing(open_store(store_path)) as connection:
        told = retried_scores(connection, find_run(connection, "last"))
        assert retried_scores(connection, find_run(connection, failed)) is None
    assert told is not None
    assert (told.asked, told.failed, told.kept) == (3, 0, 7)
    assert told.without["chrf_plus_plus"] == pytest.approx(100)
    assert told.without["exact_match_rate"] == 1.0
    assert after["scores"]["exact_match_rate"] == 0.7
    assert told.before["chrf_plus_plus"] == before["scores"]["chrf_plus_plus"]


def test_wrong_change_or_deleted_run_makes_none(store_path: Path, failed: str) -> None:
    for changes, words in (
        ({"models": "x"}, "'models' cannot be changed"),
        ({"source_language": "fr"}, "'source_language' cannot be changed"),
        ({"temperature": 9.0}, "temperature"),
        ({"concurrency": 0}, "concurrency"),
        ({"glossary": Path("x")}, "--glossary does not apply"),
    ):
        with pytest.raises(UsageError, match=words):
            again(store_path, **changes)
    assert query(store_path, "SELECT count(*) FROM runs") == [(1,)]
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, failed)
        trash(connection, run.id)
        refuses(StoreError, "has been deleted", retry, connection, run, {}, no_key)
        assert list_runs(connection) == []


def test_nothing_to_retry_is_refused(endpoint: Scripted, store_path: Path) -> None:
    run_corpus(store_path, corpus(3), chat_plan(endpoint.url))
    refuses(UsageError, "No entry of run", again, store_path)
    endpoint.answer = failing
    run_corpus(
        store_path, corpus(10), chat_plan(endpoint.url, run={"concurrency": 1}),
        Heard(react=lambda _, control: control.drain()),
    )  # fmt: skip
    refuses(UsageError, r"rosetta resume \w{8} --retry-failed", again, store_path)


def test_secrets_stay(endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(store_path.parent))
    remember(endpoint.url)
    endpoint.answer = failing
    run_corpus(store_path, corpus(10, segment="held_out"), chat_plan(endpoint.url))
    refuses(UsageError, "secret segment", again, store_path, endpoint="https://example.org/v1")
    again(store_path, offline=False)
    card = whole_card(store_path)
    plan: Any = kept(store_path).run.plan
    assert plan["run"]["offline"] is True
    assert "entry number" not in json.dumps(card)
    assert card["retry_of"]["retried"] == len(FAILING)
    assert card["retry_of"]["retried_entries"] == []


def setup(model: str, **more: Any) -> Setup:
    told = {"method": "chat", "method_class": MethodClass.RAW_LLM, "method_version": "1",
            "model_slug": model, "condition": "c"}  # fmt: skip
    return Setup(**(told | more))


def test_parts_account_for_every_entry() -> None:
    parts = with_part([SetupPart(setup("a"))], setup("b"), {1, 2, 3})
    parts = with_part(parts, setup("c"), {2, 3})
    parts = with_part(parts, setup("b"), {3})
    told = [(part.setup.model_slug, sorted(part.positions)) for part in parts]
    assert told == [("a", []), ("c", [2]), ("b", [1, 3])]
    assert with_part(parts, setup("a"), {1, 2, 3}) == [SetupPart(setup("a"))]
    assert whole_setup([SetupPart(setup("a"))]) == setup("a")
    whole = whole_setup(parts)
    assert (whole.model_slug, whole.condition) == ("a + c + b", "c + retry")
