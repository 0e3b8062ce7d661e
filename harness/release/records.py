"""The forms of what leaves, released cards, differences and refusals, and of the lines of the ledger that counts them."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from harness.release.policy import PolicyName, ReleasedScore
from harness.sealed.chain import ChainedRecord
from harness.sealed.signed_archive import SignedRecord
from harness.sealed.strict_records import Count, Hex64, StrictRecord

Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=1000)]
Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
"""UTC, to the second."""
Day = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
"""UTC, the day alone: a method can choose the second in which its run ends, and speak by it."""
Smallest = Annotated[float, Field(gt=0)] | None
"""Points of chrF++ by which two methods must differ to be told apart on these entries (``scoring.card.smallest``); None where they are few, or of another task."""
Scores = dict[Text, ReleasedScore]
"""Metric id, or ``composite`` → its score."""
Atoms = dict[Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")], Count] | None
"""Keyed digest of the source of each secret entry → its atom after an answer; None where an answer before was about the same."""
Confirmation = Literal["confirmed", "not_confirmed"]
Shortfall = Literal["", "few entries", "told before", "second run"]
"""Why a run is not confirmed (``budget.shortfall``); empty where it is."""
LEAST_CONFIRMED: Final = 50
"""Secret entries of a run that confirms."""


# Files that leave


class InLedger(StrictRecord):
    """Where the ledger of the organisation has this answer, so that a collector of answers sees one that is missing."""

    ledger: Hex64
    """SHA-256 of its first line."""
    line: Count
    """From 0."""
    prev: Hex64
    """SHA-256 of the line before it."""


class Released(StrictRecord):
    """What each released file states of itself."""

    rosetta: Text
    """Version of the program."""
    issued: Day
    place: InLedger
    by: Hex64
    """Key under which it is signed."""


class ReleasedAnswer(Released):
    """A released file that counts as an answer to a submitter."""

    answer: Annotated[Count, Field(ge=1)]
    """Which answer to this submitter about this corpus it is."""
    of: Annotated[Count, Field(ge=1)]
    """Answers that the submitter gets about it in all."""


class ReleasedMethod(StrictRecord):
    """Which method it was: what a card says of it without any text of an entry."""

    method: Text
    method_class: Text
    method_version: Text | None
    model_slug: Text
    condition: Text
    setup_hash: Text
    method_name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """The name that was asked for with the run (``--method-name``), before any text was opened; None if there was none."""


class ReleasedCorpus(StrictRecord):
    """On which corpus."""

    id: Text
    version: Text | None
    language_pair: Text
    entries: Count
    """All entries of the run."""


class ReleasedCard(ReleasedAnswer):
    """All that leaves of a run over secret entries."""

    format: Literal["rosetta-released-card/5"] = "rosetta-released-card/5"
    policy: PolicyName | Literal[""] = ""
    run: Text
    run_card_hash: Text
    """Seal of its card, which stays inside: certificates name it."""
    submitter: Name
    method: ReleasedMethod
    corpus: ReleasedCorpus
    headline: Text
    """The metric by which runs are better or worse."""
    signatures: dict[Text, Text]
    """Metric id → what its value depends on."""
    smallest_difference: Smallest = None
    scores_of: Text
    """The run whose scores these are: another one where this run did not beat that one's by ``beat_by``."""
    beat_by: float
    """A new score is released where it beats the best one so far by more than this."""
    scores: Scores
    quality_tier: Text = ""
    """The automatic tier of the composite."""
    claimable_tier: Text = ""
    """The highest tier that may be claimed of it before a review."""
    cost_per_entry_usd: float | None = None
    """1, 2 or 5 times a power of ten; None where it is not known or not told. The time alike."""
    avg_latency_seconds: float | None = None
    parts: dict[Text, dict[Text, Scores]] = Field(default_factory=dict)
    """Breakdown → part → its scores; parts from which something about few entries would follow are left out."""
    parts_left_out: tuple[Text, ...] = ()
    """Breakdowns of which a part is left out, sorted."""
    caveats: dict[Literal["repeated", "short", "long", "untranslated", "disordered"], bool] | None = None  # fmt: skip
    """Kind of ``scoring.card.caveats`` → whether it holds of a quarter of its outputs; None where nobody looked."""
    bits: Count | None = None
    """How many bits about the entries it has at most."""
    confirmation: Confirmation = "not_confirmed"
    """Whether claims above functional may rest on ``run``: nothing was released before about any of its entries."""
    shortfall: Shortfall = "told before"

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        confirmed = self.confirmation == "confirmed"
        if confirmed is bool(self.shortfall) or (confirmed and self.corpus.entries < LEAST_CONFIRMED):  # fmt: skip
            raise ValueError("what it says of its confirmation contradicts itself")
        return self


class ReleasedRefusal(ReleasedAnswer):
    """All that leaves of a run over secret entries of which nothing could be scored: where the method stopped, and how far it came."""

    format: Literal["rosetta-released-refusal/1"] = "rosetta-released-refusal/1"
    run: Text
    submitter: Name
    method: ReleasedMethod
    corpus: ReleasedCorpus
    stage: Literal["install", "load", "translate"]
    came: Literal["none", "some", "most"]
    """Of the entries, which share had an output: none, up to half of them, or more."""


Verdict = Literal["better", "cannot be told apart", "worse"]
"""One-sided at 5 %, corrected by Holm for all released runs of the submitters."""


class ReleasedDifference(Released):
    """All that leaves of a comparison of two runs over secret entries."""

    format: Literal["rosetta-released-difference/4"] = "rosetta-released-difference/4"
    first: Text
    second: Text
    """The two runs."""
    submitters: tuple[Name, ...]
    """Whose budgets it counts in."""
    corpus: ReleasedCorpus
    metric: Text
    """By which the runs are compared: the first of the task."""
    verdict: Verdict
    """Whether the second run is better by it, worse, or cannot be told apart."""
    smallest_difference: Smallest = None


OF_SCORES: Final = (
    "scores", "scores_of", "quality_tier", "claimable_tier", "cost_per_entry_usd", "avg_latency_seconds", "parts", "parts_left_out", "caveats",
)  # fmt: skip
"""Fields of a card that go with its scores, where these are another run's."""


class SignedReleasedCard(ReleasedCard, SignedRecord):
    """The released card with its signature."""


class SignedReleasedRefusal(ReleasedRefusal, SignedRecord):
    """The refusal with its signature."""


class SignedReleasedDifference(ReleasedDifference, SignedRecord):
    """The difference with its signature."""


# Lines of the ledger


class Begun(StrictRecord):
    """The ledger was begun."""

    what: Literal["begun"] = "begun"
    salt: Hex64


class Rule(StrictRecord):
    """The custodian set what is released, or how often (``policy.Policy``); None leaves a number as it is."""

    what: Literal["rule"] = "rule"
    submitter: Name | Literal[""] = ""
    """Empty: for everybody."""
    corpus: Text = ""
    """Empty: for every corpus."""
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


class _CardTold(StrictRecord):
    """An answer about one run, with the file that left; whose budget it counts in, and about what."""

    card: ReleasedCard | ReleasedRefusal

    @property
    def submitter(self) -> str:
        """Whose budget it counts in."""
        return self.card.submitter

    @property
    def run(self) -> str:
        """The run that was handed in."""
        return self.card.run

    @property
    def corpus(self) -> str:
        """Id of its corpus."""
        return self.card.corpus.id

    @property
    def version(self) -> str | None:
        """Version of its corpus; None where it has none."""
        return self.card.corpus.version


class ScoresTold(_CardTold):
    """The scores of a run were released."""

    what: Literal["told"] = "told"
    entries: Hex64
    """Of which entries: SHA-256 over their sorted digests."""
    atoms: Atoms
    value: float
    """Of the headline, as it is; it stays in the ledger, and the next score is held against the best of them."""
    rotations: Count | None = None
    """How often the vault had moved entries of the corpus when the run was made; None where it is in no vault."""
    card: ReleasedCard

    @property
    def new(self) -> bool:
        """True where the scores are the run's own, and not the best ones again."""
        return self.card.scores_of == self.card.run


class RefusalTold(_CardTold):
    """Somebody learned that their method gave nothing that could be scored."""

    what: Literal["refused"] = "refused"
    card: ReleasedRefusal


class DifferenceTold(StrictRecord):
    """A difference of two runs was released."""

    what: Literal["compared"] = "compared"
    card: ReleasedDifference


class CertificateTold(StrictRecord):
    """The judgement of people on a run over secret entries was released, as a coarse certificate."""

    what: Literal["certified"] = "certified"
    submitter: Name
    """All certificates of one run have one name: everybody learns what they say."""
    run: Text
    corpus: Text
    entries: Hex64
    """SHA-256 over sorted digests, each of an entry with its ratings."""
    atoms: Atoms
    certificate: Annotated[str, Field(max_length=2**20)]
    """The certificate, as it was signed."""
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]
    """Of the organisation, over its bytes."""

    @property
    def version(self) -> None:
        """The ledger does not say of which version of the corpus it is."""


Act = Annotated[
    Begun | Rule | Together | ClockCorrected | ScoresTold | DifferenceTold | RefusalTold | CertificateTold,
    Field(discriminator="what"),
]  # fmt: skip


class LedgerRecord(StrictRecord):
    """One line of the ledger."""

    format: Literal["rosetta-ledger/2"] = "rosetta-ledger/2"
    seq: Count
    prev: Hex64 | Literal[""]
    """SHA-256 of the line before it; empty for the first."""
    when: Moment
    by: Hex64
    act: Act


class SignedLedgerRecord(LedgerRecord, ChainedRecord):
    """The line with its signature."""
