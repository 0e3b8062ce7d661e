"""Annotators: slow, heavy or networked work that only fills fields of a translation (DESIGN §4).

Metrics stay pure: they read what an annotator found, here or on another day.
"""

from __future__ import annotations

from typing import NamedTuple


class AnnotatorRow(NamedTuple):
    """One annotator; which metrics ask it is in their rows of the inventory."""

    module: str
    """Where its ``find(search)`` is; imported when a wanted metric asks it."""
    field: str = ""
    """The field of the scoring setup that tells of it; empty: under its id in ``annotators``."""
    progress: str = ""
    """What is counted while it works; empty where it is quick."""
    package: str = ""
    """What is installed beside the program for it, which doctor looks for; empty where nothing is."""
    use: str = ""
    """What doctor says that the package is for."""


_JUDGE = AnnotatorRow("harness.annotators.judges")

ANNOTATORS = {
    "fst": AnnotatorRow("harness.annotators.fst", "analyser"),
    "embeddings": AnnotatorRow(
        "harness.annotators.embeddings",
        "embeddings",
        "texts embedded",
        "model2vec",
        "embedding models on this computer, for semantic similarity",
    ),
    "comet": AnnotatorRow("harness.annotators.comet", "comet", "outputs scored by COMET"),
    "bertscore": AnnotatorRow("harness.annotators.bertscore", progress="outputs scored by BERTScore"),
    "sql": AnnotatorRow(
        "harness.annotators.sql", package="sqlglot", use="compares SQL queries part by part, beside what they give"
    ),
    "judge_semantic": _JUDGE,
    "judge_binary": _JUDGE,
    "judge_detailed": _JUDGE,
    "judge_redteaming": _JUDGE,
    "judge_big_bench_audio": _JUDGE,
    "judge_mt_bench": _JUDGE,
}
"""By id, in the order in which they are looked for."""
