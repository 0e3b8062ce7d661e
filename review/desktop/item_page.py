"""The page on which a person decides: two texts, four answers, and a key and a button for everything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from shiboken6 import isValid

from harness.failures import HarnessError
from review.desktop.announcing import announce
from review.desktop.desk import Desk
from review.desktop.item_face import ItemFace, Mode
from review.desktop.item_keys import control_act
from review.rating import CannotJudge, Reason
from review.session import item_words
from review.session.item_words import Question
from review.session.keys import RATING_OF, Act, act_of, cannot_judge_of, reason_of
from review.session.labels import harm_question
from review.session.onward import Onward
from review.session.session import Session
from review.session.troubles import trouble
from review.session.view import ShownItem, TextField, View

SLOW_MILLISECONDS = 300
"""When saving takes longer than this, the page says that it goes on."""

_ONWARD = {
    Act.HAND_OVER: Onward.HAND_OVER,
    Act.WITHDRAW: Onward.WITHDRAW,
    Act.HELP: Onward.HELP,
    Act.QUIT: Onward.LEAVE,
}
_ASKABLE = frozenset({Act.COMMENT, Act.WORDING, Act.HARM, *RATING_OF})
"""What is said about the text itself, and so needs that it can be read."""


class ItemPage(ItemFace):
    """One key rates, saves and shows the next item; nothing advances before it is on the disk."""

    onward = Signal(object)
    """Another page is wanted: an Onward."""
    away = Signal(object)
    """A View without an item came."""

    def __init__(self, desk: Desk, session: Session) -> None:
        super().__init__(desk, session)
        self._busy = False
        """True while the session works: keys that come meanwhile were not meant for what comes next."""
        self._kept: str | None = None
        """What stood in the open box when it was kept last."""
        self._slow = QTimer(self, singleShot=True, interval=SLOW_MILLISECONDS)
        self._slow.timeout.connect(lambda: self.say(self.words(item_words.SAVING)))
        self._deeds: dict[Act, Callable[[ShownItem], None]] = {
            Act.SKIP: lambda item: self._do(partial(session.skip, item.id)),
            Act.UNDO: lambda _: self._do(session.undo),
            Act.UNRATED: lambda _: self._do(session.go_to_unrated),
            Act.CANNOT_JUDGE: self._ask_why,
            Act.REASONS: self._ask_reasons,
            Act.COMMENT: partial(self._write, TextField.COMMENT),
            Act.WORDING: partial(self._write, TextField.SUGGESTION),
            Act.HARM: self._ask_harm,
            Act.LARGER: lambda _: desk.look.larger(),
            Act.SMALLER: lambda _: desk.look.smaller(),
        }
        self._listen()
        if self.view.item is not None:
            self.draw(self.view)

    def _listen(self) -> None:
        self._answers.picked.connect(lambda number: self._press(list(RATING_OF)[number]))
        self._reasons.picked.connect(lambda number: self._reason(list(Reason)[number]))
        self._why.picked.connect(lambda number: self._cannot_judge(list(CannotJudge)[number]))
        self._harm.agreed.connect(self._flag_harm)
        for asked in (self._reasons, self._why, self._harm, self._more):
            asked.left.connect(self.back)
        self._acts.chosen.connect(self._press)
        self._acts.more.connect(self._show_more)
        self._more.chosen.connect(self._press)
        self._more.answers.connect(
            partial(self._leave_panel, partial(self.onward.emit, Onward.ANSWERS))
        )
        self._writing.paused.connect(self._keep_draft)
        self._writing.saved.connect(self._save)
        self._writing.left.connect(self._put_away)

    # for the window

    def begin(self) -> None:
        """Take the keys and say what is to be judged."""
        if self.mode is Mode.WRITING:
            self._writing.take_keys()
        else:
            self.setFocus()
            announce(self, self._spoken())

    def draw(self, view: View) -> None:
        """Show a view; one without an item leads to another page."""
        super().draw(view)
        if view.item is None:
            self.away.emit(view)

    def keep_typed(self) -> None:
        """Keep an open box as a draft, before the page goes away."""
        if self.mode is Mode.WRITING and self._writing.text != self._kept:
            self._keep_draft(self._writing.text)

    def hideEvent(self, event: QHideEvent) -> None:
        """Keep what is typed when another page takes the place of this one."""
        self.keep_typed()
        super().hideEvent(event)

    # keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Count a key as a sign of life, and do what it means here."""
        self.session.touched()
        super().keyPressEvent(event)

    def typed(self, character: str) -> bool:
        """Do what a character means here."""
        if self.mode is Mode.WRITING:
            self._writing.take(character)
        elif self.mode is Mode.REASONS:
            self._reason(reason_of(character))
        elif self.mode is Mode.WHY:
            self._cannot_judge(cannot_judge_of(character))
        elif character == " ":
            self._read_on()
        elif self.mode is not Mode.HARM:
            return self._mean(act_of(character))
        return True

    def _read_on(self) -> None:
        bar = self._scroll.verticalScrollBar()
        bar.setValue(bar.value() + bar.pageStep())

    def _mean(self, act: Act | None) -> bool:
        if act is not None and self.mode is Mode.MORE:
            self.enter_mode(Mode.JUDGE)
        return self._act(act)

    def pressed(self, event: QKeyEvent) -> bool:
        """Do what F1, or a key with Ctrl, means here: they hold while a box is open, too."""
        act = control_act(event)
        if act is None:
            return super().pressed(event)
        self._leave_panel(partial(self._act, act))
        return True

    def enter(self) -> None:
        """Agree to what is asked, or go on."""
        if self.mode is Mode.HARM:
            self._flag_harm()
        elif self.mode is Mode.WRITING:
            self._writing.save()
        elif self.mode is Mode.JUDGE and self.view.lesson is not None:
            self._do(self.session.go_on)
        elif self.mode is Mode.JUDGE:
            self._leave_as_it_is()

    def back(self) -> None:
        """Go back to the answers; what was typed stays as a draft."""
        if self.mode is Mode.WRITING:
            self._writing.leave()
        elif self.mode is Mode.JUDGE:
            self._leave_as_it_is()
        else:
            self.enter_mode(Mode.JUDGE)

    def _leave_as_it_is(self) -> None:
        """Go back to where the person was before they came to look at an answer of theirs."""
        if self.view.item is not None and self.view.item.stands:
            self._do(partial(self.session.go_to, None))

    # doing

    def _do(self, call: Callable[[], View], then: Callable[[View], None] | None = None) -> None:
        """Let the session do something away from the window, and show what comes of it."""
        if not self._busy:
            self._busy = True
            self._slow.start()
            self.desk.work.do(call, partial(self._done, then or self.draw), self._failed)

    def _done(self, then: Callable[[View], None], view: View) -> None:
        if isValid(self):
            self._ready()
            then(view)

    def _failed(self, error: HarnessError) -> None:
        if isValid(self):
            self._ready()
            self.tell(trouble(self.words, error))

    def _ready(self) -> None:
        self._busy = False
        self._slow.stop()

    def _press(self, act: Act) -> None:
        """Do what a button stands for."""
        self.session.touched()
        self._leave_panel(partial(self._act, act))

    def _leave_panel(self, then: Callable[[], object]) -> None:
        """Go back to the answers, and then do something; what is typed is kept before."""
        if self.mode is Mode.WRITING:
            self._put_away(self._writing.text, then)
            return
        if self.mode is not Mode.JUDGE:
            self.enter_mode(Mode.JUDGE)
        then()

    def _act(self, act: Act | None) -> bool:
        """Do what an act means for the item that is shown; False where it means nothing."""
        item = self.view.item
        if act is None or item is None or self._busy:
            return act is not None
        if act in {Act.LARGER, Act.SMALLER}:
            self._deeds[act](item)
        elif not item_words.allows(self.view, act):
            self.say(item_words.why_not_now(self.words, self.view))
        elif act in _ASKABLE and not self.asks:
            self.say(self.words("This computer cannot show some letters."))
        elif act in RATING_OF:
            self._rate(act, item)
        elif act in _ONWARD:
            self.onward.emit(_ONWARD[act])
        else:
            self._deeds[act](item)
        return True

    def _rate(self, act: Act, item: ShownItem) -> None:
        """Rate what was seen: where the translation is still below, show it first."""
        if self._texts.seen and not self._texts.translation_seen:
            self._bring(self._texts.candidate)
            self.say(self.words("First read the translation."))
        else:
            self._do(partial(self.session.rate, item.id, RATING_OF[act]))

    # asking once more

    def _ask_why(self, _: ShownItem) -> None:
        self._why.ask(Question("", self.words(item_words.WHY_NOT)))
        self.enter_mode(Mode.WHY)

    def _cannot_judge(self, why: CannotJudge | None) -> None:
        item = self.view.item
        if why is not None and item is not None:
            self.enter_mode(Mode.JUDGE)
            self._do(partial(self.session.cannot_judge, item.id, why))

    def _ask_reasons(self, _: ShownItem) -> None:
        last = self.view.last
        if last is None or last.rating is None:
            self.say(self.words(item_words.ANSWER_FIRST))
            return
        self._reasons.mark([list(Reason).index(reason) for reason in last.item.reasons])
        self._reasons.ask(item_words.last_question(self.words, last))
        self.enter_mode(Mode.REASONS)

    def _reason(self, reason: Reason | None) -> None:
        last = self.view.last
        if reason is not None and last is not None:
            self.enter_mode(Mode.JUDGE)
            reasons = set(last.item.reasons) ^ {reason}
            self._do(partial(self.session.set_reasons, last.item.id, reasons))

    def _ask_harm(self, item: ShownItem) -> None:
        self._harm.ask(Question("", harm_question(self.words, harmful=item.harmful)))
        self.enter_mode(Mode.HARM)

    def _flag_harm(self) -> None:
        item = self.view.item
        if item is not None:
            self.enter_mode(Mode.JUDGE)
            self._do(partial(self.session.flag_harm, item.id, not item.harmful))

    def _show_more(self) -> None:
        self._more.offer(self._acts.folded, answers=self.view.done > 0)
        self.enter_mode(Mode.MORE)

    # writing

    def _write(self, field: TextField, item: ShownItem) -> None:
        self.field = field
        self._open_box(item.comment if field is TextField.COMMENT else item.suggestion)

    def _open_box(self, text: str) -> None:
        item = self.view.item
        suggests = self.field is TextField.SUGGESTION and item is not None
        self.enter_mode(Mode.WRITING)
        title = item_words.writing_title(self.words, self.field)
        self._writing.begin(title, text, start=item.candidate if suggests and item else "")
        self._kept = self._writing.text

    def _keep_draft(self, text: str, then: Callable[[], object] | None = None) -> None:
        """Keep what is being typed; where that fails, say so and leave the text where it is."""
        item = self.view.item
        if item is not None:
            self._kept = text
            keep = partial(self.session.keep_draft, item.id, self.field, text)
            lost = partial(self._draft_lost, item.id, text)
            self.desk.work.do(keep, partial(self._draft_kept, then), lost)

    def _draft_kept(self, then: Callable[[], object] | None, _: None) -> None:
        if not isValid(self):
            return
        if self.mode is Mode.WRITING and not self._busy:
            self.tell(None)
        if then is not None:
            then()

    def _draft_lost(self, item: str, text: str, error: HarnessError) -> None:
        """Say that a draft is not on the disk; its text stays in the box, or comes back into it."""
        self._kept = None
        if not isValid(self):
            return
        shown = self.view.item
        if self.mode is Mode.JUDGE and shown is not None and shown.id == item:
            self._open_box(text)
        self.tell(trouble(self.words, error))

    def _save(self, text: str) -> None:
        item = self.view.item
        if item is not None:
            save = partial(self.session.save_text, item.id, self.field, text)
            self._do(save, self._written)

    def _written(self, view: View) -> None:
        if not view.trouble:
            self.enter_mode(Mode.JUDGE)
        self.draw(view)

    def _put_away(self, text: str, then: Callable[[], object] | None = None) -> None:
        """Leave the box; what was typed stays as a draft, and once it is kept something else is done."""
        item = self.view.item
        if item is not None:
            comment = self.field is TextField.COMMENT
            kept = replace(item, comment=text) if comment else replace(item, suggestion=text)
            self.view = replace(self.view, item=kept)
            self._texts.show_marks(item_words.marks(self.words, kept))
            self._keep_draft(text, then)
        self.enter_mode(Mode.JUDGE)
