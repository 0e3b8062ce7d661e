"""The pages before the sentences: settings that hold at once, and reviews that are found."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.item.item_page import ItemPage
from review.desktop.look.look import SIZES
from review.desktop.look.style import HIDES_KEYS
from review.desktop.pages.choose_page import ChoosePage, FilePage
from review.desktop.pages.ending_pages import ErasePage
from review.desktop.pages.first_pages import OrganisationPage
from review.desktop.pages.settings_page import THEMES, SettingsPage
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Answers, Tick
from review.session.opening import is_there
from tests.desktop.visit_scene import CONTROL, PLAIN, Enter, Entry, dressed
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


def test_sizes_and_colours_hold_at_once_and_are_remembered(settings: Entry) -> None:
    row = _row(settings, "Size of the letters")
    buttons = row.findChildren(Button)
    assert tuple(each.text_font().pixelSize() for each in buttons) == SIZES
    for number in (0, len(SIZES) - 1):
        buttons[number].click()
        assert settings.look.size == SIZES[number]
        assert _chosen(row) == [number]
        assert settings.kept[-1] == ("window text size", str(SIZES[number]))
    row = _row(settings, "Colours")
    for number, theme in reversed([*enumerate(THEMES)]):
        row.findChildren(Button)[number].click()
        assert settings.look.theme is theme
        assert _chosen(row) == [number]
        assert settings.kept[-1] == ("window colours", theme.value)
        assert QApplication.palette().window().color() == settings.look.colours.ground


def test_settings_lead_to_language_keys_and_deleting(settings: Entry) -> None:
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


@pytest.mark.parametrize(
    ("size", "width"), first(2, dict.fromkeys([*CORNERS, *product(SIZES, (300, 640, 1366))]))
)
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


def test_file_in_any_folder(enter: Enter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    write_file(batch_of(), tmp_path / "person" / "Documents" / "From Mary")
    (tmp_path / "person" / "Documents" / "letter.txt").touch()
    entry = enter()
    entry.click("Choose a file")
    entry.page(FilePage)
    entry.click("Documents")
    assert "letter.txt" not in entry.buttons
    entry.click("From Mary")
    entry.click("Spring sentences.rosetta-batch")
    entry.page(OrganisationPage)


def test_folders_are_shown_harmless_and_troubles_told(enter: Enter, tmp_path: Path) -> None:
    stick = tmp_path / "USB\u202egnp.exe\u0007"
    (stick / "deep").mkdir(parents=True)
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


def test_newest_comes_first_and_those_kept_here_follow(enter: Enter, tmp_path: Path) -> None:
    entry = enter(places=[write_file(batch_of(batch="cd" * 8, title="Kept"), tmp_path / "kept")])
    entry.to_item()
    entry.answer("1")
    entry.close()
    stick = tmp_path / "stick"
    old = write_file(batch_of(batch="ab" * 8, title="Old"), stick)
    write_file(batch_of(title="New"), stick)
    os.utime(old, (1, 1))
    again = enter(sticks=[stick])
    titles = [each.split("\n")[0] for each in again.buttons if "\n" in each]
    assert titles == ["New", "Old", "Kept"]
    assert "Kept\nLanguage Council · 1 of 4 done" in again.buttons
