"""Lets go of code that was needed to start and to open a review, and is hardly needed to rate.

Most of a library's code that is in memory ran once: while its types were made, a signature was checked, a file
unsealed. The system takes such pages back by itself when memory is short, once it has found them.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

_MAPPED: Final = Path("/proc/self/maps")
_MEMORY: Final = Path("/proc/self/smaps")
_CODE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ [1-9]\d* +(/.*)\n")
"""A mapping of a file's code, which nobody writes to."""
_CHANGED: Final = "Anonymous:"
"""How much of a mapping differs from its file, and would be lost."""
_DONTNEED: Final = 4
"""Of madvise(2): what is not changed is read from its file again when it is next needed."""


def let_go_of_code() -> int:
    """Take the code of libraries out of this process's memory, on Linux; gives how many mappings were let go.

    What runs next comes back from the system's copy of the file, without a look at the disk as long as there is
    memory to spare. Only libraries are let go that cannot be unloaded any more: their place stays theirs.
    """
    if sys.platform != "linux":
        return 0
    mapped = map(_CODE.match, _lines(_MAPPED))
    staying = {code[3] for code in mapped if code is not None and _stays(code[3])}
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return sum(
        advise(begin, end - begin, _DONTNEED) == 0
        for begin, end, file in _unchanged()
        if file in staying
    )


def _unchanged() -> Iterator[tuple[int, int, str]]:
    """Yield the code of files that is mapped as it stands in the file: addresses, and the file."""
    code: re.Match[str] | None = None
    for line in _lines(_MEMORY):
        if line.startswith(_CHANGED):
            if code is not None and int(line.split()[1]) == 0:
                yield int(code[1], 16), int(code[2], 16), code[3]
            code = None
        elif found := _CODE.match(line):
            code = found


def _lines(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8", errors="surrogateescape") as lines:
        yield from lines


@cache
def _stays(file: str) -> bool:
    """Keep a library that is loaded from ever being unloaded; False for what is none."""
    try:
        ctypes.CDLL(file, mode=os.RTLD_LAZY | os.RTLD_NOLOAD)  # ctypes never closes what it opened
    except OSError:
        return False
    return True
