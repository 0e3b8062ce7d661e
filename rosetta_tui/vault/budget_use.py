"""Who had how many answers about secret entries, out of how many: what the ledger of this computer adds up to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from harness.release.budget import CERTIFICATES, Counted, History, Policy
from harness.release.records import CertificateTold, RefusalTold, ScoresTold

_REFUSAL_BITS: Final = 4
"""Of nine refusals that there are."""


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


def uses(told: History, withdrawn: Collection[str] = ()) -> list[BudgetUse]:
    """Return what every submitter had about every corpus, in the order of their first answers.

    ``withdrawn``: runs that may not be claimed now (``withdrawn_of``).
    """
    asked = defaultdict(list)
    for when, act in told.answers:
        asked[told.names_of(act.submitter), act.corpus, act.version].append((when, act))
    return [_use(told, corpus, version, acts, withdrawn) for (_, corpus, version), acts in asked.items()]  # fmt: skip


def _use(
    told: History,
    corpus: str,
    version: str | None,
    answers: list[tuple[str, Counted]],
    withdrawn: Collection[str],
) -> BudgetUse:
    acts = [act for _, act in answers]
    new = [act for act in acts if isinstance(act, ScoresTold) and act.new]
    gone = bool(new) and new[-1].run in withdrawn
    numbers = CERTIFICATES if isinstance(acts[0], CertificateTold) else None
    names = tuple(sorted({act.submitter for act in acts}))
    bits = sum(act.card.bits for act in acts if isinstance(act, ScoresTold))
    return BudgetUse(
        names, corpus, version, len(acts), told.policy(names[0], corpus, numbers), answers[-1][0],
        best=new[-1] if new and not gone else None, withdrawn=gone,
        bits=bits + _REFUSAL_BITS * sum(isinstance(act, RefusalTold) for act in acts),
    )  # fmt: skip
