"""Room and place on the page of an item: nothing clipped, the answers in sight and always there."""

from __future__ import annotations

import gettext
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from review.desktop.look.look import SIZES
from review.files.batch import Batch
from review.files.manifests import Around, BatchItem
from review.files.reviewer_codes import tag_of
from review.session.words.catalogue import Words
from tests.desktop.item_scene import Make, Scene, answers_in_sight, in_page
from tests.desktop.trouble.causes import moved
from tests.review.session.scenes import CODE, batch_of, item_id, items_of
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


@pytest.fixture
def turned(qapp: QApplication) -> Iterator[Callable[[str], None]]:
    ways = {"ltr": Qt.LayoutDirection.LeftToRight, "rtl": Qt.LayoutDirection.RightToLeft}
    yield lambda direction: qapp.setLayoutDirection(ways[direction])
    qapp.setLayoutDirection(ways["ltr"])


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


def in_sight(scene: Scene, *widgets: QWidget) -> bool:
    """Tell whether all of some parts of what scrolls is seen."""
    viewport = scene.page.reading.viewport()
    places = [QRect(each.mapTo(viewport, QPoint(0, 0)), each.size()) for each in widgets]
    visible = all(each.isVisible() for each in widgets)
    return visible and all(map(viewport.rect().contains, places))


def test_what_is_asked_stands_right_under_the_translation(make: Make) -> None:
    """However much stands beside a sentence; after Esc the page is where it was."""
    around = Around(
        context="narrative", formality="conversational", before=LONG[:90], after=LONG[:90]
    )
    items = [each.model_copy(update={"around": around}) for each in items_of(2)]
    batch = batch_of(items, salt=SALT, translations={})
    scene = make(batch=batch, code=tag_of(CODE, SALT))
    texts, scroll = scene.page.texts, scene.page.reading
    assert scroll.verticalScrollBar().maximum() > 0, "there is more than has room"
    for key in ("0", "c", "e"):
        scene.press(key)
        panel = scene.page._panels[scene.mode]  # what is asked has no other name for all modes
        scene.qtbot.waitUntil(partial(in_sight, scene, panel, texts.candidate))
        scene.press(Qt.Key.Key_Escape)
        scene.qtbot.waitUntil(partial(in_sight, scene, texts.source, texts.candidate))


def lines_in_sight(scene: Scene) -> float:
    return scene.page.reading.viewport().height() / scene.page.texts.source.fontMetrics().height()


CORNERS = [(48, "fr", "rtl"), (16, "longer", "ltr")]
REST = product((16, 20, 25, 30, 40, 48), ("longer", "fr"), ("ltr", "rtl"))


@pytest.mark.parametrize(
    ("size", "language", "direction"), first(1, dict.fromkeys([*CORNERS, *REST]))
)
def test_nothing_is_clipped_at_any_size_of_letters(
    make: Make, turned: Callable[[str], None], size: int, language: str, direction: str
) -> None:
    turned(direction)
    scene = make(batch=two_items(LONG), size=size)
    reword(scene, language)
    scene.rate("2")
    assert clipped(scene) == []
    assert answers_in_sight(scene)
    assert lines_in_sight(scene) >= (2 if size < SIZES[-1] else 1.5)
    for key in ("0", Qt.Key.Key_Escape, ",", Qt.Key.Key_Escape, "!", Qt.Key.Key_Escape, "e"):
        scene.press(key)
        assert clipped(scene) == []
    scene.press(Qt.Key.Key_Escape)
    scene.page.acts.more.emit()
    scene.idle()
    assert clipped(scene) == []


def _places(scene: Scene) -> dict[str, QRect]:
    for _ in range(3):
        QApplication.processEvents()
    buttons = scene.page.answers.findChildren(QAbstractButton)
    return {each.text(): in_page(scene, each) for each in buttons if each.isVisible()}


WINDOWS = [(640, 480), (1024, 600), (600, 900), (1280, 900), (1366, 768)]


@pytest.mark.parametrize(
    ("window", "size", "language"),
    first(
        1,
        dict.fromkeys(
            [
                ((640, 480), 40, "en"),
                ((1024, 600), 16, "fr"),
                *product(WINDOWS, (16, 20, 40), ("en", "fr")),
            ]
        ),
    ),
)
def test_no_answer_moves(make: Make, window: tuple[int, int], size: int, language: str) -> None:
    scene = make(batch=batch_of(items_of(6)), language=language, size=size, window=window)
    before, folded = _places(scene), scene.page.folded
    assert answers_in_sight(scene)
    assert not folded or size == 40 or window == (640, 480)
    for what in _judging(scene):
        assert scene.page.folded is folded, what
        assert folded or _places(scene) in ({}, before), what


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
