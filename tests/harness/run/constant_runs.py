"""Runs whose outputs all are one text."""

from collections.abc import Sequence
from typing import Any

from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from tests.harness.evaluation import LANGUAGES

FEW = ("exact_match_rate", "chrf_plus_plus", "bleu")


def constant(metrics: Sequence[str] = FEW, **more: Any) -> Plan:
    options = MethodOptions(**LANGUAGES, text="ENTRY NUMBER 3")
    scoring = ScoringOptions(metrics=tuple(metrics), **more)
    return Plan(method="constant", options=options, run=RunOptions(), scoring=scoring)
