"""Wrong word forms: every one is accepted by the analyser and differs in exactly the intended tag."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from corpora.languages.cards import SHIPPED
from corpora.text.words import words
from harness.annotators.fst import FstAnnotator
from harness.fst.analyser import open_analyser
from review.office.items.inflected_controls import CATEGORIES, OtherForms, changed_tag, inflected
from scoring.grammar.inflection import features
from scoring.grammar.tagged_word import tagged_word
from tests.outside import STRICT, only_with
from tests.review.office.made import demo_entries

ESPERANTO = SHIPPED / "epo" / "epo.hfstol"

CREE_SENTENCES = [
    "niwâpamâw atim", "kiwâpamâw atim", "wâpamêw atimwa", "nimîcison", "mîcisow awâsis",
    "nimîcisonân", "nipâw minôs", "nipâwak misatimwak", "misatim nipâw", "awâsisak nipâwak",
    "namôya nipâw nâpêw", "minôsa wâpamêw", "ê-mîcisot nâpêw",
]  # fmt: skip


@cache
def analyser(path: Path) -> FstAnnotator:
    return FstAnnotator(open_analyser(path))


def made_of(path: Path, texts: list[str]) -> list[tuple[str, str, str, str]]:
    """Return (right text, wrong text, old tag, new tag) of everything that can be made."""
    looked = analyser(path)
    attested = {word for text in texts for word in looked.split(text)}
    forms = OtherForms(attested, lambda found: looked.analyse_words(found, secret=True))
    return [
        (text, each.text, each.old, each.new)
        for text in texts
        for each in inflected(text, list(words(text)), forms)
    ]


def check(path: Path, found: list[tuple[str, str, str, str]]) -> None:
    """Ask the analyser itself about each of them, apart from the code that made them."""
    engine = open_analyser(path)
    for right, wrong, old, new in found:
        changed = [
            (a.text, b.text)
            for a, b in zip(words(right), words(wrong), strict=True)
            if a.text != b.text
        ]
        [(before, after)] = changed
        [(_, was), (accepted, now)] = engine.analyse([before.lower(), after.lower()])
        assert accepted
        [one], [other] = was, now
        first, second = tagged_word(one), tagged_word(other)
        assert first.lemma == second.lemma
        assert (first.tags - second.tags, second.tags - first.tags) == ({old}, {new})
        had, has = features(first.tags), features(second.tags)
        assert {name for name in had if had[name] != has[name]} <= CATEGORIES
        assert before[:1].isupper() == after[:1].isupper()


def test_every_esperanto_form_is_accepted_and_differs_in_the_one_tag() -> None:
    texts = [entry.reference for entry in demo_entries()]
    found = made_of(ESPERANTO, texts)
    check(ESPERANTO, found)
    assert len(found) > 200
    assert len({right for right, *_ in found}) > 80  # nearly all of the 96 sentences


@only_with(STRICT)
def test_every_cree_form_is_accepted_and_differs_in_the_one_tag() -> None:
    found = made_of(STRICT, CREE_SENTENCES)
    check(STRICT, found)
    pairs = {(right, wrong) for right, wrong, *_ in found}
    assert ("niwâpamâw atim", "kiwâpamâw atim") in pairs
    assert any((old, new) == ("1Sg", "2Sg") for *_, old, new in found)


def changes(right: str, wrong: str) -> tuple[str, str] | None:
    return changed_tag(tagged_word(right), tagged_word(wrong))


def test_only_one_tag_of_meaning_may_change() -> None:
    assert changes("hundo+N+Sg+Nom", "hundo+N+Pl+Nom") == ("Sg", "Pl")
    assert changes("ami+V+Prs", "ami+V+Prt") == ("Prs", "Prt")
    assert changes("wâpamêw+V+TA+Ind+1Sg+3SgO", "wâpamêw+V+TA+Ind+2Sg+3SgO") == ("1Sg", "2Sg")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("hundo+N+Sg+Nom", "kato+N+Pl+Nom"),
        ("hundo+N+Sg+Nom", "hundo+N+Pl+Acc"),
        ("hundo+N+Sg+Nom", "hundo+N+Sg+Acc"),
        ("bela+A+Sg+Nom", "bela+A+Pl+Nom"),
        ("ami+V+Prs", "ami+V+Inf"),
        ("ami+V+Prs", "ami+V+Vol"),
        ("hundo+N+Sg+Nom", "hundo+N+Sg+Nom"),
    ],
)
def test_other_pairs_are_left_alone(right: str, wrong: str) -> None:
    assert changes(right, wrong) is None
