"""What people read of a released card: its policy, the tier it reaches, what it cost, and how much it tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from corpora.text.messages import counted, pause_words
from harness.card.withholding import ReleasedScore
from harness.release.budget import ACTIVATE, CERTIFICATES, CHRF, REASONS, History, Policy
from harness.release.ledger_records import (
    CertificateTold,
    DifferenceTold,
    RefusalTold,
    ReleasedCard,
    ScoresTold,
    Shortfall,
)
from rosetta_tui.show import figures
from scoring.core.inventory import short_title


def score(told: ReleasedScore) -> str:
    """Write a score with the digits of its step, and its interval where it has one."""
    digits = max(0, -Decimal(str(told.step)).normalize().as_tuple().exponent)  # type: ignore[operator]
    value = figures.number(told.value, digits)
    if told.interval is None:
        return value
    lower, upper = (figures.number(end, digits) for end in told.interval)
    return f"{value} ({lower}–{upper})"


def policy_words(policy: Policy) -> str:
    """Return in a few sentences what leaves under a policy, and how often."""
    pause = f", {pause_words(policy.pause_hours)} apart" if policy.count > 1 else ""
    when = (
        f"Nothing before {policy.opens or 'a day that you name'}, then for all at once: "
        if policy.name == "blind"
        else ""
    )
    scores, later = what_leaves(policy)
    return (
        f"{policy.name}: {when}{scores} {counted(policy.count, 'answer')} to each submitter{pause}; {policy.everybody:,} to all together, "
        f"then the corpus is rotated. {later}No text, no entry, no row."
    )


def what_leaves(policy: Policy) -> tuple[str, str]:
    """Return what an answer under a policy tells, and what a later one does; empty where there is none, or it tells as much."""
    step = f"{policy.metrics[CHRF]:g}"
    first = f"chrF++ in steps of {step}, and the tier with its caveats."
    if policy.whole:
        first = f"chrF++ to {step}, composite, exact match, semantic score, FST acceptance, the tier with its caveats, cost and speed, rounded."
    climbs = policy.count == 1 or policy.climbs
    later = "A later answer tells new numbers only if chrF++ beats the best one told by more than chance explains. "
    return first, "" if climbs else later


def repeated(card: ReleasedCard) -> str:
    """Return that a card tells the best scores again, as its own run did not beat them; empty where it tells its own."""
    if card.scores_of == card.run:
        return ""
    return (
        f"The scores are those of run {card.scores_of[:8]}, told before: this run is not better by more than "
        f"{card.beat_by:.3g} {short_title(card.headline)}."
    )


def confirmation(shortfall: Shortfall) -> str:
    """Return whether a run is confirmed, and what to do if it is not."""
    if not shortfall:
        return "Confirmed: no scores over its entries were released before, so claims may rest on it."
    return f"Not confirmed: {REASONS[shortfall]}. No tier above functional, ownership record or passed review rests on it. {ACTIVATE}"


def sweep_words(card: ReleasedCard) -> str:
    """Return what the answer of a sweep says of its set-ups; empty for the card of a single run."""
    if (sweep := card.sweep) is None:
        return ""
    if sweep.verdict == "best":
        return f"{sweep.setup!r} is clearly the best of the {sweep.setups} set-ups of the sweep; the scores are its."
    whose = f"those of {sweep.setup!r}, the first of its plan" if card.scores_of == card.run else "the best told before"
    return f"None of the {sweep.setups} set-ups of the sweep is clearly better than all others and the best told before; the scores are {whose}."


def facts(card: ReleasedCard) -> Iterator[str]:
    """Yield what a card tells beside its scores, in sentences."""
    if again := repeated(card):
        yield again
    automatic = "" if card.quality_tier in {"", card.claimable_tier} else f" (automatic: {card.quality_tier})"
    yield f"Tier that may be claimed before a review by speakers: {card.claimable_tier}{automatic}{figures.coverage(card.coverage)}."
    yield confirmation(card.shortfall)
    if card.sweep is not None:
        yield sweep_words(card)
    spent = [
        words
        for words in (
            card.cost_per_entry_usd is not None and f"about {figures.money(card.cost_per_entry_usd)} an entry",
            card.avg_latency_seconds is not None and f"about {figures.number(card.avg_latency_seconds, 3)} seconds an entry",
        )
        if words
    ]  # fmt: skip
    if spent:
        yield f"It took {' and '.join(spent)}, to 1, 2 or 5 times a power of ten."
    if card.smallest_difference is not None:
        yield f"Two methods that differ by less than {card.smallest_difference:g} points of chrF++ cannot be told apart on these entries."
    yield f"This answer tells {counted(card.bits, 'bit')} about the secret entries at most."


# ---- Who had how many answers about secret entries, out of how many: what the ledger of this
# computer adds up to.

_REFUSAL_BITS: Final = 4  # of nine refusals that there are
_DIFFERENCE_BITS: Final = 2  # better, worse, cannot be told apart


@dataclass(frozen=True)
class BudgetUse:
    """What one submitter had about one version of a corpus."""

    names: tuple[str, ...]
    corpus: str
    version: str | None
    answers: int
    policy: Policy
    last: str  # moment of the last answer
    best: ScoresTold | None  # the latest answer that told a new score; None if withdrawn
    withdrawn: bool = False  # whether consent to the latest one was withdrawn
    bits: int = 0  # told at most, in all; earlier versions' certificates and cards excluded


def uses(told: History, withdrawn: Collection[str] = ()) -> list[BudgetUse]:
    """Return what every submitter had about every corpus, in the order of their first answers.

    ``withdrawn``: runs that may not be claimed now (``withdrawn_of``).
    """
    asked = defaultdict(list)
    for when, act in told.answers:
        asked[told.names_of(act.submitter), act.corpus, act.version].append((when, act))
    budget_uses = []
    for (_, corpus, version), answers in asked.items():
        acts, last = [act for _, act in answers], answers[-1][0]
        names = tuple(sorted({act.submitter for act in acts}))
        policy = told.policy(names[0], corpus, CERTIFICATES if isinstance(acts[0], CertificateTold) else None)
        scores = [act for act in acts if isinstance(act, ScoresTold)]
        bits = sum(act.card.bits for act in scores) + _REFUSAL_BITS * sum(isinstance(act, RefusalTold) for act in acts)
        bits += _DIFFERENCE_BITS * sum(
            (act.card.corpus.id, act.card.corpus.version) == (corpus, version)
            and bool({*names} & {*act.card.submitters})
            for act in told.of(DifferenceTold)
        )
        new = next((act for act in reversed(scores) if act.new), None)
        gone = new is not None and new.run in withdrawn
        budget_uses.append(BudgetUse(names, corpus, version, len(acts), policy, last, None if gone else new, gone, bits))  # fmt: skip
    return budget_uses
