"""A data folder of its own, a sealed run in its store, and its office."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from review.log.event import read_event
from review.office.store.store import Office
from review.session.opening import Opening
from tests.review.closing import all_closed
from tests.review.verdict.certified import fewer_draws, worked_out_once
from tests.tui.review.gated import go, sealed_run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    return tmp_path / "home"


@pytest.fixture
def card(home: Path) -> dict[str, Any]:
    """A sealed run in the store whose automatic tier is fluent."""
    return sealed_run(home)


@pytest.fixture
def office(home: Path) -> Iterator[Office]:
    with Office.open(home) as opened:
        yield opened


_read_once = lru_cache(4096)(read_event)


@pytest.fixture(autouse=True)
def events_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check an event against itself once: each command reads the whole log several times."""
    for module in ("log.table", "office.intake.importing", "verdict.certificate.evidence"):
        monkeypatch.setattr(f"review.{module}.read_event", _read_once)


@pytest.fixture(autouse=True)
def sticks_are_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let folders of these names count as sticks: nothing is plugged into a machine that runs tests."""
    monkeypatch.setattr(Opening, "on_stick", lambda _, folder: bool({"stick", "kle"} & {*Path(folder).parts}))


__all__ = ["all_closed", "fewer_draws", "go", "worked_out_once"]
