"""Find a canary in the bytes that a program left, however it was written there, on a computer for its commands.

Every word of a secret text begins with one stem, in plain letters, so that no form of a letter can hide it: composed or
not, escaped or not. What is packed is unpacked first, and what stood on a terminal is read without its colours.
"""

from __future__ import annotations

import atexit
import base64
import gzip
import io
import multiprocessing
import os
import re
import resource
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rosetta_tui.cli import main

STEM = "kanario"

_ON_TERMINALS = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
"""Sequences that a terminal does not show: colours, places, titles."""


def _in_base64(stem: bytes) -> Iterator[bytes]:
    """Yield the letters that are the same whatever stands around the stem, for each of its three places."""
    for place in range(3):
        whole = base64.b64encode(bytes(place) + stem)
        yield whole[-(-place * 8 // 6) : (place + len(stem)) * 8 // 6]


_WIDE = ("utf-8", "utf-16-le", "utf-16-be")
_CASES = (STEM, STEM.capitalize(), STEM.upper())
_LOWER = [STEM.encode(form) for form in _WIDE]
_LOWER += [said.encode().hex().encode() for said in _CASES]
"""Looked for whatever the case."""
_EXACT = [found for said in _CASES for form in _WIDE for found in _in_base64(said.encode(form))]


def forms_in(content: bytes) -> int:
    """Return how many forms of the stem stand in some bytes, what is packed in them unpacked."""
    found = 0
    for each in _unpacked(content):
        lower = each.lower()
        found += sum(form in lower for form in _LOWER) + sum(form in each for form in _EXACT)
    return found


def _unpacked(content: bytes) -> Iterator[bytes]:
    yield content
    if b"\x1b" in content:
        yield _ON_TERMINALS.sub(b"", content)
    with suppress(zipfile.BadZipFile, NotImplementedError, RuntimeError):
        if content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as packed:
                for each in packed.namelist():
                    yield each.encode()
                    yield from _unpacked(packed.read(each))
    with suppress(OSError, EOFError, zlib.error):
        if content.startswith(b"\x1f\x8b"):
            yield from _unpacked(gzip.decompress(content))


def readable(folder: Path) -> list[str]:
    """Name what of a folder holds a canary: files by their bytes, and everything by its name."""
    found = []
    for each in sorted(folder.rglob("*")):
        named = forms_in(each.name.encode())
        if named or (each.is_file() and forms_in(each.read_bytes())):
            found.append(str(each.relative_to(folder)))
    return found


# a computer for commands of the program: each in a process of its own, all it prints and leaves in one folder

LOADED = ("rosetta_tui.cli", "rosetta_tui.app.app", "harness.api", "harness.store.sqlite.migrations", "sqlite_utils", "httpx_aiohttp", "pyrage", "tests.guards.canaries.place")  # fmt: skip
"""What the process holds from which every command is forked, so that none takes a second to begin."""


def processes() -> multiprocessing.context.ForkServerContext:
    """Return what makes the processes of commands."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload([*LOADED])
    return made


def command(words: Sequence[str], environment: dict[str, str], folder: str, printed: str) -> None:
    """Be the command: print into a file, write a core where the system lets one, and say at the end whether it would."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))
    asked = _asked_of_system()
    keep_removed(Path(folder).parent / "removed")
    with open(printed, "wb") as out, open(os.devnull, "rb") as nothing:  # noqa: PTH123  a name, no path
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
        os.dup2(nothing.fileno(), 0)
    try:
        main(words)
    finally:
        atexit._run_exitfuncs()  # a forked process does not come to them by itself
        sys.stdout.flush()
        Path(f"{printed}.cores").write_text(str((resource.RLIMIT_CORE, (0, 0)) in asked))


def keep_removed(where: Path) -> None:
    """Keep from now on the bytes of each file that this process deletes or writes anew: a disk has them for a while."""
    where.mkdir(exist_ok=True)

    def gone(event: str, told: tuple[Any, ...]) -> None:
        if event in {"os.remove", "os.rename"}:
            path = Path(os.fsdecode(told[event == "os.rename"]))
            with suppress(OSError):
                content = path.read_bytes()
                (where / f"{os.getpid()}-{time.monotonic_ns()}-{path.name[-60:]}").write_bytes(content)

    sys.addaudithook(gone)


def _asked_of_system() -> list[tuple[object, ...]]:
    """Note from now on which limits this process sets: where a limit is 0 already, looking at it tells nothing."""
    asked: list[tuple[object, ...]] = []
    limit = resource.setrlimit

    def noted(*told: Any) -> None:
        asked.append(told)
        limit(*told)

    resource.setrlimit = noted
    return asked


@dataclass
class Computer:
    """Folders of a person: home, data folder, temporary files, where they work, and where printed lines go."""

    folder: Path
    printed: list[str] = field(default_factory=list)
    dumping: list[str] = field(default_factory=list)
    """Commands after which the system would have written memory to a core."""

    def __post_init__(self) -> None:
        for each in ("home", "data", "temporary", "work", "printed"):
            (self.folder / each).mkdir(parents=True)

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of every command."""
        return {
            "PATH": os.environ["PATH"],
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            "ROSETTA_HOME": str(self.folder / "data"),
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "temporary"),
            "SQLITE_TMPDIR": str(self.folder / "temporary"),
            "OPENBLAS_NUM_THREADS": "1",
            "LANG": "C.UTF-8",
            "COLUMNS": "120",
        }

    def __call__(self, *words: object, code: int | None = 0) -> str:
        """Run a command to its end; gives what it printed. ``code`` None: any."""
        line = [*map(str, words)]
        out = self.folder / "printed" / f"{len(self.printed)}"
        made = processes().Process(target=command, args=(line, self.environment, str(self.folder / "work"), str(out)))
        made.start()
        made.join()
        said = out.read_text("utf-8", "replace")
        assert code is None or made.exitcode == code, (line, made.exitcode, said)
        self.printed.append(" ".join(line))
        cores = Path(f"{out}.cores")
        if cores.exists() and cores.read_text() != "True":
            self.dumping.append(" ".join(line))
        return said

    def readable(self) -> list[str]:
        """Name the files of this computer in which a canary stands, and the commands that printed one."""
        found = readable(self.folder)
        lines = {f"printed/{n}": f"{n}: {line}" for n, line in enumerate(self.printed)}
        return [lines.get(each, each) for each in found] + [
            f"typed: {line}" for line in self.printed if "kanario" in line.lower()
        ]
