"""What leaves of secret entries, released cards, differences and refusals, in which steps; and the lines of the ledger that counts them.

Nothing is shifted, and an interval contains the exact one: chrF++ 52.37 (47.92 to 56.61) becomes 52 (47 to 57) in steps of 1.
"""

from __future__ import annotations

from hashlib import sha256
from math import ceil, floor, isfinite, log2, log10, sqrt
from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from harness.core.canonical import canonical_bytes
from harness.sealed.archive import SignedRecord
from harness.sealed.chain import ChainedRecord
from harness.sealed.strict_records import Count, Hex64, StrictRecord
from scoring.core.inventory import row_of

PolicyName = Literal["official", "strict", "blind", "trusted"]
RefusedStage = Literal["install", "load", "translate"]
Confirmation = Literal["confirmed", "not_confirmed"]
Shortfall = Literal["", "few entries", "told before", "second run"]
"""Why a run is not confirmed; empty where it is."""
LEAST_CONFIRMED: Final = 50
"""Secret entries of a run that confirms."""
Name = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, AfterValidator(lambda text: text[:1000])]
"""Code chooses some of these: what would be longer is cut."""
Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
Day = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
"""UTC, the day alone: a method can choose the second in which its run ends, and speak by it."""
Answers = Annotated[Count, Field(ge=1)]
Smallest = Annotated[float, Field(gt=0)] | None
"""Points of chrF++ by which two methods must differ on these entries (``scoring.card.smallest``); None: they are few, or of another task."""
Atoms = dict[Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")], Count] | None
"""Keyed digest of the source of each secret entry → its atom after an answer; None where an answer before was about the same."""


# Rounding

Range = tuple[float, float]
"""Lowest and highest value of a metric; infinite where it has none."""


class ReleasedScore(StrictRecord):
    """A score with its 95 % interval, all in multiples of ``step``; the first metric and the composite have an interval."""

    value: float
    lower: float | None
    upper: float | None
    step: float

    @property
    def interval(self) -> Range | None:
        """Its ends; None where it has none."""
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)


Scores = dict[Text, ReleasedScore]
"""Metric id, or ``composite`` → its score."""


def range_of(id_: str) -> Range:
    """Return the lowest and highest value of a metric; those of the composite where no table has it."""
    row = row_of(id_)
    return (0.0, 1.0) if row is None else (row.info.low, row.info.high)


def stepped(value: float, lower: float | None, upper: float | None, step: float, ends: Range) -> ReleasedScore:
    """Return a score to the nearest multiple of ``step``; the ends of its interval go outward to the next ones.

    So the interval contains the exact one, the exact value and the rounded one. Without ends the score has no interval.
    """
    near = clean(min(ends[1], max(ends[0], rounded(value, step))))
    if lower is None or upper is None:
        return ReleasedScore(value=near, lower=None, upper=None, step=step)
    low, high = -_upward(-min(lower, value), step), _upward(max(upper, value), step)
    low, high = max(ends[0], min(low, near)), min(ends[1], max(high, near))
    return ReleasedScore(value=near, lower=clean(low), upper=clean(high), step=step)


def rounded(value: float, step: float) -> float:
    """Return the multiple of ``step`` that is nearest."""
    return clean(round(value / step) * step)


def _upward(end: float, step: float) -> float:
    """Return the next multiple of ``step`` that is not below ``end``."""
    above = clean(ceil(end / step) * step)
    return above if above >= end else clean(above + step)


def one_two_five(value: float) -> float:
    """Return 1, 2 or 5 times a power of ten, the nearest by ratio (0.005 for 0.0034); 0 stays 0."""
    if not value > 0:
        return 0.0
    steps = (digit * 10.0 ** floor(log10(value)) for digit in (1, 2, 5, 10))
    return clean(min(steps, key=lambda step: abs(log10(step / value))))


def bits(score: ReleasedScore, ends: Range) -> float:
    """Return how many bits a score tells at most, its interval included: the logarithm of what it could have been."""
    span = ends[1] - ends[0] if isfinite(ends[1] - ends[0]) else max(1.0, abs(score.value))
    return (1 if score.lower is None else 3) * log2(span / score.step + 1)


def expected_half(entries: int, ends: Range, value: float) -> float:
    """Return half of the 95 % interval that a mean over this number of entries is expected to have: 4.9 points of chrF++ for 100.

    Values of entries are expected to spread by a quarter of the metric's range, or of the value where it has no ends, as
    a ratio of lengths: 1.96 standard errors of 25 points are 1.96 * 25 / sqrt(100) = 4.9.
    """
    span = ends[1] - ends[0] if isfinite(ends[1] - ends[0]) else abs(value)
    return 1.96 * 0.25 * span / sqrt(entries) if entries else 0.0


def clean(value: float) -> float:
    """Return a multiple of a step without the last digits of binary numbers; no minus zero."""
    return float(f"{value:.12g}") + 0.0


# Files that leave


class InLedger(StrictRecord):
    """Where the organisation's ledger has this answer: SHA-256 of the first line and of the one before, and its number from 0."""

    ledger: Hex64
    line: Count
    prev: Hex64


class Released(SignedRecord):
    """What each released file states of itself; in the ledger it has no signature, as the line around it has one."""

    rosetta: Text
    """Version of the program."""
    issued: Day
    place: InLedger
    by: Hex64
    signature: Annotated[str, Field(pattern=r"^([0-9a-f]{128})?$", exclude_if=lambda it: not it)] = ""


class ReleasedMethod(StrictRecord):
    """Which method it was: what a card says of it without any text of an entry."""

    method: Text
    method_class: Text
    method_version: Text | None
    model_slug: Text
    condition: Text
    setup_hash: Text
    method_name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """The name that was asked for with the run (``--method-name``), before any text was opened."""


class ReleasedCorpus(StrictRecord):
    """On which corpus, with all entries of the run."""

    id: Text
    version: Text | None
    language_pair: Text
    entries: Count


class ReleasedAnswer(Released):
    """A released file that counts as an answer to a submitter."""

    run: Text
    submitter: Name
    method: ReleasedMethod
    corpus: ReleasedCorpus
    answer: Answers
    of: Answers
    """Which answer to this submitter about this corpus it is, and of how many."""


class ReleasedScores(StrictRecord):
    """The scores that a card states for one run: its own, or the best one so far, where its own did not beat that."""

    scores: Scores
    scores_of: Text
    """The run whose scores these are."""
    quality_tier: Text
    """The automatic tier of the composite; empty where there is none."""
    claimable_tier: Text
    """The highest tier that may be claimed of it before a review."""
    cost_per_entry_usd: float | None = None
    avg_latency_seconds: float | None = None
    """1, 2 or 5 times a power of ten, as the cost; None where it is not known or not told."""
    parts: dict[Text, dict[Text, Scores]] = Field(default_factory=dict)
    parts_left_out: tuple[Text, ...] = ()
    """Parts of breakdowns: only cards of earlier versions have some."""
    caveats: dict[Literal["repeated", "short", "long", "untranslated", "disordered"], bool] | None = None
    """Kind of ``scoring.card.caveats`` → whether it holds of a quarter of its outputs; None where nobody looked."""


class ReleasedCard(ReleasedAnswer, ReleasedScores):
    """All that leaves of a run over secret entries."""

    format: Literal["rosetta-released-card/5"] = "rosetta-released-card/5"
    policy: PolicyName
    run_card_hash: Text
    """Seal of its card, which stays inside: certificates name it."""
    headline: Text
    """The metric by which runs are better or worse."""
    signatures: dict[Text, Text]
    """Metric id → what its value depends on."""
    smallest_difference: Smallest = None
    beat_by: float
    """A new score is released where it beats the best one so far by more than this."""
    bits: Count
    """How many bits about the entries it has at most."""
    confirmation: Confirmation = "not_confirmed"
    """Whether claims above functional may rest on ``run``."""
    shortfall: Shortfall = "told before"

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        confirmed = self.confirmation == "confirmed"
        if confirmed is bool(self.shortfall) or (confirmed and self.corpus.entries < LEAST_CONFIRMED):
            raise ValueError("what it says of its confirmation contradicts itself")
        return self


class ReleasedRefusal(ReleasedAnswer):
    """All that leaves of a run over secret entries of which nothing could be scored: where the method stopped, and how far it came."""

    format: Literal["rosetta-released-refusal/1"] = "rosetta-released-refusal/1"
    stage: RefusedStage
    came: Literal["none", "some", "most"]
    """Of the entries, which share had an output: none, up to half of them, or more."""


class ReleasedDifference(Released):
    """All that leaves of a comparison of two runs over secret entries."""

    format: Literal["rosetta-released-difference/4"] = "rosetta-released-difference/4"
    first: Text
    second: Text
    submitters: tuple[Name, ...]
    """Whose budgets it counts in."""
    corpus: ReleasedCorpus
    metric: Text
    """By which the runs are compared: the first of the task."""
    verdict: Literal["better", "cannot be told apart", "worse"]
    """Of the second run: one-sided at 5 %, corrected by Holm for all released runs of the submitters."""
    smallest_difference: Smallest = None


# Lines of the ledger


class Begun(StrictRecord):
    """The ledger was begun."""

    what: Literal["begun"] = "begun"
    salt: Hex64


class Rule(StrictRecord):
    """The custodian set what is released, or how often (``budget.Policy``); None leaves a number as it is."""

    what: Literal["rule"] = "rule"
    submitter: Name | Literal[""] = ""
    corpus: Text = ""
    """Empty: for everybody, and every corpus."""
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


class RefusalTold(_AnswerTold):
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
    version: ClassVar[None] = None
    """The ledger does not say of which version of the corpus it is."""
    entries: Hex64
    """SHA-256 over sorted digests, each of an entry with its ratings."""
    atoms: Atoms
    certificate: Annotated[str, Field(max_length=2**20)]
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]
    """The certificate as it was signed, and the organisation's signature over its bytes."""


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
        """Its bytes, as they are in the file."""
        return canonical_bytes(self.model_dump(mode="json"))

    @property
    def id(self) -> str:
        """SHA-256 of its bytes, by which the next line names it."""
        return sha256(self.data).hexdigest()
