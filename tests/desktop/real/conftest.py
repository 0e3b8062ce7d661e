"""A screen, a bus and a screen reader for each test; all of it goes at the end."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.desktop.real import display as displays
from tests.desktop.real.display import Display
from tests.desktop.real.stage import Stage
from tests.desktop.real.window import Start, Window, window

if TYPE_CHECKING:
    from tests.desktop.real.reader import Bus, Reader

collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]
"""The servers, buses and tracers of these tests are those of Linux."""


@pytest.fixture
def display(draws_on_x: None) -> Iterator[Display]:
    with (
        tempfile.TemporaryDirectory(prefix="desk") as folder,  # a short path: sockets need one
        displays.display(Path(folder)) as made,
    ):
        yield made


@pytest.fixture
def bus(display: Display) -> Iterator[Bus]:
    """A bus with the service for screen readers."""
    from tests.desktop.real import reader as readers

    with readers.bus(display.folder, display.environment) as made:
        yield made


@pytest.fixture
def reader(bus: Bus) -> Iterator[Reader]:
    """A screen reader that listens already."""
    from tests.desktop.real import reader as readers

    with readers.reader(bus) as made:
        yield made


@pytest.fixture
def start(display: Display, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Start]:
    """Start the program for a stage; where the test failed, its last picture is kept.

    The program shows itself on the bus where the test has one.
    """
    heard: dict[str, str] = {}
    if "bus" in request.fixturenames:
        heard = request.getfixturevalue("bus").environment
    failed = request.session.testsfailed
    with contextlib.ExitStack() as stack:

        def starts(stage: Stage, *arguments: object, guard: float | None = None, **environment: str) -> Window:
            around = {**heard, **environment}
            return stack.enter_context(window(display, stage.home, *arguments, environment=around, guard=guard))

        yield starts
        if request.session.testsfailed > failed:
            display.shoot(tmp_path / "screen.png")
