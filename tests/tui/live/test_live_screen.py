"""The live screen: what a person sees of a run, and what the keys do to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.core.run_state import RunState
from harness.events.kinds import EntryScored, Failed
from harness.store.ordering import FILTERS, SORTS
from harness.store.results import add_results
from harness.store.runs import set_live
from rosetta_tui.entry.screen import EntryScreen
from rosetta_tui.entry.table import FILTER_WORDS, SORT_WORDS, Order, sort_words
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen
from rosetta_tui.toolkit.result_table import ResultTable
from scoring.core.columns import TASKS
from tests.tui.scenes import Scene, finished, result, scene, sealed
from tests.tui.screens import App, at_rest, lines, notices, press, settle, text


def live(app: App) -> LiveScreen:
    screen = app.screen
    assert isinstance(screen, LiveScreen)
    return screen


@pytest.fixture
def middle(tmp_path: Path) -> Iterator[Scene]:
    with closing(scene(tmp_path / "s.sqlite")) as made:
        made.middle(84)
        yield made


def test_words_cover_what_the_store_offers() -> None:
    assert {*SORT_WORDS, "third"} == {*SORTS}
    assert {*sort_words(TASKS["qa"])} == {*SORTS}
    assert tuple(FILTER_WORDS) == FILTERS


async def test_the_three_questions_are_answered(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (160, 48)) as (app, pilot):
        screen = text(app)
        for words in (
            "eo-demo-v1 · EN→EO · chat · qwen2.5-7b · coached-v2",
            "running 00:41 · eta 00:22",
            "chrF++     67.0",
            "emerging (automatic 0.46)",
            "best floor 0.21 (one constant output)",
            "(not among the metrics of this run)",
            "$0.0184 of $0.0500 budget",
            "expected $0.0280",
            "118/min  p50 0.41 s  p95 0.98 s",
            "16 in flight · limit 16 of 32",
            "1 waiting (429)",
            "✓ 83 done  ✗ 1 failed  ↻ 2 retrying  ● 16 asked  … 18 waiting",
        ):
            assert words in screen
        await press(pilot, "end", *["up"] * 34)
        screen = text(app)
        assert "try 3 of 6 in 3 s · 429" in screen
        assert "try 2 of 6 · timeout" in screen


async def test_a_failed_entry_says_why_and_a_cached_one_too(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (160, 48)) as (app, _):
        row = next(line for line in lines(app) if line.startswith(" ✗"))
        assert "timeout: No answer within 60 s." in row
        assert any(line.endswith("cached") for line in lines(app))


async def test_results_appear_as_they_come_and_are_followed(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=400, stored=0)
    app = App(made, watch=True)
    async with app.run_test(size=(120, 30)) as pilot:
        made.play([made.started()])
        await settle(pilot)
        await pilot.press("F")
        scored = result(300, made.entries[300], "nova eligo")
        add_results(made.store, made.number, [(scored, [])])
        made.play([EntryScored(made.run_id, scored)])
        await settle(pilot)
        assert "following" in text(app)
        assert live(app).table.place == 300
        assert any("nova eligo" in line and line.startswith(" ✓") for line in lines(app))
        await press(pilot, "up")
        assert "following" not in text(app)


async def test_search_finds_as_it_is_typed_and_escape_ends_it(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (120, 36)) as (app, pilot):
        await press(pilot, "slash", *"KATO")
        rows = live(app).table.entries
        assert rows is not None
        assert {middle.entries[position].source for position in rows.order} == {
            "He has three cats."
        }
        assert "with “KATO”" in text(app)
        await pilot.press("enter", "down")
        assert live(app).table.cursor == 1
        await press(pilot, "escape")
        assert live(app).table.order == Order()
        assert live(app).table.rows.count == 120


async def test_going_back_ends_a_filter_first_and_then_leaves(middle: Scene) -> None:
    async with at_rest(App(middle), (120, 36)) as (app, pilot):
        await press(pilot, "enter")
        for each in ("f", "down", "down", "enter"):
            await press(pilot, each)
        assert "only: failed" in text(app)
        await press(pilot, "q")
        assert live(app).table.order == Order()
        assert "only: failed" not in text(app)
        await press(pilot, "q")
        assert not isinstance(app.screen, LiveScreen)


async def test_sorting_turns_round_and_shows_the_top_of_the_list(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (120, 36)) as (app, pilot):
        await pilot.press("down", "s")
        await pilot.pause()
        await press(pilot, "down", "down", "down", "enter")
        table = live(app).table
        assert table.order == Order(sort="headline")
        assert (table.place, table.cursor) == (11, 0)
        assert "chrF++ ▲" in text(app)
        assert table.entries is not None
        assert table.entries.order[0] == 11
        live(app).sort_by("headline")
        await settle(pilot)
        assert "chrF++ ▼" in text(app)
        assert table.entries.order[0] == 0


async def test_a_filter_follows_the_run(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=40, stored=20)
    made.middle(20)
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        live(app).table.wish(Order(narrow="waiting"))
        await settle(pilot)
        assert live(app).table.rows.count == 20
        scored = result(25, made.entries[25], "x")
        add_results(made.store, made.number, [(scored, [])])
        made.play([EntryScored(made.run_id, scored)])
        live(app).table._ordered_at = 0.0  # the second is over
        await settle(pilot)
        assert live(app).table.rows.count == 19


async def test_the_run_can_be_steered(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (120, 36)) as (app, pilot):
        await pilot.press("space")
        assert app.control.state is RunState.PAUSED
        await pilot.press("space")
        assert app.control.state is RunState.RUNNING
        await pilot.press("c")
        await pilot.pause()
        await pilot.press("up", "up", "enter")
        await pilot.pause()
        assert app.control.most_concurrency == 34
        await pilot.press("d")
        assert app.control.state is RunState.DRAINING
        await pilot.press("x")
        await pilot.pause()
        assert isinstance(app.screen, ConfirmScreen)
        assert "Nothing that is done is lost" in text(app)
        await pilot.press("enter")  # the harmless answer has the focus
        await pilot.pause()
        assert app.control.state is RunState.DRAINING
        await pilot.press("x")
        await pilot.pause()
        await pilot.press("y")
        await pilot.pause()
        assert app.control.state is RunState.STOPPED


@pytest.mark.parametrize("wrong", ["0", "1025", ""])
async def test_a_concurrency_that_makes_no_sense_is_not_taken(middle: Scene, wrong: str) -> None:
    async with at_rest(App(middle, watch=True), (120, 36)) as (app, pilot):
        await pilot.press("c")
        await pilot.pause()
        await pilot.press("home", "delete", "delete", *wrong, "enter")
        await pilot.pause()
        assert app.control.most_concurrency is None


async def test_ctrl_c_drains_then_stops(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (120, 36)) as (app, pilot):
        await pilot.press("ctrl+c")
        assert app.control.state is RunState.DRAINING
        await pilot.press("ctrl+c")
        assert app.control.state is RunState.STOPPED


async def test_ctrl_c_on_a_run_that_is_over_leaves_nothing(tmp_path: Path) -> None:
    async with at_rest(App(sealed(tmp_path / "s.sqlite")), (120, 36)) as (app, pilot):
        await press(pilot, "enter")
        await press(pilot, "ctrl+c")
        assert isinstance(app.screen, LiveScreen)
        assert notices(app)[-1] == "ctrl+q leaves Rosetta."


async def test_leaving_a_run_under_way_asks_first(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (120, 36)) as (app, pilot):
        await pilot.press("q")
        await pilot.pause()
        assert "A run is still under way." in text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, LiveScreen)
        await pilot.press("q")
        await pilot.pause()
        await pilot.press("y")
        await pilot.pause()
        assert app.control.state is RunState.STOPPED
        assert not app.is_running


async def test_a_run_whose_process_is_gone_is_said_to_be_so_by_the_key_that_steers(
    middle: Scene,
) -> None:
    async with at_rest(App(middle), (120, 36), notifications=True) as (app, pilot):
        await press(pilot, "enter")
        assert app.followed == [middle.run_id]
        await press(pilot, "space")
        said = "".join(notices(app))
        assert f"The process that ran {middle.run_id[:8]} is gone." in said
        assert app.control.state is RunState.RUNNING
        await press(pilot, "q")
        assert not isinstance(app.screen, LiveScreen)


async def test_entries_stored_before_anyone_listened_are_shown(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=60, stored=40)
    made.play([made.started(done=40)])
    async with at_rest(App(made, watch=True), (120, 36)) as (app, _):
        assert "✓ 39 done  ✗ 1 failed" in text(app)
        assert "Mi vidas la hundon." in text(app)


async def test_a_run_that_cannot_go_on_says_what_to_do(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (120, 36)) as (app, pilot):
        middle.play([Failed(middle.run_id, "The endpoint refuses the key [/x].")])
        await settle(pilot)
        screen = text(app)
        assert "The run stopped. What is done is stored. " in screen
        assert "The endpoint refuses the key [/x]." in screen
        assert "rosetta resume 0f3b8c1e" in screen
        assert live(app).check_action("steer", ("drain",)) is False
        await pilot.press("q")
        await pilot.pause()
        assert not app.is_running


async def test_a_run_that_drains_says_so_and_offers_only_what_still_works(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (80, 24)) as (app, pilot):
        assert "d Drain" in lines(app)[-1]
        under_way = {"in_flight": (86, 87), "waiting": ()}
        middle.play([middle.progress(84, state=RunState.DRAINING, **under_way)])
        await settle(pilot)
        assert "What is under way is finished, then the run stops" in " ".join(text(app).split())
        assert "Drain" not in lines(app)[-1]
        assert "Pause" not in lines(app)[-1]
        assert "x Stop" in lines(app)[-1]
        await pilot.press("d")
        await settle(pilot)
        assert app.control.state is RunState.RUNNING, "a key that is not offered does nothing"
        assert "It is draining" in " ".join(notices(app))


async def test_a_stopped_run_says_how_it_goes_on(middle: Scene) -> None:
    app = App(middle, watch=True)
    async with app.run_test(size=(120, 36)) as pilot:
        middle.play([finished(middle, RunState.STOPPED)])
        await settle(pilot)
        assert "Nothing is lost. Go on with: rosetta resume 0f3b8c1e" in text(app)
        set_live(middle.store, middle.number, RunState.STOPPED, None)
        live(app)._end_acts.read()  # as the screen does every few seconds
        await settle(pilot)
        assert "Nothing is lost. R goes on here, or rosetta resume 0f3b8c1e" in text(app)


async def test_a_finished_run_shows_the_numbers_of_its_card(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (160, 48)) as (app, pilot):
        await press(pilot, "enter")
        screen = text(app)
        for words in (
            "complete 01:03",
            "chrF++     65.1",
            "60.9–69.3",
            "$0.0271 of $0.0500 budget",
            "60,412 tokens",
            "114/min",
            "7 × 429 · 5 retries",
            "✓ 23 done  ✗ 1 failed",
            "rosetta runs show 0f3b8c1e",
        ):
            assert words in screen
        await pilot.press("m")
        await pilot.pause()
        for words in (
            "Equivalent Match",
            "weight 0.50 (0.25)",
            "╿ shuffled references",
        ):
            assert words in text(app)


async def test_an_entry_opens_and_its_place_is_kept(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (120, 36)) as (app, pilot):
        await press(pilot, "down", "enter")
        assert isinstance(app.screen, EntryScreen)
        await press(pilot, "right", "right")
        await press(pilot, "q")
        assert live(app).table.place == 3


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (100, 30), (200, 60)])
async def test_every_size_can_be_drawn(middle: Scene, size: tuple[int, int]) -> None:
    async with at_rest(App(middle, watch=True), size) as (app, _):
        assert any("I see" in line for line in lines(app))
        table = app.screen.query_one(ResultTable)
        assert table.size.height >= 3


async def test_tags_and_note_stand_in_the_header_and_are_written_from_here(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite", 4)
    async with at_rest(App(made), (160, 30)) as (app, pilot):
        await press(pilot, "enter")
        await press(pilot, "t", *"baseline", "tab", *"for us", "ctrl+s")
        assert "#baseline · for us" in lines(app)[0]


async def test_a_run_that_is_over_is_asked_again_and_scored_again(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite", 24)
    made.store.execute("UPDATE runs SET plan = ?", ('{"method": "chat", "options": {}}',))
    async with at_rest(App(made), (160, 30)) as (app, pilot):
        await press(pilot, "enter")
        for words in ("p Replay", "R Retry failed"):
            assert words in lines(app)[-1]
        assert app.screen.check_action("end", ("score_again",))


async def test_nothing_of_the_end_is_offered_while_a_run_goes_on(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    made.middle(84)
    async with at_rest(App(made, watch=True), (160, 30)) as (app, _):
        for act in ("replay", "retry", "score_again"):
            assert app.screen.check_action("end", (act,)) is False
        assert app.screen.check_action("end", ("notes",)) is True


async def test_a_look_at_a_screen_that_goes_finds_nothing_and_harms_nothing(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (80, 24)) as (app, _):
        await live(app).query("*").remove()
        live(app).look()
