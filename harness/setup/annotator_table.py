"""The annotators that there are, and how a run finds those that its metrics ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scoring.core.inventory import read_by

if TYPE_CHECKING:
    from pydantic import BaseModel

    from corpora.model.entry import Entry
    from harness.annotators.annotator import AnyAnnotator, Find, Memo
    from harness.setup.scoring_options import ScoringOptions
    from harness.setup.scoring_tools import Steps
    from scoring.words.resources import Resources


@dataclass(frozen=True, slots=True)
class AnnotatorRow:
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
    "fst": AnnotatorRow("harness.setup.reference_words", "analyser"),
    "embeddings": AnnotatorRow(
        "harness.annotators.embeddings",
        "embeddings",
        "texts embedded",
        "model2vec",
        "embedding models on this computer, for semantic similarity",
    ),
    "comet": AnnotatorRow("harness.annotators.comet", "comet", "outputs scored by COMET"),
    "bertscore": AnnotatorRow(
        "harness.annotators.bertscore", progress="outputs scored by BERTScore"
    ),
    "sql": AnnotatorRow(
        "harness.annotators.sql",
        package="sqlglot",
        use="compares SQL queries part by part, beside what they give",
    ),
    "judge_semantic": _JUDGE,
    "judge_binary": _JUDGE,
    "judge_detailed": _JUDGE,
    "judge_redteaming": _JUDGE,
    "judge_big_bench_audio": _JUDGE,
    "judge_mt_bench": _JUDGE,
}
"""By id, in the order in which they are looked for."""


def find_annotators(
    resources: Resources,
    entries: Sequence[Entry],
    options: ScoringOptions,
    memo: Memo,
    folders: Sequence[Path],
    *,
    offline: bool,
    folder: Path | None = None,
    prices: Path | None = None,
) -> tuple[Resources, tuple[AnyAnnotator, ...], tuple[Steps, ...]]:
    """Find the annotators that the wanted metrics ask, with what each of them tells for the setup.

    ``folder`` is that of the corpus's file. UsageError names what was asked for and cannot be had.
    """
    # a look at this computer reads the table alone, and starts without what a run is scored with
    from harness.annotators.annotator import Search
    from harness.setup.scoring_tools import Steps

    annotators: list[AnyAnnotator] = []
    heard: list[Steps] = []
    for id_, row in ANNOTATORS.items():
        if not read_by(id_, options.wanted):
            continue
        steps = Steps(row.progress)
        search = Search(
            resources, entries, memo, dict(options), folders, offline, steps, folder, prices, id_
        )
        find: Find | None = import_module(row.module).find(search)
        if find is None:
            continue
        resources = _noted(resources, id_, row, find)
        if find.annotator is not None:
            annotators.append(find.annotator)
            heard.extend([steps] if row.progress else [])
    return resources, tuple(annotators), tuple(heard)


def _noted(resources: Resources, id_: str, row: AnnotatorRow, found: Find) -> Resources:
    """Write down the facts of an annotator."""
    setup = resources.setup
    changes: dict[str, Any] = {"off": {**setup.off, **found.off}}
    if found.facts is not None:
        changes |= _told(setup.annotators, id_, row, found.facts)
    return resources.with_setup(setup.model_copy(update=changes))


def _told(
    others: dict[str, dict[str, Any]], id_: str, row: AnnotatorRow, facts: BaseModel
) -> dict[str, Any]:
    if row.field:
        return {row.field: facts}
    return {"annotators": {**others, id_: facts.model_dump(mode="json")}}
