"""The exit code of a run tells how it ended, whoever asked it to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.core.run_state import RunState
from harness.events.control import Control
from harness.events.kinds import Finished
from rosetta_tui.app.showing import _exit_code

STOPPED = Finished("0f3b8c1e", RunState.STOPPED, 3, 0, 9, 1.0)
HALTED = Finished("0f3b8c1e", RunState.STOPPED, 3, 0, 9, 1.0, reason="The budget is used up.")
COMPLETE = Finished("0f3b8c1e", RunState.COMPLETE, 9, 0, 9, 1.0, card_hash="ab")


@pytest.mark.parametrize(
    ("finished", "wish", "interrupted", "code"),
    [
        (COMPLETE, Control.stop, False, 0),
        (COMPLETE, Control.drain, True, 0),
        (STOPPED, Control.drain, False, 130),
        (STOPPED, Control.stop, False, 130),
        (STOPPED, Control.pause, False, 1),
        (HALTED, Control.drain, False, 1),
        (HALTED, Control.drain, True, 130),
    ],
)
def test_each_end_has_its_code(
    finished: Finished, wish: Callable[[Control], None], interrupted: bool, code: int
) -> None:
    control = Control()
    wish(control)
    assert _exit_code(finished, control, interrupted) == code
