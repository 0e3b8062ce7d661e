"""The scores of finished runs in columns, for lists, for published cards and for queries of one's own (scoring-specification §9.1).

The columns follow from the stored card alone, by SQL, so that none can state other than its card. A metric that is
implemented has a column: a new one is added to ``METRICS`` here, and to the tables by a numbered step of
``harness.store.file.steps`` and of ``harness.publish``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

METRICS: Final = (
    "equivalent_match_rate", "ter", "length_ratio", "morphological_accuracy",
    "orthographic_accuracy", "semantic_score", "code_switching_rate", "hallucination_rate",
    "terminology_adherence", "consistency_score", "compliance_index", "repair_effectiveness",
    "lbrag.em", "lbrag.f1", "lbrag.rlc", "lbrag.rlc_ok", "lbrag.cost", "lbrag.cnbe",
    "lbrag.semantic_score", "au.wer", "au.wder", "au.cpwer", "au.speaker_count_error",
    "au.multiple_choice_accuracy", "au.gsm8k_exact_match", "au.joint_goal_accuracy",
    "au.slot_accuracy", "au.slot_f1", "au.bfcl_match_score", "au.instruction_following",
    "au.text2sql_score", "au.sql_set_match", "au.bleu", "au.meteor", "au.bertscore", "au.comet",
    "au.llm_judge_binary", "au.llm_judge_detailed", "au.llm_judge_big_bench_audio",
    "au.llm_judge_redteaming", "au.mt_bench_llm_judge", "nest.length", "nest.richness",
    "nest.coverage", "nest.structure", "nest.clarity", "nest.overall", "nest.reading_time",
)  # fmt: skip
"""Ids of the metrics without a column of another name; that of a pack's is called ``pack_metric``."""

CARD_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "composite_score": ("scores", "composite"),
    "quality_tier": ("scores", "quality_tier"),
    "chrf_plus_plus": ("scores", "chrf_plus_plus"),
    "exact_match_rate": ("scores", "exact_match_rate"),
    "fst_acceptance_rate": ("scores", "fst_acceptance_rate"),
    "corpus_bleu": ("scores", "bleu"),
    "comet_score": ("scores", "comet_score"),
    "total_cost_usd": ("cost", "total_cost_usd"),
    "cost_per_1k_tokens": ("cost", "cost_per_1k_tokens"),
    "avg_latency_seconds": ("speed", "avg_latency_seconds"),
    "model_slug": ("model_slug",),
    "condition": ("condition",),
    "dataset_id": ("dataset", "id"),
    "language_pair": ("dataset", "language_pair"),
    "fingerprint_hash": ("fingerprint", "hash"),
    **{id_.replace(".", "_"): ("scores", id_) for id_ in METRICS},
}
"""Column → field of a card; those of the specification's table come first."""

TEXTS: Final = frozenset(
    {"quality_tier", "model_slug", "condition", "dataset_id", "language_pair", "fingerprint_hash"}
)
"""Columns of text; all others hold numbers."""


def _value(column: str) -> str:
    """Return SQL of what a card has in the field of a column; NULL if it is of another type."""
    path = "'$" + "".join(f'."{name}"' for name in CARD_FIELDS[column]) + "'"
    types = "('text')" if column in TEXTS else "('integer', 'real')"
    return (
        f"CASE WHEN json_type(run_card, {path}) IN {types} THEN json_extract(run_card, {path}) END"
    )


def fill_run_scores(connection: sqlite3.Connection, run: int | None = None) -> None:
    """Fill the columns of a run that was finished, or of all that have none yet; called within a transaction.

    A card that is damaged has no columns.
    """
    which = "id = ?" if run is not None else "id NOT IN (SELECT run FROM run_scores)"
    connection.execute(
        f"INSERT OR REPLACE INTO run_scores (run, {', '.join(CARD_FIELDS)}) SELECT id, {', '.join(map(_value, CARD_FIELDS))}"
        f" FROM runs WHERE {which} AND CASE typeof(run_card) WHEN 'text' THEN json_valid(run_card) END",
        () if run is None else (run,),
    )
