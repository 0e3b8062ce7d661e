"""COMET: shown with its warning, never cut off in silence, never in the composite."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.setup import CometFacts, ScoringSetup
from scoring.core.specification import specification
from scoring.core.translation import Translation
from scoring.metrics.comet import Comet
from scoring.metrics.inventory import choose
from scoring.words.resources import Resources
from tests.scoring.samples import entry

FACTS = CometFacts(model="wmt22-comet-da", sha256="ab" * 32, imported=False)


def comet(target: str = "crk", facts: CometFacts | None = FACTS, source: str = "en") -> Comet:
    setup = ScoringSetup(
        metrics=("comet_score",), source_language=source, target_language=target, comet=facts
    )
    return Comet(Resources(setup))


def scored(score: object, output: str = "x") -> Translation:
    return Translation(entry("y"), output, {"comet": score})


@pytest.mark.parametrize(
    ("score", "output", "stats"),
    [
        (0.81, "x", (0.81, 1, 0)),
        (1.02, "x", (1.0, 1, 1)),
        (-0.1, "x", (0.0, 1, 1)),
        (0.4, "", (0.0, 1, 0)),
        (1, "x", (1.0, 1, 0)),
        (None, "x", None),
        (math.nan, "x", None),
    ],
)
def test_statistics(score: object, output: str, stats: tuple[float, ...] | None) -> None:
    assert comet().stats(scored(score, output)) == stats


def test_mean_and_how_many_were_outside_go_on_the_card() -> None:
    metric = comet()
    assert metric.value((1.5, 2, 1)) == 0.75
    assert metric.value((0, 0, 0)) is None
    fields = metric.further(np.array([1.5, 2, 1]))
    assert fields == {"comet_low_resource_warning": True, "comet_outside_range": 1}
    [outside, warning] = metric.explain(scored(1.02))
    assert "1.0200" in outside
    assert "not calibrated" in warning


@pytest.mark.parametrize(
    ("source", "target", "warned"),
    [
        ("en", "crk", True),
        ("eng", "deu", False),
        ("en", "fi-Latn", False),
        ("EN", "uk_Cyrl", False),
        ("mi", "en", True),
        ("und", "de", True),
    ],
)
def test_warning_flag(source: str, target: str, warned: bool) -> None:
    metric = comet(target, source=source)
    assert metric.further(np.zeros(3))["comet_low_resource_warning"] is warned
    assert f"low-resource-warning:{'yes' if warned else 'no'}" in metric.signature
    assert bool(metric.explain(scored(0.5))) is warned


def test_signature_names_model_and_origin() -> None:
    assert "model:wmt22-comet-da-abababababab|from:checkpoint" in comet().signature
    imported = CometFacts(model="a|b:c.tsv", sha256="cd" * 32, imported=True)
    assert "model:a/b=c.tsv-cdcdcdcdcdcd|from:file" in comet(facts=imported).signature


def test_off_with_the_reason_and_out_of_the_composite() -> None:
    on, off = choose(Resources(comet(facts=None)._setup), {"comet_score"})
    assert on == ()
    assert "--comet" in off["comet_score"]
    assert "when all outputs are in" in comet().why_missing
    assert all("comet_score" not in weights for weights in specification().profiles.values())


@given(st.lists(st.floats(), max_size=8))
def test_no_score_raises_or_leaves_the_range(scores: list[float]) -> None:
    metric = comet()
    stats = [found for score in scores if (found := metric.stats(scored(score))) is not None]
    value = metric.value(np.sum(stats, axis=0)) if stats else None
    assert value is None or 0 <= value <= 1
