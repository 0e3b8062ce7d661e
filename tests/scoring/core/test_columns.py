"""What is kept beside an entry, by the task of its run."""

from __future__ import annotations

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.tasks.task import TRANSLATION
from scoring.core.columns import TASKS, TRANSLATIONS, columns_of, stated_columns
from scoring.core.setup import ScoringSetup

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


@given(st.sampled_from([*TASKS, "juggling"]), st.lists(st.sampled_from(IDS), unique=True))
def test_only_computed_metrics_are_kept_each_once_and_some_where_there_are_some(
    task: str, computed: list[str]
) -> None:
    columns = columns_of(task, computed)
    shown = [columns.headline, columns.second, columns.third]
    named = [id_ for id_ in shown if id_]
    assert len(set(named)) == len(named)
    if task != TRANSLATION:
        assert set(columns.ids) <= set(computed)
        assert bool(columns.headline) == bool(computed)


@given(st.sampled_from(sorted(TASKS)), st.dictionaries(st.sampled_from(IDS), VALUES), VALUES)
def test_what_is_kept_tells_the_values_again(
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
