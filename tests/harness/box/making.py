"""Methods in boxes for tests: written into a folder, asked, and ended."""

import asyncio
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Entry
from harness.box.boxed import BoxedMethod, boxed_method
from harness.box.engine import BoxedCode, Limits
from harness.box.engines import engines
from harness.box.gateway import Gateway
from harness.method.method import MethodClass, Output, Setup

LACKING = [engine.lacking() for engine in engines()]
needs_engine = pytest.mark.skipif(None not in LACKING, reason="; ".join(filter(None, LACKING)) or "there is an engine")

SMALL = Limits(
    memory_bytes=512 << 20, processes=24, disk_bytes=8 << 20, install_seconds=60, load_seconds=60, entry_seconds=20,
    answer_characters=2000,
)  # fmt: skip
"""Limits that a test reaches soon; the times are what a busy machine needs, and end nothing that works."""


def setup(batch_size: int = 1) -> Setup:
    return Setup(
        method="boxed", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1", method_sha256="0" * 64,
        model_slug="boxed", condition="test", batch_size=batch_size,
    )  # fmt: skip


def written(folder: Path, code: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "method.py").write_text(code, encoding="utf-8")
    return folder


def boxed(
    folder: Path, code: str, limits: Limits = SMALL, gateway: Gateway | None = None,
    entry: str = "method:translate", **more: Any,
) -> BoxedMethod:  # fmt: skip
    """Return a method whose module is ``code`` and whose entry point is ``translate``."""
    engine = next(each for each, missing in zip(engines(), LACKING, strict=True) if missing is None)
    kept = BoxedCode(written(folder, code), entry, **more)
    return boxed_method(kept, limits, engine, gateway, setup(), open_data=True)


def asked(method: BoxedMethod, *batches: Sequence[str], calls: Any = None) -> list[list[Output]]:
    """Return what a method gives for batches of texts, one after the other, and end it."""

    async def ask() -> list[list[Output]]:
        try:
            return [list(await method.translate([*map(entry, batch)], calls)) for batch in batches]
        finally:
            await method.close_box()

    return asyncio.run(ask())


def entry(text: str) -> Entry:
    return Entry.model_construct(id="one", source=text, reference="", segment=None)


def outside_of(folder: Path, **more: Any) -> dict[str, Any]:
    """What an adversary is told that it would like to reach."""
    places = {name: str(folder / name) for name in ("secret", "socket")}
    sizes = {"memory": SMALL.memory_bytes, "disk": SMALL.disk_bytes, "processes": SMALL.processes}
    return {**places, "abstract": "nobody-listens", "port": 9, **sizes, **more}


def run_as_nobody(*told: str) -> Any:
    """Run ``programs.py`` as another user than root, and return the JSON that it prints; skips where none can run it."""
    here = Path(sys.executable).resolve()
    everybodys = all(each.stat().st_mode & 0o1 for each in (here, *here.parents))
    version = f"python3.{sys.version_info[1]}"
    python = str(here) if everybodys else shutil.which(version, path="/usr/local/bin:/usr/bin")
    if python is None:
        pytest.skip("no Python of this version can be reached by other users")
    packages = [str(Path(__file__).parents[3]), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    environment = {"PYTHONPATH": ":".join(packages), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [python, "-P", "-m", "tests.harness.box.programs", *told],
        user=65534, group=65534, extra_groups=(), cwd="/", env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def descendants(number: int | str = "self") -> list[int]:
    """Return the processes under one; none where the system does not name them."""
    found = []
    for children in Path(f"/proc/{number}/task").glob("*/children"):
        with suppress(OSError):  # it ends meanwhile
            for child in map(int, children.read_text("ascii").split()):
                found += [child, *descendants(child)]
    return found


def require_ended(handle: int) -> None:
    """Wait for the end of a process that ``os.pidfd_open`` named; a zombie is one that has ended."""
    try:
        ended = bool(select.select([handle], [], [], 600)[0])
        if not ended:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        assert ended, "a process of the box outlived it"
    finally:
        os.close(handle)


def new_since(before: Sequence[int]) -> list[int]:
    """Return handles of the processes under this one that were not there before: others may be of other tests."""
    handles = []
    for each in {*descendants()} - {*before}:
        with suppress(ProcessLookupError):  # gone since
            handles.append(os.pidfd_open(each))
    return handles
