"""Metrics of cross-lingual question answering: golden cases, what holds for every text, and what is hostile."""

from __future__ import annotations

import statistics
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from corpora.text.comparison import comparison_form
from scoring.packs.bare_text import bare
from tests.scoring.packs.pack_cases import (
    Case,
    cases,
    corpus_value,
    entry_values,
    metric,
    named,
    record,
)
from tests.scoring.samples import sentences

IDS = ("em", "f1", "rlc", "rlc_ok", "cost", "cnbe", "semantic_score")

WRITINGS = {
    "syllabics": "ᐊᐁᐃᐅᐋᐸᐯᐱᐳᑕᑌᑎᑐᑲᑫᑭᑯᒪᒣᒥᒧᓇᓀᓂᓄ",
    "devanagari": "कखगघचछजझटठडढणतथदधनपफबभमािीुूेैोौ्",
    "khmer": "កខគឃងចឆជឈញដឋឌឍណតថទធនបផពាិីឹុូេ",
    "greek": "αβγδεζηθικλμνξοπρτυφχψωάέήίόύώ",
}


@pytest.mark.parametrize("case", cases("lbrag."), ids=named)
def test_values_are_those_of_the_published_runs_or_of_the_stated_oracle(case: Case) -> None:
    made = metric(case["metric"])
    records = [record(each) for each in case["entries"]]
    values = entry_values(made, records)
    assert values == pytest.approx(case["expect"]["entry"], abs=1e-9)
    if "mean" in case["expect"]:
        assert corpus_value(made, records) == pytest.approx(case["expect"]["mean"], abs=1e-9)
        assert statistics.stdev([value for value in values if value is not None]) == pytest.approx(
            case["expect"]["std"], abs=1e-9
        )


@pytest.mark.parametrize("writing", WRITINGS)
@given(data=st.data())
def test_two_different_answers_never_match_in_any_script(writing: str, data: st.DataObject) -> None:
    answers = st.lists(
        st.text(WRITINGS[writing], min_size=1, max_size=6), min_size=1, max_size=3
    ).map(" ".join)
    one, other = data.draw(answers), data.draw(answers)
    assume(comparison_form(one) != comparison_form(other))
    pair = record({"predicted": one, "reference": other})
    assert entry_values(metric("lbrag.em"), [pair]) == [0.0]
    (f1,) = entry_values(metric("lbrag.f1"), [pair])
    assert f1 is not None
    assert (f1 == 1.0) == (sorted(bare(one).split()) == sorted(bare(other).split()))


@given(
    one=sentences,
    other=sentences,
    language=st.sampled_from(["crk", "zh-TW", "en", "ja", "sr-Cyrl"]),
)
def test_ranges_identity_and_symmetry_hold_for_every_text(
    one: str, other: str, language: str
) -> None:
    em, f1 = (metric(f"lbrag.{name}", language) for name in ("em", "f1"))
    (same,) = entry_values(f1, [record({"predicted": one, "reference": one})])
    assert same == 1.0
    assert entry_values(em, [record({"predicted": one, "reference": one})]) == [1.0]
    there = entry_values(f1, [record({"predicted": one, "reference": other})])
    back = entry_values(f1, [record({"predicted": other, "reference": one})])
    assert there == back
    assert there[0] is not None
    assert 0 <= there[0] <= 1
    (right,) = entry_values(em, [record({"predicted": one, "reference": other})])
    assert right in {0.0, 1.0}
    assert right == 0.0 or there[0] == 1.0


@given(
    output=sentences, reference=sentences, language=st.sampled_from(["crk", "crk-Cans", "zh", "en"])
)
def test_consistency_lies_between_0_and_1_and_its_gate_follows(
    output: str, reference: str, language: str
) -> None:
    given_ = record({"predicted": output, "reference": reference})
    (share,) = entry_values(metric("lbrag.rlc", language), [given_])
    (gate,) = entry_values(metric("lbrag.rlc_ok", language), [given_])
    if share is None:
        assert gate is None
    else:
        assert 0 <= share <= 1
        assert gate == float(share >= 0.6)


@pytest.mark.parametrize(
    ("fields", "target", "corpus_script", "expected"),
    [
        pytest.param(
            {"predicted": "atim", "reference": "ᐊᑎᒼ"}, "crk", None, 0.0, id="reference tells"
        ),
        pytest.param(
            {"predicted": "atim", "reference": "ᐊᑎᒼ"}, "crk-Latn", None, 1.0, id="tag before it"
        ),
        pytest.param(
            {"predicted": "atim", "reference": "12"}, "crk", "Latn", 1.0, id="all references tell"
        ),
        pytest.param(
            {"predicted": "atim", "reference": "12"}, "crk", None, None, id="nothing tells"
        ),
        pytest.param(
            {"predicted": "iPhone", "reference": "iPhone"}, "zh", "Hani", 0.0, id="one writing"
        ),
        pytest.param({"predicted": "", "reference": "ᐊᑎᒼ"}, "crk", None, None, id="empty answer"),
        pytest.param({"predicted": "コーヒー"}, "ja", None, 1.0, id="shared sign"),
        pytest.param({"predicted": "x\u0331a\u0301t"}, "tli-Latn", None, 1.0, id="loose marks"),
        pytest.param(
            {"predicted": "서울 首都"}, "kor", None, 1.0, id="two scripts of one language"
        ),
        pytest.param(
            {"predicted": "надежда", "language": "ru"}, "en", "Latn", 1.0, id="record's language"
        ),
        pytest.param(
            {"predicted": "abc", "language": "x" * 999}, "en", "Latn", 1.0, id="no language"
        ),
        pytest.param(
            {"predicted": "abc", "language": "crk-Zyyy"}, "en", "Latn", None, id="no script"
        ),
    ],
)
def test_a_script_is_told_by_tag_then_language_then_reference(
    fields: dict[str, Any], target: str, corpus_script: str | None, expected: float | None
) -> None:
    assert entry_values(metric("lbrag.rlc", target, corpus_script), [record(fields)]) == [expected]


@pytest.mark.parametrize("tag", ["zh-TW", "zh_hk", "cmn-Hans", "jpn", "yue", "lzh"])
def test_chinese_and_japanese_answers_are_compared_by_characters(tag: str) -> None:
    given_ = record({"predicted": "東京都", "reference": "東京", "language": tag})
    assert entry_values(metric("lbrag.f1", "en"), [given_]) == pytest.approx([0.8])


def test_chinese_in_roman_letters_is_compared_by_words() -> None:
    given_ = record({"predicted": "bei jing", "reference": "jing bei", "language": "zh-Latn"})
    assert entry_values(metric("lbrag.f1"), [given_]) == [1.0]


def test_answers_without_letters_are_compared_as_they_stand() -> None:
    pairs = [
        ("👍", "👎", 0.0),
        ("👍", "👍", 1.0),
        ("!!!", "???", 0.0),
        ("", "", 1.0),
        ("", "!", 0.0),
    ]
    for one, other, expected in pairs:
        given_ = record({"predicted": one, "reference": other})
        assert entry_values(metric("lbrag.em"), [given_]) == [expected]
        assert entry_values(metric("lbrag.f1"), [given_]) == [expected]


def test_joiners_inside_words_part_nothing() -> None:
    assert bare("می\u200cخواهم") == bare("میخواهم")
    assert bare("co\u00adoperate") == "cooperate"
    assert bare("niwa\u0302pama\u0302w, ATIM!") == "niwâpamâw atim"


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        pytest.param(
            [{"token_count": 3}, {"metadata": {"token_count": 4.5}}, {}], 7.5, id="both places"
        ),
        pytest.param([{"token_count": None}], 0.0, id="null"),
        pytest.param([{"token_count": 0}], 0.0, id="nought"),
        pytest.param([{"token_count": 10**15 - 1}], 10**15 - 1, id="the most"),
        pytest.param([{"token_count": 10**15}], None, id="more than the most"),
        pytest.param(None, None, id="missing"),
        pytest.param("300", None, id="text"),
        pytest.param([3], None, id="no blocks"),
        pytest.param([{"token_count": "3"}], None, id="count as text"),
        pytest.param([{"token_count": True}], None, id="count as truth"),
        pytest.param([{"token_count": -3}], None, id="negative"),
        pytest.param([{"token_count": float("nan")}], None, id="no number"),
        pytest.param([{"token_count": 10**400}], None, id="endless"),
    ],
)
def test_a_cost_is_the_sum_of_stated_counts_or_null(evidence: Any, expected: float | None) -> None:
    given_ = record({"evidence": evidence})
    assert entry_values(metric("lbrag.cost"), [given_]) == [expected]
    assert bool(metric("lbrag.cost").explain(given_)) == (expected is None)


def bought(**annotations: Any) -> list[float | None]:
    fields = {
        "predicted": "a b",
        "reference": "a b",
        "evidence": [{"token_count": 4}],
        "baseline": "a",
    }
    return entry_values(metric("lbrag.cnbe"), [record(fields, **annotations)])


def test_efficiency_pairs_the_answers_of_two_runs_to_one_entry() -> None:
    assert bought() == pytest.approx([(1 - 2 / 3) / 4])
    assert bought(baseline="a b") == [0.0]
    assert bought(baseline="") == [0.25]
    cheap = {"predicted": "a", "reference": "a", "evidence": [{"token_count": 1}], "baseline": "b"}
    assert entry_values(metric("lbrag.cnbe"), [record(cheap)]) == [1.0]
    assert "for 1 token of" in metric("lbrag.cnbe").explain(record(cheap))[0]
    unpaired = record({"predicted": "a", "reference": "a", "evidence": [{"token_count": 4}]})
    assert entry_values(metric("lbrag.cnbe"), [unpaired]) == [None]
    free = record({"predicted": "a", "reference": "a", "evidence": []})
    assert entry_values(metric("lbrag.cnbe"), [free]) == [0.0]


HOSTILE = {
    "lone surrogates": "\ud800\udfff" * 1000,
    "nul": "\x00" * 100_000,
    "one long word": "a" * 10_000_000,
    "stacked marks": "a" + "\u0301\u0323" * 200_000,
    "nested lists": "[" * 10_000 + "]" * 10_000,
    "nothing but ends": ". ! ? " * 300_000,
    "direction marks": "\u202e\u2066" * 10_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_has_a_value_or_none(text: str) -> None:
    fields = {
        "predicted": text,
        "reference": "atim",
        "evidence": [{"token_count": 1}],
        "baseline": text,
    }
    given_ = record({**fields, "judge_semantic": {"score": 1, "explanation": text}})
    for name in IDS:
        made = metric(f"lbrag.{name}")
        (value,) = entry_values(made, [given_])
        assert value is None or made.info.low <= value <= made.info.high
        assert all(isinstance(line, str) for line in made.explain(given_))


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("f1", {"predicted": "4429m", "reference": "4429米", "language": "zh"}, "4 shared"),
        ("rlc", {"predicted": "答案是 meters", "language": "zh"}, "3 of 9 letters"),
        ("rlc", {"predicted": "12"}, "crk-Latn"),
        ("cnbe", {"predicted": "a", "evidence": []}, "Nothing was translated"),
        ("cnbe", {"predicted": "a", "evidence": [{"token_count": 2}]}, "no answer of a baseline"),
        (
            "cnbe",
            {"predicted": "a", "baseline": "", "evidence": [{"token_count": 2}]},
            "for 2 tokens",
        ),
        (
            "semantic_score",
            {"judge_semantic": {"score": 0.94, "explanation": "units"}},
            "0.94 of 1",
        ),
        ("semantic_score", {"judge_semantic": "high"}, "no score: the score is no number"),
    ],
)
def test_a_value_can_be_explained(name: str, fields: dict[str, Any], words: str) -> None:
    assert words in metric(f"lbrag.{name}").explain(record(fields))[0]


def test_an_answer_is_consistent_from_six_letters_of_ten() -> None:
    shares = [record({"predicted": answer, "language": "zh"}) for answer in ("答案是ab", "答案ab")]
    assert entry_values(metric("lbrag.rlc_ok"), shares) == [1.0, 0.0]


def test_signatures_say_what_a_value_depends_on() -> None:
    by_word, by_character = (metric("lbrag.f1", tag).signature for tag in ("crk", "ja"))
    assert by_word != by_character
    roman, syllabics = (metric("lbrag.rlc", tag).signature for tag in ("crk-Latn", "crk-Cans"))
    assert roman != syllabics
    assert metric("lbrag.rlc").signature != metric("lbrag.rlc_ok").signature
