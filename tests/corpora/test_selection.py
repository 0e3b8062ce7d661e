import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.files.problems import CorpusError
from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry, Segment
from corpora.model.selection import Selection
from tests.corpora.making import entry, envelope


def corpus_of(*rows: dict[str, Any]) -> Corpus:
    entries = tuple(Entry.model_validate(row) for row in rows)
    return Corpus(Dataset.model_validate(envelope()), entries, "", Form.SPECIFICATION)


MIXED = corpus_of(
    entry(1, segment="development", difficulty=1),
    entry("two", segment="diagnostic", difficulty=2),
    entry(3, segment="development", difficulty=3),
    entry(4, difficulty=1),
)


@pytest.mark.parametrize(
    ("selection", "positions"),
    [
        (Selection(), (0, 1, 2, 3)),
        (Selection(segments=(Segment.DEVELOPMENT,)), (0, 2)),
        (Selection(difficulties=(1, 2)), (0, 1, 3)),
        (Selection(segments=(Segment.DEVELOPMENT,), difficulties=(3,)), (2,)),
        (Selection(entry_ids=("3", "two", 1)), (0, 1, 2)),
        (Selection(limit=2), (0, 1)),
        (Selection(limit=99, sample=99), (0, 1, 2, 3)),
        (Selection(difficulties=(1,), limit=1), (0,)),
    ],
)
def test_filters_keep_the_order_of_the_corpus(
    selection: Selection, positions: tuple[int, ...]
) -> None:
    assert selection.apply(MIXED) == positions


def test_a_sample_is_drawn_by_the_hash_of_seed_and_id() -> None:
    corpus = corpus_of(*(entry(number) for number in range(100)))
    lots = sorted(range(100), key=lambda n: hashlib.sha256(f"7:{n}".encode()).hexdigest())
    assert Selection(sample=10, seed=7).apply(corpus) == tuple(sorted(lots[:10]))


@given(size=st.integers(1, 60), seed=st.integers())
def test_a_smaller_sample_is_part_of_a_larger_one(size: int, seed: int) -> None:
    corpus = corpus_of(*(entry(f"s{number}") for number in range(60)))
    small = Selection(sample=size, seed=seed).apply(corpus)
    large = Selection(sample=min(60, size + 5), seed=seed).apply(corpus)
    assert len(small) == size
    assert set(small) <= set(large)
    assert Selection(sample=size, limit=3, seed=seed).apply(corpus) == small[:3]


def test_an_id_that_is_not_there_is_named_harmlessly() -> None:
    with pytest.raises(CorpusError) as caught:
        Selection(entry_ids=("1", "no\x1b[2J", 99)).apply(MIXED)
    named = [str(problem.entry) for problem in caught.value.problems]
    assert named == ["no\\x1b[2J", "99"]


@pytest.mark.parametrize(
    ("selection", "field"),
    [
        (Selection(segments=(Segment.HELD_OUT,)), "segment"),
        (Selection(difficulties=(5,)), "difficulty"),
        (Selection(segments=(Segment.DIAGNOSTIC,), difficulties=(1,)), "difficulty"),
        (Selection(difficulties=(6,)), "difficulty"),
        (Selection(limit=0), "limit"),
        (Selection(sample=-1), "sample"),
    ],
)
def test_a_selection_of_nothing_names_the_filter(selection: Selection, field: str) -> None:
    with pytest.raises(CorpusError) as caught:
        selection.apply(MIXED)
    assert [problem.field for problem in caught.value.problems] == [field]


def test_an_unknown_id_is_answered_with_ids_that_exist() -> None:
    with pytest.raises(CorpusError, match=r"begins with 1, 2, 3\."):
        Selection(entry_ids=("zz",)).apply(corpus_of(*(entry(number) for number in range(1, 6))))
