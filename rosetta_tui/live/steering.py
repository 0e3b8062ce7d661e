"""Steering a run from its screen: pause, calls at once, drain, stop; each says what it does.

A run of this process is steered by its control, one of another by the store, whose answer is shown when it comes.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.validation import Integer
from textual.widgets import Input, Static

from harness.core.failures import RunState
from harness.run.events import Control
from harness.run.following import ControlRequest, ask, done
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.background import in_thread, telling
from rosetta_tui.toolkit.dialogs.choose import confirm

MOST = 1024  # as on the command line


class ConcurrencyScreen(ModalScreen[int | None]):
    """Gives a ceiling from 1 to MOST, None where nothing was changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("up", "step(1)", "More"),
        Binding("down", "step(-1)", "Fewer"),
    ]

    def __init__(self, now: int) -> None:
        super().__init__()
        self._now = now

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content.styled("At most this many calls at once", "bold"))
            yield Input(str(self._now), type="integer", max_length=4, validators=[Integer(1, MOST)])
            yield Static(
                Content.styled(
                    f"1 to {MOST}. The run still goes slower on its own where the endpoint asks for it.\n"
                    "↑ more · ↓ fewer · enter applies · esc goes back",
                    "$quiet",
                )
            )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.validation_result is not None and event.validation_result.is_valid:
            self.dismiss(int(event.value))
        else:
            self.notify(f"Give a whole number from 1 to {MOST}.", severity="warning", markup=False)

    def action_step(self, by: int) -> None:
        field = self.query_one(Input)
        now = int(field.value) if field.value.isdecimal() else self._now
        field.value = str(max(1, min(MOST, now + by)))


class RunControl(Protocol):
    """A way to steer one run."""

    def paused(self, shown: RunState) -> bool:
        """Return whether the run is paused; ``shown`` is what the screen knows of it."""
        ...

    def wish(self, screen: Screen[Any], wish: ControlRequest, calls: int | None = None) -> None:
        """Request something of the run; what comes of it is said on the screen."""
        ...


class LocalRunControl:
    """Steers a run of this process."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def paused(self, shown: RunState) -> bool:  # noqa: ARG002  the control knows it first
        return self._control.state is RunState.PAUSED

    def wish(self, screen: Screen[Any], wish: ControlRequest, calls: int | None = None) -> None:
        """Apply the request, and show what holds then."""
        screen.notify(done(self._control, wish, calls), markup=False)


class RemoteRunControl:
    """Steers a run of another process of this machine, through the store."""

    def __init__(self, path: Path, run_id: str) -> None:
        self._path, self._run_id = path, run_id

    def paused(self, shown: RunState) -> bool:
        """Return whether the run is paused, as far as the screen knows."""
        return shown is RunState.PAUSED

    def wish(self, screen: Screen[Any], wish: ControlRequest, calls: int | None = None) -> None:
        """Write it down for the process that is at the run, wait in a thread for its answer, and say that."""
        screen.notify("Asking the terminal that runs it …", timeout=2, markup=False)
        work = partial(ask, self._path, self._run_id, wish, calls)
        cannot = telling(screen, "Not steered")
        notify = partial(screen.notify, markup=False)
        in_thread(screen, "steer", work, lambda words: notify(plain(words)), cannot, exclusive=False)


def steer(screen: Screen[Any], helm: RunControl, wish: ControlRequest, most: int) -> None:
    """Request something of a run, after asking how many calls (``most`` now) or whether to break off what is under way."""

    def chosen(calls: int | None) -> None:
        if calls is not None:
            helm.wish(screen, wish, calls)

    wished = partial(helm.wish, screen, wish)
    match wish:
        case ControlRequest.LIMIT:
            screen.app.push_screen(ConcurrencyScreen(most), chosen)
        case ControlRequest.STOP:
            question = Content.assemble(
                ("Stop the run now?\n\n", "bold"),
                "Nothing that is done is lost: every finished entry is stored.\n"
                "Calls under way are broken off and asked again when the run continues.",
            )
            confirm(screen.app, question, "Stop", wished)
        case _:
            wished()
