"""Programs that a test starts, skipped with a reason where they are absent, and a screen of a test's own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

LIBEXEC = (Path("/usr/libexec"), Path("/usr/lib/at-spi2-core"), Path("/usr/lib/ibus"))
"""Where distributions keep programs that nobody types."""
_GRACE_SECONDS = 5.0


def program(name: str) -> str:
    """Return the path of a program; skips the test where it is not on this computer."""
    path = shutil.which(name) or shutil.which(name, path=os.pathsep.join(map(str, LIBEXEC)))
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


@contextlib.contextmanager
def running(
    command: Sequence[str], environment: Mapping[str, str], *, log: Path, pass_fds: Sequence[int] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in a group of its own, which goes with it at the end; what it says stands in ``log``."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=log.parent,
            start_new_session=True,
            pass_fds=tuple(pass_fds),
        )
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask a program and its group to go, and make them."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


# a screen: a real X server without glass, a real window manager, real keys

NO_FONTS = Path(__file__).parents[1] / "no_fonts.conf"
_OPENBOX = """<?xml version="1.0"?>
<openbox_config xmlns="http://openbox.org/3.4/rc"><focus><focusNew>yes</focusNew></focus>
<keyboard/><mouse/><applications/></openbox_config>"""
"""No key of its own, so that every key reaches the program."""


@dataclass(frozen=True)
class Display:
    """Types and looks like a person who sits before it."""

    name: str
    """Of the form ``:7``."""
    folder: Path
    """For what the server and the window manager write."""
    server: subprocess.Popen[bytes]
    """Which draws it; without it the screen is gone."""

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to draw here; no home, no bus and no settings of this computer."""
        return {
            "DISPLAY": self.name,
            "HOME": str(self.folder),
            "XDG_RUNTIME_DIR": str(self.folder),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
        }

    def do(self, *command: str) -> str:
        done = subprocess.run(
            [program(command[0]), *command[1:]],
            env=self.environment,
            check=False,
            capture_output=True,
            text=True,
            timeout=600,
        )
        return done.stdout if done.returncode == 0 else ""

    def press(self, *keys: str, delay: int = 12) -> None:
        """Press keys by their X names, such as ``1``, ``Return`` or ``ctrl+z``; ``delay`` in milliseconds."""
        self.do("xdotool", "key", "--delay", str(delay), *keys)

    def type(self, text: str, delay: int = 12) -> None:
        self.do("xdotool", "type", "--delay", str(delay), text)

    def click(self, x: int, y: int) -> None:
        self.do("xdotool", "mousemove", "--sync", str(x), str(y), "click", "1")

    def windows(self, pid: int) -> list[str]:
        return self.do("xdotool", "search", "--onlyvisible", "--pid", str(pid)).split()

    def layout(self, *wishes: str) -> None:
        self.do("setxkbmap", *wishes)

    def shoot(self, path: Path, window: str = "root") -> Path:
        self.do("import", "-silent", "-window", window, str(path))
        return path


@contextlib.contextmanager
def display(folder: Path, size: str = "1280x900") -> Iterator[Display]:
    """Start a server on a number that nobody has, and a window manager; both go at the end."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        number, server = stack.enter_context(_server(folder, size))
        screen = Display(f":{number}", folder, server)
        config = folder / "openbox.xml"
        config.write_text(_OPENBOX)
        command = [program("openbox"), "--sm-disable", "--config-file", str(config)]
        stack.enter_context(running(command, screen.environment, log=folder / "openbox.log"))
        until(lambda: _managed(screen), "a window manager")
        yield screen


def _managed(screen: Display) -> bool:
    return screen.do("xdotool", "get_num_desktops").strip().isdigit()


@contextlib.contextmanager
def _server(folder: Path, size: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    reading, writing = os.pipe()
    command: Sequence[str] = [
        program("Xvfb"), "-displayfd", str(writing), "-screen", "0", f"{size}x24",
        "-dpi", "96", "-nolisten", "tcp", "-noreset",
    ]  # fmt: skip
    with running(command, {"PATH": os.environ["PATH"]}, log=folder / "x.log", pass_fds=[writing]) as server:
        os.close(writing)
        with os.fdopen(reading) as numbers:
            number = numbers.readline().strip()
        assert number.isdigit(), (folder / "x.log").read_text()
        yield int(number), server


SECONDS = 30.0
"""The longest wait for anything; two busy cores share many tests."""
_PAUSE = 0.01

Found = TypeVar("Found")


def until(look: Callable[[], Found | None], what: str | Callable[[], str], seconds: float = SECONDS) -> Found:
    """Return what ``look`` finds as soon as it is true; AssertionError with ``what`` where it never is."""
    end = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > end:
            raise AssertionError(f"never: {what if isinstance(what, str) else what()}")
        time.sleep(_PAUSE)
    return found
