"""The file with the answers cannot be opened: what happened, what to do, and another try."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from harness.core.failures import HarnessError, StoreError
from harness.core.storage_problems import StorageProblem, words_for
from review.desktop.parts.banner import Banner
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowLayout
from review.desktop.parts.labels import Line
from review.desktop.program.no_window import where_answers_are
from review.log.saving import NotSaved
from review.session.words.catalogue import Words, msgid
from review.session.words.troubles import Trouble

_WHY: Final[Mapping[StorageProblem, str]] = {
    StorageProblem.DISK_FULL: msgid(
        "The computer's disk is full. Free some space, then try again. Your answers are safe."
    ),
    StorageProblem.READ_ONLY: msgid(
        "The program may not write on this computer's disk. Ask for help, then try again."
    ),
    StorageProblem.GONE: msgid(
        "The file with your answers was moved, or its disk is gone. Put it back, then try again."
    ),
    StorageProblem.BUSY: msgid(
        "The program is at work in another window. Close that window, then try again."
    ),
    StorageProblem.DAMAGED: msgid(
        "The file with your answers is damaged. Ask for help. Do not delete anything."
    ),
    StorageProblem.NOT_OURS: msgid(
        "Another program uses the name of the file with your answers. Ask for help."
    ),
    StorageProblem.OTHER: msgid(
        "That did not work. Try again. If that does not help, ask for help."
    ),
}
"""Why the file does not open → words, to be translated."""

_EDGE = 20


class NotOpenWindow(QWidget):
    """Stands alone: without that file there is no list, no session and no setting."""

    again = Signal()

    def __init__(self, words: Words, why: Trouble, title: str = "") -> None:
        """``title``: of something that another try does not mend."""
        super().__init__()
        self.setWindowTitle("Rosetta")
        said = Line(title or words("The file with your answers does not open"), "title")
        banner = Banner()
        where = [Line(each, "quiet", selectable=True) for each in where_answers_are(words)]
        page = QVBoxLayout(self)
        page.setContentsMargins(_EDGE, _EDGE, _EDGE, _EDGE)
        page.addWidget(_scrolling(said, banner, *where), 1)
        foot = FlowLayout()
        acts: list[tuple[str, Callable[[], object]]] = [(words("Close"), self.close)]
        if not title:
            acts.insert(0, (words("Try again"), self.again.emit))
        for text, act in acts:
            button = Button(text)
            button.setProperty("role", "main" if not foot.count() else "")
            button.clicked.connect(lambda _=False, act=act: act())
            foot.addWidget(button)
            if foot.count() == 1:
                button.setFocus()
        page.addLayout(foot)
        banner.tell(words, why)
        self.resize(900, 500)


def _scrolling(*widgets: QWidget) -> QScrollArea:
    inside, scroll = QWidget(), QScrollArea()
    column = QVBoxLayout(inside)
    for widget in widgets:
        column.addWidget(widget)
    column.addStretch(1)
    scroll.setWidget(inside)
    scroll.setWidgetResizable(True)
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return scroll


def not_complete(words: Words, lacking: Sequence[Path]) -> Trouble:
    """Say that files of the program itself are missing or damaged: it may have been unpacked only in part."""
    said = words(
        "Letters of this program are missing or damaged, so no sentence can be shown as it is. "
        "Copy the program from the stick once more and unpack all of it, or install it again."
    )
    return Trouble(said, "\n".join(map(str, lacking)))


def not_open(words: Words, error: HarnessError) -> Trouble:
    """Say why the file with the answers does not open."""
    match error:
        case NotSaved():
            return Trouble(words(words_for(_WHY, error.problem)), error.detail)
        case StoreError():
            newer = words("A newer version of this program keeps your answers. Ask for it.")
            return Trouble(newer, str(error))
        case _:
            return Trouble(words("That did not work. Ask for help."), str(error))
