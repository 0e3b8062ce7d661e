"""Letters of 100, 150 and 200 % are drawn so large, on small and large screens, and all that can be done is reached."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.look.look import LARGE
from review.desktop.parts.buttons import Button
from review.files.manifests import BatchItem
from review.session.words.keys import KEYS, Act
from tests.desktop.item_scene import Scene
from tests.desktop.pixels import colours, contrast, picture
from tests.desktop.visit_scene import Enter
from tests.review.session.scenes import batch_of, item_id
from tests.review.thorough import first

SCREENS = [(1024, 560), (1366, 728), (1920, 1040)]
"""Pixels of the window on three screens, without the bars of the system."""
USUAL = 20
_TEXTS = (
    "The woman whose son went to the store is the teacher whom my children like best.",
    "La virino, kies filo iris al la vendejo, estas la instruistino, kiun miaj infanoj ŝatas.",
)
_TABS = 80
ISOLATES = "\u2066\u2069"


def scene_of(qtbot: QtBot, folder: Path, window: tuple[int, int], size: int) -> Scene:
    folder.mkdir()
    items = [BatchItem(id=item_id(n), source=_TEXTS[0], candidate=_TEXTS[1]) for n in (1, 2, 3)]
    scene = Scene(qtbot, folder, batch=batch_of(items), size=size, window=window)
    scene.idle()
    return scene


def ink(widget: QWidget) -> int:
    """Measure how many rows of pixels the first line of letters takes, the border of a button left out."""
    image, edge = picture(widget), 9 if isinstance(widget, Button) else 0
    ground = QColor(colours(image).most_common(1)[0][0])
    high = 0
    for y in range(edge, image.height() - edge):
        row = (image.pixelColor(x, y) for x in range(edge, image.width() - edge))
        if any(contrast(ground, pixel) > 4 for pixel in row):
            high += 1
        elif high:
            break
    return high


def said(scene: Scene) -> dict[str, QWidget]:
    """Return what stands around the texts on a line of its own: names, signs, answers and acts."""
    labels = {each.text(): each for each in scene.page.findChildren(QLabel) if each.isVisible()}
    found: dict[str, QWidget] = {name: labels[name] for name in ("Original", "Translation")}
    names = ("Settings", "Reject", "Gist", "Better translation", "Harmful")
    found |= {name: act_of(scene, name) for name in names}
    return found


def act_of(scene: Scene, name: str) -> Button:
    """Return a button, also one that is folded away for want of room."""
    return next(b for b in scene.page.findChildren(Button) if b.text().strip(ISOLATES) == name)


@pytest.mark.parametrize("place", first(1, range(len(SCREENS))))
def test_what_is_chosen_is_drawn(qtbot: QtBot, tmp_path: Path, place: int) -> None:
    window = SCREENS[place]
    drawn: dict[int, dict[str, int]] = {}
    for size in (USUAL, 30, 40):
        scene = scene_of(qtbot, tmp_path / str(size), window, size)
        scene.look.set_shows_keys(False)
        drawn[size] = {name: ink(widget) for name, widget in said(scene).items()}
        page = scene.page
        assert page.texts.source.document().defaultFont().pixelSize() == size
        scene.close()
    for size in (30, 40):
        for name, high in drawn[size].items():
            assert high / drawn[USUAL][name] == pytest.approx(size / USUAL, rel=0.12), (size, name)


@pytest.mark.parametrize("size", [20, 40])
@pytest.mark.parametrize("window", SCREENS, ids=str)
def test_all_that_can_be_done_is_reached_by_tab_and_by_wheel(
    qtbot: QtBot, tmp_path: Path, window: tuple[int, int], size: int
) -> None:
    scene = scene_of(qtbot, tmp_path / "one", window, size)
    page = scene.page
    scene.rate("2")  # now there is something to undo
    seen: dict[str, bool] = {}
    page.setFocus()
    for _ in range(_TABS):
        scene.send(Qt.Key.Key_Tab)
        _settled()
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused.accessibleName() in seen:
            break
        seen[focused.accessibleName()] = in_sight(page, focused)
    assert all(seen.values()), seen
    wanted = {each.accessibleName() for each in page.findChildren(Button) if each.isVisible()}
    assert wanted <= set(seen)
    assert {name.split(".")[0] for name in seen} > {"Reject", "Gist", "Acceptable", "Excellent"}
    bar, clicked = page.reading.verticalScrollBar(), set[str]()
    for place in range(0, bar.maximum() + 1, max(1, bar.pageStep() // 3)):
        bar.setValue(place)
        clicked |= {name for name in wanted if hit(page, name)}
    bar.setValue(bar.maximum())
    assert clicked | {name for name in wanted if hit(page, name)} == wanted
    scene.close()


def in_sight(page: QWidget, widget: QWidget) -> bool:
    """Tell whether all of a widget is seen, or it fills all that can be seen."""
    seen = widget.visibleRegion().boundingRect()
    return seen == widget.rect() or (
        widget.height() > page.reading.viewport().height() and seen.height() > 0  # type: ignore[attr-defined]
    )


def hit(page: QWidget, name: str) -> bool:
    """Tell whether the middle of a button is seen and would be clicked."""
    (each,) = (b for b in page.findChildren(Button) if b.isVisible() and b.accessibleName() == name)
    middle = each.mapTo(page, each.rect().center())
    return page.rect().contains(middle) and page.childAt(middle) is each


def _settled() -> None:
    for _ in range(3):
        QApplication.processEvents()


@pytest.mark.parametrize("size", [20, 40])
@pytest.mark.parametrize("window", SCREENS, ids=str)
def test_what_is_read_is_a_column_in_the_middle(
    qtbot: QtBot, tmp_path: Path, window: tuple[int, int], size: int
) -> None:
    scene = scene_of(qtbot, tmp_path / "one", window, size)
    pane = scene.page.texts.source
    place = QRect(pane.mapTo(scene.page, QPoint(0, 0)), pane.size())
    assert place.width() <= 900
    assert abs(place.left() - (scene.page.width() - place.right())) <= 30  # a scroll bar's width
    scene.close()


def test_what_a_community_values_most_is_seen_on_a_small_screen(
    qtbot: QtBot, tmp_path: Path
) -> None:
    for language in ("en", "fr"):
        scene = Scene(qtbot, tmp_path / language, language=language, window=(1024, 600))
        scene.idle()
        shown = [each for each in scene.page.acts.findChildren(Button) if each.isVisible()]
        keys = {each.key for each in shown if in_sight(scene.page, each)}
        assert {KEYS[act][0] for act in (Act.CANNOT_JUDGE, Act.WORDING, Act.HARM)} <= keys
        scene.close()


def test_the_window_takes_the_screen_for_large_letters_and_leaves_a_smaller_one_alone(
    enter: Enter,
) -> None:
    entry = enter()
    entry.window.showNormal()
    entry.look.set_size(25)
    assert not entry.window.isMaximized()
    entry.look.set_size(LARGE)
    assert entry.window.isMaximized()
    entry.window.showNormal()
    entry.look.smaller()
    assert not entry.window.isMaximized()
