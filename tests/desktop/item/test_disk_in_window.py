"""The thread that draws touches no disk: a stick that answers slowly must not make the window stand still."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from review.desktop.frame.work import Desk, Work
from review.desktop.item.item_page import ItemPage
from review.desktop.item.pauses import PAUSES, PausePage
from review.desktop.pages.choose_page import ChoosePage, FilePage
from review.desktop.pages.ending_pages import ErasePage
from review.desktop.pages.folders import Folders
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.pages.settings_page import SettingsPage
from review.desktop.parts.buttons import Button
from review.log.laptop import Laptop
from review.rating import Rating
from review.session.opening import Opening
from review.session.view import Phase, ShownItem, View
from review.session.words import catalogue as words
from review.session.words.keys import Onward
from tests.desktop.visit_scene import CONTROL, PLAIN, Enter, Entry, Key, dressed, strike
from tests.review.session.scenes import batch_of, items_of, write_file

_FILES = [
    *((os, name) for name in ("stat", "lstat", "scandir", "listdir", "open", "unlink", "mkdir")),
    (io, "open"),
]
"""What the standard library reaches a file system by."""


class Disk:
    """Notes what the thread of the test, which is that of the window, does with folders and the laptop's file."""

    def __init__(self, folder: Path) -> None:
        self._places = tuple(str(each) for each in (folder, words.OURS))
        self._thread = threading.get_ident()
        self.touched: list[str] = []

    def watch(self, monkeypatch: pytest.MonkeyPatch, entry: Entry) -> None:
        for module, name in _FILES:
            monkeypatch.setattr(module, name, self._noting(getattr(module, name), name))
        entry.laptop.connection.set_trace_callback(lambda said: self._note("sqlite", said))

    def _noting(self, act: Callable[..., Any], name: str) -> Callable[..., Any]:
        def noted(path: Any = ".", *given: Any, **wishes: Any) -> Any:
            if isinstance(path, str | os.PathLike) and str(path).startswith(self._places):
                self._note(name, str(path))
            return act(path, *given, **wishes)

        return noted

    def _note(self, name: str, what: str) -> None:
        if threading.get_ident() == self._thread:
            self.touched.append(f"{name} {what}")


@pytest.mark.costly("goes through every page, with the disk watched")
def test_no_disk_is_touched(enter: Enter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file was named, and another person's folder lies beside it on the stick."""
    monkeypatch.setenv("HOME", str(tmp_path))
    file = write_file(batch_of(items_of(2)), tmp_path / "stick" / "deep")
    entry, disk = enter(places=[file], sticks=[tmp_path / "stick"]), Disk(tmp_path)
    disk.watch(monkeypatch, entry)
    entry.visit.flow._first = True  # it begins anew: the disk is watched only from here on
    entry.visit.begin()
    entry.to_item()
    entry.answer("3")
    entry.press("c")
    entry.type("half a thought")
    entry.press("\x1b", "x")
    entry.page(HandOverPage)
    entry.press("\r", "\r")
    entry.page(ItemPage)
    entry.press("q")
    entry.page(ChoosePage)
    entry.click("Choose a file")
    (folders,) = entry.page(FilePage).findChildren(Folders)
    entry.click("deep")
    folders.open(tmp_path)
    entry.idle()
    entry.press("\x1b")
    entry.window.open_settings()
    entry.click("Français")
    entry.page(SettingsPage).erase.emit()
    entry.page(ErasePage)
    entry.press("\x1b")
    entry.page(ChoosePage)
    assert disk.touched == []


ANSWERED = tuple(
    ShownItem(f"{n:016x}", "s", "c", n, 60, rating=rating, stands=True)
    for n, rating in enumerate([*Rating, Rating.GIST, None])
)
VIEWS = {
    Phase.REST: View(Phase.REST, 25, 60, can_undo=True),
    Phase.SKIPPED: View(Phase.SKIPPED, 55, 60, skipped=5, can_undo=True),
    Phase.END: View(Phase.END, 58, 60, skipped=2, can_undo=True),
    Phase.WITHDRAWN: View(Phase.WITHDRAWN, 0, 60, said="Everything is erased."),
}
HANDED_OVER = View(Phase.END, 60, 60, can_undo=True, handed_over="2026-03-02 14:05")


class Bench:
    """Makes pages and notes where they lead."""

    def __init__(self, qtbot: QtBot, laptop: Laptop, size: int = 20) -> None:
        self.qtbot, self.laptop, self.work = qtbot, laptop, Work()
        self.look = dressed(size)
        self.onward: list[Onward] = []

    def show(self, view: View, language: str = "en") -> PausePage:
        opening = Opening(self.laptop, places=[], language=language)
        page = PAUSES[view.phase](Desk(opening, self.work, self.look), view, ANSWERED)
        self.qtbot.addWidget(page)
        page.answered.connect(self.onward.append)
        page.resize(1024, 600)
        page.show()
        page.begin()
        self.onward.clear()
        return page

    def press(
        self, page: PausePage, *keys: Key, modifiers: Qt.KeyboardModifier = PLAIN
    ) -> list[Onward]:
        """Return where the keys lead."""
        self.onward.clear()
        for key in keys:
            strike(page, key, modifiers)
        return [*self.onward]


@pytest.fixture
def laptop(tmp_path: Path) -> Iterator[Laptop]:
    with Laptop.open(tmp_path) as laptop:
        yield laptop


def read(page: PausePage) -> str:
    return "\n".join(label.text() for label in page.findChildren(QLabel))


def buttons(page: PausePage) -> dict[str, Button]:
    return {each.text(): each for each in page.findChildren(Button)}


ENTER_LEADS = [
    (VIEWS[Phase.REST], Onward.GO_ON),
    (VIEWS[Phase.SKIPPED], Onward.GO_ON),
    (VIEWS[Phase.END], Onward.HAND_OVER),
    (HANDED_OVER, Onward.LEAVE),
    (VIEWS[Phase.WITHDRAWN], Onward.HAND_OVER),
]


def test_pages_between_items_know_the_keys_of_an_item(qtbot: QtBot, laptop: Laptop) -> None:
    bench = Bench(qtbot, laptop)
    for view, enter in ENTER_LEADS:
        page = bench.show(view)
        undo = [Onward.UNDO] if view.can_undo else []
        led = [Onward.HAND_OVER, Onward.WITHDRAW, Onward.HELP, Onward.LEAVE, *undo]
        assert bench.press(page, "x", "w", "?", "q", "u") == led
        assert bench.press(page, "\x1b") == [Onward.LEAVE]
        assert bench.press(page, "1", "4", "0", "s", "c", "d") == []
        assert bench.press(page, Qt.Key.Key_F1) == [Onward.HELP]
        assert bench.press(page, "z", modifiers=CONTROL) == undo
        (main,) = [each for each in buttons(page).values() if each.property("role") == "main"]
        assert bench.press(page, "\r") == [enter]
        bench.onward.clear()
        main.click()
        assert bench.onward == [enter]
    bench.work.finish()


def test_last_page_says_what_was_answered_and_what_to_do(qtbot: QtBot, laptop: Laptop) -> None:
    bench = Bench(qtbot, laptop)
    page = bench.show(VIEWS[Phase.END])
    said = read(page)
    assert "That was the last one. Thank you!" in said
    assert "You answered 58 of 60." in said
    assert "Excellent: 1 · Acceptable: 1 · Gist: 2 · Reject: 1 · Could not judge: 1" in said
    assert "2 sentences are left for later." in said
    assert "Put the stick into this computer" in said
    assert {"Look at them", "Take back the last answer"} <= {*buttons(page)}
    said = read(bench.show(HANDED_OVER))
    assert "Handed over at 2026-03-02 14:05." in said
    assert "You are done." in said
    assert "Put the stick" not in said
    page = bench.show(View(Phase.END, 1, 1, trouble="This was not saved.", detail="SQLITE_FULL"))
    assert "This was not saved." in read(page)
    assert "Copy the detail" in buttons(page)
    assert "Take back the last answer" not in buttons(page)
    bench.work.finish()
