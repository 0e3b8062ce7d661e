"""One term, one rendering across the entries."""

from __future__ import annotations

import pytest

from scoring.metrics.consistency import Consistency, why_no_consistency
from tests.scoring.behaviour import entries, outputs, resources

TERMS = {"dog": ["hundo", "hundulo"], "cat": ["kato"]}
CORPUS = entries([("the dog", ""), ("a dog", ""), ("dog, dog", ""), ("a cat", "")])


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (["hundo", "hundo", "hundo", "kato"], 1.0),
        (["hundo", "hundulo", "hundo", ""], 2 / 3),
        (["hundulo", "hundulo", "", "kato"], 2 / 3),
        (["besto", "besto", "besto", "kato"], 0.0),
        (["", "", "", ""], 0.0),
    ],
)
def test_occurrences_with_the_most_frequent_rendering(made: list[str], wanted: float) -> None:
    metric = Consistency(resources(CORPUS, TERMS))
    assert metric.corpus_value(outputs(CORPUS, made)) == pytest.approx(wanted)


def test_null_where_no_term_stands_in_two_entries() -> None:
    metric = Consistency(resources(CORPUS, {"cat": ["kato"]}))
    assert metric.corpus_value(outputs(CORPUS, ["kato"] * 4)) is None
    assert metric.corpus_value([]) is None


def test_without_a_dictionary_the_learned_links_tell() -> None:
    names = [
        "ba",
        "be",
        "bi",
        "bo",
        "bu",
        "da",
        "de",
        "di",
        "do",
        "du",
        "fa",
        "fe",
        "fi",
        "fo",
        "fu",
    ]
    covered = entries(
        [(f"see {a}{b} {b}{a}", f"vidi {b}{a}m {a}{b}m") for a in names for b in names]
    )
    metric = Consistency(resources(covered))
    references = [entry.reference for entry in covered]
    assert metric.corpus_value(outputs(covered, references)) == 1.0
    worse = [text if n % 3 else "" for n, text in enumerate(references)]
    assert 0.5 < (metric.corpus_value(outputs(covered, worse)) or 0) < 0.75
    assert metric.corpus_value(outputs(covered, [""] * len(covered))) == 0.0


def test_without_dictionary_and_alignment_it_is_off() -> None:
    assert "neither" in (why_no_consistency(resources(CORPUS)) or "")
    assert why_no_consistency(resources(CORPUS, TERMS)) is None
