"""The first program in the box: sets limits, installs, loads the method, and answers line by line.

Runs on the standard library alone. What it writes is believed by nobody outside: the method shares its process.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

if sys.platform != "win32":
    import resource

CODE, WHEELS, REQUIREMENTS, PIP = "/box/code", "/box/wheels", "/box/requirements.txt", "/box/pip"
SITE = "/tmp/site"  # noqa: S108  of the box
"""Where the wheels are installed."""


def main() -> None:
    """Answer until nothing more is asked; its arguments: folders that packages are imported from."""
    sys.path += sys.argv[1:]
    asked = os.fdopen(os.dup(0), "r", encoding="utf-8")
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Redirect standard input and output to nowhere, so that a method that prints or reads
    # disturbs nothing.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    begin = json.loads(asked.readline())
    limits = begin["limits"]
    if sys.platform != "win32":
        for name, wanted in limits.items():
            number = getattr(resource, name)
            hard = resource.getrlimit(number)[1]
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(number, (most, most))
    # Mark the box as what a system without memory ends first, not the program outside; macOS
    # has no such order.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    _tell(stream, {"state": "inside"})
    places = begin["places"]  # nothing is looked for anywhere else: that might be another user's
    folders = [places[CODE]]
    if begin["wheels"]:
        _install(places[WHEELS], places[REQUIREMENTS], places[SITE], places[PIP])
        folders.append(places[SITE])
    _tell(stream, {"state": "installed"})
    translate = _load(folders, begin["entry"], begin["options"])
    _tell(stream, {"state": "ready"})
    for batch in _batches(asked):
        texts = translate([question["source"] for question in batch])
        if len(texts) != len(batch):
            sys.exit("The method gave another number of outputs than it was given texts.")
        for question, text in zip(batch, texts, strict=True):
            _tell(stream, {"id": question["id"], "text": text})


def _tell(told: IO[str], line: Mapping[str, str | None]) -> None:
    told.write(json.dumps(line) + "\n")
    told.flush()


def _install(wheels: str, requirements: str, site: str, pip: str) -> None:
    """Install the wheels, in its own process: pip is made to be run, not to be called."""
    child = os.fork()
    if child == 0:
        sys.path.insert(0, pip)
        sys.argv = [
            "pip", "--isolated", "--no-input", "--disable-pip-version-check", "--no-cache-dir", "--quiet",
            "install", "--no-index", "--only-binary", ":all:", "--require-hashes", "--no-compile",
            "--find-links", wheels, "--target", site, "--requirement", requirements,
        ]  # fmt: skip
        code = 1
        try:
            runpy.run_module("pip", run_name="__main__")
        except SystemExit as end:
            code = 0 if end.code in {0, None} else 1
        finally:
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        sys.exit("The wheels could not be installed.")


def _load(folders: list[str], entry: str, options: Mapping[str, Any]) -> Callable[[list[str]], Any]:
    sys.path[:0] = [*folders, str(Path(__file__).parent)]  # the last for rosetta_box
    module, _, name = entry.partition(":")
    loaded: Any = getattr(importlib.import_module(module), name)
    translate: Callable[[list[str]], Any] = loaded
    if isinstance(loaded, type):
        maker: Callable[[Any], Any] = loaded
        translate = maker(options).translate
    elif len(inspect.signature(loaded).parameters) > 1:
        return lambda texts: loaded(texts, options)
    return translate


def _batches(asked: IO[str]) -> Iterator[list[dict[str, str]]]:
    """Yield the lines of each request: lines up to an empty one."""
    batch: list[dict[str, str]] = []
    for line in asked:
        if line.strip():
            batch.append(json.loads(line))
        elif batch:
            yield batch
            batch = []


if __name__ == "__main__":
    main()
