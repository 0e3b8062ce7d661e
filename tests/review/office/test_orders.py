"""Which entries are drawn, in which orders they go to whom, and the training items before them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from harness.core.failures import UsageError
from review.office.items.items import REPEAT_APART, allocate, draw, order, orders, spread, stratum
from review.office.items.training import make_training, read_training
from review.office.items.wrong_texts import plain_form
from review.office.making.texts import review_texts
from review.rating import Rating
from tests.review.office.made import demo_entries
from tests.review.thorough import examples, times


def batch(
    real: int, bad: int, repeats: int, runs: int = 1
) -> tuple[dict[str, int], dict[str, str]]:
    """Return item → original, and repeat → item, of a batch."""
    originals = {f"r{run}-{entry}": entry for run in range(runs) for entry in range(real)}
    originals |= {f"b{entry}": entry for entry in range(bad)}
    partners = {f"p{entry}": f"r0-{entry + bad}" for entry in range(repeats)}
    originals |= {repeat: originals[item] for repeat, item in partners.items()}
    return originals, partners


@examples(15, 600)
@given(
    st.integers(60, 120), st.integers(0, 12), st.integers(0, 12), st.integers(1, 3), st.integers()
)
def test_repeats_stand_thirty_apart_and_one_original_never_twice_in_a_row(
    real: int, bad: int, repeats: int, runs: int, seed: int
) -> None:
    originals, partners = batch(real, bad, repeats, runs)
    made = order(list(originals), originals, partners, Random(seed))
    assert sorted(made) == sorted(originals)
    place = {item: at for at, item in enumerate(made)}
    for repeat, item in partners.items():
        assert abs(place[repeat] - place[item]) >= REPEAT_APART
    for one, other in pairwise(made):
        assert originals[one] != originals[other]


@examples(20, 100)
@given(st.integers(1, 20), st.integers(0, 5), st.integers())
def test_short_orders_are_whole_too(real: int, repeats: int, seed: int) -> None:
    originals, partners = batch(real, 0, min(repeats, real))
    made = order(list(originals), originals, partners, Random(seed))
    assert sorted(made) == sorted(originals)


def test_an_order_follows_from_its_seed() -> None:
    originals, partners = batch(80, 8, 8)
    items = list(originals)
    first = order(items, originals, partners, Random(1))
    assert first == order(items[::-1], originals, partners, Random(1))
    assert first != order(items, originals, partners, Random(2))


def test_a_place_tells_nothing_of_what_stands_there() -> None:
    """Over many orders, controls stand in the first half as often as in the second."""
    originals, partners = batch(80, 8, 8)
    trials = times(100, 300)
    first: Counter[str] = Counter()
    for seed in range(trials):
        made = order(list(originals), originals, partners, Random(seed))
        first.update(item[0] for item in made[: len(made) // 2])
    for kind, count in (("b", 8), ("p", 8), ("r", 80)):
        share = first[kind] / (trials * count)
        assert abs(share - 0.5) < times(100, 300) ** -0.5, (
            kind
        )  # three deviations, of 800 places and more


@examples(20, 100)
@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 60), st.integers())
def test_extra_entries_are_spread_evenly(extra: int, people: int, each: int, seed: int) -> None:
    given_ = spread(list(range(extra)), [str(n) for n in range(people)], each, Random(seed))
    counts = Counter(entry for entries in given_.values() for entry in entries)
    full = [counts[entry] for entry in range(extra)]
    assert max(full) - min(full) <= 1
    assert all(len(set(entries)) == len(entries) == min(each, extra) for entries in given_.values())


def test_everybody_gets_the_core_and_an_even_share() -> None:
    originals = {f"i{n}": n for n in range(20)}
    extra = {n: [f"i{n}"] for n in range(10, 20)}
    given_ = orders(originals, {}, [f"i{n}" for n in range(10)], extra, ["A", "B", "C"], 5, 1)  # type: ignore[arg-type]
    for items in given_.values():
        assert {f"i{n}" for n in range(10)} <= set(items)
        assert len(items) == 15
    counts = Counter(item for items in given_.values() for item in items)
    assert sorted(counts[f"i{n}"] for n in range(10, 20)) == [1] * 5 + [2] * 5
    assert len(set(given_.values())) == 3


def test_entries_that_would_reach_nobody_are_refused() -> None:
    extra = {n: [f"i{n}"] for n in range(10)}
    with pytest.raises(UsageError, match="asked of nobody"):
        orders({f"i{n}": n for n in range(10)}, {}, [], extra, ["A", "B"], 4, 1)  # type: ignore[arg-type]


SIZES = st.dictionaries(st.integers(0, 5), st.integers(1, 300), min_size=1)


@examples(20, 100)
@given(SIZES, st.integers(1, 400), st.integers(0, 12))
def test_an_allocation_is_whole_and_within_the_strata(
    sizes: dict[int, int], wanted: int, least: int
) -> None:
    given_ = allocate(sizes, wanted, least)
    assert given_.keys() == sizes.keys()
    assert sum(given_.values()) == min(wanted, sum(sizes.values()))
    assert all(0 <= given_[name] <= sizes[name] for name in sizes)
    if sum(min(least, size) for size in sizes.values()) <= wanted:
        assert all(given_[name] >= min(least, sizes[name]) for name in sizes)


@examples(20, 100)
@given(SIZES, st.integers(1, 400))
def test_without_a_least_the_shares_are_those_of_the_corpus(
    sizes: dict[int, int], wanted: int
) -> None:
    total = sum(sizes.values())
    if wanted < total:
        for name, count in allocate(sizes, wanted, 0).items():
            assert abs(count - wanted * sizes[name] / total) < 1


def test_the_rest_goes_by_share() -> None:
    # 80 of 200: 8 each are 40, the other 40 by share 100:50:25:15:10 are 20, 10, 5, 3, 2
    sizes = {1: 100, 2: 50, 3: 25, 4: 15, 5: 10}
    assert allocate(sizes, 80, 8) == {1: 28, 2: 18, 3: 13, 4: 11, 5: 10}


def test_too_few_for_the_least_are_parted_evenly() -> None:
    assert allocate({1: 100, 2: 50, 3: 2}, 8, 8) == {1: 3, 2: 3, 3: 2}


def corpus(count: int) -> list[Entry]:
    return [
        Entry(id=number, source=f"s {number}", reference=f"r {number}", difficulty=1 + number % 5)
        for number in range(count)
    ]


def test_a_draw_keeps_to_the_seed_and_to_the_strata() -> None:
    entries = corpus(300)
    drawn = draw(entries, 80, 8, seed=3)
    assert [entry.id for entry in drawn] == [entry.id for entry in draw(entries, 80, 8, seed=3)]
    assert [entry.id for entry in drawn] != [entry.id for entry in draw(entries, 80, 8, seed=4)]
    assert Counter(map(stratum, drawn)) == dict.fromkeys(range(1, 6), 16)
    assert [entry.id for entry in drawn] == sorted(entry.id for entry in drawn)


def test_a_small_corpus_is_shown_whole() -> None:
    for size in (10, 50, 80):
        assert draw(corpus(size), 80, 8, seed=1) == corpus(size)


def test_every_entry_of_a_stratum_is_drawn_equally_often() -> None:
    entries = corpus(100)
    counts = Counter(entry.id for seed in range(400) for entry in draw(entries, 50, 0, seed))
    assert min(counts.values()) > 140  # 200 ± 10 each; six deviations
    assert max(counts.values()) < 260


WORDS = review_texts("en").training


def test_eight_items_show_all_four_words() -> None:
    entries = demo_entries()
    items = make_training(entries, WORDS, seed=1)
    assert len(items) == 8
    assert {item.rating for item in items} == set(Rating)
    assert len({item.source for item in items}) == 8
    references = {entry.source: entry.reference for entry in entries}
    for item in items:
        right = references[item.source]
        if item.rating is Rating.EXCELLENT:
            assert item.candidate == right
        else:
            assert item.candidate != right
        if item.rating is Rating.ACCEPTABLE:
            assert item.candidate.casefold().rstrip(".!?") == right.casefold().rstrip(".!?")
        if item.rating is Rating.REJECT:
            assert item.candidate in references.values() or right.startswith(item.candidate)
        if item.rating is Rating.GIST:
            assert sorted(item.candidate.split()) == sorted(right.split())
        assert item.explanation in WORDS.values()


def test_half_a_sentence_is_no_gist_and_nothing_comes_twice() -> None:
    entries = demo_entries()
    right = {entry.source: entry.reference for entry in entries}
    for seed in range(times(12, 40)):
        items = make_training([*entries, *entries], WORDS, seed)
        [half] = [each for each in items if each.explanation == WORDS["half"]]
        assert half.rating is Rating.REJECT
        assert right[half.source].startswith(half.candidate)
        assert len({each.source for each in items}) == len(items)
        assert len({plain_form(each.candidate) for each in items}) == len(items)
        own = {right[each.source] for each in items}
        assert not {each.candidate for each in items if each.rating is Rating.REJECT} & own


def test_the_same_seed_makes_the_same_training() -> None:
    def texts(seed: int) -> list[tuple[str, str]]:
        return [(i.source, i.candidate) for i in make_training(demo_entries(), WORDS, seed)]

    assert texts(1) == texts(1)
    assert texts(1) != texts(2)


def test_few_entries_make_few_items_and_none_makes_none() -> None:
    assert make_training([], WORDS, 1) == []
    assert 1 <= len(make_training(demo_entries()[:2], WORDS, 1)) <= 2


TSV = "source\tcandidate\trating\texplanation\nHello\tSaluton\texcellent\tA greeting.\n"
TOML = '[[item]]\nsource = "Hello"\ncandidate = "Saluton"\nrating = "gist"\nexplanation = "x"\n'


def test_an_organisers_items_are_read(tmp_path: Path) -> None:
    for name, text in (("t.tsv", TSV), ("t.toml", TOML)):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        [item] = read_training(path)
        assert (item.source, item.candidate) == ("Hello", "Saluton")


def test_what_is_wrong_with_them_is_told(tmp_path: Path) -> None:
    for name, text, words in (
        ("t.tsv", TSV.replace("excellent", "great"), "line 2: field 'rating'"),
        ("t.tsv", TSV.replace("\tA greeting.", ""), "line 2: 3 columns"),
        ("t.tsv", TSV.replace("explanation", "why"), "line 1: the columns"),
        ("t.tsv", TSV.replace("A greeting.", " "), "explanation"),
        ("t.tsv", "", "line 1"),
        ("t.toml", TOML.replace("gist", "great"), "item 1: field 'rating'"),
        ("t.toml", TOML + "more = 1\n", "item 1: field 'more'"),
        ("t.toml", "x = 1\n", "only sections"),
        ("t.toml", "item = [1]\n", "item 1"),
        ("t.toml", "[[item", "no TOML"),
        ("t.toml", TOML * 51, "51 training items"),
    ):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        with pytest.raises(UsageError, match=words) as raised:
            read_training(path)
        assert str(path) in str(raised.value)


def test_who_agrees_knows_of_the_wrong_and_the_repeated() -> None:
    for language, candid, test in (
        ("en", ("made wrong on purpose", "come twice"), "tested"),
        ("fr", ("fausses exprès", "une deuxième fois"), "épreuve"),
    ):
        texts = review_texts(language)
        assert all(words in texts.consent for words in candid)
        assert test not in texts.guide
