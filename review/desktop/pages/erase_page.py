"""Deleting everything from this computer: what would be lost, a tick, and then a button that was shut before.

A slip cannot do it: the two acts lie in two places, Enter keeps everything, and no key stands for deleting.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from shiboken6 import isValid

from harness.core.failures import HarnessError
from review.desktop.frame.page import Page
from review.desktop.frame.work import Desk
from review.desktop.parts.announcing import announce
from review.desktop.parts.buttons import Button
from review.desktop.parts.tick import Tick
from review.session.waiting import Kept, kept
from review.session.words.troubles import Trouble, trouble


class ErasePage(Page):
    """Says what lies here before it asks; where something is handed over first, that is the main button."""

    delete = Signal()
    """The person wants it, and is sure; until ``tell_not_deleted`` nothing leads away from the page."""
    hand_over = Signal()
    """The person hands over first."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._first: Button | None = None
        self._sure: Tick | None = None
        self._keep: Button | None = None
        self._deleting = False
        self.place(self.words("Delete everything from this computer"))
        self.desk.work.do(partial(kept, desk.opening.laptop), self._show, self._not_known)

    def enter(self) -> None:
        """Do what the main button does; deleting is none."""
        if self._first is None:
            self.back()
        elif not self._deleting:
            self.hand_over.emit()

    def back(self) -> None:
        """Keep everything, while nothing is being deleted."""
        if not self._deleting:
            super().back()

    def tell_not_deleted(self, why: Trouble) -> None:
        """Say why nothing was deleted, and let the person choose again."""
        self._hold(deleting=False)
        self.say("")
        self.tell(why)
        announce(self, why.said)

    def _not_known(self, error: HarnessError) -> None:
        """Say why it is not known what lies here, and still let the person delete it."""
        if isValid(self):
            self._show(Kept())
            self.tell(trouble(self.words, error))

    def _show(self, found: Kept) -> None:
        if not isValid(self):
            return
        self._say_what_is_here(found)
        if found.drafts:
            said = self.words.plural(
                "{n} text was written and not saved. It is not handed over, and would be lost.",
                "{n} texts were written and not saved. They are not handed over, and would be lost.",
                found.drafts,
            )
            self.paragraph(said, "warn")
        if found.reviewers:
            self._say_what_waits(found)
        self._say_what_goes()
        self._sure = Tick(self.words("I want this, and I know that it cannot be undone."))
        self.add(self._sure)
        self._keep = self.way_back(self.words("Keep everything"), main=not self._first)
        self._delete = self.button(self.words("Delete everything"), self._do)
        self._delete.setEnabled(False)
        self._sure.toggled.connect(self._delete.setEnabled)

    def _say_what_is_here(self, found: Kept) -> None:
        words = self.words
        reviews = words.plural(
            "{n} file with sentences is kept on this computer.",
            "{n} files with sentences are kept on this computer.",
            found.batches,
        )
        answers = words.plural(
            "{n} answer is kept on this computer.",
            "{n} answers are kept on this computer.",
            found.answers,
        )
        self.paragraph(f"{reviews} {answers}", "strong")

    def _say_what_goes(self) -> None:
        words = self.words
        self.paragraph(
            words(
                "All sentences, answers, comments, settings and the keys of this computer are deleted, "
                "of everybody who answered here."
            )
        )
        self.paragraph(words("What was handed over stays with the organisation."))

    def _say_what_waits(self, found: Kept) -> None:
        """Say what only this computer has, and let the person hand it over first."""
        words = self.words
        if found.waiting:
            said = words.plural(
                "What was said about {n} sentence lies only on this computer. It would be lost.",
                "What was said about {n} sentences lies only on this computer. It would be lost.",
                found.waiting,
            )
            self.paragraph(said, "warn")
        if found.taken_back:
            said = words("The organisation does not know yet that something was taken back.")
            self.paragraph(said, "warn")
        self._first = self.button(words("Hand over first"), self.hand_over.emit, main=True)

    def _do(self) -> None:
        if self._sure is None or not self._sure.isChecked():
            return
        self._hold(deleting=True)
        self.tell(None)
        self.say(self.words("Deleting …"))
        self.delete.emit()

    def _hold(self, *, deleting: bool) -> None:
        """Offer nothing on the page while everything is being deleted; the keys stay with the page."""
        self._deleting = deleting
        self.setFocus()
        self._acts_at_foot.setVisible(not deleting)
        for act in (self._first, self._sure, self._keep, self._delete):
            if act is not None:
                act.setEnabled(not deleting)
