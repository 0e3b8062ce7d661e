"""Words in the window act nowhere: no markup, no shortcut, whatever they say and wherever they come from."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot

import review.desktop
from review.desktop.frame.page import Page
from review.desktop.frame.reading import MoreBelow
from review.desktop.parts.texts import Line
from tests.desktop.item_scene import Make, Scene

FOLDER = Path(review.desktop.__file__).parent


@pytest.fixture
def scene(make: Make) -> Scene:
    return make()


MARKUP = "<b>Ask</b> Jo &amp; <a href='x'>Ann</a>"


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("[a-z]*.py")), ids=lambda path: path.stem)
def test_no_label_is_made_elsewhere(path: Path) -> None:
    made = {
        name.id
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in (
            [node.func] if isinstance(node, ast.Call)
            else node.bases if isinstance(node, ast.ClassDef)
            else []
        )
        if isinstance(name, ast.Name)
    }  # fmt: skip
    assert path.stem == "labels" or "QLabel" not in made


def test_every_label_of_a_page_shows_its_text_as_it_stands(scene: Scene) -> None:
    labels = scene.page.findChildren(QLabel)
    assert len(labels) > 5
    assert {each.textFormat() for each in labels} == {Qt.TextFormat.PlainText}


def test_markup_in_the_words_for_what_is_below_is_shown_as_it_stands(scene: Scene) -> None:
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


def test_a_line_without_a_box_keeps_its_text(qtbot: QtBot) -> None:
    line = Line(MARKUP, "quiet")
    qtbot.addWidget(line)
    assert (line.text(), line.property("role"), line.wordWrap()) == (MARKUP, "quiet", True)
