"""Going on with a run that stopped: whether failed entries are asked for again, and with which budget."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Checkbox, Input, Label, Static

from harness.run.total_failure import unconnected_words
from rosetta_tui.show import figures
from rosetta_tui.toolkit.content import show
from scoring.core.wording import counted

NOT_A_NUMBER = "A budget is a number above 0, such as 0.45."
NO_LIMIT = "Empty is no limit: it may cost anything. Enter once more goes on so."


@dataclass(frozen=True, slots=True)
class Stop:
    """What is known of a run that stopped."""

    run_id: str
    name: str
    waiting: int
    """Entries that were not asked for, or not to the end."""
    failed: int
    budget_usd: float | None
    spent_usd: float
    reason: str = ""
    """Why it stopped, where that is known."""
    unconnected: int = 0
    """Of the failed entries those that failed for want of a connection."""

    @property
    def asks(self) -> bool:
        """Whether there is anything to ask a person before it goes on."""
        return self.failed > 0 or self.budget_usd is not None


@dataclass(frozen=True, slots=True)
class GoOn:
    """How a run goes on."""

    options: dict[str, Any]
    """Fields of the run's options that are to be other than before."""
    retry_failed: bool


class GoOnScreen(ModalScreen[GoOn | None]):
    """Gives how the run goes on; None where it does not."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back")]

    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self._stop = stop
        self._no_limit = False
        """True once it was said that an empty budget is none at all."""

    def compose(self) -> ComposeResult:
        """Lay out why it stopped, what can be answered otherwise, and the answers."""
        stop = self._stop
        with VerticalScroll(classes="dialog"):
            yield Static(_words(stop))
            if stop.failed:
                yield Checkbox(Content(_failed_too(stop.failed)), True, id="failed", compact=True)
            if stop.budget_usd is not None:
                with Horizontal(classes="setting"):
                    yield Label(Content("budget in US dollars"))
                    yield Input(_shown(stop.budget_usd), id="budget", compact=True)
                yield Static(Content(""), id="wrong")
            with Horizontal(classes="answers"):
                yield Button(Content("Go on (enter)"), id="go")
                yield Button(Content("Back (esc)"), id="back")

    def on_mount(self) -> None:
        """Begin where most answers are given: at the budget that stopped it, else at going on."""
        self.query_one("#budget" if self._stop.budget_usd is not None else "#go").focus()

    @on(Button.Pressed, "#go")
    @on(Input.Submitted)
    def _go(self) -> None:
        options: dict[str, Any] = {}
        if self._stop.budget_usd is not None:
            typed = self.query_one("#budget", Input).value.strip()
            budget = _amount(typed)
            if budget is None and (typed or not self._no_limit):
                self._no_limit = not typed
                self._say(NOT_A_NUMBER if typed else NO_LIMIT)
                return
            if typed != _shown(self._stop.budget_usd):
                options["budget_usd"] = budget
        failed = bool(self._stop.failed) and self.query_one("#failed", Checkbox).value
        if self._stop.unconnected:
            options["keep_failed"] = not failed
        self.dismiss(GoOn(options, failed))

    @on(Input.Changed, "#budget")
    def _typed(self) -> None:
        """Take back what was said of another value."""
        self._no_limit = False
        self._say("")

    def _say(self, words: str) -> None:
        self.query_one("#wrong", Static).update(Content.styled(words, "$bad"))

    @on(Button.Pressed, "#back")
    def action_leave(self) -> None:
        """Leave the run as it is."""
        self.dismiss(None)


def _words(stop: Stop) -> Content:
    waiting = counted(stop.waiting, "entry waits", "entries wait")
    parts: list[Content | str | tuple[str, str]] = [
        ("Go on with this run?\n", "bold"),
        show(stop.name, "$quiet"),
        "\n\n",
    ]
    if stop.reason:
        parts += [show(stop.reason, "$warn"), "\n"]
    parts.append(f"{waiting}. No answer that is stored is asked for again.")
    if stop.unconnected:
        parts.append(f"\n{unconnected_words(stop.unconnected)} where they are not asked for again.")
    if stop.budget_usd is not None:
        spent = figures.money(stop.spent_usd) if stop.spent_usd else "Nothing"
        parts.append(
            f"\n{spent} of the budget of {figures.money(stop.budget_usd)} is spent. A run stops before a "
            "call that could pass its budget: raise it here; empty is no limit."
        )
    return Content.assemble(*parts, "\n")


def _failed_too(failed: int) -> str:
    if failed == 1:
        return "ask again for the failed entry too"
    return f"ask again for the {figures.count(failed)} failed entries too"


def _shown(budget: float) -> str:
    return f"{budget:g}" if float(f"{budget:g}") == budget else repr(budget)


def _amount(typed: str) -> float | None:
    """Read a sum of money above 0, None where it is none."""
    if not re.fullmatch(r"[0-9]*\.?[0-9]+", typed, re.ASCII):
        return None
    found = float(typed)
    return found if 0 < found < float("inf") else None
