"""What holds for all tests."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import settings

from harness import privacy
from harness.endpoint import offline
from harness.endpoint.limiter import RetryPolicy

settings.register_profile("rosetta", deadline=None)  # a busy machine is no fault of the program
settings.load_profile("rosetta")

_doors: list[offline.Hook] = []
"""The hook of the door of the test under way: a door that was shut once stays shut."""


def _ask_door(event: str, arguments: tuple[Any, ...]) -> None:
    for hook in _doors:
        hook(event, arguments)


sys.addaudithook(_ask_door)
offline.shut, offline.why = offline.door(_doors.append)  # for what fixtures of modules do


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked as thorough, unless the environment says ROSETTA_THOROUGH=1."""
    if os.environ.get("ROSETTA_THOROUGH") == "1":
        return
    skip = pytest.mark.skip(reason="runs in `make check-thorough` (ROSETTA_THOROUGH=1)")
    for item in items:
        if item.get_closest_marker("thorough"):
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def own_door(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give each test a door of its own, which is open."""
    _doors.clear()
    made = offline.door(_doors.append)
    monkeypatch.setattr(offline, "shut", made.shut)
    monkeypatch.setattr(offline, "why", made.why)
    monkeypatch.setattr(privacy, "quieten", lambda: None)  # for good, as the door
    yield
    _doors.clear()


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let calls be tried again at once: for tests of what is said when no try reaches anybody."""
    monkeypatch.setattr(RetryPolicy, "wait", _at_once(RetryPolicy.wait))


def _at_once(wait: Callable[..., float | None]) -> Callable[..., float | None]:
    return lambda *told: None if wait(*told) is None else 0.0


def _can_draw() -> bool:
    """Tell whether Qt is installed and finds the libraries of the system that it needs."""
    try:
        import PySide6.QtWidgets  # noqa: F401
    except ImportError:
        return False
    return True


pytest_plugins = ["pytestqt.plugin"] if _can_draw() else []
"""Switched off by itself in pyproject.toml, because it ends every run where Qt is not there."""
