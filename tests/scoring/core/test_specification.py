"""The data file's numbers pinned a second time, names of metrics, kept columns, and assignments."""

from __future__ import annotations

from math import inf, isnan
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from corpora.tasks.task import TRANSLATION
from harness.compare.comparing import metric_asked
from harness.core.failures import UsageError
from harness.setup.scoring_options import ScoringOptions
from rosetta_tui.commands.leaderboard import leaderboard, sort_named
from rosetta_tui.leaderboard.rows import SORTS, columns
from scoring.core.columns import TASKS, TRANSLATIONS, columns_of, stated_columns
from scoring.core.inventory import metric_named, typed_name, unknown_metric
from scoring.core.metric import CorpusMetric
from scoring.core.metric_rows import short_title, title
from scoring.core.setup import ScoringSetup
from scoring.core.specification import metric_info, specification
from scoring.grammar.morpheme_difference import best_pairs
from scoring.metrics.inventory import maker
from scoring.words.resources import Resources
from tests.review.thorough import examples

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


def test_weights_tiers_ranges_and_directions_are_pinned() -> None:
    percent = {
        name: {id_: round(weight * 100) for id_, weight in weights.items()}
        for name, weights in specification().profiles.items()
    }
    assert percent == WEIGHTS
    assert {name: sum(weights.values()) for name, weights in percent.items()} == {
        "A": 100,
        "B": 100,
    }
    assert specification().tiers == (
        (0.85, "fluent"), (0.70, "deployable"), (0.50, "functional"), (0.30, "emerging"),
        (0.0, "baseline"),
    )  # fmt: skip
    assert (metric_info("chrf_plus_plus").low, metric_info("chrf_plus_plus").high) == (0, 100)
    assert metric_info("bleu").high == 100
    assert {id_ for id_ in specification().metrics if metric_info(id_).high == inf} == {
        "ter", "length_ratio",
    }  # fmt: skip
    lower = {id_ for id_ in specification().metrics if metric_info(id_).better == "lower"}
    assert lower == {"ter", "code_switching_rate", "hallucination_rate"}


def test_every_metric_has_a_status_interval_needs_and_scale() -> None:
    for id_, row in specification().metrics.items():
        inside = any(id_ in weights for weights in specification().profiles.values())
        assert inside is (row.normalization is not None), id_
        assert inside is (row.excluded is None), id_
    for id_, row in specification().metrics.items():
        built = {"implemented", "partial"} if maker(id_) else {"absent"}
        assert row.status in built, f"{id_}: change its status in specification.toml"
        assert (row.status == "partial") is bool(row.lacks), id_
    for id_ in specification().metrics:
        made = maker(id_)
        metric = made.make(Resources(SETUP))
        assert specification().metrics[id_].interval is not isinstance(metric, CorpusMetric), id_
        assert metric.info == metric_info(id_)
    named = [need for row in specification().metrics.values() for need in row.needs]
    assert set(named) == set(specification().needs)
    for id_, row in specification().metrics.items():
        assert row.needs, id_
        assert row.library, id_
        assert row.what.endswith("."), id_
    scales = {id_: row.scale for id_, row in specification().metrics.items()}
    assert (scales["chrf_plus_plus"], scales["ter"]) == ("0–100", "0–∞, lower is better")
    assert (scales["length_ratio"], scales["exact_match_rate"]) == ("0–∞, 1 is ideal", "0–1")


SETUP = ScoringSetup(metrics=(), source_language="en", target_language="xx")


ALL = (*specification().metrics, "composite")


def test_metrics_go_by_all_of_their_names() -> None:
    for id_ in ALL:
        for name in (id_, title(id_), short_title(id_), typed_name(id_)):
            assert {metric_named(each) for each in (name, name.upper(), f" {name}")} == {id_}
    assert len({typed_name(id_) for id_ in ALL}) == len(ALL)
    assert all(name.isascii() and " " not in name and "+" not in name
               for name in map(typed_name, ALL))  # fmt: skip
    for named, ids in [
        ("chrf,bleu,comet", ("chrf_plus_plus", "bleu", "comet_score")),
        ("chrF++,CHRF", ("chrf_plus_plus",)),
        ("Rosetta,fst", ("rosetta", "fst_acceptance_rate")),
        ("code-switching,Code Switching Rate", ("code_switching_rate",)),
    ]:
        assert ScoringOptions(metrics=tuple(named.split(","))).metrics == ids


def test_unknown_metrics_are_answered_and_composite_refused() -> None:
    for name, words in [
        ("blue", "did you mean bleu?"),
        ("chrf+", "did you mean chrf?"),
        ("cometscore2", "did you mean comet?"),
        ("halucination", "did you mean hallucination?"),
        ("xyzzy", "there are exact, equivalent, chrf, bleu, ter, length, fst,"),
    ]:
        assert metric_named(name) is None
        assert words in unknown_metric(name)
        with pytest.raises(ValueError, match="there is no metric"):
            ScoringOptions(metrics=(name,))
        with pytest.raises(UsageError, match="--metric: there is no metric"):
            metric_asked(name, "--metric")
    with pytest.raises(ValueError, match="made of other metrics"):
        ScoringOptions(metrics=("composite",))


def test_lists_are_sorted_by_names(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    assert [sort_named(name) for name in ("chrF++", "exact_match_rate", "FST", "BLEU", "cost")] == [
        "chrf", "exact", "fst", "bleu", "cost"
    ]  # fmt: skip
    for typed, words in (
        ("sepeed", "did you mean 'speed'?"),
        ("blue", "did you mean 'bleu'?"),
        ("xyzzy", "there are chrf, composite, "),
    ):
        failed = CliRunner().invoke(leaderboard, ["--sort", typed]).exception
        assert isinstance(failed, UsageError)
        assert words in str(failed)
    titles = {column.key: column.title for column in columns()}
    for metric in (
        "chrf_plus_plus", "composite", "exact_match_rate", "fst_acceptance_rate", "semantic_score",
    ):  # fmt: skip
        assert titles[sort_named(metric)] == SORTS[sort_named(metric)].words == short_title(metric)


matrices = st.tuples(st.integers(1, 7), st.integers(1, 7)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 6), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


def total(weights: list[list[int]], pairs: list[int | None]) -> int:
    return sum(weights[row][column] for row, column in enumerate(pairs) if column is not None)


@examples(15, 100)
@given(matrices)
def test_pairs_are_worth_as_much_as_scipy_finds(weights: list[list[int]]) -> None:
    pairs = best_pairs(weights)
    used = [column for column in pairs if column is not None]
    assert len(used) == len(set(used))
    assert len(pairs) == len(weights)
    rows, columns = linear_sum_assignment(weights, maximize=True)
    assert total(weights, pairs) == int(np.array(weights)[rows, columns].sum())


@examples(15, 100)
@given(matrices)
def test_nothing_of_no_worth_is_paired(weights: list[list[int]]) -> None:
    for row, column in enumerate(best_pairs(weights)):
        assert column is None or weights[row][column] > 0


@examples(15, 100)
@given(st.integers(1, 9), st.integers(1, 9))
def test_order_is_kept_where_everything_is_tied(rows: int, columns: int) -> None:
    used = [
        column for column in best_pairs([[1] * columns for _ in range(rows)]) if column is not None
    ]
    assert (used, len(used)) == (sorted(used), min(rows, columns))


def test_small_and_large_matrices() -> None:
    small: Any
    for small, pairs in [
        ([], []),
        ([[]], [None]),
        ([[0]], [None]),
        ([[3, 3], [3, 0]], [1, 0]),
        ([[2, 1], [2, 0], [0, 0]], [1, 0, None]),
        ([[5], [5], [6]], [None, None, 0]),
    ]:
        assert best_pairs(small) == pairs
    weights = np.random.default_rng(7).integers(0, 9, (60, 75))
    rows, columns = linear_sum_assignment(weights, maximize=True)
    found = best_pairs(weights.tolist())
    assert total(weights.tolist(), found) == int(weights[rows, columns].sum())


IDS = sorted({id_ for row in TASKS.values() for id_ in row.ids} - {"composite"})
VALUES = st.none() | st.floats(0, 100)


def test_a_translation_keeps_the_same_whatever_was_computed() -> None:
    assert columns_of(TRANSLATION, []) == columns_of(TRANSLATION, ["bleu"]) == TRANSLATIONS
    values = {"chrf_plus_plus": 51.5, "exact_match_rate": 1.0, "equivalent_match_rate": None}
    assert TRANSLATIONS.kept(values, 0.75) == (51.5, True, 0.75, None)


@pytest.mark.parametrize("task", [task for task in TASKS if task != TRANSLATION])
def test_a_task_is_shown_by_the_metrics_of_its_row_and_by_no_composite(task: str) -> None:
    row = TASKS[task]
    assert columns_of(task, row.ids) == row
    assert row.headline
    assert "composite" not in row.ids


@examples(15, 100)
@given(st.sampled_from([*TASKS, "juggling"]), st.lists(st.sampled_from(IDS), unique=True))
def test_only_computed_metrics_are_kept_once(task: str, computed: list[str]) -> None:
    columns = columns_of(task, computed)
    shown = [columns.headline, columns.second, columns.third]
    named = [id_ for id_ in shown if id_]
    assert len(set(named)) == len(named)
    if task != TRANSLATION:
        assert set(columns.ids) <= set(computed)
        assert bool(columns.headline) == bool(computed)


@examples(15, 100)
@given(st.sampled_from(sorted(TASKS)), st.dictionaries(st.sampled_from(IDS), VALUES), VALUES)
def test_kept_values_return(
    task: str, values: dict[str, float | None], composite: float | None
) -> None:
    columns = TASKS[task]
    told = columns.told(columns.kept(values, composite))
    known = {**values, "composite": composite}
    for id_, value in told.items():
        if id_ == columns.right and id_ not in (columns.headline, columns.second, columns.third):
            assert value == float(known.get(id_) == 1.0)
        else:
            assert value == known.get(id_)


def test_right_is_what_is_perfect_on_the_metrics_own_scale() -> None:
    assert TASKS["asr"].kept({"au.wer": 0.0})[1] is True
    assert TASKS["asr"].kept({"au.wer": 1.0})[1] is False
    assert TASKS["asr"].kept({"au.wer": None})[1] is False, "nothing known is not right"
    assert TASKS["math"].kept({"au.gsm8k_exact_match": 1.0})[1] is True
    assert TASKS["response"].kept({"nest.overall": 1.0})[1] is False, (
        "nothing tells right from wrong"
    )


@pytest.mark.parametrize(
    "stated", [None, [], {}, {"metrics": 3}, {"metrics": [1, None]}, {"task": None, "metrics": []}]
)
def test_a_hostile_statement_names_no_metric_that_is_none(stated: object) -> None:
    columns = stated_columns(stated)
    assert columns == TRANSLATIONS or not columns.ids


def test_a_set_up_names_its_task_only_where_it_is_another() -> None:
    plain = ScoringSetup(metrics=("bleu",), source_language="en", target_language="eo")
    assert "task" not in plain.model_dump()
    other = plain.model_copy(update={"task": "asr", "metrics": ("au.wer",)})
    assert ScoringSetup.model_validate(other.model_dump(mode="json")) == other
    assert other.columns == stated_columns(other.model_dump(mode="json")) == TASKS["asr"]
    assert not isnan(other.columns.perfect)
