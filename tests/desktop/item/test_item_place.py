"""An answer stays where it is from the first sentence to the last: a hand that goes back to it hits the same one."""

from __future__ import annotations

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


def _places(scene: Scene) -> dict[str, QRect]:
    for _ in range(3):
        QApplication.processEvents()
    buttons = scene.page._answers.findChildren(QAbstractButton)
    return {each.text(): in_page(scene, each) for each in buttons if each.isVisible()}


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("size", [16, 20, 40])
@pytest.mark.parametrize(
    "window", [(600, 900), (640, 480), (1024, 600), (1280, 900), (1366, 768)], ids=str
)
def test_no_answer_moves_while_somebody_judges(
    qtbot: QtBot, tmp_path: Path, window: tuple[int, int], size: int, language: str
) -> None:
    batch = batch_of(items_of(6))
    scene = Scene(qtbot, tmp_path, batch=batch, language=language, size=size, window=window)
    scene.idle()
    first, folded = _places(scene), scene.page._folded
    assert answers_in_sight(scene)
    assert not folded or size == 40 or window == (640, 480)
    for what in _judging(scene):
        assert scene.page._folded is folded, what
        assert folded or _places(scene) in ({}, first), what
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
