"""The data file against the specification's own tables, and its numbers pinned a second time."""

from __future__ import annotations

import re
from math import inf
from pathlib import Path

import pytest

from scoring.scorecard import Scores
from scoring.specification import metric_info, specification

SEED = Path(__file__).parents[2].parent / "shared" / "seeds" / "scoring-specification.md"
FIRST_CELL = re.compile(r"^\|?\s*`?(\w+)`?\s*\|")

WEIGHTS = {
    "A": {
        "fst_acceptance_rate": 25, "morphological_accuracy": 15, "chrf_plus_plus": 15,
        "semantic_score": 15, "equivalent_match_rate": 10, "code_switching_rate": 5,
        "terminology_adherence": 5, "hallucination_rate": 5, "exact_match_rate": 5,
    },
    "B": {
        "semantic_score": 25, "chrf_plus_plus": 25, "equivalent_match_rate": 15,
        "exact_match_rate": 10, "code_switching_rate": 10, "terminology_adherence": 5,
        "hallucination_rate": 5, "orthographic_accuracy": 5,
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def seed() -> str:
    if not SEED.exists():
        pytest.skip("the specification's document is not beside the repository")
    return SEED.read_text(encoding="utf-8")


def section(text: str, start: str, end: str) -> str:
    return text[text.index(start) : text.index(end)]


def rows(table: str) -> list[list[str]]:
    """Cells of the rows that begin with a metric id; ids lost their leading bar in the document."""
    found = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if FIRST_CELL.match(line)
    ]
    return [row for row in found if re.fullmatch(r"[a-z]\w+", row[0])]


def test_weights_are_pinned() -> None:
    percent = {
        name: {id_: round(weight * 100) for id_, weight in weights.items()}
        for name, weights in specification().profiles.items()
    }
    assert percent == WEIGHTS
    assert {name: sum(weights.values()) for name, weights in percent.items()} == {
        "A": 100,
        "B": 100,
    }


def test_tiers_are_pinned() -> None:
    assert specification().tiers == (
        (0.85, "fluent"), (0.70, "deployable"), (0.50, "functional"), (0.30, "emerging"),
        (0.0, "baseline"),
    )  # fmt: skip


def test_ranges_and_directions_are_pinned() -> None:
    assert (metric_info("chrf_plus_plus").low, metric_info("chrf_plus_plus").high) == (0, 100)
    assert metric_info("bleu").high == 100
    assert {id_ for id_ in specification().metrics if metric_info(id_).high == inf} == {
        "ter", "length_ratio",
    }  # fmt: skip
    lower = {id_ for id_ in specification().metrics if metric_info(id_).better == "lower"}
    assert lower == {"ter", "code_switching_rate", "hallucination_rate"}


def test_a_metric_is_either_normalised_or_excluded() -> None:
    for id_, row in specification().metrics.items():
        inside = any(id_ in weights for weights in specification().profiles.values())
        assert inside is (row.normalization is not None), id_
        assert inside is (row.excluded is None), id_


def test_inventory_is_the_documents(seed: str) -> None:
    inventory = section(seed, "2.1 Surface Metrics", "3. Metric Status Tiers")
    documented = {row[0]: row for row in rows(inventory)}
    assert list(specification().metrics) == list(documented)
    for id_, row in documented.items():
        ours = specification().metrics[id_]
        assert ours.info.title == row[1]
        assert (ours.level == "both") is (row[4].lower() == "both"), id_
        assert (ours.info.better == "lower") is ("lower is better" in row[3]), id_


@pytest.mark.parametrize(
    ("profile", "start", "end"),
    [
        ("A", "Profile A: Languages WITH FST", "Total: 1.00"),
        ("B", "Profile B: Languages WITHOUT FST", "Note on weight evolution"),
    ],
)
def test_weights_are_the_documents(seed: str, profile: str, start: str, end: str) -> None:
    documented = {row[0]: float(row[1]) for row in rows(section(seed, start, end))}
    assert specification().profiles[profile] == documented


def test_thresholds_are_the_documents(seed: str) -> None:
    documented = re.findall(r'composite >= ([\d.]+) → "(\w+)"', seed)
    assert [(float(least), name) for least, name in documented] == list(specification().tiers)


def test_every_key_of_the_documents_scores_block_is_on_the_card(seed: str) -> None:
    block = section(seed, '"scores": {', '"cost": {')
    keys = set(re.findall(r'^\s*"(\w+)":', block, re.MULTILINE)) - {"scores"}
    assert keys <= set(Scores.model_fields)
    assert set(specification().metrics) <= set(Scores.model_fields)
