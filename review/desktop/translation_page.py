"""The page on which a speaker translates: a sentence, a box that is always open, and what else can be done.

Nothing advances before it is on the disk, and what is typed is kept at each pause.
"""

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
from review.desktop.item_keys import control_act
from review.desktop.translation_face import Mode, TranslationFace
from review.rating import CannotJudge
from review.session import item_words
from review.session.item_words import Question
from review.session.keys import Act, act_of, cannot_judge_of
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


class TranslationPage(TranslationFace):
    """Enter saves and shows the next sentence; Esc lets the keys act that the buttons show."""

    onward = Signal(object)
    """Another page is wanted: an Onward."""
    away = Signal(object)
    """A View without an item came."""

    def __init__(self, desk: Desk, session: Session) -> None:
        super().__init__(desk, session)
        self._busy = False
        """True while the session works: keys that come meanwhile were not meant for what comes next."""
        self._kept: dict[TextField, str] = {}
        """What stood in the boxes when they were kept last."""
        self._slow = QTimer(self, singleShot=True, interval=SLOW_MILLISECONDS)
        self._slow.timeout.connect(lambda: self.say(self.words(item_words.SAVING)))
        self._deeds: dict[Act, Callable[[ShownItem], None]] = {
            Act.SKIP: lambda item: self._do(partial(session.skip, item.id)),
            Act.UNDO: lambda _: self._do(session.undo),
            Act.UNRATED: lambda _: self._do(session.go_to_unrated),
            Act.CANNOT_JUDGE: self._ask_why,
            Act.COMMENT: self._write_comment,
            Act.HARM: self._ask_harm,
        }
        self._listen()
        if self.view.item is not None:
            self.draw(self.view)

    def _listen(self) -> None:
        self._box.saved.connect(self._translated)
        self._box.paused.connect(partial(self._keep_draft, TextField.TRANSLATION))
        self._box.left.connect(lambda _: self.enter_mode(Mode.ACTS))
        self._why.picked.connect(lambda number: self._cannot(list(CannotJudge)[number]))
        self._harm.agreed.connect(self._flag_harm)
        for asked in (self._why, self._harm, self._more):
            asked.left.connect(self.back)
        self._acts.chosen.connect(self._press)
        self._acts.more.connect(self._show_more)
        self._more.chosen.connect(self._press)
        self._more.answers.connect(
            partial(self._leave_panel, partial(self.onward.emit, Onward.ANSWERS))
        )
        self._comment.saved.connect(self._save_comment)
        self._comment.left.connect(lambda _: self._leave_panel())
        self._comment.paused.connect(partial(self._keep_draft, TextField.COMMENT))

    # for the window

    def begin(self) -> None:
        """Take the keys and say what is to be translated."""
        if self.mode is Mode.COMMENT:
            self._comment.take_keys()
        else:
            self.enter_mode(self.mode)
            announce(self, self._spoken())

    def draw(self, view: View) -> None:
        """Show a view; one without an item leads to another page."""
        if view.item is not None and view.item.id != self._shown:
            self.mode = Mode.TRANSLATE
            self._kept = {TextField.TRANSLATION: view.item.translation}
        super().draw(view)
        if view.item is None:
            self.away.emit(view)

    def keep_typed(self) -> None:
        """Keep what stands in the boxes as drafts, before the page goes away."""
        if not self._busy:
            for field, text in self._unkept().items():
                self._keep_draft(field, text)

    def _unkept(self) -> dict[TextField, str]:
        """Give what stands in the boxes and was not kept yet."""
        texts = {TextField.TRANSLATION: self._box.text}
        if self.mode is Mode.COMMENT:
            texts[TextField.COMMENT] = self._comment.text
        return {field: text for field, text in texts.items() if text != self._kept.get(field, "")}

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
        """Do what a character means here; while a sentence is translated it is text, wherever the focus is."""
        if self.mode is Mode.COMMENT:
            self._comment.take(character)
        elif self.mode is Mode.WHY:
            self._cannot(cannot_judge_of(character))
        elif self.mode in {Mode.ACTS, Mode.MORE} or not self.asks:
            return self._mean(act_of(character))
        elif self.mode is Mode.TRANSLATE and not self._busy and character.isprintable():
            self._box.take(character)
        return True

    def _mean(self, act: Act | None) -> bool:
        if act is None:
            return False
        self._press(act)
        return True

    def pressed(self, event: QKeyEvent) -> bool:
        """Do what F1 and Ctrl+Z mean here: they hold while a box is open, too."""
        act = control_act(event)
        if act is None or act not in {Act.HELP, Act.UNDO}:
            return super().pressed(event)
        self._leave_panel(partial(self._act, act))
        return True

    def enter(self) -> None:
        """Save, agree to what is asked, or go back to the box."""
        if self.mode is Mode.HARM:
            self._flag_harm()
        elif self.mode is Mode.COMMENT:
            self._comment.save()
        elif self.mode is Mode.TRANSLATE and self.asks:
            self._box.save()
        else:
            self.enter_mode(Mode.TRANSLATE)

    def back(self) -> None:
        """Go back to the box, or from it to the keys that act; what was typed stays as a draft."""
        if self.mode is Mode.TRANSLATE:
            self.enter_mode(Mode.ACTS)
        else:
            self._leave_panel()

    # doing

    def _do(self, call: Callable[[], View], then: Callable[[View], None] | None = None) -> None:
        """Let the session do something away from the window, and show what comes of it."""
        if not self._busy:
            self._busy = True
            self._slow.start()
            self._box.hold(still=True)
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
        self._box.hold(still=False)

    def _press(self, act: Act) -> None:
        """Do what a button stands for."""
        self.session.touched()
        self._leave_panel(partial(self._act, act))

    def _leave_panel(self, then: Callable[[], object] = lambda: None) -> None:
        """Go back to the box, and then do something; what is typed is kept before."""
        item, texts = self.view.item, self._unkept()
        if item is None or self._busy:
            return
        self._note_comment()
        if self.mode is not Mode.TRANSLATE:
            self.enter_mode(Mode.TRANSLATE)
        if not texts:
            then()
            return
        self._busy = True
        self.desk.work.do(
            partial(self._keep_all, item.id, texts),
            lambda _: self._put_away(texts, then),
            self._failed,
        )

    def _keep_all(self, item: str, texts: dict[TextField, str]) -> None:
        for field, text in texts.items():
            self.session.keep_draft(item, field, text)

    def _put_away(self, texts: dict[TextField, str], then: Callable[[], object]) -> None:
        if isValid(self):
            self._ready()
            self._kept |= texts
            then()

    def _note_comment(self) -> None:
        """Let an open comment be seen beside the sentence, as the draft that it is now."""
        item = self.view.item
        if self.mode is Mode.COMMENT and item is not None:
            self.view = replace(self.view, item=replace(item, comment=self._comment.text))
            self._show_marks(replace(item, comment=self._comment.text))

    def _act(self, act: Act) -> None:
        """Do what an act means for the sentence that is shown."""
        item = self.view.item
        if item is None or self._busy:
            return
        if act in {Act.LARGER, Act.SMALLER}:
            look = self.desk.look
            (look.larger if act is Act.LARGER else look.smaller)()
        elif act in _ONWARD:
            self.onward.emit(_ONWARD[act])
        elif act in {Act.COMMENT, Act.HARM} and not self.asks:
            self.say(self.words("This computer cannot show some letters."))
        elif act in self._deeds:
            self._deeds[act](item)

    def _show_more(self) -> None:
        self.enter_mode(Mode.MORE)
        self._more.offer(self._acts.folded, answers=self.view.done > 0)

    # answers

    def _translated(self, text: str) -> None:
        """Save a translation; one that the person only came to look at again stays as it is."""
        item = self.view.item
        if item is None or self._busy:
            return
        if item.stands and text == item.translation:
            self._do(partial(self.session.go_to, None))
        else:
            self._do(partial(self.session.translate, item.id, text))

    def _ask_why(self, _: ShownItem) -> None:
        self.enter_mode(Mode.WHY)
        self._why.ask(Question("", self.words(item_words.WHY_UNTRANSLATED)))

    def _cannot(self, why: CannotJudge | None) -> None:
        item = self.view.item
        if why is not None and item is not None:
            self.enter_mode(Mode.TRANSLATE)
            self._do(partial(self.session.cannot_judge, item.id, why))

    def _ask_harm(self, item: ShownItem) -> None:
        self.enter_mode(Mode.HARM)
        said = harm_question(self.words, harmful=item.harmful, translating=True)
        self._harm.ask(Question("", said))

    def _flag_harm(self) -> None:
        item = self.view.item
        if item is not None:
            self.enter_mode(Mode.TRANSLATE)
            self._do(partial(self.session.flag_harm, item.id, not item.harmful))

    # words beside the translation

    def _write_comment(self, item: ShownItem) -> None:
        self.enter_mode(Mode.COMMENT)
        self._comment.begin(item_words.writing_title(self.words, TextField.COMMENT), item.comment)
        self._kept[TextField.COMMENT] = self._comment.text

    def _save_comment(self, text: str) -> None:
        item = self.view.item
        if item is not None:
            save = partial(self.session.save_text, item.id, TextField.COMMENT, text)
            self._do(save, self._commented)

    def _commented(self, view: View) -> None:
        if not view.trouble:
            self.enter_mode(Mode.TRANSLATE)
        self.draw(view)

    def _keep_draft(self, field: TextField, text: str) -> None:
        """Keep what is being typed; where that fails, say so and leave the text where it is."""
        item = self.view.item
        if item is not None and not self._busy:
            self._kept[field] = text
            keep = partial(self.session.keep_draft, item.id, field, text)
            self.desk.work.do(keep, self._draft_kept, partial(self._draft_lost, field))

    def _draft_kept(self, _: None) -> None:
        if isValid(self) and not self._busy:
            self.tell(None)

    def _draft_lost(self, field: TextField, error: HarnessError) -> None:
        self._kept.pop(field, None)
        if isValid(self):
            self.tell(trouble(self.words, error))
