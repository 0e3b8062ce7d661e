"""How often, and when, somebody learns a score: the Ladder, a count and a pause, for each submitter and corpus.

Anyone who may ask for scores again and again climbs to the answers of a hidden set with them. The Ladder (Blum & Hardt,
"The Ladder: A Reliable Leaderboard for Machine Learning Competitions", ICML 2015) tells a new score only where it beats
the best one told so far by half of the interval that the set is expected to have; otherwise it repeats the best. As one
bit an answer still tells something, answers are counted and lie apart in time.

Who is one submitter is the custodian's word: two names count as two, unless they are put together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

from corpora.text.comparison import normalised
from harness.card.withholding import LEAST
from harness.core.failures import UsageError
from harness.release.parts import Partition, tellable
from harness.release.policy import POLICIES, Policy, pause_words
from harness.release.records import (
    Act,
    CertificateTold,
    DifferenceTold,
    RefusalTold,
    ReleasedRun,
    ReleasedScores,
    Rule,
    Scores,
    ScoresTold,
    Together,
)
from scoring.core.messages import counted
from scoring.core.metric_rows import direction

MOMENT: Final = "%Y-%m-%dT%H:%M:%SZ"

_NUMBERS: Final = ("count", "pause_hours", "everybody", "opens")
"""Of a policy, what a rule may set."""
_REFUSAL_BITS: Final = 4
"""Of nine refusals that there are."""
CERTIFICATES: Final = Policy(count=10, pause_hours=24.0)
"""How many certificates of a run are told, and how far apart."""

Part = tuple[str, str]
"""A breakdown and a part of it."""
Counted = ScoresTold | RefusalTold | CertificateTold
"""An answer that counts, in the ledger."""
LabelledLine = Counted | DifferenceTold
"""An answer."""


class NotReleased(UsageError):  # noqa: N818  said of an answer
    """Nothing is told; the message says why, and what may be done."""

    waits = False
    """Whether the same answer is given later: after the pause, or where the custodian allows more."""


class NotYetReleased(NotReleased):
    """Nothing is told now, by count or pause."""

    waits = True


def too_few_words(entries: int) -> str:
    """Say that the scores of a run over that many different secret entries are never told; empty where they are enough."""
    if entries >= LEAST:
        return ""
    return (
        f"This run has {entries:,} different secret entries; its scores would tell of single ones. Scores "
        f"are told from {LEAST} on."
    )


@dataclass(frozen=True)
class ScoreQuestion:
    """A run whose scores somebody wants to know."""

    facts: ReleasedRun
    scores: ReleasedScores
    """All that may be told of it, in steps."""
    entries: frozenset[str]
    """Digests of its secret entries."""
    value: float
    """Of the headline, as it is."""
    expected_half: float
    """Half of the interval that the set is expected to have: by more than this a later score must beat the best one told."""
    entries_of: Mapping[Part, frozenset[str]] = field(default_factory=dict)
    """Digests of the secret entries of each part."""
    rotations: int | None = None
    """As in ``ScoresTold``."""


@dataclass(frozen=True)
class ScoreAnswer:
    """What is told of a question."""

    scores_of: str
    scores: ReleasedScores
    beat_by: float
    number: int
    """Which answer it is."""
    of: int
    atoms: Mapping[str, int] | None
    """What the ledger keeps of the atoms; None where it tells of no other entries than before."""


def set_id(entries: Collection[str]) -> str:
    """Return the id of a set of entries by their digests."""
    return sha256("\n".join(sorted(entries)).encode()).hexdigest()


@dataclass(frozen=True)
class History:
    """All that was told so far, and the rules of the custodian."""

    answers: tuple[tuple[str, LabelledLine], ...] = ()
    """Moment and answer, the oldest first."""
    rules: tuple[Rule, ...] = ()
    together: tuple[tuple[str, str], ...] = ()
    partition: Partition = field(default_factory=Partition)
    sets: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Id of a set → the digests of its entries."""

    def after(self, act: Act, when: str) -> History:
        """Return the history with one more line of the ledger."""
        match act:
            case Rule():
                return replace(self, rules=(*self.rules, act))
            case Together():
                return replace(self, together=(*self.together, act.names))
            case ScoresTold(atoms=dict() as atoms) | CertificateTold(atoms=dict() as atoms):
                return replace(
                    self,
                    answers=(*self.answers, (when, act)),
                    partition=self.partition.divided(atoms),
                    sets={**self.sets, act.entries: frozenset(atoms)},
                )
            case ScoresTold() | DifferenceTold() | RefusalTold() | CertificateTold():
                return replace(self, answers=(*self.answers, (when, act)))
            case _:
                return self

    # Who, and about what

    def names_of(self, submitter: str) -> frozenset[str]:
        """Return all names of one submitter, written alike or put together by the custodian."""
        found = {_known(submitter)}
        pairs = [{_known(each) for each in pair} for pair in self.together]
        while more := [pair for pair in pairs if pair & found and not pair <= found]:
            found.update(*more)
        return frozenset(found)

    def policy(self, submitter: str, corpus: str, numbers: Policy | None = None) -> Policy:
        """Return what holds for a submitter and corpus: of the custodian's rules that fit, the most special one, then the latest.

        ``numbers``: those that hold where no rule says other ones; None: those of the policy.
        """
        names = self.names_of(submitter)
        fitting = [
            rule
            for rule in self.rules
            if rule.corpus in {"", corpus}
            and (not rule.submitter or _known(rule.submitter) in names)
        ]
        policy = numbers or Policy()
        for rule in sorted(fitting, key=lambda each: (bool(each.submitter), bool(each.corpus))):
            if rule.policy is not None:
                policy = replace(numbers or POLICIES[rule.policy], name=rule.policy)
            given = {name: getattr(rule, name) for name in _NUMBERS}
            policy = replace(policy, **{name: value for name, value in given.items() if value is not None})  # fmt: skip
        return policy

    def given(
        self, submitter: str, corpus: str, entries: frozenset[str], version: str | None = None
    ) -> list[tuple[str, LabelledLine]]:
        """Return the answers that count for a submitter: about this version of the corpus, or any that shares an entry with it."""
        names = self.names_of(submitter)
        return [
            (when, act)
            for when, act in self._about(corpus, entries, version)
            if _known(act.submitter) in names
        ]

    def _about(
        self, corpus: str, entries: frozenset[str], version: str | None
    ) -> list[tuple[str, Counted]]:
        def shares(act: Counted) -> bool:
            """Return whether an answer shares an entry; of a refusal nobody opened the texts."""
            told = () if isinstance(act, RefusalTold) else self.sets.get(act.entries, ())
            return not entries.isdisjoint(told)

        return [
            (when, act)
            for when, act in self.answers
            if not isinstance(act, DifferenceTold)
            and ((act.corpus == corpus and version in {None, _version(act)}) or shares(act))
        ]

    def told_of(self, run: str, submitter: str) -> ScoresTold | None:
        """Return the answer about a run that a submitter has already."""
        names = self.names_of(submitter)
        found = (
            act
            for _, act in self.answers
            if isinstance(act, ScoresTold) and act.run == run and _known(act.submitter) in names
        )
        return next(found, None)

    def best(self, submitter: str, entries: str, headline: str) -> ScoresTold | None:
        """Return the answer with the best score told so far on exactly these entries."""
        names = self.names_of(submitter)
        scores_tolds = [
            act
            for _, act in self.answers
            if isinstance(act, ScoresTold)
            and (act.entries, act.card.headline) == (entries, headline)
            and act.card.scores_of == act.run
            and _known(act.submitter) in names
        ]
        sign = 1 if direction(headline) == "higher" else -1
        return max(scores_tolds, key=lambda act: sign * act.value, default=None)

    # What is told

    def require_answers(
        self,
        submitter: str,
        corpus: str,
        entries: frozenset[str],
        now: datetime,
        *,
        version: str | None = None,
        numbers: Policy | None = None,
    ) -> tuple[int, int]:
        """Return which answer the next one is and how many there are; NotReleased where none may be given now."""
        policy = self.policy(submitter, corpus, numbers)
        if policy.name == "blind" and f"{now:%Y-%m-%d}" < policy.opens:
            raise NotYetReleased(f"Nothing is told of {corpus!r} before {policy.opens}, then to everybody: its policy is blind.")  # fmt: skip
        given = self.given(submitter, corpus, entries, version)
        if len(given) >= policy.count:
            raise NotYetReleased(
                f"{submitter!r} had all {counted(policy.count, 'answer')} about {corpus!r}. Each one tells a little of the hidden "
                "entries. The custodian can allow more (rosetta vault budget --count), or take other entries."
            )
        if numbers is None and sum(not isinstance(act, CertificateTold) for _, act in self._about(corpus, entries, version)) >= policy.everybody:  # fmt: skip
            raise NotYetReleased(
                f"All {policy.everybody:,} answers about {corpus!r} were given, to whomever. Exchange its entries (rosetta vault rotate), or "
                "allow more (rosetta vault budget --everybody): each answer tells a little of them."
            )
        moments = [moment for when, _ in given if (moment := _moment(when)) <= now]
        free = max(moments, default=now) + timedelta(hours=policy.pause_hours)
        if moments and now < free:
            raise NotYetReleased(
                f"{submitter!r} had an answer about {corpus!r} at {max(moments).strftime(MOMENT)}; there are {pause_words(policy.pause_hours)} between two. "
                f"The next one is given from {free.strftime(MOMENT)} on (rosetta vault budget --pause)."
            )
        return len(given) + 1, policy.count

    def answer(self, asked: ScoreQuestion, now: datetime) -> ScoreAnswer:
        """Decide what is told of a run; NotReleased where nothing is."""
        facts, best, least = asked.facts, None, 0.0
        number, count = self.require_answers(
            facts.submitter, facts.corpus.id, asked.entries, now, version=facts.corpus.version
        )
        found = tellable(self.partition, asked.entries, asked.entries_of)
        if found is None:
            raise NotReleased(self._too_few(asked))
        chosen, after = found
        if facts.policy != "trusted":
            least = asked.expected_half
            best = self.best(facts.submitter, set_id(asked.entries), facts.headline)
        higher = direction(facts.headline) == "higher"
        if best is not None and not beats(asked.value, best.value, least, higher=higher):
            # nothing is new but that the best was not beaten, which is one bit
            fields = {name: getattr(best.card, name) for name in ReleasedScores.model_fields}
            scores_of, released_scores = best.card.scores_of, ReleasedScores(**fields | {"bits": 1})
            after = self.partition.cut(asked.entries)
        else:
            scores_of, released_scores = facts.run, _with_parts(asked.scores, chosen)
        atoms = self.new_atoms(asked.entries, after)
        return ScoreAnswer(scores_of, released_scores, least, number, count, atoms)

    def new_atoms(self, entries: Collection[str], after: Partition) -> dict[str, int] | None:
        """Return what the ledger keeps of the atoms once something is told; None where it tells of no others than before."""
        new = after.count != self.partition.count or not self.partition.atoms.keys() >= set(entries)
        new = new or set_id(entries) not in self.sets
        return {str(key): after.atoms[key] for key in sorted(entries)} if new else None

    def _too_few(self, asked: ScoreQuestion) -> str:
        if words := too_few_words(len(asked.entries)):
            return words
        known = len(asked.entries & self.partition.atoms.keys())
        return (
            f"Scores over other selections of these entries were told before ({known:,} of {len(asked.entries):,} entries), and "
            f"with them the scores of this run would tell of fewer than {LEAST} entries. Run over exactly the "
            f"same entries as before, or exchange {LEAST} or more of each part that was told."
        )


def _with_parts(scores: ReleasedScores, chosen: Collection[Part]) -> ReleasedScores:
    """Return scores with these parts alone, and which breakdowns lack one."""
    parts: dict[str, dict[str, Scores]] = {}
    left_out = set(scores.parts_left_out)
    for dimension, tags in scores.parts.items():
        for tag, told in tags.items():
            if (dimension, tag) in chosen:
                parts.setdefault(dimension, {})[tag] = told
            else:
                left_out.add(dimension)
    return scores.model_copy(update={"parts": parts, "parts_left_out": tuple(sorted(left_out))})


@dataclass(frozen=True)
class BudgetUse:
    """What one submitter had about one version of a corpus."""

    names: tuple[str, ...]
    corpus: str
    version: str | None
    answers: int
    policy: Policy
    last: str
    """Moment of the last answer."""
    best: ScoresTold | None
    """The latest answer that told a new score; None where consent to it was withdrawn."""
    withdrawn: bool = False
    """Whether consent to the latest one was withdrawn."""
    bits: int = 0
    """How many were told in all, at most; certificates and cards of earlier versions are not counted."""


def uses(found: History, withdrawn: Collection[str] = ()) -> list[BudgetUse]:
    """Return what every submitter had about every corpus, in the order of their first answers.

    ``withdrawn``: runs that may not be claimed now (``verifying.withdrawn_of``).
    """
    asked: dict[tuple[frozenset[str], str, str | None], list[tuple[str, Counted]]] = {}
    for when, act in found.answers:
        if not isinstance(act, DifferenceTold):
            key = (found.names_of(act.submitter), act.corpus, _version(act))
            asked.setdefault(key, []).append((when, act))
    made = []
    for (_, corpus, version), told in asked.items():
        new = [act for _, act in told if isinstance(act, ScoresTold) and act.card.scores_of == act.run]  # fmt: skip
        numbers = CERTIFICATES if isinstance(told[0][1], CertificateTold) else None
        names = tuple(sorted({act.submitter for _, act in told}))
        made.append(
            BudgetUse(
                names=names,
                corpus=corpus,
                version=version,
                answers=len(told),
                policy=found.policy(names[0], corpus, numbers),
                last=told[-1][0],
                best=new[-1] if new and new[-1].run not in withdrawn else None,
                withdrawn=bool(new) and new[-1].run in withdrawn,
                bits=sum(_bits(act) for _, act in told),
            )
        )
    return made


def beats(value: float, best: float, step: float, *, higher: bool) -> bool:
    """Return whether a score is better than the best one told so far by more than a step (Blum & Hardt 2015, Algorithm 1)."""
    return (value - best if higher else best - value) > step


def history(acts: Iterable[tuple[str, Act]]) -> History:
    """Return what a ledger's acts, each with its moment, amount to."""
    history = History()
    for when, act in acts:
        history = history.after(act, when)
    return history


def _known(name: str) -> str:
    """Return a name by which it is known again, however it is written."""
    return normalised(name) or name


def _version(act: Counted) -> str | None:
    """Return the version of the corpus that an answer is about; None where it has none, or the ledger does not say."""
    return None if isinstance(act, CertificateTold) else act.card.corpus.version


def _bits(act: Counted) -> int:
    if isinstance(act, RefusalTold):
        return _REFUSAL_BITS
    return (act.card.bits or 0) if isinstance(act, ScoresTold) else 0


def _moment(when: str) -> datetime:
    return datetime.strptime(when, MOMENT).replace(tzinfo=UTC)
