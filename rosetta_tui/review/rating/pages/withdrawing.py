"""Taking back what was given: how much, what that means, and one more key before it is done."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.widgets import Static

from review.log.payloads import Scope
from review.session.words import page as page_words
from review.session.words.catalogue import Words
from review.session.words.item import Answer
from review.session.words.keys import KEYS, Act, act_of, scope_of
from review.session.words.labels import scope_label
from rosetta_tui.review.rating.parts.choices import Choices
from rosetta_tui.review.rating.parts.key_line import Hint, RatingKeyLine
from rosetta_tui.review.rating.parts.page import Page, paragraph
from rosetta_tui.review.rating.parts.render import told
from rosetta_tui.review.rating.parts.typed import typed


class WithdrawPage(Page[Scope]):
    """Gives how much is to be taken back, None for nothing."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self._scope: Scope | None = None

    def place(self) -> str:
        """Say where the person is."""
        return self.words("Take back")

    def body(self) -> ComposeResult:
        """Lay out what it means, and how much."""
        words = self.words
        said = page_words.take_back(words)
        yield from map(paragraph, (said.first, *said.rest))
        yield paragraph(page_words.what_to_take_back(words), "bold")
        yield Choices(
            [
                Answer(str(number), scope_label(words, scope))
                for number, scope in enumerate(Scope, 1)
            ],
            id="scopes",
        )
        yield Static(id="sure")

    def on_mount(self) -> None:
        """Ask."""
        self.query_one(Choices).ask(None)

    def hints(self) -> Sequence[Hint]:
        """Return the keys."""
        back = Hint(self.words("Esc"), self.words("keep everything"), "leave")
        if self._scope is None:
            return [back]
        return [Hint(KEYS[Act.WITHDRAW][0], self.words("erase it"), "erase"), back]

    def on_key(self, event: events.Key) -> None:
        """Choose, then do it."""
        character = typed(event)
        if act_of(character) is Act.WITHDRAW:
            event.stop()
            self.action_erase()
        elif (scope := scope_of(character)) is not None:
            event.stop()
            self._choose(scope)

    @on(Choices.Picked)
    def _picked(self, message: Choices.Picked) -> None:
        self._choose(list(Scope)[message.number])

    def _choose(self, scope: Scope) -> None:
        self._scope = scope
        self.query_one(Choices).ask(None, [list(Scope).index(scope)])
        sure = self.words(
            "This cannot be undone. Press {key} to erase it, or Esc to keep everything.",
            key=KEYS[Act.WITHDRAW][0],
        )
        self.query_one("#sure", Static).update(told(sure, "bold $warn"))
        self.query_one(RatingKeyLine).offer(self.hints())

    def action_erase(self) -> None:
        """Take back what was chosen."""
        if self._scope is not None:
            self.dismiss(self._scope)
