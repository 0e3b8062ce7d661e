"""Every screen there is, over a store whose every text is hostile, in two sizes.

A screen that is new and not in the walk fails it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

import rosetta_tui
from corpora.files.problems import Problem, Severity
from corpora.model.entry import Entry, Segment
from harness.leaderboard.official import official_lists
from harness.settings import change_settings
from harness.store.attachments import change_words
from harness.store.deletion import trash
from harness.store.run_list import list_runs
from harness.store.sqlite.database import open_store
from rosetta_tui.corpus.detail_screens import CorpusChecksScreen
from rosetta_tui.corpus.open_corpus import OpenCorpusScreen
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.leaderboard.screen import OfficialScreen
from rosetta_tui.live.steering import ConcurrencyScreen
from rosetta_tui.project import screen as project_screen
from rosetta_tui.project.screen import ToldScreen
from rosetta_tui.runs.resume import SETTINGS, GoOnScreen, RetryScreen, ScoreAgainScreen, Stop
from rosetta_tui.session.trials import RehearsalNeeds
from rosetta_tui.settings.actions import AskSettingScreen, PressKeyScreen
from rosetta_tui.submission import screen as submission_screen
from rosetta_tui.submission.screen import RefusedScreen, RehearseScreen
from rosetta_tui.sweep.screen import SweepScreen
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.choose import ChooseScreen, ConfirmScreen
from rosetta_tui.toolkit.messages import RunsCompared
from rosetta_tui.toolkit.reading_screen import CommandsScreen
from rosetta_tui.vault.facts import AskedRequest
from rosetta_tui.vault.screen import SECTIONS, AnswerScreen
from tests.harness.evaluation import corpus_of
from tests.harness.release.made import told_card
from tests.harness.sweep.made import MadeCell, made_sweep
from tests.tui.compare.compared import finished
from tests.tui.project.made import halfway
from tests.tui.scenes import HOSTILE, acting
from tests.tui.screens import App, drawn, rest, settle
from tests.tui.submission.made import hostile
from tests.tui.vault.made import filled, told_to

NAME = HOSTILE[0] + HOSTILE[1] + HOSTILE[3] + HOSTILE[6]
TEXTS = [text[:400] for text in HOSTILE]
NAMES = [text[:80].replace("\x00", "") for text in HOSTILE]
SWEPT = [
    MadeCell({"model": model, "prompt": prompt}, 0.5, inputs=(model,), trouble=model)
    for model in NAMES
    for prompt in NAMES[:2]
]

WALK = (
    ("question_mark", "escape", "ctrl+o", "escape", "ctrl+p", "slash", "escape", "t", "escape"),
    ("s", "escape", "f", "escape", "l", "s", "escape", "q", "p", "right", "q", "w", "q"),
    ("n", "ctrl+t", "escape", "comma", "right", "end", "left", *("down",) * 7, "right", "end", "left", "q"),
    ("b", "enter", "i", "q", "c", "q", "enter", "right", "right", "q", "q", "q"), ("W", "right", "m", "q"),
    ("V", "o", "escape", "enter", "2", "3", "4", "5", "q", "q"),
    ("L", "n", "ctrl+t", "escape", "o", "escape", "enter", "s", "escape", "t", "q", "q"),
    ("L", "enter", "2", "3", "4", "5", "q", "q"),
    ("M", "o", "escape", "enter", "c", "2", "3", "4", "5", "q", "q"),
    ("enter", "m", "escape", "s", "escape", "e", "escape", "B", "escape", "enter", "right", "p", "r", "a", "escape", "q", "q"),
)  # fmt: skip
"""Keys from Home and back to it."""

PASSED = {"escape", "q", "left", "down"}
"""Keys after which nobody looks: they lead to what was looked at before, or past a line to the next key."""


BASES = {
    "EntryByEntryScreen",
    "ListScreen",
    "PanedScreen",
    "ReasonedScreen",
    "ReadingScreen",
    "SearchedScreen",
    "SectionScreen",
}
"""Screens that others are made from."""

OWN_CLICKS = {
    f"screen.section('{name}')" for name in (*SECTIONS, *project_screen.SECTIONS, *submission_screen.SECTIONS)
}
"""What the program's own words on a screen do when they are clicked."""


def screens() -> set[str]:
    found = set()
    for module in pkgutil.walk_packages(rosetta_tui.__path__, "rosetta_tui."):
        if module.name.startswith(("rosetta_tui.commands", "rosetta_tui.review")):
            continue
        made = importlib.import_module(module.name)
        for each in vars(made).values():
            if isinstance(each, type) and issubclass(each, Screen) and each.__module__ == made.__name__:
                found.add(each.__name__)
    return found - BASES


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a store of two runs with notes and tags, and one that was deleted."""
    found = tmp_path_factory.mktemp("hostile") / "rosetta.sqlite"
    entries = [
        Entry(id=f"{n}[/b]", source=each, reference=f"{each}r", provenance=each[:40], notes=each,
              register=each[:40], context=each[:40], segment=Segment.DEVELOPMENT, variants=(each,))
        for n, each in enumerate(TEXTS)
    ]  # fmt: skip
    for number in range(3):
        outputs = [f"{each}{number}" for each in TEXTS]
        finished(found, corpus_of(entries), outputs, f"{NAME}{number}", condition=HOSTILE[6])
    store = open_store(found)
    runs = list_runs(store)
    store.execute(
        "UPDATE runs SET dataset_id = ?, language_pair = ?, plan = json_set(plan, '$.corpus_files', json_array(?))",
        (NAME, HOSTILE[4], f"/tmp/{NAME.replace('/', '')}"),
    )
    store.execute("UPDATE corpora SET dataset = json_set(dataset, '$.id', ?)", (NAME,))
    store.execute("UPDATE results SET output = NULL, error_class = 'timeout', error = ? WHERE position = 2", (NAME,))
    change_words(store, runs[0].number, note=" ".join(each for each in TEXTS if "\x00" not in each)[:300])
    change_words(store, runs[0].number, add=["[/b]", "[@click=app.quit]x[/]"])
    trash(store, runs[2].number)
    store.close()
    people = [" ".join(HOSTILE[n].split())[:60] for n in (0, 3, 4, 6)]
    filled(found.parent, found.parent / "\u202evault", title=" ".join(NAME.split()), names=people)
    told_to(found.parent, HOSTILE[3], HOSTILE[6])
    printable = [each for each in HOSTILE if each.isprintable()]
    words = dict(zip(("theme", "model"), printable, strict=False))
    change_settings(found.parent, words, {"keys": dict.fromkeys(printable, "x")})
    swept = found.parent / "swept.sqlite"
    axes = {"model": NAMES, "prompt": NAMES[:2]}
    made_sweep(swept, axes, SWEPT, name=HOSTILE[0] + HOSTILE[3])
    halfway(found.parent, found.parent / "\u202ewords", NAME)
    hostile(found.parent, found.parent / "in", NAME, TEXTS)
    return found


def dialogs(path: Path, run: int) -> Iterator[Screen[Any]]:
    """Make the screens to which no short way leads, with hostile words in them."""
    yield SweepScreen(path.parent / "swept.sqlite")
    yield ChooseScreen("Which", {"a": HOSTILE[0], "b": HOSTILE[1]}, "a")
    yield AskSettingScreen(NAME, NAME, lambda _: None, now=HOSTILE[1])
    yield ConcurrencyScreen(8)
    yield ConfirmScreen(show(NAME), "Yes")
    yield RehearseScreen(RehearsalNeeds(model=True, made_for=NAME, corpus=NAME))
    yield RefusedScreen("\n".join(TEXTS))
    yield ToldScreen(NAME, [(NAME, "plain"), (HOSTILE[1], "warn")])
    yield CommandsScreen({NAME: HOSTILE[0], HOSTILE[1]: NAME})
    yield GoOnScreen(Stop(_ids(path)[0], NAME, 3, 2, 0.5, 0.1, NAME))
    yield OpenCorpusScreen()
    yield PressKeyScreen("act", "x", lambda _: None)
    yield RetryScreen(NAME, 2, 3, dict.fromkeys(SETTINGS, NAME), dict)
    yield ScoreAgainScreen(path, run, NAME, {})
    wrong = Problem(Severity.WARNING, NAME, NAME, NAME, entry=NAME, places=(0,))
    yield CorpusChecksScreen((wrong,), None)
    request: Any = None
    there = path.parent
    facts = [(HOSTILE[0], NAME), (NAME, HOSTILE[1])]
    cards = [told_card(NAME, 50, 0.5, submitter=NAME), told_card(HOSTILE[1], 40, 0.4)]
    yield OfficialScreen(official_lists(cards))
    yield AnswerScreen(AskedRequest(there, there, request, None, NAME, facts, False, Path(NAME)))


def _ids(path: Path) -> list[str]:
    store = open_store(path)
    found = [run.run_id for run in list_runs(store)]
    store.close()
    return found


class Walk:
    """Goes through screens, and looks at each line of each of them."""

    def __init__(self, pilot: Pilot[Any], app: App) -> None:
        self._pilot, self._app = pilot, app
        self.seen: set[str] = set()
        self._known: WeakSet[Screen[Any]] = WeakSet()

    async def look(self) -> None:
        app = self._app
        await rest(self._pilot)
        if app.screen not in self._known:  # its first sight
            self._known.add(app.screen)
            await settle(self._pilot)
        self.seen |= {kind.__name__ for kind in type(app.screen).__mro__}
        for strip in drawn(app):
            assert acting(strip.text) == [], (app.screen, strip.text)
            for segment in strip:
                style = segment.style
                assert style is None or style.link is None, segment
                click = "" if style is None else str(style.meta.get("@click", ""))
                assert not click or click in OWN_CLICKS, segment
        assert app.is_running
        assert app.return_code is None

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self._pilot.press(key)
            if key not in PASSED:
                await self.look()
        await rest(self._pilot)

    async def click_all_over(self) -> None:
        """Click words in the middle of the screen, twice at each place, then leave what that opened."""
        here = self._app.screen
        for row in range(2, self._app.size.height - 2, 4):
            await self._pilot.click(offset=(self._app.size.width // 3, row))
        await self.look()
        while self._app.screen is not here and len(self._app.screen_stack) > 2:
            await self.press("escape")


@pytest.mark.costly("a walk through every screen there is")
@pytest.mark.parametrize("size", [(80, 24), pytest.param((200, 60), marks=pytest.mark.thorough)])
async def test_no_text_does_anything_on_any_screen(
    size: tuple[int, int], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(path.parent))
    app = App(None, path)
    ids = _ids(path)
    async with app.run_test(size=size, notifications=True) as pilot:
        walk = Walk(pilot, app)
        await walk.look()
        for keys in WALK:
            await walk.press(*keys)
            assert isinstance(app.screen, HomeScreen), (keys, app.screen)
        app.post_message(RunsCompared(tuple(ids)))
        await walk.look()
        await walk.press("down", "d", "q", "enter", "right", "q", "m", "escape", "q")
        assert isinstance(app.screen, HomeScreen), app.screen
        for dialog in dialogs(path, 1):
            app.push_screen(dialog)
            await walk.look()
            if dialog in app.screen_stack:
                await app.pop_screen()
        await walk.click_all_over()
        assert screens() - walk.seen == set()
