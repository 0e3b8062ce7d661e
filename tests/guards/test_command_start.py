"""What commands do without: each library below costs more processor time than all else that they load."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.method.shipped import SERVICE_NAMES
from harness.methods.api import SERVICES

pytestmark = pytest.mark.every_python

PROGRAM = """
import sys
from rosetta_tui.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("command", "without"),
    [
        (("--help",), {"click", "json", "dataclasses", "typing", "importlib"}),
        (("run", "--help"), {"pydantic", "numpy", "regex", "asyncio", "importlib.metadata"}),
        (("submission", "list"), {"numpy", "regex", "asyncio", "cryptography"}),
        (("doctor", "--json"), {"textual", "asyncio", "numpy.ma", "aiohttp", "httpx"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_loads_nothing_that_it_does_not_need(
    tmp_path: Path, command: tuple[str, ...], without: set[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, *command],
        env={**os.environ, "ROSETTA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "rosetta_tui.front" in loaded
    assert not without & loaded


def test_the_names_of_services_are_those_that_there_are() -> None:
    assert list(SERVICE_NAMES) == list(SERVICES)
