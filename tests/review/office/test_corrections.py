"""Suggested wordings become variants only with consent and a yes, and never twice."""

from __future__ import annotations

from typing import Any

from review.office.results.translations import Correction, corrections, next_version, with_variants
from review.rating import Rating
from tests.review.office.reviewed import ITEMS, corpus, key, said, state

GIST = Rating.GIST


def test_only_wordings_of_people_who_agreed_are_offered() -> None:
    open_: dict[str, Any] = {"suggestions": {ITEMS[0]: "Alia frazo."}}
    closed: dict[str, Any] = {"suggestions": {ITEMS[1]: "Mia."}}
    found = corrections(
        key(), state(said(GIST, **open_), said(GIST, share=False, **closed)), corpus()
    )
    assert found == [Correction(1, "Alia frazo.", 1)]


def test_what_the_corpus_has_is_not_offered_again() -> None:
    same = {ITEMS[0]: "  Frazo 1. ", ITEMS[1]: "", ITEMS[2]: "   "}
    assert corrections(key(), state(said(GIST, suggestions=same)), corpus()) == []


def test_the_wording_of_most_people_comes_first() -> None:
    rare, common = (
        said(GIST, suggestions={ITEMS[0]: "A."}),
        said(GIST, suggestions={ITEMS[0]: "B."}),
    )
    found = corrections(key(), state(rare, common, common), corpus())
    assert [(each.wording, each.people) for each in found] == [("B.", 2), ("A.", 1)]


def test_accepted_wordings_are_variants_of_a_new_version() -> None:
    before = corpus()
    after = with_variants(before, [Correction(2, "Nova.", 1), Correction(2, "Alia.", 1)])
    assert after.entries[1].variants == ("Nova.", "Alia.")
    assert after.dataset.version == "1.3.0"
    assert before.entries[1].variants == ()
    assert [entry.reference for entry in after.entries] == [e.reference for e in before.entries]
    assert corrections(key(), state(said(GIST, suggestions={ITEMS[1]: "Nova."})), after) == []


def test_versions_grow() -> None:
    assert [next_version(each) for each in ("1.2.3", "1", "0", "2.9")] == ["1.3.0", "1.1.0", "0.1.0", "2.10.0"]  # fmt: skip
    assert next_version("spring") == "spring+variants"
