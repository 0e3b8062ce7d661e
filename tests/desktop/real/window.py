"""The reviewer's window as a program of its own, on a real screen."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.desktop.real.display import NO_FONTS, SECONDS, Display, end, running, until

ROOT = Path(__file__).parents[3]
PROGRAM = "from review.desktop.program.program import main; raise SystemExit(main())"
_TELLS = """
import os
from review.session.session import Session
from review.session.position import ActiveTime
made = ActiveTime.__init__
ActiveTime.__init__ = lambda time, clock, guard: made(time, clock, {guard})
painted = Session.painted
def told(session, item):
    painted(session, item)
    os.write(1, f"painted {{item}}\\n".encode())
Session.painted = told
from review.desktop.pages.first_pages import WelcomePage
def welcomed(page, event):
    super(WelcomePage, page).paintEvent(event)
    os.write(1, b"welcome\\n")
WelcomePage.paintEvent = welcomed
"""


KNOWN_CARD = ("Tab", "Tab", "Return")
"""The keys to the button of one's own card, behind that of the language."""


@dataclass
class Window:
    """One run of the program; counts the keys and clicks in it."""

    display: Display
    process: subprocess.Popen[bytes]
    log: Path
    keys: int = 0
    _id: str = field(default="", repr=False)
    _read: int = field(default=0, repr=False)
    """How much of what the program tells belongs to keys before the last one."""

    @property
    def id(self) -> str:
        """The X id of the window, as soon as it is there."""
        if not self._id:
            self._id = until(self._found, self.said)
            self.display.do("xdotool", "windowactivate", "--sync", self._id)
        return self._id

    def press(self, *keys: str) -> None:
        """Press keys, each counted."""
        assert self.id
        self.keys += len(keys)
        self._read = self.log.stat().st_size
        self.display.press(*keys)

    def know_card(self) -> None:
        """Answer the page of welcome, once it is drawn, that the card is one's own; Enter alone answers nothing there."""
        until(lambda: "welcome\n" in self.told(), self.said)
        self.press(*KNOWN_CARD)

    def click(self, place: tuple[int, int, int, int]) -> None:
        """Click into the middle of a place on the screen; counted like a key."""
        left, top, width, height = place
        self.keys += 1
        self._read = self.log.stat().st_size
        self.display.click(left + width // 2, top + height // 2)

    def sees(self, item: str) -> None:
        """Wait until an item was painted since the last key; only where the program tells it."""
        until(lambda: f"painted {item}" in self.told(), lambda: f"{item} painted: {self.told()}")

    def told(self) -> str:
        return self.log.read_bytes()[self._read :].decode(errors="replace")

    def painted(self) -> list[str]:
        lines = self.log.read_text(errors="replace").splitlines(keepends=True)
        return [line.split()[1] for line in lines if line.startswith("painted ") and line[-1] == "\n"]

    def type(self, text: str, delay: int = 12) -> None:
        assert self.id
        self.display.type(text, delay)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def ended(self, seconds: float = SECONDS) -> int:
        """Wait until the program has ended; gives its exit status."""
        return self.process.wait(seconds)

    def close(self) -> int:
        self.display.do("xdotool", "windowclose", self.id)
        end(self.process)
        return self.process.returncode

    def said(self) -> str:
        """Return what the program wrote where nobody looks."""
        return f"a window; the program said:\n{self.log.read_text(errors='replace')}"

    def _found(self) -> str | None:
        assert self.process.poll() is None, self.said()
        return next(iter(self.display.windows(self.process.pid)), None)


Start = Callable[..., Window]
"""What the fixture ``start`` gives: of a stage, and what is written behind the program's name."""


@contextlib.contextmanager
def window(
    display: Display,
    home: Path,
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    guard: float | None = None,
    before: Sequence[str] = (),
) -> Iterator[Window]:
    """Start the program with a data folder of its own; ``before`` is a command that starts it, as strace.

    With a ``guard`` the program tells what it painted, and waits so long before keys mean it: a test that
    presses faster than people do gives 0.
    """
    code = PROGRAM if guard is None else _TELLS.format(guard=guard) + PROGRAM
    log = display.folder / f"window-{len(list(display.folder.glob('window-*.log')))}.log"
    around = {
        **display.environment,
        "ROSETTA_HOME": str(home),
        "FONTCONFIG_FILE": str(NO_FONTS),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "QT_QPA_PLATFORM": "xcb",
        **(environment or {}),
    }
    command = [*before, sys.executable, "-P", "-c", code, *map(str, arguments)]
    with running(command, around, log=log) as process:
        yield Window(display, process, log)
