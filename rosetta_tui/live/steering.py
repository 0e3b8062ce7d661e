"""Steering a run from its screen: pause, most calls at once, drain, stop; each says what it does.

A run of this process is steered by its control, one of another by the store, whose answer is shown when it comes.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Protocol

from textual.content import Content
from textual.screen import Screen

from harness.core.run_state import RunState
from harness.events.control import Control
from harness.events.steering import Wish, ask, done
from rosetta_tui.live.concurrency import ConcurrencyScreen
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.dialogs.confirm import ConfirmScreen


class Helm(Protocol):
    """A way to steer one run."""

    def paused(self, shown: RunState) -> bool:
        """Tell whether the run is paused; ``shown`` is what the screen knows of it."""
        ...

    def wish(self, screen: Screen[Any], wish: Wish, calls: int | None = None) -> None:
        """Ask the run for something; what comes of it is said on the screen."""
        ...


class Here:
    """Steers a run of this process."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def paused(self, shown: RunState) -> bool:  # noqa: ARG002  the control knows it first
        """Tell whether the run is paused."""
        return self._control.state is RunState.PAUSED

    def wish(self, screen: Screen[Any], wish: Wish, calls: int | None = None) -> None:
        """Do it, and say what holds then."""
        screen.notify(done(self._control, wish, calls), markup=False)


class There:
    """Steers a run of another process of this machine, through the store."""

    def __init__(self, path: Path, run_id: str) -> None:
        self._path = path
        self._run_id = run_id

    def paused(self, shown: RunState) -> bool:
        """Tell whether the run is paused, as far as the screen knows."""
        return shown is RunState.PAUSED

    def wish(self, screen: Screen[Any], wish: Wish, calls: int | None = None) -> None:
        """Write it down for the process that is at the run, wait in a thread for its answer, and say that."""
        screen.notify("Asking the terminal that runs it …", timeout=2, markup=False)
        work = partial(ask, self._path, self._run_id, wish, calls)
        cannot = telling(screen, "Not steered")
        said = partial(screen.notify, markup=False)
        in_thread(screen, "steer", work, lambda words: said(plain(words)), cannot, exclusive=False)


def limit(screen: Screen[Any], helm: Helm, most: int) -> None:
    """Ask how many calls may be under way at once; ``most`` is what holds now."""

    def chosen(calls: int | None) -> None:
        if calls is not None:
            helm.wish(screen, Wish.LIMIT, calls)

    screen.app.push_screen(ConcurrencyScreen(most), chosen)


def drain(screen: Screen[Any], helm: Helm) -> None:
    """Finish what is under way, start nothing more."""
    helm.wish(screen, Wish.DRAIN)


def stop(screen: Screen[Any], helm: Helm) -> None:
    """Break off what is under way, after a question."""

    def answered(agreed: bool | None) -> None:
        if agreed:
            helm.wish(screen, Wish.STOP)

    question = Content.assemble(
        ("Stop the run now?\n\n", "bold"),
        "Nothing that is done is lost: every finished entry is stored.\n"
        "Calls under way are broken off and asked again when the run goes on.",
    )
    screen.app.push_screen(ConfirmScreen(question, "Stop"), answered)
