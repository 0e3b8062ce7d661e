"""Deleting everything in the window: what it says first, what it takes, and what is left after."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

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
from review.log.laptop import Laptop
from review.session import waiting
from review.session.erasing import Remains, erase_everything
from tests.desktop.sitting_scene import Scene, SceneOf
from tests.desktop.visit_scene import Enter, Entry
from tests.keyring_in_memory import MemoryKeyring
from tests.review.session.scenes import batch_of, write_file

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape


@pytest.fixture
def scene(scene_of: SceneOf) -> Scene:
    """Two answers were given, and the person asks for everything to be deleted."""
    scene = scene_of()
    scene.press("4", "2")
    ask(scene)
    return scene


def ask(scene: Scene) -> None:
    scene.window.erase.emit()
    scene.idle()
    scene.page_of(ErasePage)


def tick(scene: Scene) -> None:
    scene.page_of(ErasePage).findChild(Tick).setChecked(True)


__all__ = ["scene"]


def test_it_says_what_would_be_lost_and_offers_to_hand_over_first(scene: Scene) -> None:
    said = scene.texts()
    assert "1 file with sentences is kept on this computer." in said
    assert "2 answers are kept on this computer." in said
    assert "What was said about 2 sentences lies only on this computer." in said
    assert scene.button("Hand over first").property("role") == "main"
    assert not scene.button("Delete everything").isEnabled()


@pytest.mark.parametrize("keys", [[ESC], list("wq1240x!?d"), [Qt.Key.Key_Delete], [ENTER, ESC]])
def test_no_key_deletes(scene: Scene, keys: list[str | Qt.Key]) -> None:
    tick(scene)
    scene.press(*keys)
    assert scene.laptop.path.exists()
    scene.laptop.set_setting("still", "open")


def test_going_back_leads_to_the_sentence_that_was_there(scene: Scene) -> None:
    scene.click("Keep everything")
    assert scene.page_of(ItemPage).texts.source.toPlainText() == "Source 3."
    scene.press("1")
    assert scene.session.view.done == 3


def test_handing_over_first_leads_back_and_then_nothing_waits(scene: Scene) -> None:
    scene.press(ENTER)
    scene.page_of(HandOverPage)
    scene.press(ENTER)
    assert "You may pull the stick out." in scene.texts()
    assert len(list(scene.stick.iterdir())) == 1
    scene.press(ENTER)
    scene.page_of(ErasePage)
    assert "lies only on this computer" not in scene.texts()
    assert scene.button("Keep everything").property("role") == "main"


def test_after_it_nothing_is_left_and_the_program_ends(scene: Scene) -> None:
    tick(scene)
    scene.click("Delete everything")
    scene.page_of(ErasedPage)
    assert "Everything is deleted" in scene.texts()
    assert not scene.home.exists()
    scene.press(ESC)
    scene.page_of(ErasedPage)
    scene.press(ENTER)
    assert not scene.window.isVisible()
    assert not scene.home.exists()


def test_it_can_be_done_by_the_keyboard_alone_in_two_places(scene: Scene) -> None:
    page = scene.page_of(ErasePage)
    for wanted in (page.findChild(Tick), scene.button("Delete everything")):
        for _ in range(20):
            if QApplication.focusWidget() is wanted:
                break
            scene.press(Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is wanted
        scene.press(Qt.Key.Key_Space)
    scene.page_of(ErasedPage)
    assert not scene.home.exists()


@pytest.mark.parametrize("ours", [True, False])
def test_what_was_copied_here_leaves_the_clipboard_and_what_others_copied_stays(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, ours: bool
) -> None:
    monkeypatch.setattr(QClipboard, "ownsClipboard", lambda _: ours)
    QGuiApplication.clipboard().setText("copied")
    tick(scene)
    scene.click("Delete everything")
    assert QGuiApplication.clipboard().text() == ("" if ours else "copied")


def test_typed_text_under_the_page_brings_nothing_back(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("c", *"half a thought")
    ask(scene)
    tick(scene)
    scene.click("Delete everything")
    scene.window.close()
    assert not scene.home.exists()


def test_another_window_prevents_it_and_says_so(scene: Scene) -> None:
    with Laptop.open(scene.home):
        tick(scene)
        scene.click("Delete everything")
        assert "Nothing was deleted: the program is open in another window." in scene.texts()
        assert scene.laptop.path.exists()
    scene.click("Delete everything")
    scene.page_of(ErasedPage)
    assert not scene.home.exists()


class Stubborn(MemoryKeyring):
    """Keeps what it is told to delete."""

    def delete_password(self, service: str, username: str) -> None:
        raise RuntimeError("locked")


def test_what_cannot_be_deleted_is_told_by_name_and_tried_again(scene: Scene) -> None:
    keyring.set_keyring(stubborn := Stubborn())
    Identity.load(scene.home, Role.LAPTOP)
    tick(scene)
    scene.click("Delete everything")
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


_PATIENCE = 10


@dataclass
class Held:
    """A deletion that waits until it is let go."""

    go: threading.Event = field(default_factory=threading.Event)

    def erase(self, laptop: Laptop) -> tuple[Remains, ...]:
        self.go.wait(_PATIENCE)
        return erase_everything(laptop)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    held = Held()
    monkeypatch.setattr(running, "erase_everything", held.erase)
    yield held
    held.go.set()


def button_of(page: Page, words: str) -> Button:
    """Return a button that is hidden while everything is deleted."""
    [found] = [each for each in page.findChildren(Button) if each.text() == words]
    return found


def _delete(scene: Scene) -> ErasePage:
    """Press the button; nothing is waited for."""
    tick(scene)
    page = scene.page_of(ErasePage)
    scene.button("Delete everything").click()
    return page


LEADING_AWAY: dict[str, Callable[[Scene], object]] = {
    "esc": lambda scene: scene.page.back(),
    "enter": lambda scene: scene.page.enter(),
    "settings": lambda scene: scene.window.open_settings(),
    "keep": lambda scene: button_of(scene.page, "Keep everything").click(),
    "hand over": lambda scene: button_of(scene.page, "Hand over first").click(),
    "again": lambda scene: button_of(scene.page, "Delete everything").click(),
    "tick": lambda scene: scene.page.findChild(Tick).click(),
}


@pytest.mark.parametrize("way", LEADING_AWAY)
def test_nothing_leads_away_while_it_goes_on(scene: Scene, held: Held, way: str) -> None:
    page = _delete(scene)
    LEADING_AWAY[way](scene)
    assert scene.page is page
    assert not page.offers_settings
    assert not {"Keep everything", "Hand over first", "Delete everything"} & set(scene.buttons())
    held.go.set()
    scene.qtbot.waitUntil(lambda: not scene.work.busy)
    scene.page_of(ErasedPage)
    assert not scene.home.exists()


def test_a_page_that_comes_meanwhile_comes_below_and_goes_with_the_rest(
    scene: Scene, held: Held
) -> None:
    """As when a slow stick was looked at before."""
    page = _delete(scene)
    scene.window.show_page(Page(scene.desk))
    assert scene.page is page
    held.go.set()
    scene.qtbot.waitUntil(lambda: not scene.work.busy)
    scene.page_of(ErasedPage)
    assert scene.window.below is None


def test_what_was_copied_is_forgotten_even_if_the_program_ends_meanwhile(
    scene: Scene, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QClipboard, "ownsClipboard", lambda _: True)
    QGuiApplication.clipboard().setText("copied")
    _delete(scene)
    assert QGuiApplication.clipboard().text() == ""
    held.go.set()
    scene.window.close()
    assert not scene.home.exists()


def test_where_nothing_was_deleted_the_person_goes_back_to_their_sentence(scene: Scene) -> None:
    with Laptop.open(scene.home):
        tick(scene)
        scene.click("Delete everything")
    assert "Nothing was deleted" in scene.texts()
    scene.press(ESC)
    scene.page_of(ItemPage)
    scene.press("1")
    assert scene.session.view.done == 3


def test_settings_never_lie_over_what_is_handed_over_first(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, hand_over = threading.Event(), waiting.hand_over
    monkeypatch.setattr(
        waiting, "hand_over", lambda *given: (go.wait(_PATIENCE), hand_over(*given))[1]
    )
    scene.press(Qt.Key.Key_Return)
    page = scene.page_of(HandOverPage)
    assert not page.offers_settings
    page.enter()
    scene.window.open_settings()
    assert scene.page is page
    go.set()
    scene.idle()
    scene.window.open_settings()
    assert scene.page is page
    assert "You may pull the stick out." in scene.texts()


def _delete_all(entry: Entry) -> ErasePage:
    """Ask for it and press the button; nothing is waited for."""
    entry.window.erase.emit()
    page = entry.page(ErasePage)
    page.findChild(Tick).setChecked(True)
    button_of(page, "Delete everything").click()
    return page


def test_a_file_that_comes_meanwhile_waits_until_it_is_known_that_all_is_kept(
    enter: Enter, held: Held
) -> None:
    entry = enter()
    file = write_file(batch_of(), entry.home.parent / "stick")
    page = _delete_all(entry)
    entry.visit.take(file)
    with Laptop.open(entry.home):
        held.go.set()
        entry.idle()
    assert entry.page(ErasePage) is page
    assert "Nothing was deleted" in entry.read
    assert "is opened when you stop here." in entry.read
    entry.press("\x1b")
    entry.page(OrganisationPage)


def test_a_file_that_comes_meanwhile_is_not_opened_where_nothing_is_left(
    enter: Enter, held: Held
) -> None:
    entry = enter()
    file = write_file(batch_of(), entry.home.parent / "stick")
    entry.page(ChoosePage)
    _delete_all(entry)
    entry.visit.take(file)
    held.go.set()
    entry.idle()
    assert "Everything is deleted" in entry.page(ErasedPage).accessibleName()
    assert "Opening" not in entry.read
    assert not entry.home.exists()
