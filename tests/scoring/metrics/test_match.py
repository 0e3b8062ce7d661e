"""Exact and equivalent match, and length ratio."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scoring.core.setup import ScoringSetup
from scoring.core.translation import Translation
from scoring.metrics.inventory import choose
from scoring.metrics.length import LengthRatio
from scoring.metrics.match import EquivalentMatch, ExactMatch, equivalent_match
from scoring.words.resources import Resources
from tests.scoring.cree import card
from tests.scoring.samples import entry, sentences


@pytest.mark.parametrize(
    ("output", "reference", "right"),
    [
        ("tânisi", "tânisi", 1),
        ("  tânisi\u00a0 kiya\n", "tânisi kiya", 1),
        ("ta\u0302nisi", "tânisi", 1),
        ("Tânisi", "tânisi", 0),
        ("tânisi.", "tânisi", 0),
        ("tanisi", "tânisi", 0),
        ("", "tânisi", 0),
        ("", "", 0),
        (" ", "\u3000", 0),
        ("\u00ad", "\u00ad", 0),
        ("tânisi\u200b", "tânisi\u200b", 1),
    ],
)
def test_exact_match_in_comparison_form(output: str, reference: str, right: int) -> None:
    assert ExactMatch().stats(Translation(entry(reference), output)) == (right, 1)


def test_equivalent_match_takes_reference_and_variants() -> None:
    metric = EquivalentMatch(has_variants=True)
    accepting = entry("tânisi", variants=("tânsi", "tān\u0131si"))
    assert metric.stats(Translation(accepting, "tânisi")) == (1, 1)
    assert metric.stats(Translation(accepting, " tânsi ")) == (1, 1)
    assert metric.stats(Translation(accepting, "tansi")) == (0, 1)
    assert metric.stats(Translation(entry("x", variants=("", "y")), "")) == (0, 1)


def test_entry_without_variants_counts_by_its_reference_in_a_corpus_with_some() -> None:
    metric = EquivalentMatch(has_variants=True)
    assert metric.stats(Translation(entry("êkosi"), "êkosi")) == (1, 1)


def test_equivalent_match_is_null_with_reason_in_a_corpus_without_variants() -> None:
    metric = EquivalentMatch(has_variants=False)
    assert metric.stats(Translation(entry("êkosi"), "êkosi")) is None
    assert "variants" in metric.why_missing


@given(sentences, sentences)
@example("\u00ad", "\u00ad")
def test_exact_never_exceeds_equivalent(output: str, reference: str) -> None:
    pair = Translation(entry(reference, variants=("other",)), output)
    exact, equivalent = ExactMatch().stats(pair), EquivalentMatch(has_variants=True).stats(pair)
    assert equivalent is not None
    assert exact[0] <= equivalent[0]


@given(st.lists(st.booleans(), min_size=1))
def test_rate_is_matches_over_total(rights: list[bool]) -> None:
    assert ExactMatch().value((sum(rights), len(rights))) == sum(rights) / len(rights)


def test_length_ratio_counts_composed_characters() -> None:
    metric = LengthRatio()
    assert metric.stats(Translation(entry("â"), "a\u0302a\u0302")) == (2, 1)
    assert metric.value((30, 20)) == 1.5


def test_length_ratio_of_an_empty_reference_is_null() -> None:
    assert LengthRatio().stats(Translation(entry(""), "abc")) is None


def test_no_entries_no_value() -> None:
    for metric in (ExactMatch(), LengthRatio()):
        assert metric.value((0, 0)) is None


def rate(*, has_variants: bool, rules: bool) -> tuple[tuple[str, ...], dict[str, str]]:
    """Choose the equivalent match for a corpus and a language."""
    setup = ScoringSetup(
        metrics=(),
        source_language="en",
        target_language="crk",
        has_variants=has_variants,
        variant_rules=rules,
    )
    return choose(Resources(setup, card=card()), {"equivalent_match_rate"})


def test_equivalent_match_is_on_with_variants_or_rules_and_else_says_why() -> None:
    for has_variants, rules in [(True, False), (False, True), (True, True)]:
        assert rate(has_variants=has_variants, rules=rules)[0] == ("equivalent_match_rate",)
    on, off = rate(has_variants=False, rules=False)
    assert on == ()
    assert "lists variants, and the language has no rules" in off["equivalent_match_rate"]


def test_a_reader_without_the_card_signs_alike() -> None:
    setup = ScoringSetup(
        metrics=("equivalent_match_rate",),
        source_language="en",
        target_language="crk",
        language_card="crk",
        language_card_sha256="ab" * 32,
        variant_rules=True,
    )
    whole, bare = (equivalent_match(Resources(setup, card=each)) for each in (card(), None))
    assert whole.signature == bare.signature
    assert "rules:crk-abababababab" in whole.signature
    assert whole.why_missing == bare.why_missing
    without = equivalent_match(Resources(setup.model_copy(update={"variant_rules": False})))
    assert "rules:none" in without.signature
    assert whole.value((1, 4)) == bare.value((1, 4)) == 0.25
