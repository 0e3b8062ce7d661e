"""Control groups of Linux: a limit of memory for a box as a whole, where this user may set one, or systemd sets it for them.

Without one each process of a box is limited on its own (``RLIMIT_AS``), so a box may take so much for each of its processes.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from harness.box.limits import Limits

_ROOT: Final = Path("/sys/fs/cgroup")
_NAME: Final = "rosetta-box-"
_PROBE_BYTES: Final = 1 << 28
_PROBE_SECONDS: Final = 10
_TRIES: Final = 100
"""How often a group is tried to be removed, while the last processes in it go."""


@contextmanager
def control_group(limits: Limits) -> Iterator[list[str]]:
    """Make a group for one box; gives what stands before its command to join it, nothing where none can be made."""
    place = _made(limits)
    if place is None:
        yield _scope(limits.memory_bytes) if _holds(tuple(_scope(_PROBE_BYTES))) else []
        return
    try:
        shell = shutil.which("sh") or "/bin/sh"
        yield [shell, "-c", 'echo $$ > "$0" && exec "$@"', str(place / "cgroup.procs")]
    finally:
        _remove(place)


@cache
def limits_whole_box() -> bool:
    """Return whether memory is limited for a box as a whole on this computer, for this user."""
    with control_group(Limits()) as joining:
        return bool(joining)


def _scope(memory: int) -> list[str]:
    """Return what starts a command in a group that the systemd of this user's session makes; empty where there is none.

    The command takes the place of what is started, so it stays this program's child; it has nothing of the environment.
    """
    programs = [shutil.which(name) for name in ("env", "systemd-run")]
    session = os.environ.get("XDG_RUNTIME_DIR")
    if None in programs or not session:
        return []
    env, systemd_run = map(str, programs)
    limit = ["--property", f"MemoryMax={memory}", "--property", "MemorySwapMax=0"]
    asked = [systemd_run, "--user", "--scope", "--quiet", "--collect", *limit, "--"]
    return [env, f"XDG_RUNTIME_DIR={session}", *asked, env, "-i"]


@cache
def _holds(starts: tuple[str, ...]) -> bool:
    """Return whether the kernel holds the limit of such a group, of ``_PROBE_BYTES``: one is made, and says what it was given."""
    if not starts:
        return False
    asked = 'read -r group < /proc/self/cgroup && cat "/sys/fs/cgroup${group#0::}/memory.max"'
    argv = [*starts, shutil.which("sh") or "/bin/sh", "-c", asked]
    with suppress(OSError, subprocess.SubprocessError):
        stdout = subprocess.run(  # noqa: S603
            argv, env={}, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=_PROBE_SECONDS
        ).stdout  # fmt: skip
        return stdout.strip() == str(_PROBE_BYTES).encode()
    return False


def _made(limits: Limits) -> Path | None:
    for parent, settings in _places(limits):
        place = parent / f"{_NAME}{os.getpid()}-{secrets.token_hex(8)}"
        # Remove the empty groups of programs that were killed.
        for path in parent.glob(f"{_NAME}*"):
            maker = path.name.removeprefix(_NAME).partition("-")[0]
            if maker.isdigit() and not Path(f"/proc/{maker}").exists():
                with suppress(OSError):
                    path.rmdir()
        try:
            place.mkdir()
        except OSError:
            continue
        try:
            for name, value in settings.items():
                (place / name).write_text(value, encoding="ascii")
        except OSError:
            _remove(place)
            continue
        with suppress(OSError):  # a kernel that counts no swap has none to limit
            (place / "memory.swap.max").write_text("0", encoding="ascii")
        return place
    return None


def _places(limits: Limits) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """Yield where a group may be made, with what is set in it: version 2 of control groups, then version 1."""
    memory = str(limits.memory_bytes)
    if (_ROOT / "cgroup.controllers").exists():
        yield _ROOT, {"memory.max": memory, "memory.oom.group": "1"}
    yield _ROOT / "memory", {"memory.limit_in_bytes": memory}


def _remove(place: Path) -> None:
    with suppress(OSError):
        (place / "cgroup.kill").write_text("1", encoding="ascii")
    for _ in range(_TRIES):
        try:
            place.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
        else:
            return
