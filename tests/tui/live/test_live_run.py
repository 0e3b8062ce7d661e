"""The picture of a run follows from its events alone, opened again and played back; what its panels say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from harness.core.failures import ErrorClass, UsageError
from harness.core.run_state import RunState
from harness.events.following import Follower
from harness.events.kinds import EntryScored, Event, Failed, Finished, Progress, Started, Waiting
from harness.method.method import Result, Setup
from harness.store.file.database import opened
from harness.store.runs import find_run, read_card, set_live
from rosetta_tui.entry.screen import EntryScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.replay.screen import ReplayScreen
from rosetta_tui.replay.timeline import Jump, Playback
from rosetta_tui.session.picture import RECENT, EntryState, LiveRun
from rosetta_tui.session.recorded import recorded, seal
from rosetta_tui.session.starting import retry
from rosetta_tui.show import figures
from rosetta_tui.show.card_fields import tier_words
from tests.harness.evaluation import chat_plan, corpus, resume, run_corpus
from tests.harness.scripted import Answer, Asked, completion, error, json_answer, serving
from tests.review.thorough import examples
from tests.tui import screens
from tests.tui.golden import SMALL, look
from tests.tui.scenes import DATASET, SETUP, Scene, finished, intervals_of, scene, sealed, values_of
from tests.tui.screens import App, at_rest, press, settle, text


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
    (3, REPLAY, {"per_minute": 15_112.0, "p50_seconds": 0.77}, "s recorded"),
    (3, REPLAY, {"per_minute": 418.0, "p50_seconds": 0.77}, "not s recorded"),
    (3, SETUP, {"per_minute": 15_112.0, "p50_seconds": 0.77}, "not s recorded"),
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
    ends = {"composite": {"ci_lower": least, "ci_upper": 0.9}}
    scores = {"composite": 0.55, "at_floor": True, "confidence_intervals": ends}
    card = {"scores": scores, "floors": [{"name": "constant", "composite": 0.21}, {"name": "x"}]}
    assert tier_words(card) == f"baseline (automatic 0.55; {words})"


def reopened(path: Path) -> Progress:
    """Return the figures of the newest run, opened anew."""
    with opened(path) as store:
        run, live = find_run(store, "last"), LiveRun()
        live.fold(recorded(store, run.run_id))
        seal(live, read_card(store, run.id) or {})
    assert live.progress is not None
    return live.progress


def replayed(path: Path) -> Progress:
    """Return the figures of the newest run, played to its end."""
    with opened(path) as store:
        playback = Playback(store, find_run(store, "last").run_id)
        [*_, end] = [e for e in playback.move_to(playback.duration) if isinstance(e, Progress)]
    return end


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
        for end in (reopened(path), replayed(path)):
            assert (end.tokens, end.tokens_untold) == (live.tokens, 1)
        assert replayed(path).most_concurrency == live.most_concurrency == 3
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
    looks = (reopened, replayed, followed) if complete else (replayed, followed)
    return {(each.retries, each.rate_limited) for each in (look(path) for look in looks)}


# A finished run plays back as it happened, and ends at the numbers of its card

START = 1_700_000_000.0


def stretch(made: Scene, *times: tuple[float, float]) -> None:
    """Note when the run was under way, in seconds after its start."""
    for first, last in times:
        made.store.execute(
            "INSERT INTO stretches (run, started, last, spent_usd) VALUES (?, ?, ?, 0)",
            (made.number, START + first, START + last),
        )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    found = sealed(tmp_path_factory.mktemp("replay") / "s.sqlite", 60)
    stretch(found, (-10.0, 25.5), (25.5 + 7200, 25.5 + 7200 + 34.5))
    found.store.execute("UPDATE results SET finished_at = finished_at + 7200 WHERE position > 25")
    yield found
    found.close()


def fold(live: LiveRun, happened: Iterable[Event | Jump]) -> None:
    for each in happened:
        if isinstance(each, Jump):
            if each.back:
                live.rewind()
            live.remember(each.states)
        else:
            live.fold([each])


def test_the_time_between_stretches_is_left_out_and_told(made: Scene) -> None:
    playback = Playback(made.store, made.run_id)
    assert playback.duration == pytest.approx(70.0)
    (pause,) = playback.pauses
    assert (pause.at, pause.seconds) == (pytest.approx(35.5), pytest.approx(7200))
    done = [
        _progress(playback.move_to(moment)).done for moment in (9.9, 10.0, 20.5, 35.4, 36.1, 70)
    ]
    assert done == [0, 1, 11, 26, 27, 60]


def _progress(happened: Iterable[Event | Jump]) -> Progress:
    (found,) = (each for each in happened if isinstance(each, Progress))
    return found


@examples(8, 50)
@given(moments=st.lists(st.floats(0, 70), max_size=6))
def test_every_way_to_a_moment_gives_the_same_picture(made: Scene, moments: list[float]) -> None:
    """Against a sum over the entries that were finished by then; steps back are among the ways."""
    playback, live = Playback(made.store, made.run_id), LiveRun()
    fold(live, playback.begin())
    for moment in moments:
        fold(live, playback.move_to(moment))
        at = [10.0 + n if n <= 25 else 9.999999 + n for n in range(60)]
        done = [n for n in range(60) if at[n] <= moment]
        assert live.progress is not None
        assert live.done == live.progress.done == len(done)
        assert [live.state(n) for n in done] == [
            EntryState.FAILED if made.results[n].failed else EntryState.DONE for n in done
        ]
        expected = values_of(made.entries, made.results[: len(done)])
        for name, value in expected.items():
            assert live.progress.values.get(name) == pytest.approx(value)
        assert live.finished is None or moment >= playback.duration


def test_money_that_is_partly_unknown_is_the_least_that_it_can_be(made: Scene) -> None:
    [(cost,)] = made.store.execute("SELECT cost_usd FROM results WHERE position = 0")
    change = "UPDATE results SET cost_usd = ? WHERE position = 0"
    made.store.execute(change, [None])
    try:
        playback = Playback(made.store, made.run_id)
        end = _progress([*playback.begin(), *playback.move_to(playback.duration)])
    finally:
        made.store.execute(change, [cost])
    known = sum(each.cost_usd or 0.0 for each in made.results if each.position != 0)
    assert end.cost_usd is None
    assert end.known_cost_usd == pytest.approx(known)
    assert known > 0


def test_the_end_equals_what_was_counted_live(made: Scene) -> None:
    playback = Playback(made.store, made.run_id)
    events = [*playback.begin(), *playback.move_to(playback.duration)]
    scored = [each.result for each in events if isinstance(each, EntryScored)]
    assert [each.entry_id for each in scored] == [each.entry_id for each in made.results]
    end = _progress(events)
    assert end.values == pytest.approx(values_of(made.entries, made.results))
    assert end.failed == sum(each.failed for each in made.results)
    assert end.cost_usd == pytest.approx(sum(each.cost_usd or 0.0 for each in made.results))
    assert end.rate_limited == sum(
        1 for n, each in enumerate(made.results) if n % 7 == 3 and not each.failed
    )
    assert end.retries == sum(each.attempts - 1 for each in made.results)
    (finished,) = (each for each in events if isinstance(each, Finished))
    assert (finished.done, finished.state) == (60, RunState.COMPLETE)


def test_a_move_that_was_cancelled_leaves_no_trace(made: Scene) -> None:
    asked = iter([False, True])
    playback = Playback(made.store, made.run_id, lambda: next(asked, False))
    live = LiveRun()
    fold(live, playback.begin())
    fold(live, playback.move_to(60.0))
    assert live.progress is None
    for moment in (30.0, 65.0):
        fold(live, playback.move_to(moment))
        fresh = _progress(Playback(made.store, made.run_id).move_to(moment))
        assert live.progress is not None
        assert live.progress.values == pytest.approx(fresh.values)
        assert live.progress.in_flight == fresh.in_flight
        assert live.done == fresh.done


def test_what_is_under_way_follows_from_tries_and_waits(made: Scene) -> None:
    playback = Playback(made.store, made.run_id)
    third = made.results[3]
    latency = third.latency_seconds or 0.0
    finished = 13.0  # of the run's own time: a 429 after 0.05 s, 3 s of waiting, then the answer
    moments = {
        finished - latency / 2: (True, None), finished - latency - 1.5: (False, (2, 2, "429")),
        finished - latency - 3.02: (True, None), finished - latency - 3.1: (False, None),
    }  # fmt: skip
    for moment, (asked, waits) in moments.items():
        now = _progress(playback.move_to(moment))
        assert (3 in now.in_flight) is asked
        found = {w.position: (w.attempt, w.attempts_allowed, w.reason) for w in now.waiting}
        assert found.get(3) == waits


def test_the_rate_is_that_of_the_runs_own_time(made: Scene) -> None:
    playback = Playback(made.store, made.run_id)
    assert _progress(playback.move_to(30.0)).per_minute == pytest.approx(60, abs=7)


def test_a_run_that_goes_on_or_knows_no_times_is_refused(tmp_path: Path) -> None:
    going = scene(tmp_path / "a.sqlite")
    with pytest.raises(UsageError, match="still under way"):
        Playback(going.store, going.run_id)
    set_live(going.store, going.number, RunState.STOPPED, None)
    going.store.execute("UPDATE results SET finished_at = 0")
    with pytest.raises(UsageError, match="Nothing tells when"):
        Playback(going.store, going.run_id)
    going.close()


def test_entries_taken_over_from_another_run_are_there_at_the_beginning(tmp_path: Path) -> None:
    retried = sealed(tmp_path / "s.sqlite", 24)
    stretch(retried, (20.0, 30.0))
    playback = Playback(retried.store, retried.run_id)
    assert _progress(playback.move_to(0.0)).done == 21
    assert _progress(playback.move_to(2.5)).done == 23
    retried.close()


def test_damaged_statistics_are_said(tmp_path: Path) -> None:
    broken = sealed(tmp_path / "s.sqlite", 4)
    broken.store.execute("UPDATE results SET statistics = x'05' WHERE position = 2")
    with pytest.raises(UsageError, match=r"cannot be played: .* score the outputs again\."):
        Playback(broken.store, broken.run_id)
    broken.close()


# The screen


async def until(pilot: Pilot[Any], happened: Callable[[], bool]) -> None:
    def looked() -> bool:
        pilot.app.screen.look()  # type: ignore[attr-defined]
        return happened()

    await screens.until(pilot, looked)


async def replay(app: App, pilot: Pilot[Any]) -> ReplayScreen:
    await settle(pilot)
    await press(pilot, "enter")
    await press(pilot, "p")
    screen = app.screen
    assert isinstance(screen, ReplayScreen)
    screen.player.paused = True
    await until(pilot, lambda: screen.player.duration > 0 and screen.live.started is not None)
    return screen


async def test_pause_speed_and_seek_by_keys(made: Scene) -> None:
    async with at_rest(App(made), (100, 30)) as (app, pilot):
        screen = await replay(app, pilot)
        assert screen.player.speed == 10
        await pilot.press("plus", "plus", "plus")
        assert screen.player.speed == 1000
        await pilot.press("minus", "minus", "minus", "minus")
        assert screen.player.speed == 1
        await pilot.press("home", "right", "right")
        await until(pilot, lambda: screen.player.now == pytest.approx(7.0))
        await pilot.press("end")
        await until(pilot, lambda: screen.live.over)
        assert "at the end" in text(app)
        shown = intervals_of(values_of(made.entries, made.results))["chrf_plus_plus"]
        assert f"{shown[0]:.1f}–{shown[1]:.1f}" in text(app)
        await pilot.press("left")
        await until(pilot, lambda: not screen.live.over and screen.player.now < 67)
        assert "‖ 2:00:00 skipped at 00:36" in text(app)
        await pilot.press("space")
        assert not screen.player.paused
        await pilot.press("plus", "plus", "plus")
        await until(pilot, lambda: screen.live.over)
        assert screen.live.done == 60
        assert screen.player.now == screen.player.duration, "it plays no further than to the end"
        await press(pilot, "q")
        assert isinstance(app.screen, LiveScreen)
        assert not isinstance(app.screen, ReplayScreen)
        assert not screen.player._thread.is_alive()  # nothing else shows that it has ended


async def test_replay_looks_as_kept(made: Scene) -> None:
    async with at_rest(App(made), SMALL) as (app, pilot):
        screen = await replay(app, pilot)
        screen.player.seek(60.0)
        await until(pilot, lambda: screen.live.done == 51)
        # a step back forgets the rates before, which depend on this machine
        screen.player.seek(40.5)
        await until(pilot, lambda: screen.live.done == 31 and "30 done" in text(app))
        await settle(pilot)
        look("replay", app)
        await press(pilot, "slash", *"cats", "home")
        assert screen.query_one("#search").has_focus
        assert screen.query_one("#search").cursor_position == 0  # type: ignore[attr-defined]
        await press(pilot, "escape", "enter")
        assert isinstance(app.screen, EntryScreen)
