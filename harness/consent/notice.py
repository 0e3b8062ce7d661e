"""A notice: somebody takes back a corpus, entries, a method, a person's word, a keeper or a key; signed, to be carried.

A notice says what it is about by hashes and names, never by a text: of entries it has salted digests of their ids. One
that lifts an earlier one names it by its number. Nothing is deleted from what was said: both stay.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from corpora.files.json_types import JsonObject
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.archive import SignedRecord, read_record, signed_record
from harness.sealed.keys import Identity
from harness.sealed.strict_records import FileError, FileProblem, Hex64, Short, StrictRecord

FORMAT: Final = "rosetta-notice/1"
SUFFIX: Final = ".rosetta-notice"
MOST_BYTES: Final = 2**20
MOST_ENTRIES: Final = 20_000
MOST_WORDS: Final = 200
"""Characters of a name, or of a reason."""

Words = Annotated[str, Field(min_length=1, max_length=MOST_WORDS)]
Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]

METHOD_FIELDS: Final = (
    "method", "method_version", "method_sha256", "provider", "model_slug", "condition",
    "system_prompt_sha256", "coaching_data_sha256", "outputs_sha256",
)  # fmt: skip
"""Fields of a set-up by which a notice may name a method."""

TELLING: Final = ("method_sha256", "outputs_sha256", "model_slug")
"""One of them a notice must have: a name such as ``chat`` alone would be everybody's method."""


class _NamesCorpus(StrictRecord):
    """What names a corpus: the file with this hash, and any other of this id in this pair of languages."""

    sha256: Hex64
    id: Short
    source_language: Short
    target_language: Short
    language_pair: Short
    """The corpus's label for both, which is all that a certificate has."""

    @property
    def matter(self) -> tuple[str, ...]:
        """Return what it is about, which also decides whose key may speak of it."""
        return ("corpus", self.sha256)

    @property
    def corpus_words(self) -> str:
        return f"the corpus {self.id} (SHA-256 {self.sha256[:12]}…)"

    def is_corpus(self, sha256: str, dataset_id: str, source: str | None, target: str | None, label: str) -> bool:
        pair = (self.source_language, self.target_language)
        same_pair = pair == (source, target) or (label != "" and label == self.language_pair)
        return self.sha256 == sha256 or (self.id == dataset_id and same_pair)


class WholeCorpusWithdrawal(_NamesCorpus):
    what: Literal["corpus"] = "corpus"

    @property
    def words(self) -> str:
        return self.corpus_words


class EntriesWithdrawal(_NamesCorpus):
    what: Literal["entries"] = "entries"
    salt: Hex64
    entries: Annotated[tuple[Digest, ...], Field(min_length=1, max_length=MOST_ENTRIES)]
    """Salted digests of their ids, in order of the digests."""
    of_a_person: bool = False
    """True where they are all that one person gave; who it is stands nowhere."""

    @property
    def words(self) -> str:
        count = len(self.entries)
        count_words = "1 entry" if count == 1 else f"{count:,} entries"
        whose = " that one person gave" if self.of_a_person else ""
        return f"{count_words}{whose} of {self.corpus_words}"

    @cached_property
    def known(self) -> frozenset[str]:
        return frozenset(self.entries)

    def has(self, entry_id: object) -> bool:
        return entry_digest(self.salt, entry_id) in self.known


class MethodWithdrawal(StrictRecord):
    """A method, by fields of its set-up: every run that has all of them."""

    what: Literal["method"] = "method"
    fields: Annotated[dict[Short, Short], Field(min_length=1, max_length=len(METHOD_FIELDS))]

    @property
    def matter(self) -> tuple[str, ...]:
        return ("method", *(f"{name}={self.fields[name]}" for name in sorted(self.fields)))

    @property
    def words(self) -> str:
        field_words = (f"{name} {value[:40]}" for name, value in self.fields.items())
        return f"the method with {', '.join(field_words)}"


class _NamesOneThing(StrictRecord):
    what: str
    _of: ClassVar[str]
    """The field that says whose key may speak of it."""
    _told: ClassVar[str]

    @property
    def matter(self) -> tuple[str, ...]:
        return (self.what, getattr(self, self._of))

    @property
    def words(self) -> str:
        return self._told.format(self)


class PersonWithdrawal(_NamesOneThing):
    """All that one person gave in a review; the person stands as a salted digest of their code."""

    what: Literal["person"] = "person"
    review: Short
    salt: Hex64
    person: Digest

    _of: ClassVar[str] = "review"
    _told: ClassVar[str] = "what a person gave in the review {0.review}"

    def is_person(self, code: str) -> bool:
        return entry_digest(self.salt, code) == self.person


class KeeperWithdrawal(_NamesOneThing):
    """A keeper of a vault, who is none any more."""

    what: Literal["keeper"] = "keeper"
    vault: Hex64
    signing_key: Hex64
    name: Short

    _of: ClassVar[str] = "vault"
    _told: ClassVar[str] = "{0.name} as a keeper of the vault {0.vault:.12}…"


class KeyWithdrawal(_NamesOneThing):
    """A signing key that must not be believed any more."""

    what: Literal["key"] = "key"
    signing_key: Hex64

    _of: ClassVar[str] = "signing_key"
    _told: ClassVar[str] = "the key {0.signing_key:.12}…"


class Reinstatement(_NamesOneThing):
    """An earlier notice holds no more."""

    what: Literal["lift"] = "lift"
    notice: Hex64

    _of: ClassVar[str] = "notice"
    _told: ClassVar[str] = "the notice {0.notice:.12} is lifted"


Subject = Annotated[
    WholeCorpusWithdrawal
    | EntriesWithdrawal
    | MethodWithdrawal
    | PersonWithdrawal
    | KeeperWithdrawal
    | KeyWithdrawal
    | Reinstatement,
    Field(discriminator="what"),
]


class Notice(StrictRecord):
    """What somebody takes back, or gives again, with their reason."""

    format: Literal["rosetta-notice/1"] = FORMAT
    salt: Hex64
    """Random, so that no two notices are the same."""
    when: Moment
    by: Words
    """How the signer calls themselves; only the key shows who it is."""
    signing_key: Hex64
    about: Subject
    reason: Words


class SignedNotice(Notice, SignedRecord):
    """The notice with its signature."""

    @cached_property
    def number(self) -> str:
        """SHA-256 over what was signed, hexadecimal."""
        return sha256(self.content()).hexdigest()

    @property
    def said(self) -> str:
        """Return who took back what, when and why, in one line."""
        return f"{self.about.words}: {self.by}, {self.when[:10]}, “{self.reason}” (notice {self.number[:12]})"


def entry_digest(salt: str, entry_id: object) -> str:
    """Return the salted digest of an id, 32 hexadecimal digits; 7 and “7” are one id, as on a command line."""
    return sha256(f"{salt}\0{entry_id}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def entries_of(corpus: WholeCorpusWithdrawal, ids: Iterable[object], *, of_a_person: bool = False) -> EntriesWithdrawal:
    """Return a notice's subject: some entries of a corpus."""
    salt = secrets.token_hex(32)
    digests = sorted({entry_digest(salt, id_) for id_ in ids})
    if len(digests) > MOST_ENTRIES:
        raise UsageError(
            f"A notice names {MOST_ENTRIES:,} entries at most, and these are {len(digests):,}. Withdraw the corpus."
        )
    corpus_fields = corpus.model_dump(exclude={"what"})
    return EntriesWithdrawal(**corpus_fields, salt=salt, entries=tuple(digests), of_a_person=of_a_person)


def person_of(review: str, code: str) -> PersonWithdrawal:
    """Return a notice's subject: what one person gave in a review."""
    salt = secrets.token_hex(32)
    return PersonWithdrawal(review=review, salt=salt, person=entry_digest(salt, code))


def method_of(setup: JsonObject) -> MethodWithdrawal:
    """Return a notice's subject: the method of a set-up, by what tells it from others.

    Code of others is named by its hash alone, outputs made elsewhere by theirs; what else comes by its model, prompt
    and coaching.
    """
    telling = next((name for name in TELLING if setup.get(name)), "model_slug")
    names = ("method", telling) if telling != "model_slug" else METHOD_FIELDS
    fields = {name: str(setup[name])[:MOST_WORDS] for name in names if setup.get(name) is not None}
    return MethodWithdrawal(fields=fields)


def write_notice(about: Subject, reason: str, by: str, identity: Identity, now: datetime) -> bytes:
    """Return the bytes of a signed notice, to be kept as ``NAME.rosetta-notice``."""
    notice = Notice(
        salt=secrets.token_hex(32),
        when=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        by=one_line(by, "The name"),
        signing_key=identity.public.signing_key,
        about=about,
        reason=one_line(reason, "The reason"),
    )
    return signed_record(notice, identity)


def one_line(words: str, what: str) -> str:
    """Return words on one line; UsageError where there are none, or too many."""
    line = " ".join(words.split())
    if not 0 < len(line) <= MOST_WORDS:
        raise UsageError(f"{what} has {len(line):,} characters. Say it in 1 to {MOST_WORDS}.")
    return line


def read_notice(data: bytes) -> SignedNotice:
    """Read a notice and check its signature; raises FileError in words. Whether its signer may say it is not examined."""
    notice = read_record(data, SignedNotice, "a notice of Rosetta", most=MOST_BYTES)
    whole = canonical_bytes(notice.model_dump(mode="json")) == data
    if not whole or not notice.is_signed_by(notice.signing_key):
        raise FileError(
            FileProblem.DAMAGED,
            "This notice was changed after it was signed, or is no notice of the key that it names. It is not taken: ask "
            "for it once more.",
        )
    # Refuse a method that a notice names by what others have too.
    if isinstance(notice.about, MethodWithdrawal):
        named = notice.about.fields
        if not set(named) <= {*METHOD_FIELDS} or not set(TELLING) & set(named):
            raise FileError(
                FileProblem.INVALID,
                f"This notice names no one method: it has {', '.join(sorted(named))}, and one of {', '.join(TELLING)} must be "
                "among them. It is not taken.",
            )
    return notice


def as_bytes(notice: SignedNotice) -> bytes:
    """Return the bytes of a notice as it was signed and written."""
    return canonical_bytes(notice.model_dump(mode="json"))


def lifts(data: bytes) -> bool:
    """Return whether bytes look like a notice that lifts another one, which is imported after it."""
    return b'"what":"lift"' in data
