"""Where in the sitting the person is, the picture of it, and the sentence about what a key did.

Time is monotonic, so a changed wall clock does not matter; a pause between two signs of life counts for a minute at most.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from review.files.batch import Batch
from review.files.manifests import BatchItem, TrainingItem, wording
from review.log.payloads import (
    MOST_TEXT,
    AnyPayload,
    Comment,
    Kind,
    NotJudged,
    Rate,
    Reasons,
    Scope,
    Suggest,
    Translate,
)
from review.rating import Rating, Reason
from review.session.record import Drafts
from review.session.view import (
    PART,
    Decision,
    LastJudged,
    Lesson,
    Phase,
    ShownItem,
    SittingProgress,
    TextField,
    Unsaved,
    View,
    minutes_for,
    seconds_each,
)
from review.session.words.catalogue import Words, msgid
from review.session.words.keys import cannot_judge_label, rating_label, reasons_label, sharing
from review.session.words.page import given

IDLE_SECONDS = 60.0  # The most that one pause without any key counts
# Keys this soon after an item was painted were meant for the one before: nobody reads so fast
GUARD_SECONDS = 0.25
MOST_MS = 86_400_000

Clock = Callable[[], float]


class ActiveTime:
    def __init__(self, clock: Clock, guard: float) -> None:
        self._clock = clock
        self._guard = guard
        self._painted: float | None = None
        self._quiet = 0.0  # Since when no key came too soon
        self._alive = 0.0
        self._seconds = 0.0

    def reset(self) -> None:
        """Wait for another item to be painted."""
        self._painted = None

    @property
    def runs(self) -> bool:
        return self._painted is not None

    def painted(self) -> None:
        if not self.runs:
            self._painted = self._quiet = self._alive = self._clock()
            self._seconds = 0.0

    def touched(self) -> None:
        """Count the time since the last sign of life."""
        now = self._clock()
        self._seconds += min(max(0.0, now - self._alive), IDLE_SECONDS)
        self._alive = now

    def takes_keys(self) -> bool:
        """Return whether a key now can mean the item that is shown."""
        return self._painted is not None and self._clock() - self._quiet >= self._guard

    def too_soon(self) -> None:
        """Guard again after a key that meant nothing: of many in a row none counts, on a slow computer too."""
        self._quiet = self._clock()

    def milliseconds(self) -> int:
        """Count up to now and give the active time; only meaningful while an item is painted."""
        self.touched()
        return min(round(self._seconds * 1000), MOST_MS)


@dataclass(frozen=True, slots=True)
class CoursePlace:
    phase: Phase
    item: str | None = None
    number: int = 0  # 1-based place among the items of the phase
    of: int = 0


@dataclass(frozen=True)
class SessionProgress:
    """What the sitting remembers beside the events; every step gives a new one.

    All of it may be lost with the power: the events alone lead back to the same item.
    """

    order: tuple[str, ...]  # The person's items, in the order of the manifest
    training: Sequence[TrainingItem] = ()  # Empty where this person has learned before
    chosen: str | None = None  # The item that undo or a jump leads to, out of turn
    # Items that were put aside and are asked once more; None before that began
    second: tuple[str, ...] | None = None
    # Those of them that were put aside again: nothing is asked a third time by itself
    passed: frozenset[str] = frozenset()
    # The training item that was answered, and what is said about it
    lesson: tuple[CoursePlace, Lesson] | None = None
    resting: bool = False

    def place(self, now: SittingProgress) -> CoursePlace:
        if now.withdrawn:
            return CoursePlace(Phase.WITHDRAWN)
        if not now.person.consented:
            return CoursePlace(Phase.CONSENT)
        return self._lesson(now) or self._item(now)

    def exercises(self, now: SittingProgress) -> list[str]:
        """Return the training items that wait, in their order."""
        return [item.id for item in self.training if item.id not in now.practised]

    def _lesson(self, now: SittingProgress) -> CoursePlace | None:
        if self.lesson is not None:
            return self.lesson[0]
        if not (waiting := self.exercises(now)):
            return None
        of = len(self.training)
        return CoursePlace(Phase.TRAINING, waiting[0], of - len(waiting) + 1, of)

    def _item(self, now: SittingProgress) -> CoursePlace:
        if self.resting:
            return CoursePlace(Phase.REST)
        if (item := self.chosen or now.first_unseen()) is not None:
            return CoursePlace(Phase.ITEMS, item, now.number(item), len(self.order))
        if self.second is None:
            return CoursePlace(Phase.SKIPPED if now.person.skipped else Phase.END)
        asked = (item_id for item_id in self.second if item_id not in now.person.decided)
        if (item := next((item_id for item_id in asked if item_id not in self.passed), None)) is None:
            return CoursePlace(Phase.END)
        return CoursePlace(Phase.SKIPPED, item, self.second.index(item) + 1, len(self.second))

    def unrated(self, now: SittingProgress) -> tuple[str, ...]:
        """Return the items without a decision, in the person's order."""
        return tuple(item for item in self.order if item not in now.person.decided)

    def next_unrated(self, now: SittingProgress, here: str | None) -> str | None:
        """Return the first item without a decision after ``here``, else the first of all; None for none."""
        waiting = self.unrated(now)
        at = 0 if here is None else now.number(here)
        later = (item for item in waiting if now.number(item) > at)
        return next(later, waiting[0] if waiting else None)

    def decided(self, *, put_aside: str | None = None, rest: bool = False) -> SessionProgress:
        """Continue after a decision, or after an item was put aside."""
        again = self.second is not None and put_aside in self.second
        passed = self.passed | {put_aside} if again and put_aside else self.passed
        return replace(self, chosen=None, passed=passed, resting=rest)

    def going_to(self, item: str | None) -> SessionProgress:
        return replace(self, chosen=item, resting=False)

    def going_on(self, now: SittingProgress, place: CoursePlace) -> SessionProgress:
        """Finish a lesson or a rest, or start with what was put aside."""
        if self.lesson is not None:
            return replace(self, lesson=None)
        if place.item is None and place.phase in {Phase.SKIPPED, Phase.END}:
            return replace(self, second=tuple(now.person.skipped) or self.second, passed=frozenset())
        return replace(self, resting=False)


# ---- Drawing the view: one immutable picture of where the person is and what was said of each
# item.

_JUDGING = frozenset({Phase.ITEMS, Phase.SKIPPED, Phase.REST, Phase.END})
_TIMED = frozenset({Phase.CONSENT, Phase.REST})


class Picture:
    """Knows the batch's texts and draws what is shown of them."""

    def __init__(self, batch: Batch, drafts: Drafts) -> None:
        self._manifest = batch.manifest
        self._texts = {item.id: item for item in (*batch.items, *batch.training)}
        self._drafts = drafts

    def view(self, course: SessionProgress, now: SittingProgress, place: CoursePlace, words: Words) -> View:
        """Draw the view of a place; what the organisation wrote is in the language of ``words`` where it can be."""
        judging = place.phase in _JUDGING
        done, total = len(now.person.decided), len(course.order)
        pace = seconds_each(now.decisions.values(), translating=self._manifest.task == "translate")
        minutes = minutes_for(min(PART, total - done), pace) if place.phase in _TIMED else 0
        unsaved = [Unsaved(item, now.number(item), fields) for item, fields in self._drafts.items().items()]
        # The item decided last; none after an undo, which opens one whose reasons would go astray
        item = now.judged_last if judging else None
        last = None
        if item is not None and item in now.person.decided:
            last = LastJudged(shown := self._decided(item, course, now), shown.rating)
        return View(
            phase=place.phase,
            done=done,
            total=total,
            minutes=minutes,
            item=None if place.item is None else self._item(place, now),
            lesson=self._lesson(course, words) if place.phase is Phase.TRAINING else None,
            last=last,
            skipped=len(now.person.skipped),
            unsaved=tuple(sorted((draft for draft in unsaved if draft.number), key=lambda draft: draft.number)),
            can_undo=judging and bool(now.person.acts),
            handed_over=now.handed_over,
            shares=now.person.share_corrections,
        )

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

    def answered(self, course: SessionProgress, now: SittingProgress) -> tuple[ShownItem, ...]:
        """Draw every item that was decided, in the person's order, with its answer as it was saved."""
        return tuple(
            replace(self._decided(item, course, now), translation=now.person.translation(item) or "")
            for item in course.order
            if item in now.person.decided
        )

    def _decided(self, item: str, course: SessionProgress, now: SittingProgress) -> ShownItem:
        text, number = self._texts[item], now.number(item)
        return _answered(self._with_words(_read(text, number, len(course.order)), now), now)


def _read(text: BatchItem, number: int, of: int) -> ShownItem:
    return ShownItem(text.id, text.source, text.candidate, number, of, around=text.around, others=text.others)


def _answered(item: ShownItem, now: SittingProgress) -> ShownItem:
    """Add what was decided: a rating, a translation, or that the person could give none."""
    judgement = now.person.judgement(item.id)
    rating = None if judgement is None else judgement.rating
    could_not = judgement is not None and rating is None
    return replace(item, rating=rating, stands=True, could_not=could_not)


# ---- The one quiet sentence about what a key did ----

NOT_JUDGED = msgid("Saved: you cannot judge this one.")
TRANSLATED = msgid("Your translation is saved.")
NOT_TRANSLATED = msgid("Saved: you cannot translate this one.")
PRACTICE_IS_OVER = msgid("Practice is over. From here your answers count.")
NOTHING_TO_TAKE_BACK = msgid("There is nothing to take back.")
NOTHING_WRITTEN = msgid("Write your translation first, or leave this one for later.")
ASKS_FOR_TRANSLATIONS = msgid("There is nothing to rate here: these sentences are to be translated.")
ASKS_FOR_RATINGS = msgid("These translations are to be rated. Write a better one beside your answer.")
TOO_SOON = msgid("That came too soon, so nothing was done. Please do it again.")
ALL_SAVED = msgid("Everything that you wrote is saved.")
NOT_SAVED_HERE = msgid("What you wrote here is not saved yet. Save it, or answer once more.")
ALL_ANSWERED = msgid("Every sentence has your answer.")

_KEPT = {TextField.COMMENT: msgid("Your comment is saved."), TextField.SUGGESTION: msgid("Your translation is saved.")}
_REMOVED = {
    TextField.COMMENT: msgid("Your comment is removed."),
    TextField.SUGGESTION: msgid("Your translation is removed."),
}
_COMMENTS_WITHDRAWN = msgid("Your comments are erased.")
_WITHDRAWN = {
    Scope.COMMENTS: msgid("Your comments and better translations are erased."),
    Scope.BATCH: msgid("Everything you gave for these sentences is erased."),
    Scope.EVERYTHING: msgid("Everything you ever gave under this code is erased."),
}


def rated(words: Words, rating: Rating) -> str:
    return words("Saved: {rating}.", rating=rating_label(words, rating))


def put_aside(words: Words, *, again: bool) -> str:
    """Return that the item comes again, or that it stays without an answer."""
    if again:
        return words("Left without an answer.")
    return words("Left for later: it comes again at the end.")


def taken_back(
    words: Words, decision: Decision, beside: Collection[AnyPayload] = (), *, translating: bool = False
) -> str:
    """Return what it was that undo took back, and what went with it: reasons, and words that are drafts again."""
    messages_of = [_taken_back(words, decision, translating)]
    if any(isinstance(payload, Reasons) for payload in beside):
        messages_of.append(words("Its reasons are taken back, too."))
    if any(isinstance(payload, Comment | Suggest) for payload in beside):
        messages_of.append(words("Your words are kept, but not saved yet."))
    return " ".join(messages_of)


def with_texts(words: Words, said: str, texts: Collection[Comment | Suggest]) -> str:
    """Return what was saved together with an answer."""
    fields = {Kind.COMMENT: TextField.COMMENT, Kind.SUGGEST: TextField.SUGGESTION}
    return " ".join([said, *(text(words, fields[payload.kind], payload.text) for payload in texts)])


def _taken_back(words: Words, decision: Decision, translating: bool) -> str:
    if isinstance(decision, Rate):
        label = rating_label(words, decision.rating)
        return words("Taken back. Your answer was: {rating}.", rating=label)
    if isinstance(decision, Translate):
        return words("Taken back. Your translation is here again.")
    if isinstance(decision, NotJudged):
        why = cannot_judge_label(words, decision.why)
        if translating:
            return words("Taken back. You could not translate it: {reason}.", reason=why)
        return words("Taken back. You could not judge it: {reason}.", reason=why)
    return words("Taken back. You had left it for later.")


def reasons(words: Words, chosen: Collection[Reason]) -> str:
    if not chosen:
        return words("Saved: no reason.")
    return words("Saved: {reasons}.", reasons=reasons_label(words, chosen))


def text(words: Words, field: TextField, typed: str) -> str:
    """Return that a text was saved or removed."""
    return words(_KEPT[field] if typed else _REMOVED[field])


def too_long(words: Words, typed: str) -> str:
    return words(
        "This is too long to be saved: {n} characters, at most {most}. Your text is kept; shorten it.",
        n=len(typed),
        most=MOST_TEXT,
    )


def harm(words: Words, *, harmful: bool) -> str:
    """Return that the flag was set or taken back."""
    if harmful:
        return words("Saved: this is harmful or hurts our culture. The key ! takes that back.")
    return words("Saved: this is not harmful after all.")


def withdrawn(words: Words, scope: Scope, *, translating: bool = False) -> str:
    if translating and scope is Scope.COMMENTS:
        return words(_COMMENTS_WITHDRAWN)
    return words(_WITHDRAWN[scope])


def shared(words: Words, *, shares: bool, translating: bool = False) -> str:
    """Return whether what the person wrote may be used from now on."""
    return words("Saved: {said}", said=sharing(words, shares=shares, translating=translating))


def no_more_words(words: Words, *, translating: bool = False) -> str:
    """Return why no comment is kept: its person took back all of them."""
    if translating:
        return words("You took back your comments here, so no new ones are kept.")
    return words("You took back your comments and better translations here, so no new ones are kept.")
