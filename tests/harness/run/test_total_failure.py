"""Runs in which nothing worked, or could: stopped by themselves, not sealed, never claimed to be more."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from random import Random

import pytest

from benchmarks.floors import METHODS, Case, cases, references_of, without_analyser
from harness.core.calls import Request
from harness.core.failures import ErrorClass, NoServer
from harness.core.run_state import RunState
from harness.events.control import Control
from harness.events.kinds import EntryScored, Event
from harness.method.completions import read_completion
from harness.run.call_runner import not_there
from harness.run.loop import HOPELESS_FAILURES, SAME_FAILURES, Streak
from scoring.card.claim import ClaimReason
from scoring.core.specification import Tier
from tests.harness.evaluation import Heard, chat_plan, corpus, resume, run_corpus
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer, serving
from tests.outside import FST, TEXTS, skip_without
from tests.review.thorough import first


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_run_without_any_output_is_not_sealed_and_can_be_mended(
    endpoint: Scripted, store_path: Path, status: int
) -> None:
    endpoint.answer = lambda _: json_answer({"error": {"message": "no such thing"}}, status)
    first = run_corpus(store_path, corpus(2), chat_plan(endpoint.url))
    assert first.finished.state is RunState.STOPPED
    assert first.finished.card_hash is None
    assert f"HTTP {status}" in (first.finished.reason or "")

    again = resume(store_path)
    assert again.finished.state is RunState.STOPPED, "asking for nothing mends nothing"

    endpoint.answer = lambda asked: json_answer(completion(asked.source.upper()))
    mended = resume(store_path, retry_failed=True)
    assert mended.finished.state is RunState.COMPLETE
    assert mended.finished.failed == 0


def test_one_output_is_enough_for_a_card(endpoint: Scripted, store_path: Path) -> None:
    def answer(asked: Asked) -> object:
        good = asked.source.endswith("1")
        return json_answer(completion("x") if good else {"error": "no"}, 200 if good else 400)

    endpoint.answer = answer  # type: ignore[assignment]
    assert run_corpus(store_path, corpus(3), chat_plan(endpoint.url)).finished.card_hash


def test_empty_outputs_are_a_result(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda _: json_answer(completion(""))
    heard = run_corpus(store_path, corpus(3), chat_plan(endpoint.url))
    assert heard.finished.failed == 3
    assert heard.finished.card_hash


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_local_server_that_is_not_there_stops_the_run_at_once_and_costs_no_entry(
    endpoint: Scripted, store_path: Path, host: str
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    plan = chat_plan(f"http://{host}:{port}/v1", run={"most_attempts": 6, "concurrency": 8})
    heard = run_corpus(store_path, corpus(20), plan)
    assert heard.finished.state is RunState.STOPPED
    assert (heard.finished.done, heard.finished.failed) == (0, 0)
    assert "is the server running?" in (heard.finished.reason or "")
    assert heard.progress[-1].retries == 0
    with serving(lambda asked: json_answer(completion(asked.source.upper())), port=port):
        if host != "[::1]":
            assert resume(store_path).finished.card_hash


def test_a_server_that_goes_away_is_asked_again_and_its_entries_go_on_waiting(
    store_path: Path,
) -> None:
    answered = threading.Event()

    def answer(asked: Asked) -> Answer:
        answered.set()
        waits = closing is not None and asked.number > 3  # until the server has gone
        return json_answer(completion(asked.source.upper()), seconds=60 if waits else 0)

    def react(event: Event, _: Control) -> None:
        if isinstance(event, EntryScored) and closing is not None:
            closing.close()

    closing: ExitStack | None = ExitStack()
    with closing as stack:
        scripted = stack.enter_context(serving(answer))
        plan = chat_plan(scripted.url, run={"most_attempts": 2, "concurrency": 1})
        heard = run_corpus(store_path, corpus(12), plan, Heard(react=react))
    assert answered.is_set()
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.failed == 0
    assert heard.progress[-1].retries >= 1
    closing = None
    with serving(answer, port=scripted.port):
        finished = resume(store_path).finished
    assert (finished.state, finished.failed) == (RunState.COMPLETE, 0)


def test_a_preset_says_how_it_is_started() -> None:
    request = Request("ollama", "http://localhost:11434/v1", {}, read_completion)
    failure = NoServer(ErrorClass.CONNECTION, "No connection to localhost:11434.")
    assert str(not_there(request, failure)) == (
        "No connection to localhost:11434. Nothing listens there: is the server running? "
        "Start it with: ollama serve."
    )


def test_an_unknown_host_stops_the_run_at_once_and_costs_no_entry(store_path: Path) -> None:
    """RFC 6761: no name under .invalid has an address, with a network or without one."""
    plan = chat_plan(
        "https://nobody.invalid/v1",
        run={"most_attempts": 6, "concurrency": 8, "may_send": "its owner"},
    )
    heard = run_corpus(store_path, corpus(20), plan)
    assert (heard.finished.state, heard.finished.done) == (RunState.STOPPED, 0)
    assert "No address is known for nobody.invalid. Look at its spelling" in (
        heard.finished.reason or ""
    )
    assert heard.progress[-1].retries == 0


def first_stop(outcomes: list[tuple[ErrorClass | None, str | None]]) -> int | None:
    streak = Streak()
    for number, outcome in enumerate(outcomes, 1):
        if streak.note(*outcome) is not None:
            return number
    return None


@pytest.mark.parametrize("kind", [ErrorClass.AUTH, ErrorClass.OFFLINE])
def test_hopeless_failures_stop_after_three(kind: ErrorClass) -> None:
    assert HOPELESS_FAILURES == 3
    assert first_stop([(kind, "HTTP 401")] * 20) == 3


@pytest.mark.parametrize("kind", [ErrorClass.SERVER, ErrorClass.TIMEOUT, ErrorClass.METHOD])
def test_the_same_failure_stops_after_ten(kind: ErrorClass) -> None:
    assert SAME_FAILURES == 10
    assert first_stop([(kind, "the same")] * 20) == 10


def test_a_success_in_between_begins_anew() -> None:
    failures = [(ErrorClass.SERVER, "HTTP 500")] * 9
    assert first_stop([*failures, (None, None), *failures]) is None
    assert first_stop([*failures, (None, None), *failures, failures[0]]) == 20


def test_different_failures_are_no_streak() -> None:
    mixed = [(ErrorClass.SERVER, "HTTP 500"), (ErrorClass.TIMEOUT, "slow")] * 20
    assert first_stop(list(mixed)) is None


def test_request_numbers_and_times_do_not_hide_that_it_is_the_same_failure() -> None:
    """Providers put an id or a time into each message."""
    said = [
        (ErrorClass.SERVER, f"HTTP 500: Internal error. Request req_{n * 7919:x} at 12:00:{n:02}")
        for n in range(20)
    ]
    assert first_stop(list(said)) == 10


@pytest.mark.parametrize("kind", [ErrorClass.MISSING, ErrorClass.EMPTY, ErrorClass.NUMBERING])
def test_what_says_something_about_one_entry_only_never_stops_the_run(kind: ErrorClass) -> None:
    assert first_stop([(kind, "the same")] * 100) is None
    failures = [(ErrorClass.SERVER, "HTTP 500")] * 9
    assert first_stop([*failures, (kind, "empty"), failures[0]]) == 11


def test_the_reason_names_count_and_failure() -> None:
    streak = Streak()
    reasons = [streak.note(ErrorClass.AUTH, "HTTP 401: wrong key") for _ in range(3)]
    assert reasons[-1] == "3 entries in a row failed the same way (auth): HTTP 401: wrong key"


NAMES = ["demo", "mri", "crk 100, descriptive, unknown words"]


@cache
def case_of(name: str) -> Case:
    found = next((case for case in cases(name) if case.name == name), None)
    if found is None:
        skip_without(TEXTS)
        skip_without(FST)
        raise AssertionError(f"no corpus is called {name}")
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_no_worthless_method_claims_more_than_baseline(name: str, method: str) -> None:
    case = case_of(name)
    scores = case.judged(METHODS[method](case, Random(9)))
    assert scores.claimable_tier is Tier.BASELINE, scores.tier_in_words


@pytest.mark.parametrize("name", first(2, NAMES))
def test_references_reach_fluent_but_for_words_that_the_analyser_does_not_know(name: str) -> None:
    scores = references_of(case_of(name))
    assert without_analyser(scores) >= 0.97
    assert (scores.fst_acceptance_rate or 1.0) < 1.0 or scores.quality_tier is Tier.FLUENT
    assert scores.claim.claimable_tier is Tier.FUNCTIONAL
    assert [limit.reason for limit in scores.claim.limits] == [ClaimReason.REVIEW]
    assert scores.claim.caveats == ()


def test_one_valid_word_for_each_sentence_is_stopped_by_its_chrf() -> None:
    """It clears every composite floor of before: acceptance alone carries it."""
    case = case_of("crk 100, descriptive, unknown words")
    scores = case.judged(METHODS["one valid word"](case, Random(9)))
    lower = scores.confidence_intervals["composite"].ci_lower
    before = [case.floors[name].composite or 0.0 for name in ("empty", "source", "shuffled")]
    assert lower > max(before)
    assert ClaimReason.CHRF_FLOOR in {limit.reason for limit in scores.claim.limits}
