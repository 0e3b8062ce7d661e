"""How often, and when, somebody learns a score: the Ladder, a count and a pause, for each submitter and corpus.

Whoever may ask for scores again and again climbs to the answers of a hidden set with them. The Ladder (Blum & Hardt,
"The Ladder: A Reliable Leaderboard for Machine Learning Competitions", ICML 2015) tells a new score only where it beats
the best one told so far by a step; otherwise it repeats the best. So of many tries nearly all give the same answer. As one
bit an answer still tells something, answers are counted and lie apart in time.

Who is one submitter is the custodian's word: two names count as two, unless they are put together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from math import copysign, log
from typing import Final

from corpora.text.comparison import normalised
from harness.card.withholding import LEAST
from harness.core.failures import UsageError
from harness.release.parts import Partition, tellable
from harness.release.records import (
    Act,
    CaveatsTold,
    CertificateTold,
    DifferenceTold,
    RefusalTold,
    ReleasedCorpus,
    ReleasedMethod,
    Rule,
    Scores,
    ScoresTold,
    Together,
)

COUNT: Final = 10
"""Answers that a submitter gets about a corpus, unless the custodian says otherwise."""
PAUSE_HOURS: Final = 24.0
"""Between two of them."""

MIDDLE_STEPS: Final = 2.0
"""Steps by which a new score beats the best one told so far, in the middle; chance decides each time."""
MOST_STEPS: Final = 5.0
"""A score that beats the best by so many is told in any case."""

MOMENT: Final = "%Y-%m-%dT%H:%M:%SZ"

Part = tuple[str, str]
"""A breakdown and a part of it."""
Told = ScoresTold | DifferenceTold | RefusalTold | CertificateTold
"""An answer, in the ledger."""


class NotReleased(UsageError):  # noqa: N818  said of an answer
    """Nothing is told; the message says why, and what may be done."""

    waits = False
    """Whether the same answer is given later: after the pause, or where the custodian allows more."""


class NotYetReleased(NotReleased):
    """Nothing is told now, by count or pause."""

    waits = True


def too_few_words(entries: int) -> str:
    """Say that the scores of a run over so many different secret entries are never told; empty where they are enough."""
    if entries >= LEAST:
        return ""
    return (
        f"This run has {entries:,} different secret entries; its scores would tell of single ones. Scores "
        f"are told from {LEAST} on."
    )


@dataclass(frozen=True)
class LeakBudget:
    """What a submitter gets about a corpus."""

    count: int = COUNT
    pause_hours: float = PAUSE_HOURS
    step: float | None = None
    """By how much a score must beat the best one at least; None: by what the entries support."""


@dataclass(frozen=True)
class ScoreQuestion:
    """A run whose scores somebody wants to know."""

    submitter: str
    run: str
    run_card_hash: str
    method: ReleasedMethod
    corpus: ReleasedCorpus
    entries: frozenset[str]
    """Digests of its secret entries."""
    headline: str
    higher: bool
    """Whether higher values of the headline are better."""
    value: float
    """Of the headline, as it is."""
    scores: Scores
    """In steps; the headline is among them."""
    draw: float
    """From 0 up to 1, by chance, but the same for the same score: where the border lies (``border``)."""
    smallest_difference: float | None = None
    """As on a released card."""
    parts: Mapping[Part, Scores] = field(default_factory=dict)
    """Parts that could be told."""
    entries_of: Mapping[Part, frozenset[str]] = field(default_factory=dict)
    """Digests of the secret entries of each."""
    left_out: frozenset[str] = frozenset()
    """Breakdowns of which a part is left out already."""
    caveats: CaveatsTold = None
    """As on a released card."""
    signatures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScoreAnswer:
    """What is told of a question."""

    scores_of: str
    scores: Scores
    parts: Mapping[Part, Scores]
    left_out: frozenset[str]
    caveats: CaveatsTold
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

    answers: tuple[tuple[str, Told], ...] = ()
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

    def budget(self, submitter: str, corpus: str) -> LeakBudget:
        """Return what holds for a submitter and corpus: of the rules that fit, the most special one, then the latest."""
        names = self.names_of(submitter)
        fitting = [
            each
            for each in self.rules
            if each.corpus in {"", corpus}
            and (not each.submitter or _known(each.submitter) in names)
        ]
        found = LeakBudget()
        for rule in sorted(fitting, key=lambda each: (bool(each.submitter), bool(each.corpus))):
            given = rule.model_dump(include={"count", "pause_hours", "step"}, exclude_none=True)
            found = replace(found, **given)
        return found

    def given(self, submitter: str, corpus: str, entries: frozenset[str]) -> list[tuple[str, Told]]:
        """Return the answers that count for a submitter: about this corpus, or any that shares an entry with it."""
        names = self.names_of(submitter)
        return [
            (when, act)
            for when, act in self.answers
            if {_known(each) for each in _submitters(act)} & names
            and (act.corpus == corpus or not entries.isdisjoint(self.sets.get(act.entries, ())))
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

    def best(
        self, submitter: str, entries: str, headline: str, *, higher: bool
    ) -> ScoresTold | None:
        """Return the answer with the best score told so far on exactly these entries."""
        names = self.names_of(submitter)
        told = [
            act
            for _, act in self.answers
            if isinstance(act, ScoresTold)
            and (act.entries, act.card.headline) == (entries, headline)
            and act.card.scores_of == act.run
            and _known(act.submitter) in names
        ]
        sign = 1 if higher else -1
        return max(told, key=lambda act: sign * act.value, default=None)

    # What is told

    def require_answers(
        self, submitter: str, corpus: str, entries: frozenset[str], now: datetime
    ) -> tuple[int, int]:
        """Return which answer the next one is and how many there are; NotReleased where none may be given now."""
        budget = self.budget(submitter, corpus)
        given = self.given(submitter, corpus, entries)
        if len(given) >= budget.count:
            raise NotYetReleased(
                f"{submitter!r} had all {budget.count:,} answers about {corpus!r}. Each one tells a little of the hidden "
                "entries. The custodian can allow more (rosetta vault budget --count), or take other entries."
            )
        if given:
            last = datetime.strptime(given[-1][0], MOMENT).replace(tzinfo=UTC)
            free = last + timedelta(hours=budget.pause_hours)
            if now < free:
                raise NotYetReleased(
                    f"{submitter!r} had an answer about {corpus!r} at {given[-1][0]}. The next one is given from "
                    f"{free.strftime(MOMENT)} on; the custodian sets the pause (rosetta vault budget --pause)."
                )
        return len(given) + 1, budget.count

    def answer(self, asked: ScoreQuestion, now: datetime) -> ScoreAnswer:
        """Decide what is told of a run; NotReleased where nothing is."""
        number, count = self.require_answers(asked.submitter, asked.corpus.id, asked.entries, now)
        found = tellable(self.partition, asked.entries, asked.entries_of)
        if found is None:
            raise NotReleased(self._too_few(asked))
        chosen, after = found
        headline = asked.scores[asked.headline]
        budget = self.budget(asked.submitter, asked.corpus.id)
        step = max(headline.step, budget.step or 0.0)
        best = self.best(
            asked.submitter, set_id(asked.entries), asked.headline, higher=asked.higher
        )
        least = border(step, asked.draw)
        if best is not None and not beats(asked.value, best.value, least, higher=asked.higher):
            card, after = best.card, self.partition.cut(asked.entries)
            parts = {
                (dimension, tag): scores
                for dimension, tags in card.parts.items()
                for tag, scores in tags.items()
            }
            gone = frozenset(card.parts_left_out)
            told = (card.scores_of, card.scores, parts, gone, card.caveats)
        else:
            parts = {name: asked.parts[name] for name in sorted(chosen)}
            gone = asked.left_out | {name for name, _ in asked.parts.keys() - chosen}
            told = (asked.run, asked.scores, parts, gone, asked.caveats)
        atoms = self.new_atoms(asked.entries, after)
        return ScoreAnswer(*told, beat_by=step, number=number, of=count, atoms=atoms)

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


@dataclass(frozen=True)
class BudgetUse:
    """What one submitter had about one corpus."""

    names: tuple[str, ...]
    corpus: str
    answers: int
    budget: LeakBudget
    last: str
    """Moment of the last answer."""
    best: ScoresTold | None
    """The latest answer that told a new score; None where consent to it was withdrawn."""
    withdrawn: bool = False
    """Whether consent to the latest one was withdrawn."""


def uses(found: History, withdrawn: Collection[str] = ()) -> list[BudgetUse]:
    """Return what every submitter had about every corpus, in the order of their first answers.

    ``withdrawn``: runs that may not be claimed now (``verifying.withdrawn_of``).
    """
    asked: dict[tuple[frozenset[str], str], list[str]] = {}
    for _, act in found.answers:
        for name in _submitters(act):
            asked.setdefault((found.names_of(name), act.corpus), []).append(name)
    made = []
    for (known, corpus), names in asked.items():
        told = [
            (when, act)
            for when, act in found.answers
            if act.corpus == corpus and {_known(each) for each in _submitters(act)} & known
        ]
        new = [
            act for _, act in told if isinstance(act, ScoresTold) and act.card.scores_of == act.run
        ]
        made.append(
            BudgetUse(
                names=tuple(sorted(set(names))),
                corpus=corpus,
                answers=len(told),
                budget=found.budget(names[0], corpus),
                last=told[-1][0],
                best=new[-1] if new and new[-1].run not in withdrawn else None,
                withdrawn=bool(new) and new[-1].run in withdrawn,
            )
        )
    return made


def border(step: float, draw: float) -> float:
    """Return by how much a score must beat the best one told so far, for a number from 0 up to 1 that chance drew.

    Whoever knew the border could begin low on purpose, so that it lies where half of their choices are told as better. Drawn
    anew from a Laplace distribution with a scale of one step, as differential privacy does it (C. Dwork and A. Roth, *The
    Algorithmic Foundations of Differential Privacy*, 2014, section 3.6), it makes an answer tell little of a choice, wherever it lies.
    """
    aside = draw - 0.5
    steps = MIDDLE_STEPS + copysign(log(max(1 - 2 * abs(aside), 2**-53)), aside)
    return step * min(MOST_STEPS, max(0.0, steps))


def beats(value: float, best: float, step: float, *, higher: bool) -> bool:
    """Tell whether a score is better than the best one told so far by more than a step (Blum & Hardt 2015, Algorithm 1)."""
    return (value - best if higher else best - value) > step


def history(acts: Iterable[tuple[str, Act]]) -> History:
    """Return what a ledger's acts, each with its moment, amount to."""
    found = History()
    for when, act in acts:
        found = found.after(act, when)
    return found


def _known(name: str) -> str:
    """Return a name by which it is known again, however it is written."""
    return normalised(name) or name


def _submitters(act: Told) -> Sequence[str]:
    return act.card.submitters if isinstance(act, DifferenceTold) else (act.submitter,)
