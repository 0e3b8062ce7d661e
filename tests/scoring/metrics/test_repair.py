"""Repair effectiveness: violations that are gone from the output / violations of the first answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.repair import RepairEffectiveness
from tests.scoring.samples import sentences
from tests.scoring.writings import target, translated

METRIC = RepairEffectiveness(target("Ethi", ("«»",)))
SOURCE = 'Send "{a}" to {b}'


@pytest.mark.parametrize(
    ("raw", "output", "expected"),
    [
        ("«{a}» {b}", "«{a}» {b}", (0, 0, 1)),
        ("«{a}» {b}", "«{a}»", (0, 0, 1)),
        ("«{a}»", "«{a}» {b}", (1, 1, 1)),
        ("«»", "«{a}»", (1, 2, 1)),
        ("«»", "«{a}» {b}", (2, 2, 1)),
        ('"{a}" train {c}', "«{a}» {b}", (4, 4, 1)),
        ('"{a}" train {c}', '"{a}" {b}', (3, 4, 1)),
        ('"{a}" train town {b}', '"{a}" town {b}', (1, 3, 1)),
        ("«{a}» {b} {b}", "«{a}» {b}", (1, 1, 1)),
        ("«{a}»", "«{b}»", (0, 1, 1)),
        ('"{a}" {b}', "{a} {b}", (0, 1, 1)),
        ("«{a}»", "", (0, 1, 1)),
        ("", "«{a}» {b}", None),
        (None, "«{a}»", (0, 1, 0)),
        (None, "«{a}» {b}", None),
        (None, "", None),
    ],
)
def test_counts(raw: str | None, output: str, expected: tuple[int, int, int] | None) -> None:
    assert METRIC.stats(translated(SOURCE, output, raw=raw)) == expected


def test_the_corpus_value_is_repaired_by_found() -> None:
    rows = np.array([[1.0, 1.0, 1.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0]])
    values = METRIC.values(np.vstack([rows, rows.sum(axis=0)]))
    assert values.tolist()[0] == 1.0
    assert np.isnan(values[1:3]).all()
    assert values[3] == 0.25


def test_without_a_first_answer_nothing_is_known_of_repairs() -> None:
    made_elsewhere = METRIC.stats(translated(SOURCE, "«{a}»")) or ()
    assert METRIC.value(made_elsewhere) is None
    assert "no first answers are known" in METRIC.why_missing
    repaired_nothing = METRIC.stats(translated(SOURCE, "«{a}» b", raw="«{a}»")) or ()
    assert METRIC.value(repaired_nothing) == 0.0


def test_explanations_say_what_was_broken_and_how_much_was_mended() -> None:
    told = METRIC.explain(translated(SOURCE, '"{a}" {b}', raw='"{a}" train'))
    assert told == (
        "The first answer broke 3 rules of compliance; 2 were repaired.",
        "The variable {b} is missing.",
        'The output quotes with "; right is «».',
        "In Latin letters, and not in the source: train.",
    )
    assert METRIC.explain(translated(SOURCE, "«{a}» {b}")) == ()


@given(sentences, sentences, st.one_of(st.none(), sentences))
def test_no_more_is_repaired_than_was_found(source: str, output: str, raw: str | None) -> None:
    translation = translated(source, output, raw=raw)
    statistics = METRIC.stats(translation)
    if statistics is not None:
        assert 0 <= statistics[0] <= statistics[1]
    said = METRIC.explain(translation)
    assert bool(said) is (statistics is not None and statistics[1] > 0 and raw is not None)
