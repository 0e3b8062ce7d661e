"""Steering a run from its screen: pause, most calls at once, drain, stop; each says what it does."""

from __future__ import annotations

from typing import Any

from textual.content import Content
from textual.screen import Screen

from harness.control import Control
from harness.events import RunState
from rosetta_tui.screens.concurrency import ConcurrencyScreen
from rosetta_tui.screens.confirm import ConfirmScreen
from scoring.wording import counted


def pause(screen: Screen[Any], control: Control) -> None:
    """Start no further entries, or go on."""
    if control.state is RunState.PAUSED:
        control.go_on()
        screen.notify("Going on.", markup=False)
    else:
        control.pause()
        screen.notify("Paused: what is under way is finished. Space goes on.", markup=False)


def limit(screen: Screen[Any], control: Control, most: int) -> None:
    """Ask how many calls may be under way at once; ``most`` is what holds where nobody limited them."""

    def chosen(calls: int | None) -> None:
        if calls is not None:
            control.limit(calls)
            screen.notify(f"At most {counted(calls, 'call')} at once.", markup=False)

    screen.app.push_screen(ConcurrencyScreen(control.most_concurrency or most), chosen)


def drain(screen: Screen[Any], control: Control) -> None:
    """Finish what is under way, start nothing more."""
    control.drain()
    screen.notify(
        "Draining: what is under way is finished and stored, nothing more is started.", markup=False
    )


def stop(screen: Screen[Any], control: Control) -> None:
    """Break off what is under way, after a question."""

    def answered(agreed: bool | None) -> None:
        if agreed:
            control.stop()

    question = Content.assemble(
        ("Stop the run now?\n\n", "bold"),
        "Nothing that is done is lost: every finished entry is stored.\n"
        "Calls under way are broken off and asked again when the run goes on.",
    )
    screen.app.push_screen(ConfirmScreen(question, "Stop"), answered)
