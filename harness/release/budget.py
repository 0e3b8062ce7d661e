"""What may be released of secret entries, given all that was released before: the rules, without a file or a store.

**Atoms.** Each sum that was ever released cuts the entries in two; all cuts together divide them into *atoms*. Sums and
differences of sums count the entries of an atom alike, so nothing can be computed about fewer than the smallest atom has.
A sum is released only where each keeps ``LEAST``, five: after a run over 100 entries, one over 97 of them is refused, as
the difference would be about 3; one over 95 is not.

**The Ladder** (Blum & Hardt, ICML 2015). A new score is released only where it beats the best one by half of the interval
that the set is expected to have, 4.9 points of chrF++ for 100 entries: after 52.0 a run of 56.8 gets the 52 again, one of
57.0 its own. As one bit still says something, answers are **counted** and lie apart in time.

**Confirmation.** A claim rests on a run over 50 sentences or more of which nobody has learned anything (benchmark
specification §9.3.2), once for each submitter and state of the corpus. Limits: ``docs/internals/released.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property, reduce
from math import isfinite
from typing import Final, TypeVar

from corpora.text.comparison import normalised
from corpora.text.messages import counted, pause_words
from harness.card.withholding import LEAST, Atoms, clean, divided, expected_half, range_of, set_id, tellable
from harness.core.failures import UsageError
from harness.release import ledger_records
from harness.release.ledger_records import LEAST_CONFIRMED, CertificateTold, RefusalTold, ScoresTold
from harness.sealed.strict_records import StrictRecord
from scoring.core.inventory import direction, row_of
from scoring.core.specification import COMPOSITE

MOMENT: Final = "%Y-%m-%dT%H:%M:%SZ"
Counted = ScoresTold | RefusalTold | CertificateTold
_Told = TypeVar("_Told", ScoresTold, RefusalTold, CertificateTold)
_Act = TypeVar("_Act", bound=StrictRecord)


class NotReleased(UsageError):  # noqa: N818  said of an answer
    """Nothing is released; the message says why, and what may be done."""


class NotYetReleased(NotReleased):
    """Nothing is released now, by count or pause: later, or where the custodian allows more, the same answer is given."""


# Policies

CHRF: Final = "chrf_plus_plus"
OFFICIAL: Final = {CHRF: 1.0, COMPOSITE: 0.01, "exact_match_rate": 0.05, "semantic_score": 0.02, "fst_acceptance_rate": 0.1}  # fmt: skip
TRUSTED: Final = {CHRF: 0.1, COMPOSITE: 0.001, "exact_match_rate": 0.01, "semantic_score": 0.01, "fst_acceptance_rate": 0.01}  # fmt: skip


@dataclass(frozen=True)
class Policy:
    """What a submitter gets about a version of a corpus: ``count`` answers, ``pause_hours`` apart, nothing before ``opens`` (UTC).

    After ``everybody`` answers to all submitters together the custodian rotates the corpus (benchmark specification §9.3).
    """

    name: ledger_records.PolicyName = "official"
    count: int = 3
    pause_hours: float = 168.0
    everybody: int = 20
    opens: str = ""
    metrics: Mapping[str, float] = field(default_factory=lambda: OFFICIAL)
    """Metrics of a translation that are released, with their steps."""
    share: float = 0.01  # Step of the headline of another task, as a share of its range
    whole: bool = True  # Whether cost and speed are released
    climbs: bool = False  # Whether every score is released, even one that does not beat the best

    def steps(self, headline: str) -> Mapping[str, float]:
        """Return the metrics that are released, and in which steps; ``headline`` is among them."""
        if headline in self.metrics or row_of(headline) is None:
            return self.metrics
        low, high = range_of(headline)
        return {headline: self.share * (high - low if isfinite(high - low) else 1.0)}


POLICIES: Final[Mapping[ledger_records.PolicyName, Policy]] = {
    "official": Policy(),
    "strict": Policy("strict", count=1, metrics={CHRF: 5.0}, share=0.05, whole=False),
    "blind": Policy("blind"),
    "trusted": Policy("trusted", 10, 24.0, 200, metrics=TRUSTED, share=0.001, climbs=True),
}
CERTIFICATES: Final = Policy(count=10, pause_hours=24.0)  # of one run


# What was released


@dataclass(frozen=True)
class History:
    """All that was released so far, and the rules of the custodian: moment and act of each line, the oldest first."""

    acts: tuple[tuple[str, ledger_records.Act], ...] = ()

    def after(self, act: ledger_records.Act, when: str) -> History:
        """Return the history with one more act."""
        return History((*self.acts, (when, act)))

    def of(self, form: type[_Act]) -> list[_Act]:
        return [act for _, act in self.acts if isinstance(act, form)]

    def told(self, form: type[_Told], submitter: str | None = None, run: str | None = None) -> list[_Told]:
        """Return the answers of one form: to one submitter, about one run, or all."""
        names = None if submitter is None else self.names_of(submitter)
        return [act for act in self.of(form) if run in {None, act.run} and (names is None or _known(act.submitter) in names)]  # fmt: skip

    @property
    def answers(self) -> list[tuple[str, Counted]]:
        return [(when, act) for when, act in self.acts if isinstance(act, Counted)]

    @cached_property
    def sums(self) -> list[tuple[str, Mapping[str, int]]]:
        """Id of each set of entries about which something new was released, with the atom of each entry after it."""
        acts = [act for _, act in self.acts if isinstance(act, ScoresTold | CertificateTold)]
        return [(act.entries, act.atoms) for act in acts if act.atoms is not None]

    @cached_property
    def atoms(self) -> Atoms:
        """The atoms into which all that was released divides the secret entries."""
        return reduce(divided, (atoms for _, atoms in self.sums), {})

    def new_atoms(self, entries: Collection[str], after: Atoms) -> dict[str, int] | None:
        """Return what the ledger keeps of the atoms after an answer; None where they are those of before."""
        known = after == self.atoms and set_id(entries) in dict(self.sums)
        return None if known else {key: after[key] for key in sorted(entries)}

    def names_of(self, submitter: str) -> frozenset[str]:
        """Return all names of one submitter, written alike or put together by the custodian."""
        names = {_known(submitter)}
        pairs = [set(map(_known, act.names)) for act in self.of(ledger_records.Together)]
        while more := [pair for pair in pairs if pair & names and not pair <= names]:
            names.update(*more)
        return frozenset(names)

    def policy(self, submitter: str, corpus: str, numbers: Policy | None = None) -> Policy:
        """Return what the most special rule that fits says, then the latest; without one ``numbers``, or the policy's own."""
        names, policy = self.names_of(submitter), numbers or Policy()
        for rule in sorted(self.of(ledger_records.Rule), key=lambda rule: (bool(rule.submitter), bool(rule.corpus))):
            if rule.corpus not in {"", corpus} or (rule.submitter and _known(rule.submitter) not in names):
                continue
            if rule.policy is not None:
                policy = replace(numbers or POLICIES[rule.policy], name=rule.policy)
            policy = replace(policy, **rule.model_dump(include={"count", "pause_hours", "everybody", "opens"}, exclude_none=True))  # fmt: skip
        return policy

    def require_answers(
        self, submitter: str, corpus: str, entries: Collection[str], now: datetime, *, version: str | None = None, numbers: Policy | None = None
    ) -> tuple[int, int]:  # fmt: skip
        """Return which answer the next one is and how many there are; NotReleased where none may be given now.

        Answers count that are about this version of the corpus (None: any), or one of these entries; with ``numbers`` (see
        ``policy``) only for the submitter.
        """
        policy, names, sets = self.policy(submitter, corpus, numbers), self.names_of(submitter), dict(self.sums)
        if policy.name == "blind" and f"{now:%Y-%m-%d}" < policy.opens:
            raise NotYetReleased(f"The policy of {corpus!r} is blind: scores are released from {policy.opens}, to everybody at once.")  # fmt: skip
        about = [
            (when, act)
            for when, act in self.answers
            if (act.corpus == corpus and version in {None, act.version})
            or not set(entries).isdisjoint(sets.get(getattr(act, "entries", ""), ()))
        ]
        given = [datetime.fromisoformat(when) for when, act in about if _known(act.submitter) in names]
        if len(given) >= policy.count:
            raise NotYetReleased(f"{submitter!r} had all {counted(policy.count, 'answer')} about {corpus!r}. The custodian can allow more (rosetta vault budget --count), or take other entries.")  # fmt: skip
        if numbers is None and sum(not isinstance(act, CertificateTold) for _, act in about) >= policy.everybody:
            raise NotYetReleased(f"All {policy.everybody:,} answers about {corpus!r} were given. Exchange its entries (rosetta vault check-up), or allow more (rosetta vault budget --everybody).")  # fmt: skip
        # a line in the future comes from a wrong clock, and locks nobody out
        last = max((moment for moment in given if moment <= now), default=None)
        if last is not None and now < (free := last + timedelta(hours=policy.pause_hours)):
            raise NotYetReleased(
                f"{submitter!r} had an answer about {corpus!r} at {last.strftime(MOMENT)}; there are {pause_words(policy.pause_hours)} between two. "
                f"The next one is given from {free.strftime(MOMENT)} on (rosetta vault budget --pause)."
            )
        return len(given) + 1, policy.count

    def answer(self, draft: ScoresTold, now: datetime) -> ScoresTold:
        """Return the line that tells scores, with the card that leaves; NotReleased where nothing may be released.

        ``draft``: all that may leave of the run, in steps, and its secret entries as ``atoms``.
        """
        card, entries = draft.card, frozenset(draft.atoms or ())
        number, count = self.require_answers(card.submitter, draft.corpus, entries, now, version=draft.version)
        if (sums := tellable(self.atoms, entries, {})) is None:
            known = len(entries & self.atoms.keys())
            raise NotReleased(
                f"Scores over other selections of these entries were released before ({known:,} of {len(entries):,} entries). With them, this run's scores "
                f"would reveal fewer than {LEAST} entries. Run over exactly the same entries as before, or exchange {LEAST} or more of them."
            )
        best, least, sign = None, 0.0, 1 if direction(card.headline) == "higher" else -1
        if not self.policy(card.submitter, draft.corpus).climbs:
            new = [act for act in self.told(ScoresTold, card.submitter) if act.new]
            same = [act for act in new if (act.entries, act.card.headline) == (draft.entries, card.headline)]
            best = max(same, key=lambda act: sign * act.value, default=None)
            least = clean(expected_half(len(entries), range_of(card.headline), draft.value))
        confirmed = [act for act in self.told(ScoresTold, card.submitter) if not act.card.shortfall]
        why: ledger_records.Shortfall = ""
        if len(entries) < LEAST_CONFIRMED:
            why = "few entries"
        elif not self.atoms.keys().isdisjoint(entries):
            why = "told before"
        elif card.sweep is not None:
            why = "several set-ups"
        elif any((act.corpus, act.version, act.rotations) == (draft.corpus, draft.version, draft.rotations) for act in confirmed):  # fmt: skip
            why = "second run"
        fields = {"beat_by": least, "answer": number, "of": count, "scores_of": card.run}
        fields |= {"confirmation": "not_confirmed" if why else "confirmed", "shortfall": why}
        if best and not sign * (draft.value - best.value) > least:
            # nothing is new but that the best was not beaten, which is one bit
            fields |= {name: getattr(best.card, name) for name in ledger_records.ReleasedScores.model_fields} | {
                "bits": 1
            }
        released = ledger_records.ReleasedCard.model_validate(dict(card) | fields)
        return draft.model_copy(update={"card": released, "atoms": self.new_atoms(entries, sums[1])})


# Confirmation

REASONS: Final[Mapping[ledger_records.Shortfall | None, str]] = {  # why no claim may rest on a run, behind "because"
    "": "no scores over its entries were released before",
    "few entries": f"it has fewer than {LEAST_CONFIRMED} secret entries",
    "told before": "scores over some of its entries were released before",
    "several set-ups": "its set-up was compared with others on these entries",
    "second run": "its submitter had a confirmed run since entries were last moved",
    None: "its scores were not released",
}
ACTIVATE: Final = (
    f"Activate {LEAST_CONFIRMED} held_out entries with `rosetta vault check-up VAULT CORPUS --do rotate --count {LEAST_CONFIRMED} "
    "--purpose WORDS`, and run the method over them: `rosetta submission run SUBMISSION CORPUS --confirm`, your own with `rosetta run … --confirm`."
)


def shortfall_of(past: History, run: str) -> ledger_records.Shortfall | None:
    """Return why a run is not confirmed; empty where one answer about it is, None where nobody had one."""
    stated = [act.card.shortfall for act in past.told(ScoresTold, run=run)]
    return "" if "" in stated else next(iter(stated), None)


def _known(name: str) -> str:
    return normalised(name) or name  # however it is written
