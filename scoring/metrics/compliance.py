"""Compliance: does an output keep what a program needs and what the target's typography asks for?"""

from __future__ import annotations

import numpy as np

from corpora.text.comparison import is_blank
from scoring.core.metric import FloatArray, Metric, Statistics, own_signature, share
from scoring.core.setup import Translation
from scoring.core.specification import metric_info
from scoring.metrics.maker import Maker
from scoring.words.source_words import Resources
from scoring.words.violations import Demand, Rules, ViolationPart, total

WEIGHTS = {ViolationPart.VARIABLES: 3, ViolationPart.QUOTES: 1, ViolationPart.CASING: 1}
"""Fifths: 60 % variables, 20 % quotation marks, 20 % casing (scoring-specification §2.5)."""


class ByRules(Metric):
    """A metric of what an output keeps to or breaks: statistics are three numbers."""

    reads_source = True
    width = 3

    def __init__(self, resources: Resources) -> None:
        self._setup = resources.setup
        self._rules = Rules(resources)

    @property
    def signature(self) -> str:
        name, sha = self._setup.language_card, self._setup.language_card_sha256
        card = f"{name}@{sha[:12]}" if name and sha else "none"
        return own_signature(
            f"vars:multiset|quotes:card+reference,order,outer,breaks|card:{card}|script:{self._setup.script or 'card'}"
        )


class ComplianceIndex(ByRules):
    """Share of what outputs have to keep to that they do, 0–1, higher is better (§2.5).

    An output keeps a part or breaks it: 3 points for variables, all there and none more; 1 for quotation
    marks, only the card's or the reference's and not turned round, with no pair around the whole output and
    no line break that neither source nor reference has; 1 for casing, no Latin word that is not
    in the source where the target has no capitals. A part that asks nothing of an entry is kept; one of
    which no rule is known (no language card) is left out and the others weigh more. An empty output keeps
    nothing.

    The value is of the outputs as they were delivered; ``compliance_index_raw`` is of the method's first
    answers. Statistics: (points, points of the raw answers, points there were to get).
    """

    info = metric_info("compliance_index")

    @property
    def signature(self) -> str:
        return f"weights:3-1-1|{super().signature}"

    def stats(self, translation: Translation) -> Statistics:
        demand = self._rules.demand(translation.entry)
        points = _points(demand, translation.output)
        raw = translation.raw
        changed = raw is not None and raw != translation.output
        first = _points(demand, raw) if raw is not None and changed else points
        return (points, first, sum(WEIGHTS[part] for part in demand.known))

    def values(self, totals: FloatArray) -> FloatArray:
        return share(totals[:, 0], totals[:, 2])

    def further(self, total: FloatArray) -> dict[str, float | int | None]:
        raw = float(share(total[1:2], total[2:3])[0])
        return {"compliance_index_raw": None if np.isnan(raw) else raw}

    def explain(self, translation: Translation) -> tuple[str, ...]:
        if is_blank(translation.output):
            return ("There is no output.",)
        demand = self._rules.demand(translation.entry)
        broken = demand.violations(translation.output)
        sentences = [sentence for part in broken.values() for sentence in part.sentences]
        unknown = [part for part in ViolationPart if part not in demand.known]
        return (*sentences, *map(_NOT_LOOKED_AT.__getitem__, unknown))


_NOT_LOOKED_AT = {
    ViolationPart.VARIABLES: "",
    ViolationPart.QUOTES: "Quotation marks were not examined: no language card says which ones are right.",
    ViolationPart.CASING: "Casing was not examined: nothing says in which script the language is written.",
}


def _points(demand: Demand, output: str) -> int:
    if is_blank(output):
        return 0
    broken = demand.violations(output)
    return sum(WEIGHTS[part] for part in demand.known if part not in broken)


# ---- Repair effectiveness: how much of what a method's first answers broke did its own checks
# fix?


class RepairEffectiveness(ByRules):
    """Violations repaired / violations found in the raw answers, 0–1, higher is better (§2.5).

    Statistics: (repaired, found, first answers that are known beside the output). Violations are those of
    the compliance index; of each part as many count as repaired as there are fewer in the output than in
    the raw answer, so that a repair which breaks something else of the same kind gains nothing. An output
    that is gone repaired nothing; one without another first answer counts as repaired by nothing. Null
    where the raw answers broke nothing, and where no first answer is known: outputs that were made
    elsewhere, a method that has no repairs.
    """

    info = metric_info("repair_effectiveness")
    why_missing = "no first answers are known, or none of them broke a rule of compliance"

    def stats(self, translation: Translation) -> Statistics | None:
        raw = translation.output if translation.raw is None else translation.raw
        if is_blank(raw):
            return None
        demand = self._rules.demand(translation.entry)
        broken = demand.violations(raw)
        known = int(translation.raw is not None)
        if not broken:
            return (0, 0, 1) if known else None
        counts = {part: total(broken, part) for part in ViolationPart}
        if raw == translation.output or is_blank(translation.output):
            return (0, sum(counts.values()), known)
        left = demand.violations(translation.output)
        mended = sum(max(0, count - total(left, part)) for part, count in counts.items())
        return (mended, sum(counts.values()), known)

    def values(self, totals: FloatArray) -> FloatArray:
        repaired, broken, known = totals.T
        return share(repaired, np.where(known > 0, broken, 0.0))

    def explain(self, translation: Translation) -> tuple[str, ...]:
        statistics = self.stats(translation)
        if statistics is None or translation.raw is None or not statistics[1]:
            return ()  # without a repair, compliance has said it all
        mended, violations = (int(number) for number in statistics[:2])
        rules = "1 rule" if violations == 1 else f"{violations:,} rules"
        repaired = "1 was" if mended == 1 else f"{mended:,} were"
        broken = self._rules.demand(translation.entry).violations(translation.raw)
        sentences = (sentence for part in broken.values() for sentence in part.sentences)
        summary = f"The first answer broke {rules} of compliance; {repaired} repaired."
        return (summary, *sentences)


METRICS = {"compliance_index": Maker(ComplianceIndex), "repair_effectiveness": Maker(RepairEffectiveness)}
