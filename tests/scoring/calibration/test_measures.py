"""The table of measures: its sentinel, its rows without values, and the whole report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scoring.calibration import calibration
from scoring.calibration.calibration import calibrate, system_shares
from scoring.calibration.measures import measures
from scoring.core.metric import oriented
from tests.scoring.calibration.made import METRICS, PROFILE, made

PLANTED = (0.05, 0.05, 0.1, 0.8)


def test_the_sentinel_stands_last_and_never_falls_with_the_ratings() -> None:
    given = made(120, 1, PLANTED)
    for length in (given.length, 100 * given.people, -100 * given.people):
        rows = measures(replace(given, length=length), draws=50)
        assert rows[-1].metric == "length_only"
        assert rows[-1].tau_b.value is not None
        assert rows[-1].tau_b.value >= 0
        assert rows[-1].beats_length is None


def test_a_metric_that_is_the_length_does_not_beat_it_and_a_good_one_does() -> None:
    given = made(200, 2, PLANTED)
    same = replace(given, metrics={**given.metrics, "chrf_plus_plus": given.length})
    rows = {row.metric: row for row in measures(same, draws=200)}
    assert rows["chrf_plus_plus"].beats_length is False
    assert rows["code_switching_rate"].beats_length is True
    assert rows["code_switching_rate"].tau_b.value == pytest.approx(
        -_tau(given.metrics["code_switching_rate"], given.people)
    )


def _tau(x: np.ndarray, y: np.ndarray) -> float:
    from scipy import stats

    return float(stats.kendalltau(x, y)[0])


def test_a_metric_is_measured_where_it_has_values_and_left_out_without_any() -> None:
    given = made(100, 3, PLANTED, systems=2)
    half = np.where(np.arange(200) % 3 == 0, np.nan, given.metrics["semantic_score"])
    nothing = np.full(200, np.nan)
    holed = {**given.metrics, "semantic_score": half, "chrf_plus_plus": nothing}
    rows = {row.metric: row for row in measures(replace(given, metrics=holed), draws=50)}
    assert set(rows) == {"composite", *METRICS, "length_only"} - {"chrf_plus_plus"}
    seen = ~np.isnan(half)
    assert rows["semantic_score"].outputs == seen.sum()
    assert rows["semantic_score"].tau_b.value == pytest.approx(_tau(half[seen], given.people[seen]))


def test_draws_without_an_output_that_a_metric_has_are_left_out_of_it() -> None:
    given = made(3, 5)
    one_less = {**given.metrics, "semantic_score": np.array([np.nan, 0.2, 0.8])}
    rows = {row.metric: row for row in measures(replace(given, metrics=one_less), draws=200)}
    assert rows["semantic_score"].outputs == 2
    assert rows["semantic_score"].pearson.value == pytest.approx(
        np.sign(given.people[2] - given.people[1]), nan_ok=True
    )


def test_equal_ratings_leave_every_correlation_undefined_and_nothing_breaks() -> None:
    given = made(160, 4)
    equal = replace(given, people=np.ones(160), acceptable=np.ones(160))
    found = calibrate(equal, PROFILE, draws=50)
    assert found.measures[0].tau_b.value is None
    assert found.measures[0].auc.value is None
    assert not found.weights.proposed
    assert not found.threshold.proposed


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_handful_of_ratings_gives_a_table_and_no_proposal(rows: int) -> None:
    found = calibrate(made(rows, 5), PROFILE, draws=50)
    assert (found.items, found.outputs) == (rows, rows)
    assert not found.weights.proposed
    assert not found.threshold.proposed


def test_same_seed_gives_the_same_report_by_system() -> None:
    given = made(60, 6, systems=2)
    first, second = system_shares(given, draws=100)
    assert (first.system, second.outputs) == ("system 0", 60)
    assert first.acceptable.value == pytest.approx(given.acceptable[:60].mean())
    assert first.acceptable.interval.lower < first.acceptable.interval.upper
    assert second.composite == pytest.approx(given.composite[60:].mean())
    given = made(160, 7, PLANTED)
    once = calibrate(given, PROFILE, draws=20)
    assert once == calibrate(given, PROFILE, draws=20)
    assert once != calibrate(given, PROFILE, draws=20, seed=2)


def test_no_output_and_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "MOST_OUTPUTS", 10)
    with pytest.raises(ValueError, match="11 rated outputs; from 1 to 10"):
        calibrate(made(11, 1), PROFILE)


def test_values_are_turned_so_that_more_is_better() -> None:
    values = np.array([0.5, 1.0, 2.0])
    assert oriented(values, "higher").tolist() == [0.5, 1, 2]
    assert oriented(values, "lower").tolist() == [-0.5, -1, -2]
    assert oriented(values, "neither").tolist() == [-0.5, 0, -1]
