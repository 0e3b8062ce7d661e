"""What a face shows: one immutable picture of the session after each key."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from review.files.manifests import OthersWords, SentenceContext
from review.rating import Rating, Reason


class Phase(StrEnum):
    """Where in the sitting the person is (session script: consent, training, items, pauses, end)."""

    CONSENT = "consent"
    TRAINING = "training"
    ITEMS = "items"
    REST = "rest"
    """A pause is suggested; going on is one key."""
    SKIPPED = "skipped"
    """All items were seen; those that were skipped come once more, if the person wants."""
    END = "end"
    WITHDRAWN = "withdrawn"


class TextField(StrEnum):
    """What a person can write about an item."""

    COMMENT = "comment"
    SUGGESTION = "suggestion"
    """A better wording."""
    TRANSLATION = "translation"
    """The answer itself, where the batch asks for translations; only as a draft."""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """The item that is on the screen, with what this person already said of it."""

    id: str
    source: str
    candidate: str
    number: int
    """1-based place among the items of this phase."""
    of: int
    rating: Rating | None = None
    """Given earlier: it holds, or was taken back by undo and the person sees what it was."""
    stands: bool = False
    """True where something was decided that holds: the person came back to look, or to decide anew."""
    could_not: bool = False
    """True where what holds is that the person could not judge or translate it."""
    reasons: tuple[Reason, ...] = ()
    comment: str = ""
    """Saved comment, or its draft where that is newer."""
    suggestion: str = ""
    harmful: bool = False
    translation: str = ""
    """What this person gave, took back or is typing, where the batch asks for translations."""
    around: SentenceContext | None = None
    """Where the sentence stands, as far as the batch tells."""
    others: tuple[OthersWords, ...] = ()
    """In a second look: what people wrote of it in the first round."""
    drafts: frozenset[TextField] = frozenset()
    """Which of these texts are being written and are not saved as they stand here."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """The answer to a training item, after the person gave theirs."""

    given: Rating
    expected: Rating
    explanation: str
    note: str = ""
    """That the explanation is in another language than the person's; empty where it is not."""


@dataclass(frozen=True, slots=True)
class LastJudged:
    """The item decided just before, for which reasons can still be given by key where it was rated."""

    item: ShownItem
    rating: Rating | None


@dataclass(frozen=True, slots=True)
class Unsaved:
    """An item about which the person typed something that is not saved, and so would not be submitted."""

    item: str
    number: int
    """1-based place among the person's items."""
    fields: frozenset[TextField]


@dataclass(frozen=True, slots=True)
class View:
    """Everything that a face needs to draw itself."""

    phase: Phase
    done: int
    """Items judged or translated (also: cannot judge)."""
    total: int
    part: int = 0
    """Sentences of each part; between two of them a pause is suggested."""
    minutes: int = 0
    """About how long the next part takes this person; 0 while nothing is said of it."""
    item: ShownItem | None = None
    """None where the phase shows no item."""
    lesson: Lesson | None = None
    """Only in training: the answer is to be read, going on is one key."""
    last: LastJudged | None = None
    skipped: int = 0
    """Items that wait at the end."""
    unsaved: tuple[Unsaved, ...] = ()
    """What is only a draft, in the person's order."""
    can_undo: bool = False
    handed_over: str = ""
    """When these answers were handed over, ``2026-03-02 14:05`` by this computer's clock; empty where they
    were not, or something was added or taken back since."""
    shares: bool = False
    """Whether the person lets what they write be used; False before they were asked."""
    said: str = ""
    """One quiet sentence about what the last key did, in the reviewer's language; empty for nothing."""
    too_soon: bool = False
    """True where the last key came before it could be meant for what is shown, and so did nothing."""
    trouble: str = ""
    """Why the last key was not saved and what to do, in the reviewer's language; nothing advanced."""
    detail: str = ""
    """One technical line to copy for whoever helps; only beside ``trouble``."""
