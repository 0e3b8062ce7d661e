"""Asking again for failed entries: a run of its own, with the good rows of the one before it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.card.checking.verify import verify_card
from harness.core.failures import StoreError, UsageError
from harness.endpoint.keys import no_key
from harness.events.control import Control
from harness.events.kinds import EntryScored, Event
from harness.method.method import MethodClass, Setup
from harness.privacy import remember
from harness.run.final_scores import retried_scores
from harness.run.retrying import retry
from harness.run.running import execute_run
from harness.store.deletion import trash
from harness.store.file.database import open_store
from harness.store.file.openings import SetupPart
from harness.store.holding import spent_usd
from harness.store.mixed_setups import parts_of, whole_setup, with_part
from harness.store.run_list import list_runs
from harness.store.runs import find_run, read_run
from rosetta_tui.request.suggesting import models
from tests.harness.evaluation import (
    Heard,
    chat_plan,
    corpus,
    kept,
    query,
    resume,
    run_corpus,
    whole_card,
)
from tests.harness.scripted import Answer, Asked, Scripted, completion, error, json_answer, serving

FAILING = {1, 4, 7}


def failing(asked: Asked) -> Answer:
    return error(400) if number_of(asked) in FAILING else right(asked)


def right(asked: Asked) -> Answer:
    return json_answer(completion(f"ENTRY NUMBER {number_of(asked)}"))


def number_of(asked: Asked) -> int:
    found = re.search(r"entry number (\d+)", asked.source)
    assert found is not None
    return int(found[1])


def wrong(asked: Asked) -> Answer:
    return json_answer(completion("nothing alike"))


def again(path: Path, name: str = "last", heard: Heard | None = None, **changes: Any) -> Heard:
    """Retry a run and bring the new one as far as it goes."""
    heard = heard or Heard()
    with closing(open_store(path)) as connection:
        made = retry(connection, find_run(connection, name), changes, no_key)
    execute_run(path, made.number, made.method, heard, heard.control, tools=made.tools)
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


def test_two_models_stand_in_the_name(endpoint: Scripted, store_path: Path, failed: str) -> None:
    def named(asked: Asked) -> Answer:
        body = completion(asked.source.upper())
        return json_answer({**body, "model": asked.body["model"]})

    endpoint.answer = named
    again(store_path, model="other")
    card = whole_card(store_path)
    assert card["model_slug"] == "mock + other"
    assert "other" in card["model_id"]
    assert models(store_path, endpoint.url).keys() == {"mock"}, "a form offers no two as one"


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
    endpoint.answer = wrong
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


def test_wrong_change_makes_no_run(store_path: Path, failed: str) -> None:
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


def test_nothing_to_retry_is_refused(endpoint: Scripted, store_path: Path) -> None:
    run_corpus(store_path, corpus(3), chat_plan(endpoint.url))
    with pytest.raises(UsageError, match="No entry of run"):
        again(store_path)
    endpoint.answer = failing
    run_corpus(
        store_path, corpus(10), chat_plan(endpoint.url, run={"concurrency": 1}),
        Heard(react=lambda _, control: control.drain()),
    )  # fmt: skip
    with pytest.raises(UsageError, match=r"rosetta resume \w{8} --retry-failed"):
        again(store_path)


def test_secret_entries_stay_here(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(store_path.parent))
    remember(endpoint.url)
    endpoint.answer = failing
    run_corpus(store_path, corpus(10, segment="held_out"), chat_plan(endpoint.url))
    with pytest.raises(UsageError, match="secret segment"):
        again(store_path, endpoint="https://example.org/v1")
    again(store_path, offline=False)
    card = whole_card(store_path)
    assert kept(store_path).run.plan["run"]["offline"] is True
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


def test_run_deleted_meanwhile_is_not_retried(store_path: Path, failed: str) -> None:
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, failed)
        trash(connection, run.id)
        with pytest.raises(StoreError, match="has been deleted"):
            retry(connection, run, {}, no_key)
        assert list_runs(connection) == []
