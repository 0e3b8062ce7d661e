"""The largest letters on the smallest screen: every page of a sitting shows all its words and buttons."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel

from review.desktop.frame.page import Page
from review.desktop.pages.erase_page import ErasePage
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.parts.buttons import Button
from review.rating import Rating
from tests.desktop.sitting_scene import Scene, SceneOf, assert_more_is_told

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape
_FEWEST_LINES, _TABS = 2, 12


def pages(scene: Scene) -> Iterator[tuple[str, Page]]:
    """Go through every page but that of an item."""
    scene.session.rate(_item(scene), Rating.GIST)
    scene.start()
    yield from _after(scene, "help", "?", ESC)
    scene.look_again()
    yield "answers", scene.page
    scene.press(ESC)
    yield from _after(scene, "withdraw", "w")
    yield from _after(scene, "sure", "2", ESC)
    scene.sticks = []
    yield from _after(scene, "no stick", "x")
    page = scene.page_of(HandOverPage)
    page._choose_folder()
    scene.idle()
    yield "folders", page
    scene.press(ESC)
    page.save(scene.folder / "gone")
    scene.idle()
    yield "not written", page
    page.save(scene.stick)
    scene.idle()
    yield "written", page
    scene.press(ENTER)
    scene.window.erase.emit()
    scene.idle()
    erase = scene.page_of(ErasePage)
    yield "erase", erase
    assert erase._sure is not None
    erase._sure.setChecked(True)
    erase._delete.click()
    scene.idle()
    yield "erased", scene.page


def _assert_focus_is_seen(scene: Scene, page: Page, name: str) -> None:
    """Go round with Tab: what has the focus is seen; what is scrolled away has it no more."""
    viewport, bar = page._scroll.viewport(), page._scroll.verticalScrollBar()
    scene.window.activateWindow()
    page.setFocus()
    scene.qtbot.waitUntil(lambda: QApplication.focusWidget() is not None)
    for _ in range(_TABS):
        scene.press(Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        if page._inside.isAncestorOf(focused):
            top = focused.mapTo(viewport, QPoint(0, 0)).y()
            whole = top >= 0 and top + focused.height() <= viewport.height()
            assert whole or focused.height() > viewport.height(), (name, focused)
            bar.setValue(0 if bar.value() > bar.maximum() // 2 else bar.maximum())
            kept = QApplication.focusWidget()
            if isinstance(kept, Button) and page._inside.isAncestorOf(kept):
                assert kept.visibleRegion().boundingRect().height() * 2 >= kept.height(), name
    page.setFocus()
    bar.setValue(0)


def _item(scene: Scene) -> str:
    assert scene.session.view.item is not None
    return scene.session.view.item.id


def _after(scene: Scene, name: str, *keys: str | Qt.Key) -> Iterator[tuple[str, Page]]:
    scene.press(keys[0])
    yield name, scene.page
    scene.press(*keys[1:])


@pytest.mark.parametrize("language", ["en", "fr"])
def test_nothing_is_cut_off_and_nothing_runs_out_sideways(scene_of: SceneOf, language: str) -> None:
    scene = scene_of(language=language, size=48)
    scene.look.set_size(48)
    for name, page in pages(scene):
        QApplication.processEvents()
        assert (page.width(), page.height()) == scene.room, name
        assert not page._scroll.horizontalScrollBar().isVisible()
        assert page._scroll.widget().width() <= page._scroll.viewport().width(), name
        lines = page._scroll.viewport().height() / page.fontMetrics().lineSpacing()
        assert lines >= _FEWEST_LINES, name
        _assert_focus_is_seen(scene, page, name)
        assert_more_is_told(page, name)
        for button in page.findChildren(Button):
            if button.isVisible():
                assert button.width() >= button.minimumSizeHint().width(), (name, button.text())
                assert button.height() >= button.heightForWidth(button.width()), name
        for label in page.findChildren(QLabel):
            if label.isVisible() and label.wordWrap():
                assert label.height() >= label.heightForWidth(label.width()), (name, label.text())
