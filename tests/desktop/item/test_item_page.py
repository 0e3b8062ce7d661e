"""What each key and button does on the page of an item, and what is on the disk when it says so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QApplication, QProgressBar, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.frame import page
from review.desktop.item import sentence_face, sentence_page
from review.desktop.item.item_parts import FoldedLine, ItemTexts
from review.desktop.item.sentence_face import Mode
from review.desktop.parts.choosing import OnceMore
from review.files.manifests import BatchItem, SentenceContext
from review.log.payloads import MOST_TEXT, Comment, Suggest
from review.rating import Rating
from review.session.view import ShownItem, TextField
from review.session.words import item as item_words
from review.session.words.catalogue import Words
from review.session.words.item import Mark
from tests.desktop.item_scene import Make, Scene, button, in_box, mark, rated, texts
from tests.desktop.visit_scene import dressed
from tests.review.session.scenes import batch_of, item_id, items_of, training_of

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
PAD = Qt.KeyboardModifier.KeypadModifier


def places(scene: Scene) -> dict[str, tuple[int, int]]:
    buttons = scene.page.acts.findChildren(QAbstractButton)
    return {each.text(): (each.x(), each.y()) for each in buttons if each.isVisible()}


# answers


def test_one_key_or_click_rates_saves_and_advances(make: Make) -> None:
    scene = make(batch=batch_of(items_of(9)))
    before = places(scene)
    assert not button(scene, "Undo").isEnabled()
    keys = [("1", NONE), ("f", NONE), ('"', NONE), ("٤", NONE), ("4", PAD)]
    for number, (key, modifiers) in enumerate(keys, 2):
        scene.press(key, modifiers=modifiers)
        assert scene.item == item_id(number)
        assert f"Sentence {number} of 9" in scene.page.accessibleName()
    assert button(scene, "Undo").isEnabled()
    assert places(scene) == before
    scene.qtbot.mouseClick(button(scene, "Acceptable"), LEFT)
    scene.idle()
    scene.press(Qt.Key.Key_Space)  # a click leaves the keys where they were
    assert rated(scene) == list(
        zip(map(item_id, range(1, 7)), [*Rating, Rating.EXCELLENT, Rating.ACCEPTABLE], strict=True)
    )
    scene.press("n")  # the next without an answer
    assert scene.item == item_id(8)


def test_held_and_hasty_keys_rate_once(scene: Scene) -> None:
    scene.send("3")
    for _ in range(50):
        scene.send("3", repeats=True)
        QApplication.processEvents()
    scene.idle()
    assert rated(scene) == [(item_id(1), Rating.ACCEPTABLE)]
    for key in ("1", "2", "3", "u", "s", "!", "0"):  # while the first is saved
        scene.send(key)
    scene.idle()
    assert rated(scene)[1:] == [(item_id(2), Rating.REJECT)]
    assert (scene.mode, scene.item) == (Mode.ANSWER, item_id(3))
    scene.page.hide()
    scene.page.draw(scene.session.skip(scene.item))
    scene.send("1", to=scene.page)  # before it was painted
    scene.qtbot.waitUntil(lambda: not scene.work.busy)
    assert len(rated(scene)) == 2


# reasons


# words of one's own


def test_words_are_typed_saved_and_shown(scene: Scene) -> None:
    scene.press("c")
    assert scene.mode is Mode.WRITING
    in_box(scene, "12 nîpîy")
    button(scene, "Save").setFocus()
    scene.press("1")  # a digit on a button beside the box is text
    scene.press(ENTER)
    assert [each.text for each in scene.events(Comment)] == ["12 nîpîy1"]
    assert rated(scene) == []
    assert scene.mode is Mode.ANSWER
    assert mark(scene, "Your comment:") == "12 nîpîy1"
    scene.press("e", Qt.Key.Key_Up)
    in_box(scene, " More")
    scene.press(ESC)
    assert "not saved yet" in texts(scene)
    scene.press("e", ENTER)
    assert "Your better translation:" in texts(scene)
    assert [each.text for each in scene.events(Suggest)] == ["Candidate 1. More"]
    scene.press("1", "c")
    scene.page.writing.take("a" * (MOST_TEXT + 10))
    scene.press(ENTER)
    assert len(scene.events(Comment)[-1].text) == MOST_TEXT
    assert rated(scene) == [(item_id(1), Rating.REJECT)]


def test_draft_is_kept_by_esc_a_pause_and_when_the_page_goes(scene: Scene) -> None:
    def kept() -> str | None:
        return scene.draft(item_id(1), TextField.COMMENT)

    scene.press("c")
    in_box(scene, "half")
    scene.press(ESC)
    assert scene.events(Comment) == []
    assert mark(scene, "Your comment, not saved yet:") == "half"
    assert kept() == "half"
    scene.press("c")
    in_box(scene, " more")
    scene.qtbot.waitUntil(lambda: not scene.work.busy and kept() == "half more")
    in_box(scene, " so")
    scene.page.hide()
    scene.idle()
    assert kept() == "half more so"


# practice, and other pages


def test_practice_shows_the_answer_and_asks_nothing_else(make: Make) -> None:
    lessons = training_of([Rating.GIST, Rating.REJECT])
    scene = make(batch=batch_of(items_of(2), lessons))
    assert "Practice 1 of 2" in scene.page.accessibleName()
    assert "This is only practice: nothing here counts." in texts(scene)
    for key in ("c", "!", "0", "n", "x"):
        scene.press(key)
        assert "That comes after the practice." in texts(scene)
        assert scene.mode is Mode.ANSWER
    assert scene.onward == []
    scene.press("4")
    assert "You said Excellent. We would say Gist." in texts(scene)
    scene.press("1")
    assert "Read the answer, then press Enter." in texts(scene)
    scene.press(ENTER)
    assert "Practice 2 of 2" in scene.page.accessibleName()
    scene.press("1")
    assert "You said Reject." in texts(scene)
    scene.press(ENTER)
    assert "This is only practice" not in texts(scene)


# for those who do not see the page, or do not use a mouse

Text = QAccessible.Text
GIST = "Gist. I get the meaning, the words are wrong"


@pytest.fixture
def aloud(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Hear what a screen reader is given."""
    heard: list[str] = []
    for module in (page, sentence_face, sentence_page):
        monkeypatch.setattr(module, "announce", lambda _, text: heard.append(text))
    return heard


def stops(scene: Scene) -> list[QWidget]:
    """Go round with Tab until the first stop comes again."""
    found: list[QWidget] = []
    while (focus := QApplication.focusWidget()) not in found:
        assert focus is not None
        found.append(focus)
        scene.send(Qt.Key.Key_Tab)
    return found


def test_item_lesson_and_saving_are_read_aloud_once(make: Make, aloud: list[str]) -> None:
    scene = make(batch=batch_of(items_of(4), training_of([Rating.GIST])))
    scene.press("1")
    assert aloud[-1] == "You said Reject. We would say Gist. Because of 1."
    scene.press(Qt.Key.Key_Return)
    read = "Sentence 1 of 4\nOriginal: Source 1.\nTranslation: Candidate 1."
    assert aloud[-1] == read
    aloud.clear()
    scene.press("2")
    assert aloud == ["Saved: Gist.", read.replace("1", "2")]
    aloud.clear()
    scene.page.draw(scene.session.view)
    assert not any("Original" in each for each in aloud)


def test_everything_is_reached_by_tab_and_pressed_by_enter(scene: Scene) -> None:
    scene.page.setFocus()
    scene.send(Qt.Key.Key_Tab)
    first = QApplication.focusWidget().accessibleName()
    assert first not in {"Smaller letters", "Larger letters", "Settings"}
    scene.press("1")
    reached = stops(scene)
    wanted = [
        each
        for each in scene.page.findChildren(QWidget)
        if each.isVisible() and isinstance(each, QAbstractButton | QTextEdit)
    ]
    assert wanted
    assert [each.accessibleName() for each in wanted if each not in reached] == []
    names = [each.accessibleName() for each in reached]
    in_order = ["Original", "Translation", "Reject. wrong, or not our language", "Cannot judge"]
    places = [names.index(each) for each in in_order]
    assert places == sorted(places)
    gist = reached[names.index(GIST)]
    gist.setFocus()
    scene.press(Qt.Key.Key_Return)
    assert rated(scene)[1:] == [(item_id(2), Rating.GIST)]
    assert QApplication.focusWidget() is gist
    scene.press("3")
    assert rated(scene)[2:] == [(item_id(3), Rating.ACCEPTABLE)]


def test_everything_has_a_name_and_texts_can_be_read(scene: Scene) -> None:
    for pane, name, text in (
        (scene.page.texts.source, "Original", "Source 1."),
        (scene.page.texts.candidate, "Translation", "Candidate 1."),
    ):
        face = QAccessible.queryAccessibleInterface(pane)
        assert face.text(Text.Name) == name
        assert face.textInterface().text(0, face.textInterface().characterCount()) == text
    for keys in ("", "0", "1,", "!", "c", "e"):
        scene.press(*keys)
        for widget in scene.page.findChildren(QWidget):
            told = isinstance(widget, QAbstractButton | QTextEdit | QProgressBar)
            if told and widget.isVisible():
                assert QAccessible.queryAccessibleInterface(widget).text(Text.Name), widget
        if keys == "!":
            buttons = scene.page.findChild(OnceMore).findChildren(QAbstractButton)
            said = {each.accessibleName(): each.accessibleDescription() for each in buttons}
            assert said == {"Yes": "Key Enter", "No": "Key Esc"}
        scene.press(Qt.Key.Key_Escape)
    scene.press("2", "3")
    (bar,) = scene.page.findChildren(QProgressBar)
    face = QAccessible.queryAccessibleInterface(bar)
    assert face.text(Text.Name) == "Sentence 4 of 4"
    values = face.valueInterface()
    assert (values.minimumValue(), values.currentValue(), values.maximumValue()) == (0, 3, 4)


def test_keys_read_on_in_a_long_text_before_one_can_rate(make: Make) -> None:
    long = BatchItem(id=item_id(1), source="one line\n" * 200, candidate="x")
    scene = make(batch=batch_of([long]))
    bar = scene.page.reading.verticalScrollBar()
    places = [bar.value()]
    for key in (Qt.Key.Key_Space, Qt.Key.Key_PageDown, Qt.Key.Key_Down):
        scene.press(key)
        places.append(bar.value())
    assert places == sorted(set(places))
    scene.press(Qt.Key.Key_Up, Qt.Key.Key_PageUp, Qt.Key.Key_PageUp)
    assert bar.value() == 0
    scene.page.texts.source.setFocus()
    for _ in range(60):
        scene.send(Qt.Key.Key_Down)
    assert bar.value() > 0, "the page follows who reads"
    assert not scene.page.texts.translation_seen
    scene.press("1")
    assert rated(scene) == []
    scene.rate("1")
    assert rated(scene) == [(item_id(1), Rating.REJECT)]


def test_sentences_around_are_one_line_until_opened(qtbot: QtBot) -> None:
    dressed(20)
    words = Words.load("en")
    around = SentenceContext(before="Before.", after="After. " * 20)
    item = ShownItem("1" * 16, "Source", "Candidate", 1, 1, around=around)
    shown = ItemTexts(words)
    qtbot.addWidget(shown)
    shown.resize(600, 500)
    shown.show_item(item)
    shown.show_marks(item_words.marks(words, item))
    shown.show()
    qtbot.waitExposed(shown)
    (line,) = shown.findChildren(FoldedLine)
    whole = [f"The sentence before it: {around.before}", f"The sentence after it: {around.after.strip()}"]

    def opened() -> list[str]:
        return [part.text().strip() for part in line.parts[1:] if part.isVisible()]

    def newest(before: FoldedLine) -> FoldedLine:
        lines = [each for each in shown.findChildren(FoldedLine) if each is not before]
        qtbot.waitUntil(lines[-1].isVisible)
        return lines[-1]

    assert line.isVisible()
    assert line.property("role") == "quiet"
    assert line.text().startswith("▸ The sentence before it: Before.")
    assert (line.sizeHint().height() < 2 * line.fontMetrics().lineSpacing(), opened()) == (True, [])
    qtbot.mouseClick(line, Qt.MouseButton.LeftButton)
    assert opened() == whole
    shown.show_marks([Mark("Your comment:", "mine"), *item_words.marks(words, item)])
    line = newest(line)
    assert opened() == whole  # what a person opened stays open while they write
    qtbot.keyClick(line, Qt.Key.Key_Space)
    assert opened() == []
    shown.show_marks(item_words.marks(words, replace(item, around=SentenceContext(before="Another."))))
    line = newest(line)
    assert opened() == []
