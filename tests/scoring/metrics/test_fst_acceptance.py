"""FST acceptance, exact and equivalent match, and length ratio."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from scoring.core.setup import ScoringSetup
from scoring.core.translation import Acceptance, FstAnnotation, Translation, WordAnalysis
from scoring.metrics.fst_acceptance import FstAcceptance, why_no_fst_acceptance
from scoring.metrics.inventory import choose, make_metrics
from scoring.metrics.length import LengthRatio
from scoring.metrics.match import EquivalentMatch, ExactMatch, equivalent_match
from scoring.words.resources import Resources
from tests.review.thorough import examples
from tests.scoring.analysed import cree_words, facts, needs_cree, setup, translation
from tests.scoring.cree import card
from tests.scoring.samples import entry, sentences

METRIC = FstAcceptance(setup(facts()))


verdicts = st.lists(
    st.builds(WordAnalysis, st.text(), st.one_of(st.none(), st.sampled_from(Acceptance)))
).map(tuple)


def test_acceptance_is_micro_and_counts_empty_outputs() -> None:
    for output, reference, stats in [
        ("mi vidas la hundon", "mi vidas la hundon", (4, 4, 1)),
        ("mi vidas la dog", "mi vidas la hundon", (3, 4, 0)), ("", "mi vidas la hundon", (0, 4, 0)),
        ("dog", "", (0, 1, 0)), ("", "", None),
    ]:  # fmt: skip
        assert METRIC.stats(translation(output, reference)) == stats
    made = [
        translation("mi vidas", "mi vidas"), translation("", "la hundo"), translation("x", "la"),
    ]  # fmt: skip
    total = [sum(column) for column in zip(*map(METRIC.stats, made), strict=True)]
    assert METRIC.value(total) == pytest.approx(2 / 5)
    assert METRIC.further(total) == {"fst_accepted": 2, "fst_accepted_entries": 1}  # type: ignore[arg-type]
    assert METRIC.stats(Translation(Entry(id=1, source="s", reference="r"), "r")) is None
    assert METRIC.explain(Translation(Entry(id=1, source="s", reference="r"), "r")) == ()


@examples(15, 100)
@given(verdicts, verdicts)
def test_values_stay_in_their_range(
    output: tuple[WordAnalysis, ...], reference: tuple[WordAnalysis, ...]
) -> None:
    entry = Entry(id=1, source="s", reference="r")
    found = Translation(entry, "o", {"fst": FstAnnotation(output, reference)})
    stats = METRIC.stats(found)
    if stats is None:
        assert not output
        assert not reference
    else:
        assert 0 <= METRIC.value(stats) <= 1
        assert bool(stats[2]) == (METRIC.value(stats) == 1)
    assert METRIC.explain(found)


def test_explanation_names_rejected_words_and_is_cut() -> None:
    output = (
        WordAnalysis("Niwâpamâw", Acceptance.LOWER_CASED),
        WordAnalysis("atim", Acceptance.AS_WRITTEN), WordAnalysis("tānisi", Acceptance.NORMALISED),
        WordAnalysis("xyzzy", None), WordAnalysis("xyzzy", None),
    )  # fmt: skip
    reference = (WordAnalysis("atim", Acceptance.AS_WRITTEN), WordAnalysis("Neil", None))
    entry = Entry(id=1, source="s", reference="r")
    said = METRIC.explain(Translation(entry, "o", {"fst": FstAnnotation(output, reference)}))
    assert said == (
        "3 of 5 words are accepted by the analyser; rejected: xyzzy (2×).",
        "Accepted only when lower-cased: Niwâpamâw.",
        "Accepted only after the language card's spelling replacements: tānisi.",
        "Of the reference's own words it accepts 1 of 2.",
    )
    many = tuple(WordAnalysis(f"w{number}", None) for number in range(40))
    said = METRIC.explain(Translation(entry, "o", {"fst": FstAnnotation(many, ())}))
    assert said[0].endswith("w11 and 28 more.")


def test_signature_names_the_file_and_its_kind() -> None:
    metric = FstAcceptance(setup(facts(acceptor=True)))
    assert "kind:acceptor" in metric.signature
    assert "spell-checker" in metric.explain(translation("mi", "mi"))[0]
    assert "fst:0123456789ab|" in METRIC.signature
    other_engine = FstAcceptance(setup(facts(engine="hfst", engine_version="3.16")))
    assert other_engine.signature == METRIC.signature
    assert FstAcceptance(setup(facts(sha256="f" * 64))).signature != METRIC.signature


def test_missing_or_wrong_analyser_is_a_reason() -> None:
    reason = why_no_fst_acceptance(Resources(setup()))
    assert reason is not None
    assert "rosetta language check eo" in reason
    assert FstAcceptance(setup()).why_missing == reason
    wrong = Resources(setup(facts(reference_words=1204, reference_accepted=373)))
    reason = why_no_fst_acceptance(wrong)
    assert reason is not None
    for part in ("31 %", "1,204 words", "under 50 %", "normal form"):
        assert part in reason
    just = Resources(setup(facts(reference_words=10, reference_accepted=5)))
    assert why_no_fst_acceptance(just) is None
    none = Resources(setup(facts(reference_words=0, reference_accepted=0)))
    assert "no word" in (why_no_fst_acceptance(none) or "")
    found = Resources(setup(facts()))
    assert "fst_acceptance_rate" in choose(found, ["fst_acceptance_rate"])[0]
    assert "fst_acceptance_rate" in [metric.info.id for metric in make_metrics(found)]
    _, off = choose(Resources(setup()), ["fst_acceptance_rate"])
    assert "no analyser" in off["fst_acceptance_rate"]


@needs_cree
def test_real_cree() -> None:
    analyse = cree_words()
    words = FstAnnotation(analyse("niwâpamâw atim xyzzy tânisi."), analyse("niwâpamâw awasisak"))
    entry = Entry(id=1, source="s", reference="r")
    found = Translation(entry, "o", {"fst": words})
    assert METRIC.stats(found) == (3, 4, 0)
    assert METRIC.explain(found)[-1] == "Of the reference's own words it accepts 1 of 2."


def test_exact_match_in_comparison_form() -> None:
    for output, reference, right in [
        ("tânisi", "tânisi", 1), ("  tânisi\u00a0 kiya\n", "tânisi kiya", 1),
        ("ta\u0302nisi", "tânisi", 1), ("Tânisi", "tânisi", 0), ("tânisi.", "tânisi", 0),
        ("tanisi", "tânisi", 0), ("", "tânisi", 0), ("", "", 0), (" ", "\u3000", 0),
        ("\u00ad", "\u00ad", 0), ("tânisi\u200b", "tânisi\u200b", 1),
    ]:  # fmt: skip
        assert ExactMatch().stats(Translation(entry(reference), output)) == (right, 1)


def test_equivalent_match_takes_reference_and_variants() -> None:
    metric = EquivalentMatch(has_variants=True)
    accepting = entry("tânisi", variants=("tânsi", "tān\u0131si"))
    assert metric.stats(Translation(accepting, "tânisi")) == (1, 1)
    assert metric.stats(Translation(accepting, " tânsi ")) == (1, 1)
    assert metric.stats(Translation(accepting, "tansi")) == (0, 1)
    assert metric.stats(Translation(entry("x", variants=("", "y")), "")) == (0, 1)
    metric = EquivalentMatch(has_variants=True)
    assert metric.stats(Translation(entry("êkosi"), "êkosi")) == (1, 1)
    metric = EquivalentMatch(has_variants=False)
    assert metric.stats(Translation(entry("êkosi"), "êkosi")) is None
    assert "variants" in metric.why_missing


@examples(15, 100)
@given(sentences, sentences)
@example("\u00ad", "\u00ad")
def test_exact_never_exceeds_equivalent(output: str, reference: str) -> None:
    pair = Translation(entry(reference, variants=("other",)), output)
    exact, equivalent = ExactMatch().stats(pair), EquivalentMatch(has_variants=True).stats(pair)
    assert exact[0] <= equivalent[0]


@examples(15, 100)
@given(st.lists(st.booleans(), min_size=1))
def test_rate_is_matches_over_total(rights: list[bool]) -> None:
    assert ExactMatch().value((sum(rights), len(rights))) == sum(rights) / len(rights)


def test_length_ratio_counts_composed_characters() -> None:
    metric = LengthRatio()
    assert metric.stats(Translation(entry("â"), "a\u0302a\u0302")) == (2, 1)
    assert metric.value((30, 20)) == 1.5
    assert LengthRatio().stats(Translation(entry(""), "abc")) is None
    assert (ExactMatch().value((0, 0)), metric.value((0, 0))) == (None, None)


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
