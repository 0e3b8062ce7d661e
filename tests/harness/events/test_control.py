"""Wishes from any thread, in their order of severity."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from harness.core.run_state import RunState
from harness.events.control import Control

WISHES: dict[str, Callable[[Control], None]] = {
    "pause": Control.pause,
    "go_on": Control.go_on,
    "drain": Control.drain,
    "stop": Control.stop,
}


@pytest.mark.parametrize(
    ("wishes", "state"),
    [
        ("", RunState.RUNNING),
        ("pause", RunState.PAUSED),
        ("pause go_on", RunState.RUNNING),
        ("go_on", RunState.RUNNING),
        ("drain", RunState.DRAINING),
        ("drain go_on", RunState.DRAINING),
        ("drain pause", RunState.DRAINING),
        ("pause drain", RunState.DRAINING),
        ("drain stop", RunState.STOPPED),
        ("stop drain", RunState.STOPPED),
        ("stop go_on", RunState.STOPPED),
        ("pause stop pause", RunState.STOPPED),
    ],
)
def test_severity(wishes: str, state: RunState) -> None:
    control = Control()
    for wish in wishes.split():
        WISHES[wish](control)
    assert control.state is state


def test_the_listener_hears_changes_only() -> None:
    heard: list[RunState] = []
    control = Control()
    control.listen(lambda: heard.append(control.state))
    for wish in ["pause", "pause", "go_on", "go_on", "drain", "drain", "stop", "stop"]:
        WISHES[wish](control)
    assert heard == [RunState.PAUSED, RunState.RUNNING, RunState.DRAINING, RunState.STOPPED]


def test_the_limit_is_at_least_one() -> None:
    control = Control()
    assert control.most_concurrency is None
    control.limit(0)
    assert control.most_concurrency == 1


def test_a_signal_in_the_middle_of_a_wish_cannot_block_for_ever() -> None:
    """Python runs signal handlers between any two steps of the main thread, inside a lock too."""
    control = Control()

    def second_ctrl_c(*_: object) -> None:
        control.stop()

    before = signal.signal(signal.SIGUSR1, second_ctrl_c)
    try:
        with control._lock:
            os.kill(os.getpid(), signal.SIGUSR1)
            while control.state is not RunState.STOPPED:
                pass
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert control.state is RunState.STOPPED
