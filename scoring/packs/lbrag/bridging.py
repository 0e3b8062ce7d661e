"""What the translation of evidence costs, and what F1 it buys (crosslingual-rag-metrics §5–6)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from scoring.core.messages import counted
from scoring.core.metric import RateMetric, Statistics, own_signature
from scoring.core.packs import pack_metric
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker, ResourceRate
from scoring.packs.lbrag.answers import answer_f1, language_of


class TranslationCost(RateMetric):
    """Mean tokens of translated evidence of an entry, from the record's ``evidence``; lower is better.

    Each block states its ``token_count``, alone or in its ``metadata``; one without any was not translated. Null for
    a record without the field: an empty list says that nothing was translated.
    """

    info = pack_metric("lbrag.cost")

    @property
    def signature(self) -> str:
        return own_signature("unit:token|counts:stated")

    @property
    def why_missing(self) -> str:
        return "no record says what was translated (field evidence; [] where nothing was)"

    def stats(self, translation: Translation) -> Statistics | None:
        cost = translation_cost(translation.given("evidence"))
        return None if cost is None else (cost, 1)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Return why an entry has no value."""
        if translation_cost(translation.given("evidence")) is not None:
            return ()
        return (_NO_COST,)


class BridgingEfficiency(ResourceRate):
    """Mean over entries of (F1 of the answer − F1 of the baseline's answer) / tokens; any value, higher is better.

    The baseline answers the same entry: the annotation ``baseline`` has its answer, else the record. An entry without
    cost has the value 0, whatever the baseline says. Null without evidence, or with a cost and no baseline.
    """

    info = pack_metric("lbrag.cnbe")

    @property
    def signature(self) -> str:
        return own_signature("f1:lbrag.f1|cost:lbrag.cost|paired:id")

    @property
    def why_missing(self) -> str:
        return "it takes a baseline: rosetta compare RUN --baseline RUN --view lbrag"

    def stats(self, translation: Translation) -> Statistics | None:
        cost = translation_cost(translation.given("evidence"))
        if cost is None:
            return None
        if cost <= 0:
            return (0.0, 1)
        scores = self._scores(translation)
        return None if scores is None else ((scores[0] - scores[1]) / cost, 1)

    def _scores(self, translation: Translation) -> tuple[float, float] | None:
        """Return the F1 of the answer and that of the baseline's; None without a baseline."""
        baseline = translation.annotations.get("baseline")
        if baseline is None:
            baseline = translation.given("baseline")
        if not isinstance(baseline, str):
            return None
        reference = translation.entry.reference
        language = language_of(translation, self._setup.target_language)
        ours = answer_f1(translation.output, reference, language)
        return ours, answer_f1(baseline, reference, language)

    def explain(self, translation: Translation) -> tuple[str, ...]:
        """Return the two F1 and the cost."""
        cost = translation_cost(translation.given("evidence"))
        if cost is None:
            return (_NO_COST,)
        if cost <= 0:
            return ("Nothing was translated, so nothing was bought: 0.",)
        scores = self._scores(translation)
        if scores is None:
            return ("There is no answer of a baseline for this entry.",)
        spent = counted(int(cost), "token") if cost.is_integer() else f"{cost:,.1f} tokens"
        return (
            f"F1 {scores[0]:.3f} against {scores[1]:.3f} of the baseline, for {spent} of translation.",
        )


_NO_COST = "The record does not say how many tokens were translated (evidence, token_count)."


def translation_cost(evidence: Any) -> float | None:
    """Sum the token counts of a record's evidence, ≥ 0; None where it is no list of blocks with such counts."""
    if not isinstance(evidence, list | tuple):
        return None
    counts = [_token_count(block) for block in evidence]
    stated = [count for count in counts if count is not None]
    total = math.fsum(stated) if all(map(math.isfinite, stated)) else math.nan
    return total if math.isfinite(total) else None


def _token_count(block: Any) -> float | None:
    """Return a block's token count, None where it states none, NaN where it is no count."""
    if not isinstance(block, Mapping):
        return math.nan
    metadata = block.get("metadata")
    count = block.get("token_count")
    if count is None and isinstance(metadata, Mapping):
        count = metadata.get("token_count")
    if count is None:
        return None
    if isinstance(count, bool) or not isinstance(count, int | float) or not 0 <= count < _MOST:
        return math.nan
    return float(count)


_MOST = 10**15
"""Tokens of one block; up to here sums of counts are exact."""

METRICS = {
    "lbrag.cost": Maker(lambda _: TranslationCost()),
    "lbrag.cnbe": Maker(BridgingEfficiency),
}
