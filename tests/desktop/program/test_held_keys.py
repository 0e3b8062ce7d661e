"""A key that is held down, as X11 may tell it: released and pressed again at the same millisecond."""

from __future__ import annotations

import pytest

pytest.importorskip("PySide6.QtWidgets")

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from review.desktop.program.window import HeldKeys


class Pressed(QWidget):
    """Notes whether each press is a repetition."""

    def __init__(self) -> None:
        super().__init__()
        self.repeated: list[bool] = []

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.repeated.append(event.isAutoRepeat())


def send(widget: QWidget, kind: QEvent.Type, key: Qt.Key, text: str, when: int) -> None:
    event = QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, text)
    event.setTimestamp(when)
    QCoreApplication.sendEvent(widget.windowHandle(), event)


def shown(qtbot: QtBot, widget: QWidget) -> None:
    qtbot.addWidget(widget)
    widget.show()
    qtbot.waitExposed(widget)
    widget.activateWindow()
    widget.setFocus()
    widget.windowHandle().installEventFilter(HeldKeys(widget))


@pytest.mark.parametrize(
    ("key", "released", "when", "repeats"),
    [
        (Qt.Key.Key_3, 100, 100, True),
        (Qt.Key.Key_3, 100, 101, False),
        (Qt.Key.Key_4, 100, 100, False),
        (Qt.Key.Key_3, 0, 0, False),
    ],
    ids=["the same key at once", "a moment later", "another key", "at unknown times"],
)
def test_a_press_at_the_time_of_its_release_is_a_repetition(
    qtbot: QtBot, key: Qt.Key, released: int, when: int, repeats: bool
) -> None:
    widget = Pressed()
    shown(qtbot, widget)
    send(widget, QEvent.Type.KeyPress, Qt.Key.Key_3, "3", 50)
    send(widget, QEvent.Type.KeyRelease, Qt.Key.Key_3, "3", released)
    send(widget, QEvent.Type.KeyPress, key, "x", when)
    assert widget.repeated == [False, repeats]


def test_a_box_takes_repetitions_as_letters(qtbot: QtBot) -> None:
    box = QLineEdit()
    shown(qtbot, box)
    for when in (50, 100, 140):
        send(box, QEvent.Type.KeyPress, Qt.Key.Key_A, "a", when)
        send(box, QEvent.Type.KeyRelease, Qt.Key.Key_A, "a", 100 if when == 50 else 140)
    assert box.text() == "aaa"
