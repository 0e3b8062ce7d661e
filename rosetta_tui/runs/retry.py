"""Asking again for the failed entries of a run: as it was, or with other settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, Static

from harness.core.failures import UsageError
from harness.method.takes import asks
from rosetta_tui.request.option_words import beside_field
from rosetta_tui.show import figures
from rosetta_tui.show.text import plain
from rosetta_tui.toolkit.content import show

SETTINGS = {
    "model": "model",
    "endpoint": "endpoint",
    "temperature": "temperature",
    "max_tokens": "most output tokens",
    "timeout_seconds": "seconds for a call",
    "most_attempts": "tries of an entry",
    "concurrency": "calls at once",
    "budget_usd": "budget in US dollars",
}
"""Fields of the plan that can be told otherwise here, in words; ``rosetta retry`` takes the others too."""

SAME_AGAIN = "\n\nIts method asks nobody: what comes is the same again, unless the file that it reads was changed."


def settings_of(plan: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of a run's plan as they stand in the form; none for a method that asks nobody."""

    if not asks(plan["method"]):
        return {}
    fields = {**plan.get("options", {}), **plan.get("run", {})}
    return {name: _shown(fields.get(name)) for name in SETTINGS}


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.12g}" if isinstance(value, float) else f"{value}"


Check = Callable[[Mapping[str, Any]], object]
"""Looks at what is to be other; raises UsageError where it cannot be."""


class RetryScreen(ModalScreen[dict[str, Any] | None]):
    """Gives what is to be other than before, by field of the plan; None where nothing is to be asked."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back")]

    def __init__(
        self, run: str, failed: int, kept: int, before: Mapping[str, str], check: Check
    ) -> None:
        super().__init__()
        self._check = check
        self._run = run
        self._failed = failed
        self._kept = kept
        self._before = {name: plain(value) for name, value in before.items()}

    def compose(self) -> ComposeResult:
        """Lay out what will happen and the settings, with those of the run in them."""
        entries = "entry" if self._failed == 1 else "entries"
        with VerticalScroll(classes="dialog"):
            yield Static(
                Content.assemble(
                    (f"Ask again for {figures.count(self._failed)} failed {entries}\n", "bold"),
                    show(self._run, "$quiet"),
                    f"\n\nThe result is a new run; it keeps the {figures.count(self._kept)} other outputs "
                    "and says that it is a second try.",
                    "" if self._before else SAME_AGAIN,
                )
            )
            with Horizontal(classes="answers -first"):
                yield Button(Content("Ask again (enter)"), id="ask")
                yield Button(Content("Back (esc)"), id="back")
            yield Static(id="said")
            for name in self._before:
                with Horizontal(classes="setting"):
                    yield Label(Content(SETTINGS[name]))
                    yield Input(self._before[name], id=name, compact=True)

    def on_mount(self) -> None:
        """Begin at the answer: most often nothing is to be changed."""
        self.query_one("#said").display = False
        self.query_one("#ask").focus()

    @property
    def changes(self) -> dict[str, Any]:
        """What is other than before; an emptied field means: none."""
        now = {name: self.query_one(f"#{name}", Input).value.strip() for name in self._before}
        return {name: value or None for name, value in now.items() if value != self._before[name]}

    @on(Input.Changed)
    def _typed(self) -> None:
        """Take back what was said of another value."""
        self.query_one("#said").display = False

    @on(Button.Pressed, "#ask")
    @on(Input.Submitted)
    def _ask(self) -> None:
        """Go on; what cannot be is said here, where it can be mended."""

        changes = self.changes
        try:
            self._check(changes)
        except UsageError as error:
            said = self.query_one("#said", Static)
            said.display = True
            said.update(show(_beside(str(error)), "$warn"))
        else:
            self.dismiss(changes)

    @on(Button.Pressed, "#back")
    def action_leave(self) -> None:
        """Ask for nothing."""
        self.dismiss(None)


def _beside(words: str) -> str:
    """Name a setting as the form does."""
    name = words.removeprefix("Options: field '").partition("'")[0].partition(".")[0]
    return f"{SETTINGS[name]}: {beside_field(words)}" if name in SETTINGS else words
