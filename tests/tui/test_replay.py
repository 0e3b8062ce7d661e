"""A finished run plays back as it happened, and ends at the numbers of its card."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from harness.core.failures import UsageError
from harness.core.run_state import RunState
from harness.events.kinds import EntryScored, Event, Finished, Progress
from harness.store.file.database import opened
from harness.store.runs import find_run, read_card, set_live
from rosetta_tui.commands.demo import demo
from rosetta_tui.entry.screen import EntryScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.replay import timeline as replaying
from rosetta_tui.replay.screen import ReplayScreen
from rosetta_tui.replay.timeline import Jump, Playback
from rosetta_tui.session.picture import EntryState, LiveRun
from tests.review.thorough import examples
from tests.tui import screens
from tests.tui.golden import SMALL, look
from tests.tui.scenes import Scene, intervals_of, scene, sealed, values_of
from tests.tui.screens import App, at_rest, press, settle, text

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
    """Take in what a playback gives, as the screen does."""
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
        finished - latency / 2: (True, None),
        finished - latency - 1.5: (False, (2, 2, "429")),
        finished - latency - 3.02: (True, None),
        finished - latency - 3.1: (False, None),
    }
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


@pytest.mark.thorough
def test_real_run_ends_at_its_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    assert CliRunner().invoke(demo, ["--plain"]).exit_code == 0
    with opened() as store:
        run = find_run(store, "last")
        card = read_card(store, run.id)
        assert card is not None
        playback = Playback(store, run.run_id)
        end = _progress(playback.move_to(playback.duration))
    for name, value in end.values.items():
        assert value == pytest.approx(card["scores"][name])
    assert end.cost_usd == pytest.approx(card["cost"]["total_cost_usd"])
    assert end.tokens == card["tokens"]["total_tokens"]
    assert (end.done, end.failed) == (96, 1)
    assert end.p50_seconds == pytest.approx(card["speed"]["median_latency_seconds"])
    assert end.p95_seconds == pytest.approx(card["speed"]["p95_latency_seconds"])


def test_a_jump_reads_no_entry(made: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """It adds up columns that were read before, so it takes no longer however many entries lie between."""
    monkeypatch.setattr(replaying, "RECENT", 5)
    playback, asked = Playback(made.store, made.run_id), list[str]()
    made.store.set_trace_callback(asked.append)
    happened = list(playback.move_to(playback.duration))
    made.store.set_trace_callback(None)
    assert asked == []
    assert _progress(happened).values == pytest.approx(values_of(made.entries, made.results))


def test_damaged_statistics_are_said(tmp_path: Path) -> None:
    broken = sealed(tmp_path / "s.sqlite", 4)
    broken.store.execute("UPDATE results SET statistics = x'05' WHERE position = 2")
    with pytest.raises(UsageError, match=r"cannot be played: .* score the outputs again\."):
        Playback(broken.store, broken.run_id)
    broken.close()


# The screen


async def until(pilot: Pilot[Any], happened: Callable[[], bool]) -> None:
    """Wait for the thread that plays."""

    def looked() -> bool:
        pilot.app.screen.look()  # type: ignore[attr-defined]
        return happened()

    await screens.until(pilot, looked)


async def replay(app: App, pilot: Pilot[Any]) -> ReplayScreen:
    """Open the replay of the only run, paused."""
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


async def test_a_run_without_times_says_so_and_goes_back(tmp_path: Path) -> None:
    other = sealed(tmp_path / "s.sqlite", 4)
    other.store.execute("UPDATE results SET finished_at = 0")
    async with at_rest(App(other), (100, 30), notifications=True) as (app, pilot):
        await press(pilot, "enter")
        await pilot.press("p")
        await until(pilot, lambda: not isinstance(app.screen, ReplayScreen))
        await settle(pilot)
        assert "Nothing tells when" in " ".join(text(app).split())
    other.close()
