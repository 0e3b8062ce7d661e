"""The picture of a run follows from its events alone, and opened again; what its panels say."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.files.json_types import JsonObject
from harness.core.failures import ErrorClass, RunState
from harness.method.method import Result, Setup
from harness.run.events import EntryScored, Event, Failed, Progress, Started, Waiting
from harness.run.following import Follower
from harness.store.runs import find_run, read_card
from harness.store.sqlite.database import opened
from rosetta_tui.session.picture import RECENT, EntryState, LiveRun
from rosetta_tui.session.recorded import recorded, seal
from rosetta_tui.session.run_sources import retry
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import tier_words
from tests.harness.evaluation import chat_plan, corpus, resume, run_corpus
from tests.harness.scripted import Answer, Asked, completion, error, json_answer, serving
from tests.tui.scenes import DATASET, SETUP, finished, scene
from tests.tui.screens import App, at_rest, settle, text


def started(total: int) -> Started:
    return Started("r", SETUP, DATASET, tuple(range(total)), 0, (), {}, None, 0.0)


def scored(position: int, *, failed: bool = False) -> EntryScored:
    error = ErrorClass.TIMEOUT if failed else None
    return EntryScored("r", Result(position, position, None, b"", None, False, None, error))


def progress(**fields: Any) -> Progress:
    now = (fields.pop("elapsed_seconds", 1.0), 9, fields.pop("done", 0), 0)
    flight = (fields.pop("in_flight", ()), fields.pop("waiting", ()))
    return Progress("r", RunState.RUNNING, *now, *flight, 4, 8, 0, 0, **fields)


def test_each_entry_has_one_state() -> None:
    live = LiveRun()
    now = progress(in_flight=(1, 2), waiting=(Waiting(3, 2, 6, 1.0, "429"),))
    live.fold([started(6), now, scored(1), scored(4, failed=True)])
    states = [live.state(position) for position in range(6)]
    assert states == [
        EntryState.QUEUED, EntryState.DONE, EntryState.ASKED, EntryState.RETRYING,
        EntryState.FAILED, EntryState.QUEUED,
    ]  # fmt: skip
    assert (live.done, live.errors, live.asked, live.retrying, live.queued) == (2, 1, 1, 1, 2)
    assert live.newest == 4


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans(), st.booleans()), max_size=80))
def test_counts_are_those_of_the_states(steps: list[tuple[int, bool, bool]]) -> None:
    live = LiveRun()
    live.fold([started(31)])
    for position, failed, remembered in steps:
        if remembered:
            state = EntryState.FAILED if failed else EntryState.DONE
            live.remember(bytes(position) + bytes([state]))
        else:
            live.fold([scored(position, failed=failed)])
    states = [live.state(position) for position in range(31)]
    assert live.done == sum(state >= EntryState.DONE for state in states)
    assert live.errors == states.count(EntryState.FAILED)
    assert live.queued == states.count(EntryState.QUEUED)


def test_only_so_many_results_are_kept() -> None:
    live = LiveRun()
    live.fold([started(3 * RECENT), *(scored(position) for position in range(3 * RECENT))])
    assert len(live.recent) == RECENT
    assert min(live.recent) == 2 * RECENT
    assert live.done == 3 * RECENT


def test_rates_add_up_to_what_was_done() -> None:
    live = LiveRun()
    live.fold([started(9)])
    live.fold(progress(elapsed_seconds=float(second), done=second * 3) for second in range(31))
    rates = live.rates(10)
    assert len(rates) == 10
    assert rates == pytest.approx([3.0] * 10)


def test_a_run_says_in_one_word_how_it_stands(tmp_path: Path) -> None:
    live = LiveRun()
    assert live.state_word == "starting"
    made = scene(tmp_path / "s.sqlite", total=4, stored=4)
    live.fold([made.started(), made.progress(4, state=RunState.PAUSED)])
    assert live.state_word == "paused"
    live.fold([Failed(made.run_id, "no")])
    assert (live.state_word, live.over) == ("failed", True)
    events: list[Event] = [made.started(), finished(made)]
    live.fold(events)
    assert (live.state_word, live.complete) == ("complete", True)


@pytest.mark.parametrize(("low", "flagged"), [(0.20, True), (0.22, False)])
def test_run_below_the_floor_is_flagged(tmp_path: Path, low: float, flagged: bool) -> None:
    made = scene(tmp_path / "s.sqlite", total=4, stored=4)
    live = LiveRun()
    ends = {"composite": (low, 0.9), "chrf_plus_plus": (30.0, 90.0)}
    live.fold([made.started(), made.progress(4, intervals=ends)])
    assert live.best_floor is not None
    assert live.claim is not None
    assert (live.best_floor.name, live.claim.at_floor) == ("constant", flagged)


@pytest.mark.parametrize("killed", [True, False])
def test_nothing_is_asked_any_more_when_a_run_is_over(killed: bool, tmp_path: Path) -> None:
    live = LiveRun()
    live.fold([started(5), progress(in_flight=(1, 2), waiting=(Waiting(3, 1, 2, 4.0, "429"),))])
    assert (live.asked, live.retrying, live.queued) == (2, 1, 2)
    made = scene(tmp_path / "s.sqlite", total=5, stored=0)
    live.fold([Failed("r", "gone") if killed else finished(made, RunState.STOPPED)])
    made.close()
    assert (live.asked, live.retrying, live.queued) == (0, 0, 5)


def test_trouble_lasts_from_a_third_try_to_a_success(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=5, stored=5)
    fails, repeats, answers = (
        EntryScored("r", replace(made.results[0], error_class=kind, cached=cached))
        for kind, cached in ((ErrorClass.SERVER, False), (None, True), (None, False))
    )
    tries = [Waiting(3, 3, 6, 4.0, "503"), Waiting(4, 2, 6, 4.0, "timeout")]
    steps: list[tuple[Event, str | None]] = [
        (progress(in_flight=(), waiting=tuple(tries[1:])), None),  # a second try is nothing to report
        (progress(in_flight=(0, 1, 2), waiting=tuple(tries)), None),  # most calls are under way
        (progress(in_flight=(0,), waiting=tuple(tries)), "503"),
        (progress(in_flight=(0, 3, 4)), "503"),
        (fails, "503"),
        (repeats, "503"),  # of the cache, which says nothing of the endpoint
        (answers, None),
        (progress(in_flight=(0,), waiting=tuple(tries)), "503"),
        (Failed("r", "gone"), None),
    ]
    live = LiveRun()
    for event, trouble in [(started(5), None), *steps]:
        live.fold([event])
        assert live.trouble == trouble


REPLAY = SETUP.model_copy(update={"outputs_sha256": "ab" * 32})
NOTHING = {"cost_usd": 0.0, "spent_usd": 0.0}
WAITING = (Waiting(3, 3, 6, 75.0, "429"), Waiting(4, 2, 6, 12.4, "timeout"))
SAID: list[tuple[int, Setup, dict[str, Any], str]] = [
    (0, SETUP, NOTHING, "│ none of $0.0500 spent yet"),
    (3, SETUP, {**NOTHING, "failed": 3, "budget_usd": None}, "nothing spent yet"),
    (3, SETUP, NOTHING, "free of $0.0500 budget"),
    (3, SETUP, {"tokens": 1580, "tokens_untold": 4}, "at least 1,580 tokens"),
    (3, SETUP, {"tokens": 1580}, "│ 1,580 tokens"),
    (3, SETUP, {"tokens": 1}, "│ 1 token "),
    (3, SETUP, {"tokens": None}, "tokens unknown"),
    (3, SETUP, {"waiting": WAITING}, "not next try in 00:12"),
    (3, SETUP, {"waiting": WAITING, "in_flight": ()}, "next try in 00:12"),
    (3, SETUP, {"waiting": WAITING, "in_flight": ()}, "ollama asks for fewer calls (429): 2 entries wait for another try."),
    (3, SETUP, {"waiting": (Waiting(3, 3, 6, 9.0, "connection"),), "in_flight": ()},
     "ollama cannot be reached (connection): 1 entry waits for another try. Check that it runs, and the network."),
    (3, SETUP, {"waiting": (Waiting(3, 3, 6, 9.0, "503"),), "in_flight": ()}, "ollama reports a server error (503)"),
    (3, SETUP, {"waiting": (Waiting(3, 3, 6, 9.0, "empty"),), "in_flight": ()}, "ollama sends no usable answer (empty)"),
    (3, SETUP, {"in_flight": (3,), "waiting": ()}, "ollama sends no usable answer (empty). Its log says more."),
    (3, REPLAY, {"per_minute": 15_112.0, "p50_seconds": 0.77}, "as recorded"),
    (3, REPLAY, {"per_minute": 418.0, "p50_seconds": 0.77}, "not as recorded"),
    (3, SETUP, {"per_minute": 15_112.0, "p50_seconds": 0.77}, "not as recorded"),
    (3, SETUP, {"intervals": {"composite": (0.1, 0.9)}, "values": {"composite": 0.55}},
     "baseline (composite not clear of the floor"),
]  # fmt: skip
"""What a run says whose progress stands so, or does not say."""


async def test_panels_say_what_is_known_of_money_tokens_and_speed(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=20, stored=3)
    async with at_rest(App(made, watch=True), (160, 36)) as (app, pilot):
        for done, setup, changes, words in SAID:
            made.play([replace(made.started(), setup=setup), made.progress(done, **changes)])
            await settle(pilot)
            assert (words.removeprefix("not ") in text(app)) is not words.startswith("not "), words


def test_a_failed_entry_was_not_free() -> None:
    assert figures.charged(0.0, failed=True) == figures.NONE
    assert figures.charged(0.0, failed=False) == "free"
    assert figures.charged(0.02, failed=True) == "$0.0200"


@pytest.mark.parametrize(
    ("least", "words"),
    [(0.1, "composite not clearly above the floor: interval reaches 0.10"), (0.25, "not above the floor")],
)  # fmt: skip
def test_a_card_says_how_it_stands_to_its_floors(least: float, words: str) -> None:
    ends: JsonObject = {"composite": {"ci_lower": least, "ci_upper": 0.9}}
    scores: JsonObject = {"composite": 0.55, "at_floor": True, "confidence_intervals": ends}
    card: JsonObject = {"scores": scores, "floors": [{"name": "constant", "composite": 0.21}, {"name": "x"}]}
    assert tier_words(card) == f"baseline (automatic 0.55; {words})"


def reopened(path: Path) -> Progress:
    """Return the figures of the newest run, opened anew."""
    with opened(path) as store:
        run, live = find_run(store, "last"), LiveRun()
        live.fold(recorded(store, run.run_id))
        seal(live, read_card(store, run.id) or {})
    assert live.progress is not None
    return live.progress


def followed(path: Path) -> Progress:
    """Return the figures of the newest run, looked at from the outside."""
    with closing(Follower(path, "last")) as follower:
        [*_, end] = [each for each in follower.drain() if isinstance(each, Progress)]
    return end


def test_all_who_look_count_tokens_and_own_tries_as_live(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with serving() as endpoint:
        broken, hasty = {"entry number 2"}, {"entry number 1", "entry number 3"}

        def answer(asked: Asked) -> Answer:
            found = {each for each in broken | hasty if each in asked.source}
            if found & hasty:
                hasty.difference_update(found)
                return error(429, headers={"retry-after": "0"})
            return error(400) if found else json_answer(completion(asked.source))

        endpoint.answer = answer
        plan = chat_plan(endpoint.url, run={"concurrency": 3, "most_attempts": 2})
        heard = run_corpus(path, corpus(6), plan)
        live = heard.progress[-1]
        assert (live.retries, live.rate_limited, live.tokens_untold) == (2, 2, 1)
        assert _counts(path) == {(2, 2)}
        end = reopened(path)
        assert (end.tokens, end.tokens_untold) == (live.tokens, 1)
        with opened(path) as store:
            store.execute("UPDATE runs SET run_card = NULL, state = 'stopped', live = NULL")
        assert _counts(path, complete=False) == {(2, 2)}
        with opened(path) as store:
            whole = store.execute("SELECT trace, run, position FROM results").fetchall()
            store.execute("UPDATE results SET trace = x'c1' WHERE position = 1")
        assert (followed(path).retries, followed(path).rate_limited) == (2, 1), "one is damaged"
        with opened(path) as store:
            store.executemany("UPDATE results SET trace = ? WHERE run = ? AND position = ?", whole)
        resume(path)
        broken.clear()
        hasty.add("entry number 2")
        engine = retry(path, heard.finished.run_id, {})
        engine.start()
        engine.result()
    [*_, end] = [each for each in engine.events.drain() if isinstance(each, Progress)]
    assert end.retries == 1
    assert _counts(path) == {(1, 1)}, "the tries of the kept entries are the first run's"


def _counts(path: Path, *, complete: bool = True) -> set[tuple[int, int]]:
    """Return the retries and the 429 replies that those who look at the newest run count."""
    looks = (reopened, followed) if complete else (followed,)
    return {(each.retries, each.rate_limited) for each in (look(path) for look in looks)}


def test_change_is_that_of_the_last_fifty_entries(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=200, stored=1)
    live = LiveRun()
    live.fold([made.started()])
    for done in range(99):
        live.fold([replace(made.progress(1), done=done, values={"chrf_plus_plus": float(done)})])
        assert live.change("chrf_plus_plus") is None, "there are not yet two times fifty"
    live.fold([replace(made.progress(1), done=120, values={"chrf_plus_plus": 60.0})])
    assert live.change("chrf_plus_plus") == 60.0 - 70.0
    assert live.change("bleu") is None
    live.fold([finished(made)])
    assert live.change("chrf_plus_plus") is None, "a run that is over changes no more"
