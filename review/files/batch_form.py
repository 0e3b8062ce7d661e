"""What a review batch holds: what a reviewer's laptop needs, and nothing that tells the system (DESIGN R2)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from review.files.person_tag import place_of
from review.forms import Form, Since, VersionedForm
from review.log.payloads import Count, Hex64, Id, Reviewer, Short
from review.rating import Rating

BATCH_FORMAT: Final = "rosetta-batch/2"
MOST_ITEMS = 5_000
MOST_ITEM_TEXT = 20_000
"""Characters of one source or candidate."""

MOST_LETTERS = 140
"""Letters that anybody would look through to press one with a mouse."""
LONGEST_LETTER = 8

Letter = Annotated[str, Field(min_length=1, max_length=LONGEST_LETTER)]
"""A letter as the alphabet has it, which may be several characters."""
Task = Literal["rate", "translate"]
"""What a batch asks for: what its translations are worth, or translations."""

ItemText = Annotated[str, Field(max_length=MOST_ITEM_TEXT)]
LongText = Annotated[str, Field(max_length=50_000)]


class BatchItem(Form):
    """One translation to judge, or a sentence to translate; controls look exactly like translations."""

    id: Id
    """Random; it says nothing of system, entry or place in the corpus."""
    source: ItemText
    candidate: ItemText
    """Empty in a batch that asks for translations."""


class TrainingItem(BatchItem):
    """An item with its answer, for learning the four words before the first batch."""

    rating: Rating
    explanation: LongText
    """Why this rating, in plain words."""


class Organisation(Form):
    """Who asks."""

    name: Short
    signing_key: Hex64
    """Ed25519 public key, 32 bytes."""
    recipients: Annotated[tuple[str, ...], Field(min_length=2, max_length=20)]
    """age recipients (``age1…``) that can open the ratings: custodian, recovery and others."""


class BatchManifest(VersionedForm):
    """The signed head of a batch file; the other members are named in it with their hashes."""

    format: Literal["rosetta-batch/1", "rosetta-batch/2"] = BATCH_FORMAT
    batch: Id
    review: Short
    """Name that the organiser gave the review; shown to reviewers, so it must not name a system."""
    title: Short
    created: Short
    """UTC, ISO 8601."""
    source_language: Short
    target_language: Short
    """BCP 47 tags, with script where the texts tell."""
    organisation: Organisation
    policy_sha256: Hex64
    consent: LongText
    """What a reviewer agrees to, as the organisation wrote it."""
    guide: LongText
    """How to judge, as the organisation wrote it; empty where it added nothing."""
    labels: tuple[Short, ...] = ()
    """Tags of the community for this material, such as Local Contexts labels."""
    language: Short
    """Tag of the language in which the program speaks unless the reviewer chooses another."""
    task: Task = "rate"
    letters: Annotated[tuple[Letter, ...], Field(max_length=MOST_LETTERS)] = ()
    """Letters of the target language that keyboards may lack, from its card or from what is shown; empty where
    neither tells."""
    secret: bool
    """True where items come from a secret segment: the file is encrypted, and texts stay so at home."""
    orders: Annotated[dict[Reviewer | Hex64, tuple[Id, ...]], Field(min_length=1, max_length=200)]
    """Place of a person (``files.person_tag``) → item ids in the order in which this person gets them; in version 1
    the person's code stood here. Look people up with ``order``."""
    key_commitment: Annotated[Hex64 | None, Since(2)] = None
    """SHA-256 of the answer key behind a salt: it says which item is whose, and is disclosed with the verdict."""
    looks: Annotated[Count, Since(2)] = 0
    """How often the numbers of a method in it were looked at before, in earlier reviews; of the one with most."""
    members: dict[Short, Hex64]
    """Name of every other member of the file → SHA-256 of its bytes."""

    @property
    def names_codes(self) -> bool:
        """Whether it lists people by the codes on their cards, as batches of version 1 do."""
        return self.format == "rosetta-batch/1"

    def place(self, person: str) -> str:
        """Give the name under which a person stands in ``orders``, whether this one does or not."""
        return person if self.names_codes else place_of(person)

    def order(self, person: str) -> tuple[str, ...]:
        """Give the items that a person is asked, in this person's order; none where it is not for this person.

        ``person`` is as events name them: a tag, and in a batch of version 1 a code.
        """
        return self.orders.get(self.place(person), ())

    @property
    def signer(self) -> str:
        """The key under which the batch is signed."""
        return self.organisation.signing_key
