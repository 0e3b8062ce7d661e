"""What Textual keeps to itself is touched here and in the driver of the terminal, with the reason for each line."""

from __future__ import annotations

import re
import sys

from rich import _wrap
from rich.text import Text
from textual import constants
from textual.app import App
from textual.driver import Driver

from rosetta_tui.crash import crash_text


class TerminalApp(App[None]):
    """An app that leaves in order when its terminal vanishes, and fails without printing what it worked on.

    What it worked on may be secret.
    """

    def get_driver_class(self) -> type[Driver]:
        """Watch the terminal where the system has signals; elsewhere Textual's own driver does."""
        if constants.DRIVER is not None or sys.platform == "win32":
            return super().get_driver_class()
        from rosetta_tui.terminal_driver import TerminalDriver

        return TerminalDriver

    async def leave_at_once(self, code: int) -> None:
        """End without asking: there is nobody any more who could answer."""
        self.exit(return_code=code)

    def _fatal_error(self) -> None:
        # Textual's own prints every local variable, and there is no public way to turn that off.
        self.bell()
        self.panic(Text(crash_text(sys.exception())))


_WORD = re.compile(r"[^\S\u00a0\u202f]*(?:\S|[\u00a0\u202f])+[^\S\u00a0\u202f]*")


def hold_no_break_spaces() -> None:
    """Let no line break at a no-break space: in French it would begin with the sign that ends the one before."""
    # Textual breaks lines with Rich's pattern of a word, which takes every space for one that breaks.
    _wrap.re_word = _WORD
