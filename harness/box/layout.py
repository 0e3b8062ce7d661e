"""Where things are in a box, the same for every engine; ``inside/runner.py`` knows these places."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Final

from harness.box.engine import Inside, python_here
from harness.box.inside.runner import CODE, PIP, REQUIREMENTS, SITE, WHEELS

Laid = tuple[Path, str]
"""What is laid into a box, and its place there."""
SHARED_LIBRARIES: Final = (
    "/usr/lib",
    "/usr/lib64",
    "/lib",
    "/lib64",
    "/nix/store",
    "/etc/ld.so.cache",
)
IN_ITS_ROOT: Final = {place: place for place in (CODE, WHEELS, REQUIREMENTS, SITE, PIP)}
"""Where things are in a box that has its own root."""
ISOLATED: Final = ("-I", "-S", "-B", "-X", "utf8")
"""Options of Python: without packages and settings of this computer or user, and without leaving bytecode."""
SOCKET_FOLDER: Final = "/box/gateway"
SOCKET: Final = "gateway.sock"
ENVIRONMENT: Final = {
    "HOME": "/tmp",  # noqa: S108  of the box
    "TMPDIR": "/tmp",  # noqa: S108
    "LANG": "C.UTF-8",
    "PATH": "",
    "ROSETTA_GATEWAY": f"{SOCKET_FOLDER}/{SOCKET}",
}


def starts() -> list[str]:
    """Return the command that is the first in a box: Python alone, without packages or settings of this computer."""
    return [str(python_here().program), *ISOLATED, "/box/run/runner.py"]


def laid_in(inside: Inside) -> Iterator[Laid]:
    """Yield what is laid into a box for reading, each with its place there; folders before what is in them."""
    python = python_here()
    for path in (*python.libraries, python.program):
        yield path, str(path)
    yield Path(str(files("harness.box.inside"))), "/box/run"
    yield inside.code.folder.resolve(), CODE
    if inside.code.requirements is not None and inside.code.wheels is not None:
        yield inside.code.requirements.resolve(), REQUIREMENTS
        yield inside.code.wheels.resolve(), WHEELS
        if python.pip is not None:
            folder = python.pip.is_dir()
            yield python.pip, f"{PIP}/pip" if folder else PIP
    for path in (*inside.packages, *inside.data):
        yield path, str(path)
    if inside.socket_folder is not None:
        yield inside.socket_folder, SOCKET_FOLDER
