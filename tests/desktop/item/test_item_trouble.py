"""Room and trouble on the page of an item: nothing clipped, the answers in sight, nothing lost that was typed."""

from __future__ import annotations

import gettext
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from review.desktop.frame import page_parts
from review.desktop.item.item_parts import FoldedLine
from review.desktop.item.sentence_face import Mode
from review.desktop.look import SIZES
from review.files.identities import tag_of
from review.files.manifests import BatchItem, SentenceContext
from review.log.payloads import NotJudged, Rate, Skip, Suggest
from review.rating import CannotJudge, Rating
from review.session.view import ShownItem
from review.session.words.catalogue import Words
from review.session.words.item import marks
from review.session.words.keys import NextAction
from tests.desktop.item_scene import (
    BUSY,
    Make,
    Scene,
    answers_in_sight,
    button,
    held,
    in_box,
    in_page,
    mark,
    rated,
    texts,
)
from tests.desktop.trouble.causes import moved
from tests.review.session.scenes import CODE, batch_of, item_id, items_of, training_of
from tests.review.thorough import first, times

SALT = bytes(range(32))

LONG = "ᓂᐚᐸᒫᐤ ᐊᑎᒼ. I saw a caribou down by the river yesterday evening. " * 12


class Longer(gettext.NullTranslations):
    """Words that take sixty per cent more room."""

    def gettext(self, message: str) -> str:
        return message if message == "ltr" else message + " " + "naki" * (1 + len(message) // 7)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


@pytest.fixture
def turned(qapp: QApplication) -> Iterator[Callable[[str], None]]:
    ways = {"ltr": Qt.LayoutDirection.LeftToRight, "rtl": Qt.LayoutDirection.RightToLeft}
    yield lambda direction: qapp.setLayoutDirection(ways[direction])
    qapp.setLayoutDirection(ways["ltr"])


def clipped(scene: Scene) -> list[str]:
    """Name what reaches over an edge of the page, or is smaller than what it says."""
    for _ in range(3):
        QApplication.processEvents()
    found = []
    page = scene.page
    for widget in page.findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, QAbstractButton | QLabel):
            continue
        place, name = (in_page(scene, widget), widget.accessibleName() or getattr(widget, "text", str)())
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
    around = SentenceContext(context="narrative", formality="conversational", before=LONG[:190], after=LONG[:190])
    items = [each.model_copy(update={"around": around}) for each in items_of(2)]
    batch = batch_of(items, salt=SALT, translations={})
    scene = make(batch=batch, code=tag_of(CODE, SALT))
    texts, scroll = scene.page.texts, scene.page.reading
    [folded] = texts.findChildren(FoldedLine)
    scene.qtbot.mouseClick(folded, Qt.MouseButton.LeftButton)
    scene.qtbot.waitUntil(lambda: scroll.verticalScrollBar().maximum() > 0)  # there is more than has room
    for key in ("0", "c", "e"):
        scene.press(key)
        panel = scene.page._panels[scene.mode]  # what is asked has no other name for all modes
        scene.qtbot.waitUntil(partial(in_sight, scene, panel, texts.candidate))
        scene.press(Qt.Key.Key_Escape)
        scene.qtbot.waitUntil(partial(in_sight, scene, texts.source, texts.candidate))


CORNERS = [(48, "fr", "rtl"), (16, "longer", "ltr")]
REST = product((16, 20, 25, 30, 40, 48), ("longer", "fr"), ("ltr", "rtl"))


@pytest.mark.parametrize(("size", "language", "direction"), first(1, dict.fromkeys([*CORNERS, *REST])))
def test_nothing_is_clipped_at_any_size_of_letters(
    make: Make, turned: Callable[[str], None], size: int, language: str, direction: str
) -> None:
    turned(direction)
    items = [BatchItem(id=item_id(n), source=LONG, candidate=LONG[::-1]) for n in (1, 2)]
    scene = make(batch=batch_of([*items, *items_of(4)[2:]]), size=size)
    longer = Words("xx", "ltr", "Longer", (), Longer())
    scene.session.words = longer if language == "longer" else Words.load(language)
    scene.desk.opening.words = scene.session.words
    scene.page.hide()
    scene.page.deleteLater()
    scene.open()  # the page is drawn anew in these words
    scene.idle()
    scene.rate("2")
    assert clipped(scene) == []
    assert answers_in_sight(scene)
    line = scene.page.texts.source.fontMetrics().height()
    assert scene.page.reading.viewport().height() >= line * (2 if size < SIZES[-1] else 1.5)
    for key in ("0", Qt.Key.Key_Escape, ",", Qt.Key.Key_Escape, "!", Qt.Key.Key_Escape, "e"):
        scene.press(key)
        assert clipped(scene) == []
    scene.press(Qt.Key.Key_Escape)
    scene.page.acts.more.emit()
    scene.idle()
    assert clipped(scene) == []


SMALL, LAPTOP = (800, 560), (1366, 728)
"""Pixels of the smallest window in which the answers stay, and of a window that fills an old laptop's screen."""
USUAL = ("I don't want to eat anything.", "Mi ne volas manĝi ion ajn.")


@pytest.mark.parametrize("language", first(1, ["fr", "en"]))
@pytest.mark.parametrize("window", [SMALL, LAPTOP])
def test_answers_stay_and_nothing_is_cut_at_each_size_of_letters(
    make: Make, window: tuple[int, int], language: str
) -> None:
    around = SentenceContext(context="narrative", formality="conversational")
    items = [BatchItem(id=item_id(n), source=USUAL[0], candidate=USUAL[1], around=around) for n in (1, 2, 3)]
    batch = batch_of([*items, *items_of(120)[3:]], salt=SALT, translations={})
    scene = make(batch=batch, code=tag_of(CODE, SALT), language=language, size=16, window=window)
    scene.rate("2")
    page = scene.page
    for size in (*SIZES, *reversed(SIZES)):  # what is seen does not depend on the size before
        scene.look.set_size(size)  # as the button does it: the window keeps its size
        QApplication.processEvents()
        assert clipped(scene) == [], size
        assert answers_in_sight(scene), size
        assert not page.folded, size
        scrolls = page.reading.verticalScrollBar().maximum()
        assert scrolls == 0 or (window == SMALL and size > 25), size
        assert page.reading.viewport().height() >= 3 * page.fontMetrics().height(), size


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
        dict.fromkeys([((640, 480), 40, "en"), ((1024, 600), 16, "fr"), *product(WINDOWS, (16, 20, 40), ("en", "fr"))]),
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


# trouble: nothing advances, typed text stays, and the same key works again

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape
TOO_SOON = "That came too soon, so nothing was done. Please do it again."


def test_box_can_be_left_on_a_full_disk(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(page_parts, "announce", lambda _, said: told.append(said))
    scene.press("e")
    with held(scene):
        for letters in ("mi", "ne"):
            in_box(scene, letters)
            scene.page.keep_typed()
            scene.idle()
        assert len(told) == 1, "said once, not at each pause of the keys"
        scene.press(ESC)
        assert BUSY in texts(scene)
        assert scene.mode is Mode.ANSWER
        assert "Your words are kept" not in texts(scene)
        assert mark(scene, "Your better translation, not saved yet:") == "mine"
        assert texts(scene).count("mine") == 1
        scene.press("3")
        assert rated(scene) == []
        assert mark(scene, "Your better translation, not saved yet:") == "mine"
        scene.press("x")
        assert scene.onward == [NextAction.HAND_OVER]
    scene.press("3")
    assert [each.text for each in scene.events(Suggest)] == ["mine"]
    assert rated(scene) == [(item_id(1), Rating.ACCEPTABLE)]
    assert BUSY not in texts(scene)


def test_slow_disk_is_told_and_so_is_a_key_that_came_meanwhile(make: Make) -> None:
    scene = make(busy_seconds=20.0)
    with held(scene):
        scene.send("3")
        scene.qtbot.waitUntil(lambda: "saving …" in texts(scene))
        scene.send("1")
        assert scene.item == item_id(1)
    scene.idle()
    assert rated(scene) == [(item_id(1), Rating.ACCEPTABLE)]
    assert f"Saved: Acceptable. {TOO_SOON}" in texts(scene)
    scene.press("4")
    assert "Saved: Excellent." in texts(scene)
    assert TOO_SOON not in texts(scene)
    with held(scene):
        scene.send("1")
        scene.page.deleteLater()  # a page that is gone hears nothing more
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    scene.qtbot.waitUntil(lambda: not scene.work.busy)
    scene.open()
    scene.idle()


# letters that cannot be drawn

UNSHOWN = "This computer cannot show the letters of this sentence."


def test_item_that_cannot_be_drawn_is_not_asked(make: Make) -> None:
    lost, *others = items_of(3)
    odd = BatchItem(id=lost.id, source=lost.source, candidate="𐔀𐔁")
    scene = make(batch=batch_of([odd, *others]))
    assert UNSHOWN in texts(scene)
    scene.press("1", "c", "!")
    assert scene.mode is Mode.ANSWER
    assert scene.events(Rate) == []
    assert not scene.page.answers.isVisible()
    scene.press(ENTER)
    record = [(each.item, each.why) for each in scene.events(NotJudged)]
    assert record == [(item_id(1), CannotJudge.UNSAID)], "an office of before knows no other word"
    scene.press("u")
    assert scene.item == item_id(1), "it is asked where it can be read"
    scene.qtbot.mouseClick(button(scene, "Cannot judge"), Qt.MouseButton.LeftButton)
    scene.press("5", "u")
    assert [each.item for each in scene.events(NotJudged)] == [item_id(1)] * 2
    scene.press("s")
    assert [each.item for each in scene.events(Skip)] == [item_id(1)]
    assert scene.page.answers.isVisible()
    assert UNSHOWN not in texts(scene)
    shown = filter(QAbstractButton.isVisible, scene.page.findChildren(QAbstractButton))
    assert "Continue without it" not in {each.text() for each in shown}


def test_practice_that_cannot_be_drawn_can_be_passed(make: Make) -> None:
    lesson = [each.model_copy(update={"candidate": "𐔀𐔁"}) for each in training_of([Rating.GIST])]
    scene = make(batch=batch_of(items_of(2), lesson))
    scene.press("2", ENTER)
    assert "Sentence 1 of 2" in scene.page.accessibleName()


# texts of strangers

HOSTILE = {
    "signs": "a\u202eb\u2067c\x00\x1b[2J" * 800,
    "marks": "a" + "\u0301" * 10_000,
    "overrides": "a\u202eb\u2067c" * 4000,
    "nulls": "\x00\x1b[2J" * 3000,
    "one-word": "w" * 20_000,
    "lines": "\n" * 20_000,
    "markup": "<b>&amp;bold</b> <img src='file:///etc/passwd'> &File" * 300,
    "empty": "",
    "mixed": "سڵاو (abc) ᓂᐚᐸᒫᐤ x̌ \u200f!\n" * 700,
}


@pytest.mark.parametrize("name", first(2, HOSTILE))
def test_no_text_freezes_the_page_or_leaves_its_place(make: Make, name: str) -> None:
    text = HOSTILE[name][: times(4_000, 20_000)]
    items = [BatchItem(id=item_id(n), source=text, candidate=text) for n in (1, 2)]
    scene = make(batch=batch_of(items))
    page = scene.page
    assert not set(page.texts.candidate.toPlainText()) & set("\u202e\u2067\x00\x1b")
    for part in (page.answers, page.acts):
        assert part.isVisible()
        assert page.rect().contains(part.geometry())
    scene.rate("1")
    assert len(rated(scene)) == 1
    item = ShownItem(item_id(1), "s", "c", 1, 1, comment="a\u202e<b>b")
    page.texts.show_marks(marks(scene.desk.words, item))
    QApplication.processEvents()
    assert "a‹RLO›<b>b" in texts(scene)
