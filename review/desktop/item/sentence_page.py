"""The page of one sentence at work: what keys and buttons do, and what is typed.

Nothing advances before it is on the disk; what is typed is kept at each pause, and before anything else is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, TypeVar

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent
from shiboken6 import isValid

from harness.core.failures import HarnessError
from review.desktop.frame.work import AppContext
from review.desktop.item.item_parts import control_act
from review.desktop.item.sentence_face import UNASKED, Mode, SentenceFace
from review.desktop.parts.texts import announce
from review.rating import CannotJudge
from review.session import position
from review.session.session import Session
from review.session.view import ShownItem, TextField, View
from review.session.words import item as item_words
from review.session.words.item import ItemQuestion
from review.session.words.keys import ONWARD_OF, Act, NextAction, act_of, cannot_judge_of, harm_question
from review.session.words.troubles import Trouble, trouble

SLOW_MILLISECONDS = 300  # When saving takes longer than this, the page says that it goes on

_ALWAYS = frozenset({Act.LARGER, Act.SMALLER})  # What means something in practice, too

Result = TypeVar("Result")


class SentencePage(SentenceFace):
    """Every key has a button; while something is saved, keys mean nothing."""

    WHY: ClassVar[str]  # Asks why the person cannot answer

    def __init__(self, desk: AppContext, session: Session) -> None:
        super().__init__(desk, session)
        # True while the session works: keys that come meanwhile were not meant for what comes next
        self._busy = False
        self._missed = False  # True where a key came meanwhile: what did nothing is said
        self._field = TextField.COMMENT  # What is written in the box beside the answer
        # What is known to be on the disk of what stands in the boxes
        self._kept: dict[TextField, str] = {}
        self._slow = QTimer(self, singleShot=True, interval=SLOW_MILLISECONDS)
        self._slow.timeout.connect(lambda: self.say(self.words(item_words.SAVING)))
        self._not_kept = False  # True while the page says that a draft could not be kept
        look = self.desk.look
        self._deeds: dict[Act, Callable[[ShownItem], None]] = {  # What each act does for the item that is shown
            **{act: partial(self._lead, onward) for act, onward in ONWARD_OF.items()},
            Act.SKIP: lambda item: self._do(partial(session.skip, item.id)),
            Act.UNDO: lambda _: self._do(session.undo),
            Act.UNRATED: lambda _: self._do(session.go_to_unrated),
            Act.UNSAVED: lambda _: self._do(session.go_to_unsaved),
            Act.CANNOT_JUDGE: self._ask_why,
            Act.COMMENT: partial(self._write, TextField.COMMENT),
            Act.HARM: self._ask_harm,
            Act.LARGER: lambda _: look.larger(),
            Act.SMALLER: lambda _: look.smaller(),
        }
        self._why.picked.connect(lambda number: self._cannot_judge(list(CannotJudge)[number]))
        self._harm.agreed.connect(self._flag_harm)
        for asked in (self._why, self._harm, self._more):
            asked.left.connect(self.back)
        self.acts.chosen.connect(self._press)
        self.acts.more.connect(self._show_more)
        self._more.chosen.connect(self._press)
        self._more.answers.connect(partial(self._leave_panel, partial(self.answered.emit, NextAction.ANSWERS)))
        self.writing.paused.connect(lambda _: self.keep_typed())
        self.writing.saved.connect(self._save)
        self.writing.left.connect(lambda _: self._leave_panel())

    # for the window

    def begin(self) -> None:
        """Focus the question and announce it."""
        self._take_keys()
        if self.mode is not Mode.WRITING:
            announce(self, self._spoken())

    def draw(self, view: View) -> None:
        super().draw(view)
        if view.item is None:
            self.answered.emit(None)

    def tell(self, trouble: Trouble | None) -> None:
        """Show what went wrong, until it is over; None takes it away."""
        self._not_kept = False
        super().tell(trouble)

    def keep_typed(self) -> None:
        """Store what is in the boxes as drafts; where that fails, say so and leave it where it is.

        While something is being saved it is kept too, after that: it may fail, and the window may be closing.
        """
        item, texts = self.view.item, self._unkept()
        if item is not None and texts:
            keep = partial(self._keep, item.id, texts)
            self.desk.work.do(keep, partial(self._draft_kept, item.id, texts), self._draft_lost)

    def hideEvent(self, event: QHideEvent) -> None:
        """Store what is typed when another page replaces this one."""
        self.keep_typed()
        super().hideEvent(event)

    # keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Count a key as a sign of life, and do what it means here."""
        self.session.touched()
        super().keyPressEvent(event)

    def typed(self, character: str) -> bool:
        if self.mode is Mode.WRITING:
            if not self._busy:
                self.writing.take(character)
        elif self.mode is Mode.WHY:
            self._cannot_judge(cannot_judge_of(character))
        elif character == " ":
            bar = self.reading.verticalScrollBar()
            bar.setValue(bar.value() + bar.pageStep())
        elif self.mode is not Mode.HARM:
            if (act := act_of(character)) is None:
                return False
            self._press(act)
        return True

    def pressed(self, event: QKeyEvent) -> bool:
        """Handle F1, or a key with Ctrl: they hold while a box is open, too."""
        act = control_act(event)
        if act is None or act not in self._deeds:
            return super().pressed(event)
        self._leave_panel(partial(self._act, act))
        return True

    def enter(self) -> None:
        if self.mode is Mode.HARM:
            self._flag_harm()
        elif self.mode is Mode.WRITING:
            self.writing.save()
        elif self.leaves_out:
            self._cannot_judge(CannotJudge.NOT_SHOWN)

    @property
    def leaves_out(self) -> bool:
        """Return whether Enter leaves out what cannot be read here, with a record that is submitted."""
        item = self.view.item
        return item is not None and self.answering and not self.asks and not item.stands

    def back(self) -> None:
        """Return to the answer; what was typed stays as a draft."""
        if self.mode is Mode.WRITING:
            self.writing.leave()
        else:
            self._leave_panel()

    # doing

    def _do(self, call: Callable[[], View], then: Callable[[View], None] | None = None) -> None:
        """Call the session away from the window, and show what comes of it."""
        if not self._busy:
            self._work(call, then or self.draw, lambda error: self.tell(trouble(self.words, error)))

    def _work(
        self, call: Callable[[], Result], then: Callable[[Result], object], failed: Callable[[HarnessError], object]
    ) -> None:
        """Disable the keys until something is done; a page that is gone hears nothing of it."""
        self._hold(still=True)
        self.desk.work.do(call, partial(self._ended, then), partial(self._ended, failed))

    def _ended(self, tell: Callable[[Any], object], came: object) -> None:
        if isValid(self):
            self._hold(still=False)
            tell(came)
            # A key that came while something was saved did nothing: say so next to what was saved
            missed, self._missed = self._missed and not self._busy, False
            if missed and self.view.item is not None:
                self.say(f"{self.view.said} {self.words(position.TOO_SOON)}".strip())

    def _hold(self, *, still: bool) -> None:
        """Disable keys while something is saved, and show that it takes long."""
        self._busy = still
        self.writing.hold(still=still)
        if still:
            self._slow.start()
        elif self._slow.isActive():
            self._slow.stop()
        else:
            self.say("")  # it took long, and it is over

    def _press(self, act: Act) -> None:
        self.session.touched()
        self._leave_panel(partial(self._act, act))

    def _leave_panel(self, then: Callable[[], object] = lambda: None) -> None:
        """Return to the answer, and then do something; what is typed is kept before."""
        item, texts = self.view.item, self._unkept()
        self._missed = self._missed or self._busy
        if item is None or self._busy:
            return
        if self.mode is Mode.WRITING:
            # what is in the box stands beside the sentence, as the draft that it is now
            typed = item_words.with_text(item, self._field, self.writing.text)
            self.view = replace(self.view, item=typed)
            self.texts.show_marks(self._marks(typed))
        if self.mode is not Mode.ANSWER:
            self.enter_mode(Mode.ANSWER)
        if texts:
            keep = partial(self._keep, item.id, texts)
            self._work(keep, partial(self._put_away, texts, then), partial(self._not_kept_yet, then))
        else:
            then()

    def _act(self, act: Act) -> None:
        item, deed = self.view.item, self._deeds.get(act)
        if item is None or deed is None or self._busy:
            return
        if act not in _ALWAYS and not item_words.allows(self.view, act):
            self.say(item_words.why_not_now(self.words, self.view))
        elif act in UNASKED and not self.asks:
            self.say(self.words(item_words.NOT_SHOWN[0]))
        else:
            deed(item)

    def _lead(self, onward: NextAction, _: ShownItem) -> None:
        self.answered.emit(onward)

    def _show_more(self) -> None:
        if not self._busy:
            self._more.show_acts(self.acts.folded, answers=self.view.done > 0)
            self.enter_mode(Mode.MORE)

    # asking once more

    def _ask_why(self, _: ShownItem) -> None:
        self._why.ask(ItemQuestion(self.words(self.WHY)))
        self.enter_mode(Mode.WHY)

    def _cannot_judge(self, why: CannotJudge | None) -> None:
        item = self.view.item
        if why is not None and item is not None:
            self.enter_mode(Mode.ANSWER)
            self._do(partial(self.session.cannot_judge, item.id, why))

    def _ask_harm(self, item: ShownItem) -> None:
        translating = self.session.translating
        question = harm_question(self.words, harmful=item.harmful, translating=translating)
        self._harm.ask(ItemQuestion(question))
        self.enter_mode(Mode.HARM)

    def _flag_harm(self) -> None:
        if (item := self.view.item) is not None:
            self.enter_mode(Mode.ANSWER)
            self._do(partial(self.session.flag_harm, item.id, not item.harmful))

    # writing

    def _write(self, field: TextField, item: ShownItem) -> None:
        self._field = field
        self.enter_mode(Mode.WRITING)
        title = item_words.writing_title(self.words, field)
        if field is TextField.SUGGESTION:
            self.writing.begin(title, item.suggestion, item.candidate)
        else:
            self.writing.begin(title, item.comment, "")
        self._kept[field] = self.writing.text

    def _save(self, text: str) -> None:
        if (item := self.view.item) is not None:
            self._do(partial(self.session.save_text, item.id, self._field, text), self._written)

    def _written(self, view: View) -> None:
        if not view.trouble:
            self.enter_mode(Mode.ANSWER)
        self.draw(view)

    # keeping what is typed

    def _begin_item(self, item: ShownItem) -> None:
        super()._begin_item(item)
        self._kept = {}

    def _in_boxes(self) -> dict[TextField, str]:
        """Return what is in the boxes that are open."""
        return {self._field: self.writing.text} if self.mode is Mode.WRITING else {}

    def _unkept(self) -> dict[TextField, str]:
        """Return what is in the boxes and was not kept yet."""
        typed = self._in_boxes()
        return {field: text for field, text in typed.items() if text != self._kept.get(field)}

    def _keep(self, item: str, texts: dict[TextField, str]) -> None:
        for field, text in texts.items():
            self.session.keep_draft(item, field, text)

    def _put_away(self, texts: dict[TextField, str], then: Callable[[], object], _: None) -> None:
        self._kept |= texts
        self._show_drafts()
        item = self.view.item
        if item is not None and item.drafts & (texts.keys() - {TextField.TRANSLATION}):
            self.say(self.words("Your words are kept, but not saved yet."))
        then()

    def _not_kept_yet(self, then: Callable[[], object], error: HarnessError) -> None:
        """Show that the disk does not take a text; the session holds it, so the person may continue all the same."""
        self._show_drafts()
        self._tell_not_kept(error)
        then()

    def _show_drafts(self) -> None:
        """Show beside the sentence what the session knows of it by now."""
        item = self.session.view.item
        if item is not None and self.view.item is not None:
            self.view = replace(self.view, item=item, unsaved=self.session.view.unsaved)
            self.texts.show_marks(self._marks(item))

    def _draft_kept(self, item: str, texts: dict[TextField, str], _: None) -> None:
        """Record it; only that a draft could not be kept is over now, and no answer that was not saved."""
        if not isValid(self) or self.view.item is None or self.view.item.id != item:
            return
        self._kept |= texts
        if self._not_kept:
            self.tell(None)

    def _draft_lost(self, error: HarnessError) -> None:
        """Show that a draft could not be kept, unless it was saved meanwhile."""
        if isValid(self) and self._unkept():
            self._tell_not_kept(error)

    def _tell_not_kept(self, error: HarnessError) -> None:
        why = trouble(self.words, error)
        if self.trouble != why:  # said once, not at each pause of the keys
            self.tell(why)
        self._not_kept = True
