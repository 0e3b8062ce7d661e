"""Dialogs of the settings: one text, path or secret, examined before it is taken, or another key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widgets import Button, Input, Static

from harness.core.failures import UsageError
from rosetta_tui.show.key_names import key_name
from rosetta_tui.toolkit.content import show, show_lines
from rosetta_tui.toolkit.customization import KEPT
from rosetta_tui.toolkit.dialogs.choose import answers
from rosetta_tui.toolkit.form.file_choice import FileChoice

Check = Callable[[str], str | None]
"""Says what is wrong with what was typed and the fix; None where nothing is."""

Looked = TypeVar("Looked")


def trouble_with(look: Callable[[Looked], object], at: Looked) -> str | None:
    """Return the words of the UsageError that looking at something raises; None where it raises none."""
    try:
        look(at)
    except UsageError as error:
        return str(error)
    return None


class AskSettingScreen(ModalScreen[str | None]):
    """Gives what was typed, without spaces around it; None where nothing was changed."""

    CSS_PATH = "settings.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back"),
        Binding("ctrl+s", "save", "Save", priority=True),
    ]

    def __init__(
        self, title: str, about: str, check: Check, *, now: str = "", hidden: bool = False, files: Sequence[str] | None = None
    ) -> None:  # fmt: skip
        """Initialise with the question ``title``; ``hidden`` shows no letter, ``files`` lists files of these endings and folders."""
        super().__init__()
        self._title = title
        self._about = about
        self._check = check
        self._now = now
        self._hidden = hidden
        self._files = files

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -wide", id="asking"):
            yield Static(show(self._title, "bold"))
            if self._files is None:
                yield Input(self._now, password=self._hidden, id="asked")
            else:
                yield FileChoice("path", self._files, id="asked")
            yield Static(id="trouble")
            yield Static(show_lines(self._about, "$quiet"))
            yield from answers("Save (enter)", "save")

    def on_mount(self) -> None:
        self.query_one("#trouble").display = False
        self.field.value = self._now
        self.field.focus()

    @property
    def field(self) -> Input:
        """Where it is typed."""
        asked = self.query_one("#asked")
        return asked.input if isinstance(asked, FileChoice) else self.query_one("#asked", Input)

    @on(Input.Submitted)
    @on(Button.Pressed, "#save")
    def action_save(self) -> None:
        typed = self.field.value.strip()
        if (wrong := self._check(typed)) is None:
            self.dismiss(typed)
            return
        line = self.query_one("#trouble", Static)
        line.display = True
        line.update(show_lines(wrong, "$bad"))
        self.field.focus()

    @on(Button.Pressed, "#back")
    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss(None)


def ask_setting(screen: Screen[Any], title: str, about: str, check: Check, then: Callable[[str], object], **how: Any) -> None:  # fmt: skip
    """Prompt as ``AskSettingScreen`` does, and act where something was given."""

    def given(typed: str | None) -> None:
        if typed is not None:
            then(typed)

    screen.app.push_screen(AskSettingScreen(title, about, check, **how), given)


class PressKeyScreen(ModalScreen[str | None]):
    """Gives the name of the key that was pressed, None for escape; a key that is taken is refused."""

    def __init__(self, act: str, now: str, taken: Check) -> None:
        """Initialise with what ``taken`` says a key does already where it would be pressed."""
        super().__init__()
        self._act = act
        self._now = now
        self._taken = taken

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Content.assemble(("Press the key for ", "bold"), show(self._act, "bold $mark")))
            yield Static(id="refused", classes="about")
            yield Static(show(f"now: {self._now} · esc goes back", "$quiet"))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss(None)
        elif event.key in KEPT:
            self._refuse(f"{key_name(event.key)} always keeps its meaning.")
        elif (what := self._taken(event.key)) is not None:
            self._refuse(f"{key_name(event.key)} is taken: {what}.")
        else:
            self.dismiss(event.key)

    def _refuse(self, why: str) -> None:
        self.query_one("#refused", Static).update(show(f"{why} Press another.", "$warn"))
