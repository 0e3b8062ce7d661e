"""The live screen: what a person sees of a run, and what the keys do to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from textual.widgets import Input

from harness.api import Ready
from harness.core.failures import RunState
from harness.core.query import parse
from harness.run.events import Control, EntryScored, EventQueue, Failed
from harness.settings import read_settings
from harness.store.results import add_results, replace_scores
from harness.store.runs import find_run, seal_run, set_live
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import ScoringSoFar
from rosetta_tui.entry.screen import EntryScreen
from rosetta_tui.live.answers import judged_in_vain
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.session.engine import Engine
from rosetta_tui.session.run_sources import WatchedRun
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen
from rosetta_tui.toolkit.ordered_table import RowOrder
from scoring.core.specification import TRANSLATIONS
from tests.desktop.trouble.causes import full, mounted, pulled
from tests.harness.evaluation import begun, chat_plan, corpus
from tests.harness.scripted import Scripted
from tests.tui.new_run.form import Starting
from tests.tui.scenes import Scene, card_of, finished, result, scene, sealed
from tests.tui.screens import App, at_rest, lines, notices, press, settle, text, until


def live(app: App) -> LiveScreen:
    screen = app.screen
    assert isinstance(screen, LiveScreen)
    return screen


@pytest.fixture
def middle(tmp_path: Path) -> Iterator[Scene]:
    with closing(scene(tmp_path / "s.sqlite")) as made:
        made.middle(84)
        yield made


async def test_three_questions_are_answered_and_fit_a_small_size(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (160, 48)) as (app, pilot):
        screen = text(app)
        for words in (
            "eo-demo-v1 · EN→EO · chat · qwen2.5-7b · coached-v2",
            "running 00:41 · eta 00:22",
            "chrF++     67.0",
            "emerging (automatic 0.46)",
            "╿ best floor 0.21",
            "11 metrics unavailable: m",
            "exact           0.25 ··●········ ×0.20",
            "$0.0184 of $0.0500 budget",
            "expected $0.0280",
            "118/min  p50 0.41 s  p95 0.98 s",
            "16 in flight · limit 16 of 32",
            "1 waiting (429)",
            "✓ 83 done  ✗ 1 failed  ↻ 2 retrying  ● 16 asked  … 18 waiting",
        ):
            assert words in screen
        assert "following" in screen
        await press(pilot, "home")
        assert "following" not in text(app)
        await press(pilot, "slash")
        assert "To the rows tab Complete esc Back" in lines(app)[-1]  # where one types, no letter acts
        assert not {"Filter", "Pane"} & set(lines(app)[-1].split())
        await press(pilot, "escape")
        await press(pilot, "question_mark")
        assert "b  Scores by difficulty, length, punctuation …" in text(app)  # no meaning wraps below its key
        await press(pilot, "escape")
        row = next(line for line in lines(app) if line.startswith(" ✗"))
        assert "timeout: No answer" in row
        await press(pilot, "p")  # the pane leaves its room to the columns
        assert any(line.endswith("cached") for line in lines(app))
        for act in ("retry", "score_again"):
            assert app.screen.check_action("end", (act,)) is False
        assert app.screen.check_action("end", ("notes",)) is True
        live(app).table.move_to_place(85)
        await settle(pilot)
        assert "429 · try 3 of 6 in 3 s" in text(app)
        assert "timeout · try 2 of 6" in text(app)
        await press(pilot, "home", "down", "enter")
        assert isinstance(app.screen, EntryScreen)
        await press(pilot, "right", "right")
        await press(pilot, "q")
        assert live(app).table.place == 3, "the place of an entry is kept"
        await pilot.resize_terminal(40, 10)
        await settle(pilot)
        assert any("I see" in line for line in lines(app))
        assert live(app).table.size.height >= 3
        await live(app).query("*").remove()
        live(app).look()  # of a screen that goes finds nothing and harms nothing


@pytest.mark.thorough
async def test_results_are_followed_and_a_filter_follows(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=400, stored=0)
    async with at_rest(App(made, watch=True), (120, 30)) as (app, pilot):
        made.play([made.started()])
        await settle(pilot)
        _add(made, 300)
        await settle(pilot)
        assert "following" in text(app)
        table = live(app).table
        assert table.place == 300
        assert any("nova eligo" in line and line.startswith(" ✓") for line in lines(app))
        await press(pilot, "up")
        assert "following" not in text(app)
        table.wish(RowOrder(where=parse("state:waiting")))
        await settle(pilot)
        assert table.rows.count == 399
        _add(made, 25)
        table._ordered_at = 0.0  # the second is over
        await settle(pilot)
        assert table.rows.count == 398


def _add(made: Scene, position: int) -> None:
    scored = result(position, made.entries[position], "nova eligo")
    add_results(made.store, made.number, [scored])
    made.play([EntryScored(made.run_id, scored)])


@pytest.mark.thorough
async def test_search_sort_and_filter_end_before_the_screen(middle: Scene) -> None:
    async with at_rest(App(middle), (120, 36)) as (app, pilot):
        await press(pilot, "enter")
        middle.middle(84)
        await settle(pilot)
        await press(pilot, "slash", *"KATO")
        table = live(app).table
        assert table.entries is not None
        found = {middle.entries[position].source for position in table.entries.order}
        assert found == {"He has three cats."}
        await pilot.press("enter")
        await settle(pilot)
        assert f"{len(table.entries.order)} of 120 · chrF++ " in text(app)
        await pilot.press("down")
        assert table.cursor == 1
        await press(pilot, "escape")
        assert (table.order, table.rows.count) == (RowOrder(), 120)

        await pilot.press("down", "s")
        await pilot.pause()
        await press(pilot, "down", "space", "down", "down", "down", "down", "space", "up", "up", "up", "up", "enter")
        assert table.order == RowOrder(sort="chrf")
        assert table.shown_columns["chrf"] is False
        assert table.shown_columns["ter"] is True
        assert "TER" in text(app)
        await press(pilot, "s", "space", "escape")
        await until(
            pilot, lambda: read_settings(middle.path.parent).columns.startswith("+state +id +source +output +chrf ")
        )
        assert (table.place, table.cursor) == (11, 0)
        assert "chrF++ ▲" in text(app)
        live(app).sort_by("chrf")
        await settle(pilot)
        assert "chrF++ ▼" in text(app)
        assert table.entries.order[0] == 0
        await press(pilot, "q")
        assert table.order == RowOrder(), "back ends the sorting first"
        await press(pilot, "f", *"state:f", "tab", "enter")
        assert "state:failed" in text(app)
        assert "1 of 120" in text(app)
        await press(pilot, "q")
        assert table.order == RowOrder()
        assert "state:failed" not in text(app)
        await press(pilot, "q")
        assert not isinstance(app.screen, LiveScreen)


async def test_run_is_steered_and_left_after_a_question(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (120, 36)) as (app, pilot):
        await press(pilot, "q")
        assert "A run is still under way." in text(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, LiveScreen)
        await pilot.press("space")
        assert app.control.state is RunState.PAUSED
        await pilot.press("space")
        assert app.control.state is RunState.RUNNING
        await press(pilot, "c")
        for wrong in ("0", "1025", ""):
            app.screen.query_one(Input).value = wrong
            await press(pilot, "enter")
            assert app.control.most_concurrency is None
        await press(pilot, "escape")
        await press(pilot, "c")
        await press(pilot, "up", "up", "enter")
        assert app.control.most_concurrency == 34
        await pilot.press("d")
        assert app.control.state is RunState.DRAINING
        await press(pilot, "x")
        assert isinstance(app.screen, ConfirmScreen)
        assert "Nothing that is done is lost" in text(app)
        await press(pilot, "enter")  # the harmless answer has the focus
        assert app.control.state is RunState.DRAINING
        await press(pilot, "q")
        await press(pilot, "y")
        assert app.control.state is RunState.STOPPED
        assert not app.is_running


async def test_ctrl_c_drains_then_stops(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (120, 36)) as (app, pilot):
        await pilot.press("ctrl+c")
        assert app.control.state is RunState.DRAINING
        await pilot.press("ctrl+c")
        assert app.control.state is RunState.STOPPED


async def test_entries_stored_before_anyone_listened_are_shown(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=60, stored=40)
    made.play([made.started(done=40)])
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        assert "✓ 39 done  ✗ 1 failed" in text(app)
        assert "Mi vidas la hundon." in text(app)
        made.play([Failed(made.run_id, "The endpoint refuses the key [/x].")])
        await settle(pilot)
        screen = text(app)
        assert "The run stopped. What is done is stored. " in screen
        assert "The endpoint refuses the key [/x]." in screen
        assert "rosetta resume 0f3b8c1e" in screen
        assert live(app).check_action("steer", ("drain",)) is False
        await press(pilot, "q")
        assert not app.is_running


async def test_draining_run_offers_only_what_works_and_then_goes_on(middle: Scene) -> None:
    async with at_rest(App(middle, watch=True), (80, 24)) as (app, pilot):
        assert "d Drain" in lines(app)[-1]
        under_way = {"in_flight": (86, 87), "waiting": ()}
        middle.play([middle.progress(84, state=RunState.DRAINING, **under_way)])
        await settle(pilot)
        assert "What is under way is finished, then the run stops" in " ".join(text(app).split())
        assert not any(word in lines(app)[-1] for word in ("Drain", "Pause"))
        assert "x Stop" in lines(app)[-1]
        await press(pilot, "d")
        assert app.control.state is RunState.RUNNING, "a key that is not offered does nothing"
        assert "It is draining" in " ".join(notices(app))
        middle.play([finished(middle, RunState.STOPPED)])
        await settle(pilot)
        assert "Nothing is lost. Continue with: rosetta resume 0f3b8c1e" in " ".join(text(app).split())
        set_live(middle.store, middle.number, RunState.STOPPED, None)
        live(app)._end_acts.read()  # as the screen does every few seconds
        await settle(pilot)
        shown = " ".join(text(app).split())
        assert "Nothing is lost. R continues here, or rosetta resume 0f3b8c1e" in shown


async def test_finished_run_shows_its_card_and_what_can_be_done(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    made.store.execute("UPDATE runs SET plan = ?", ('{"method": "chat", "options": {}}',))
    made.store.execute("UPDATE runs SET run_card = json_set(run_card, '$.scores.errors', 1)")
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
            "Look first  1 failed",
        ):
            assert words in screen
        assert "R Retry failed" in lines(app)[-1]
        assert app.screen.check_action("end", ("score_again",))
        await press(pilot, "ctrl+c")
        assert isinstance(app.screen, LiveScreen)
        assert notices(app)[-1] == "ctrl+q leaves Rosetta."
        await press(pilot, "m")
        for words in ("Equivalent Match", "weight 0.50 (0.25)", "╿ shuffled references"):
            assert words in text(app)
        await press(pilot, "escape")
        await press(pilot, "t", *"baseline", "tab", *"for us", "ctrl+s")
        assert "#baseline · for us" in lines(app)[0]


# Metrics, and a disk that is full


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A data folder on a disk of 4 MiB."""
    home = tmp_path / "disk"
    home.mkdir()
    mounted(home, 4096)
    try:
        yield home
    finally:
        pulled(home)


async def test_run_without_events_yet_is_being_prepared(tmp_path: Path) -> None:
    path = tmp_path / "rosetta.sqlite"
    open_store(path).close()
    app = Starting(path)
    app.initial = WatchedRun(EventQueue(), Control(), "0" * 32)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "Preparing: texts and metrics are read" in text(app)


async def test_run_without_room_goes_on_once_there_is(disk: Path, endpoint: Scripted) -> None:
    path = disk / "rosetta.sqlite"
    number, method = begun(path, corpus(5), chat_plan(endpoint.url))
    with closing(open_store(path)) as store:
        run_id = find_run(store, "last").run_id
    app, engine = Starting(path), Engine(Ready(path, number, run_id, method))
    app.initial = WatchedRun(engine.events, engine.control, run_id)
    with closing(open_store(path)):  # somebody has it open: it can be read on a full disk too
        async with app.run_test(size=(80, 24)) as pilot:
            with full(disk):
                engine.start()
                while "the disk is full" not in text(app):
                    await settle(pilot)
                shown = " ".join(text(app).split())
                assert "The run could not begin" in shown
                assert f"rosetta resume {run_id[:8]}" in shown
                assert "what was stored before is safe." in shown
            first = app.screen
            assert isinstance(first, LiveScreen)
            while "Continue" not in lines(app)[-1]:
                first.look_afterwards()
                await settle(pilot)
            await pilot.press("R")
            while not (isinstance(here := app.screen, LiveScreen) and here.live.complete):
                await settle(pilot)
            assert here is not first
            while "Complete." not in text(app):  # painted at the next look
                await settle(pilot)


ANALYSER = {
    "name": "eo.hfstol", "sha256": "ab" * 32, "engine": "builtin", "engine_version": "1", "acceptor": False,
    "reference_words": 10, "reference_accepted": 6,
}  # fmt: skip
SCORING: dict[str, object] = {
    "metrics": ["chrf_plus_plus"], "source_language": "en", "target_language": "eo", "analyser": ANALYSER,
}  # fmt: skip


@pytest.mark.thorough
async def test_acceptance_never_stands_without_the_references(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", scoring=SCORING)
    values = {"fst_acceptance_rate": 0.58}
    made.play([made.started(), made.progress(84, values=values, doing="asking embeddings\x1b[2J")])
    async with at_rest(App(made, watch=True), (160, 60)) as (app, pilot):
        assert "0.58 (references 0.60) ×1.00" in text(app)
        assert lines(app)[0].endswith("running 00:41 · asking embeddings␛[2J")
        await press(pilot, "m")
        assert "references 0.60: compare with that" in text(app)
        assert "0–1↑   weight 1.00 (0.25)" in text(app)
        made.play([finished(made)])
        await press(pilot, "escape")
        assert "asking" not in lines(app)[0]
    (tmp_path / "b").mkdir()
    made = scene(tmp_path / "b" / "s.sqlite")
    made.play([made.started(), made.progress(84, values=values)])
    async with at_rest(App(made, watch=True), (160, 48)) as (app, _):
        assert "0.58 (references unknown)" in text(app)


def test_what_failed_in_the_scoring_is_counted_once(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite")
    asked = ScoringSoFar(calls=9, failed=2)
    found = made.progress(84, values={"lbrag.f1_raised": 3.0}, scoring=asked)
    assert [line.plain for line in judged_in_vain(found)] == [
        "! F1: the code of its pack failed at 3 entries",
        "! 2 judgements failed",
    ]
    told = {"lbrag.semantic_score_judge_failed": 2.0, "au.llm_judge_binary_judge_failed": 1.0}
    found = made.progress(84, values=told, scoring=asked)
    (line,) = judged_in_vain(found)
    assert line.plain == "! 3 judgements failed: agreement 2, judged right 1"
    assert not list(judged_in_vain(made.progress(84, values={"au.llm_judge_binary": 1.0})))


async def test_the_end_of_a_run_reads_the_scores_of_its_entries_again(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=8, stored=8)
    made.play([made.started(), *made.scored(8), made.progress(8)])
    async with at_rest(App(made, watch=True), (160, 30)) as (app, pilot):
        assert "◆◆◆◆◇ deployable" not in text(app)
        better = TRANSLATIONS.kept({"chrf_plus_plus": 50.0, "exact_match_rate": 0.0}, 0.8)
        rows = [(n, made.results[n].statistics, better) for n in range(8)]
        replace_scores(made.store, made.number, rows)
        seal_run(made.store, made.number, json.dumps(card_of(made)))
        made.play([finished(made)])
        await settle(pilot)
        assert text(app).count("◆◆◆◆◇ deployable") == 8
