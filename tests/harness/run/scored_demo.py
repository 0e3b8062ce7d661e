"""The demo, scored."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.samples import DEMO_COACHING, DEMO_CORPUS, DEMO_WEAK, sample_path
from harness.card.load import load_card
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.harness.evaluation import (
    LANGUAGES,
    run_corpus,
)


def demo(**scoring: Any) -> tuple[Corpus, Plan]:
    options = MethodOptions(**LANGUAGES, outputs=sample_path(DEMO_WEAK))
    told = ScoringOptions(**{"terms": sample_path(DEMO_COACHING), **scoring})
    return load(sample_path(DEMO_CORPUS)), Plan(method="replay", options=options, scoring=told)


def scored(path: Path, **scoring: Any) -> dict[str, Any]:
    run_corpus(path, *demo(**scoring))
    with closing(open_store(path)) as connection:
        return load_card(connection, find_run(connection, "last").id).as_json()
