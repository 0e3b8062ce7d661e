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
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from review.desktop.frame.work import Desk, Work
from review.desktop.item.item_page import ItemPage
from review.desktop.item.pauses import PAUSES, PausePage
from review.desktop.look.look import SIZES, Look
from review.desktop.look.style import Theme
from review.desktop.pages.choose_page import ChoosePage, FilePage
from review.desktop.pages.ending_pages import ErasePage
from review.desktop.pages.first_pages import ConsentPage, OrganisationPage
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
from tests.desktop.sitting_scene import assert_more_is_told
from tests.desktop.visit_scene import Enter, Entry
from tests.review.session.scenes import CODE, batch_of, items_of, write_file

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def entry(enter: Enter, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Entry:
    """A file was named, and another person's folder lies beside it on the stick."""
    monkeypatch.setenv("HOME", str(folder))
    file = write_file(batch_of(items_of(2)), folder / "stick" / "deep")
    return enter(places=[file], sticks=[folder / "stick"])


@pytest.fixture
def disk(entry: Entry, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk(folder)
    disk.watch(monkeypatch, entry)
    return disk


def test_from_the_first_page_to_handing_over(entry: Entry, disk: Disk) -> None:
    entry.visit.flow._first = True  # it begins anew: the disk is watched only from here on
    entry.visit.begin()
    entry.page(OrganisationPage)
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r")
    entry.page(ConsentPage)
    entry.press("\r")
    entry.page(ItemPage)
    entry.answer("3")
    entry.press("c")
    entry.type("half a thought")
    entry.press("\x1b", "x")
    entry.page(HandOverPage)
    entry.press("\r", "\r")
    entry.page(ItemPage)
    entry.press("q")
    entry.page(ChoosePage)
    assert disk.touched == []


def test_finding_a_file_and_changing_settings(entry: Entry, disk: Disk, folder: Path) -> None:
    entry.press("\x1b")
    entry.page(ChoosePage)
    entry.click("Choose a file")
    (folders,) = entry.page(FilePage).findChildren(Folders)
    entry.click("deep")
    folders.open(Path(folder.anchor))
    entry.idle()
    entry.press("\x1b")
    entry.window.open_settings()
    entry.click("Français")
    entry.press("\x1b")
    entry.click("English")
    entry.page(ChoosePage)
    entry.window.open_settings()
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

    def __init__(self, qtbot: QtBot, laptop: Laptop) -> None:
        self.qtbot, self.laptop, self.work = qtbot, laptop, Work()
        self.onward: list[Onward] = []

    def show(self, view: View, language: str = "en", size: int = 20) -> PausePage:
        opening = Opening(self.laptop, places=[], language=language)
        look = Look(Theme.LIGHT, size, lambda name, value: None)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        look.apply(application)
        page = PAUSES[view.phase](Desk(opening, self.work, look), view, ANSWERED)
        self.qtbot.addWidget(page)
        page.answered.connect(self.onward.append)
        page.resize(1024, 600)
        page.show()
        page.begin()
        self.onward.clear()
        return page

    def press(self, page: PausePage, *keys: str) -> list[Onward]:
        """Return where the keys lead."""
        self.onward.clear()
        for key in keys:
            code = {"\r": Qt.Key.Key_Return, "\x1b": Qt.Key.Key_Escape}.get(key, ord(key.upper()))
            none = Qt.KeyboardModifier.NoModifier
            event = QKeyEvent(QKeyEvent.Type.KeyPress, int(code), none, key)
            QApplication.sendEvent(page, event)
        return self.onward


@pytest.fixture
def bench(qtbot: QtBot, tmp_path: Path) -> Iterator[Bench]:
    with Laptop.open(tmp_path) as laptop:
        bench = Bench(qtbot, laptop)
        yield bench
        bench.work.finish()


def read(page: PausePage) -> str:
    return "\n".join(label.text() for label in page.findChildren(QLabel))


def buttons(page: PausePage) -> dict[str, Button]:
    return {each.text(): each for each in page.findChildren(Button)}


@pytest.mark.parametrize("phase", VIEWS)
def test_the_same_keys_as_on_an_item_lead_on(bench: Bench, phase: Phase) -> None:
    view = VIEWS[phase]
    page = bench.show(view)
    undo = [Onward.UNDO] if view.can_undo else []
    assert bench.press(page, "x", "w", "?", "q", "u") == [
        Onward.HAND_OVER,
        Onward.WITHDRAW,
        Onward.HELP,
        Onward.LEAVE,
        *undo,
    ]
    assert bench.press(page, "\x1b") == [Onward.LEAVE]
    assert bench.press(page, "1", "4", "0", "s", "c", "d") == []


def test_f1_and_ctrl_z_mean_here_what_they_mean_on_an_item(bench: Bench) -> None:
    page = bench.show(VIEWS[Phase.END])
    none, control = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
    for key, modifier in ((Qt.Key.Key_F1, none), (Qt.Key.Key_Z, control)):
        event = QKeyEvent(QKeyEvent.Type.KeyPress, int(key), modifier, "")
        QApplication.sendEvent(page, event)
    assert bench.onward == [Onward.HELP, Onward.UNDO]


@pytest.mark.parametrize(
    ("view", "onward"),
    [
        (VIEWS[Phase.REST], Onward.GO_ON),
        (VIEWS[Phase.SKIPPED], Onward.GO_ON),
        (VIEWS[Phase.END], Onward.HAND_OVER),
        (HANDED_OVER, Onward.LEAVE),
        (VIEWS[Phase.WITHDRAWN], Onward.HAND_OVER),
    ],
    ids=["rest", "later", "end", "handed-over", "withdrawn"],
)
def test_enter_does_what_the_main_button_does(bench: Bench, view: View, onward: Onward) -> None:
    page = bench.show(view)
    (main,) = [each for each in buttons(page).values() if each.property("role") == "main"]
    assert bench.press(page, "\r") == [onward]
    bench.onward.clear()
    main.click()
    assert bench.onward == [onward]


def test_undo_is_offered_only_where_there_is_something_to_take_back(bench: Bench) -> None:
    assert "Take back the last answer" in buttons(bench.show(VIEWS[Phase.END]))
    assert "Take back the last answer" not in buttons(bench.show(View(Phase.END, 1, 1)))


def test_the_end_says_what_was_answered_and_what_to_do(bench: Bench) -> None:
    page = bench.show(VIEWS[Phase.END])
    said = read(page)
    assert "That was the last one. Thank you!" in said
    assert "You answered 58 of 60." in said
    assert "Excellent: 1 · Acceptable: 1 · Gist: 2 · Reject: 1 · Could not judge: 1" in said
    assert "2 sentences are left for later." in said
    assert "Put the stick into this computer" in said
    assert "Look at them" in buttons(page)


def test_after_handing_over_the_end_says_when(bench: Bench) -> None:
    said = read(bench.show(HANDED_OVER))
    assert "Handed over at 2026-03-02 14:05." in said
    assert "You are done." in said
    assert "Put the stick" not in said


def test_what_could_not_be_saved_is_said_with_one_line_to_copy(bench: Bench) -> None:
    view = View(Phase.END, 1, 1, trouble="This was not saved.", detail="SQLITE_FULL")
    page = bench.show(view)
    assert "This was not saved." in read(page)
    assert "Copy the detail" in buttons(page)


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("size", SIZES[-1:])
@pytest.mark.parametrize("phase", VIEWS)
def test_nothing_is_cut_off_on_a_small_screen(
    bench: Bench, phase: Phase, size: int, language: str
) -> None:
    page = bench.show(VIEWS[phase], language, size)
    QApplication.processEvents()  # what was laid out twice is in its last place
    assert page.minimumSizeHint().width() <= 1024
    assert page.reading.viewport().height() >= 2 * page.fontMetrics().lineSpacing()
    for button in buttons(page).values():
        if button.isVisible():
            assert button.height() >= max(44, button.heightForWidth(button.width()))
            right = button.mapTo(page, button.rect().bottomRight())
            assert right.x() <= page.width()
    assert_more_is_told(page, phase)
    foot = [each for each in page.findChildren(Button) if each.property("role") == "main"]
    page.reading.bring(foot[0])  # with the largest letters it stands at the end of what scrolls
    assert foot[0].mapTo(page, foot[0].rect().bottomRight()).y() <= page.height()
