"""Every word that Qt itself says on our pages is one of the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialogButtonBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollBar,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from review.desktop.qt_words import QT_WORDS, QtWords, without_mnemonic
from review.session import build
from review.session.words import DOMAIN, OURS, Words

NO_WORDS = {"QT_LAYOUT_DIRECTION", "Alt+Left", "Alt+Right", "Alt+Up", "%p%"}
"""Asked of a translator, and no words: a direction, keys, a form of numbers."""


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
        self.texts.add(sourceText)
        return ""


@pytest.fixture
def asked(qapp: QApplication) -> Iterator[Asked]:
    translator = Asked()
    qapp.installTranslator(translator)
    yield translator
    qapp.removeTranslator(translator)


@pytest.fixture
def french(qapp: QApplication) -> Iterator[QtWords]:
    translator = QtWords(lambda: Words.load("fr"))
    qapp.installTranslator(translator)
    yield translator
    qapp.removeTranslator(translator)


def file_dialog(folder: Path, mode: QFileDialog.FileMode) -> QFileDialog:
    dialog = QFileDialog(None, "", str(folder))
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.setFileMode(mode)
    return dialog


WIDGETS: dict[str, Callable[[], QWidget]] = {
    "text": lambda: QTextEdit("x"),
    "line": lambda: QLineEdit("x"),
    "label": lambda: QLabel("x"),
    "button": lambda: QPushButton("x"),
    "list": QComboBox,
    "bar": QScrollBar,
    "buttons": lambda: QDialogButtonBox(
        QDialogButtonBox.StandardButton.Ok
        | QDialogButtonBox.StandardButton.Cancel
        | QDialogButtonBox.StandardButton.Yes
        | QDialogButtonBox.StandardButton.No
        | QDialogButtonBox.StandardButton.Close
        | QDialogButtonBox.StandardButton.Save
    ),
}


@pytest.mark.parametrize("name", list(WIDGETS))
def test_what_a_widget_says_by_itself_is_in_the_table(
    qtbot: QtBot, asked: Asked, name: str
) -> None:
    widget = WIDGETS[name]()
    qtbot.addWidget(widget)
    widget.show()
    if isinstance(widget, QTextEdit | QLineEdit):
        menu = widget.createStandardContextMenu()
        menu.grab()
        menu.deleteLater()
    actions = QAccessible.queryAccessibleInterface(widget).actionInterface()
    for action in actions.actionNames() if actions is not None else ():
        actions.localizedActionName(action)
        actions.localizedActionDescription(action)
    assert not {without_mnemonic(text) for text in asked.texts} - {*QT_WORDS, *NO_WORDS}


@pytest.mark.parametrize(
    "mode", [QFileDialog.FileMode.ExistingFile, QFileDialog.FileMode.Directory], ids=str
)
def test_what_choosing_a_file_says_is_in_the_table(
    qtbot: QtBot, asked: Asked, tmp_path: Path, mode: QFileDialog.FileMode
) -> None:
    (tmp_path / "a.rosetta-batch").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    dialog = file_dialog(tmp_path, mode)
    qtbot.addWidget(dialog)
    dialog.setViewMode(QFileDialog.ViewMode.Detail)
    with qtbot.waitExposed(dialog):
        dialog.show()
    dialog.grab()
    assert "&Look in:" in asked.texts
    assert not {without_mnemonic(text) for text in asked.texts} - {*QT_WORDS, *NO_WORDS}


def test_choosing_a_file_speaks_french_and_leaves_alt_to_the_keyboard(
    qtbot: QtBot, french: QtWords, tmp_path: Path
) -> None:
    dialog = file_dialog(tmp_path, QFileDialog.FileMode.ExistingFile)
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    said = {label.text() for label in dialog.findChildren(QLabel)}
    said |= {button.text() for button in dialog.findChildren(QPushButton)}
    assert {"Regarder dans\u00a0:", "Nom du fichier\u00a0:", "Ouvrir", "Annuler"} <= said
    assert not any("&" in text for text in said)


def test_the_menu_of_a_text_speaks_french(qtbot: QtBot, french: QtWords) -> None:
    box = QTextEdit("x")
    qtbot.addWidget(box)
    menu = box.createStandardContextMenu()
    qtbot.addWidget(menu)
    said = [action.text().partition("\t")[0] for action in menu.actions() if action.text()]
    assert said[:2] == ["Annuler l’action", "Rétablir"]
    assert said[2:] == ["Couper", "Copier", "Coller", "Supprimer", "Tout sélectionner"]


def test_places_of_names_stay_in_every_language() -> None:
    for path in build.catalogues():
        for message in build.read(path):
            if isinstance(message.id, str) and message.id in QT_WORDS:
                assert message.id.count("%1") == str(message.string).count("%1"), message.id


def test_a_language_without_words_of_qt_keeps_english_ones(qapp: QApplication) -> None:
    words = QtWords(lambda: Words.load("xx"))
    assert words.translate("QFileDialog", "&Look in:") == "Look in:"
    assert words.translate("any", "Save && &close") == "Save && close"
    assert words.translate("any", "never heard of") == "never heard of"
    assert words.translate("any", "") == ""


def test_qt_hears_the_direction_of_the_catalogue(tmp_path: Path) -> None:
    from tests.review.session.test_words import catalogue, entry

    catalogue(tmp_path, "xx", entry("ltr", "rtl"))
    assert (OURS / "fr" / "LC_MESSAGES" / f"{DOMAIN}.mo").is_file()
    for tag, direction in (("xx", "RTL"), ("fr", "LTR")):
        words = QtWords(lambda tag=tag: Words.load(tag, [tmp_path]))
        assert words.translate("QGuiApplication", "QT_LAYOUT_DIRECTION") == direction
