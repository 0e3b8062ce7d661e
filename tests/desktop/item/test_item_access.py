"""The page of an item for those who do not see it, or do not use a mouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QApplication, QProgressBar, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.frame import page
from review.desktop.item import sentence_face, sentence_page
from review.desktop.parts.choosing import OnceMore
from review.files.manifests import BatchItem
from review.rating import Rating
from tests.desktop.item_scene import Scene, rated
from tests.review.session.scenes import batch_of, item_id, items_of, training_of

Text = QAccessible.Text


@pytest.fixture
def aloud(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Hear what a screen reader is given."""
    heard: list[str] = []
    for module in (page, sentence_face, sentence_page):
        monkeypatch.setattr(module, "announce", lambda _, text: heard.append(text))
    return heard


@pytest.fixture
def scene(qtbot: QtBot, tmp_path: Path, aloud: list[str]) -> Iterator[Scene]:
    scene = Scene(qtbot, tmp_path)
    scene.idle()
    yield scene
    scene.close()


def stops(scene: Scene) -> list[QWidget]:
    """Go round with Tab until the first stop comes again."""
    found: list[QWidget] = []
    while (focus := QApplication.focusWidget()) not in found:
        assert focus is not None
        found.append(focus)
        scene.send(Qt.Key.Key_Tab)
    return found


def said_of(widget: QWidget, what: QAccessible.Text) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(what)


def test_an_item_is_read_aloud_and_so_is_what_was_saved(scene: Scene, aloud: list[str]) -> None:
    first = "Sentence 1 of 4\nOriginal: Source 1.\nTranslation: Candidate 1."
    assert aloud == [first]
    scene.press("2")
    assert aloud[1:] == ["Saved: Gist.", first.replace("1", "2")]


def test_nothing_is_read_twice(scene: Scene, aloud: list[str]) -> None:
    scene.press("s")
    aloud.clear()
    scene.page.draw(scene.session.view)
    assert not any("Original" in each for each in aloud)


def test_a_lesson_is_read_aloud(qtbot: QtBot, tmp_path: Path, aloud: list[str]) -> None:
    scene = Scene(qtbot, tmp_path, batch=batch_of(items_of(2), training_of([Rating.GIST])))
    scene.idle()
    scene.press("1")
    assert aloud[-1] == "You said Reject. We would say Gist. Because of 1."
    scene.close()


def test_tab_comes_to_everything_that_can_be_pressed_or_read(scene: Scene) -> None:
    scene.press("1")
    reached = stops(scene)
    wanted = [
        each
        for each in scene.page.findChildren(QWidget)
        if each.isVisible() and isinstance(each, QAbstractButton | QTextEdit)
    ]
    assert wanted
    assert [each.accessibleName() for each in wanted if each not in reached] == []


def test_answers_come_before_what_else_can_be_done(scene: Scene) -> None:
    scene.press("1")
    names = [each.accessibleName() for each in stops(scene)]
    in_order = ["Original", "Translation", "Reject. wrong, or not our language", "Cannot judge"]
    places = [names.index(each) for each in in_order]
    assert places == sorted(places)


def test_enter_presses_what_has_the_focus_and_the_focus_stays(scene: Scene) -> None:
    names = {each.accessibleName(): each for each in stops(scene)}
    names["Gist. I get the meaning, the words are wrong"].setFocus()
    scene.press(Qt.Key.Key_Return)
    assert rated(scene) == [(item_id(1), Rating.GIST)]
    assert QApplication.focusWidget() is names["Gist. I get the meaning, the words are wrong"]
    scene.press("3")
    assert rated(scene)[1:] == [(item_id(2), Rating.ACCEPTABLE)]


@pytest.mark.parametrize("keys", ["", "0", "1,", "!", "c", "e"])
def test_everything_has_a_name(scene: Scene, keys: str) -> None:
    scene.press(*keys)
    for widget in scene.page.findChildren(QWidget):
        if widget.isVisible() and isinstance(widget, QAbstractButton | QTextEdit | QProgressBar):
            assert said_of(widget, Text.Name), widget


def test_how_far_the_person_is_can_be_read(scene: Scene) -> None:
    scene.press("1", "2", "3")
    (bar,) = scene.page.findChildren(QProgressBar)
    face = QAccessible.queryAccessibleInterface(bar)
    assert face.text(Text.Name) == "Sentence 4 of 4"
    values = face.valueInterface()
    assert (values.minimumValue(), values.currentValue(), values.maximumValue()) == (0, 3, 4)


def test_both_texts_can_be_read(scene: Scene) -> None:
    texts = scene.page.texts
    for pane, name, text in (
        (texts.source, "Original", "Source 1."),
        (texts.candidate, "Translation", "Candidate 1."),
    ):
        face = QAccessible.queryAccessibleInterface(pane)
        assert face.text(Text.Name) == name
        assert face.textInterface().text(0, face.textInterface().characterCount()) == text


def test_what_is_asked_once_more_says_which_keys_answer(scene: Scene) -> None:
    scene.press("!")
    said = {
        each.accessibleName(): each.accessibleDescription()
        for each in scene.page.findChild(OnceMore).findChildren(QAbstractButton)
    }
    assert said == {"Yes": "Key Enter", "No": "Key Esc"}


def test_the_page_follows_who_reads_a_long_text_with_the_arrow_keys(
    qtbot: QtBot, tmp_path: Path
) -> None:
    text = "one line\n" * 200
    scene = Scene(
        qtbot, tmp_path, batch=batch_of([BatchItem(id=item_id(1), source=text, candidate="x")])
    )
    scene.idle()
    bar = scene.page.reading.verticalScrollBar()
    scene.page.texts.source.setFocus()
    for _ in range(60):
        scene.send(Qt.Key.Key_Down)
    assert bar.value() > 0
    assert not scene.page.texts.translation_seen
    scene.press("1")
    assert rated(scene) == []
    scene.rate("1")
    assert rated(scene) == [(item_id(1), Rating.REJECT)]
    scene.close()


def test_space_and_the_page_keys_read_on(qtbot: QtBot, tmp_path: Path) -> None:
    text = "one line\n" * 200
    scene = Scene(
        qtbot, tmp_path, batch=batch_of([BatchItem(id=item_id(1), source=text, candidate="x")])
    )
    scene.idle()
    bar = scene.page.reading.verticalScrollBar()
    places = [bar.value()]
    for key in (Qt.Key.Key_Space, Qt.Key.Key_PageDown, Qt.Key.Key_Down):
        scene.press(key)
        places.append(bar.value())
    assert places == sorted(set(places))
    scene.press(Qt.Key.Key_Up, Qt.Key.Key_PageUp, Qt.Key.Key_PageUp)
    assert bar.value() == 0
    scene.close()
