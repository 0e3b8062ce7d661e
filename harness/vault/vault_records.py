"""What a vault writes down: its keepers, the lines of its log, its signed head, and entries in their sealed form."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Annotated, Final, Literal

from pydantic import Field

from corpora.model.entry import Segment
from harness.sealed.archive import SignedRecord
from harness.sealed.chain import ChainedRecord
from harness.sealed.strict_records import Count, Hex64, Id, Recipient, Since, StrictRecord, VersionedRecord
from harness.vault.request import VaultWork

HEAD_FORMAT: Final = "rosetta-vault/1"
TOGETHER_FORMAT: Final = "rosetta-vault/2"
"""Of a vault whose keepers open together."""
LOG_FORMAT: Final = "rosetta-vault-log/1"
TEXTS_FORMAT: Final = "rosetta-vault-texts/1"
CARD_FORMAT: Final = "rosetta-keeper/1"
REQUEST_FORMAT: Final = "rosetta-request/1"
ANSWER_FORMAT: Final = "rosetta-answer/1"

MOST_KEEPERS: Final = 20

MOST_WORDS: Final = 200
"""Characters of a name or purpose."""

Name = Annotated[str, Field(min_length=1, max_length=MOST_WORDS)]
Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
"""UTC, to the second."""
Base64 = Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]+={0,2}$")]
Proof = Annotated[str, Field(pattern=r"^([0-9a-f]{128})?$")]
"""Signature with the opening key over the line before and the act without it: that many shares were brought together.
Empty where each keeper opens alone."""
RunId = Annotated[str, Field(pattern=r"^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$")]
"""Of a run of the store; empty where none is meant."""
Counts = dict[Segment, Count]
"""Segment → entries in it."""


class Keeper(StrictRecord):
    name: Name
    signing_key: Hex64
    recipient: Recipient
    recovery: bool = False
    """True for the recovery key, which is in a file that is locked away."""


class KeeperCard(StrictRecord):
    """What a person hands over who is to become a keeper."""

    format: Literal["rosetta-keeper/1"] = CARD_FORMAT
    keeper: Keeper


class SignedCard(KeeperCard, SignedRecord):
    """The card with its signature."""


class SealedShare(StrictRecord):
    """A keeper's share of the opening key."""

    file: Hex64
    """Of the share, sealed for this keeper alone."""
    check: Hex64
    """SHA-256 of its words, by which it is known when it is given back."""


class KeySplit(StrictRecord):
    """How the opening key is split; what stands here opens nothing."""

    number: Annotated[int, Field(ge=0, lt=2**15)]
    """Of the splitting, another one each time."""
    threshold: Annotated[int, Field(ge=2, le=16)]
    """How many keepers open together."""
    recipient: Recipient
    """The public half of the opening key: what data keys are sealed for."""
    signing_key: Hex64
    """The public half of the key with which that many keepers sign together."""
    shares: dict[Hex64, SealedShare]
    """By the signing key of their keepers."""


class Founded(VersionedRecord):
    """The vault was made."""

    what: Literal["founded"] = "founded"
    name: Name
    keepers: Annotated[tuple[Keeper, ...], Field(min_length=2, max_length=MOST_KEEPERS)]
    salt: Hex64
    """Random, so that no two vaults have the same first line."""
    split: Annotated[KeySplit | None, Since(2)] = None
    """Where its keepers open together; where each opens alone, it is not written."""


class Added(StrictRecord):
    """A corpus was put in."""

    what: Literal["added"] = "added"
    corpus: Id
    name: Name
    entries: Counts


class Opened(StrictRecord):
    """Texts were opened; the line is on the disk before the first of them is."""

    what: Literal["opened"] = "opened"
    corpus: Id
    entries: Counts
    purpose: Name


class Rotated(StrictRecord):
    """Entries went from one segment to another."""

    what: Literal["rotated"] = "rotated"
    corpus: Id
    source: Segment
    target: Segment
    entries: Annotated[tuple[Id, ...], Field(min_length=1)]
    purpose: Name


class Enrolled(StrictRecord):
    """A keeper came, and the keys of all corpora were sealed for them too."""

    what: Literal["enrolled"] = "enrolled"
    keeper: Keeper
    purpose: Name


class Revoked(StrictRecord):
    """A keeper was taken out, and every text sealed again."""

    what: Literal["revoked"] = "revoked"
    keeper: Hex64
    purpose: Name


class Dealt(VersionedRecord):
    """That many keepers together dealt the shares again: somebody came, left, or lost theirs."""

    what: Literal["dealt"] = "dealt"
    keepers: Annotated[tuple[Keeper, ...], Field(min_length=2, max_length=MOST_KEEPERS)]
    """Everybody who has a share from now on."""
    split: KeySplit
    sealed_anew: bool
    """True where the opening key is another one from now on, and every text was sealed again."""
    former: Annotated[Hex64 | Literal[""], Since(2)] = ""
    """Of the opening key of before, sealed for the one of now: with it opens what runs stored before; empty where the key stays."""
    purpose: Name
    proof: Base64 = ""
    """Signature of the keepers together, with the opening key of before, over the line before and this act without it."""


class CopyMade(StrictRecord):
    """A sealed copy of the vault was made."""

    what: Literal["exported"] = "exported"
    purpose: Name


class CardSealed(StrictRecord):
    """The card of a run over the vault's texts was signed: between the line before this one and this one."""

    what: Literal["card sealed"] = "card sealed"
    card: Hex64
    """Hash of the card."""
    seal: Hex64
    """SHA-256 of what was signed, with its signature."""


class SetupTerms(StrictRecord):
    """One set-up of a sweep, as the keepers allow it."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    """As the plan calls it: the labels of its axes."""
    options: Hex64
    """SHA-256 as that of a single run (``RunTerms.options``): method, model, prompt, temperature and all else."""


class RunTerms(VersionedRecord):
    """What is to be run over opened texts: a grant holds for nothing else."""

    method: Name
    """As it is called on the command line; of a run that the store has, what is to be done with it (``VaultWork``)."""
    options: Hex64
    """SHA-256 of the method with all that it is told, of its code and files, and of what it is scored with."""
    scorer: Name
    """Version of the program that scores."""
    run: Annotated[RunId, Since(2)] = ""
    """The run of the store whose sealed texts are to be opened again; empty where a new one is to begin."""
    laptops: Annotated[tuple[Hex64, ...], Since(3)] = ()
    """Signing keys of the speakers' laptops that sentences are sealed for, sorted; only of ``VaultWork.REVIEW``."""
    recipients: Annotated[tuple[Recipient, ...], Since(4)] = ()
    """What they are sealed for: the age recipient of each of ``laptops``, in the same order."""
    setups: Annotated[tuple[SetupTerms, ...], Since(5)] = ()
    """Of a sweep: every set-up, in the order of the plan. ``options`` is then of all of them."""
    replicates: Annotated[Count, Since(5)] = 1
    """How often each of them is run."""
    budget_usd: Annotated[float | None, Since(5)] = None
    """Most US dollars that all runs of the sweep spend; None: no limit."""


class GrantRequest(StrictRecord):
    """What a keeper asks the others to allow once: which texts, for what, where and until when."""

    format: Literal["rosetta-request/1"] = REQUEST_FORMAT
    vault: Hex64
    place: Count
    """Of the line of the log that has this request, from 0."""
    prev: Hex64
    """Id of the line before that."""
    by: Hex64
    """Signing key of the keeper who asks."""
    corpus: Id
    name: Name
    """Of the corpus."""
    texts: Hex64
    """Of the corpus's entries: its version."""
    split: Count | None
    """Number of the splitting whose shares answer it; None where each keeper opens alone."""
    entries: Counts
    """Those that are to be opened."""
    run: RunTerms | None
    """None: the texts are opened and checked, and nothing is done with them."""
    machine: Hex64
    """Signing key of the computer that asks."""
    machine_recipient: Recipient
    challenge: Recipient
    """Public half of a key that this computer made for this request, and destroys with its use."""
    purpose: Name
    asked: Moment
    expires: Moment
    """The last moment at which it can be used."""


class SignedRequest(GrantRequest, SignedRecord):
    """The request with the signature of the requesting keeper."""


class GrantAnswer(StrictRecord):
    """What one keeper says to a request."""

    format: Literal["rosetta-answer/1"] = ANSWER_FORMAT
    vault: Hex64
    request: Hex64
    """SHA-256 of the request without its signature."""
    keeper: Hex64
    """Signing key."""
    allowed: bool
    reason: Annotated[str, Field(max_length=MOST_WORDS)]
    """Why it is refused."""
    when: Moment
    share: Hex64 | Literal[""]
    """SHA-256 of the keeper's sealed share; empty where it is refused, and where each keeper opens alone."""


class SignedAnswer(GrantAnswer, SignedRecord):
    """The answer with the keeper's signature."""


class GrantAsked(StrictRecord):
    """A keeper asked the others to allow an opening."""

    what: Literal["asked"] = "asked"
    request: GrantRequest


class Answered(StrictRecord):
    """A keeper's answer was imported; its sealed share stays out of the log."""

    what: Literal["answered"] = "answered"
    answer: SignedAnswer


class OpenedByGrant(VersionedRecord):
    """A grant was used up, or the sweep that it was used for continues; the line is on the disk before the first text is opened."""

    what: Literal["granted"] = "granted"
    grant: Hex64
    """SHA-256 of the request."""
    corpus: Id
    entries: Counts
    purpose: Name
    run: RunId = ""
    proof: Proof = ""
    despite_network: Annotated[Name | Literal[""], Since(2)] = ""
    """As in ``Used``."""


class Used(VersionedRecord):
    """Texts were opened for a piece of work; the line is on the disk before the first of them is."""

    what: Literal["used"] = "used"
    corpus: Id
    entries: Counts
    purpose: Name
    work: VaultWork
    run: RunId = ""
    """Id of the run; empty where the work is none, or its run was not known yet."""
    despite_network: Annotated[Name | Literal[""], Since(2)] = ""
    """Why it was opened on a computer with a way to other machines, in a custodian's words; not written where it had none."""
    grant: Annotated[GrantRequest | None, Since(3)] = None
    """What the keepers who were here allowed, and used up with this line; of work in ``GRANTED`` it is always written."""
    proof: Annotated[Proof, Since(3)] = ""


class ModelAsked(StrictRecord):
    """The method of a submission may ask a model during a run: on the disk before its first question, and once more with their number."""

    what: Literal["model asked"] = "model asked"
    run: RunId
    """Of a run that an earlier line opened texts for."""
    endpoint: Name
    model: Name
    calls: Count | None = None
    """Questions that went out, none of them twice where it was tried again; None before the first one."""


class LedgerStood(StrictRecord):
    """Scores of the vault's texts were released, and this was the head of the release ledger (``harness.release``)."""

    what: Literal["ledger stood"] = "ledger stood"
    ledger: Hex64
    """SHA-256 of the ledger's first line."""
    lines: Count
    head: Hex64
    """SHA-256 of its last line."""


class ConsentChanged(StrictRecord):
    """Consent for a corpus was withdrawn, so that nobody opens it, or given again; ``said_by``: who decided it."""

    what: Literal["consent"] = "consent"
    corpus: Id
    withdrawn: bool
    said_by: Name
    purpose: Name


Act = Annotated[
    Founded | Added | Opened | Used | Rotated | Enrolled | Revoked | Dealt | CopyMade | CardSealed | ModelAsked
    | LedgerStood | ConsentChanged | GrantAsked | Answered | OpenedByGrant,
    Field(discriminator="what"),
]  # fmt: skip


def tenth_upward(points: float) -> float:
    """Return points of chrF++ to a tenth and upward, as a smallest difference is shown: less is never promised."""
    return ceil(points * 10 - 1e-9) / 10


class SmallestTold(StrictRecord):
    """What the entries of a segment told when their corpus was put in; they may be more or fewer since."""

    entries: Annotated[Count, Field(ge=1)]
    points: Annotated[float, Field(gt=0)]
    """Of chrF++, by which two methods must differ to be told apart by that many entries, to a tenth and upward."""

    def of(self, entries: int) -> float | None:
        """Return what that many entries of the same kind tell, in points: chance goes with 1 / √entries. None where there are none."""
        return tenth_upward(self.points * sqrt(self.entries / entries)) if entries else None


class StoredCorpus(VersionedRecord):
    """One corpus of the vault; its files are named by their hashes."""

    name: Name
    entries: Counts
    key: Hex64
    """Of the data key, sealed for every keeper, or for the opening key where they open together."""
    texts: Hex64
    """Of the entries."""
    tells: Annotated[dict[Segment, SmallestTold], Since(2)] = Field(default_factory=dict)
    """Secret segment → the smallest difference that it told when it was put in; segments of few entries are not there."""

    @property
    def smallest_differences(self) -> dict[Segment, float]:
        """Secret segment → points of chrF++ by which two methods must differ to be told apart by the entries that it has now."""
        now = {segment: tell.of(self.entries.get(segment, 0)) for segment, tell in self.tells.items()}
        return {segment: points for segment, points in now.items() if points is not None}


class LogRecord(StrictRecord):
    format: Literal["rosetta-vault-log/1"] = LOG_FORMAT
    seq: Count
    """SealedPlace in the log, from 0."""
    prev: Hex64 | Literal[""]
    """SHA-256 of the line before it; empty for the first."""
    when: Moment
    clock_set_back: bool = False
    """True where a keeper said that the clock of an earlier line was wrong, and this one goes behind it."""
    by: Hex64
    """Signing key of the keeper who did it."""
    act: Act
    stored: dict[Id, StoredCorpus] = Field(default_factory=dict)
    """Corpora that are other than before, as they are from this line on."""


class SignedLogRecord(LogRecord, ChainedRecord):
    """The line with its signature."""


class Head(StrictRecord):
    """What the vault holds; everything else in the folder counts only as far as it is named here."""

    format: Literal["rosetta-vault/1", "rosetta-vault/2"] = HEAD_FORMAT
    vault: Hex64
    """SHA-256 of the first line of the log: the vault's own name."""
    lines: Annotated[Count, Field(ge=1)]
    log_bytes: Annotated[int, Field(ge=1)]
    log_head: Hex64
    """SHA-256 of the last line."""
    corpora: dict[Id, StoredCorpus]
    """As the log has them."""
    readme: Hex64
    by: Hex64
    """Signing key of the keeper who wrote it."""


class SignedHead(Head, SignedRecord):
    """The head with its signature."""


class TextsHead(StrictRecord):
    format: Literal["rosetta-vault-texts/1"] = TEXTS_FORMAT
    corpus: Id
    dataset: Base64
    """The envelope of the corpus as JSON, sealed."""


class SealedEntry(StrictRecord):
    entry: Id
    """Random; what the corpus calls it is in ``rest``."""
    segment: Segment
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    """Keyed, of the source: by it the same text is known again."""
    source: Base64
    reference: Base64
    rest: Base64
    """All other fields as JSON: the id in the corpus, the place in it, other references, tags, notes."""
