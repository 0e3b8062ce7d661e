"""What an event says, one model for each kind; only these fields, and bounds on every text.

The payload is the part of an event that a withdrawal erases (DESIGN R4). Wall-clock times are information
for people: nothing is ordered or decided by them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from harness.sealed.strict_records import Count, Hex64, Id, Short, Since, StrictRecord, VersionedRecord
from review.rating import CannotJudge, Rating, Reason, Relation

MOST_TEXT = 4_000  # Characters of a comment or a suggested wording

# Who speaks: the tag that a code gives in its review (`files.reviewer_codes`); in reviews made
# before there were tags the code on the card itself (`files.reviewer_codes`)
Reviewer = Annotated[str, Field(pattern=r"^([0-9A-HJKMNP-TV-Z]{8}|[0-9a-f]{32})$")]
Text = Annotated[str, Field(max_length=MOST_TEXT)]
Milliseconds = Annotated[int, Field(ge=0, le=86_400_000)]


class Kind(StrEnum):
    """What happened."""

    CONSENT = "consent"
    RELATION = "relation"
    SESSION = "session"
    TRAIN = "train"
    RATE = "rate"
    CANNOT_JUDGE = "cannot_judge"
    TRANSLATE = "translate"
    SKIP = "skip"
    UNDO = "undo"
    REASONS = "reasons"
    COMMENT = "comment"
    SUGGEST = "suggest"
    HARM = "harm"
    WITHDRAW = "withdraw"
    EXPORT = "export"
    ADJUDICATE = "adjudicate"
    LOOK = "look"
    LAPTOP = "laptop"
    SPEAKS = "speaks"


# What a person says that bears on a verdict; a laptop signs whose answers stand where
ANSWERS = frozenset({Kind.CONSENT, Kind.RELATION, Kind.RATE, Kind.CANNOT_JUDGE, Kind.UNDO, Kind.HARM} | {Kind.WITHDRAW})


class Face(StrEnum):
    """With which program face a person rated."""

    TERMINAL = "terminal"
    LINES = "lines"
    DESKTOP = "desktop"
    BROWSER = "browser"


class Scope(StrEnum):
    """How much a person takes back."""

    # Comments and suggested wordings; answers stay, ratings and translations alike
    COMMENTS = "comments"
    BATCH = "batch"
    EVERYTHING = "everything"


class Payload(StrictRecord):
    """What every event says: when its device's clock thought it was."""

    # UTC, whole seconds
    wall: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]


class ReviewerPayload(Payload):
    """An event of one person in one batch."""

    reviewer: Reviewer
    batch: Id


class ItemPayload(ReviewerPayload):
    item: Id


class Consent(VersionedRecord, ReviewerPayload):
    """The person read the consent text and agreed."""

    kind: Literal[Kind.CONSENT] = Kind.CONSENT
    consent_sha256: Hex64  # Of the whole text, UTF-8, with what was folded
    language: Short  # Tag of the language in which the program spoke
    # Tag of the language in which the text was; not in batches of before version 3, which have one
    # text
    text_language: Annotated[Short, Since(3)] = ""
    # Whether suggested wordings may be offered as accepted variants of the corpus, or translations
    # be used in one
    share_corrections: bool


class Related(ReviewerPayload):
    """The person says how near they are to the method that is judged; the last word counts."""

    kind: Literal[Kind.RELATION] = Kind.RELATION
    relation: Relation


class SittingBegan(ReviewerPayload):
    """A sitting began."""

    kind: Literal[Kind.SESSION] = Kind.SESSION
    order_sha256: Hex64  # Of this person's order of items: their ids joined by line feeds
    face: Face
    version: Short
    language: Short


class Train(ItemPayload):
    """The person answered a training item."""

    kind: Literal[Kind.TRAIN] = Kind.TRAIN
    rating: Rating


class Judged(ItemPayload):
    """The person decided about an item; what it looked like is part of the record (DESIGN R1)."""

    position: Count  # 0-based place in this person's order
    # Time spent on the item while it was painted, idle time cut, by a monotonic clock
    active_ms: Milliseconds
    face: Face
    font: Short | None = None  # Font and size, None where the face does not choose it
    version: Short
    # True where the person continued although the face may draw this text wrongly (DESIGN R6)
    override: bool = False


class Rate(Judged):
    """The person rated an item."""

    kind: Literal[Kind.RATE] = Kind.RATE
    rating: Rating


class NotJudged(Judged):
    """The person cannot judge an item, or cannot translate it."""

    kind: Literal[Kind.CANNOT_JUDGE] = Kind.CANNOT_JUDGE
    why: CannotJudge


class Translate(Judged):
    """The person translated an item; only where the batch asks for translations."""

    kind: Literal[Kind.TRANSLATE] = Kind.TRANSLATE
    # In NFC as the faces write it, without blanks around it
    text: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]


class Skip(ItemPayload):
    """The person put an item at the end."""

    kind: Literal[Kind.SKIP] = Kind.SKIP


class Undo(ReviewerPayload):
    """The person took a rating, a translation, a ``cannot judge`` or a skip back."""

    kind: Literal[Kind.UNDO] = Kind.UNDO
    target: Hex64  # Id of the event that is taken back


class Reasons(ItemPayload):
    """What is wrong with the translation; the last list counts."""

    kind: Literal[Kind.REASONS] = Kind.REASONS
    reasons: tuple[Reason, ...]


class Comment(ItemPayload):
    """Free words; the last ones count, empty ones take them back."""

    kind: Literal[Kind.COMMENT] = Kind.COMMENT
    text: Text


class Suggest(ItemPayload):
    """A better wording; the last one counts, an empty one takes it back."""

    kind: Literal[Kind.SUGGEST] = Kind.SUGGEST
    text: Text


class HarmFlag(ItemPayload):
    kind: Literal[Kind.HARM] = Kind.HARM
    harmful: bool


class Withdraw(Payload):
    """The person takes back what they gave; it reaches every event of that person in scope, whenever made."""

    kind: Literal[Kind.WITHDRAW] = Kind.WITHDRAW
    reviewer: Reviewer
    batch: Id | None  # None: every batch
    scope: Scope


class Export(Payload):
    """Ratings were written to a file."""

    kind: Literal[Kind.EXPORT] = Kind.EXPORT
    batch: Id
    events: Count
    head: Hex64  # Id of the last event that the file holds


class Adjudicate(VersionedRecord, Payload):
    """The organisation decided about an item that was flagged, without knowing the system."""

    kind: Literal[Kind.ADJUDICATE] = Kind.ADJUDICATE
    batch: Id
    item: Id
    harmful: bool | None  # True: upheld, False: cleared, None: only a word about a split item
    note: Text  # Stays with the organisation, so it is empty where something is decided
    # Why it was upheld or cleared, in words that are published; empty in decisions of before
    reason: Annotated[Short, Since(2)] = ""
    by: Annotated[Short, Since(2)] = ""  # Who decided, as published; empty likewise


class OrganiserLook(Payload):
    """The organisation examined the numbers of one run."""

    kind: Literal[Kind.LOOK] = Kind.LOOK
    batch: Id
    run_id: Short
    # Over the ids of the events that were examined (`log.event.events_sha256`)
    events_sha256: Hex64


class LaptopWord(Payload):
    """The organisation says of a laptop whether it is heard, and whose log it continues with; its last word counts."""

    kind: Literal[Kind.LAPTOP] = Kind.LAPTOP
    batch: Id
    laptop: Hex64  # Signing key
    heard: bool
    # Signing key of the laptop whose log it continues with; both are one laptop
    instead_of: Hex64 | None = None
    reason: Short = ""  # In the organisation's words; it is on certificates, so it names nobody


class AssignLaptop(Payload):
    """The organisation says which laptops speak for a person in a batch; its last word counts."""

    kind: Literal[Kind.SPEAKS] = Kind.SPEAKS
    batch: Id
    reviewer: Reviewer
    laptops: Annotated[tuple[Hex64, ...], Field(min_length=1, max_length=20)]  # Signing keys


# Any event's payload; `kind` tells which
AnyPayload = Annotated[
    Consent
    | Related
    | SittingBegan
    | Train
    | Rate
    | NotJudged
    | Translate
    | Skip
    | Undo
    | Reasons
    | Comment
    | Suggest
    | HarmFlag
    | Withdraw
    | Export
    | Adjudicate
    | OrganiserLook
    | LaptopWord
    | AssignLaptop,
    Field(discriminator="kind"),
]
