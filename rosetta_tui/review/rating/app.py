"""The review mode as an app of its own: nothing in it but the pages for one reviewer."""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.worker import Worker, WorkerState

from harness.core.failures import HarnessError
from rosetta_tui.review.rating.opening import TerminalOpening
from rosetta_tui.review.rating.pages.judging import JudgingScreen
from rosetta_tui.review.rating.visit import sit
from rosetta_tui.toolkit.textual_inside import TerminalApp
from rosetta_tui.toolkit.theme import ANSI_COLOURS, THEMES

INTERRUPTED = 130
_THEME = "theme"
"""Name of the setting in which the colours are remembered."""


def run_review(opening: TerminalOpening) -> int:
    """Let a person review until they stop; gives the exit code. Everything is on the disk all the time."""
    app = ReviewApp(opening)
    app.run()
    return app.return_code or 0


class ReviewApp(TerminalApp):
    """Begins with the list of reviews and ends when the person stops."""

    TITLE = "Rosetta"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "colours", show=False),
        Binding("ctrl+q", "stop(0)", show=False),
        Binding("ctrl+c", f"stop({INTERRUPTED})", show=False),
    ]

    def __init__(self, opening: TerminalOpening) -> None:
        super().__init__()
        self._opening = opening
        for name in set(self.available_themes) - {"ansi-dark", "ansi-light"}:
            self.unregister_theme(name)
        for theme in THEMES:
            self.register_theme(theme)
        remembered = opening.laptop.setting(_THEME)
        self.theme = remembered if remembered in self.available_themes else THEMES[0].name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Let the terminal's own colours stand in where a theme has none of ours."""
        return ANSI_COLOURS

    def on_mount(self) -> None:
        """Open the first page."""
        self.run_worker(sit(self, self._opening), name="sit")

    def on_worker_state_changed(self, message: Worker.StateChanged) -> None:
        """Leave when the person stopped."""
        if message.worker.name == "sit" and message.state is WorkerState.SUCCESS:
            self.exit()

    def action_colours(self) -> None:
        """Take the next colours, and remember them."""
        names = [theme.name for theme in THEMES]
        at = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(at + 1) % len(names)]
        self.run_worker(self._remember_colours, thread=True, group="colours")

    def _remember_colours(self) -> None:
        with suppress(HarnessError):  # they hold for now
            self._opening.laptop.set_setting(_THEME, self.theme)

    async def leave_at_once(self, code: int) -> None:
        """Keep what is being typed, as when the person leaves."""
        await self.action_stop(code)

    async def action_stop(self, code: int) -> None:
        """Leave at once; what is being typed is kept first."""
        if isinstance(self.screen, JudgingScreen):
            await self.screen.keep_what_is_typed()
        self.exit(return_code=code)
