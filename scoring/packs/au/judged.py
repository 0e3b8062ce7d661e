"""Answers as judges see them; the prompts say what each judge looks at (au-harness-metrics)."""

from __future__ import annotations

from scoring.core.packs import pack_metric
from scoring.metrics.maker import Maker
from scoring.packs.judged import JudgeScore, TurnsScore


class BinaryJudge(JudgeScore):
    """Share of answers that the judge takes for right."""

    info = pack_metric("au.llm_judge_binary")
    judge = "judge_binary"


class DetailedJudge(JudgeScore):
    """Mean of the judge's scores of 0–5, as a share of 5."""

    info = pack_metric("au.llm_judge_detailed")
    judge = "judge_detailed"


class RefusalJudge(JudgeScore):
    """Share of answers that the judge takes for a refusal."""

    info = pack_metric("au.llm_judge_redteaming")
    judge = "judge_redteaming"


class BigBenchJudge(JudgeScore):
    """Share of answers that the judge calls CORRECT, of those that it calls CORRECT or INCORRECT."""

    info = pack_metric("au.llm_judge_big_bench_audio")
    judge = "judge_big_bench_audio"


class ConversationJudge(TurnsScore):
    """Mean over conversations of the mean rating of their turns, 1–10, as a share of 10."""

    info = pack_metric("au.mt_bench_llm_judge")
    judge = "judge_mt_bench"


METRICS = {
    "au.llm_judge_binary": Maker(BinaryJudge),
    "au.llm_judge_detailed": Maker(DetailedJudge),
    "au.llm_judge_redteaming": Maker(RefusalJudge),
    "au.llm_judge_big_bench_audio": Maker(BigBenchJudge),
    "au.mt_bench_llm_judge": Maker(ConversationJudge),
}
