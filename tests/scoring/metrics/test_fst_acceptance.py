"""FST acceptance: rates, empty outputs, reasons and explanations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from scoring.core.analysis import Acceptance, FstAnnotation, WordAnalysis
from scoring.core.translation import Translation
from scoring.metrics.fst_acceptance import FstAcceptance, why_no_fst_acceptance
from scoring.metrics.inventory import choose, make_metrics
from scoring.words.resources import Resources
from tests.scoring.analysed import cree_words, facts, needs_cree, setup, translation

METRIC = FstAcceptance(setup(facts()))

verdicts = st.lists(
    st.builds(WordAnalysis, st.text(), st.one_of(st.none(), st.sampled_from(Acceptance)))
).map(tuple)


@pytest.mark.parametrize(
    ("output", "reference", "stats"),
    [
        ("mi vidas la hundon", "mi vidas la hundon", (4, 4, 1)),
        ("mi vidas la dog", "mi vidas la hundon", (3, 4, 0)),
        ("", "mi vidas la hundon", (0, 4, 0)),
        ("dog", "", (0, 1, 0)),
        ("", "", None),
    ],
)
def test_statistics(output: str, reference: str, stats: tuple[int, ...] | None) -> None:
    assert METRIC.stats(translation(output, reference)) == stats


def test_the_corpus_value_is_micro_and_an_empty_output_stays_in_the_denominator() -> None:
    made = [
        translation("mi vidas", "mi vidas"),
        translation("", "la hundo"),
        translation("x", "la"),
    ]
    total = [sum(column) for column in zip(*map(METRIC.stats, made), strict=True)]
    assert METRIC.value(total) == pytest.approx(2 / 5)
    assert METRIC.further(total) == {"fst_accepted": 2, "fst_accepted_entries": 1}  # type: ignore[arg-type]


def test_without_annotation_there_is_nothing() -> None:
    assert METRIC.stats(Translation(Entry(id=1, source="s", reference="r"), "r")) is None
    assert METRIC.explain(Translation(Entry(id=1, source="s", reference="r"), "r")) == ()


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


def test_explanation_names_rejected_words_other_forms_and_the_reference() -> None:
    output = (
        WordAnalysis("Niwâpamâw", Acceptance.LOWER_CASED),
        WordAnalysis("atim", Acceptance.AS_WRITTEN),
        WordAnalysis("tānisi", Acceptance.NORMALISED),
        WordAnalysis("xyzzy", None),
        WordAnalysis("xyzzy", None),
    )
    reference = (WordAnalysis("atim", Acceptance.AS_WRITTEN), WordAnalysis("Neil", None))
    entry = Entry(id=1, source="s", reference="r")
    said = METRIC.explain(Translation(entry, "o", {"fst": FstAnnotation(output, reference)}))
    assert said == (
        "3 of 5 words are accepted by the analyser; rejected: xyzzy (2×).",
        "Accepted only when lower-cased: Niwâpamâw.",
        "Accepted only after the language card's spelling replacements: tānisi.",
        "Of the reference's own words it accepts 1 of 2.",
    )


def test_long_lists_are_cut() -> None:
    output = tuple(WordAnalysis(f"w{number}", None) for number in range(40))
    entry = Entry(id=1, source="s", reference="r")
    said = METRIC.explain(Translation(entry, "o", {"fst": FstAnnotation(output, ())}))
    assert said[0].endswith("w11 and 28 more.")


def test_acceptors_are_named() -> None:
    metric = FstAcceptance(setup(facts(acceptor=True)))
    assert "kind:acceptor" in metric.signature
    assert "spell-checker" in metric.explain(translation("mi", "mi"))[0]


def test_signature_names_the_file_by_its_content_and_no_engine() -> None:
    assert "fst:0123456789ab|" in METRIC.signature
    other_engine = FstAcceptance(setup(facts(engine="hfst", engine_version="3.16")))
    assert other_engine.signature == METRIC.signature
    assert FstAcceptance(setup(facts(sha256="f" * 64))).signature != METRIC.signature


def test_no_analyser_is_a_reason() -> None:
    reason = why_no_fst_acceptance(Resources(setup()))
    assert reason is not None
    assert "rosetta language check eo" in reason
    assert FstAcceptance(setup()).why_missing == reason


def test_a_wrong_analyser_is_found_out_by_the_references() -> None:
    wrong = Resources(setup(facts(reference_words=1204, reference_accepted=373)))
    reason = why_no_fst_acceptance(wrong)
    assert reason is not None
    for part in ("31 %", "1,204 words", "under 50 %", "normal form"):
        assert part in reason
    just = Resources(setup(facts(reference_words=10, reference_accepted=5)))
    assert why_no_fst_acceptance(just) is None
    none = Resources(setup(facts(reference_words=0, reference_accepted=0)))
    assert "no word" in (why_no_fst_acceptance(none) or "")


def test_the_inventory_makes_it_where_it_is_on() -> None:
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
