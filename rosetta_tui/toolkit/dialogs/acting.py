"""A dialog that stays until its act is done, and shows what is wrong where it can be fixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Generic

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Button, Input, Label, Static

from rosetta_tui.toolkit.background import Answer, AnsweringScreen, in_thread
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.form.suggesting_line import Harmless


class ActingScreen(AnsweringScreen[Answer | None], Generic[Answer]):
    """Gives what became of its act, None where the person went back; has a line ``#said`` and a button ``#back``."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back")]

    acting: ClassVar[str]  # what is said while it acts

    def say(self, words: str, style: str = "$quiet") -> None:
        """Show something below what is typed."""
        self.query_one("#said", Static).update(show(words, style))

    def act(self, work: Callable[[], Answer]) -> None:
        """Run ``work`` in a thread; until it is done no button counts, and nothing is done a second time."""
        if not self._acts:
            self._rest(self.acting, acts=True)
            in_thread(self, "act", work, self.answer, self._cannot)

    @property
    def _acts(self) -> bool:
        return self.query_one("#back", Button).disabled

    def _cannot(self, why: str) -> None:
        self._rest(why, "$bad", acts=False)

    def _rest(self, words: str, style: str = "$quiet", *, acts: bool) -> None:
        self.say(words, style)
        for button in self.query(Button):
            button.disabled = acts

    @on(Button.Pressed, "#back")
    def action_leave(self) -> None:
        """Close the dialog unless it acts; nothing was done."""
        if not self._acts:
            self.answer(None)


def typed_line(label: str, name: str, placeholder: str, most: int = 0) -> ComposeResult:
    """Yield a line to type in under a name, of at most that many characters; 0: any number."""
    with Horizontal(classes="setting"):
        yield Label(label)
        yield Input(id=name, placeholder=placeholder, highlighter=Harmless(), select_on_focus=False, max_length=most)  # fmt: skip
