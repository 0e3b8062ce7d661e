"""A process of this program's own for an engine that reads data of others: limited, and killed from outside; it shuts nothing off."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from harness.box.engine import Inside, Launch
from harness.box.layout import ISOLATED, laid_in
from harness.box.limits import Limits

_KEPT: Final = ("SYSTEMROOT", "WINDIR", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")  # fmt: skip
"""What of this program's environment the process is told: where Windows and libraries lie, and how many threads to use."""


class OwnProcess:
    """Starts our code as a process with this user's rights and without this program's environment.

    It is for code of ours that reads data of others in native code: a fault, or a batch without end, is the process's alone.
    It begins by tying itself to this one (``inside/own_process.py``): on Linux it is killed where this one ends, however that is.
    On Linux its memory is limited (``RLIMIT_AS``); macOS holds no such limit, and Windows has none that a program sets itself.
    """

    name = "a process of its own"
    holds_secrets = True

    def __init__(self, packages: Sequence[str] = ()) -> None:
        """``packages``: those that the code imports beside the standard library; it finds what lies in their folders alone."""
        self._packages = packages

    def lacking(self) -> str | None:
        """Say that nothing is missing; see ``BoxEngine``."""
        return None

    @contextmanager
    def launch(self, inside: Inside, limits: Limits) -> Iterator[Launch]:
        """Return how the process is started; see ``BoxEngine``."""
        first = files("harness.box.inside") / "own_process.py"
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        yield Launch(
            [sys.executable, *ISOLATED, str(first), str(os.getpid()), *self._folders()],
            {place: str(source) for source, place in laid_in(inside)},
            limits={} if sys.platform == "win32" else _held(limits),
            environment={**kept, "MALLOC_ARENA_MAX": "2"},
        )

    def _folders(self) -> list[str]:
        """Return the folders that the packages of these names lie in, as this program itself finds them."""
        found = (find_spec(each) for each in self._packages)
        places = (Path(p) for each in found if each for p in each.submodule_search_locations or ())
        return [*dict.fromkeys(str(each.parent.absolute()) for each in places)]


def _held(limits: Limits) -> dict[str, int]:
    memory = {"RLIMIT_AS": limits.memory_bytes} if sys.platform == "linux" else {}
    return limits.by_file() | memory
