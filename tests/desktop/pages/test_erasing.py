"""Deleting everything in the window: what it says first, what it takes, and what is left after."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import keyring
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard, QGuiApplication
from PySide6.QtWidgets import QApplication

from harness.sealed.keys import Identity, Role
from review.desktop.frame.page import Page
from review.desktop.item.item_page import ItemPage
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.pages.ending_pages import ErasedPage, ErasePage
from review.desktop.pages.first_pages import OrganisationPage
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Tick
from review.desktop.program import running
from review.desktop.program.application import forget_clipboard
from review.log.laptop import Laptop
from review.session import waiting
from review.session.erasing import erase_everything
from tests.desktop.sitting_scene import Scene, SceneOf
from tests.desktop.visit_scene import Enter, Entry
from tests.keyring_in_memory import MemoryKeyring
from tests.review.session.scenes import batch_of, write_file

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape
_PATIENCE = 10
Go = threading.Event


@pytest.fixture
def scene(scene_of: SceneOf) -> Scene:
    """Two answers were given, a text is being typed, and the person asks for everything to be deleted."""
    scene = scene_of()
    scene.press("4", "2", "c", *"half a thought")
    ask(scene)
    return scene


def ask(scene: Scene) -> None:
    scene.window.erase.emit()
    scene.idle()
    scene.page_of(ErasePage)


def delete(scene: Scene) -> ErasePage:
    """Press the button; nothing is waited for."""
    page = scene.page_of(ErasePage)
    page.findChild(Tick).setChecked(True)
    scene.button("Delete everything").click()
    return page


@pytest.fixture
def go(monkeypatch: pytest.MonkeyPatch) -> Iterator[Go]:
    """Let a deletion wait until it is let go."""
    go = Go()
    held = lambda laptop: (go.wait(_PATIENCE), erase_everything(laptop))[1]  # noqa: E731
    monkeypatch.setattr(running, "erase_everything", held)
    yield go
    go.set()


def test_no_key_deletes_all_lead_back(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    said = scene.texts()
    assert "1 file with sentences is kept on this computer." in said
    assert "2 answers are kept on this computer." in said
    assert "What was said about 2 sentences lies only on this computer." in said
    assert scene.button("Hand over first").property("role") == "main"
    assert not scene.button("Delete everything").isEnabled()
    keys: list[list[str | Qt.Key]] = [[ESC], [*"wq1240x!?d", Qt.Key.Key_Delete, ESC], [ENTER, ESC]]
    for pressed in keys:
        scene.page_of(ErasePage).findChild(Tick).setChecked(True)
        scene.press(*pressed)
        assert scene.laptop.path.exists()
        scene.laptop.set_setting("still", "open")
        ask(scene)
    scene.click("Keep everything")
    assert scene.page_of(ItemPage).texts.source.toPlainText() == "Source 3."
    ask(scene)
    go, hand_over = Go(), waiting.hand_over
    slow = lambda *given: (go.wait(_PATIENCE), hand_over(*given))[1]  # noqa: E731
    monkeypatch.setattr(waiting, "hand_over", slow)
    scene.press(ENTER)
    page = scene.page_of(HandOverPage)
    assert not page.offers_settings
    page.enter()
    scene.window.open_settings()
    assert scene.here is page
    go.set()
    scene.idle()
    scene.window.open_settings()
    assert scene.here is page
    assert "You may pull the stick out." in scene.texts()
    assert len(list(scene.stick.iterdir())) == 1
    scene.press(ENTER)
    scene.page_of(ErasePage)
    assert "lies only on this computer" not in scene.texts()
    assert scene.button("Keep everything").property("role") == "main"
    with Laptop.open(scene.home):
        delete(scene)
        scene.idle()
        assert "Nothing was deleted: the program is open in another window." in scene.texts()
    assert scene.laptop.path.exists()
    scene.press(ESC, ESC, "1")
    assert scene.session.view.done == 3


def test_keyboard_alone_deletes_in_two_places_and_nothing_is_left(scene: Scene) -> None:
    page = scene.page_of(ErasePage)
    for wanted in (page.findChild(Tick), scene.button("Delete everything")):
        for _ in range(20):
            if QApplication.focusWidget() is wanted:
                break
            scene.press(Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is wanted
        scene.press(Qt.Key.Key_Space)
    scene.page_of(ErasedPage)
    assert "Everything is deleted" in scene.texts()
    scene.press(ESC)
    scene.page_of(ErasedPage)
    scene.press(ENTER)
    assert not scene.window.isVisible()
    assert not scene.home.exists()


@pytest.mark.parametrize("ours", [True, False])
def test_only_our_copy_leaves_the_clipboard(monkeypatch: pytest.MonkeyPatch, ours: bool) -> None:
    monkeypatch.setattr(QClipboard, "ownsClipboard", lambda _: ours)
    QGuiApplication.clipboard().setText("copied")
    forget_clipboard()
    assert QGuiApplication.clipboard().text() == ("" if ours else "copied")


class Stubborn(MemoryKeyring):
    """Keeps what it is told to delete."""

    def delete_password(self, service: str, username: str) -> None:
        raise RuntimeError("locked")


def test_what_cannot_be_deleted_is_told_by_name_and_tried_again(scene: Scene) -> None:
    keyring.set_keyring(stubborn := Stubborn())
    Identity.load(scene.home, Role.LAPTOP)
    delete(scene)
    scene.idle()
    said = scene.texts()
    assert "Not everything is deleted" in said
    assert "the keys of this computer in its password store (rosetta-review)" in said
    kinder = MemoryKeyring()
    kinder.kept = stubborn.kept
    keyring.set_keyring(kinder)
    scene.click("Try again")
    assert "Everything is deleted" in scene.texts()
    assert not kinder.kept
    assert not scene.home.exists()


def button_of(page: Page, words: str) -> Button:
    """Return a button that is hidden while everything is deleted."""
    [found] = [each for each in page.findChildren(Button) if each.text() == words]
    return found


LEADING_AWAY: dict[str, Callable[[Scene], object]] = {
    "esc": lambda scene: scene.here.back(),
    "enter": lambda scene: scene.here.enter(),
    "settings": lambda scene: scene.window.open_settings(),
    "keep": lambda scene: button_of(scene.here, "Keep everything").click(),
    "hand over": lambda scene: button_of(scene.here, "Hand over first").click(),
    "again": lambda scene: button_of(scene.here, "Delete everything").click(),
    "tick": lambda scene: scene.here.findChild(Tick).click(),
    "a page that comes": lambda scene: scene.window.show_page(Page(scene.desk)),
}


def test_nothing_leads_away(scene: Scene, go: Go, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QClipboard, "ownsClipboard", lambda _: True)
    QGuiApplication.clipboard().setText("copied")
    page = delete(scene)
    assert QGuiApplication.clipboard().text() == "", "it goes even if the program ends meanwhile"
    for name, way in LEADING_AWAY.items():
        way(scene)
        assert scene.here is page, name
        assert not page.offers_settings
        hidden = {"Keep everything", "Hand over first", "Delete everything"}
        assert not hidden & set(scene.buttons), name
    go.set()
    scene.qtbot.waitUntil(lambda: not scene.work.busy)
    scene.page_of(ErasedPage)
    assert scene.window.below is None
    assert not scene.home.exists()


def test_window_that_is_closed_meanwhile_deletes_all_the_same(scene: Scene, go: Go) -> None:
    delete(scene)
    go.set()
    scene.window.close()
    assert not scene.home.exists()


def test_file_that_comes_meanwhile_waits_until_all_is_kept(enter: Enter, go: Go) -> None:
    def delete_all(entry: Entry) -> ErasePage:
        entry.window.erase.emit()
        page = entry.page(ErasePage)
        page.findChild(Tick).setChecked(True)
        button_of(page, "Delete everything").click()
        return page

    entry = enter()
    file = write_file(batch_of(), entry.home.parent / "stick")
    page = delete_all(entry)
    entry.visit.take(file)
    with Laptop.open(entry.home):
        go.set()
        entry.idle()
    assert entry.page(ErasePage) is page
    assert "Nothing was deleted" in entry.read
    assert "is opened when you stop here." in entry.read
    entry.press("\x1b")
    entry.page(OrganisationPage)
    entry.press("\x1b")
    entry.page(ChoosePage)
    go.clear()
    delete_all(entry)
    entry.visit.take(file)
    go.set()
    entry.idle()
    assert "Everything is deleted" in entry.page(ErasedPage).accessibleName()
    assert "Opening" not in entry.read
    assert not entry.home.exists()
