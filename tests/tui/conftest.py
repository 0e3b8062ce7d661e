"""What holds for the tests of the app."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tui.scenes import SET_UP


@pytest.fixture(autouse=True)
def scenes_are_closed() -> Iterator[None]:
    """Close the scenes that a test has set up, whatever became of it."""
    before = len(SET_UP)  # those of a whole module
    yield
    while len(SET_UP) > before:
        SET_UP.pop().close()


@pytest.fixture(autouse=True)
def heartbeats_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a run of a scene live to the end of its test; one whose process is lost was heard of an hour ago."""
    monkeypatch.setattr("harness.store.runs.SILENT_SECONDS", 1800.0)
