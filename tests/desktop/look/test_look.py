"""Colours are told apart by everybody, sizes change at once, and what was chosen is remembered and drawn."""

from __future__ import annotations

import itertools
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QLabel,
    QLineEdit,
    QProgressBar,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from review.desktop.look import COLOURS, LARGE, SIZES, Look, Theme
from review.desktop.parts.buttons import GAP, RING, Button
from review.desktop.parts.texts import TextPane
from review.files.manifests import BatchItem
from review.session.words.keys import KEYS, Act
from tests.desktop.item_scene import Scene
from tests.desktop.pixels import colours, contrast, picture, strongest
from tests.desktop.visit_scene import Enter
from tests.review.session.scenes import batch_of, item_id
from tests.review.thorough import first

TEXT, EDGE = 7.0, 3.0
"""WCAG 2: 1.4.6 at level AAA, and 1.4.11."""


@pytest.fixture
def kept() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def look(qapp: QApplication, kept: list[tuple[str, str]]) -> Look:
    made = Look(Theme.LIGHT, 20, lambda name, value: kept.append((name, value)))
    made.apply(qapp)
    return made


@pytest.mark.parametrize("theme", list(Theme))
def test_every_pair_of_colours_that_is_used_can_be_told_apart(theme: Theme) -> None:
    found = COLOURS[theme]
    grounds = (found.ground, found.field)
    texts = (found.text, found.quiet, found.good, found.warn)
    for text, ground in [*itertools.product(texts, grounds), (found.on_accent, found.accent)]:
        assert contrast(text, ground) >= TEXT, (text.name(), ground.name())
    for edge, ground in itertools.product((found.border, found.accent, found.focus), grounds):
        assert contrast(edge, ground) >= EDGE, (edge.name(), ground.name())


def shown(qtbot: QtBot, *widgets: QWidget) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    column = QVBoxLayout(window)
    for widget in widgets:
        column.addWidget(widget)
    window.resize(400, 900)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window


def place(widget: QWidget) -> QRect:
    return QRect(widget.mapTo(widget.window(), widget.rect().topLeft()), widget.size())


def label(role: str) -> QLabel:
    made = QLabel("HHH EEE")
    made.setProperty("role", role)
    return made


@pytest.mark.parametrize("theme", list(Theme))
def test_words_and_edges_are_painted_clear(qtbot: QtBot, look: Look, theme: Theme) -> None:
    look.set_theme(theme)
    labels = [label(each) for each in ("", "title", "strong", "mark", "quiet", "good", "warn")]
    button, main, off, down = (Button("HHH", "E") for _ in range(4))
    main.setProperty("role", "main")
    off.setEnabled(False)
    down.setDown(True)
    line, asks, box = QLineEdit("HHH EEE"), QLineEdit(), QTextEdit("HHH EEE")
    asks.setPlaceholderText("HHH EEE")
    pane, tick, bar = TextPane(), QCheckBox("x"), QProgressBar()
    pane.show_text("HHH EEE")
    tick.setChecked(True)
    bar.setMaximum(10)
    inside = [button, main, off, down, line, asks, box, pane]
    window = shown(qtbot, *labels, tick, *inside, bar)
    window.setFocus()
    image = picture(window)
    for widget in [*labels, tick, *inside]:
        margin = 10 if widget in inside else 0
        at = place(widget).adjusted(margin, margin, -margin, -margin)
        assert strongest(image, at) >= TEXT, (widget, widget.property("role"))
    ground = COLOURS[theme].ground
    for widget in (button, line, box, bar):
        at = QRect(place(widget).center().x(), place(widget).top(), 1, 12)
        assert max(contrast(ground, QColor(c)) for c in colours(image, at)) >= EDGE, widget


@pytest.mark.parametrize("theme", list(Theme))
def test_focus_is_a_thick_ring_or_edge(qtbot: QtBot, look: Look, theme: Theme) -> None:
    look.set_theme(theme)
    plain, main = Button("HHH"), Button("HHH")
    main.setProperty("role", "main")
    edged = [QLineEdit(), QTextEdit(), TextPane()]
    window = shown(qtbot, plain, main, *edged, QLabel("."))
    window.setFocus()
    ground, ring = COLOURS[theme].ground.name(), COLOURS[theme].focus.name()
    assert RING >= 3
    for button in (plain, main):
        assert ring not in colours(picture(window), place(button))
        button.setFocus(Qt.FocusReason.TabFocusReason)
        image, at = picture(window), place(button)
        down = [
            image.pixelColor(at.center().x(), at.top() + y).name() for y in range(-2, RING + GAP)
        ]
        assert down == [ground] * 2 + [ring] * RING + [ground] * GAP
    for widget in edged:
        widget.setFocus()
        image, at = picture(window), place(widget)
        down = [image.pixelColor(at.center().x(), at.top() + y).name() for y in range(4)]
        assert down == [ring] * 4


def test_a_size_changes_everything_at_once(qtbot: QtBot, look: Look) -> None:
    plain, title, button, box = QLabel("x"), label("title"), Button("x"), QTextEdit("x")
    window = shown(qtbot, plain, title, button, box)
    for size in SIZES:
        look.set_size(size)
        assert [each.font().pixelSize() for each in (plain, button, box)] == [size] * 3
        assert title.font().pixelSize() > size
        assert title.font().bold()
    assert window.isVisible()


def test_change_is_told_once(qtbot: QtBot, look: Look, kept: list[tuple[str, str]]) -> None:
    with qtbot.waitSignal(look.changed):
        look.set_theme(Theme.CONTRAST)
    with qtbot.waitSignal(look.changed):
        look.larger()
    with qtbot.assertNotEmitted(look.changed):
        look.set_theme(Theme.CONTRAST)
        look.set_size(26)
    assert kept == [("window colours", "contrast"), ("window text size", "25")]


def test_the_sizes_have_two_ends(look: Look, kept: list[tuple[str, str]]) -> None:
    for _ in SIZES:
        look.larger()
    assert look.size == SIZES[-1]
    for _ in range(len(SIZES) + 1):
        look.smaller()
    assert look.size == SIZES[0]
    assert [value for _, value in kept] == ["25", "30", "40", "48", "40", "30", "25", "20", "16"]


@pytest.mark.parametrize(
    ("asked", "taken"), [(0, 16), (-5, 16), (19, 20), (26, 25), (36, 40), (10**9, 48)]
)
def test_unknown_size_becomes_the_nearest(qapp: QApplication, asked: int, taken: int) -> None:
    assert Look(Theme.LIGHT, asked, lambda *_: None).size == taken


# letters of 100, 150 and 200 %, on small and large screens

SCREENS = [(1024, 560), (1366, 728), (1920, 1040)]
"""Pixels of the window on three screens, without the bars of the system."""
_TEXTS = (
    "The woman whose son went to the store is the teacher whom my children like best.",
    "La virino, kies filo iris al la vendejo, estas la instruistino, kiun miaj infanoj ŝatas.",
)
_TABS = 80


def scene_of(qtbot: QtBot, folder: Path, window: tuple[int, int], size: int) -> Scene:
    folder.mkdir()
    items = [BatchItem(id=item_id(n), source=_TEXTS[0], candidate=_TEXTS[1]) for n in (1, 2, 3)]
    return Scene(qtbot, folder, batch=batch_of(items), size=size, window=window)


@pytest.mark.parametrize(
    ("window", "size"),
    first(1, dict.fromkeys([((1024, 560), 40), ((1920, 1040), 20), *product(SCREENS, (20, 40))])),
)
def test_column_is_all_reached_by_tab_and_wheel(
    qtbot: QtBot, tmp_path: Path, window: tuple[int, int], size: int
) -> None:
    scene = scene_of(qtbot, tmp_path / "one", window, size)
    page = scene.page
    pane = page.texts.source
    place = QRect(pane.mapTo(page, QPoint(0, 0)), pane.size())
    assert place.width() <= 900
    assert abs(place.left() - (page.width() - place.right())) <= 30  # a scroll bar's width
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
    for at in range(0, bar.maximum() + 1, max(1, bar.pageStep() // 3)):
        bar.setValue(at)
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


def test_most_valued_acts_are_seen_on_a_small_screen(qtbot: QtBot, tmp_path: Path) -> None:
    for language in ("en", "fr"):
        scene = Scene(qtbot, tmp_path / language, language=language, window=(1024, 600))
        shown = [each for each in scene.page.acts.findChildren(Button) if each.isVisible()]
        keys = {each.key for each in shown if in_sight(scene.page, each)}
        assert {KEYS[act][0] for act in (Act.CANNOT_JUDGE, Act.WORDING, Act.HARM)} <= keys
        scene.close()


def test_window_takes_the_screen_for_large_letters(enter: Enter) -> None:
    entry = enter()
    entry.window.showNormal()
    entry.look.set_size(25)
    assert not entry.window.isMaximized()
    entry.look.set_size(LARGE)
    assert entry.window.isMaximized()
    entry.window.showNormal()
    entry.look.smaller()
    assert not entry.window.isMaximized()
