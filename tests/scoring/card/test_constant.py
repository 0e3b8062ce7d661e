"""The constant floor: chrF++ of every constant exactly, and the best one by composite."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.model.entry import Entry
from scoring.card.constant import best_constant, constant_chrf, spread
from scoring.core.composite import composite
from scoring.core.scorer import Scorer
from scoring.core.translation import Translation
from scoring.metrics.chrf import ChrfPlusPlus
from scoring.metrics.inventory import make_metrics, surface_setup
from scoring.words.resources import Resources
from tests.scoring.samples import ALPHABETS, HOSTILE, corpus

TEXTS = st.lists(
    st.one_of(st.sampled_from(HOSTILE), st.text("ab .,ê1", max_size=12)),
    min_size=1, max_size=6, unique=True,
)  # fmt: skip


def as_constant(text: str, references: list[str]) -> float:
    """Score one text for every reference, one by one."""
    metric = ChrfPlusPlus()
    rows = metric.stats_many(
        [Translation(Entry(id=0, source="-", reference=each), text) for each in references]
    )
    return metric.value(np.array(rows, dtype=np.float64).sum(axis=0)) or 0.0


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.data())
def test_chrf_of_all_constants_is_that_of_each(texts: list[str], data: st.DataObject) -> None:
    times = data.draw(st.lists(st.integers(1, 3), min_size=len(texts), max_size=len(texts)))
    references = [text for text, number in zip(texts, times, strict=True) for _ in range(number)]
    found = constant_chrf(texts, np.array(times))
    expected = [as_constant(text, references) for text in texts]
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
def test_no_reference_is_a_better_constant(alphabet: str) -> None:
    made = corpus(alphabet, 60)
    metrics = make_metrics(Resources(surface_setup("und", "und", made)))
    scorer = Scorer(metrics)

    def reaches(text: str) -> float:
        taken = scorer.statistics([Translation(each, text) for each in made])
        return composite(scorer.table(taken).corpus_values()).value or 0.0

    chosen = best_constant(made, metrics, list, judges=100)
    assert reaches(chosen.text) == max(reaches(each.reference) for each in made)
    assert chosen.searched == len({each.reference for each in made})


def test_a_repeated_reference_is_the_constant() -> None:
    made = [
        Entry(id=place, source="-", reference=text)
        for place, text in enumerate(["yes", "no", "yes ", "yes", "maybe", "perhaps"])
    ]
    metrics = make_metrics(Resources(surface_setup("und", "und", made)))
    assert best_constant(made, metrics, list, judges=100).text == "yes"


def test_a_large_corpus_is_searched_in_part() -> None:
    rng = random.Random(1)
    made = [
        Entry(id=place, source="-", reference="".join(rng.choices("abcdef", k=500)))
        for place in range(600)
    ]
    metrics = make_metrics(Resources(surface_setup("und", "und", made)))
    assert best_constant(made, metrics, list, judges=3).searched == 400


@given(st.integers(1, 50), st.integers(1, 60))
def test_spread_takes_different_things_in_their_order(number: int, most: int) -> None:
    taken = spread(range(number), most)
    assert len(taken) == min(number, most)
    assert taken == sorted(set(taken))
