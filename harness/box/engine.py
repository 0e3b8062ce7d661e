"""What a box runs, how much it may take, how it fails, and what makes boxes."""

from __future__ import annotations

import os
import re
import stat
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from enum import StrEnum
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from harness.box.inside.runner import CODE, PIP, REQUIREMENTS, SITE, WHEELS
from harness.core.failures import ErrorClass, HarnessError, UsageError

if TYPE_CHECKING:
    from pydantic import JsonValue

# ---- What a box runs: a folder of code, an entry point, wheels, and what the method is given.

_ENTRY: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class BoxedCode:
    """Code of others, arranged in plain folders that we made.

    ``entry`` names a class or function of a module in ``folder``, as ``module:name``. A function is called with a list of
    texts and gives a list of as many translations, each a text or None. A class is made once, with the options as one
    dictionary, and its ``translate`` is such a function; a plain function takes the options as its second argument where it
    takes two.
    """

    folder: Path
    """Holds the code, without links; made readable for everybody, so it belongs into a folder that is private."""
    entry: str
    requirements: Path | None = None
    """A requirements file in which each line has its hashes; None: the method needs the standard library alone."""
    wheels: Path | None = None
    """Folder of the wheels that the requirements name."""
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    """What the method is told."""

    def check(self) -> None:
        """Raise UsageError where something is missing, a link, or no entry point; open the folders for reading.

        The box has its own user, who must be able to read what it runs.
        """
        if not _ENTRY.fullmatch(self.entry):
            raise UsageError(
                f"The entry point {self.entry!r} is none. Write MODULE:NAME, such as translator:translate."
            )
        if (self.requirements is None) != (self.wheels is None):
            raise UsageError("Wheels and their requirements with hashes go together: give both, or none.")
        for place in filter(None, (self.folder, self.wheels, self.requirements)):
            for path in _everything(place):
                try:
                    mode = path.lstat().st_mode
                except OSError as error:
                    raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
                if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                    raise UsageError(f"{path} is a link or a device. A box runs plain files only: take it out.")
                wanted = 0o755 if stat.S_ISDIR(mode) else 0o644
                if stat.S_IMODE(mode) & wanted != wanted:
                    path.chmod(stat.S_IMODE(mode) | wanted)


def _everything(place: Path) -> Iterator[Path]:
    yield place
    if not place.is_symlink() and place.is_dir():
        for path in place.iterdir():
            yield from _everything(path)


# ---- How much a boxed method may take of the computer, and how long ----


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a boxed method; each is held by the system or by us, whatever the method does."""

    memory_bytes: int = 4 << 30
    """Memory: of the whole box where there is a control group, else of each of its processes."""
    processes: int = 128
    """Processes and threads at once."""
    disk_bytes: int = 2 << 30
    """What it may write in all, to /tmp and to /dev/shm; it is memory, and gone with the box."""
    install_seconds: float = 600
    """Until its wheels are installed."""
    load_seconds: float = 300
    """Until its entry point is loaded."""
    entry_seconds: float = 120
    """For one text; a call with several has so much for each of them."""
    all_seconds: float = 24 * 3600
    """For everything together."""
    answer_characters: int = 20_000
    """In one output."""
    restarts: int = 5
    """How often it is begun again after a text at which it failed; afterwards all that is left fails."""

    def __post_init__(self) -> None:
        """Refuse a limit under which no method could work, or that is none; ValueError with its name."""
        least = {"processes": 4, "answer_characters": 1, "restarts": 0, "memory_bytes": 1 << 20, "disk_bytes": 1 << 20}
        for limit in fields(self):
            value = getattr(self, limit.name)
            good = isfinite(value) and (value >= least[limit.name] if limit.name in least else value > 0)
            if not good or (limit.name == "answer_characters" and value > 1 << 20):
                raise ValueError(f"{limit.name} cannot be {value}")

    @property
    def line_bytes(self) -> int:
        """Return how long a line of its answers may be: each character as two escapes, and what stands around it."""
        return 12 * self.answer_characters + 200

    @property
    def shared_bytes(self) -> int:
        """Return the part of the disk that is for memory shared between processes (``/dev/shm``)."""
        return self.disk_bytes // 8

    def by_file(self) -> dict[str, int]:
        """Return what the first process limits of its files alone, where processes cannot be limited apart."""
        return {"RLIMIT_FSIZE": self.disk_bytes, "RLIMIT_NOFILE": 1024, "RLIMIT_CORE": 0}

    def by_resource(self, *, whole_box: bool) -> dict[str, int]:
        """Return what the first process in a box limits for itself and its children, by the names of ``resource``.

        ``whole_box`` tells that a control group limits the memory of all of them together.
        """
        memory = {} if whole_box else {"RLIMIT_AS": self.memory_bytes}
        return memory | self.by_file() | {"RLIMIT_NPROC": self.processes, "RLIMIT_MSGQUEUE": 0}


# ---- What may be said of a boxed method that failed: where it stopped, how, and whose fault it
# is, and nothing else.
#
# A failure is a way out. Words, exit codes, sizes and times of a method that read secret texts
# could carry them, so none of these is shown: only one of the few stages and manners below.


class WhoseFault(StrEnum):
    """Who has to do something."""

    CUSTODIAN = "custodian"
    """The computer, its engine or its models: the method was not judged, and trying again is free."""
    ENTRANT = "entrant"
    """The method, or what came with it."""


class BoxStage(StrEnum):
    """Where a boxed method stopped."""

    ENGINE = "engine"
    """No box could be made."""
    INSTALL = "install"
    """What the method needs could not be installed from what came with it."""
    LOAD = "load"
    """Its module or entry point could not be loaded."""
    TRANSLATE = "translate"
    """It was asked for translations."""
    GATEWAY = "gateway"
    """A model that the custodian offers did not answer."""


class ExitReason(StrEnum):
    """How it stopped there."""

    ENDED = "ended"
    """It raised, crashed, ran out of memory, or left: which of these is not told."""
    TOO_LONG = "too_long"
    """It took longer than the limits allow."""
    MALFORMED = "malformed"
    """What came out was no answer to what was asked: half a line, another's id, or too much."""
    GAVE_UP = "gave_up"
    """It had to be begun again too often."""


_CLASSES = {
    ExitReason.ENDED: ErrorClass.METHOD,
    ExitReason.TOO_LONG: ErrorClass.TIMEOUT,
    ExitReason.MALFORMED: ErrorClass.MALFORMED,
    ExitReason.GAVE_UP: ErrorClass.METHOD,
}
_WORDS = {
    BoxStage.ENGINE: "No box could be made on this computer. Nothing was run: see `rosetta doctor`, and try again",
    BoxStage.INSTALL: "What the method needs could not be installed from the wheels that came with it",
    BoxStage.LOAD: "The method, or its model, could not be loaded",
    BoxStage.TRANSLATE: "The method failed at a text",
    BoxStage.GATEWAY: "A model of the gateway did not answer. The method was not judged: check that the model runs, and try again",
}
_HOW = {
    ExitReason.ENDED: "it ended",
    ExitReason.TOO_LONG: "it took too long",
    ExitReason.MALFORMED: "what it gave is not an answer to what was asked",
    ExitReason.GAVE_UP: "it had to be started too often",
}


class BoxFailure(HarnessError):  # noqa: N818  it is a way to fail, with a fault of its own
    """A boxed method stopped. The words follow from stage and manner alone, so they tell nothing of a text."""

    def __init__(self, stage: BoxStage, manner: ExitReason = ExitReason.ENDED) -> None:
        self.stage = BoxStage(stage)
        self.manner = ExitReason(manner)
        words = _WORDS[self.stage]
        super().__init__(f"{words}: {_HOW[self.manner]}." if self.fault is WhoseFault.ENTRANT else f"{words}.")

    @property
    def fault(self) -> WhoseFault:
        custodians = {BoxStage.ENGINE, BoxStage.GATEWAY}
        return WhoseFault.CUSTODIAN if self.stage in custodians else WhoseFault.ENTRANT

    @property
    def error_class(self) -> ErrorClass:
        return _CLASSES[self.manner]


class Inside(NamedTuple):
    """All that is laid into a box, each for reading only."""

    code: BoxedCode
    socket_folder: Path | None = None
    """Folder that holds the socket of the gateway; None: there are no models to ask."""
    packages: Sequence[Path] = ()
    """Folders that packages are imported from, after the standard library."""
    data: Sequence[Path] = ()
    """Files and folders that the code is told of by their own paths."""
    environment: Mapping[str, str] = MappingProxyType({})
    """What it is told beside the environment that every box has."""


class Launch(NamedTuple):
    """How a box is started."""

    argv: Sequence[str]
    places: Mapping[str, str]
    """Where things lie, by the places that the first process knows; it takes nothing from a place that is missing here."""
    descriptors: Sequence[int] = ()
    """Open files that it is handed."""
    limits: Mapping[str, int] = MappingProxyType({})
    """What the first process limits for itself, by the names of ``resource``."""
    environment: Mapping[str, str] = MappingProxyType({})
    """What the engine itself must be told; the box has its own environment."""
    end: Sequence[str] = ()
    """A command that ends the box, where killing what was started would not."""


class BoxEngine(Protocol):
    """Something that makes boxes: no process or file of a method outlives its box, however this program ends."""

    @property
    def name(self) -> str:
        """Name of the program, such as ``bubblewrap``."""

    def lacking(self) -> str | None:
        """Return what is missing for it on this computer and what to install; None where it works."""

    def launch(self, inside: Inside, limits: Limits) -> AbstractContextManager[Launch]:
        """Return how a box is started; what it needs meanwhile lasts as long as the context."""


class PythonHere(NamedTuple):
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
    kept = sysconfig.get_config_var("WHEEL_PKG_DIR")  # where a distribution keeps them
    folder = Path(kept) if kept else Path(os.__file__).parent / "ensurepip" / "_bundled"
    wheels = sorted(folder.glob("pip-*.whl"))
    spec = None if wheels else find_spec("pip")
    pip = None if spec is None or spec.origin is None else Path(spec.origin).parent
    return PythonHere(program, libraries, wheels[-1] if wheels else pip)


# ---- Where things are in a box, the same for every engine; ``inside/runner.py`` knows these
# places.

Laid = tuple[Path, str]
"""What is laid into a box, and its place there."""
SHARED_LIBRARIES: Final = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/nix/store", "/etc/ld.so.cache")
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
    yield Path(__file__).with_name("inside"), "/box/run"
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
