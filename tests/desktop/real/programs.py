"""Programs that a test starts: skipped with a reason where they are absent, ended with all they started."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

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
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    log: Path,
    pass_fds: Sequence[int] = (),
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
