"""Why no window can be shown at all, in words for a terminal: what to do, and where the answers are.

Nothing here needs Qt: it may be what is missing.

The file with the answers cannot be opened: what happened, what to do, and another try.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from harness.core.failures import HarnessError, StoreError
from harness.core.storage_problems import StorageProblem, words_for
from harness.store.file.database import home
from review.desktop.parts.banner import Banner
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowLayout
from review.desktop.parts.labels import Line
from review.log.saving import NotSaved
from review.session.words.catalogue import Words, msgid, words_of_system
from review.session.words.troubles import Trouble

_DRAWS = "platforms/libqxcb.so"
"""The part of Qt that draws windows on Linux; it needs libraries of the system."""
_INSTALL = (
    "sudo apt install libegl1 libgl1 libdbus-1-3 libfontconfig1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 "
    "libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxcb-xkb1"
)
"""All of them, by the names that Debian and Ubuntu give them."""
_LIBRARY = re.compile(r"([\w.+-]+\.so[\w.]*): ")


def no_window(said_by_qt: str = "", failed: str = "", *, answers: bool = True) -> str:
    """Say why there is no window; ``failed`` is what the system said of a library that it could not load.

    ``answers`` tells whether a person's answers may lie in the data folder, which is then named.
    """
    words = words_of_system()
    failed = failed or _of_drawing()
    if library := _LIBRARY.search(failed):
        lines = [
            words("The window cannot be shown: a part of this system is missing or damaged: {name}.", name=library[1]),
            words("Ask for help: it can be installed, on Debian and Ubuntu with all that belongs to it, by this line:"),
            _INSTALL,
        ]  # fmt: skip
    else:
        lines = [
            words(
                "The window cannot be shown: this computer offers no screen to draw on. "
                "Start the program where you see windows."
            )
        ]
    where = where_answers_are(words) if answers else ()
    return "\n".join(filter(None, [*lines, *where, failed or said_by_qt]))


def where_answers_are(words: Words) -> Sequence[str]:
    """Say that nothing is lost, and in which folder to look; nothing where the system knows none."""
    try:
        return [words("Your answers are kept in this folder: {folder}", folder=str(home()))]
    except HarnessError:
        return []


def _of_drawing() -> str:
    """Try the part of Qt that draws; gives what the system says where it cannot be loaded."""
    if not sys.platform.startswith("linux"):
        return ""
    own = os.environ.get("QT_QPA_PLATFORM_PLUGIN_PATH")
    places = [Path(own).parent] if own else []
    for place in (*places, *_places_of_qt()):
        if (place / _DRAWS).is_file():
            try:
                ctypes.CDLL(str(place / _DRAWS))
            except OSError as error:
                return str(error)
            return ""
    return ""


def _places_of_qt() -> list[Path]:
    """Return where Qt keeps its parts; nowhere without it."""
    try:
        import PySide6
    except ImportError:
        return []
    return [Path(place) / "Qt" / "plugins" for place in PySide6.__path__]


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
