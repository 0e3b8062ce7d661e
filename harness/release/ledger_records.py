"""What leaves of secret entries, and the lines of the ledger that counts it."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from harness.card.withholding import ReleasedScore
from harness.core.canonical import canonical_bytes
from harness.sealed.archive import SignedRecord
from harness.sealed.chain import ChainedRecord
from harness.sealed.strict_records import Count, Hex64, StrictRecord
from harness.vault.vault_records import Moment

PolicyName = Literal["official", "strict", "blind", "trusted"]
RefusedStage = Literal["install", "load", "translate"]
Confirmation = Literal["confirmed", "not_confirmed"]
Shortfall = Literal["", "few entries", "told before", "second run", "several set-ups"]
"""Why a run is not confirmed; empty where it is."""
LEAST_CONFIRMED: Final = 50  # Secret entries of a run that confirms
Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, AfterValidator(lambda text: text[:1000])]  # cut, as code chooses some of these
Day = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]  # UTC, as a method could speak by the second
Answers = Annotated[Count, Field(ge=1)]
Smallest = Annotated[float, Field(gt=0)] | None
"""Points of chrF++ by which two methods must differ on these entries (``scoring.card.smallest``); None: they are few, or of another task."""
Atoms = dict[Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")], Count] | None
"""Keyed digest of the source of each secret entry → its atom after an answer; None where an answer before was about the same."""
Scores = dict[Text, ReleasedScore]  # Metric id, or ``composite`` → its score


# Files that leave


class InLedger(StrictRecord):
    """Where the organisation's ledger has this answer: SHA-256 of the first line and of the one before, and its number from 0."""

    ledger: Hex64
    line: Count
    prev: Hex64


class Released(SignedRecord):
    """What each released file states of itself; in the ledger it has no signature, as the line around it has one."""

    rosetta: Text
    issued: Day
    place: InLedger
    by: Hex64
    signature: Annotated[str, Field(pattern=r"^([0-9a-f]{128})?$", exclude_if=lambda it: not it)] = ""


class ReleasedMethod(StrictRecord):
    """Which method it was, without any text of an entry; its name was asked for (``--method-name``) before one was opened."""

    method: Text
    method_class: Text
    method_version: Text | None
    model_slug: Text
    condition: Text
    setup_hash: Text
    method_name: Annotated[str, Field(min_length=1, max_length=100)] | None = None


class ReleasedCorpus(StrictRecord):
    """On which corpus, with all entries of the run."""

    id: Text
    version: Text | None
    language_pair: Text
    entries: Count


class ReleasedAnswer(Released):
    """A released file that counts as an answer to a submitter: which one about this corpus, and of how many."""

    run: Text
    submitter: Name
    method: ReleasedMethod
    corpus: ReleasedCorpus
    answer: Answers
    of: Answers


class ReleasedScores(StrictRecord):
    """The scores that a card states of the run ``scores_of``: its own, or the best one so far that it did not beat."""

    scores: Scores
    scores_of: Text
    quality_tier: Text  # The automatic tier of the composite; empty where there is none
    claimable_tier: Text  # The highest tier that may be claimed of it before a review
    coverage: Annotated[float | None, Field(ge=0, le=1, exclude_if=lambda it: it is None)] = None
    """Share of the composite's weight that has a value, to 0.05; None without a composite, and on cards of earlier versions."""
    cost_per_entry_usd: float | None = None
    avg_latency_seconds: float | None = None
    """1, 2 or 5 times a power of ten, as the cost; None where it is not known or not told."""
    parts: dict[Text, dict[Text, Scores]] = Field(default_factory=dict)
    parts_left_out: tuple[Text, ...] = ()  # Parts of breakdowns: only cards of earlier versions have some
    caveats: dict[Literal["repeated", "short", "long", "untranslated", "disordered"], bool] | None = None
    """Kind of ``scoring.card.caveats`` → whether it holds of a quarter of its outputs; None where nobody looked."""


class ReleasedSweep(StrictRecord):
    """Of which sweep a card is the one answer, and what it says of its set-ups."""

    id: Hex64
    setups: Annotated[Count, Field(ge=2)]
    setup: Text  # Name in the plan of the one whose first run the card is of
    verdict: Literal["best", "cannot be told apart"]
    """``best``: it is better than each of the others, at 5 % for all set-ups together (Holm). Else it is the first of the plan."""


class ReleasedCard(ReleasedAnswer, ReleasedScores):
    """All that leaves of a run over secret entries, or of a sweep."""

    format: Literal["rosetta-released-card/5"] = "rosetta-released-card/5"
    policy: PolicyName
    run_card_hash: Text  # Seal of its card, which stays inside: certificates name it
    headline: Text  # The metric by which runs are better or worse
    signatures: dict[Text, Text]  # Metric id → what its value depends on
    smallest_difference: Smallest = None
    beat_by: float  # By how much a new score must beat the best one so far
    bits: Count
    confirmation: Confirmation = "not_confirmed"  # Whether claims above functional may rest on ``run``
    shortfall: Shortfall = "told before"
    sweep: Annotated[ReleasedSweep | None, Field(exclude_if=lambda it: it is None)] = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        confirmed = self.confirmation == "confirmed"
        if confirmed and self.sweep is not None:
            raise ValueError("a run of a sweep confirms nothing")
        if confirmed is bool(self.shortfall) or (confirmed and self.corpus.entries < LEAST_CONFIRMED):
            raise ValueError("what it says of its confirmation contradicts itself")
        return self


class ReleasedRefusal(ReleasedAnswer):
    """All that leaves of a run of which nothing could be scored: where it stopped, and whether more than half of the entries came out."""

    format: Literal["rosetta-released-refusal/1"] = "rosetta-released-refusal/1"
    stage: RefusedStage
    came: Literal["none", "some", "most"]


class ReleasedDifference(Released):
    """All that leaves of a comparison of two runs by a task's first metric; it counts for each of its submitters."""

    format: Literal["rosetta-released-difference/4"] = "rosetta-released-difference/4"
    first: Text
    second: Text
    submitters: tuple[Name, ...]
    corpus: ReleasedCorpus
    metric: Text
    verdict: Literal["better", "cannot be told apart", "worse"]
    """Of the second run: one-sided at 5 %, corrected by Holm for all released runs of the submitters."""
    smallest_difference: Smallest = None


# Lines of the ledger


class Begun(StrictRecord):
    what: Literal["begun"] = "begun"
    salt: Hex64


class Rule(StrictRecord):
    """The custodian set a policy or its numbers (``budget.Policy``), None leaves one as it is; empty: for everybody, every corpus."""

    what: Literal["rule"] = "rule"
    submitter: Name | Literal[""] = ""
    corpus: Text = ""
    count: Annotated[int, Field(ge=1, le=10_000)] | None = None
    pause_hours: Annotated[float, Field(ge=0, le=100_000)] | None = None
    policy: PolicyName | None = None
    everybody: Annotated[int, Field(ge=1, le=10_000)] | None = None
    opens: Day | None = None


class Together(StrictRecord):
    """The custodian said that two names are one submitter."""

    what: Literal["together"] = "together"
    names: tuple[Name, Name]


class ClockCorrected(StrictRecord):
    """The custodian said that the clock of earlier lines was wrong; this line has the right time."""

    what: Literal["clock corrected"] = "clock corrected"


class _AnswerTold(StrictRecord):
    """An answer about one run, with the file that left."""

    card: ReleasedCard | ReleasedRefusal

    @property
    def submitter(self) -> str:
        return self.card.submitter

    @property
    def run(self) -> str:
        return self.card.run

    @property
    def corpus(self) -> str:
        return self.card.corpus.id

    @property
    def version(self) -> str | None:
        return self.card.corpus.version


class ScoresTold(_AnswerTold):
    """The scores of a run were released; the ``value`` of the headline as it is stays here, and the next one must beat the best."""

    what: Literal["told"] = "told"
    entries: Hex64  # SHA-256 over the sorted digests of its entries
    atoms: Atoms
    value: float
    rotations: Count | None = None
    """How often the vault had moved entries of the corpus when the run was made; None where it is in no vault."""
    card: ReleasedCard

    @property
    def new(self) -> bool:
        """True where the scores are the run's own, and not the best ones again."""
        return self.card.scores_of == self.card.run


class RefusalTold(_AnswerTold):
    what: Literal["refused"] = "refused"
    card: ReleasedRefusal


class DifferenceTold(StrictRecord):
    what: Literal["compared"] = "compared"
    card: ReleasedDifference


class CertificateTold(StrictRecord):
    """The judgement of people on a run over secret entries was released, as a coarse certificate."""

    what: Literal["certified"] = "certified"
    submitter: Name  # All certificates of one run have one name: everybody learns what they say
    run: Text
    corpus: Text
    version: ClassVar[None] = None  # The ledger does not say of which version of the corpus it is
    entries: Hex64  # SHA-256 over sorted digests, each of an entry with its ratings
    atoms: Atoms
    certificate: Annotated[str, Field(max_length=2**20)]
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]  # The organisation's, over the certificate's bytes


Act = Annotated[
    Begun | Rule | Together | ClockCorrected | ScoresTold | DifferenceTold | RefusalTold | CertificateTold,
    Field(discriminator="what"),
]  # fmt: skip


class LedgerLine(ChainedRecord):
    """One line of the ledger."""

    format: Literal["rosetta-ledger/2"] = "rosetta-ledger/2"
    when: Moment
    by: Hex64
    act: Act

    @property
    def data(self) -> bytes:
        return canonical_bytes(self.model_dump(mode="json"))

    @property
    def id(self) -> str:
        """SHA-256 of its bytes, by which the next line names it."""
        return sha256(self.data).hexdigest()
