"""Where a keeper allows or refuses a request: what it asks for, whose keys answer, and where the answer goes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, Label, Static

from harness.vault.records import MOST_WORDS
from rosetta_tui.toolkit.content import show
from rosetta_tui.toolkit.dialogs.acting import ActingScreen, typed_line
from rosetta_tui.toolkit.dialogs.choose import confirm
from rosetta_tui.vault.answers import AskedRequest, give_answer


class AnswerScreen(ActingScreen[str]):
    """Gives what was done, in words; None where the person went back. Each answer is asked for a second time."""

    CSS_PATH = "vault.tcss"
    acting = "Answering …"

    def __init__(self, asked: AskedRequest) -> None:
        super().__init__()
        self._asked = asked

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog -wide", id="answering", can_focus=False):
            yield Static(Content.styled("Do you allow this, once?", "bold"))
            with VerticalScroll(id="asking"):
                yield Static(show(self._asked.asks))
                for name, words in self._asked.facts:
                    with Horizontal(classes="fact"):
                        yield Label(show(name))
                        yield Static(show(words))
            yield Static(id="said")
            yield from typed_line("Keys", "keys", "this computer's keeper, or name a file of keys")
            yield from typed_line(
                "Reason", "reason", "why you refuse; the log keeps it, so name nobody", MOST_WORDS
            )
            if not self._asked.here:
                yield from typed_line("The answer goes to", "target", "NAME.rosetta-answer")
            with Horizontal(classes="answers"):
                yield Button("Allow", id="allow")
                yield Button("Refuse", id="refuse")
                yield Button("Back (esc)", id="back")

    def on_mount(self) -> None:
        if not self._asked.here:
            self.query_one("#target", Input).value = str(self._asked.proposal)
        self.query_one("#back").focus()

    def _typed(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value.strip()

    @on(Button.Pressed, "#allow")
    def _allow(self) -> None:
        if self._complete(allowed=True):
            until = self._asked.request.expires
            message = f"You allow it, once, until {until}. A refusal takes that back, as long as it was not used."
            self._ask(self._asked.asks, message, "Allow it", allowed=True)

    @on(Button.Pressed, "#refuse")
    def _refuse(self) -> None:
        if self._complete(allowed=False):
            message = "The log keeps your reason for ever. What you allowed before does not count any more."
            self._ask(
                f"You refuse it: {self._typed('reason')}", message, "Refuse it", allowed=False
            )

    def _complete(self, *, allowed: bool) -> bool:
        """Return whether nothing is missing; else say what, and go there."""
        missing = ""
        if not allowed and not self._typed("reason"):
            missing = "reason"
        elif not self._asked.here and not self._typed("target"):
            missing = "target"
        words = {"reason": "Say why you refuse.", "target": "Name the file for the answer."}
        self.say(words.get(missing, ""), "$bad")
        if missing:
            self.query_one(f"#{missing}").focus()
        return not missing

    def _ask(self, question: str, said: str, yes: str, *, allowed: bool) -> None:
        words = Content.assemble(show(question, "bold"), "\n\n", show(said))
        confirm(self.app, words, yes, partial(self._answer, allowed=allowed))

    def _answer(self, *, allowed: bool) -> None:
        keys, target = self._typed("keys"), "" if self._asked.here else self._typed("target")
        work = partial(
            give_answer,
            self._asked,
            allowed=allowed,
            reason="" if allowed else self._typed("reason"),
            keys=Path(keys).expanduser() if keys else None,
            target=Path(target).expanduser(),
        )
        self.act(work)
