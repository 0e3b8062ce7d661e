"""Languages and words in the window: names, numbers, both directions, those of Qt, and none that acts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QPoint, Qt, QTimer, QTranslator
from PySide6.QtGui import QAccessible, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QScrollBar, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

import review.desktop
from review.desktop.frame.page import Page
from review.desktop.frame.page_parts import MoreBelow
from review.desktop.item.item_page import ItemPage
from review.desktop.look import undrawn
from review.desktop.pages.first_pages import ChoosePage
from review.desktop.parts.buttons import Button, Wrapped
from review.desktop.parts.texts import Line
from review.desktop.program.application import QT_WORDS, QtWords, without_mnemonic
from review.log.payloads import Rate
from review.rating import Rating
from review.session.opening import WORDS_FOLDER
from review.session.words.catalogue import Words
from tests.desktop.item_scene import Make
from tests.desktop.program.driven import driven
from tests.desktop.visit_scene import Enter, Entry
from tests.review.session.scenes import CODE, batch_of, catalogue, items_of, write_file
from tests.review.session.scenes import entry as said
from tests.review.thorough import first

LANGUAGES = {
    "crk-Cans": {"English": "ᓀᐦᐃᔭᐍᐏᐣ", "Reject": "ᓇᒨᔭ", "Gist": "ᐃᐦᑕᓯᐣ", "Excellent": "ᒥᔼᓯᐣ"},
    "crk": {"English": "nêhiyawêwin", "Reject": "namôya", "Gist": "ihtasin", "Excellent": "miywâsin"},
    "ckb": {
        "English": "کوردی", "ltr": "rtl", "Reject": "ڕەتکردنەوە", "Gist": "واتا", "Excellent": "زۆر باش"
    },
}  # fmt: skip


def add(home: Path, tag: str) -> None:
    """Put a catalogue where a community puts it."""
    catalogue(home / WORDS_FOLDER, tag, "".join(said(*pair) for pair in LANGUAGES[tag].items()))


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    folder = tmp_path / "stick"
    write_file(batch_of(items_of(2)), folder)
    return folder


@pytest.mark.parametrize("tag", first(1, LANGUAGES))
def test_language_is_chosen_by_name(enter: Enter, tmp_path: Path, stick: Path, tag: str) -> None:
    words = LANGUAGES[tag]
    add(tmp_path / "home", tag)
    entry = enter(sticks=[stick])
    entry.click(words["English"])
    entry.page(ChoosePage)
    entry.press("\r")
    page = entry.to_item()
    spoken = [each.text() for each in page.answers.findChildren(Button)]
    for english in ("Reject", "Gist", "Excellent"):
        assert words[english] in spoken
    assert "Acceptable" in spoken, "what is missing is said in English"
    entry.close()
    again = enter(sticks=[stick], language=None)
    assert again.desk.words.language == tag, "the choice is remembered"


def test_every_letter_of_these_languages_can_be_drawn(qapp: QApplication) -> None:
    assert undrawn([word for words in LANGUAGES.values() for word in words.values()]) == []
    # why nothing of the window may ask QLocale for names, directions or forms of numbers
    assert QLocale("crk").language() is QLocale.Language.C


def places(page: ItemPage) -> list[int]:
    """Return where the four answers stand from the left, the first one first."""
    return [each.mapTo(page, QPoint(0, 0)).x() for each in page.answers.findChildren(Button)]


@pytest.fixture
def from_the_right(qapp: QApplication) -> Iterator[None]:
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


@pytest.mark.thorough
def test_window_from_the_right_keeps_keys_and_texts(
    enter: Enter, tmp_path: Path, stick: Path, from_the_right: None
) -> None:
    add(tmp_path / "home", "ckb")
    entry = enter(sticks=[stick], language="ckb")
    entry.window.resize(1024, 600)
    entry.press("\r")
    page = entry.to_item()
    entry.qtbot.waitUntil(lambda: len(set(places(page))) == 4)
    assert places(page) == sorted(places(page), reverse=True), "the first stands at the right"
    first = page.answers.findChildren(Button)[0]
    assert first.text() == LANGUAGES["ckb"]["Reject"]
    block = page.texts.source.document().firstBlock()
    assert block.textDirection() == Qt.LayoutDirection.LeftToRight, "a sentence keeps its own"
    entry.answer("1")
    assert [e.payload.rating for e in entry.laptop.events() if isinstance(e.payload, Rate)] == [
        Rating.REJECT
    ]


@pytest.mark.thorough
def test_catalogue_turns_the_whole_program_around(tmp_path: Path) -> None:
    add(tmp_path, "ckb")
    ran, seen = driven(tmp_path, "ckb", "iu", "ckb", "fr")
    assert ran.returncode == 0, ran.stderr
    assert [(each["tag"], each["mirrored"], each["copy"]) for each in seen] == [
        ("ckb", True, "Copy"), ("en", False, "Copy"), ("ckb", True, "Copy"), ("fr", False, "Copier"),
    ]  # fmt: skip


def test_place_read_from_the_right_keeps_its_first_sign(qapp: QApplication) -> None:
    """Otherwise ``/media/stick`` would stand there as ``media/stick/``."""
    wide = 600
    text = Wrapped("/media/stick", qapp.font(), Qt.LayoutDirection.RightToLeft)
    text.height(wide)
    [line] = text._lines()  # only Qt's own line tells where a sign stands
    assert line.cursorToX(0)[0] < line.cursorToX(len("/media"))[0], "it is read from the left"
    assert line.cursorToX(len("/media/stick"))[0] == pytest.approx(wide, abs=2), "at the right"


# Qt's own words are of the catalogue, and no word acts as markup or shortcut

NO_WORDS = {"QT_LAYOUT_DIRECTION", "%p%", "Alt"}
"""Asked of a translator, and no words of our pages: a direction, a form of numbers, a key that is never used."""


class Asked(QTranslator):
    """Notes what Qt asks, and has no word for anything."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: set[str] = set()

    def isEmpty(self) -> bool:
        return False

    def translate(
        self,
        context: str,
        sourceText: str,  # noqa: N803  Qt's own name of it
        disambiguation: str | None = None,
        n: int = -1,
    ) -> str:
        if context:  # what a page asks of itself has none
            self.texts.add(without_mnemonic(sourceText))
        return ""


@pytest.fixture
def asked(qapp: QApplication) -> Iterator[Asked]:
    translator = Asked()
    qapp.installTranslator(translator)
    yield translator
    qapp.removeTranslator(translator)


def look_at_everything(entry: Entry) -> None:
    """Open every menu of what is seen, and ask of everything what a screen reader asks."""
    assert entry.window.page is not None
    for widget in [entry.window.page, *entry.window.page.findChildren(QWidget)]:
        if isinstance(widget, QTextEdit | QLineEdit):
            menu = widget.createStandardContextMenu()
            menu.grab()
            menu.deleteLater()
        elif isinstance(widget, QScrollBar | QLabel) and widget.isVisible():
            _right_click(widget)
        interface = QAccessible.queryAccessibleInterface(widget)
        actions = interface.actionInterface() if interface is not None else None
        for action in actions.actionNames() if actions is not None else ():
            actions.localizedActionName(action)
            actions.localizedActionDescription(action)


def _right_click(widget: QWidget) -> None:
    def close() -> None:
        if (menu := QApplication.activePopupWidget()) is not None:
            menu.close()

    QTimer.singleShot(0, widget, close)
    place = QPoint(1, 1)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, widget.mapToGlobal(place))
    QCoreApplication.sendEvent(widget, event)


def test_pages_say_no_other_words_of_qt(enter: Enter, asked: Asked, tmp_path: Path) -> None:
    write_file(batch_of(items_of(2), consent="A long text.\n" * 60), tmp_path / "stick")
    started = enter(sticks=[tmp_path / "stick"])
    started.window.resize(640, 420)
    for keys, typed in (("", ""), ("\r", ""), ("\r", CODE), ("\r", ""), ("\rc", "")):
        started.press(*keys)
        started.type(typed)
        look_at_everything(started)
    started.window.open_settings()
    look_at_everything(started)
    assert asked.texts - NO_WORDS == set(QT_WORDS)


def test_menu_of_a_text_speaks_french(qtbot: QtBot, qapp: QApplication) -> None:
    french, box = QtWords(lambda: Words.load("fr")), QTextEdit("x")
    qtbot.addWidget(box)
    qapp.installTranslator(french)
    menu = box.createStandardContextMenu()
    qapp.removeTranslator(french)
    qtbot.addWidget(menu)
    shown = [action.text().partition("\t")[0] for action in menu.actions() if action.text()]
    assert shown[:4] == ["Annuler l’action", "Rétablir", "Couper", "Copier"]
    assert shown[4:] == ["Coller", "Supprimer", "Tout sélectionner"]


def test_qt_is_given_words_and_the_direction(qapp: QApplication, tmp_path: Path) -> None:
    words = QtWords(lambda: Words.load("xx"))
    assert words.translate("QWidgetTextControl", "Cu&t") == "Cut"
    assert words.translate("any", "Save && &close") == "Save && close"
    assert words.translate("any", "never heard of") == "never heard of"
    assert words.translate("any", "") == ""
    catalogue(tmp_path, "xx", said("ltr", "rtl"))
    for tag, direction in (("xx", "RTL"), ("fr", "LTR")):
        words = QtWords(partial(Words.load, tag, [tmp_path]))
        assert words.translate("QGuiApplication", "QT_LAYOUT_DIRECTION") == direction


MARKUP = "<b>Ask</b> Jo &amp; <a href='x'>Ann</a>"


def test_no_label_is_made_elsewhere() -> None:
    for path in Path(review.desktop.__file__).parent.rglob("[a-z]*.py"):
        made = re.search(r"(?<!\w)QLabel\(|class \w+\(.*\bQLabel\b", path.read_text("utf-8"))
        assert path.stem == "texts" or not made, path


def test_no_markup_acts_in_a_label_of_a_page(make: Make) -> None:
    scene = make()
    labels = scene.page.findChildren(QLabel)
    assert len(labels) > 5
    assert {each.textFormat() for each in labels} == {Qt.TextFormat.PlainText}

    page = Page(scene.desk)
    scene.qtbot.addWidget(page)
    [below] = page.findChildren(MoreBelow)
    plain = Line("M" * len(MARKUP), wraps=False)
    scene.qtbot.addWidget(plain)
    below.setWordWrap(False)
    below.setText(MARKUP)
    assert below.textFormat() is Qt.TextFormat.PlainText
    assert below.sizeHint().height() == plain.sizeHint().height()


def test_a_name_makes_no_shortcut_and_reads_as_it_stands(qtbot: QtBot) -> None:
    box = QLineEdit()
    name = Line("Words &c & more").name_of(box)
    for widget in (box, name):
        qtbot.addWidget(widget)
    heard = QAccessible.queryAccessibleInterface(name)
    assert heard.text(QAccessible.Text.Name) == "Words &c & more"
    assert heard.text(QAccessible.Text.Accelerator) == ""
    name.setText("This &that")
    heard = QAccessible.queryAccessibleInterface(name)
    assert heard.text(QAccessible.Text.Name) == "This &that"

    line = Line(MARKUP, "quiet")
    qtbot.addWidget(line)
    assert (line.text(), line.property("role"), line.wordWrap()) == (MARKUP, "quiet", True)
