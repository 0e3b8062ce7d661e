"""The program around the window: its words and looks, what the system asks of it, and its end.

Qt's own words, from the same catalogue as all others.

Qt ships words for few languages and for none of those that this program is for. No word keeps the sign
that makes Alt and a letter mean it: community keyboards type letters with that key.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

from PySide6.QtCore import QEvent, QLocale, QObject, QSettings, Qt, QTranslator, Signal
from PySide6.QtGui import QFileOpenEvent, QSessionManager
from PySide6.QtWidgets import QApplication

from review.desktop.frame.work import fault
from review.desktop.look import fonts
from review.session.words.catalogue import Words, msgid
from review.session.words.troubles import Trouble

QT_WORDS: Final = (
    # the menus of a text, and of a box in which one types
    msgid("Undo"),
    msgid("Redo"),
    msgid("Cut"),
    msgid("Copy"),
    msgid("Paste"),
    msgid("Delete"),
    msgid("Select All"),
    # a key, as that menu names it
    msgid("Ctrl"),
    # the menu of a bar that scrolls
    msgid("Scroll here"),
    msgid("Top"),
    msgid("Bottom"),
    msgid("Page up"),
    msgid("Page down"),
    msgid("Scroll up"),
    msgid("Scroll down"),
    # what a screen reader says of a button
    msgid("Press"),
    msgid("Triggers the action"),
    msgid("SetFocus"),
    msgid("Sets the focus"),
    msgid("Toggle"),
    msgid("Toggles the state"),
)
"""Words of Qt that can be met in this program, without their Alt letters; a test knows that these are all."""

_DIRECTION: Final = "QT_LAYOUT_DIRECTION"
"""By this word Qt asks a translator from which side one reads."""


class QtWords(QTranslator):
    """Asks the catalogue that ``words`` gives, anew each time."""

    def __init__(self, words: Callable[[], Words], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._words = words

    def isEmpty(self) -> bool:
        """Be taken for a translator that has words."""
        return False

    def translate(
        self,
        context: str,  # noqa: ARG002  the same word is said in the same way everywhere
        sourceText: str,  # noqa: N803  Qt's own name of it
        disambiguation: str | None = None,  # noqa: ARG002  as above
        n: int = -1,  # noqa: ARG002  Qt puts the number in
    ) -> str:
        """Say a word of Qt in the reviewer's language, in English where the catalogue lacks it."""
        words = self._words()
        if sourceText == _DIRECTION:
            return words.direction.upper()
        return words(without_mnemonic(sourceText)) if sourceText else ""


def without_mnemonic(text: str) -> str:
    """Take out the sign that marks the letter for Alt; a doubled one stands for itself and stays."""
    return "&&".join(part.replace("&", "") for part in text.split("&&"))


_NOWHERE = os.devnull
"""Where Qt's own settings go: the program leaves nothing outside its data folder."""
_BUS = "DBUS_SESSION_BUS_ADDRESS"
_TELL_LANGUAGES = ("win32", "darwin")
"""Systems that tell their languages otherwise than by variables."""


class Application(QApplication):
    """One for the run of the program."""

    file_asked = Signal(object)
    """The system asks to open a file: its Path."""
    failed = Signal(object)
    """Something went wrong that nobody foresaw: a Trouble to be shown."""

    def __init__(self, words: Callable[[], Words]) -> None:
        prepare()
        super().__init__(["rosetta-review"])
        self.setApplicationName("rosetta-review")
        self.setApplicationDisplayName("Rosetta")
        self.setDesktopFileName("rosetta-review")
        self._words = words
        self._translator = QtWords(words, self)
        self.commitDataRequest.connect(self._never_restart, Qt.ConnectionType.DirectConnection)
        self.lacking = fonts.load()
        """Files of fonts that are missing or damaged: without them no sentence is shown."""
        self.speak()

    def speak(self) -> None:
        """Let Qt say its own words in the language of now, from its own side."""
        self.removeTranslator(self._translator)
        rtl = self._words().direction == "rtl"
        self.setLayoutDirection(
            Qt.LayoutDirection.RightToLeft if rtl else Qt.LayoutDirection.LeftToRight
        )
        self.installTranslator(self._translator)

    def event(self, event: QEvent) -> bool:
        """Take a file that the system hands over, as macOS does after a double click."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self.file_asked.emit(Path(event.file()))
            return True
        return super().event(event)

    def tell_unforeseen(
        self,
        kind: type[BaseException],
        error: BaseException,  # noqa: ARG002  its words may hold a text of an item
        trace: TracebackType | None,
    ) -> None:
        """Say that something went wrong inside the program; never with a text of an item or a person."""
        if issubclass(kind, KeyboardInterrupt):
            self.quit()
            return
        words = self._words()
        said = words("Something went wrong inside the program. Your answers are safe.")
        self.failed.emit(Trouble(said, fault(kind, trace)))

    def _never_restart(self, manager: QSessionManager) -> None:
        """Let the system end the session without asking anything: everything is on the disk."""
        manager.setRestartHint(QSessionManager.RestartHint.RestartNever)


def prepare() -> None:
    """Keep Qt from writing settings of its own, and from having a message bus started for it."""
    if not _has_bus():
        os.environ[_BUS] = "disabled:"
    for scope in (QSettings.Scope.UserScope, QSettings.Scope.SystemScope):
        for form in (QSettings.Format.NativeFormat, QSettings.Format.IniFormat):
            QSettings.setPath(form, scope, _NOWHERE)


def _has_bus() -> bool:
    """Tell whether the system runs a message bus for this person.

    One that was started only for us would outlive the program and leave files in the person's folder.
    """
    folder = os.environ.get("XDG_RUNTIME_DIR")
    return bool(os.environ.get(_BUS) or (folder and (Path(folder) / "bus").exists()))


def languages_of_system() -> Sequence[str]:
    """Return the languages that the system speaks, where it tells them otherwise than by variables."""
    return QLocale.system().uiLanguages() if sys.platform in _TELL_LANGUAGES else ()
