"""What may be released of secret entries, given all that was released before: the rules, without a file or a store.

**Atoms.** Every sum that was ever released, to anybody, cuts the entries into those that it is over and the others. All
cuts together divide them into *atoms*: two entries are in one where every sum has both or neither. Whatever is added or
subtracted of the sums counts the entries of an atom alike, so nothing can be computed about fewer than the smallest atom
has. A sum is released only where no atom gets fewer than ``LEAST``, five: after a run over 100 entries, one over 97 of
them is refused, as the difference would be about 3; one over 95 is not. That covers the total less the other parts, parts
within parts, breakdowns that overlap, retries over nearly the same entries, and segments.

**The Ladder.** A submitter that requests scores again and again climbs to the answers of a hidden set with them. So a new
score is released only where it beats the best one released by half of the interval that the set is expected to have, 4.9
points of chrF++ for 100 entries: after 52.0 a run of 56.8 gets the 52 again, one of 57.0 its own. As one bit still says
something, answers are **counted** and lie apart in time. Two names are two submitters unless the custodian joins them.

**Confirmation.** Who has seen scores over some sentences may have chosen the method by them. A claim above functional, an
ownership record and a certificate that lifts a card rest on a run over 50 sentences or more of which nobody has learned
anything (benchmark specification §9.3.2), once for each submitter and state of the corpus.

Sources: Blum & Hardt, "The Ladder", ICML 2015; Denning, Denning & Schwartz, "The Tracker", ACM TODS 4(1), 1979; Denning,
*Cryptography and Data Security*, 1982, chapter 6; Willenborg & de Waal, *Elements of Statistical Disclosure Control*, 2001.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final, TypeVar

from corpora.text.comparison import normalised
from harness.card.withholding import LEAST
from harness.core.failures import UsageError
from harness.release.policy import POLICIES, Policy, expected_half, pause_words, range_of
from harness.release.records import (
    LEAST_CONFIRMED,
    OF_SCORES,
    Act,
    CertificateTold,
    Confirmation,
    DifferenceTold,
    RefusalTold,
    ReleasedCard,
    Rule,
    Scores,
    ScoresTold,
    Shortfall,
    Together,
)
from scoring.core.messages import counted
from scoring.core.metric_rows import direction

MOMENT: Final = "%Y-%m-%dT%H:%M:%SZ"
Part = tuple[str, str]
"""A breakdown and a part of it."""
Counted = ScoresTold | RefusalTold | CertificateTold
"""An answer that counts, in the ledger."""
_Told = TypeVar("_Told", ScoresTold, RefusalTold, CertificateTold)


class NotReleased(UsageError):  # noqa: N818  said of an answer
    """Nothing is released; the message says why, and what may be done."""

    waits = False
    """Whether the same answer is given later: after the pause, or where the custodian allows more."""


class NotYetReleased(NotReleased):
    """Nothing is released now, by count or pause."""

    waits = True


# Atoms


@dataclass(frozen=True)
class Partition:
    """The atoms into which all that was released divides the secret entries."""

    atoms: Mapping[Any, int] = field(default_factory=dict)
    """Entry → its atom, from 1; of entries that are not there nothing is known, and so they may be few."""

    def divided(self, labels: Mapping[Any, int]) -> Partition:
        """Return the atoms once entries with one label can also be distinguished from those with another, or none."""
        sides = {key: (self.atoms.get(key, 0), labels.get(key, 0)) for key in {*self.atoms, *labels}}  # fmt: skip
        numbers = {side: place for place, side in enumerate(sorted(set(sides.values())), start=1)}
        return Partition({key: numbers[side] for key, side in sides.items()})

    def cut(self, told: Collection[Any]) -> Partition:
        """Return the atoms once a sum over these entries is released as well."""
        return self.divided(dict.fromkeys(told, 1))

    @property
    def safe(self) -> bool:
        """True where no atom has fewer than ``LEAST`` entries."""
        return min(Counter(self.atoms.values()).values(), default=LEAST) >= LEAST

    def may_tell(self, told: Collection[Any]) -> bool:
        """Return whether a sum over these entries leaves every atom with enough; one over no entry says nothing."""
        return not told or self.cut(told).safe


def tellable(
    before: Partition, whole: Collection[Any], parts: Mapping[Part, Collection[Any]]
) -> tuple[frozenset[Part], Partition] | None:
    """Return the parts of a run that may be released with its total, and the atoms after it; None where not even that may be.

    ``whole`` are the secret entries of the run, ``parts`` those of each part by breakdown and tag. Large parts come first:
    a small one gives way, and those from which it would follow.
    """
    if not whole or not before.may_tell(whole):
        return None
    after, chosen = before.cut(whole), set()
    for name in sorted(parts, key=lambda part: (-len(set(parts[part])), part)):
        if after.may_tell(parts[name]):
            after = after.cut(parts[name])
            chosen.add(name)
    return frozenset(chosen), after


# What was released


def set_id(entries: Collection[str]) -> str:
    """Return the id of a set of entries by their digests."""
    return sha256("\n".join(sorted(entries)).encode()).hexdigest()


@dataclass(frozen=True)
class ScoreQuestion:
    """A run whose scores somebody wants to know."""

    card: ReleasedCard
    """All that may leave of it, in steps; which answer it is and whose scores, the history decides."""
    entries: frozenset[str]
    """Digests of its secret entries."""
    value: float
    """Of the headline, as it is."""
    entries_of: Mapping[Part, frozenset[str]] = field(default_factory=dict)
    """Digests of the secret entries of each part."""
    rotations: int | None = None
    """As in ``ScoresTold``."""

    @property
    def expected_half(self) -> float:
        """By more than this the score must beat the best one released."""
        return expected_half(len(self.entries), range_of(self.card.headline), self.value)


@dataclass(frozen=True)
class History:
    """All that was released so far, and the rules of the custodian."""

    answers: tuple[tuple[str, Counted | DifferenceTold], ...] = ()
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
            case ScoresTold() | DifferenceTold() | RefusalTold() | CertificateTold():
                more = replace(self, answers=(*self.answers, (when, act)))
                if not isinstance(act, ScoresTold | CertificateTold) or act.atoms is None:
                    return more
                sets = {**self.sets, act.entries: frozenset(act.atoms)}
                return replace(more, partition=self.partition.divided(act.atoms), sets=sets)
            case _:
                return self

    def names_of(self, submitter: str) -> frozenset[str]:
        """Return all names of one submitter, written alike or put together by the custodian."""
        names = {_known(submitter)}
        pairs = [set(map(_known, pair)) for pair in self.together]
        while more := [pair for pair in pairs if pair & names and not pair <= names]:
            names.update(*more)
        return frozenset(names)

    def policy(self, submitter: str, corpus: str, numbers: Policy | None = None) -> Policy:
        """Return what holds for a submitter and corpus: of the custodian's rules that fit, the most special one, then the latest.

        ``numbers``: those that hold where no rule says other ones; None: those of the policy.
        """
        names, policy = self.names_of(submitter), numbers or Policy()
        for rule in sorted(self.rules, key=lambda rule: (bool(rule.submitter), bool(rule.corpus))):
            if rule.corpus not in {"", corpus} or (rule.submitter and _known(rule.submitter) not in names):  # fmt: skip
                continue
            if rule.policy is not None:
                policy = replace(numbers or POLICIES[rule.policy], name=rule.policy)
            given = rule.model_dump(include={"count", "pause_hours", "everybody", "opens"}, exclude_none=True)  # fmt: skip
            policy = replace(policy, **given)
        return policy

    def told(
        self, form: type[_Told], submitter: str | None = None, run: str | None = None
    ) -> list[_Told]:
        """Return the answers of one form, the oldest first: to one submitter, about one run, or all."""
        names = None if submitter is None else self.names_of(submitter)
        return [
            act
            for _, act in self.answers
            if isinstance(act, form)
            and run in {None, act.run}
            and (names is None or _known(act.submitter) in names)
        ]

    def about(
        self, corpus: str, version: str | None, entries: Collection[str]
    ) -> list[tuple[str, Counted]]:
        """Return the answers that count about this version of a corpus (None: any), or over one of these entries under whatever name."""
        return [
            (when, act)
            for when, act in self.answers
            if not isinstance(act, DifferenceTold)
            and (
                (act.corpus == corpus and version in {None, act.version})
                or not self.sets.get(getattr(act, "entries", ""), frozenset()).isdisjoint(entries)
            )
        ]

    def require_answers(
        self,
        submitter: str,
        corpus: str,
        entries: Collection[str],
        now: datetime,
        *,
        version: str | None = None,
        numbers: Policy | None = None,
    ) -> tuple[int, int]:
        """Return which answer the next one is and how many there are; NotReleased where none may be given now.

        ``numbers``: see ``policy``; such answers do not count for everybody together.
        """
        policy = self.policy(submitter, corpus, numbers)
        if policy.name == "blind" and f"{now:%Y-%m-%d}" < policy.opens:
            raise NotYetReleased(f"Nothing is told of {corpus!r} before {policy.opens}, then to everybody: its policy is blind.")  # fmt: skip
        names, about = self.names_of(submitter), self.about(corpus, version, entries)
        given = [when for when, act in about if _known(act.submitter) in names]
        if len(given) >= policy.count:
            raise NotYetReleased(
                f"{submitter!r} had all {counted(policy.count, 'answer')} about {corpus!r}. Each one tells a little of the hidden "
                "entries. The custodian can allow more (rosetta vault budget --count), or take other entries."
            )
        if numbers is None and sum(not isinstance(act, CertificateTold) for _, act in about) >= policy.everybody:  # fmt: skip
            raise NotYetReleased(
                f"All {policy.everybody:,} answers about {corpus!r} were given, to whomever. Exchange its entries (rosetta vault rotate), or "
                "allow more (rosetta vault budget --everybody): each answer tells a little of them."
            )
        # a line in the future comes from a wrong clock, and locks nobody out
        if past := [moment for when in given if (moment := moment_of(when)) <= now]:
            free = max(past) + timedelta(hours=policy.pause_hours)
            if now < free:
                raise NotYetReleased(
                    f"{submitter!r} had an answer about {corpus!r} at {max(past).strftime(MOMENT)}; there are {pause_words(policy.pause_hours)} between two. "
                    f"The next one is given from {free.strftime(MOMENT)} on (rosetta vault budget --pause)."
                )
        return len(given) + 1, policy.count

    def answer(self, asked: ScoreQuestion, now: datetime) -> ScoresTold:
        """Return the line that answers a question, with the card that leaves; NotReleased where nothing may be released."""
        draft, corpus, why = asked.card, asked.card.corpus, shortfall(self, asked)
        number, count = self.require_answers(draft.submitter, corpus.id, asked.entries, now, version=corpus.version)  # fmt: skip
        sums = tellable(self.partition, asked.entries, asked.entries_of)
        if sums is None:
            raise NotReleased(self._too_few(asked.entries))
        best, least = None, 0.0
        if not self.policy(draft.submitter, corpus.id).climbs:
            best, least = self.best(asked), asked.expected_half
        higher = direction(draft.headline) == "higher"
        if best and not beats(asked.value, best.value, least, higher=higher):
            # nothing is new but that the best was not beaten, which is one bit
            fields = {name: getattr(best.card, name) for name in OF_SCORES} | {"bits": 1}
        else:
            fields = {"scores_of": draft.run, **_parts_released(draft, sums[0])}
        fields |= {"beat_by": least, "answer": number, "of": count}
        fields |= {"confirmation": "not_confirmed" if why else "confirmed", "shortfall": why}
        return ScoresTold(
            entries=set_id(asked.entries), atoms=self.new_atoms(asked.entries, sums[1]), value=asked.value,
            rotations=asked.rotations, card=ReleasedCard.model_validate(dict(draft) | fields),
        )  # fmt: skip

    def best(self, asked: ScoreQuestion) -> ScoresTold | None:
        """Return the answer with the best score released to this submitter on exactly these entries."""
        about = (set_id(asked.entries), asked.card.headline)
        acts = self.told(ScoresTold, asked.card.submitter)
        sign = 1 if direction(asked.card.headline) == "higher" else -1
        new = (act for act in acts if act.new and (act.entries, act.card.headline) == about)
        return max(new, key=lambda act: sign * act.value, default=None)

    def new_atoms(self, entries: Collection[str], after: Partition) -> dict[str, int] | None:
        """Return what the ledger keeps of the atoms after an answer; None where they are those of before."""
        if after == self.partition and set_id(entries) in self.sets:
            return None
        return {key: after.atoms[key] for key in sorted(entries)}

    def _too_few(self, entries: frozenset[str]) -> str:
        known = len(entries & self.partition.atoms.keys())
        return too_few_words(len(entries)) or (
            f"Scores over other selections of these entries were told before ({known:,} of {len(entries):,} entries), and "
            f"with them the scores of this run would tell of fewer than {LEAST} entries. Run over exactly the "
            f"same entries as before, or exchange {LEAST} or more of each part that was told."
        )


def history(acts: Iterable[tuple[str, Act]]) -> History:
    """Return what a ledger's acts, each with its moment, amount to."""
    past = History()
    for when, act in acts:
        past = past.after(act, when)
    return past


def beats(value: float, best: float, step: float, *, higher: bool) -> bool:
    """Return whether a score is better than the best one released so far by more than a step (Blum & Hardt 2015, Algorithm 1)."""
    return (value - best if higher else best - value) > step


def too_few_words(entries: int) -> str:
    """Return why the scores of a run over this many different secret entries are never released; empty where they are enough."""
    if entries >= LEAST:
        return ""
    return (
        f"This run has {entries:,} different secret entries; its scores would tell of single ones. Scores "
        f"are told from {LEAST} on."
    )


def moment_of(when: str) -> datetime:
    """Return the time of a line."""
    return datetime.strptime(when, MOMENT).replace(tzinfo=UTC)


def _known(name: str) -> str:
    """Return a name by which it is known again, however it is written."""
    return normalised(name) or name


def _parts_released(draft: ReleasedCard, chosen: Collection[Part]) -> dict[str, Any]:
    """Return the fields of a card with these parts alone, and which breakdowns lack one."""
    parts, left_out = dict[str, dict[str, Scores]](), set(draft.parts_left_out)
    for dimension, tags in draft.parts.items():
        if kept := {tag: tags[tag] for tag in tags if (dimension, tag) in chosen}:
            parts[dimension] = kept
        if kept.keys() != tags.keys():
            left_out.add(dimension)
    return {"parts": parts, "parts_left_out": tuple(sorted(left_out))}


# Confirmation

REASONS: Final[Mapping[Shortfall, str]] = {
    "": "nothing was told before about its entries",
    "few entries": f"it has fewer than {LEAST_CONFIRMED} secret entries",
    "told before": "something was told before about entries of it",
    "second run": "its submitter had a confirmed run since entries were last moved",
}
ACTIVATE: Final = (
    f"Activate {LEAST_CONFIRMED} held_out entries with `rosetta vault rotate VAULT CORPUS --from held_out --to gold_standard --count {LEAST_CONFIRMED} "
    "--purpose WORDS`, and run the method over them: `rosetta submission run SUBMISSION CORPUS --confirm`, your own with `rosetta run … --confirm`."
)
"""What to do where a run is not confirmed."""


def shortfall(before: History, asked: ScoreQuestion) -> Shortfall:
    """Return why a run that is released now is not confirmed, by all that was released before; empty where it is."""
    corpus = asked.card.corpus
    state = (corpus.id, corpus.version, asked.rotations)
    if len(asked.entries) < LEAST_CONFIRMED:
        return "few entries"
    if not before.partition.atoms.keys().isdisjoint(asked.entries):
        return "told before"
    second = any(
        act.card.confirmation == "confirmed" and (act.corpus, act.version, act.rotations) == state
        for act in before.told(ScoresTold, asked.card.submitter)
    )
    return "second run" if second else ""


def confirmation_of(past: History, run: str) -> Confirmation | None:
    """Return what was stated of a run, to whomever; None where nobody has its scores."""
    stated = [act.card.confirmation for act in past.told(ScoresTold, run=run)]
    return "confirmed" if "confirmed" in stated else "not_confirmed" if stated else None


def why_unconfirmed(past: History, run: str) -> str:
    """Return why no claim may rest on a run, in words behind "because"; empty where it is confirmed."""
    if confirmation_of(past, run) == "confirmed":
        return ""
    acts = past.told(ScoresTold, run=run)
    return REASONS[acts[0].card.shortfall] if acts else "its scores were told to nobody"


def untold(past: History, digests: Mapping[str, str]) -> tuple[str, ...]:
    """Return the entries about which nothing was released; ``digests``: id of an entry → its digest."""
    return tuple(entry for entry, digest in digests.items() if digest not in past.partition.atoms)
