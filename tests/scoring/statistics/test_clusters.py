"""Significance clusters: cuts, ranks, and the same pairwise findings as the paired bootstrap."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.metric import FloatArray
from scoring.core.scorer import Scorer
from scoring.core.table import Table
from scoring.core.translation import Translation
from scoring.metrics.inventory import surface_metrics
from scoring.statistics.clusters import Ranking, clusters, rank
from scoring.statistics.significance import compare
from tests.scoring.samples import ALPHABETS, corpus, worse
from tests.scoring.statistics.matches import matches

SCORER = Scorer(surface_metrics(tokenizer="13a", has_variants=True))


def systems(shares: list[float], entries: int = 150) -> list[Table]:
    """Runs of which a share of the outputs is right, the rest noisy."""
    items = corpus(ALPHABETS["syllabics"], entries)
    made = []
    for number, share in enumerate(shares):
        rng = random.Random(number)
        outputs = [
            Translation(
                item, item.reference if rng.random() < share else worse(item.reference, rng)
            )
            for item in items
        ]
        made.append(SCORER.table(SCORER.statistics(outputs)))
    return made


def better(*pairs: tuple[int, int], runs: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    found = np.zeros((runs, runs), dtype=bool)
    for above, below in pairs:
        found[above, below] = True
    return found


def test_a_cut_needs_every_run_above_to_beat_every_run_below() -> None:
    points = np.array([0.5, 0.9, 0.7, 0.1])  # ranked: 1, 2, 0, 3
    all_beat_last = [(1, 3), (2, 3), (0, 3)]
    assert clusters(points, better(*all_beat_last, runs=4)) == ((1, 2, 0), (3,))
    first_too = [*all_beat_last, (1, 2), (1, 0)]
    assert clusters(points, better(*first_too, runs=4)) == ((1,), (2, 0), (3,))
    gap = [(1, 0), (1, 3), (2, 3)]
    assert clusters(points, better(*gap, runs=4)) == ((1, 2, 0, 3),)
    assert clusters(np.array([]), better(runs=0)) == ()


def test_ranks_count_the_runs_above() -> None:
    assert Ranking(((1, 2), (0,), (3,)), better(runs=4)).ranks() == {1: 1, 2: 1, 0: 3, 3: 4}


@given(st.integers(1, 7), st.integers(0, 5000))
def test_clusters_are_the_finest_cuts_there_are(runs: int, seed: int) -> None:
    random_ = np.random.default_rng(seed)
    points: FloatArray = random_.random(runs)
    found = random_.random((runs, runs)) < 0.7
    order = sorted(range(runs), key=lambda run: -points[run])
    made = clusters(points, found)
    assert [run for cluster in made for run in cluster] == order
    cuts = {
        place
        for place in range(1, runs)
        if all(found[above, below] for above in order[:place] for below in order[place:])
    }
    assert set(np.cumsum([len(cluster) for cluster in made])[:-1].tolist()) == cuts


@pytest.mark.parametrize("metric", ["chrf_plus_plus", "ter", "composite"])
def test_pairs_are_decided_as_in_a_comparison_by_bootstrap(metric: str) -> None:
    tables = systems([0.1, 0.15, 0.6, 0.65])
    found = rank(tables, metric)
    for one in range(4):
        for other in range(4):
            if one == other:
                assert not found.better[one, other]
                continue
            told = compare(tables[one], tables[other], trials=1)[metric]
            apart = (told.lower > 0 or told.upper < 0) and told.p_bootstrap < 0.05
            assert found.better[one, other] == (apart and told.ahead == "first"), (one, other)
    assert [sorted(cluster) for cluster in found.clusters] == [[2, 3], [0, 1]]


def test_runs_alike_share_one_cluster() -> None:
    [table] = systems([0.3])
    assert rank([table, table, table], "bleu").clusters == ((0, 1, 2),)
    assert rank([], "bleu").clusters == ()


def test_what_cannot_be_ranked_is_refused() -> None:
    tables = systems([0.2, 0.4], entries=20)
    with pytest.raises(ValueError, match="no run is better"):
        rank(tables, "length_ratio")
    with pytest.raises(ValueError, match="same entries"):
        rank([tables[0], tables[1].rows(range(5))], "ter")
    with pytest.raises(ValueError, match="same inputs"):
        rank([tables[0], tables[1].only({"exact_match_rate"})], "composite")
    empty = Scorer(surface_metrics(has_variants=False))
    nothing = empty.table([dict.fromkeys(empty.ids)] * 4)
    with pytest.raises(ValueError, match="no value"):
        rank([nothing, nothing], "chrf_plus_plus")


def test_draws_without_a_value_are_left_out() -> None:
    one, other = matches([1] * 12, [0] * 12)
    for table in (one, other):
        table.matrix[3:] = 0
    assert rank([other, one], "exact_match_rate", draws=200).clusters == ((1,), (0,))
