"""Pages between the items: a rest, what was left for later, the end, after taking everything back; one's answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtGui import QKeyEvent

from review.desktop.frame.page import Page
from review.desktop.frame.work import AppContext
from review.desktop.item.item_parts import control_act
from review.desktop.look import shown
from review.desktop.parts.choosing import ChoiceRows
from review.desktop.parts.flow import Offers
from review.desktop.parts.texts import announce
from review.rating import Rating
from review.session.view import Phase, ShownItem, View
from review.session.words import page as page_words
from review.session.words.item import beginning
from review.session.words.keys import (
    ACT_WORDS,
    KEYS,
    ONWARD_OF,
    TRANSLATION_WORDS,
    Act,
    NextAction,
    act_of,
    answer_label,
    rating_label,
    sharing,
)
from review.session.words.page import PageWords
from review.session.words.troubles import trouble_of_view


class AnswersPage(Page):
    """Shows nobody else's answers, and none that was taken back."""

    def __init__(self, desk: AppContext, answered: Sequence[ShownItem], *, translating: bool = False) -> None:
        """``translating`` tells whether these are translations instead of ratings."""
        super().__init__(desk)
        words = self.words
        self.place(words("Your answers"))
        if answered:
            self.paragraph(words("Choose a sentence to look at it, and to change your answer."))
        else:
            self.paragraph(words("You have not answered anything yet."), "strong")
        names = []
        for item in answered:
            # The number, the answer and the beginnings of both texts, each on its line
            given = answer_label(words, item, translating=translating)
            head = words("{number}: {answer}", number=item.number, answer=given)
            texts = filter(None, (item.source, item.candidate or item.translation))
            names.append("\n".join([head, *(shown(beginning(" ".join(text.split()))) for text in texts)]))
        rows = ChoiceRows(words, names)
        rows.chosen.connect(lambda number: self.answered.emit(answered[number].id))
        self.add(rows)
        self.way_back(main=True)


class PausePage(Page):
    """Shows a view without an item; what leads on stays at the foot, the rest is below what is read."""

    def __init__(
        self, desk: AppContext, view: View, answered: Sequence[ShownItem] = (), *, translating: bool = False
    ) -> None:
        """``answered`` are the person's own answers, for anyone who counts them."""
        super().__init__(desk)
        self.view, self.answers, self.translating = view, answered, translating
        self._offers, self._first = Offers(), ""
        self.place(self.title())
        self.fill()
        self.add(self._offers)
        self.say(view.said)
        self.tell(trouble_of_view(view))

    def title(self) -> str:
        return page_words.far(self.words, self.view)

    def fill(self) -> None:
        raise NotImplementedError

    def begin(self) -> None:
        """Focus the page and announce what was just done, where the person is, and what is on the page."""
        self.setFocus()
        announce(self, " ".join(filter(None, (self.view.said, self.title(), self._first))))

    # keys

    def typed(self, character: str) -> bool:
        """Follow a key, by the same table as on the page of an item."""
        return self._go(act_of(character))

    def pressed(self, event: QKeyEvent) -> bool:
        """Handle F1 and Ctrl+Z as on the page of an item."""
        return self._go(control_act(event)) or super().pressed(event)

    def _go(self, act: Act | None) -> bool:
        onward = ONWARD_OF.get(act) if act else None
        if onward is None or (onward is NextAction.UNDO and not self.view.can_undo):
            return False
        self.answered.emit(onward)
        return True

    def back(self) -> None:
        self.answered.emit(NextAction.LEAVE)

    # what pages share

    def _read(self, said: PageWords, role: str = "strong") -> None:
        self._first = said.first
        self.paragraph(said.first, role)
        for sentence in said.rest:
            self.paragraph(sentence)

    def _lead(self, onward: NextAction, text: str, key: str = "", *, main: bool = False) -> None:
        self.button(text, lambda: self.answered.emit(onward), key, main=main)

    def _offer(self, onward: NextAction, text: str, key: str = "") -> None:
        self._offers.offer(text, lambda: self.answered.emit(onward), key)

    def _act(self, act: Act) -> None:
        label = (TRANSLATION_WORDS if self.translating else ACT_WORDS)[act]
        self._offer(ONWARD_OF[act], self.words(label), KEYS[act][0])

    def _hand_over(self, *, main: bool = False) -> None:
        label = self.words(page_words.HAND_OVER)
        self._lead(NextAction.HAND_OVER, label, KEYS[Act.HAND_OVER][0], main=main)

    def _go_on(self, text: str) -> None:
        self._lead(NextAction.GO_ON, text, self.words("Enter"), main=True)

    def _look_at_them(self) -> str:
        return self.words.plural("Look at it", "Look at them", self.view.skipped)

    def _stop(self) -> None:
        self._lead(NextAction.LEAVE, self.words("Stop for now"), KEYS[Act.QUIT][0])

    def _end(self, *, main: bool = False) -> None:
        others, key = self.words("Other sentences"), KEYS[Act.QUIT][0]
        self._lead(NextAction.LEAVE, others, key, main=main)
        self._offers.offer(self.words("Close the program"), lambda: self.window().close())

    def _tell_unsaved(self) -> None:
        """Name what is only a draft, with the way to it."""
        if unsaved := page_words.unsaved(self.words, self.view):
            self.paragraph(unsaved, "warn")
            way = self.words(page_words.LOOK_AT_UNSAVED)
            self._offer(NextAction.UNSAVED, way, KEYS[Act.UNSAVED][0])

    def _offer_changes(self) -> None:
        """Offer what can still be changed in one's own answers."""
        if self.view.done:
            self._offer(NextAction.ANSWERS, self.words("Look at my answers again"))
        if self.view.can_undo:
            self._act(Act.UNDO)


class RestPage(PausePage):
    """Shows at the end of a part what is done and left; going on is one key."""

    def fill(self) -> None:
        self._read(page_words.rest(self.words, self.view))
        self._go_on(self.words("Continue"))
        self._stop()
        self._offer_changes()


class LaterPage(PausePage):
    """Asks once more about what was left for later."""

    def fill(self) -> None:
        self._read(page_words.later(self.words, self.view))
        self._tell_unsaved()
        self._go_on(self._look_at_them())
        self._stop()
        self._act(Act.HAND_OVER)
        self._offer_changes()
        self._act(Act.HELP)


class EndPage(PausePage):
    """Says thank you, what was answered, and what to do with the stick."""

    def fill(self) -> None:
        self._read(page_words.end(self.words, self.view), "good")
        # Show how often the person gave each answer; their own answers only.
        words = self.words
        given = Counter(item.rating for item in self.answers)
        lines = [
            words("{answer}: {n}", answer=rating_label(words, rating), n=given[rating])
            for rating in reversed(Rating)
            if given[rating]
        ]
        if lines and given[None]:
            lines.append(words("{answer}: {n}", answer=words("Could not judge"), n=given[None]))
        if lines:
            self.paragraph(" · ".join(lines))
        self._tell_unsaved()
        self._what_to_do()
        self.paragraph(self.words("Your answers stay on this computer too."), "quiet")
        if self.translating:
            self.paragraph(sharing(self.words, shares=self.view.shares, translating=True))
        handed_over = bool(self.view.handed_over)
        self._hand_over(main=not handed_over)
        if left := self.view.skipped:
            self.paragraph(words.plural("{n} sentence is left for later.", "{n} sentences are left for later.", left))
            self._offer(NextAction.GO_ON, self._look_at_them())
        self._offer_changes()
        self._act(Act.SHARING)
        self._act(Act.WITHDRAW)
        self._act(Act.HELP)
        self._end(main=handed_over)

    def _what_to_do(self) -> None:
        words = self.words
        if self.view.handed_over:
            self.paragraph(page_words.handed_over(words, self.view), "good")
            self.paragraph(words("You are done."))
            return
        self.paragraph(words("What to do now"), "strong")
        self.paragraph(
            words("Put the stick into this computer, then choose “{button}”.", button=words(page_words.HAND_OVER))
        )


class WithdrawnPage(PausePage):
    def title(self) -> str:
        return self.words("Taken back")

    def fill(self) -> None:
        self._read(page_words.withdrawn(self.words))
        self._hand_over(main=True)
        self._end()


# Phase → the page that stands for it while it shows no item
PAUSES: dict[Phase, type[PausePage]] = {
    Phase.REST: RestPage,
    Phase.SKIPPED: LaterPage,
    Phase.END: EndPage,
    Phase.WITHDRAWN: WithdrawnPage,
}
