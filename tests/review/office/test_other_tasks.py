"""A review is of translations: runs and corpora of other tasks are refused, with what to do instead."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.store.file.database import open_store
from review.office.items.reviewed_runs import read_runs
from review.office.items.sentences import of_corpus
from tests.corpora.tasks.records import corpus_of
from tests.harness.evaluation import run_corpus

RECORD = {"source": "Who?", "reference": "Anna", "predicted": "Anna"}
WORDS = r"The task of the corpus is qa, .* rate or write translations.*`rosetta score`"


def test_outputs_of_another_task_are_not_rated(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    options = MethodOptions(source_language="en", target_language="crk", task="qa")
    run_corpus(path, corpus_of("qa", RECORD), Plan(method="replay", options=options))
    with closing(open_store(path)) as connection, pytest.raises(UsageError, match=WORDS):
        read_runs(connection, ["last"])


def test_questions_are_not_handed_out_as_sentences() -> None:
    with pytest.raises(UsageError, match=WORDS):
        of_corpus(corpus_of("qa", RECORD))
    assert of_corpus(corpus_of("translation", RECORD)).entries
