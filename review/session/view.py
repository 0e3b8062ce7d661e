"""What a face shows: one immutable picture after each key, with how far the reviewer is and when a part ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from statistics import median

from review.files.manifests import OthersWords, SentenceContext
from review.log.event import Event, covered, withdrawals
from review.log.fold import Person
from review.log.payloads import (
    AnyPayload,
    Comment,
    Export,
    Judged,
    Kind,
    NotJudged,
    Rate,
    Scope,
    Skip,
    Suggest,
    Train,
    Translate,
    Undo,
)
from review.rating import Rating, Reason


class Phase(StrEnum):
    """Where in the sitting the person is (session script: consent, training, items, pauses, end)."""

    CONSENT = "consent"
    TRAINING = "training"
    ITEMS = "items"
    REST = "rest"  # A pause is suggested; going on is one key
    # All items were seen; those that were skipped come once more, if the person wants
    SKIPPED = "skipped"
    END = "end"
    WITHDRAWN = "withdrawn"


class TextField(StrEnum):
    """What a person can write about an item."""

    COMMENT = "comment"
    SUGGESTION = "suggestion"  # A better wording
    # The answer itself, where the batch asks for translations; only as a draft
    TRANSLATION = "translation"


@dataclass(frozen=True, slots=True)
class ShownItem:
    """The item that is on the screen, with what this person already said of it."""

    id: str
    source: str
    candidate: str
    number: int  # 1-based place among the items of this phase
    of: int
    # Given earlier: it holds, or was taken back by undo and the person sees what it was
    rating: Rating | None = None
    # True where something was decided that holds: the person came back to look, or to decide anew
    stands: bool = False
    # True where what holds is that the person could not judge or translate it
    could_not: bool = False
    reasons: tuple[Reason, ...] = ()
    comment: str = ""  # Saved comment, or its draft where that is newer
    suggestion: str = ""
    harmful: bool = False
    # What this person gave, took back or is typing, where the batch asks for translations
    translation: str = ""
    around: SentenceContext | None = None  # Where the sentence stands, as far as the batch tells
    # In a second look: what people wrote of it in the first round
    others: tuple[OthersWords, ...] = ()
    # Which of these texts are being written and are not saved as they stand here
    drafts: frozenset[TextField] = frozenset()


@dataclass(frozen=True, slots=True)
class Lesson:
    """The answer to a training item, after the person gave theirs."""

    given: Rating
    expected: Rating
    explanation: str
    # That the explanation is in another language than the person's; empty where it is not
    note: str = ""


@dataclass(frozen=True, slots=True)
class LastJudged:
    item: ShownItem
    rating: Rating | None


@dataclass(frozen=True, slots=True)
class Unsaved:
    """An item about which the person typed something that is not saved, and so would not be submitted."""

    item: str
    number: int  # 1-based place among the person's items
    fields: frozenset[TextField]


@dataclass(frozen=True, slots=True)
class View:
    """Everything that a face needs to draw itself."""

    phase: Phase
    done: int  # Items judged or translated (also: cannot judge)
    total: int
    # About how long the next `PART` sentences, or those that are left, take this person; 0 while nothing is said of it
    minutes: int = 0
    item: ShownItem | None = None  # None where the phase shows no item
    lesson: Lesson | None = None  # Only in training: the answer is to be read, going on is one key
    last: LastJudged | None = None
    skipped: int = 0  # Items that wait at the end
    unsaved: tuple[Unsaved, ...] = ()  # What is only a draft, in the person's order
    can_undo: bool = False
    # When these answers were handed in, `2026-03-02 14:05` by this computer's clock; empty where
    # they were not, or something was added or taken back since
    handed_over: str = ""
    # Whether the person lets what they write be used; False before they were asked
    shares: bool = False
    # One quiet sentence about what the last key did, in the reviewer's language; empty for nothing
    said: str = ""
    # True where the last key came before it could be meant for what is shown, and so did nothing
    too_soon: bool = False
    # Why the last key was not saved and what to do, in the reviewer's language; nothing advanced
    trouble: str = ""
    detail: str = ""  # One technical line to copy for whoever helps; only beside `trouble`


# ---- How far one reviewer is in one batch, read from the events on this laptop ----

Decision = Rate | NotJudged | Translate | Skip  # What undo can take back


class SittingProgress:
    """What a sitting must know of everything before it; ``add`` folds in what is new, and nothing else."""

    def __init__(self, events: Sequence[Event], batch: str, reviewer: str, order: Sequence[str]) -> None:
        """``events`` are those of one person (``own_events``), in any order; ``order`` are this person's items."""
        self._order = order
        self._places = {item: place for place, item in enumerate(order)}
        self._front = 0  # Items before this place of the order were all decided or skipped
        self.person = Person()
        # Item → what was taken back last, while nothing was decided since
        self.taken_back: dict[str, Decision] = {}
        # The item whose decision was taken back last, while nothing was decided about any item
        # since
        self.reopened: str | None = None
        # The item decided last, other than left for later, since anything was taken back; None for
        # none
        self.judged_last: str | None = None
        self.practised: set[str] = set()  # Training items that were answered, or skipped
        self.decisions: dict[str, Decision] = {}  # Event id → decision, of all that were ever made
        # Time of the file that holds everything; None where something came after it
        self._handed_over: str | None = None
        # Item and kind of text → what was saved, one after the other
        self._texts: dict[tuple[str, Kind], list[Event]] = defaultdict(list)
        withdrawn = withdrawals(events)
        scopes = withdrawn.get((reviewer, batch), frozenset()) | withdrawn.get((reviewer, None), frozenset())
        # True where the person took back the whole batch: nothing can be added any more
        self.withdrawn = bool(scopes - {Scope.COMMENTS})
        # True where the person took back comments and better wordings: no more of these are kept
        self.words_withdrawn = Scope.COMMENTS in scopes
        for event in sorted(events, key=attrgetter("order")):
            self.add(event.erased() if covered(event, withdrawn) else event)

    def add(self, event: Event) -> None:
        """Fold in the newest event; after a withdrawal, everything that is left is to be read again."""
        if isinstance(event.payload, Decision) and event.payload.item not in self._places:
            if isinstance(event.payload, Skip):
                self.practised.add(event.payload.item)
            event = event.erased()
        self.person.add(event)
        payload = event.payload
        self._handed_over = payload.wall if isinstance(payload, Export) else None
        match payload:
            case Undo():
                if payload.target in self.decisions:
                    self.reopened = self.decisions[payload.target].item
                    self._front = min(self._front, self._places[self.reopened])
                    self.taken_back[self.reopened] = self.decisions[payload.target]
                    self.judged_last = None
            case Rate() | NotJudged() | Translate() | Skip():
                self.decisions[event.id] = payload
                self.taken_back.pop(payload.item, None)
                self.reopened = None
                self.judged_last = self.judged_last if isinstance(payload, Skip) else payload.item
            case Train():
                self.practised.add(payload.item)
            case Comment() | Suggest():
                self._texts[payload.item, payload.kind].append(event)
            case _:
                pass

    @property
    def handed_over(self) -> str:
        """When everything was submitted, by this computer's clock; empty where something came after that."""
        if self._handed_over is None:
            return ""
        return datetime.fromisoformat(self._handed_over).astimezone().strftime("%Y-%m-%d %H:%M")

    def written(self, item: str, field: TextField) -> str:
        """Return what this person saved about an item and did not take back; empty for nothing."""
        if field is TextField.TRANSLATION:
            return self.person.translation(item) or ""
        saved = self.person.comments if field is TextField.COMMENT else self.person.suggestions
        return saved.get(item, "")

    def replaced(self, item: str, texts: Collection[str]) -> list[tuple[Comment | Suggest, str]]:
        """Return what was saved of an item by these events, each with the text that it took the place of.

        A text that was changed since is left out.
        """
        replaced_payloads = []
        for kind in (Kind.COMMENT, Kind.SUGGEST):
            saved = self._texts.get((item, kind), [])
            last = saved[-1] if saved else None
            if last and last.id in texts and isinstance(last.payload, Comment | Suggest):
                before = saved[-2].payload if len(saved) > 1 else None
                text = before.text if isinstance(before, Comment | Suggest) else ""
                replaced_payloads.append((last.payload, text))
        return replaced_payloads

    @property
    def last_act(self) -> str | None:
        """Event of the decision or skip that undo takes back next; None for none."""
        return next(reversed(self.person.acts), None)

    def number(self, item: str) -> int:
        """Return the 1-based place of an item in the person's order, 0 for one that is not theirs."""
        return self._places.get(item, -1) + 1

    def first_unseen(self) -> str | None:
        """Return the first item in the person's order that was neither decided nor skipped; None for none."""
        while self._front < len(self._order):
            item = self._order[self._front]
            if item not in self.person.decided and item not in self.person.skipped:
                return item
            self._front += 1
        return None


def own_events(events: Iterable[Event], batch: str, reviewer: str) -> list[Event]:
    """Select what one person did in one batch or took back in all, and when the batch was submitted."""
    own = []
    for event in events:
        payload, of = event.payload, getattr(event.payload, "batch", "")
        if isinstance(payload, Export):
            mine = of == batch
        else:
            mine = getattr(payload, "reviewer", None) == reviewer and of in {batch, None}
        if mine:
            own.append(event)
    return own


def trained_before(events: Iterable[Event], batch: str, reviewer: str) -> bool:
    """Return whether a person rated anything in another batch here: the training came before that."""
    rates = (event.payload for event in events if isinstance(event.payload, Rate))
    return any(rate.reviewer == reviewer and rate.batch != batch for rate in rates)


# ---- The parts in which a person answers their sentences: how many sentences each has, when one
# ends, how long it takes.
#
# How long a part takes is computed here from the person's own answers; only they see it, and it
# is stored nowhere.

PART = 10  # Sentences of a part, after which a pause is suggested; the last part has what is left
# Seconds that most people need for a sentence, quick and slow ones
SECONDS_TO_JUDGE, SECONDS_TO_WRITE = (8, 30), (20, 60)
_FEWEST_ANSWERS = 5  # Answers from which a person's own pace is computed


def seconds_each(decisions: Iterable[AnyPayload], *, translating: bool) -> float:
    """Return seconds that a person needs for a sentence: the median of their answers, or what slow people need."""
    times = [given.active_ms / 1000 for given in decisions if isinstance(given, Judged)]
    if len(times) < _FEWEST_ANSWERS:
        return max(SECONDS_TO_WRITE if translating else SECONDS_TO_JUDGE)
    return median(times)


def minutes_for(sentences: int, seconds: float) -> int:
    """Return the whole minutes that sentences take at a number of seconds each, at least 1."""
    return max(1, round(sentences * seconds / 60))


class Parts:
    """Notes when a part ends, once for each part of a sitting."""

    def __init__(self, done: int) -> None:
        """``done`` sentences were answered before this sitting."""
        self._told = done

    def end_with(self, done: int) -> bool:
        """Return whether ``done`` answers end a part, for the first time in this sitting."""
        if done <= self._told or done % PART:
            return False
        self._told = done
        return True
