"""Pages between the items: a rest, what was left for later, and the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from review.session.view import Phase, View
from review.session.words import page as page_words
from review.session.words.catalogue import Words
from review.session.words.keys import KEYS, ONWARD_OF, Act, NextAction, act_of
from review.session.words.troubles import Trouble
from rosetta_tui.review.rating.pages.page import Hint, Page, paragraph, told, typed


def shares_or_not(words: Words, *, shares: bool) -> str:
    """Return what holds now of the better wordings, beside the key that changes it."""
    if shares:
        return words("my better translations may be used: yes")
    return words("my better translations may be used: no")


class PausePage(Page[NextAction]):
    """Shows a view without an item; gives where to go."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "onward('GO_ON')", show=False),
        Binding("escape", "onward('LEAVE')", show=False),
    ]

    def __init__(self, words: Words, view: View) -> None:
        gone = view.phase is Phase.WITHDRAWN
        place = words("Taken back") if gone else page_words.far(words, view)
        super().__init__(words, place, Trouble(view.trouble, view.detail))
        self._view = view

    def on_mount(self) -> None:
        self.query_one(".said", Static).update(told(self._view.said))

    def on_key(self, event: events.Key) -> None:
        onward = ONWARD_OF.get(act_of(typed(event)) or Act.SKIP)
        if onward is not None and (onward is not NextAction.UNDO or self._view.can_undo):
            event.stop()
            self.dismiss(onward)

    def action_onward(self, name: str) -> None:
        self.dismiss(NextAction[name])

    def _key(self, act: Act, words: str) -> Hint:
        return Hint(KEYS[act][0], words, f"onward('{ONWARD_OF[act].name}')")

    def _enter(self, words: str) -> Hint:
        return Hint(self.words("Enter"), words, "onward('GO_ON')")

    def _undo(self) -> list[Hint]:
        return [self._key(Act.UNDO, self.words("undo"))] if self._view.can_undo else []

    def _unsaved(self) -> ComposeResult:
        """Name what is only a draft."""
        if unsaved := page_words.unsaved(self.words, self._view):
            yield paragraph(unsaved, "$warn")

    def _to_unsaved(self) -> list[Hint]:
        way = self.words("what is not saved")
        return [self._key(Act.UNSAVED, way)] if self._view.unsaved else []


class RestPage(PausePage):
    """Shows at the end of a part what is done and left; going on is one key."""

    def body(self) -> ComposeResult:
        rest = page_words.rest(self.words, self._view)
        yield paragraph(rest.first, "bold")
        yield from map(paragraph, rest.rest)

    def hints(self) -> Sequence[Hint]:
        words = self.words
        return [self._enter(words("continue")), *self._undo(), self._key(Act.QUIT, words("stop"))]


class LaterPage(PausePage):
    """Asks once more about what was left for later."""

    def body(self) -> ComposeResult:
        later_words = page_words.later(self.words, self._view)
        yield paragraph(later_words.first, "bold")
        yield from map(paragraph, later_words.rest)
        yield from self._unsaved()

    def hints(self) -> Sequence[Hint]:
        words = self.words
        return [
            self._enter(words("look at them")),
            *self._to_unsaved(),
            self._key(Act.HAND_OVER, words("hand in")),
            *self._undo(),
            self._key(Act.HELP, words("help")),
            self._key(Act.QUIT, words("stop")),
        ]


class EndPage(PausePage):
    """Says thank you, and what to do with the stick."""

    def body(self) -> ComposeResult:
        words, view = self.words, self._view
        closing = page_words.end(words, view)
        yield paragraph(closing.first, "bold $good")
        yield from map(paragraph, closing.rest)
        if view.skipped:
            yield paragraph(
                words.plural(
                    "{n} sentence is left for later. Enter shows it again.",
                    "{n} sentences are left for later. Enter shows them again.",
                    view.skipped,
                )
            )
        yield from self._unsaved()
        yield from self._what_to_do()
        yield paragraph(
            words("Your answers stay on this computer too. To change the last one, press {key}.", key=KEYS[Act.UNDO][0])
        )

    def _what_to_do(self) -> ComposeResult:
        words, key = self.words, KEYS[Act.HAND_OVER][0]
        if self._view.handed_over:
            yield paragraph(page_words.handed_over(words, self._view), "bold $good")
            yield paragraph(words("You are done. To write your answers to a stick once more, press {key}.", key=key))
            return
        yield paragraph(words("What to do now"), "bold")
        yield paragraph(words("Put the stick into this computer and press {key}.", key=key))

    def hints(self) -> Sequence[Hint]:
        words = self.words
        again = [self._enter(words("look at them"))] if self._view.skipped else []
        return [
            self._key(Act.HAND_OVER, words("hand in")),
            *again,
            *self._to_unsaved(),
            *self._undo(),
            self._key(Act.SHARING, shares_or_not(words, shares=self._view.shares)),
            self._key(Act.WITHDRAW, words("take back")),
            self._key(Act.HELP, words("help")),
            self._key(Act.QUIT, words("stop")),
        ]

    def action_onward(self, name: str) -> None:
        if name != NextAction.GO_ON.name or self._view.skipped:
            super().action_onward(name)


class WithdrawnPage(PausePage):
    """Says that everything was taken back."""

    def body(self) -> ComposeResult:
        page_text = page_words.withdrawn(self.words)
        yield paragraph(page_text.first, "bold")
        yield from map(paragraph, page_text.rest)

    def hints(self) -> Sequence[Hint]:
        return [self._key(Act.HAND_OVER, self.words("hand in")), self._key(Act.QUIT, self.words("stop"))]

    def action_onward(self, name: str) -> None:
        super().action_onward(NextAction.LEAVE.name if name == NextAction.GO_ON.name else name)


PAUSES: dict[Phase, type[PausePage]] = {
    Phase.REST: RestPage,
    Phase.SKIPPED: LaterPage,
    Phase.END: EndPage,
    Phase.WITHDRAWN: WithdrawnPage,
}
"""Phase → the page that stands for it while it shows no item."""
