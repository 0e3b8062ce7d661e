"""Work for a screen in a thread: its answer comes to the screen that asked, or to nobody."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import App as TextualApp
from textual.css.query import NoMatches
from textual.pilot import Pilot
from textual.screen import Screen

from corpora.files.problems import CorpusError, Problem, Severity
from harness.core.failures import HarnessError
from harness.store import deletion, live_runs
from harness.store.sqlite.database import open_store
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.runs import actions as run_acts
from rosetta_tui.runs.actions import NotesScreen
from rosetta_tui.runs.resume import GoOnScreen
from rosetta_tui.settings.screen import SettingsScreen
from rosetta_tui.toolkit import background as module
from rosetta_tui.toolkit import textual_inside
from rosetta_tui.toolkit.background import background, in_thread
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen
from rosetta_tui.toolkit.messages import RunResumed
from tests.tui.runs.made import noting, stopped
from tests.tui.scenes import HOSTILE, scene
from tests.tui.screens import App, acted, at_rest, notices, press, settle


class Held:
    """Work that goes on until it is let go."""

    def __init__(self, found: Any = None) -> None:
        self._go = threading.Event()
        self._began = threading.Event()
        self._found = found

    def __call__(self, *_: Any, **__: Any) -> Any:
        self._began.set()
        assert self._go.wait(600)
        if isinstance(self._found, Exception):
            raise self._found
        return self._found

    def at_once(self, *_: Any, **__: Any) -> Any:
        self._go.set()
        return self()

    def before(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same as what is there, later."""

        def later(*given: Any, **named: Any) -> Any:
            self()
            return real(*given, **named)

        return later

    async def began(self, pilot: Pilot[Any]) -> None:
        while not self._began.is_set():
            await pilot.pause()

    async def go(self, pilot: Pilot[Any]) -> None:
        self._go.set()
        await settle(pilot)


class Coming(Screen[None]):
    """A screen that is long in coming, and asks for an answer as soon as it can."""

    def __init__(self, taken: list[str]) -> None:
        super().__init__()
        self.taken = taken
        self.at_it = asyncio.Event()
        self.go = asyncio.Event()
        self.found = threading.Event()

    def _look(self) -> str:
        self.found.set()
        return "found"

    async def on_mount(self) -> None:
        in_thread(self, "look", self._look, self.taken.append, self.taken.append)
        self.at_it.set()
        await self.go.wait()


async def test_an_answer_is_taken_by_a_whole_screen_only() -> None:
    app, taken = TextualApp[None](), list[str]()
    screen = Coming(taken)
    async with app.run_test() as pilot:
        app.push_screen(screen)
        await screen.at_it.wait()
        while not screen.found.is_set():
            await asyncio.sleep(0)
        for _ in range(20):  # what waits for the screen to be whole may try
            await asyncio.sleep(0)
        assert taken == []
        screen.go.set()
        await settle(pilot)
    assert taken == ["found"]


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("away", ["left", "covered", "here"])
async def test_an_answer_comes_only_where_it_is_wanted(away: str, asks: bool) -> None:
    app, held, screen = TextualApp[None](), Held("found"), Screen[None]()
    taken: list[str] = []
    closed: list[str] = []
    async with app.run_test() as pilot:
        await app.push_screen(screen)
        in_thread(screen, "look", held, taken.append, taken.append, asks=asks, unwanted=closed.append)
        await held.began(pilot)
        if away == "left":
            await app.pop_screen()
        elif away == "covered":
            await app.push_screen(Screen[None]())
        await held.go(pilot)
        while not (taken or closed):  # the thread of a worker that was cancelled ends when it can
            await pilot.pause()
    wanted = away == "here" or (away == "covered" and not asks)
    assert (taken, closed) == ((["found"], []) if wanted else ([], ["found"]))


ERRORS = (
    HarnessError("It is \x1b[31mgone."),
    CorpusError([Problem(Severity.ERROR, "c", "It is \x1b[31mgone.", "Look.")]),
)


@pytest.mark.parametrize(("error", "left"), [(ERRORS[0], True), *((e, False) for e in ERRORS)])
async def test_error_is_said_only_by_a_screen_that_is_there(error: Exception, left: bool) -> None:
    app, held, screen, said = TextualApp[None](), Held(error), Screen[None](), list[str]()
    async with app.run_test() as pilot:
        await app.push_screen(screen)
        in_thread(screen, "look", held, said.append, said.append)
        if left:
            await app.pop_screen()
        await held.go(pilot)
    assert said == ([] if left else [str(error)])


@pytest.mark.parametrize("exclusive", [True, False])
async def test_last_of_one_group_answers_unless_each_has_to(exclusive: bool) -> None:
    app, taken = TextualApp[None](), list[str]()
    held = [Held("first"), Held("second")]
    async with app.run_test() as pilot:
        for each in held:
            in_thread(app.screen, "look", each, taken.append, taken.append, exclusive=exclusive)
        held[0]._go.set()
        await held[1].go(pilot)
    assert sorted(taken) == (["second"] if exclusive else ["first", "second"])


async def test_a_store_that_cannot_be_opened_is_said(tmp_path: Path) -> None:
    app, said, file = TextualApp[None](), list[str](), tmp_path / "s.sqlite"
    file.write_bytes(b"no store at all, whatever it is called" * 100)
    async with app.run_test() as pilot:
        background(app.screen, file, "look", lambda _: said.append("read"), print, said.append)
        module.telling(app.screen, "Title")(HOSTILE[0])
        await settle(pilot)
    assert len(said) == 1
    assert str(file) in said[0]


# Dialogs that are answered by a thread


@pytest.mark.parametrize("over", ["", "ctrl+p"])
async def test_words_that_are_being_kept_are_not_thrown_away(over: str) -> None:
    app, held, told = TextualApp[None](), Held(), list[bool | None]()
    async with app.run_test(size=(100, 30)) as pilot:
        app.push_screen(NotesScreen("run", [], "", held), told.append)
        await pilot.pause()
        await pilot.press("a", "ctrl+s", "escape", "ctrl+s")
        assert isinstance(app.screen, NotesScreen)
        assert "Being kept" in str(app.screen.query_one("#said").render())
        if over:
            await pilot.press(over)
            assert not isinstance(app.screen, NotesScreen)
        await held.go(pilot)
        if over:
            assert told == []
            await press(pilot, "escape")
        assert told == [True]
        assert len(app.screen_stack) == 1
        app.push_screen(NotesScreen("run", [], "", Held(HarnessError("No room.")).at_once), told.append)
        await pilot.pause()
        await press(pilot, "a", "ctrl+s")
        await pilot.press("escape")
        assert isinstance(app.screen, ConfirmScreen), "what was not kept is thrown away after a question"
        app.screen.dismiss(True)
        await settle(pilot)
        assert told == [True, False]


# Acts


async def test_act_twice_starts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textual_inside, "OPENING_SECONDS", 0)  # a reading that takes longer than keys wait for
    made, held = stopped(tmp_path / "s.sqlite", stored=15), Held()
    monkeypatch.setattr(run_acts, "spent_usd", held.before(live_runs.spent_usd))
    app, starting = App(made), Held()
    app.start_run = starting.before(app.start_run)
    begun = noting(app)
    async with at_rest(app, (120, 36)) as (_, pilot):
        await pilot.press("R", "comma")
        assert isinstance(app.screen, SettingsScreen)
        await held.go(pilot)
        assert isinstance(app.screen, SettingsScreen), "no question opens over another screen"
        await press(pilot, "q")
        assert isinstance(app.screen, HomeScreen)
        held._go.clear()
        held._began.clear()
        await pilot.press("R")
        await held.began(pilot)
        await pilot.press("R")
        await held.go(pilot)
        assert [type(screen) for screen in app.screen_stack].count(GoOnScreen) == 1
        await press(pilot, "escape")
        for _ in range(2):
            app.screen.post_message(RunResumed(made.run_id, {}, False))
            await pilot.pause()
            await starting.began(pilot)
        await pilot.pause()
        assert "A run is starting already." in notices(app)
        await starting.go(pilot)
        assert [type(screen) for screen in app.screen_stack].count(LiveScreen) == 1
    assert len(begun) == 1


async def test_a_key_waits_for_the_question_that_the_one_before_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, held = stopped(tmp_path / "s.sqlite", stored=15), Held()
    monkeypatch.setattr(textual_inside, "OPENING_SECONDS", 600)
    monkeypatch.setattr(run_acts, "stop_of_run", held.before(run_acts.stop_of_run))
    async with at_rest(App(made), (120, 36)) as (app, pilot):
        await Pilot.press(pilot, "R", "n")  # n begins a new run at home; ours would wait until it has acted
        await held.began(pilot)
        for _ in range(3):
            await pilot.pause()
        await held.go(pilot)
        await acted(app)
        await settle(pilot)
        assert isinstance(app.screen, GoOnScreen)
        assert notices(app) == []


@pytest.mark.parametrize(
    ("key", "found"), [("R", None), ("delete", deletion.HoldsSecrets("kept"))], ids=["R", "delete"]
)
@pytest.mark.thorough
async def test_a_question_that_the_palette_hid_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, found: Any
) -> None:
    made = stopped(tmp_path / "s.sqlite", stored=15)
    held = Held(found)
    monkeypatch.setattr(deletion, "trash", held)
    monkeypatch.setattr(run_acts, "stop_of_run", held.before(run_acts.stop_of_run))
    async with at_rest(App(made), (120, 36)) as (app, pilot):
        await pilot.press(key)
        await held.began(pilot)
        await pilot.press("ctrl+p")
        await held.go(pilot)
        await press(pilot, "escape")
        assert notices(app) == [module.COVERED]


class IncompleteScreen(Screen[None]):
    """Looks for a part that it never has."""

    def on_mount(self) -> None:
        self.query_one("#part")


@pytest.mark.parametrize("leave", [App.exit, App.pop_screen])
async def test_screen_left_before_it_is_composed_is_no_fault(
    tmp_path: Path, leave: Callable[[RosettaApp], object]
) -> None:
    app = App(None, tmp_path / "s.sqlite")
    async with at_rest(app, (80, 24)):
        app.push_screen(SettingsScreen(app.store_path))
        leave(app)
    assert app.return_code in {None, 0}


async def test_screen_that_lacks_a_part_is_a_fault(tmp_path: Path) -> None:
    app = App(None, tmp_path / "s.sqlite")
    with pytest.raises(NoMatches):
        async with at_rest(app, (80, 24)):
            await app.push_screen(IncompleteScreen())


async def test_live_screen_left_before_it_is_composed_closes_its_store(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=10, stored=5)
    app, store = App(made), open_store(made.path)
    async with at_rest(app, (80, 24)):
        app.push_screen(LiveScreen(made.queue, store, None))
        app.exit()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        store.execute("SELECT 1")
