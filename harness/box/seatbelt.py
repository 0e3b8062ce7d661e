"""Boxes by the sandbox of macOS (``sandbox-exec``), which says by a profile what a process may reach."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.box.engine import Inside, Launch
from harness.box.layout import ENVIRONMENT, SOCKET, laid_in, starts
from harness.box.limits import Limits

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
    """Makes boxes by sandbox-exec. It shuts off files and network; memory, processes and disk it does not limit."""

    name = "sandbox-exec"

    def lacking(self) -> str | None:
        """Say what is missing; see ``BoxEngine``."""
        if shutil.which("sandbox-exec") is None:
            return "sandbox-exec is missing, which comes with macOS: update the system"
        return None

    @contextmanager
    def launch(self, inside: Inside, limits: Limits) -> Iterator[Launch]:
        """Return how a box is started; see ``BoxEngine``."""
        laid = list(laid_in(inside))
        places = {place: str(source.resolve()) for source, place in laid}
        with tempfile.TemporaryDirectory(prefix="rosetta-box-") as made:
            own = Path(made).resolve()
            places["/tmp/site"] = str(own / "site")  # noqa: S108  the runner's name for it
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
            told = profile([Path(each) for each in places.values()], own, socket)
            argv = [shutil.which("sandbox-exec") or "sandbox-exec", "-p", told, *command]
            yield Launch(argv, limits=limits.by_file(), places=places)


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
        f"(allow file-read* process-exec (subpath {json.dumps(str(each))}))"
        for each in (*map(Path, _SYSTEM), *readable)
    ]
    lines.append(f"(allow file-read* file-write* (subpath {json.dumps(str(writable))}))")
    if socket is not None:
        lines.append(f"(allow network-outbound (literal {json.dumps(str(socket))}))")
    return "\n".join(lines)
