"""The page on which answers are erased, in a scene."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from review.desktop.pages.ending_pages import ErasePage
from tests.desktop.sitting_scene import Scene, SceneOf

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape


@pytest.fixture
def scene(scene_of: SceneOf) -> Scene:
    """Two answers were given, and the person asks for everything to be deleted."""
    scene = scene_of()
    scene.press("4", "2")
    ask(scene)
    return scene


def ask(scene: Scene) -> None:
    scene.window.erase.emit()
    scene.idle()
    scene.page_of(ErasePage)


def tick(scene: Scene) -> None:
    sure = scene.page_of(ErasePage)._sure
    assert sure is not None
    sure.setChecked(True)
