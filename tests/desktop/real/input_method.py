"""A real input method: IBus with the tables of m17n, as communities type syllabics with it."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.desktop.real.programs import program, running
from tests.desktop.real.waiting import until

WESTERN_CREE = "m17n:cr:western"


@contextlib.contextmanager
def input_method(
    folder: Path, environment: Mapping[str, str], engine: str
) -> Iterator[dict[str, str]]:
    """Start IBus with this engine chosen; gives what a program needs to be typed in through it."""
    if not Path("/usr/share/ibus/component/m17n.xml").exists():
        pytest.skip("ibus-m17n is not installed")
    command = [
        program("ibus-daemon"), "--panel=disable", "--emoji-extension=disable", "--cache=none",
        f"--config={program('ibus-memconf')}",
    ]  # fmt: skip
    with running(command, environment, log=folder / "ibus.log"):

        def chosen() -> bool:
            _ibus(environment, "engine", engine)
            return _ibus(environment, "engine") == engine

        until(chosen, f"the input method {engine}")
        yield {"QT_IM_MODULE": "ibus"}


def _ibus(environment: Mapping[str, str], *wishes: str) -> str:
    done = subprocess.run(
        [program("ibus"), *wishes],
        env=dict(environment),
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )
    return done.stdout.strip()
