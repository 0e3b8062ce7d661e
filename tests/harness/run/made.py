"""Runs whose outputs all are one text, and the demo scored with everything that ships."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.samples import DEMO_COACHING, DEMO_CORPUS, DEMO_WEAK, sample_path
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from tests.harness.evaluation import LANGUAGES, run_corpus, whole_card

FEW = ("exact_match_rate", "chrf_plus_plus", "bleu")


def constant(metrics: Sequence[str] = FEW, **more: Any) -> Plan:
    options = MethodOptions(**LANGUAGES, text="ENTRY NUMBER 3")
    scoring = ScoringOptions(metrics=tuple(metrics), **more)
    return Plan(method="constant", options=options, run=RunOptions(), scoring=scoring)


def demo(**scoring: Any) -> tuple[Corpus, Plan]:
    options = MethodOptions(**LANGUAGES, outputs=sample_path(DEMO_WEAK))
    told = ScoringOptions(**{"terms": sample_path(DEMO_COACHING), **scoring})
    return load(sample_path(DEMO_CORPUS)), Plan(method="replay", options=options, scoring=told)


def scored(path: Path, size: int | None = None, **scoring: Any) -> dict[str, Any]:
    run_corpus(path, *demo(**scoring), positions=None if size is None else range(size))
    return whole_card(path)


@dataclass(frozen=True)
class ScoredDemo:
    """A store with a run over some entries of the demo, which nobody changes, and what it stated."""

    path: Path
    missing: dict[str, str]
    text: str

    @property
    def card(self) -> dict[str, Any]:
        """A card of the caller's own."""
        card: dict[str, Any] = json.loads(self.text)
        return card


def scored_demo(path: Path) -> ScoredDemo:
    """Make the run."""
    heard = run_corpus(path, *demo(), positions=range(72, 90))
    return ScoredDemo(path, dict(heard.started.missing), json.dumps(whole_card(path)))
