"""A process of this program's own for an engine that reads data of others: limited, killed from outside, and shut off where that can be."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from harness.box.engine import ISOLATED, Inside, Launch, Limits, laid_in
from harness.box.engines import Bubblewrap

_KEPT: Final = ("SYSTEMROOT", "WINDIR", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")
"""What of this program's environment the process is told: where Windows and libraries lie, and how many threads to use."""
_PLACES: Final = ("TEMP", "TMP", "TMPDIR")
"""Which of these a box has its own place for."""


class OwnProcess:
    """Starts our code as a process without this program's environment: in a box of bubblewrap, else with this user's rights.

    It is for code of ours that reads data of others in native code: a fault, or a batch without end, is the process's alone.
    Where the box has its own user, as root's has, it may not read what this user may, so there is none then.
    Outside of a box it begins by tying itself to this one (``inside/own_process.py``): on Linux it is killed where this one ends, however that is.
    On Linux its memory is limited (``RLIMIT_AS``); macOS holds no such limit, and Windows has none that a program sets itself.
    """

    name = "its own process"

    def __init__(self, packages: Sequence[str] = (), data: Sequence[Path] = ()) -> None:
        """``packages``: those that the code imports beside the standard library; it finds what is in their folders alone.

        ``data``: files and folders that it is given, all that it can read in a box.
        """
        self._packages = packages
        self._data = data

    def lacking(self) -> str | None:
        return None

    @contextmanager
    def launch(self, inside: Inside, limits: Limits) -> Iterator[Launch]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        variables = {**kept, "MALLOC_ARENA_MAX": "2"}
        if shut_off():
            here = {name: value for name, value in variables.items() if name not in _PLACES}
            more = inside._replace(packages=self._folders(), data=self._data, environment=here)
            with Bubblewrap().launch(more, limits) as launch:
                yield launch
            return
        held = {} if sys.platform == "win32" else limits.by_file()
        held |= {"RLIMIT_AS": limits.memory_bytes} if sys.platform == "linux" else {}
        first = Path(__file__).with_name("inside") / "own_process.py"
        folders = [str(folder) for folder in self._folders()]
        yield Launch(
            [sys.executable, *ISOLATED, str(first), str(os.getpid()), *folders],
            {place: str(source) for source, place in laid_in(inside)},
            limits=held,
            environment=variables,
        )

    def _folders(self) -> list[Path]:
        specs = filter(None, map(find_spec, self._packages))
        places = (Path(place) for spec in specs for place in spec.submodule_search_locations or ())
        return [*dict.fromkeys(place.parent.absolute() for place in places)]


def shut_off() -> bool:
    """Return whether such a process runs in a box on this computer, for this user."""
    return sys.platform == "linux" and os.geteuid() != 0 and Bubblewrap().lacking() is None
