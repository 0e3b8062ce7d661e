"""Every setting holds at once, is remembered, and can be reached by keys alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from review.desktop.look.look import SIZES
from review.desktop.look.style import HIDES_KEYS, Theme
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.pages.ending_pages import ErasePage
from review.desktop.pages.first_pages import AskingPage
from review.desktop.pages.settings_page import THEMES, SettingsPage
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Answers, Tick
from tests.desktop.visit_scene import Enter, Entry
from tests.review.session.scenes import batch_of, write_file


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


@pytest.mark.parametrize("number", range(len(SIZES)))
def test_size_holds_at_once_and_is_remembered(settings: Entry, number: int) -> None:
    row = _row(settings, "Size of the letters")
    row.findChildren(Button)[number].click()
    assert settings.look.size == SIZES[number]
    assert _chosen(row) == [number]
    if SIZES[number] != 20:
        assert settings.kept == [("window text size", str(SIZES[number]))]


def test_each_size_is_shown_in_itself(settings: Entry) -> None:
    buttons = _row(settings, "Size of the letters").findChildren(Button)
    assert tuple(each.text_font().pixelSize() for each in buttons) == SIZES


@pytest.mark.parametrize("theme", THEMES, ids=[theme.value for theme in THEMES])
def test_colours_hold_at_once_and_are_remembered(settings: Entry, theme: Theme) -> None:
    row = _row(settings, "Colours")
    row.findChildren(Button)[list(THEMES).index(theme)].click()
    assert settings.look.theme is theme
    assert _chosen(row) == [list(THEMES).index(theme)]
    ground = QApplication.palette().window().color()
    assert ground == settings.look.colours.ground


def test_language_changes_settings_and_the_page_below(settings: Entry) -> None:
    settings.click("Français")
    settings.page(SettingsPage)
    assert "Size of the letters" not in settings.read
    assert settings.laptop.setting("language") == "fr"
    settings.press("\x1b")
    settings.page(ChoosePage)
    assert "Review translations" not in settings.read


def test_keys_on_buttons_can_be_hidden_and_are_remembered(settings: Entry) -> None:
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


def test_settings_lead_back_to_what_was_typed(enter: Enter, tmp_path: Path) -> None:
    entry = enter(places=[write_file(batch_of(), tmp_path / "stick")])
    entry.press("\r")
    entry.type("WXWC")
    page = entry.page(AskingPage)
    entry.click("Settings")
    entry.press("\r")
    assert entry.page(AskingPage) is page
    assert page.text == "WXWC"
    entry.type("B")
    assert page.text in {"B", "WXWCB"}


def test_deleting_everything_is_asked_about_on_a_page_of_its_own(settings: Entry) -> None:
    settings.click("Delete everything from this computer")
    settings.page(ErasePage)
    settings.press("\x1b")
    settings.page(ChoosePage)


def test_everything_in_settings_is_reached_by_tab(settings: Entry) -> None:
    page = settings.page(SettingsPage)
    settings.window.activateWindow()
    found = [*page.findChildren(Button), *page.findChildren(Tick)]
    wanted = {id(each) for each in found if each.isVisible()}
    reached: set[int] = set()
    for _ in range(len(wanted) + 5):
        settings.send("\t")
        focused = QApplication.focusWidget()
        if focused is not None:
            reached.add(id(focused))
    assert wanted <= reached


def test_control_and_plus_change_the_size_on_every_page(enter: Enter) -> None:
    entry = enter()
    entry.press("+", modifiers=Qt.KeyboardModifier.ControlModifier)
    assert entry.look.size == 25
    entry.press("-", modifiers=Qt.KeyboardModifier.ControlModifier)
    assert entry.look.size == 20


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("width", [300, 640, 1366])
def test_words_of_a_tick_are_never_cut(enter: Enter, size: int, width: int) -> None:
    enter(size=size)
    said = "My better translations may be used later as right answers. " * 2
    tick = Tick(said)
    tick.resize(width, tick.heightForWidth(width))
    _, words = tick._parts()  # where it paints its words
    text = tick._wrapped()  # what it paints there: a tick has no label inside
    assert text.height(words.width()) <= words.height()
    assert text.drawn_width <= words.width()
    assert tick.height() >= 44
    assert tick.accessibleName() == said
