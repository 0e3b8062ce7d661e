"""Taking back what was given, and deleting everything from this computer, up to the last page.

A slip cannot do either: taking back needs one more act. Of deleting the two acts lie in two places, Enter keeps
everything, and no key stands for it.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer, Signal
from shiboken6 import isValid

from harness.core.failures import HarnessError
from review.desktop.frame.page import Page
from review.desktop.frame.work import AppContext
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Answers, Tick
from review.desktop.parts.texts import announce
from review.log.payloads import Scope
from review.session.waiting import StoredReviews, UndeletedItem, finish_erasing, kept
from review.session.words import page as page_words
from review.session.words.item import Answer
from review.session.words.keys import KEYS, Act, act_of, scope_label, scope_of
from review.session.words.troubles import Trouble, trouble


class WithdrawPage(Page):
    """Nothing is erased before a choice was made and a second button, far from it, was pressed."""

    def __init__(self, desk: AppContext, *, translating: bool = False) -> None:
        """``translating`` is what the batch asks for: a translation is an answer then."""
        super().__init__(desk)
        words = self.words
        self._scope: Scope | None = None
        self.place(words("Take back"))
        means = page_words.take_back(words)
        self.paragraph(means.first, "strong")
        for sentence in means.rest:
            self.paragraph(sentence)
        self.paragraph(words(page_words.WHAT_TO_TAKE_BACK), "strong")
        self._scopes = Answers(
            [
                Answer(str(number), scope_label(words, scope, translating=translating))
                for number, scope in enumerate(Scope, 1)
            ]
        )
        self._scopes.picked.connect(lambda number: self._choose(list(Scope)[number]))
        self.add(self._scopes)
        self._sure = self.paragraph("", "warn")
        self._sure.hide()
        self.way_back(words("Keep everything"), main=True)
        self._erase = self.button(words("Erase it"), self._do, KEYS[Act.WITHDRAW][0])
        self._erase.hide()

    def typed(self, character: str) -> bool:
        """Choose, then do it; what leads here from an item does nothing before that."""
        if (scope := scope_of(character)) is not None:
            self._choose(scope)
        elif act_of(character) is Act.WITHDRAW:
            self._do()
        else:
            return False
        return True

    def _choose(self, scope: Scope) -> None:
        self._scope = scope
        self._scopes.mark([list(Scope).index(scope)])
        sure = self.words(
            "This cannot be undone. Choose “{button}” to erase it, or Esc to keep everything.",
            button=self.words("Erase it"),
        )
        self._sure.setText(sure)
        self._sure.show()
        self._erase.show()
        QTimer.singleShot(0, self, lambda: self.reading.ensureWidgetVisible(self._sure))
        announce(self, sure)

    def _do(self) -> None:
        if self._scope is not None:
            self.answered.emit(self._scope)


class ErasePage(Page):
    """Says what lies here before it asks; where something is submitted first, that is the main button."""

    # The person wants it, and is sure; until `tell_not_deleted` nothing leads away from the page
    delete = Signal()
    hand_over = Signal()  # The person hands in first

    def __init__(self, desk: AppContext) -> None:
        super().__init__(desk)
        self._first: Button | None = None
        self._sure: Tick | None = None
        self._keep: Button | None = None
        self._deleting = False
        self.place(self.words("Delete everything from this computer"))
        self.desk.work.do(partial(kept, desk.opening.laptop), self._show, self._not_known)

    def enter(self) -> None:
        """Press the main button; deleting is none."""
        if self._first is None:
            self.back()
        elif not self._deleting:
            self.hand_over.emit()

    def back(self) -> None:
        """Return with everything kept, unless it is being deleted."""
        if not self._deleting:
            super().back()

    def tell_not_deleted(self, why: Trouble) -> None:
        """Show why nothing was deleted, and let the person choose again."""
        self._hold(deleting=False)
        self.say("")
        self.tell(why)
        announce(self, why.said)

    def _not_known(self, error: HarnessError) -> None:
        """Show why it is not known what lies here, and still let the person delete it."""
        if isValid(self):
            self._show(StoredReviews())
            self.tell(trouble(self.words, error))

    def _show(self, found: StoredReviews) -> None:
        if not isValid(self):
            return
        words = self.words
        reviews = words.plural(
            "{n} file with sentences is kept on this computer.",
            "{n} files with sentences are kept on this computer.",
            found.batches,
        )
        answers = words.plural(
            "{n} answer is kept on this computer.", "{n} answers are kept on this computer.", found.answers
        )
        self.paragraph(f"{reviews} {answers}", "strong")
        if found.drafts:
            lost = self.words.plural(
                "{n} text was written and not saved. It is not handed in, and would be lost.",
                "{n} texts were written and not saved. They are not handed in, and would be lost.",
                found.drafts,
            )
            self.paragraph(lost, "warn")
        if found.reviewers:
            self._say_what_waits(found)
        self.paragraph(
            words(
                "All sentences, answers, comments, settings and the keys of this computer are deleted, "
                "of everybody who answered here."
            )
        )
        self.paragraph(words("What was handed in stays with the organisation."))
        self._sure = Tick(self.words("I want this, and I know that it cannot be undone."))
        self.add(self._sure)
        self._keep = self.way_back(self.words("Keep everything"), main=not self._first)
        self._delete = self.button(self.words("Delete everything"), self._do)
        self._delete.setEnabled(False)
        self._sure.toggled.connect(self._delete.setEnabled)

    def _say_what_waits(self, found: StoredReviews) -> None:
        """Show what only this computer has, and let the person hand it in first."""
        words = self.words
        if found.waiting:
            waiting = words.plural(
                "What was said about {n} sentence is only on this computer. It would be lost.",
                "What was said about {n} sentences is only on this computer. It would be lost.",
                found.waiting,
            )
            self.paragraph(waiting, "warn")
        if found.taken_back:
            waiting = words("The organisation does not know yet that something was taken back.")
            self.paragraph(waiting, "warn")
        self._first = self.button(words("Hand in first"), self.hand_over.emit, main=True)

    def _do(self) -> None:
        if self._sure is None or not self._sure.isChecked():
            return
        self._hold(deleting=True)
        self.tell(None)
        self.say(self.words("Deleting …"))
        self.delete.emit()

    def _hold(self, *, deleting: bool) -> None:
        self._deleting = deleting
        self.setFocus()
        self._acts_at_foot.setVisible(not deleting)
        for act in (self._first, self._sure, self._keep, self._delete):
            if act is not None:
                act.setEnabled(not deleting)


class ErasedPage(Page):
    """Stays until the window is closed; there is nothing to go back to."""

    def __init__(self, desk: AppContext, remains: tuple[UndeletedItem, ...]) -> None:
        super().__init__(desk)
        self._folder: Path = desk.opening.laptop.path.parent
        self._fill(remains)

    def back(self) -> None:
        """Stay: nothing lies behind this page."""

    def _fill(self, remains: tuple[UndeletedItem, ...]) -> None:
        words = self.words
        self.clear()
        if remains:
            self.place(words("Not everything is deleted"))
            message = self.paragraph(words("This could not be deleted:"), "warn").text()
            for remain in remains:
                # Name what is left; why, in the words of the system, is next to it for anyone who helps.
                if remain.in_keyring:
                    name = self.words("the keys of this computer in its password store ({name})", name=remain.name)
                else:
                    name = remain.name
                self.copyable(f"{name} – {remain.detail}", message)
            self.paragraph(words("Show this to the person who helps you with this computer."))
            self.button(words("Try again"), self._again)
        else:
            self.place(words("Everything is deleted"))
            self.paragraph(words("Nothing of your answers and sentences is left on this computer."), "good")
            self.paragraph(words("Thank you for your work."))
        self.button(words("Close the program"), lambda: self.window().close(), words("Enter"), main=True)

    def _again(self) -> None:
        erase = partial(finish_erasing, self._folder)
        self.desk.work.do(erase, self._tried, lambda error: self.tell(trouble(self.words, error)))

    def _tried(self, remains: tuple[UndeletedItem, ...]) -> None:
        self._fill(remains)
        self.begin()
