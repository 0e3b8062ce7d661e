"""Asking again for failed entries: a run of its own, with the good rows of the one before it."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.card.checking.verify import verify_card
from harness.card.load import load_card
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
from harness.store.runs import find_run
from rosetta_tui.request.suggesting import models
from tests.harness.evaluation import Heard, chat_plan, corpus, kept, query, resume, run_corpus
from tests.harness.scripted import Answer, Asked, Scripted, completion, error, json_answer

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


def card_of(path: Path, name: str = "last") -> dict[str, Any]:
    with closing(open_store(path)) as connection:
        return load_card(connection, find_run(connection, name).id).as_json()


@pytest.fixture
def failed(endpoint: Scripted, store_path: Path) -> str:
    """Return the id of a complete run with three failed entries of ten."""
    endpoint.answer = failing
    run_corpus(store_path, corpus(10), chat_plan(endpoint.url))
    endpoint.answer = right
    return kept(store_path).run.run_id


def test_only_the_failed_entries_are_asked_for_again(
    endpoint: Scripted, store_path: Path, failed: str
) -> None:
    before = kept(store_path)
    asked = len(endpoint.asked)
    heard = again(store_path)
    assert sorted(number_of(each) for each in endpoint.asked[asked:]) == sorted(FAILING)
    assert (heard.finished.done, heard.finished.failed) == (10, 0)
    after = kept(store_path)
    assert after.run.run_id != failed
    assert [each.output for each in after.results] == [f"ENTRY NUMBER {n}" for n in range(10)]
    assert kept(store_path, failed) == before


def test_the_card_names_the_run_the_entries_and_every_try(store_path: Path, failed: str) -> None:
    before = card_of(store_path, failed)
    again(store_path)
    card = card_of(store_path)
    told = card["retry_of"]
    assert (told["run_id"], told["run_card_hash"]) == (failed, before["run_card_hash"])
    assert (told["kept"], told["retried"], told["retried_entries"]) == (7, 3, sorted(FAILING))
    [part] = told["parts"]
    assert part["entries"] == 10
    assert part["setup"] == before["method"]
    tries = {row["entry_id"]: row["attempts"] for row in card["results"]}
    assert {number for number, count in tries.items() if count == 2} == FAILING
    assert card["retries"]["retried_entries"] == 3
    assert verify_card(json.dumps(card).encode()).ok


def test_the_same_settings_are_the_same_experiment(store_path: Path, failed: str) -> None:
    again(store_path, concurrency=2, timeout_seconds=5.0, most_attempts=3)
    old, new = card_of(store_path, failed), card_of(store_path)
    assert new["fingerprint"] == old["fingerprint"]
    assert new["model_slug"] == "mock"


@pytest.mark.parametrize(
    "changes",
    [{"model": "other"}, {"temperature": 0.7}, {"temperature": None}, {"max_tokens": 9},
     {"prompt": "analyse-v1"}, {"body": {"top_p": 0.5}}],
    ids=lambda changes: "-".join(f"{name}" for name in changes),
)  # fmt: skip
def test_other_settings_are_never_passed_off_as_one_models(
    store_path: Path, failed: str, changes: dict[str, Any]
) -> None:
    if "prompt" in changes:
        changes = {"prompt": "plain-v1", "condition": "second"}
    again(store_path, **changes)
    old, card = card_of(store_path, failed), card_of(store_path)
    assert card["fingerprint"]["setup_hash"] != old["fingerprint"]["setup_hash"]
    first, second = card["retry_of"]["parts"]
    assert (first["entries"], second["entries"]) == (7, 3)
    assert first["setup"] == old["method"]
    hashes = {card["fingerprint"]["setup_hash"], first["setup_hash"], second["setup_hash"]}
    assert len(hashes) == 3
    assert first["setup_hash"] == old["fingerprint"]["setup_hash"]
    [told] = card["method"]["options"]["retried_with"]
    assert all(second["setup"][name] == value for name, value in told.items())
    assert "retry" in card["condition"]
    assert verify_card(json.dumps(card).encode()).ok


def test_two_models_stand_in_the_name(endpoint: Scripted, store_path: Path, failed: str) -> None:
    def named(asked: Asked) -> Answer:
        body = completion(asked.source.upper())
        return json_answer({**body, "model": asked.body["model"]})

    endpoint.answer = named
    again(store_path, model="other")
    card = card_of(store_path)
    assert card["model_slug"] == "mock + other"
    assert "other" in card["model_id"]
    assert models(store_path, endpoint.url).keys() == {"mock"}, "a form offers no two as one"


def test_what_fails_again_can_be_retried_again(
    endpoint: Scripted, store_path: Path, failed: str
) -> None:
    def half(asked: Asked) -> Answer:
        bad = number_of(asked) in {4, 7}
        return error(400) if bad else right(asked)

    endpoint.answer = half
    again(store_path, model="second")
    middle = card_of(store_path)
    assert middle["scores"]["errors"] == 2
    endpoint.answer = right
    again(store_path, model="third")
    card = card_of(store_path)
    assert card["model_slug"] == "mock + second + third"
    assert [part["entries"] for part in card["retry_of"]["parts"]] == [7, 1, 2]
    assert card["retry_of"]["run_id"] == middle["run_id"]
    assert {row["entry_id"]: row["attempts"] for row in card["results"]}[4] == 3
    assert verify_card(json.dumps(card).encode()).ok


def test_what_the_run_before_paid_is_not_paid_again(
    endpoint: Scripted, store_path: Path, prices: Path
) -> None:
    endpoint.answer = failing
    run_corpus(store_path, corpus(10), chat_plan(endpoint.url, prices=prices))
    old = card_of(store_path)
    endpoint.answer = right
    heard = again(store_path, budget_usd=10.0)
    card = card_of(store_path)
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


def test_a_retry_that_was_cut_goes_on(endpoint: Scripted, store_path: Path, failed: str) -> None:
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
    card = card_of(store_path)
    assert card["model_slug"] == "mock + other"
    assert {row["attempts"] for row in card["results"] if row["entry_id"] in FAILING} == {2}


def test_coaching_of_a_retry_changes_no_score(
    endpoint: Scripted, store_path: Path, tmp_path: Path
) -> None:
    """Terms are scored as they were: otherwise the two halves were scored differently."""
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    for path, word in ((first, "ENTRY"), (second, "NUMBER")):
        path.write_text(json.dumps({"dictionary": {word.lower(): word}}), "utf-8")
    endpoint.answer = failing
    plan = chat_plan(endpoint.url, coaching=first)
    run_corpus(store_path, corpus(10), plan)
    endpoint.answer = right
    old = card_of(store_path)
    again(store_path, heard=Heard(react=lambda _, control: control.stop()), coaching=second)
    assert resume(store_path).finished.card_hash
    card = card_of(store_path)
    assert card["scoring"]["terms_sha256"] == old["scoring"]["terms_sha256"]
    assert card["scores"]["terminology_adherence"] == 1.0


def test_the_score_is_told_with_and_without_them(
    endpoint: Scripted, store_path: Path, failed: str
) -> None:
    endpoint.answer = wrong
    again(store_path)
    before, after = card_of(store_path, failed), card_of(store_path)
    with closing(open_store(store_path)) as connection:
        told = retried_scores(connection, find_run(connection, "last"))
        assert retried_scores(connection, find_run(connection, failed)) is None
    assert told is not None
    assert (told.asked, told.failed, told.kept) == (3, 0, 7)
    assert told.without["chrf_plus_plus"] == pytest.approx(100)
    assert told.without["exact_match_rate"] == 1.0
    assert after["scores"]["exact_match_rate"] == 0.7
    assert told.before["chrf_plus_plus"] == before["scores"]["chrf_plus_plus"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"models": "x"}, "'models' cannot be changed"),
        ({"source_language": "fr"}, "'source_language' cannot be changed"),
        ({"temperature": 9.0}, "temperature"),
        ({"concurrency": 0}, "concurrency"),
        ({"glossary": Path("x")}, "--glossary does not apply"),
    ],
    ids=["unknown", "language", "range", "run", "stray"],
)
def test_a_wrong_change_makes_no_run(
    store_path: Path, failed: str, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        again(store_path, **changes)
    assert query(store_path, "SELECT count(*) FROM runs") == [(1,)]


def test_what_cannot_be_retried_is_said_with_the_mend(endpoint: Scripted, store_path: Path) -> None:
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


def test_secret_entries_stay_on_this_machine(
    endpoint: Scripted, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(store_path.parent))
    remember(endpoint.url)
    endpoint.answer = failing
    run_corpus(store_path, corpus(10, segment="held_out"), chat_plan(endpoint.url))
    with pytest.raises(UsageError, match="secret segment"):
        again(store_path, endpoint="https://example.org/v1")
    again(store_path, offline=False)
    card = card_of(store_path)
    assert kept(store_path).run.plan["run"]["offline"] is True
    assert "entry number" not in json.dumps(card)
    assert card["retry_of"]["retried"] == len(FAILING)
    assert card["retry_of"]["retried_entries"] == []


def test_the_list_tells_where_a_run_goes_back_to(store_path: Path, failed: str) -> None:
    again(store_path)
    with closing(open_store(store_path)) as connection:
        assert [run.retry_of for run in list_runs(connection)] == [failed, ""]


def setup(model: str, **more: Any) -> Setup:
    told = {"method": "chat", "method_class": MethodClass.RAW_LLM, "method_version": "1",
            "model_slug": model, "condition": "c"}  # fmt: skip
    return Setup(**(told | more))


def test_parts_keep_account_of_every_entry() -> None:
    parts = with_part([SetupPart(setup("a"))], setup("b"), {1, 2, 3})
    parts = with_part(parts, setup("c"), {2, 3})
    parts = with_part(parts, setup("b"), {3})
    told = [(part.setup.model_slug, sorted(part.positions)) for part in parts]
    assert told == [("a", []), ("c", [2]), ("b", [1, 3])]
    assert with_part(parts, setup("a"), {1, 2, 3}) == [SetupPart(setup("a"))]
    assert whole_setup([SetupPart(setup("a"))]) == setup("a")
    whole = whole_setup(parts)
    assert (whole.model_slug, whole.condition) == ("a + c + b", "c + retry")


def test_parts_are_read_back_from_a_run(store_path: Path, failed: str) -> None:
    again(store_path, model="other")
    with closing(open_store(store_path)) as connection:
        first, second = parts_of(find_run(connection, "last"))
    assert (first.positions, second.positions) == (frozenset(), frozenset(FAILING))
    assert second.setup.model_slug == "other"


def test_a_run_that_was_deleted_meanwhile_is_not_asked_again(store_path: Path, failed: str) -> None:
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, failed)
        trash(connection, run.id)
        with pytest.raises(StoreError, match="has been deleted"):
            retry(connection, run, {}, no_key)
        assert list_runs(connection) == []
