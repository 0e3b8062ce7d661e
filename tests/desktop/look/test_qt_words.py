"""Words in the window: Qt's own are of the catalogue, and no word acts as markup or shortcut."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, Qt, QTimer, QTranslator
from PySide6.QtGui import QAccessible, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QScrollBar, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

import review.desktop
from review.desktop.frame.page import Page
from review.desktop.frame.reading import MoreBelow
from review.desktop.parts.texts import Line
from review.desktop.program.application import QT_WORDS, QtWords, without_mnemonic
from review.session.words.catalogue import Words
from tests.desktop.item_scene import Make
from tests.desktop.visit_scene import Enter, Entry
from tests.review.session.catalogues import catalogue, entry
from tests.review.session.scenes import CODE, batch_of, items_of, write_file

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
    look_at_everything(started)
    started.press("\r")
    look_at_everything(started)
    started.press("\r")
    started.type(CODE)
    look_at_everything(started)
    started.press("\r")
    look_at_everything(started)
    started.press("\r", "c")
    look_at_everything(started)
    started.window.open_settings()
    look_at_everything(started)
    assert asked.texts - NO_WORDS == set(QT_WORDS)


def test_menu_of_a_text_speaks_french(qtbot: QtBot, qapp: QApplication) -> None:
    french = QtWords(lambda: Words.load("fr"))
    qapp.installTranslator(french)
    try:
        box = QTextEdit("x")
        qtbot.addWidget(box)
        menu = box.createStandardContextMenu()
        qtbot.addWidget(menu)
        said = [action.text().partition("\t")[0] for action in menu.actions() if action.text()]
        assert said[:4] == ["Annuler l’action", "Rétablir", "Couper", "Copier"]
        assert said[4:] == ["Coller", "Supprimer", "Tout sélectionner"]
    finally:
        qapp.removeTranslator(french)


def test_a_language_without_words_of_qt_keeps_english_ones(qapp: QApplication) -> None:
    words = QtWords(lambda: Words.load("xx"))
    assert words.translate("QWidgetTextControl", "Cu&t") == "Cut"
    assert words.translate("any", "Save && &close") == "Save && close"
    assert words.translate("any", "never heard of") == "never heard of"
    assert words.translate("any", "") == ""


def test_qt_hears_the_direction_of_the_catalogue(tmp_path: Path) -> None:
    catalogue(tmp_path, "xx", entry("ltr", "rtl"))
    for tag, direction in (("xx", "RTL"), ("fr", "LTR")):
        words = QtWords(partial(Words.load, tag, [tmp_path]))
        assert words.translate("QGuiApplication", "QT_LAYOUT_DIRECTION") == direction


FOLDER = Path(review.desktop.__file__).parent


MARKUP = "<b>Ask</b> Jo &amp; <a href='x'>Ann</a>"


def test_no_label_is_made_elsewhere() -> None:
    for path in FOLDER.rglob("[a-z]*.py"):
        nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
        made = [each.func for each in nodes if isinstance(each, ast.Call)]
        made += [base for each in nodes if isinstance(each, ast.ClassDef) for base in each.bases]
        names = {each.id for each in made if isinstance(each, ast.Name)}
        assert path.stem == "texts" or "QLabel" not in names, path


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
