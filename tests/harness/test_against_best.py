"""A method of the store held against its baselines: real runs, several repetitions, runs that do not compare."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from harness.compare.against_best import method_against_best
from harness.compare.comparing import compare_runs
from harness.core.failures import UsageError
from harness.store.file.database import open_store
from tests.harness.evaluation import FEW
from tests.harness.ranked import play, ranked_corpus

played = partial(play, metrics=FEW)


def test_the_pairs_are_those_of_compare_and_the_best_is_found(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    method = played(path, corpus, 19, "ours")
    good, poor = played(path, corpus, 10, "good"), played(path, corpus, 1, "poor")
    with closing(open_store(path)) as store:
        told = method_against_best(store, [method], [[poor], [good]])
        pair = compare_runs(store, [good, method], metrics=["composite"]).pairs[0]
        assert told.found.pairs[1] == pair.by_metric["composite"]
        assert [run.run_id for run in told.best.runs] == [good]
        assert told.nearest is told.best
        assert told.found.beats
        assert told.method.value == pytest.approx(told.found.difference + told.best.value)
        assert (told.entries, told.inside, told.refused) == (20, False, {})
        assert told.best.repeated is None
        behind = method_against_best(store, [poor], [[method], [good]], "chrf_plus_plus")
        assert (behind.found.p_maximum, behind.found.beats) == (1.0, False)
        assert behind.found.upper < 0


def test_repetitions_count_together_and_are_parted(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    ours = [
        played(path, corpus, right, "ours", replicate=n) for n, right in enumerate((15, 16, 17))
    ]
    base = played(path, corpus, 15, "base")
    with closing(open_store(path)) as store:
        told = method_against_best(store, ours, [[base]], "exact_match_rate")
    assert told.method.value == pytest.approx(16 / 20)
    assert told.method.repeated is not None
    assert (told.method.repeated.repetitions, told.method.repeated.entries) == (3, 20)
    assert told.method.repeated.mean == pytest.approx(16 / 20)
    assert told.found.difference == pytest.approx(1 / 20)
    assert not told.found.beats


def test_runs_that_do_not_compare_are_named_and_the_method_must(tmp_path: Path) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(20)
    method, base = played(path, corpus, 19, "ours"), played(path, corpus, 2, "base")
    other = played(path, ranked_corpus(21), 15, "base")
    with closing(open_store(path)) as store:
        told = method_against_best(store, [method], [[other], [base]])
        assert list(told.refused) == [other]
        assert "its corpus is another" in told.refused[other]
        assert len(told.baselines) == len(told.found.pairs) == 1
        for mine, baselines, words in (
            ([method], [[other]], "its corpus is another"),
            ([method, other], [[base]], "its corpus is another"),
            ([method], [[method]], "named twice"),
            ([method], [], "cannot be held"),
            (["nothing"], [[base]], "nothing"),
        ):
            with pytest.raises(UsageError, match=words):
                method_against_best(store, mine, baselines)
        store.execute("UPDATE runs SET run_card = NULL WHERE run_id = ?", (base,))
        with pytest.raises(UsageError, match="not complete yet"):
            method_against_best(store, [method], [[base]])
