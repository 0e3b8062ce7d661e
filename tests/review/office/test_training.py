"""Training items: true by construction, or an organiser's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.core.failures import UsageError
from review.office.items.training import make_training, read_training
from review.office.items.wrong_texts import plain_form
from review.office.making.texts import review_texts
from review.rating import Rating
from tests.review.office.made import demo_entries

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


@pytest.mark.parametrize("seed", range(40))
def test_half_a_sentence_is_no_gist_and_nothing_comes_twice(seed: int) -> None:
    entries = demo_entries()
    items = make_training([*entries, *entries], WORDS, seed)
    right = {entry.source: entry.reference for entry in entries}
    halves = [each for each in items if each.explanation == WORDS["half"]]
    assert [each.rating for each in halves] == [Rating.REJECT]
    assert right[halves[0].source].startswith(halves[0].candidate)
    assert len({each.source for each in items}) == len(items)
    assert len({plain_form(each.candidate) for each in items}) == len(items)
    own = [right[each.source] for each in items]
    assert not {each.candidate for each in items if each.rating is Rating.REJECT} & set(own)


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


@pytest.mark.parametrize(("name", "text"), [("t.tsv", TSV), ("t.toml", TOML)], ids=["tsv", "toml"])
def test_an_organisers_items_are_read(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    [item] = read_training(path)
    assert (item.source, item.candidate) == ("Hello", "Saluton")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
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
    ],
    ids=["rating", "columns", "header", "blank", "empty", "word", "field", "top", "list", "syntax", "many"],
)  # fmt: skip
def test_what_is_wrong_with_them_is_told(tmp_path: Path, name: str, text: str, words: str) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=words) as raised:
        read_training(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    ("language", "candid", "test"),
    [
        ("en", ("made wrong on purpose", "come twice"), "tested"),
        ("fr", ("fausses exprès", "une deuxième fois"), "épreuve"),
    ],
    ids=["en", "fr"],
)
def test_who_agrees_knows_of_the_wrong_and_the_repeated(
    language: str, candid: tuple[str, ...], test: str
) -> None:
    texts = review_texts(language)
    assert all(words in texts.consent for words in candid)
    assert test not in texts.guide
