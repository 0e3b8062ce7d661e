"""Whether an answer means what the expected one means, as a judge sees it (crosslingual-rag-metrics §7)."""

from __future__ import annotations

from scoring.core.packs import pack_metric
from scoring.metrics.maker import Maker
from scoring.packs.judged import JudgeScore


class SemanticAgreement(JudgeScore):
    """Mean of the judge's scores of 0–1 for equal meaning; higher is better."""

    info = pack_metric("lbrag.semantic_score")
    judge = "judge_semantic"


METRICS = {"lbrag.semantic_score": Maker(SemanticAgreement)}
