"""One reviewer's sitting with one batch: every key becomes an event on the disk, then a new view.

Nothing is shown as done before it is durable, and a key acts only on the item that was painted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from harness.core.failures import HarnessError
from harness.core.storage import storable
from review.files.batch import Batch
from review.files.manifests import BatchManifest
from review.log.laptop import Draft, Laptop
from review.log.payloads import (
    MOST_TEXT,
    AnyPayload,
    Consent,
    Face,
    HarmFlag,
    NotJudged,
    Rate,
    Reasons,
    Related,
    Scope,
    Skip,
    Train,
    Translate,
    Undo,
    Withdraw,
)
from review.log.table import NotSaved
from review.rating import CannotJudge, Rating, Reason, Relation
from review.session import position
from review.session.position import GUARD_SECONDS, ActiveTime, Clock, Picture, SessionProgress
from review.session.record import KIND_OF, Author, DecisionFields, Record
from review.session.view import Lesson, Parts, Phase, ShownItem, SittingProgress, TextField, View, trained_before
from review.session.waiting import Exported, hand_over
from review.session.words.catalogue import Words
from review.session.words.troubles import trouble

_ANSWERING = frozenset({Phase.ITEMS, Phase.SKIPPED})
_JUDGING = _ANSWERING | {Phase.REST, Phase.END}
_ASKED_SHARING = "asked sharing"  # Setting: the person who was asked whether better translations may be used
_UTC_NOW = partial(datetime.now, UTC)


class Session:
    """What each key does, for any face; knows no screen and prints nothing.

    Of a failure to save, the view tells in ``trouble``: the item stays, and nothing advances.
    """

    def __init__(
        self,
        laptop: Laptop,
        batch: Batch,
        reviewer: str,
        face: Face,
        words: Words,
        *,
        clock: Clock = time.monotonic,
        now: Callable[[], datetime] = _UTC_NOW,
        font: str | None = None,
        guard: float = GUARD_SECONDS,
    ) -> None:
        """``reviewer`` is a person who has an order in the manifest, as ``Batch.person`` gives them; ``guard`` in seconds, 0 where no person types."""
        self._words = words
        self.font = font  # Font and size, recorded with each rating
        self._laptop, self._batch, self._reviewer = laptop, batch, reviewer
        order = batch.manifest.order(reviewer)
        self._author = Author(batch.manifest.batch, reviewer, order, face, now)
        self.time = ActiveTime(clock, guard)
        everything = list(laptop.events())
        self._record = Record(laptop, batch.manifest.batch, self._author, order, everything)
        self._picture = Picture(batch, self._record.drafts)
        self._parts = Parts(len(self._progress.person.decided))
        # whoever answered a sentence is past the practice, done or skipped
        known = bool(self._progress.decisions) or trained_before(everything, batch.manifest.batch, reviewer)
        course = SessionProgress(order, training=() if known else batch.training)
        self._course = course.going_to(self._progress.reopened)
        self._view = self._drawn()
        self._asked_sharing = self.translating or laptop.setting(_ASKED_SHARING) == reviewer

    @property
    def _progress(self) -> SittingProgress:
        return self._record.progress

    @property
    def words(self) -> Words:
        """The reviewer's language; a face may change it at any time."""
        return self._words

    @words.setter
    def words(self, words: Words) -> None:
        self._words, old = words, self._view
        self._view = replace(self._drawn(), said=old.said, trouble=old.trouble, detail=old.detail)

    @property
    def view(self) -> View:
        return self._view

    @property
    def manifest(self) -> BatchManifest:
        """Return the batch's head: organisation, title, consent, guide."""
        return self._batch.manifest

    @property
    def translating(self) -> bool:
        return self.manifest.task == "translate"

    def painted(self, item: str) -> None:
        """Record that the item is visible: its time starts, and keys begin to mean it a moment later."""
        if self._view.item is not None and self._view.item.id == item:
            self.time.painted()

    def touched(self) -> None:
        self.time.touched()

    def agree(self, *, share_corrections: bool) -> View:
        if self._view.phase is not Phase.CONSENT:
            return self._view
        return self._done([self._agreed(share_corrections)])

    @property
    def asks_relation(self) -> bool:
        """Return whether to ask how near the person is to the method: once, after the consent, before anything is judged."""
        person = self._progress.person
        begun = person.decided or person.skipped or person.trained
        open_ = person.consented and person.relation is None and not self._progress.withdrawn
        first = self.manifest.second_of is None  # in a second look it was said before
        judged = self.manifest.has_verdict and not self.translating
        return open_ and not begun and judged and first

    def relate(self, relation: Relation) -> View:
        """Record how near the person is to the method that is judged; an earlier answer stays."""
        if not self.asks_relation:
            return self._view
        return self._done([Related(**self._author.who(), relation=relation)])

    @property
    def asks_sharing(self) -> bool:
        """Return whether to ask, before the first better translation, if such may be used."""
        return not self._asked_sharing and not self._view.shares

    def share(self, shares: bool) -> View:
        """Allow what the person writes to be used, or not any more: the consent is given again, and the last one counts."""
        if self._view.phase not in _JUDGING:
            return self._view
        given = [] if shares is self._view.shares else [self._agreed(shares)]
        message = position.shared(self.words, shares=shares, translating=self.translating)
        if not self._done(given, message).trouble:
            self._asked_sharing = True
            with suppress(HarnessError):  # where it cannot be kept, it is asked the next time, too
                self._laptop.set_setting(_ASKED_SHARING, self._reviewer)
        return self._view

    def _agreed(self, shares: bool) -> Consent:
        """Return the event that agrees: to the text that is shown, and to the same one when it is given again."""
        if (before := self._progress.person.consent) is not None:
            changed = {"wall": self._author.wall(), "share_corrections": shares}
            return before.model_copy(update=changed)
        text, shown = self.manifest.consent_in(*self.words.reads)
        tag = shown if (self.manifest.version or 0) >= 3 else None
        return self._author.agreed(text, self.words.language, shares=shares, text_language=tag)

    def rate(self, item: str, rating: Rating, *, override: bool = False) -> View:
        """Rate the item that is shown, or answer the training item."""
        if (not_meant := self._not_meant(item, training=True)) is not None:
            return not_meant
        if self.translating:
            return self._trouble(self.words(position.ASKS_FOR_TRANSLATIONS))
        if self._view.phase is Phase.TRAINING:
            exercise = next(t for t in self._batch.training if t.id == item)
            lesson = Lesson(rating, exercise.rating, exercise.explanation)
            course = replace(self._course, lesson=(self._place, lesson))
            return self._done([Train(**self._author.about(item), rating=rating)], course=course)
        judged = Rate(**self._judged(item, override=override), rating=rating)
        return self._decide(judged, position.rated(self.words, rating))

    def cannot_judge(self, item: str, why: CannotJudge, *, override: bool = False) -> View:
        """Decide that this person cannot judge the item that is shown.

        The office that made a batch of an earlier version cannot read NOT_SHOWN, and gets UNSAID.
        """
        if (not_meant := self._not_meant(item)) is not None:
            return not_meant
        if why is CannotJudge.NOT_SHOWN and not self.manifest.knows_not_shown:
            why = CannotJudge.UNSAID
        judged = NotJudged(**self._judged(item, override=override), why=why)
        message = position.NOT_TRANSLATED if self.translating else position.NOT_JUDGED
        return self._decide(judged, self.words(message))

    def translate(self, item: str, text: str, *, override: bool = False) -> View:
        """Return the translation of the item that is shown; only where the batch asks for translations."""
        if (not_meant := self._not_meant(item)) is not None:
            return not_meant
        if not self.translating:
            return self._trouble(self.words(position.ASKS_FOR_RATINGS))
        if not (typed := storable(text).strip()):
            return self._trouble(self.words(position.NOTHING_WRITTEN))
        if len(typed) > MOST_TEXT:
            return self._too_long(item, TextField.TRANSLATION, typed)
        message = self.words(position.TRANSLATED)
        if typed == self._progress.written(item, TextField.TRANSLATION):
            texts, drafts = self._record.typed_about(item)
            drafts.append(Draft(item, TextField.TRANSLATION, None))
            return self._done(texts, message, self._course.going_to(None), drafts)
        return self._decide(Translate(**self._judged(item, override=override), text=typed), message)

    def skip(self, item: str) -> View:
        """Move the item that is shown to the end; in practice, skip all of it that waits."""
        if self._place.phase is Phase.TRAINING:
            skipped = [Skip(**self._author.about(waiting)) for waiting in self._course.exercises(self._progress)]
            return self._done(skipped, self.words(position.PRACTICE_IS_OVER), replace(self._course, lesson=None))
        if (not_meant := self._not_meant(item)) is not None:
            return not_meant
        course = self._course.decided(put_aside=item)
        message = position.put_aside(self.words, again=self._view.phase is Phase.SKIPPED)
        return self._done([Skip(**self._author.about(item))], message, course)

    def undo(self) -> View:
        """Undo the last decision with its reasons, as many times as there is one; its item is shown again."""
        if self._view.item is not None and not self.time.takes_keys():
            return self._too_soon()
        target = self._progress.last_act
        if self._view.phase not in _JUDGING or target is None:
            return self._say(self.words(position.NOTHING_TO_TAKE_BACK))
        decision = self._progress.decisions[target]
        try:
            beside, drafts = self._record.undone_beside(target)
        except HarnessError as error:
            return self._trouble(*trouble(self.words, error))
        return self._done(
            [*beside, Undo(**self._author.who(), target=target)],
            position.taken_back(self.words, decision, beside, translating=self.translating),
            self._course.going_to(decision.item),
            drafts,
        )

    def go_on(self) -> View:
        """Finish a lesson or a rest, or start with the items that were put aside."""
        practised = self._place.phase is Phase.TRAINING
        self._course = self._course.going_on(self._progress, self._place)
        over = practised and self._course.place(self._progress).phase is not Phase.TRAINING
        return self._say(self.words(position.PRACTICE_IS_OVER) if over else "")

    def go_to_unrated(self) -> View:
        """Show the next item without an answer, in the person's order, after the last one the first."""
        if self._view.phase not in _JUDGING:
            return self._view
        here = self._view.item.id if self._view.item else None
        item = self._course.next_unrated(self._progress, here)
        return self.go_to(item) if item else self._say(self.words(position.ALL_ANSWERED))

    def go_to_unsaved(self) -> View:
        """Show the next item with words that are not saved, in the person's order, after the last one the first."""
        here = self._view.item.id if self._view.item else ""
        unsaved, number = self._view.unsaved, self._progress.number(here)
        later = (unsaved.item for unsaved in unsaved if unsaved.number > number)
        item = next(later, unsaved[0].item if unsaved else None)
        if self._view.phase not in _JUDGING or item is None:
            return self._say(self.words(position.ALL_SAVED))
        self.go_to(item)
        return self._say(self.words(position.NOT_SAVED_HERE))

    def go_to(self, item: str | None) -> View:
        """Show an item of this person out of turn; None goes back to where they were without it."""
        if self._view.phase in _JUDGING and item in {None, *self._course.order}:
            self._course = self._course.going_to(item)
            return self._say("")
        return self._view

    def answered(self) -> tuple[ShownItem, ...]:
        """Return the items that this person decided about, in their order, with what they said of each."""
        return self._picture.answered(self._course, self._progress)

    def set_reasons(self, item: str, reasons: Collection[Reason]) -> View:
        """Record what is wrong with the item that is shown or was judged last."""
        if not self._at_hand(item):
            return self._view
        chosen = tuple(reason for reason in Reason if reason in reasons)
        message = position.reasons(self.words, chosen)
        return self._done([Reasons(**self._author.about(item), reasons=chosen)], message)

    def keep_draft(self, item: str, field: TextField, text: str) -> None:
        """Store what is being typed, so that no crash loses it.

        Raises NotSaved where the disk does not take it; it is then shown, and tried again with what comes next.
        """
        self.touched()
        withdrawn = self._progress.words_withdrawn and field is not TextField.TRANSLATION
        if not self._at_hand(item) or withdrawn:
            return
        try:
            self._record.drafts.keep(item, field, text, self._progress.written(item, field))
        finally:
            self._view = replace(self._drawn(), said=self._view.said)

    def save_text(self, item: str, field: TextField, text: str) -> View:
        """Save a comment or a better wording; an empty one takes it back. A translation is an answer."""
        if field is TextField.TRANSLATION:
            return self.translate(item, text)
        self.touched()
        if not self._at_hand(item):
            return self._view
        if self._progress.words_withdrawn:
            return self._trouble(position.no_more_words(self.words, translating=self.translating))
        typed = storable(text).strip()
        if len(typed) > MOST_TEXT:
            return self._too_long(item, field, typed)
        message, dropped = position.text(self.words, field, typed), Draft(item, field, None)
        given = KIND_OF[field](**self._author.about(item), text=typed)
        return self._done([given], message, drafts=[dropped])

    def flag_harm(self, item: str, harmful: bool) -> View:
        """Call an item harmful or culturally wrong, or take that back."""
        if not self._at_hand(item):
            return self._view
        flag = HarmFlag(**self._author.about(item), harmful=harmful)
        return self._done([flag], position.harm(self.words, harmful=harmful))

    def withdraw(self, scope: Scope) -> View:
        """Withdraw what this person gave, at any time, and erase it from this computer."""
        batch = None if scope is Scope.EVERYTHING else self.manifest.batch
        wall, who = self._author.wall(), self._reviewer
        payload = Withdraw(wall=wall, reviewer=who, batch=batch, scope=scope)
        message = position.withdrawn(self.words, scope, translating=self.translating)
        return self._done([payload], message, then=self._record.reread)

    def export(self, folder: Path) -> Exported:
        """Write everything about this batch as one sealed file into a folder and read it back.

        Raises NotSaved or FileError in words; the ratings stay on this computer either way.
        """
        exported = hand_over(self._laptop, self._batch, self._reviewer, folder, self._author.wall())
        self._record.reread()
        self._say("")
        return exported

    def close(self) -> None:
        """End the sitting: no key does anything any more. Everything is on the disk, if it takes anything now."""
        self.time.reset()
        with suppress(NotSaved):
            self._record.drafts.keep_held()

    def _judged(self, item: str, *, override: bool) -> DecisionFields:
        spent = self.time.milliseconds()
        return self._author.decided(item, active_ms=spent, font=self.font, override=override)

    def _not_meant(self, item: str, *, training: bool = False) -> View | None:
        """Return what to show of a key that cannot mean this item; None where it is shown, and not only just now."""
        view = self._view
        lessons = training and view.phase is Phase.TRAINING and view.lesson is None
        right = view.item is not None and view.item.id == item
        if not (right and (lessons or view.phase in _ANSWERING)):
            return view
        return None if self.time.takes_keys() else self._too_soon()

    def _too_soon(self) -> View:
        self.time.too_soon()
        return self._show(replace(self._drawn(), said=self.words(position.TOO_SOON), too_soon=True))

    def _at_hand(self, item: str) -> bool:
        """Return whether words can be said about this item: it is shown, or was judged last."""
        view = self._view
        shown = view.item.id if view.item and view.phase in _ANSWERING else None
        return item in {shown, view.last.item.id if view.last else None}

    # what happens

    def _decide(self, judged: Rate | NotJudged | Translate, said: str) -> View:
        """Store an answer, and with it what was typed about its item."""
        texts, drafts = self._record.typed_about(judged.item)
        if isinstance(judged, Translate):
            drafts.append(Draft(judged.item, TextField.TRANSLATION, None))
        said = position.with_texts(self.words, said, texts)
        view = self._done([*texts, judged], said, self._course.decided(), drafts)
        if view.trouble or view.item is None or not self._parts.end_with(view.done):
            return view
        self._course = self._course.decided(rest=True)
        return self._say(said)

    def _done(
        self,
        payloads: Sequence[AnyPayload],
        said: str = "",
        course: SessionProgress | None = None,
        drafts: Sequence[Draft] = (),
        then: Callable[[], None] | None = None,
    ) -> View:
        """Make events and changes of drafts durable, all or none; only then show what follows.

        On failure the course stays.
        """
        try:
            self._record.keep(payloads, drafts, language=self.words.language)
            if then is not None:
                then()
        except HarnessError as error:
            return self._trouble(*trouble(self.words, error))
        self._course = course or self._course
        return self._say(said)

    # what is shown

    def _say(self, said: str) -> View:
        return self._show(replace(self._drawn(), said=said))

    def _trouble(self, words: str, detail: str = "") -> View:
        return self._show(replace(self._drawn(), trouble=words, detail=detail))

    def _show(self, view: View) -> View:
        if getattr(view.item, "id", None) != getattr(self._view.item, "id", None):
            self.time.reset()
        self._view = view
        return view

    def _drawn(self) -> View:
        self._place = self._course.place(self._progress)
        return self._picture.view(self._course, self._progress, self._place, self._words)

    def _too_long(self, item: str, field: TextField, typed: str) -> View:
        """Store as much as can be kept, and show that it is too much."""
        self.keep_draft(item, field, typed)
        return self._trouble(position.too_long(self.words, typed))
