"""Room and place on the page of an item: nothing clipped, the answers in sight and always there."""

from __future__ import annotations

import gettext
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication
from pytestqt.qtbot import QtBot

from tests.desktop.item.in_sight import answers_in_sight, in_page
from tests.desktop.item_scene import Scene
from tests.desktop.trouble.causes import moved
from tests.review.session.scenes import batch_of, items_of

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtWidgets import QLabel, QWidget

from review.desktop.look.look import SIZES
from review.files.batch import Batch
from review.files.manifests import Around, BatchItem
from review.files.reviewer_codes import tag_of
from review.session.words.catalogue import Words
from tests.review.session.scenes import CODE, item_id
from tests.review.thorough import first

SALT = bytes(range(32))

LONG = "ᓂᐚᐸᒫᐤ ᐊᑎᒼ. I saw a caribou down by the river yesterday evening. " * 12


class Longer(gettext.NullTranslations):
    """Words that take sixty per cent more room."""

    def gettext(self, message: str) -> str:
        return message if message == "ltr" else message + " " + "naki" * (1 + len(message) // 7)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


def two_items(text: str) -> Batch:
    items = [BatchItem(id=item_id(n), source=text, candidate=text[::-1]) for n in (1, 2)]
    return batch_of([*items, *items_of(4)[2:]])


@pytest.fixture(params=["ltr", "rtl"])
def direction(request: pytest.FixtureRequest) -> Iterator[Qt.LayoutDirection]:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    right = request.param == "rtl"
    way = Qt.LayoutDirection.RightToLeft if right else Qt.LayoutDirection.LeftToRight
    application.setLayoutDirection(way)
    yield way
    application.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


@pytest.fixture
def wide(qtbot: QtBot, tmp_path: Path, direction: Qt.LayoutDirection) -> Iterator[Scene]:
    scene = Scene(qtbot, tmp_path, batch=two_items(LONG))
    scene.idle()
    yield scene
    scene.close()


def reword(scene: Scene, language: str) -> None:
    """Draw the page anew in other words."""
    longer = Words("xx", "ltr", "Longer", (), Longer())
    scene.desk.opening.words = longer if language == "longer" else Words.load(language)
    scene.session.words = scene.desk.opening.words
    scene.page.hide()
    scene.page.deleteLater()
    scene.open()
    scene.idle()


def clipped(scene: Scene) -> list[str]:
    """Name what reaches over an edge of the page, or is smaller than what it says."""
    for _ in range(3):
        QApplication.processEvents()
    found = []
    page = scene.page
    for widget in page.findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, QAbstractButton | QLabel):
            continue
        place, name = (
            in_page(scene, widget),
            widget.accessibleName() or getattr(widget, "text", str)(),
        )
        if place.left() < 0 or place.right() > page.width():
            found.append(f"{name!r} reaches over the side: {place}")
        wanted = widget.heightForWidth(widget.width()) if widget.hasHeightForWidth() else -1
        if widget.height() < max(wanted, widget.minimumSizeHint().height() if wanted < 0 else 0):
            found.append(f"{name!r} is {widget.height()} high and wants {wanted}")
        if isinstance(widget, QAbstractButton) and min(widget.width(), widget.height()) < 44:
            found.append(f"{name!r} is too small to press: {place}")
    if page.minimumSizeHint().width() > 1024 or page.minimumSizeHint().height() > 600:
        found.append(f"the page wants {page.minimumSizeHint()}")
    inside = page.reading.widget()
    if inside.width() > page.reading.viewport().width():
        found.append(f"the texts scroll sideways: {inside.width()}")
    return found


def in_sight(scene: Scene, widget: QWidget) -> bool:
    """Tell whether all of a part of what scrolls is seen."""
    viewport = scene.page.reading.viewport()
    place = QRect(widget.mapTo(viewport, widget.rect().topLeft()), widget.size())
    return widget.isVisible() and viewport.rect().contains(place)


@pytest.mark.parametrize("key", ["0", "c", "e"])
def test_what_is_asked_stands_right_under_the_translation(
    qtbot: QtBot, tmp_path: Path, key: str
) -> None:
    """However much stands beside a sentence; after Esc the page is where it was."""
    around = Around(
        context="narrative", formality="conversational", before=LONG[:90], after=LONG[:90]
    )
    items = [each.model_copy(update={"around": around}) for each in items_of(2)]
    batch = batch_of(items, salt=SALT, translations={})
    scene = Scene(qtbot, tmp_path, batch=batch, code=tag_of(CODE, SALT))
    scene.idle()
    texts, scroll = scene.page.texts, scene.page.reading
    assert scroll.verticalScrollBar().maximum() > 0, "there is more than has room"
    scene.press(key)
    panel = scene.page._panels[scene.mode]  # what is asked has no other name for all modes
    qtbot.waitUntil(lambda: in_sight(scene, panel) and in_sight(scene, texts.candidate))
    scene.press(Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: in_sight(scene, texts.source) and in_sight(scene, texts.candidate))
    scene.close()


def lines_in_sight(scene: Scene) -> float:
    return scene.page.reading.viewport().height() / scene.page.texts.source.fontMetrics().height()


@pytest.mark.parametrize(
    ("size", "language"),
    first(3, [(16, "longer"), (48, "fr"), (20, "fr"), *((size, "longer") for size in SIZES[1:])]),
)
def test_nothing_is_clipped_at_any_size_of_letters(wide: Scene, size: int, language: str) -> None:
    wide.look.set_size(size)
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    wide.look.apply(application)
    reword(wide, language)
    wide.rate("2")
    assert clipped(wide) == []
    assert answers_in_sight(wide)
    assert lines_in_sight(wide) >= (2 if size < SIZES[-1] else 1.5)
    for key in ("0", Qt.Key.Key_Escape, ",", Qt.Key.Key_Escape, "!", Qt.Key.Key_Escape, "e"):
        wide.press(key)
        assert clipped(wide) == []
    wide.press(Qt.Key.Key_Escape)
    wide.page.acts.more.emit()
    wide.idle()
    assert clipped(wide) == []


WORD = "w" * 4000


@pytest.mark.parametrize("size", [20, 48])
def test_a_word_without_an_end_goes_on_below(qtbot: QtBot, tmp_path: Path, size: int) -> None:
    items = [BatchItem(id=item_id(n), source="s", candidate=WORD) for n in (1, 2)]
    scene = Scene(qtbot, tmp_path, batch=batch_of(items), size=size)
    scene.idle()
    for key in ("c", "e"):
        scene.press(key)
        scene.page.writing.take(WORD)
        scene.press(Qt.Key.Key_Return)
        assert clipped(scene) == []
    scene.rate("1")
    scene.press(",")
    assert clipped(scene) == []
    scene.close()


def _places(scene: Scene) -> dict[str, QRect]:
    for _ in range(3):
        QApplication.processEvents()
    buttons = scene.page.answers.findChildren(QAbstractButton)
    return {each.text(): in_page(scene, each) for each in buttons if each.isVisible()}


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("size", first(2, [16, 40, 20]))
@pytest.mark.parametrize(
    ("width", "height"), first(2, [(640, 480), (1024, 600), (600, 900), (1280, 900), (1366, 768)])
)
def test_no_answer_moves_while_somebody_judges(
    qtbot: QtBot, tmp_path: Path, width: int, height: int, size: int, language: str
) -> None:
    batch, window = batch_of(items_of(6)), (width, height)
    scene = Scene(qtbot, tmp_path, batch=batch, language=language, size=size, window=window)
    scene.idle()
    before, folded = _places(scene), scene.page.folded
    assert answers_in_sight(scene)
    assert not folded or size == 40 or window == (640, 480)
    for what in _judging(scene):
        assert scene.page.folded is folded, what
        assert folded or _places(scene) in ({}, before), what
    scene.close()


def _judging(scene: Scene) -> Iterator[str]:
    """Do what adds words and buttons to the page; gives what was done."""
    for keys in ("2", "1", "s", "u", "0"):
        scene.rate(keys) if keys in "12" else scene.press(keys)
        yield keys
    scene.press("1")
    yield "cannot judge"
    scene.press("!", Qt.Key.Key_Return)
    yield "harmful"
    with moved(scene.folder):
        scene.rate("1")
        assert scene.page.troubled
        yield "trouble"
    scene.press("1")
    assert not scene.page.troubled
    yield "the same key once more"
