"""Colours are told apart by everybody, sizes change at once, and what was chosen is remembered."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QRect, Qt
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

from review.desktop.look.look import SIZES, Look
from review.desktop.look.style import COLOURS, Theme
from review.desktop.parts.buttons import GAP, RING, Button
from review.desktop.parts.texts import TextPane
from tests.desktop.pixels import colours, contrast, picture, strongest

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


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("#000000", "#ffffff", 21.0),
        ("#777777", "#ffffff", 4.48),
        ("#0000ff", "#ffffff", 8.59),
        ("#ff0000", "#ffff00", 3.72),
        ("#123456", "#123456", 1.0),
    ],
)
def test_contrast_is_measured_as_others_measure_it(one: str, other: str, expected: float) -> None:
    assert contrast(QColor(one), QColor(other)) == pytest.approx(expected, abs=0.01)


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
    window.resize(700, 500)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    return window


def place(widget: QWidget) -> QRect:
    return QRect(widget.mapTo(widget.window(), widget.rect().topLeft()), widget.size())


def label(role: str) -> QLabel:
    made = QLabel("HHH EEE")
    made.setProperty("role", role)
    return made


@pytest.mark.parametrize("theme", list(Theme))
@pytest.mark.parametrize("role", ["", "title", "strong", "mark", "quiet", "good", "warn"])
def test_text_is_painted_as_clear_as_it_is_meant(
    qtbot: QtBot, look: Look, theme: Theme, role: str
) -> None:
    look.set_theme(theme)
    window = shown(qtbot, label(role))
    assert strongest(picture(window)) >= TEXT


@pytest.mark.parametrize("theme", list(Theme))
def test_what_stands_on_widgets_is_as_clear(qtbot: QtBot, look: Look, theme: Theme) -> None:
    look.set_theme(theme)
    main, off, down = Button("HHH", "E"), Button("HHH", "E"), Button("HHH", "E")
    main.setProperty("role", "main")
    off.setEnabled(False)
    down.setDown(True)
    line, asks, box = QLineEdit("HHH EEE"), QLineEdit(), QTextEdit("HHH EEE")
    asks.setPlaceholderText("HHH EEE")
    pane = TextPane()
    pane.show_text("HHH EEE")
    every = [Button("HHH", "E"), main, off, down, line, asks, box, pane]
    window = shown(qtbot, *every)
    window.setFocus()
    image = picture(window)
    for widget in every:
        inside = place(widget).adjusted(10, 10, -10, -10)
        assert strongest(image, inside) >= TEXT, (widget, widget.objectName())


@pytest.mark.parametrize("theme", list(Theme))
def test_edges_are_seen(qtbot: QtBot, look: Look, theme: Theme) -> None:
    look.set_theme(theme)
    bar = QProgressBar()
    bar.setMaximum(10)
    every = [Button("HHH"), QLineEdit(), QTextEdit(), bar]
    window = shown(qtbot, *every)
    window.setFocus()
    image = picture(window)
    ground = COLOURS[theme].ground
    for widget in every:
        at = place(widget)
        down = QRect(at.center().x(), at.top(), 1, 12)
        assert max(contrast(ground, QColor(c)) for c in colours(image, down)) >= EDGE, widget


@pytest.mark.parametrize("theme", list(Theme))
@pytest.mark.parametrize("role", ["", "main"])
def test_the_ring_is_thick_and_stands_apart_from_both_sides(
    qtbot: QtBot, look: Look, theme: Theme, role: str
) -> None:
    look.set_theme(theme)
    button = Button("HHH")
    button.setProperty("role", role)
    window = shown(qtbot, button, QLabel("."))
    qtbot.waitUntil(window.isActiveWindow)
    window.setFocus()
    without = picture(window)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    image = picture(window)
    at = place(button)
    down = [image.pixelColor(at.center().x(), at.top() + y).name() for y in range(-2, RING + GAP)]
    ground, ring = COLOURS[theme].ground.name(), COLOURS[theme].focus.name()
    assert down == [ground] * 2 + [ring] * RING + [ground] * GAP
    assert RING >= 3
    assert ring not in colours(without)


@pytest.mark.parametrize("widget", [QLineEdit, QTextEdit, TextPane])
def test_what_one_types_in_or_reads_shows_its_focus_too(
    qtbot: QtBot, look: Look, widget: type[QWidget]
) -> None:
    made = widget()
    window = shown(qtbot, made, Button("x"))
    qtbot.waitUntil(window.isActiveWindow)
    made.setFocus()
    image, at = picture(window), place(made)
    down = [image.pixelColor(at.center().x(), at.top() + y).name() for y in range(4)]
    assert down == [look.colours.focus.name()] * 4


def test_a_size_changes_everything_at_once(qtbot: QtBot, look: Look) -> None:
    plain, title, button, box = QLabel("x"), label("title"), Button("x"), QTextEdit("x")
    window = shown(qtbot, plain, title, button, box)
    for size in SIZES:
        look.set_size(size)
        assert [each.font().pixelSize() for each in (plain, button, box)] == [size] * 3
        assert title.font().pixelSize() > size
        assert title.font().bold()
    assert window.isVisible()


def test_a_change_is_told_once_and_remembered(
    qtbot: QtBot, look: Look, kept: list[tuple[str, str]]
) -> None:
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
def test_a_remembered_size_that_is_none_of_ours_becomes_the_nearest(
    qapp: QApplication, asked: int, taken: int
) -> None:
    assert Look(Theme.LIGHT, asked, lambda *_: None).size == taken


def test_a_tick_can_be_seen(qtbot: QtBot, look: Look) -> None:
    for theme in Theme:
        look.set_theme(theme)
        box = QCheckBox("x")
        box.setChecked(True)
        window = shown(qtbot, box)
        assert strongest(picture(window), QRect(place(box).topLeft(), place(box).size())) >= TEXT
        window.close()
