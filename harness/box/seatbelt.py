"""Boxes by the sandbox of macOS (``sandbox-exec``), which says by a profile what a process may reach."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.box.engine import Inside, Launch
from harness.box.inside.runner import SITE
from harness.box.layout import ENVIRONMENT, SOCKET, laid_in, starts
from harness.box.limits import Limits

_NAME = "rosetta-box-of-"
_SYSTEM = (
    "/usr/lib",
    "/System/Library",
    "/System/Volumes/Preboot/Cryptexes",
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
    "/dev/random",
)


class Seatbelt:
    """Makes boxes by sandbox-exec. It shuts off files and network; memory, processes and disk it does not limit.

    A process that starts its own session outlives the box, and files of a box outlive a program that is killed.
    """

    name = "sandbox-exec"
    holds_secrets = False

    def lacking(self) -> str | None:
        """Return what is missing; see ``BoxEngine``."""
        if shutil.which("sandbox-exec") is None:
            return "sandbox-exec is missing, which comes with macOS: update the system"
        return None

    @contextmanager
    def launch(self, inside: Inside, limits: Limits) -> Iterator[Launch]:
        """Return how a box is started; see ``BoxEngine``."""
        laid = list(laid_in(inside))
        places = {place: str(source.resolve()) for source, place in laid}
        _remove_abandoned()
        with tempfile.TemporaryDirectory(prefix=f"{_NAME}{os.getpid()}-") as made:
            own = Path(made).resolve()
            places[SITE] = str(own / "site")
            socket = (
                None if inside.socket_folder is None else inside.socket_folder.resolve() / SOCKET
            )
            environment = ENVIRONMENT | {
                "HOME": str(own),
                "TMPDIR": str(own),
                "ROSETTA_GATEWAY": str(socket or ""),
            }
            settings = [f"{name}={value}" for name, value in environment.items()]
            *python, runner = starts()
            command = [
                "/usr/bin/env",
                "-i",
                *settings,
                *python,
                f"{places['/box/run']}/{Path(runner).name}",
            ]
            profile_text = profile([Path(place) for place in places.values()], own, socket)
            argv = [shutil.which("sandbox-exec") or "sandbox-exec", "-p", profile_text, *command]
            yield Launch(argv, places, limits=limits.by_file())


def _remove_abandoned() -> None:
    """Remove the folders of boxes whose programs were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{_NAME}*"):
        maker = path.name.removeprefix(_NAME).partition("-")[0]
        if maker.isdecimal() and not _runs(int(maker)):
            shutil.rmtree(path, ignore_errors=True)


def _runs(number: int) -> bool:
    try:
        with suppress(PermissionError):  # somebody else's
            os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    return True


def profile(readable: Sequence[Path], writable: Path, socket: Path | None) -> str:
    """Return the profile of a box: everything is refused but what a line of it allows."""
    lines = [
        "(version 1)",
        "(deny default)",
        "(allow process-fork)",
        "(allow signal (target same-sandbox))",
        "(allow sysctl-read)",
        '(allow process-exec (literal "/usr/bin/env"))',
        "(allow file-read-metadata)",
    ]
    lines += [
        f"(allow file-read* process-exec (subpath {_quoted(path)}))"
        for path in (*map(Path, _SYSTEM), *readable)
    ]
    lines.append(f"(allow file-read* file-write* (subpath {_quoted(writable)}))")
    if socket is not None:
        lines.append(f"(allow network-outbound (literal {_quoted(socket)}))")
    return "\n".join(lines)


def _quoted(path: Path) -> str:
    """Return a path as the language of profiles has texts, which knows no numbers of characters."""
    return json.dumps(str(path), ensure_ascii=False)
