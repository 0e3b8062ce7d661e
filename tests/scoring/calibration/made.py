"""Ratings with a known truth, for tests: metrics, their weights, and people who rate by them with noise."""

from __future__ import annotations

import numpy as np

from scoring.calibration.judgements import Judgements
from scoring.core.composite import composites
from scoring.core.metric import FloatArray
from scoring.core.specification import specification

PROFILE = "B"
METRICS = ("semantic_score", "chrf_plus_plus", "equivalent_match_rate", "code_switching_rate")
BETTER = {id_: specification().metrics[id_].info.better for id_ in METRICS}


def made(
    items: int,
    seed: int,
    truth: tuple[float, ...] | None = None,
    *,
    noise: float = 0.05,
    systems: int = 1,
    raters: int = 3,
    cut: float = 0.5,
) -> Judgements:
    """Make ratings that follow a mixture of the metrics; the specification's own where none is given."""
    random = np.random.default_rng(seed)
    rows = items * systems
    values = _values(random, rows)
    mixed = composites(values, PROFILE)
    felt = mixed if truth is None else _mixture(values, truth)
    latent = felt[:, None] + random.normal(0, noise, (rows, raters))
    ranks = np.clip(np.floor((latent - cut) / 0.12 + 2), 0, 3)
    return Judgements(
        items=tuple(str(row % items) for row in range(rows)),
        systems=tuple(f"system {row // items}" for row in range(rows)),
        people=ranks.mean(axis=1) / 3,
        acceptable=(ranks >= 2).mean(axis=1),
        composite=mixed,
        metrics=values,
        better=BETTER,
        length=random.integers(10, 100, rows).astype(float),
    )


def _values(random: np.random.Generator, rows: int) -> dict[str, FloatArray]:
    skill = random.normal(0.6, 0.15, rows)
    semantic = np.clip(skill + random.normal(0, 0.15, rows), 0, 1)
    chrf = 100 * np.clip(skill + random.normal(0, 0.15, rows), 0, 1)
    equivalent = (skill + random.normal(0, 0.15, rows) > 0.75).astype(float)
    switching = np.clip(1 - skill + random.normal(0, 0.15, rows), 0, 1)
    return dict(zip(METRICS, (semantic, chrf, equivalent, switching), strict=True))


def _mixture(values: dict[str, FloatArray], truth: tuple[float, ...]) -> FloatArray:
    semantic, chrf, equivalent, switching = values.values()
    return np.stack([semantic, chrf / 100, equivalent, 1 - switching], axis=1) @ np.array(truth)  # type: ignore[no-any-return]
