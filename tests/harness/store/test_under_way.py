"""A run counts as under way only while a process gives signs of life."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.core.run_state import RunState
from harness.setup.plan import Plan
from harness.store.runs import SILENT_SECONDS, Run, under_way
from tests.harness.evaluation import LANGUAGES, corpus, kept, run_corpus


@pytest.fixture
def run(store_path: Path) -> Run:
    run_corpus(
        store_path, corpus(2), Plan.model_validate({"method": "copy-source", "options": LANGUAGES})
    )
    return kept(store_path).run


@pytest.mark.parametrize(
    ("state", "age", "expected"),
    [
        (RunState.RUNNING, 0.0, True),
        (RunState.PAUSED, SILENT_SECONDS - 2, True),
        (RunState.DRAINING, 0.0, True),
        (RunState.RUNNING, SILENT_SECONDS + 1, False),
        (RunState.PAUSED, 3600.0, False),
        (RunState.RUNNING, -3600.0, False),
        (RunState.RUNNING, None, False),
        (RunState.STOPPED, 0.0, False),
        (RunState.COMPLETE, 0.0, False),
    ],
)
def test_state_and_heartbeat_tell_together(
    run: Run, state: RunState, age: float | None, expected: bool
) -> None:
    live: dict[str, Any] | None = None if age is None else {"at": time.time() - age}
    assert under_way(replace(run, state=state, live=live)) is expected
