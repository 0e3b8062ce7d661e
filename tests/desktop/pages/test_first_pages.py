"""Settings that hold at once, reviews that are found, and everything deleted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import keyring
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QClipboard, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from harness.sealed.keys import Identity, Role
from review.desktop.frame.page import Page
from review.desktop.item.item_page import ItemPage
from review.desktop.look import HIDES_KEYS, SIZES
from review.desktop.pages.ending_pages import ErasedPage, ErasePage
from review.desktop.pages.first_pages import ChoosePage, FilePage, OrganisationPage
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.pages.settings_page import THEMES, SettingsPage
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Answers, Tick
from review.desktop.program import running
from review.desktop.program.application import forget_clipboard
from review.log.laptop import Laptop
from review.session import waiting
from review.session.opening import is_there
from review.session.waiting import erase_everything
from tests.desktop.visit_scene import CONTROL, PLAIN, Enter, Entry, Scene, SceneOf, dressed
from tests.keyring_in_memory import MemoryKeyring
from tests.review.session.scenes import batch_of, write_file
from tests.review.thorough import first


@pytest.fixture
def settings(enter: Enter) -> Entry:
    entry = enter(language=None)
    entry.click("Settings")
    entry.page(SettingsPage)
    return entry


def _row(entry: Entry, name: str) -> Answers:
    page = entry.page(SettingsPage)
    return next(each for each in page.findChildren(Answers) if each.accessibleName() == name)


def _chosen(row: Answers) -> list[int]:
    buttons = row.findChildren(Button)
    return [n for n, each in enumerate(buttons) if "Chosen" in each.accessibleDescription()]


def test_settings_hold_at_once_and_lead_to_all_else(settings: Entry) -> None:
    row = _row(settings, "Size of the letters")
    buttons = row.findChildren(Button)
    assert tuple(each.text_font().pixelSize() for each in buttons) == SIZES
    for number in (0, len(SIZES) - 1):
        buttons[number].click()
        assert settings.look.size == SIZES[number]
        assert _chosen(row) == [number]
        assert settings.kept[-1] == ("window text size", str(SIZES[number]))
    row = _row(settings, "Colours")
    for number in (len(THEMES) - 1, 0):
        theme = tuple(THEMES)[number]
        row.findChildren(Button)[number].click()
        assert settings.look.theme is theme
        assert _chosen(row) == [number]
        assert settings.kept[-1] == ("window colours", theme.value)
        assert QApplication.palette().window().color() == settings.look.colours.ground
    settings.look.set_size(20)
    settings.kept.clear()
    page = settings.page(SettingsPage)
    tick = page.findChild(Tick)
    assert isinstance(tick, Tick)
    assert tick.isChecked()
    back = next(each for each in page.findChildren(Button) if each.text() == "Back")
    wide = back.sizeHint().width()
    tick.click()
    assert settings.kept == [("window shows keys", "no")]
    assert QApplication.instance().property(HIDES_KEYS) is True
    assert back.sizeHint().width() < wide
    assert back.accessibleDescription()
    tick.click()
    assert back.sizeHint().width() == wide
    settings.window.activateWindow()
    found = [*page.findChildren(Button), *page.findChildren(Tick)]
    wanted = {id(each) for each in found if each.isVisible()}
    reached: set[int] = set()
    for _ in range(len(wanted) + 5):
        settings.send("\t")
        reached.add(id(QApplication.focusWidget()))
    assert wanted <= reached
    settings.click("Delete everything from this computer")
    settings.page(ErasePage)
    settings.press("\x1b")
    settings.page(ChoosePage)
    settings.press("+", modifiers=CONTROL)
    assert settings.look.size == 25
    settings.press("-", modifiers=CONTROL)
    assert settings.look.size == 20
    settings.click("Settings")
    settings.click("Français")
    settings.page(SettingsPage)
    assert "Size of the letters" not in settings.read
    assert settings.laptop.setting("language") == "fr"
    settings.press("\x1b")
    settings.page(ChoosePage)
    assert "Review translations" not in settings.read


CORNERS = [(16, 1366), (48, 300)]


@pytest.mark.parametrize(("size", "width"), first(2, dict.fromkeys([*CORNERS, *product(SIZES, (300, 640, 1366))])))
def test_words_of_a_tick_are_never_cut(qtbot: QtBot, size: int, width: int) -> None:
    dressed(size)
    said = "My better translations may be used later as right answers. " * 2
    tick = Tick(said)
    qtbot.addWidget(tick)
    tick.resize(width, tick.heightForWidth(width))
    _, words = tick._parts()  # where it paints its words
    text = tick._wrapped()  # what it paints there: a tick has no label inside
    assert text.height(words.width()) <= words.height()
    assert text.drawn_width <= words.width()
    assert tick.height() >= 44
    assert tick.accessibleName() == said


# finding a review: the list, other folders, files let go over the window


def _let_go(entry: Entry, *files: str) -> bool:
    """Drag files over the window and let them go; tells whether the window took them."""
    data = QMimeData()
    data.setUrls([QUrl(each) for each in files])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    entered = QDragEnterEvent(QPoint(5, 5), copy, data, left, PLAIN)
    entered.ignore()
    QApplication.sendEvent(entry.window, entered)
    if entered.isAccepted():
        QApplication.sendEvent(entry.window, QDropEvent(QPointF(5, 5), copy, data, left, PLAIN))
    entry.idle()
    return entered.isAccepted()


def test_folders_are_shown_harmless_and_troubles_told(enter: Enter, tmp_path: Path) -> None:
    stick = tmp_path / "USB\u202egnp.exe\u0007"
    (stick / "deep").mkdir(parents=True)
    write_file(batch_of(), stick / "From Mary")
    (stick / "letter.txt").touch()
    (stick / "x.rosetta-batch").write_bytes(b"MZ" + bytes(200))
    refused = Path("x" * 300)
    assert is_there(refused)
    entry = enter(sticks=[stick], places=[refused])
    assert "This place cannot be used." in entry.read
    entry.click("Choose a file")
    buttons = entry.buttons
    widgets = entry.page(FilePage).findChildren(QWidget)
    names = "".join([*buttons, *(each.accessibleName() for each in widgets)])
    assert "USB" in names
    assert "letter.txt" not in names
    assert not {"\u202e", "\u0007"} & set(names)
    (stick / "deep").rmdir()
    entry.click("deep")
    entry.page(FilePage)
    assert "It is not there." in entry.read
    entry.press("\x1b")
    entry.page(ChoosePage)
    entry.click("Choose a file")
    entry.click("x.rosetta-batch")
    entry.page(ChoosePage)
    assert "This is not a file with sentences for you." in entry.read
    entry.click("Choose a file")
    entry.click("From Mary")
    entry.click("Spring sentences.rosetta-batch")
    entry.page(OrganisationPage)


@pytest.mark.thorough
def test_dropped_review_is_taken_before_a_sentence(enter: Enter, tmp_path: Path) -> None:
    file = QUrl.fromLocalFile(str(write_file(batch_of(), tmp_path / "stick"))).toString()
    entry = enter()
    # the scene opens no such place itself, and what is missing is given once, at the start
    entry.opening._missing = (tmp_path / "gone.rosetta-batch",)
    entry.visit.begin()
    entry.idle()
    assert "gone.rosetta-batch is not in this folder." in entry.read
    for names in (
        ["https://example.org/x.rosetta-batch"],
        ["file:///tmp/picture.png"],
        ["file:///a.rosetta-batch", "file:///b.rosetta-batch"],
        [],
    ):
        assert not _let_go(entry, *names)
        entry.page(ChoosePage)
    assert _let_go(entry, file)
    page = entry.to_item()
    assert not _let_go(entry, file)
    assert entry.page(ItemPage) is page


# deleting everything: what it says first, what it takes, and what is left after

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape
_PATIENCE = 10
Go = threading.Event


@pytest.fixture
def scene(scene_of: SceneOf) -> Scene:
    """Two answers were given, a text is being typed, and the person asks for everything to be deleted."""
    scene = scene_of()
    scene.press("4", "2", "c")
    scene.type("half a thought")
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
    assert "What was said about 2 sentences is only on this computer." in said
    assert scene.button("Hand in first").property("role") == "main"
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
    assert "is only on this computer" not in scene.texts()
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
    "hand in": lambda scene: button_of(scene.here, "Hand in first").click(),
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
        hidden = {"Keep everything", "Hand in first", "Delete everything"}
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
