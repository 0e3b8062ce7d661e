"""Home: what came out of every run, what to do first, and a store that cannot be used."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Button, Checkbox, Input, Static

from corpora.files.problems import CorpusError
from corpora.model.entry import Segment
from harness.core.failures import RunState
from harness.method.options import MethodOptions
from harness.run.events import Failed, Finished
from harness.setup.plan import Plan
from harness.store.run_list import list_runs
from harness.store.runs import set_live
from harness.store.sqlite.database import open_store
from harness.store.sqlite.openings import Live
from rosetta_tui.home.panels import Lead, WaitingItem, WaitingList, keep_aside, read_aside, waiting_runs
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.panels import banner_words
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.runs.resume import GoOnScreen, RetryScreen, amount, settings_of
from rosetta_tui.runs.table import RunReader, RunTable
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.session.run_sources import resume
from rosetta_tui.toolkit.messages import RunChosen
from rosetta_tui.toolkit.ordered_table import RowOrder
from tests.harness.card import factory
from tests.harness.evaluation import chat_plan, corpus, run_corpus
from tests.harness.scripted import Scripted, error
from tests.harness.store.sqlite.damaged import damage
from tests.tui.golden import SMALL, look
from tests.tui.runs.made import noting, run, stopped
from tests.tui.scenes import PAIRS, RUN_ID, entries_of, finished, scene, sealed
from tests.tui.screens import App, at_rest, lines, notices, press, settle, stands, text, until


async def test_empty_home_says_what_to_do_first_and_runs_the_demo(tmp_path: Path) -> None:
    made = scene(tmp_path / "other.sqlite")
    app = App(None, tmp_path / "s.sqlite")
    async with at_rest(app, SMALL) as (_, pilot):
        look("home-empty", app)
        for words in ("D  Run the demo", "New run from your corpus", "What is missing"):
            assert words in text(app)
        app.store_path = made.path
        made.queue = app.queue
        made.middle(84)
        await press(pilot, "D")
        assert isinstance(app.screen, LiveScreen)
        assert "✓ 83 done" in text(app)
        await press(pilot, "q")
        assert isinstance(app.screen, HomeScreen)


async def test_first_run_of_an_empty_home_has_the_cursor(tmp_path: Path) -> None:
    app = App(None, tmp_path / "s.sqlite")
    async with at_rest(app, (80, 24)) as (_, pilot):
        assert isinstance(app.focused, Button)
        with closing(open_store(tmp_path / "s.sqlite")) as made:
            factory.add_run(made)  # as another process does
        await press(pilot, "r")
        await pilot.press("down")
        assert app.focused is app.screen.query_one(RunTable)
        assert "Open" in text(app)


async def test_home_purges_only_where_a_run_was_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What erases runs loads as much as the first frame itself."""
    purged: list[RunReader] = []

    def purge(reader: RunReader) -> None:
        purged.append(reader)

    monkeypatch.setattr(RunReader, "purge", purge)
    for put_away, times in ((None, 0), (1.0, 1)):
        with closing(open_store(tmp_path / "s.sqlite")) as made:
            factory.add_run(made, run_id=f"run-{times}")
            made.execute("UPDATE runs SET put_away = ?", (put_away,))
        async with at_rest(App(None, tmp_path / "s.sqlite"), SMALL):
            pass
        assert len(purged) == times


@pytest.mark.parametrize(
    ("keys", "row"), [(("down", "down", "enter"), 2), (("end", "up", "enter"), 1), (("down", "up", "enter"), 0)]
)
async def test_keys_typed_while_home_reads_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...], row: int
) -> None:
    with closing(open_store(tmp_path / "s.sqlite")) as made:
        for number in range(3):
            factory.add_run(made, run_id=f"run-{number}")
    may_read, look_now = threading.Event(), RunReader.look

    def slow(reader: RunReader, *, anyway: bool) -> object:
        assert may_read.wait(600)
        return look_now(reader, anyway=anyway)

    monkeypatch.setattr(RunReader, "look", slow)
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(120, 36)) as pilot:
        home = app.screen
        assert isinstance(home, HomeScreen)
        opened_runs: list[str] = []

        def post(message: Message) -> bool:
            if isinstance(message, RunChosen):
                opened_runs.append(message.run_id)
            return Screen.post_message(home, message)

        monkeypatch.setattr(home, "post_message", post)
        for key in keys:
            app.post_message(Key(key, None))
        await pilot.pause()
        assert opened_runs == []
        may_read.set()
        await until(pilot, lambda: bool(opened_runs))
        assert home.table.every is not None
        assert opened_runs == [home.table.every[row].run_id]


@pytest.mark.thorough
async def test_watched_run_has_the_cursor_though_home_saw_it_begin(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=10, stored=5)
    factory.add_run(made.store, run_id="other")
    made.store.commit()
    made.middle(5)
    async with at_rest(App(made), (120, 36)) as (app, pilot):
        table = app.screen.query_one(RunTable)
        table.action_last()
        await settle(pilot)
        assert [run.run_id for run in table.runs] == [made.run_id, "other"]
        await press(pilot, "D")
        await settle(pilot)
        watched = app.screen
        await press(pilot, "q")
        assert table.chosen is not None
        assert table.chosen.run_id == made.run_id
        await press(pilot, "enter")
        assert app.screen is watched, "it continued while Home was shown"
        assert app.followed == []


async def test_run_of_another_process_moves_is_deleted_and_undone(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=10, stored=5)
    async with at_rest(App(made), (120, 36)) as (app, pilot):
        assert "running 50 % · 5 of 10" in text(app)
        assert "1 under way" in text(app)
        await press(pilot, "delete")
        assert "Stop it first" in "\n".join(notices(app))
        set_live(made.store, made.number, RunState.RUNNING, Live(at=time.time() - 3600))
        await press(pilot, "r")
        assert "under way" not in text(app), "its process is gone"
        for words in ("■", "stopped 50 % · 5 of 10", "rosetta resume 0f3b8c1e", "Stopped, 5 of 10 done"):
            assert words in text(app)
        set_live(made.store, made.number, RunState.RUNNING, Live(at=time.time()))
        await press(pilot, "delete")
        assert len(list_runs(made.store)) == 1, "it continues after all"
        set_live(made.store, made.number, RunState.STOPPED, None)
        await press(pilot, "r", "delete")
        await settle(pilot)
        assert list_runs(made.store) == []
        assert "For a week, Undo brings it back." in "\n".join(notices(app))
        assert "Run the demo" in text(app)
        assert "Undo" in text(app)
        await press(pilot, "u")
        await settle(pilot)
        assert [run.number for run in list_runs(made.store)] == [made.number]
        assert "stopped 50 % · 5 of 10" in text(app)
        assert "Undo" not in text(app)


async def test_marked_runs_or_the_next_of_the_corpus_are_compared(tmp_path: Path) -> None:
    async with at_rest(App(None, tmp_path / "s.sqlite"), (120, 36)) as (app, _):
        table = app.screen.query_one(RunTable)
        ids = {number: run(number).run_id for number in range(1, 5)}
        table.take([run(4), run(2, total=1), run(1)])
        assert table.pair() == (ids[1], ids[4]), "a try on few entries comes last"
        table.take([run(4), run(3, dataset_id="other"), run(2), run(1)])
        assert table.pair() == (ids[2], ids[4])
        table.move_to(1)
        assert table.pair() == (ids[3],)
        table.move_to(3)
        assert table.pair() == (ids[2], ids[1])
        table.move_to(2)
        table.mark()
        assert table.cursor == 3
        assert table.pair() == (ids[2], ids[1])
        table.move_to(0)
        table.mark()
        assert table.pair() == (ids[2], ids[4])
        table.take([run(4), run(1)])
        assert list(table.marked) == [ids[4]]
        assert table.chosen is not None


async def test_secret_texts_are_erased_only_after_a_question(tmp_path: Path) -> None:
    entries = [entry.model_copy(update={"segment": Segment.GOLD_STANDARD}) for entry in entries_of(PAIRS, 6)]
    made = scene(tmp_path / "s.sqlite", total=6, stored=4, entries=entries)
    set_live(made.store, made.number, RunState.STOPPED, None)
    async with at_rest(App(made), (120, 36)) as (app, pilot):
        await press(pilot, "delete")
        assert "Erase this run for good?" in text(app)
        await press(pilot, "escape")
        assert len(list_runs(made.store)) == 1
        await press(pilot, "delete")
        await press(pilot, "y")
        await settle(pilot)
        assert list_runs(made.store) == list_runs(made.store, deleted=True) == []
        assert made.store.execute("SELECT count(*) FROM results").fetchone() == (0,)


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 99")


def no_store(path: Path) -> None:
    path.write_bytes(b"no database at all" * 500)


def without_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("DROP TABLE notes")


async def test_home_says_what_is_wrong_with_the_store_until_it_is_back(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    scene(path).close()
    good = path.read_bytes()
    harms = {
        damage: "damaged", newer: "newer version", no_store: "no store at all",
        without_a_table: "not in the form",
    }  # fmt: skip
    async with at_rest(App(None, path), SMALL) as (app, pilot):
        home = app.screen
        assert isinstance(home, HomeScreen)
        for harm, words in harms.items():
            assert "1 run" in text(app)
            harm(path)
            home.action_read()
            await settle(pilot)
            shown = " ".join(text(app).split())
            assert words in shown
            assert "sqlite3" not in shown
            assert "DatabaseError" not in shown
            for each in tmp_path.glob("s.sqlite*"):
                each.unlink()
            path.write_bytes(good)
            home.action_read()
            await settle(pilot)
            assert words not in " ".join(text(app).split())


# What waits for a person, and where Enter leads


def leads(*runs: object) -> list[tuple[Lead, str]]:
    return [(item.lead, item.name[:8]) for item in waiting_runs(runs)]  # type: ignore[arg-type]


def test_cut_runs_come_first_then_failed_entries() -> None:
    runs = [run(1, failed=2), run(2, state=RunState.STOPPED, done=4), run(3), run(4, failed=1)]
    assert leads(*runs) == [(Lead.RESUME, "00000002"), (Lead.RETRY, "00000001"), (Lead.RETRY, "00000004")]
    assert "Stopped, 4 of 10 done" in next(iter(waiting_runs(runs))).words
    for state in (RunState.RUNNING, RunState.PAUSED, RunState.DRAINING):
        assert leads(run(1, state=state, failed=3)) == [], "a process is at it"
    failed = run(1, failed=2)
    assert leads(failed._replace(imported=True)) == []
    assert leads(run(2, retry_of=failed.run_id), failed) == []
    assert leads(failed._replace(state=RunState.STOPPED, imported=True)) == []


async def test_enter_on_a_cut_run_goes_on_with_it(tmp_path: Path) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=5)
    app = App(made)
    begun = noting(app)
    async with at_rest(app, (120, 36)) as (_, pilot):
        await pilot.press("shift+tab")
        await press(pilot, "enter")
        await settle(pilot)
        assert isinstance(app.screen, LiveScreen)
        assert app.screen.control is app.control
    assert [each["run_id"] for each in begun] == [made.run_id]


async def test_failed_entries_are_asked_for_again(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    made.store.execute("UPDATE runs SET plan = ?", (chat_plan("http://127.0.0.1:9/v1").model_dump_json(),))
    app = App(made)
    begun = noting(app)
    async with at_rest(app, (120, 36)) as (_, pilot):
        assert "1 entry failed" in text(app)
        await press(pilot, "R")
        assert stands(app, RetryScreen)
        assert "Ask again for 1 failed entry" in text(app)
        field = app.screen.query_one("#concurrency", Input)
        field.focus()
        for typed, words in (("many", "calls at once: A whole number is wanted."), ("3", "")):
            field.value = typed
            await settle(pilot)
            await press(pilot, "enter")
            await settle(pilot)
            assert words in text(app)
            assert stands(app, RetryScreen) is bool(words)
    [again] = begun
    assert again == {"run_id": made.run_id, "changes": {"concurrency": "3"}}


async def test_outputs_made_elsewhere_would_be_the_same_again(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    plan = chat_plan("x").model_copy(update={"method": "replay"}).model_dump_json()
    change = "UPDATE runs SET setup = json_set(setup, '$.method', 'replay'), plan = ?"
    made.store.execute(change, (plan,))
    async with at_rest(App(made), (80, 24)) as (app, pilot):
        assert "waiting for you" not in text(app)
        await press(pilot, "R")
        assert stands(app, RetryScreen)
        assert "the same again" in text(app)
        assert "budget" not in text(app)


def test_the_form_shows_what_the_plan_says() -> None:
    options = MethodOptions(source_language="en", target_language="crk", model="m", temperature=0)
    before = settings_of(Plan(method="chat", options=options))
    assert (before["model"], before["temperature"], before["budget_usd"]) == ("m", "0", "")


async def test_what_waits_is_put_aside_until_something_about_it_is_new(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=10, stored=5)
    set_live(made.store, made.number, RunState.STOPPED, None)

    async def waits(*keys: str) -> bool:
        async with at_rest(App(None, made.path), (120, 36)) as (app, pilot):
            listed = app.screen.query_one(WaitingList)
            if "x" in keys:  # a key of the list; X works wherever one is
                listed.focus()
            await press(pilot, *keys)
            return bool(listed.display)

    assert await waits()
    assert not await waits("x")
    assert not await waits(), "it is remembered"
    made.store.execute("DELETE FROM results WHERE run = ? AND position = 0", (made.number,))
    assert await waits(), "4 of 10 is another wait than 5 of 10"
    assert not await waits("X")
    assert not await waits()
    for size, seen in (((60, 15), 1), ((80, 24), 6)):
        async with at_rest(App(None, made.path), size) as (app, pilot):
            listed = app.screen.query_one(WaitingList)
            listed.take_reviews([WaitingItem(Lead.REVIEW, str(number), "Waits") for number in range(6)])
            await settle(pilot)
            assert listed.size.height == 1 + seen, "it takes the lines that the runs leave free"


def test_a_put_aside_item_that_was_gone_counts_as_new(tmp_path: Path) -> None:
    marks = [("resume", "a", "Stopped"), ("review", "", "1 file")]
    keep_aside(tmp_path, marks)
    assert read_aside(tmp_path) == frozenset(marks)
    listed = WaitingList(tmp_path)
    listed.forget_gone((Lead.REVIEW, Lead.IMPORT), [])
    assert read_aside(tmp_path) == {marks[0]}
    listed.forget_gone((Lead.RESUME, Lead.RETRY), [WaitingItem(Lead.RESUME, "a", "Stopped")])
    assert [*listed.aside] == [marks[0]]
    for broken in (b"", b"[1, [2], [[], 1, 2]]", b"[" * 5000, b"{}"):
        (tmp_path / "put-aside.json").write_bytes(broken)
        assert read_aside(tmp_path) == frozenset()


# Going on with a run that stopped: failed entries, the budget, and one screen for each run

REASON = "The next call could cost up to $2.66, more than the whole budget of $0.5000"


async def go_on(pilot: Pilot[Any]) -> None:
    """Press the key; what it asks or begins is worked out in a thread first."""
    await press(pilot, "R")
    await settle(pilot)


async def test_going_on_asks_for_the_failed_ones_and_by_one_click(tmp_path: Path) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=15)
    app = App(made)
    begun = noting(app)
    async with at_rest(app, (120, 36)) as (_, pilot):
        assert "15 of 20 done, 1 of them failed" in text(app)
        assert f"rosetta resume {RUN_ID[:8]} --retry-failed" in text(app)
        for too in (False, True):
            await press(pilot, "R")
            assert stands(app, GoOnScreen)
            assert "5 entries wait. No answer that is stored" in text(app)
            assert "ask again for the failed entry too" in text(app)
            app.screen.query_one(Checkbox).value = too
            await press(pilot, "enter")
            await settle(pilot)
            assert begun.pop() == {"run_id": made.run_id, "options": {}, "retry_failed": too}
            while not stands(app, HomeScreen):
                await press(pilot, "q")
    made = stopped(tmp_path / "t.sqlite", stored=5)
    app = App(made)
    begun = noting(app)
    async with at_rest(app, (120, 36)) as (_, pilot):
        [line] = [line for line in lines(app) if "continue" in line]
        for word, count in (("Stopped", 0), ("continue", 1)):
            await pilot.click(offset=(line.index(word), lines(app).index(line)))
            await settle(pilot)
            await settle(pilot)
            assert len(begun) == count, "there is nothing to choose"
    assert begun == [{"run_id": made.run_id, "options": {}, "retry_failed": False}]


def test_a_broken_language_card_is_why_a_run_cannot_go_on(
    endpoint: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    path = tmp_path / "rosetta.sqlite"
    endpoint.answer = lambda _: error(401)
    run_id = run_corpus(path, corpus(3), chat_plan(endpoint.url)).finished.run_id
    card = tmp_path / "languages" / "eo.toml"
    card.parent.mkdir(exist_ok=True)
    card.write_text('name = "Esperanto"', "utf-8")
    engine = resume(path, run_id, {}, retry_failed=True)
    engine.start()
    with pytest.raises(CorpusError):
        engine.result()
    [failed] = [each for each in engine.events.drain() if isinstance(each, Failed)]
    assert f"{card}, field 'tag': This field is missing" in failed.message
    assert "fault of the program" not in failed.message
    live = LiveRun()
    live.fold([failed])
    assert f"rosetta resume {run_id[:8]}" in str(banner_words(live))


async def test_the_runs_own_screen_offers_to_raise_the_budget(tmp_path: Path) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=5, plan='{"run": {"budget_usd": 0.5}}')
    app = App(made)
    begun = noting(app)
    async with at_rest(app, (160, 36)) as (_, pilot):
        await press(pilot, "enter")
        made.queue(made.started())
        made.queue(made.progress(5, state=RunState.STOPPED))
        await settle(pilot)
        made.queue(Finished(made.run_id, RunState.STOPPED, 5, 0, 20, 3.0, reason=REASON))
        await settle(pilot)
        assert "R Continue" in lines(app)[-1]
        await go_on(pilot)
        assert stands(app, GoOnScreen)
        assert REASON in str(app.screen.query(Static).first().content)
        assert "Nothing of the budget of $0.5000 is spent" in text(app)
        field = app.screen.query_one("#budget", Input)
        assert app.screen.focused is field
        for wrong in ("-3", "0,45", "abc"):
            field.value = ""
            await press(pilot, *wrong, "enter")
            assert field.value == wrong
            assert "A budget is a number above 0, such as 0.45." in text(app)
        field.value = "20"
        await settle(pilot)
        assert "A budget is" not in text(app)
        await press(pilot, "enter")
        await settle(pilot)
    assert begun == [{"run_id": made.run_id, "options": {"budget_usd": 20.0}, "retry_failed": False}]


async def test_going_on_without_a_limit_takes_a_second_enter(tmp_path: Path) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=5, plan='{"run": {"budget_usd": 0.5}}')
    set_live(made.store, made.number, RunState.STOPPED, Live(reason=REASON))
    app = App(made)
    begun = noting(app)
    async with at_rest(app, (80, 24)) as (_, pilot):
        await go_on(pilot)
        assert REASON in str(app.screen.query(Static).first().content)
        await press(pilot, "backspace", "backspace", "backspace", "enter")
        assert begun == []
        assert "Empty is no limit" in text(app)
        await press(pilot, "enter")
        await settle(pilot)
    assert [each["options"] for each in begun] == [{"budget_usd": None}]


@pytest.mark.parametrize(("typed", "sum_"), [
    *((each, None) for each in ("1_0", "٥", "１０", "1e3", "inf", "nan", "0", "-1", "")),
    *(("0.45", 0.45), (".5", 0.5), ("20", 20.0)),
])  # fmt: skip
def test_budget_is_a_plain_number_above_zero(typed: str, sum_: float | None) -> None:
    assert amount(typed) == sum_


async def test_resumed_run_takes_the_old_screens_place(tmp_path: Path) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=5)
    async with at_rest(App(made), (120, 36)) as (app, pilot):
        await press(pilot, "enter")
        made.play([made.started(), finished(made, RunState.STOPPED)])
        await settle(pilot)
        old = app.screen
        assert isinstance(old, LiveScreen)
        old.table.wish(RowOrder(sort="chrf"))
        await settle(pilot)
        await go_on(pilot)
        new = app.screen
        assert isinstance(new, LiveScreen)
        assert [each for each in app.screen_stack if isinstance(each, LiveScreen)] == [new]
        assert new is not old
        assert not old.is_running
        assert new.table.order.sort == "chrf"
