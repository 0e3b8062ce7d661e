"""The signed heads of the files that travel, and the page in each that says in plain words what it is.

A batch holds what a reviewer's laptop needs, and nothing that tells the system (DESIGN R2).
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from harness.sealed.archive import SignedManifest
from harness.sealed.keys import public_pem
from harness.sealed.strict_records import Count, Hex64, Id, Recipient, Short, Since, StrictRecord, VersionedRecord
from review.files.identities import place_of
from review.log.payloads import Reviewer, Text
from review.rating import Rating, Reason

BATCH_FORMAT: Final = "rosetta-batch/3"
MOST_ITEMS = 5_000
MOST_ITEM_TEXT = 20_000  # Characters of one source or candidate

MOST_LANGUAGES = 20  # In which a batch may have its words, beside its own
MOST_OTHERS = 400  # People whose words are next to an item of a second look

MOST_LETTERS = 140  # Letters that anybody would look through to press one with a mouse
LONGEST_LETTER = 8

# A letter as the alphabet has it, which may be several characters
Letter = Annotated[str, Field(min_length=1, max_length=LONGEST_LETTER)]
# What a batch asks for: what its translations are worth, or translations
Task = Literal["rate", "translate"]

ItemText = Annotated[str, Field(max_length=MOST_ITEM_TEXT)]
LongText = Annotated[str, Field(max_length=50_000)]
Tag = Annotated[str, Field(pattern=r"^[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8}){0,5}$")]  # Of a language


class SentenceContext(StrictRecord):
    """What the corpus says of where a sentence stands; empty where it says nothing."""

    context: Short = ""  # What it is said for, such as a greeting
    formality: Short = ""  # How formal it is: what the corpus calls its register
    before: ItemText = ""  # The sentence before it in its document, in the source language
    after: ItemText = ""  # The one after it


class OthersWords(StrictRecord):
    """What one person wrote about an item in the first round; nothing tells who, or how they answered."""

    reasons: tuple[Reason, ...] = ()
    comment: Text = ""
    suggestion: Text = ""


class BatchItem(VersionedRecord):
    """One translation to judge, or a sentence to translate; controls look exactly like translations."""

    id: Id  # Random; it says nothing of system, entry or place in the corpus
    source: ItemText
    candidate: ItemText  # Empty in a batch that asks for translations
    # Where the sentence stands; None where the batch does not say
    around: Annotated[SentenceContext | None, Since(3)] = None
    # Only in a second look: what people wrote in the first round, in an order that tells nothing
    others: Annotated[tuple[OthersWords, ...], Field(max_length=MOST_OTHERS), Since(3)] = ()


class TrainingItem(BatchItem):
    rating: Rating
    explanation: LongText  # Why this rating, in plain words, in the batch's own language
    # The same in other languages
    explanations: Annotated[dict[Tag, LongText], Field(max_length=MOST_LANGUAGES), Since(3)] = Field(
        default_factory=dict
    )


class Wording(NamedTuple):
    """A text, and the tag of the language that it is in."""

    text: str
    language: str


class InLanguage(StrictRecord):
    """The organisation's words in one more language; empty where they are not given in it."""

    consent: LongText = ""
    guide: LongText = ""


class Organisation(StrictRecord):
    name: Short
    signing_key: Hex64  # Ed25519 public key, 32 bytes
    # age recipients (`age1…`) that can open the ratings: custodian, recovery and others
    recipients: Annotated[tuple[str, ...], Field(min_length=2, max_length=20)]


# Hash of the policy of a review in which nothing is judged
_NO_RULE: Final = sha256(b"").hexdigest()


class BatchManifest(SignedManifest):
    """The signed head of a batch file; the other members are named in it with their hashes."""

    format: Literal["rosetta-batch/1", "rosetta-batch/2", "rosetta-batch/3"] = BATCH_FORMAT
    batch: Id
    # Name that the organiser gave the review; shown to reviewers, so it must not name a system
    review: Short
    title: Short
    created: Short  # UTC, ISO 8601
    source_language: Short
    target_language: Short  # BCP 47 tags, with script where the texts tell
    organisation: Organisation
    policy_sha256: Hex64
    consent: LongText  # What a reviewer agrees to, as the organisation wrote it
    guide: LongText  # How to judge, as the organisation wrote it; empty where it added nothing
    # Tags of the community for this material, such as Local Contexts labels
    labels: tuple[Short, ...] = ()
    # Tag of the language of these words, in which the program speaks unless the reviewer chooses
    # another
    language: Short
    # Tag of another language → the same words in it
    translations: Annotated[dict[Tag, InLanguage], Field(max_length=MOST_LANGUAGES), Since(3)] = Field(
        default_factory=dict
    )
    task: Task = "rate"
    # Letters of the target language that keyboards may lack, from its card or from what is shown;
    # empty where neither tells
    letters: Annotated[tuple[Letter, ...], Field(max_length=MOST_LETTERS)] = ()
    # True where items come from a secret segment: the file is encrypted, and texts stay so at home
    secret: bool
    # Place of a person (`files.reviewer_codes`) → item ids in the order in which this person gets
    # them; in version 1 the person's code stood here. Look people up with `order`.
    orders: Annotated[dict[Reviewer | Hex64, tuple[Id, ...]], Field(min_length=1, max_length=200)]
    # SHA-256 of the answer key behind a salt: it says which item is whose, and is disclosed with
    # the verdict
    key_commitment: Annotated[Hex64 | None, Since(2)] = None
    # How often the numbers of a method in it were examined before, in earlier reviews; of the one
    # with most
    looks: Annotated[Count, Since(2)] = 0
    # Whether what people write about a sentence may be shown to the others, without names, in a
    # second look
    shows_words: Annotated[bool, Since(3)] = False
    # A second look at sentences on which people differed: the first batch of the review in which
    # they did
    second_of: Annotated[Id | None, Since(3)] = None

    @property
    def earlier_words(self) -> bool:
        """Return whether cards and laptops show the made-up check words of earlier versions with it (``sealed.phrase``)."""
        return (self.version or 0) < 3

    @property
    def names_codes(self) -> bool:
        """Return whether it lists people by the codes on their cards, as batches of version 1 do."""
        return self.format == "rosetta-batch/1"

    @property
    def knows_not_shown(self) -> bool:
        """Return whether the office that made it can read that an item could not be shown on a laptop."""
        return self.version is not None and self.version >= 3

    def place(self, person: str) -> str:
        """Return the name under which a person is in ``orders``, whether this one does or not."""
        return person if self.names_codes else place_of(person)

    def order(self, person: str) -> tuple[str, ...]:
        """Return the items that a person is asked, in this person's order; none where it is not for this person.

        ``person`` is as events name them: a tag, and in a batch of version 1 a code.
        """
        return self.orders.get(self.place(person), ())

    @property
    def has_verdict(self) -> bool:
        """Return whether a method is judged by it; of batches that are made without a rule none is."""
        return self.policy_sha256 != _NO_RULE

    @property
    def signer(self) -> str:
        """The key under which the batch is signed."""
        return self.organisation.signing_key

    @property
    def written_in(self) -> tuple[str, ...]:
        """Tags of the languages of consent and guide; of batches of before version 3 none, which do not state it."""
        given = tuple(tag for tag, t in self.translations.items() if t.consent or t.guide)
        return (self.language, *given) if (self.version or 0) >= 3 else ()

    def consent_in(self, *languages: str) -> Wording:
        """Return the consent text for one who reads ``languages``, the best first, and in which language it is."""
        given = {tag: translation.consent for tag, translation in self.translations.items()}
        return wording(self.consent, self.language, given, *languages)

    def guide_in(self, *languages: str) -> Wording:
        """Return the guide likewise."""
        given = {tag: translation.guide for tag, translation in self.translations.items()}
        return wording(self.guide, self.language, given, *languages)


def wording(own: str, own_language: str, given: Mapping[str, str], *wanted: str) -> Wording:
    """Return a text in the first language that is wanted, or in one nearest to it; then the next; else the batch's own.

    ``given`` is tag → text, and empty texts count as not given. Nearest is the same tag, then a wider one, then
    any of the same language. Where the batch's own is empty, too, the first that is given, by tag.
    """
    texts = {tag: text for tag, text in {own_language: own, **given}.items() if text.strip()}
    tags = {tag.casefold(): tag for tag in texts}
    near: list[str] = []
    for wanted_tag in wanted:
        # The tag and its wider ones, then those of the same language
        parts = wanted_tag.casefold().split("-")
        near += ["-".join(parts[:length]) for length in range(len(parts), 0, -1)]
        near += sorted(name for name in tags if name.partition("-")[0] == parts[0])
    others = [own_language.casefold(), *sorted(tags)]
    tag = next((tags[name] for name in (*near, *others) if name in tags), own_language)
    return Wording(texts.get(tag, ""), tag)


RATINGS_FORMAT: Final = "rosetta-ratings/2"
MOST_EVENTS: Final = 1_000_000


class Sender(StrictRecord):
    """The laptop that wrote the file; whether it is known, the organisation's list of laptops tells."""

    signing_key: Hex64  # Ed25519 public key, 32 bytes
    recipient: Recipient  # Its age recipient, for which a batch can be sealed


class SignedChain(StrictRecord):
    """How far a device's chain goes in a file: the signature thereby fixes every event of it."""

    events: Annotated[Count, Field(ge=1)]
    # Ids of the events that no other names as the one before it, sorted: one where the chain is
    # whole
    tips: Annotated[tuple[Hex64, ...], Field(min_length=1, max_length=1_000)]


Place = Annotated[int, Field(ge=0, lt=2**40)]  # Of an event in its device's chain, from 0
Places = tuple[tuple[Place, Place], ...]  # First and last place of stretches of a device's chain


class RatingsManifest(SignedManifest):
    """What a file of ratings holds; it names for whom it was sealed, because age does not say by whom."""

    format: Literal["rosetta-ratings/1", "rosetta-ratings/2"] = RATINGS_FORMAT
    batch: Id
    batch_sha256: Hex64  # Of the manifest of the batch that was rated
    review: Short
    device: Id  # The device whose chain ends in `head`
    events: Annotated[Count, Field(ge=1)]  # Lines of `events.jsonl`
    head: Hex64  # Id of the last event
    # Device → its chain in this file
    chains: Annotated[dict[Id, SignedChain], Since(2)] = Field(default_factory=dict)
    # Reviewer → device → where in its chain the answers of this person to this batch stand, as
    # `answers` has it. Whose content is missing later, and whether that person took it back, can be
    # told by this.
    contents: Annotated[dict[Reviewer, dict[Id, Places]], Since(2)] = Field(default_factory=dict)
    laptop: Sender
    recipients: Annotated[tuple[Recipient, ...], Field(min_length=2, max_length=20)]

    @property
    def signer(self) -> str:
        """The key under which the file is signed."""
        return self.laptop.signing_key


EXPORT_FORMAT: Final = "rosetta-export/1"
EXPORT_SUFFIX: Final = ".rosetta-export"


class ExportManifest(SignedManifest):
    """What the file holds, and for whom it was sealed."""

    format: Literal["rosetta-export/1"] = EXPORT_FORMAT
    review: Short
    created: Short  # UTC, ISO 8601
    runs: tuple[Short, ...]  # Ids of the reviewed runs
    signing_key: Hex64  # Of the organisation, Ed25519
    recipients: Annotated[tuple[Recipient, ...], Field(min_length=2, max_length=20)]

    @property
    def signer(self) -> str:
        """The key under which the file is signed."""
        return self.signing_key


_TEMPLATES = Path(__file__).parent / "templates"
_BATCH = (_TEMPLATES / "batch.txt").read_text("utf-8")

_SENTENCES = (_TEMPLATES / "sentences.txt").read_text("utf-8")

RATINGS_README: Final = (_TEMPLATES / "ratings.txt").read_text("utf-8")


def batch_readme(manifest: BatchManifest) -> bytes:
    """Return the page for a batch; it follows from the manifest alone."""
    organisation = manifest.organisation
    page = _SENTENCES if manifest.task == "translate" else _BATCH
    return page.format(
        title=_one_line(manifest.title),
        organisation=_one_line(organisation.name),
        pem=public_pem(organisation.signing_key),
    ).encode()


def ratings_readme(manifest: RatingsManifest) -> bytes:
    """Return the page for a file of ratings; it follows from the manifest alone."""
    return RATINGS_README.format(
        review=_one_line(manifest.review), pem=public_pem(manifest.laptop.signing_key)
    ).encode()


def _one_line(text: str) -> str:
    """Return a name without anything that a terminal could take for a command."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
