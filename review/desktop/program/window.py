"""The window: one page at a time, settings laid over it, and what was typed kept before it closes.

It has no menu: nothing in it can swallow a key of a community's keyboard. A key that is held down is one press, on
every system: X11 sends a held key as released and pressed again at the same millisecond; where Qt reads the two
apart, it takes the second for a new press. Where a screen reader listens, Qt leaves out the times, and nothing is known.

Where the file with the answers cannot be opened, another window says what happened, what to do, and tries again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QMainWindow, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from harness.core.failures import HarnessError, StoreError
from harness.core.storage import StorageProblem, words_for
from harness.sealed.carried_files import ReviewFile, is_kind
from review.desktop.frame.page import Page
from review.desktop.frame.page_parts import Banner
from review.desktop.frame.work import AppContext
from review.desktop.look import LARGE
from review.desktop.pages.settings_page import SettingsPage
from review.desktop.parts.buttons import Button
from review.desktop.parts.flow import FlowLayout
from review.desktop.parts.texts import Line
from review.desktop.program.no_window import where_answers_are
from review.log.table import NotSaved
from review.session.words.catalogue import Words, msgid
from review.session.words.troubles import Trouble

# Why the file does not open → words, to be translated
_WHY: Final[Mapping[StorageProblem, str]] = {
    StorageProblem.DISK_FULL: msgid(
        "The computer's disk is full. Free some space, then try again. Your answers are safe."
    ),
    StorageProblem.READ_ONLY: msgid("The program may not write on this computer's disk. Ask for help, then try again."),
    StorageProblem.GONE: msgid(
        "The file with your answers was moved, or its disk is gone. Put it back, then try again."
    ),
    StorageProblem.BUSY: msgid("The program is at work in another window. Close that window, then try again."),
    StorageProblem.DAMAGED: msgid("The file with your answers is damaged. Ask for help. Do not delete anything."),
    StorageProblem.NOT_OURS: msgid("Another program uses the name of the file with your answers. Ask for help."),
    StorageProblem.OTHER: msgid("That did not work. Try again. If that does not help, ask for help."),
}

_EDGE = 20


class NotOpenWindow(QWidget):
    """Stands alone: without that file there is no list, no session and no setting."""

    again = Signal()

    def __init__(self, words: Words, why: Trouble, title: str = "") -> None:
        """``title``: of something that another try does not fix."""
        super().__init__()
        self.setWindowTitle("Rosetta")
        line = Line(title or words("The file with your answers does not open"), "title")
        banner = Banner()
        where = [Line(line, "quiet", selectable=True) for line in where_answers_are(words)]
        inside, scroll = QWidget(), QScrollArea()
        column = QVBoxLayout(inside)
        for widget in (line, banner, *where):
            column.addWidget(widget)
        column.addStretch(1)
        scroll.setWidget(inside)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page = QVBoxLayout(self)
        page.setContentsMargins(_EDGE, _EDGE, _EDGE, _EDGE)
        page.addWidget(scroll, 1)
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


def not_complete(words: Words, lacking: Sequence[Path]) -> Trouble:
    """Return that files of the program itself are missing or damaged: it may have been unpacked only in part."""
    message = words(
        "Letters of this program are missing or damaged, so no sentence can be shown as it is. "
        "Copy the program from the stick once more and unpack all of it, or install it again."
    )
    return Trouble(message, "\n".join(map(str, lacking)))


def not_open(words: Words, error: HarnessError) -> Trouble:
    """Return why the file with the answers does not open."""
    match error:
        case NotSaved():
            return Trouble(words(words_for(_WHY, error.problem)), error.detail)
        case StoreError():
            newer = words("A newer version of this program keeps your answers. Ask for it.")
            return Trouble(newer, str(error))
        case _:
            return Trouble(words("That did not work. Ask for help."), str(error))


class HeldKeys(QObject):
    """Filters what reaches a QWindow; such a press continues as the repetition that it is."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        # Key, and when it was released by the server's clock, in milliseconds
        self._released: tuple[int, int] | None = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Remember each release, and look at each press."""
        if isinstance(event, QKeyEvent):
            key = event.key(), event.timestamp()
            if event.type() == QEvent.Type.KeyRelease:
                self._released = key if event.timestamp() else None
            elif event.type() == QEvent.Type.KeyPress and not event.isAutoRepeat():
                held, self._released = key == self._released, None
                if held:
                    again = QKeyEvent(
                        event.type(),
                        event.key(),
                        event.modifiers(),
                        event.nativeScanCode(),
                        event.nativeVirtualKey(),
                        event.nativeModifiers(),
                        event.text(),
                        True,
                        event.count(),
                    )
                    again.setTimestamp(event.timestamp())
                    QCoreApplication.sendEvent(watched, again)
                return held
        return False


_SMALLEST = (480, 360)
_COMFORTABLE = (1100, 760)  # Pixels on a large screen; a small one is filled


class Window(QMainWindow):
    dropped = Signal(object)  # A file was let go over a page that takes files: its Path
    reworded = Signal()  # The language was changed: whoever shows a page shows it anew
    closing = Signal()  # What is being typed must be kept now
    uncovered = Signal()  # Nothing lies over the page any more
    erase = Signal()  # The person wants everything gone from this computer

    def __init__(self, desk: AppContext) -> None:
        super().__init__()
        self._desk = desk
        self._page: Page | None = None
        self._over: Page | None = None
        self._is_closed = False
        # True while a page lies over the others from which only its own acts lead away
        self.is_held = False
        # True where the last page is shown: nothing leads away from it but the end of the program
        self.is_over = False
        self.takes_files = True  # False where a file that is dropped would lead away from sentences
        self._stack = QStackedWidget(self)
        self.setCentralWidget(self._stack)
        self.setWindowTitle("Rosetta")
        self.setMinimumSize(*_SMALLEST)
        self.setAcceptDrops(True)
        self._size = desk.look.size
        desk.look.changed.connect(self._take_room)

    def appear(self) -> None:
        """Show the window, once: over all of a small screen, comfortably large on others."""
        if self.isVisible():
            return
        room = QGuiApplication.primaryScreen().availableSize()
        wide, high = _COMFORTABLE
        small = room.width() <= wide * 5 // 4 or room.height() <= high * 5 // 4
        if small or self._desk.look.size >= LARGE:
            self.resize(min(wide, room.width()), min(high, room.height()))
            self.showMaximized()
        else:
            self.resize(wide, high)
            self.show()
        self.windowHandle().installEventFilter(HeldKeys(self))
        self.activateWindow()

    def _take_room(self) -> None:
        """Grow to the whole screen when large letters are chosen; a window made smaller after that stays so."""
        before, self._size = self._size, self._desk.look.size
        if self.isVisible() and self._size > before and self._size >= LARGE:
            self.showMaximized()

    def come_forward(self) -> None:
        """Show the window above the others; where the system forbids that, its name flashes."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.raise_()
        self.activateWindow()
        QApplication.alert(self)

    @property
    def page(self) -> Page | None:
        return self._over or self._page

    @property
    def below(self) -> Page | None:
        return self._page

    def show_page(self, page: Page) -> None:
        """Show a page in place of the one before; what is over it stays where the person is."""
        if self.is_over or self._is_closed:
            page.deleteLater()
            return
        self._take_away(self._page)
        self._page = page
        self._add(page)
        if self._over is None:
            self._see(page)
        self.appear()

    def show_last(self, page: Page) -> None:
        self.hold(page)
        self._take_away(self._page)
        self._page, self.is_over = None, True
        self.takes_files = False

    def show_over(self, page: Page) -> None:
        """Show a page over the one that is shown, which stays as it is until ``uncover``."""
        self._take_away(self._over)
        self._over = page
        self._add(page)
        self._see(page)

    def hold(self, page: Page) -> None:
        """Show a page over the one that is shown, away from which only its own acts lead."""
        page.offer_settings(False)
        self.is_held = True
        self.show_over(page)

    def uncover(self) -> None:
        """Remove what is over the page; the person is where they were."""
        over, self._over, self.is_held = self._over, None, False
        self._take_away(over)
        if over is not None and self._page is not None:
            self._see(self._page)
            self.uncovered.emit()

    def tell(self, trouble: Trouble | None) -> None:
        if self.page is not None:
            self.page.tell(trouble)

    def keep_typed(self) -> None:
        if not self.is_over:
            self.closing.emit()

    def open_settings(self) -> None:
        """Show the settings over the page."""
        offered = self.page is not None and self.page.offers_settings
        if offered and not isinstance(self._over, SettingsPage):
            self._show_settings()

    def _show_settings(self) -> None:
        settings = SettingsPage(self._desk)
        settings.left.connect(self.uncover)
        settings.erase.connect(self.erase)
        settings.reworded.connect(self._settings_anew)
        self.show_over(settings)

    def _settings_anew(self) -> None:
        """Show the page below and the settings themselves in the other language."""
        self.speak()
        self._show_settings()

    def speak(self) -> None:
        if not self.is_over:
            self.reworded.emit()

    def _add(self, page: Page) -> None:
        page.settings.connect(self.open_settings)
        self._stack.addWidget(page)

    def _see(self, page: Page) -> None:
        self._stack.setCurrentWidget(page)
        page.begin()

    def _take_away(self, page: Page | None) -> None:
        if page is not None:
            self._stack.removeWidget(page)
            page.hide()
            page.deleteLater()

    # what comes from outside

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.takes_files and _file_of(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        file = _file_of(event)
        if self.takes_files and file is not None:
            event.acceptProposedAction()
            self.dropped.emit(file)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Store what is typed, wait until it is on the disk, and only then close."""
        if not self._is_closed:
            self._is_closed = True
            self.keep_typed()
            self._desk.work.finish()
        super().closeEvent(event)


def _file_of(event: QDropEvent) -> Path | None:
    """Return the one file of this computer that is dragged, where it bears a review's name."""
    urls = event.mimeData().urls()
    if len(urls) != 1 or not urls[0].isLocalFile():
        return None
    path = Path(urls[0].toLocalFile())
    return path if is_kind(path, ReviewFile.BATCH) else None
