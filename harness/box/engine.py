"""What an engine is: something that makes boxes, told what is laid into one and how much it may take."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from harness.box.code import BoxedCode
from harness.box.limits import Limits


@dataclass(frozen=True, slots=True)
class Inside:
    """What is laid into a box, each for reading only."""

    code: BoxedCode
    socket_folder: Path | None = None
    """Folder that holds the socket of the gateway; None: there are no models to ask."""
    packages: Sequence[Path] = ()
    """Folders that packages are imported from, after the standard library."""
    data: Sequence[Path] = ()
    """Files and folders that the code is told of by their own paths."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What it is told beside the environment that every box has."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How a box is started."""

    argv: Sequence[str]
    places: Mapping[str, str]
    """Where things lie, by the places that the first process knows; it takes nothing from a place that is missing here."""
    descriptors: Sequence[int] = ()
    """Open files that it is handed."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """What the first process limits for itself, by the names of ``resource``."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What the engine itself must be told; the box has its own environment."""
    end: Sequence[str] = ()
    """A command that ends the box, where killing what was started would not."""


class BoxEngine(Protocol):
    """Something that makes boxes: no process or file of a method outlives its box, however this program ends."""

    @property
    def name(self) -> str:
        """Name of the program, such as ``bubblewrap``."""
        ...

    def lacking(self) -> str | None:
        """Return what is missing for it on this computer and what to install; None where it works."""
        ...

    def launch(self, inside: Inside, limits: Limits) -> AbstractContextManager[Launch]:
        """Return how a box is started; what it needs meanwhile lasts as long as the context."""
        ...


@dataclass(frozen=True, slots=True)
class PythonHere:
    """The Python that runs this program, as far as a box needs it."""

    program: Path
    libraries: Sequence[Path]
    """Its own library, and what the program is linked with."""
    pip: Path | None
    """A wheel of pip, or the folder of its package; None where there is none."""


def python_here() -> PythonHere:
    """Return the Python under this environment; what is installed in the environment stays outside."""
    base = Path(sys.base_prefix).resolve()
    # no public name tells the program under an environment
    program = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    libraries = [base / name for name in ("lib", "lib64") if (base / name).is_dir()]
    return PythonHere(program, libraries, _pip())


def _pip() -> Path | None:
    kept = sysconfig.get_config_var("WHEEL_PKG_DIR")  # where a distribution keeps them
    folder = Path(kept) if kept else Path(os.__file__).parent / "ensurepip" / "_bundled"
    wheels = sorted(folder.glob("pip-*.whl"))
    if wheels:
        return wheels[-1]
    spec = find_spec("pip")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent
