"""One run of a leaderboard, and whether it may have a rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from corpora.files.json_types import JsonObject
from harness.card.reading import number
from harness.core.failures import ErrorClass
from harness.store.run_list import RunSummary
from scoring.core.inventory import cost_adjusted, direction
from scoring.core.specification import TRANSLATIONS, KeptColumns

CHRF = "chrf_plus_plus"
"""What lists of translations are ranked by where somebody asks for it; else they are by the composite."""

MOST_UNCONNECTED = 0.05
"""Share of a run's entries that may have failed because there is no connection; above it the run has no rank."""


@dataclass(frozen=True)
class Entrant:
    """One finished run with the fields of benchmark-specification §9.7."""

    run: RunSummary
    setup_hash: str
    method_class: str
    scores: JsonObject
    """The card's ``scores`` block, without its breakdowns."""
    cost_per_entry_usd: float | None
    avg_latency_seconds: float | None
    unverified: bool
    """True where its card came without a seal that holds: it gets no rank."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """How many entries failed, by class of failure."""
    columns: KeptColumns = TRANSLATIONS
    """What runs of its task are shown by."""
    in_place_of: tuple[str, ...] = ()
    """Ids of the runs of the same list that it retried or scored again; they are in no list."""

    def value(self, metric: str) -> float | None:
        """Return a score by metric id, or ``composite``; None where it has none."""
        return number(self.scores.get(metric))

    @property
    def unconnected(self) -> int:
        """Entries that failed because there is no connection."""
        return self.failures.get(ErrorClass.CONNECTION, 0)

    @property
    def differences(self) -> tuple[str, ...]:
        """Return what its card states and its outputs do not give, in words."""
        recount = self.run.checked.recount
        return () if recount is None else recount.differences

    @property
    def unranked(self) -> str:
        """Why it has no rank, and what to do; empty where it may have one."""
        if self.unverified:
            return "its seal does not hold"
        if self.differences:
            return f"scored again here: {'; '.join(self.differences)}"
        if self.unconnected <= MOST_UNCONNECTED * self.run.total:
            return ""
        who = "its maker" if self.run.imported else f"`rosetta retry {self.run.run_id[:8]}`"
        share = f"{self.unconnected:,} of {self.run.total:,} entries failed because there is no connection"
        return f"{share}; {who} can ask for them again"

    @property
    def composite(self) -> float | None:
        """0–1, higher is better."""
        return self.value("composite")

    @property
    def cost_adjusted(self) -> float | None:
        """The secondary ranking of scoring-specification §6.3; None at cost 0 or unknown (M6)."""
        return cost_adjusted(self.composite, self.cost_per_entry_usd)

    def signature(self, metric: str) -> str:
        """Return the signature that the card states of a metric, empty where it states none."""
        signatures = self.scores.get("signatures")
        stated = signatures.get(metric) if isinstance(signatures, Mapping) else None
        return stated if isinstance(stated, str) else ""

    @property
    def chrf_signature(self) -> str:
        """sacreBLEU's signature of the run's chrF++, empty where its card states none."""
        return self.signature(CHRF)


def better(metric: str) -> str:
    """Return which values of a metric are better: ``higher``, ``lower`` or ``neither``; empty where nobody here knows."""
    try:
        return direction(metric)
    except KeyError:
        return ""


def counts(value: object) -> Mapping[str, int]:
    """Read how many entries failed by class from a card, whose rows may have been withheld."""
    stated = value if isinstance(value, Mapping) else {}
    return {str(name): n for name, n in stated.items() if isinstance(n, int) and n > 0}
