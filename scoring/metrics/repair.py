"""Repair effectiveness: how much of what a method's first answers broke did its own checks fix?"""

from __future__ import annotations

import numpy as np

from corpora.text.comparison import is_blank
from scoring.core.metric import FloatArray, Statistics, share
from scoring.core.specification import metric_info
from scoring.core.translation import Translation
from scoring.metrics.compliance import ByRules
from scoring.metrics.maker import Maker
from scoring.words.violations import ViolationPart, total


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

    @property
    def why_missing(self) -> str:
        return "no first answers are known, or none of them broke a rule of compliance"

    def stats(self, translation: Translation) -> Statistics | None:
        raw = translation.output if translation.raw is None else translation.raw
        if is_blank(raw):
            return None
        demand = self._rules.demand(translation.entry)
        violationses = demand.violations(raw)
        known = int(translation.raw is not None)
        if not violationses:
            return (0, 0, 1) if known else None
        counts = {part: total(violationses, part) for part in ViolationPart}
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
        mended, found = (int(number) for number in statistics[:2])
        rules = "1 rule" if found == 1 else f"{found:,} rules"
        repaired = "1 was" if mended == 1 else f"{mended:,} were"
        broken = self._rules.demand(translation.entry).violations(translation.raw)
        sentences = (sentence for part in broken.values() for sentence in part.sentences)
        summary = f"The first answer broke {rules} of compliance; {repaired} repaired."
        return (summary, *sentences)


METRICS = {"repair_effectiveness": Maker(RepairEffectiveness)}
