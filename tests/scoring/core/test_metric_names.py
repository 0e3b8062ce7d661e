"""One vocabulary of metrics, for options, sorting and titles of tables."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from harness.core.failures import UsageError
from harness.setup.scoring_options import ScoringOptions
from rosetta_tui.commands.leaderboard import _sort, leaderboard
from rosetta_tui.leaderboard.rows import COLUMNS, SORTS
from rosetta_tui.show.metric_words import metric_asked
from scoring.core.metric_names import metric_named, short_title, title, typed_name, unknown_metric
from scoring.core.specification import specification

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
    assert [_sort(name) for name in ("chrF++", "exact_match_rate", "FST", "BLEU", "cost")] == [
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
    titles = {column.key: column.title for column in COLUMNS}
    for metric in (
        "chrf_plus_plus",
        "composite",
        "exact_match_rate",
        "fst_acceptance_rate",
        "semantic_score",
    ):
        assert titles[_sort(metric)] == SORTS[_sort(metric)].words == short_title(metric)
