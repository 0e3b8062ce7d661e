"""IBM model 1: equal to nltk's, deterministic, quick."""

from __future__ import annotations

import random

import numpy as np
import pytest

from corpora.model.entry import Segment
from scoring.words.bitext import LEAST_PAIRS, MOST_PAIRS, Alignment, alignable, alignment_name, ibm1
from tests.growth import grows_less
from tests.scoring.behaviour import entries


def toy(
    pairs: int, seed: int = 3, words: int = 8, kinds: int = 12
) -> list[tuple[list[str], list[str]]]:
    rng = random.Random(seed)
    made = []
    for _ in range(pairs):
        source = [f"s{rng.randrange(kinds)}" for _ in range(rng.randint(1, words))]
        target = [f"t{word[1:]}" for word in source if rng.random() > 0.1] or ["t0"]
        rng.shuffle(target)
        made.append((source, target))
    return made


def test_probabilities_equal_those_of_nltk() -> None:
    translate = pytest.importorskip("nltk.translate", reason="nltk is not installed")
    # nltk divides twice where a target word stands twice in its sentence, so each stands there once
    pairs = [(source, list(dict.fromkeys(target))) for source, target in toy(60)]
    oracle = translate.IBMModel1([translate.AlignedSent(t, s) for s, t in pairs], 5)
    sources = ["", *sorted({word for source, _ in pairs for word in source})]
    targets = sorted({word for _, target in pairs for word in target})
    numbers = [[0, *map(sources.index, source)] for source, _ in pairs]
    found = ibm1(numbers, [list(map(targets.index, target)) for _, target in pairs])
    for source, target, probability in zip(*(part.tolist() for part in found), strict=True):
        wanted = oracle.translation_table[targets[target]][sources[source] or None]
        assert probability == pytest.approx(wanted, rel=1e-9)


def test_probabilities_of_each_source_word_sum_to_one() -> None:
    source, _, probability = ibm1([[0, 1, 2], [0, 2], [0, 1, 1]], [[0, 1], [1, 1, 2], [0]])
    assert np.bincount(source, probability) == pytest.approx(np.ones(3))


def test_the_link_of_a_word_is_its_translation() -> None:
    alignment = Alignment(toy(300))
    for number in range(12):
        links = alignment.links(f"t{number}")
        assert max(links, key=links.__getitem__) == f"s{number}"
        assert links[f"s{number}"] > 0.8
    assert alignment.links("unseen") == {}


def test_the_same_pairs_give_the_same_links() -> None:
    first, second = Alignment(toy(300)), Alignment(toy(300))
    assert all(first.links(f"t{n}") == second.links(f"t{n}") for n in range(12))


def test_pairs_with_an_empty_side_and_no_pairs_at_all_teach_nothing() -> None:
    assert Alignment([]).links("a") == {}
    alignment = Alignment([([], ["b"]), (["a"], []), (["a"], ["b"])])
    assert alignment.pairs == 1
    assert list(alignment.links("b")) == ["a"]


def test_the_time_of_learning_grows_as_the_pairs_do() -> None:
    rng = random.Random(1)
    pairs = [
        tuple([str(int(rng.paretovariate(0.5)) % 9000) for _ in range(15)] for _ in range(2))
        for _ in range(2000)
    ]
    assert grows_less(lambda size: Alignment(pairs[:size]), 500, 2_000, 2.5)  # type: ignore[arg-type]


def test_secret_and_one_sided_pairs_are_never_learned_from() -> None:
    open_ = entries([("a", "b")] * LEAST_PAIRS, segment=Segment.DEVELOPMENT)
    secret = entries([("a", "b")] * LEAST_PAIRS, segment=Segment.HELD_OUT)
    assert alignment_name(open_) == "IBM model 1, 5 rounds, links from 0.01, 200 pairs"
    assert alignment_name([*open_[1:], *secret]) is None
    assert alignable([*secret, *entries([("", "b"), ("a", " ")])]) == []
    assert len(alignable(entries([("a", "b")] * (MOST_PAIRS + 1)))) == MOST_PAIRS
