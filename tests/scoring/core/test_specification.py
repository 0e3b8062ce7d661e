"""The data file's numbers pinned a second time, and one vocabulary of metrics for options and titles."""

from __future__ import annotations

from math import inf

import pytest
from click.testing import CliRunner

from harness.compare.comparing import metric_asked
from harness.core.failures import UsageError
from harness.setup.scoring_options import ScoringOptions
from rosetta_tui.commands.leaderboard import leaderboard, sort_named
from rosetta_tui.leaderboard.rows import SORTS, columns
from scoring.core.inventory import metric_named, typed_name, unknown_metric
from scoring.core.metric import CorpusMetric
from scoring.core.metric_rows import short_title, title
from scoring.core.setup import ScoringSetup
from scoring.core.specification import metric_info, specification
from scoring.metrics.inventory import maker
from scoring.words.resources import Resources

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


SETUP = ScoringSetup(metrics=(), source_language="en", target_language="xx")


def test_status_is_what_the_code_can_do() -> None:
    for id_, row in specification().metrics.items():
        built = {"implemented", "partial"} if maker(id_) else {"absent"}
        assert row.status in built, f"{id_}: change its status in specification.toml"
        assert (row.status == "partial") is bool(row.lacks), id_


def test_a_metric_has_an_interval_where_its_statistics_add_up() -> None:
    for id_ in specification().metrics:
        made = maker(id_)
        assert made is not None
        metric = made.make(Resources(SETUP))
        assert specification().metrics[id_].interval is not isinstance(metric, CorpusMetric), id_
        assert metric.info == metric_info(id_)


def test_every_metric_says_what_it_needs_and_is() -> None:
    named = [need for row in specification().metrics.values() for need in row.needs]
    assert set(named) == set(specification().needs)
    for id_, row in specification().metrics.items():
        assert row.needs, id_
        assert row.library, id_
        assert row.what.endswith("."), id_


def test_scales_are_told_with_their_direction() -> None:
    scales = {id_: row.scale for id_, row in specification().metrics.items()}
    assert scales["chrf_plus_plus"] == "0–100"
    assert scales["ter"] == "0–∞, lower is better"
    assert scales["length_ratio"] == "0–∞, 1 is ideal"
    assert scales["exact_match_rate"] == "0–1"


ALL = (*specification().metrics, "composite")


def test_every_metric_goes_by_all_of_its_names_and_no_name_is_of_two() -> None:
    for id_ in ALL:
        for name in (id_, title(id_), short_title(id_), typed_name(id_)):
            assert {metric_named(each) for each in (name, name.upper(), f" {name}")} == {id_}
    assert len({typed_name(id_) for id_ in ALL}) == len(ALL)
    assert all(name.isascii() and " " not in name and "+" not in name
               for name in map(typed_name, ALL))  # fmt: skip


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ("chrf,bleu,comet", ("chrf_plus_plus", "bleu", "comet_score")),
        ("chrF++,CHRF", ("chrf_plus_plus",)),
        ("Rosetta,fst", ("rosetta", "fst_acceptance_rate")),
        ("code-switching,Code Switching Rate", ("code_switching_rate",)),
    ],
)
def test_options_take_short_names_and_keep_ids(given: str, ids: tuple[str, ...]) -> None:
    assert ScoringOptions(metrics=tuple(given.split(","))).metrics == ids


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("blue", "did you mean bleu?"),
        ("chrf+", "did you mean chrf?"),
        ("cometscore2", "did you mean comet?"),
        ("halucination", "did you mean hallucination?"),
        ("xyzzy", "there are exact, equivalent, chrf, bleu, ter, length, fst,"),
    ],
)
def test_an_unknown_one_is_answered_with_the_nearest(name: str, words: str) -> None:
    assert metric_named(name) is None
    assert words in unknown_metric(name)
    with pytest.raises(ValueError, match="there is no metric"):
        ScoringOptions(metrics=(name,))
    with pytest.raises(UsageError, match="--metric: there is no metric"):
        metric_asked(name, "--metric")


def test_the_composite_is_no_metric_to_be_computed_alone() -> None:
    with pytest.raises(ValueError, match="made of other metrics"):
        ScoringOptions(metrics=("composite",))


def test_lists_are_sorted_by_the_same_names(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        "chrf_plus_plus",
        "composite",
        "exact_match_rate",
        "fst_acceptance_rate",
        "semantic_score",
    ):
        assert titles[sort_named(metric)] == SORTS[sort_named(metric)].words == short_title(metric)
