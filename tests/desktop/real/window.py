"""The reviewer's window as a program of its own, on a real screen."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.desktop.real.display import Display
from tests.desktop.real.programs import end, running
from tests.desktop.real.waiting import SECONDS, until

ROOT = Path(__file__).parents[3]
PROGRAM = "from review.desktop.program import main; raise SystemExit(main())"
UNGUARDED = (
    "from review.session.opening import Opening; Opening.session.__kwdefaults__['guard'] = 0.0; "
    + PROGRAM
)
"""The same without the moment in which keys are not meant yet: for tests that press faster than people."""
_NO_FONTS = "<?xml version='1.0'?><!DOCTYPE fontconfig SYSTEM 'fonts.dtd'><fontconfig/>"


@dataclass
class Window:
    """One run of the program; counts the keys that are pressed in it."""

    display: Display
    process: subprocess.Popen[bytes]
    log: Path
    keys: int = 0
    _id: str = field(default="", repr=False)

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
        self.display.press(*keys)

    def type(self, text: str) -> None:
        """Type a text, which is not counted."""
        assert self.id
        self.display.type(text)

    def resize(self, width: int, height: int) -> None:
        """Give the window a size, as pulling its edge does."""
        self.display.do("xdotool", "windowsize", "--sync", self.id, str(width), str(height))
        until(lambda: self.display.size(self.id) == (width, height), f"{width} × {height}")

    def shoot(self, path: Path) -> Path:
        """Take a picture of the window alone."""
        return self.display.shoot(path, self.id)

    def kill(self) -> None:
        """End the program as a power cut would."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def ended(self, seconds: float = SECONDS) -> int:
        """Wait until the program has ended; gives its exit status."""
        return self.process.wait(seconds)

    def close(self) -> int:
        """Close the window by its cross, and wait for the end."""
        self.display.do("xdotool", "windowclose", self.id)
        end(self.process)
        return self.process.returncode

    def said(self) -> str:
        """Give what the program wrote where nobody looks."""
        return f"a window; the program said:\n{self.log.read_text(errors='replace')}"

    def _found(self) -> str | None:
        assert self.process.poll() is None, self.said()
        return next(iter(self.display.windows(self.process.pid)), None)


@contextlib.contextmanager
def window(
    display: Display,
    home: Path,
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    code: str = PROGRAM,
    before: tuple[str, ...] = (),
) -> Iterator[Window]:
    """Start the program with a data folder of its own; ``before`` is a command that starts it, as strace."""
    fonts = display.folder / "no-fonts.conf"
    fonts.write_text(_NO_FONTS)
    log = display.folder / "window.log"
    around = {
        **display.environment,
        "ROSETTA_HOME": str(home),
        "FONTCONFIG_FILE": str(fonts),
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
