"""Drawing the view: one immutable picture of where the person is and what was said of each item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from review.files.batch import Batch
from review.log.payloads import Rate, Translate
from review.rating import Rating
from review.session.course import Course, Place
from review.session.progress import Progress
from review.session.view import LastJudged, Phase, ShownItem, TextField, View

Draft = Callable[[str, TextField], str | None]
"""(item, field) → the text that is being written, None where there is none."""

_JUDGING = frozenset({Phase.ITEMS, Phase.SKIPPED, Phase.REST, Phase.END})


class Picture:
    """Knows the batch's texts and draws what is shown of them."""

    def __init__(self, batch: Batch, draft: Draft) -> None:
        self._texts = {item.id: item for item in (*batch.items, *batch.training)}
        self._draft = draft

    def view(self, course: Course, now: Progress, place: Place) -> View:
        """Draw the view of a place."""
        judging = place.phase in _JUDGING
        return View(
            phase=place.phase,
            done=sum(item in now.state.decided for item in course.order),
            total=len(course.order),
            item=None if place.item is None else self._item(place, now),
            lesson=course.lesson[1] if course.lesson and place.phase is Phase.TRAINING else None,
            last=self._last(course, now, place) if judging else None,
            skipped=len(course.waiting(now)),
            can_undo=judging and bool(now.state.undoable),
            handed_over=now.handed_over,
        )

    def _item(self, place: Place, now: Progress) -> ShownItem:
        text = self._texts[place.item or ""]
        plain = ShownItem(text.id, text.source, text.candidate, place.number, place.of, place.again)
        if place.phase is Phase.TRAINING:
            return plain
        before = now.taken_back.get(text.id)
        shown = self._with_words(plain, now)
        if text.id in now.state.decided:
            return replace(shown, rating=_rating(text.id, now), stands=True)
        if isinstance(before, Rate):
            return replace(shown, rating=before.rating)
        if isinstance(before, Translate) and not shown.translation:
            return replace(shown, translation=before.text)
        return shown

    def _with_words(self, item: ShownItem, now: Progress) -> ShownItem:
        state = now.state
        comment, suggestion, translation = (self._draft(item.id, field) for field in TextField)
        return replace(
            item,
            reasons=state.reasons.get(item.id, ()),
            comment=state.comments.get(item.id, "") if comment is None else comment,
            suggestion=state.suggestions.get(item.id, "") if suggestion is None else suggestion,
            harmful=item.id in state.harmful,
            translation=translation or state.translations.get(item.id, ""),
        )

    def _last(self, course: Course, now: Progress, place: Place) -> LastJudged | None:
        """Give the item decided last; none while one is open again, whose reasons would go astray."""
        item = next(reversed(now.state.decided), None)
        if item is None or item not in course.order or place.item in now.taken_back:
            return None
        return LastJudged(shown := self._decided(item, course, now), shown.rating)

    def answered(self, course: Course, now: Progress) -> tuple[ShownItem, ...]:
        """Draw every item that was decided, in the person's order, with its answer."""
        decided = set(now.state.decided)
        return tuple(self._decided(item, course, now) for item in course.order if item in decided)

    def _decided(self, item: str, course: Course, now: Progress) -> ShownItem:
        text, number = self._texts[item], course.order.index(item) + 1
        shown = ShownItem(item, text.source, text.candidate, number, len(course.order))
        return replace(self._with_words(shown, now), rating=_rating(item, now), stands=True)


def _rating(item: str, now: Progress) -> Rating | None:
    """Give the rating that holds now; None where there is none, or the person cannot judge."""
    judgement = now.state.judgements.get(item)
    return None if judgement is None else judgement.rating
