"""Drawing the view: one immutable picture of where the person is and what was said of each item."""

from __future__ import annotations

from dataclasses import replace

from review.files.batch import Batch
from review.files.manifests import BatchItem, TrainingItem, wording
from review.log.payloads import Rate, Translate
from review.session.course import CoursePlace, SessionProgress
from review.session.drafts import Drafts
from review.session.parts import minutes_for, part_size, seconds_each
from review.session.progress import SittingProgress
from review.session.view import (
    LastJudged,
    Lesson,
    Phase,
    ShownItem,
    TextField,
    Unsaved,
    View,
)
from review.session.words.catalogue import Words
from review.session.words.page import given

_JUDGING = frozenset({Phase.ITEMS, Phase.SKIPPED, Phase.REST, Phase.END})
_TIMED = frozenset({Phase.CONSENT, Phase.REST})


class Picture:
    """Knows the batch's texts and draws what is shown of them."""

    def __init__(self, batch: Batch, drafts: Drafts) -> None:
        self._manifest = batch.manifest
        self._texts = {item.id: item for item in (*batch.items, *batch.training)}
        self._drafts = drafts

    def view(
        self, course: SessionProgress, now: SittingProgress, place: CoursePlace, words: Words
    ) -> View:
        """Draw the view of a place; what the organisation wrote is in the language of ``words`` where it can be."""
        judging = place.phase in _JUDGING
        done, total = len(now.person.decided), len(course.order)
        part = part_size(total)
        return View(
            phase=place.phase,
            done=done,
            total=total,
            part=part,
            minutes=self._minutes(min(part, total - done), now) if place.phase in _TIMED else 0,
            item=None if place.item is None else self._item(place, now),
            lesson=self._lesson(course, words) if place.phase is Phase.TRAINING else None,
            last=self._last(course, now) if judging else None,
            skipped=len(now.person.skipped),
            unsaved=self._unsaved(now),
            can_undo=judging and bool(now.person.acts),
            handed_over=now.handed_over,
            shares=now.person.share_corrections,
        )

    def _minutes(self, sentences: int, now: SittingProgress) -> int:
        """Return about how many minutes a number of sentences takes this person."""
        translating = self._manifest.task == "translate"
        return minutes_for(sentences, seconds_each(now.decisions.values(), translating=translating))

    def _lesson(self, course: SessionProgress, words: Words) -> Lesson | None:
        """Return the answer to the training item that was answered, explained in the person's language."""
        if course.lesson is None:
            return None
        place, lesson = course.lesson
        item = self._texts[place.item or ""]
        if not isinstance(item, TrainingItem):
            return lesson
        own = self._manifest.language
        text_wording = wording(item.explanation, own, item.explanations, *words.reads)
        shown = given(words, self._manifest, text_wording)
        return replace(lesson, explanation=shown.text, note=shown.note)

    def _item(self, place: CoursePlace, now: SittingProgress) -> ShownItem:
        text = self._texts[place.item or ""]
        plain = _read(text, place.number, place.of)
        if place.phase is Phase.TRAINING:
            return plain
        before = now.taken_back.get(text.id)
        shown = self._with_words(plain, now)
        if text.id in now.person.decided:
            return _answered(shown, now)
        if isinstance(before, Rate):
            return replace(shown, rating=before.rating)
        if isinstance(before, Translate) and not shown.translation:
            return replace(shown, translation=before.text)
        return shown

    def _with_words(self, item: ShownItem, now: SittingProgress) -> ShownItem:
        return replace(
            item,
            reasons=now.person.reasons.get(item.id, ()),
            comment=self._typed(item.id, TextField.COMMENT, now),
            suggestion=self._typed(item.id, TextField.SUGGESTION, now),
            harmful=item.id in now.person.harmful,
            translation=self._typed(item.id, TextField.TRANSLATION, now),
            drafts=frozenset(self._drafts.of(item.id)),
        )

    def _typed(self, item: str, field: TextField, now: SittingProgress) -> str:
        """Return what is being written, else what was saved; a translation that was emptied is none."""
        draft, saved = self._drafts.of(item).get(field), now.written(item, field)
        if field is TextField.TRANSLATION:
            return draft or saved
        return saved if draft is None else draft

    def _unsaved(self, now: SittingProgress) -> tuple[Unsaved, ...]:
        unsaveds = [
            Unsaved(item, now.number(item), fields) for item, fields in self._drafts.items().items()
        ]
        return tuple(
            sorted(
                (unsaved for unsaved in unsaveds if unsaved.number),
                key=lambda unsaved: unsaved.number,
            )
        )

    def _last(self, course: SessionProgress, now: SittingProgress) -> LastJudged | None:
        """Return the item decided last; none after an undo, which opens one whose reasons would go astray."""
        item = now.judged_last
        if item is None or item not in now.person.decided:
            return None
        return LastJudged(shown := self._decided(item, course, now), shown.rating)

    def answered(self, course: SessionProgress, now: SittingProgress) -> tuple[ShownItem, ...]:
        """Draw every item that was decided, in the person's order, with its answer as it was saved."""
        return tuple(
            replace(
                self._decided(item, course, now), translation=now.person.translation(item) or ""
            )
            for item in course.order
            if item in now.person.decided
        )

    def _decided(self, item: str, course: SessionProgress, now: SittingProgress) -> ShownItem:
        text, number = self._texts[item], now.number(item)
        shown = _read(text, number, len(course.order))
        return _answered(self._with_words(shown, now), now)


def _read(text: BatchItem, number: int, of: int) -> ShownItem:
    """Return what there is to read of an item."""
    return ShownItem(
        text.id, text.source, text.candidate, number, of, around=text.around, others=text.others
    )


def _answered(item: ShownItem, now: SittingProgress) -> ShownItem:
    """Add what was decided: a rating, a translation, or that the person could give none."""
    judgement = now.person.judgement(item.id)
    rating = None if judgement is None else judgement.rating
    could_not = judgement is not None and rating is None
    return replace(item, rating=rating, stands=True, could_not=could_not)
