"""The scorecard of a response: golden cases, the seed's own example, and what holds for every text."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.packs import shipped_pack
from scoring.packs.half_up import half_even, half_up
from scoring.packs.nest.layout import WEIGHTS, pace
from scoring.packs.views import pack_view
from tests.scoring.packs.pack_cases import Case, cases, entry_values, metric, record
from tests.scoring.samples import sentences

IDS = ("length", "richness", "coverage", "structure", "clarity", "overall", "reading_time")
REPORTED = {column.name: column for column in pack_view(shipped_pack("nest")).columns}


def value(name: str, prompt: str, answer: str) -> float | None:
    return entry_values(metric(f"nest.{name}"), [record({"source": prompt, "predicted": answer})])[
        0
    ]


@pytest.mark.parametrize("case", cases("nest"), ids=["full target", "uneven pace", "syllabics"])
def test_the_scorecard_is_that_of_the_formulas(case: Case) -> None:
    (fields,) = case["entries"]
    for name, expected in case["expect"].items():
        column = REPORTED[name]
        (found,) = entry_values(metric(column.metric), [record(fields)])
        assert found is not None
        assert float(half_up(found, column.digits)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "prompt", "answer", "expected"),
    [
        pytest.param("length", "x" * 350, "y" * 385, 1.0, id="target of 385 is exact"),
        pytest.param("length", "x" * 350, "y" * 384, 384 / 385, id="one short of it"),
        pytest.param("length", "", "👩" * 7, 7 / 350, id="code points"),
        pytest.param("length", "", "e\u0301" * 7, 7 / 350, id="composed"),
        pytest.param("richness", "", "A a, b!", 2 / 3, id="case and marks aside"),
        pytest.param("richness", "", "!!!", 0.0, id="no word"),
        pytest.param("richness", "", "niwâpamik atim", 1.0, id="one word a word"),
        pytest.param(
            "coverage", "Water water again", "water", 2 / 3, id="as often as in the prompt"
        ),
        pytest.param("coverage", "the dog saw four", "four", 0.0, id="no keyword"),
        pytest.param("coverage", "ᓂᐚᐸᒥᐠ ᐊᑎᒼ", "ᓂᐚᐸᒥᐠ", 1.0, id="syllabics"),
        pytest.param("structure", "", "a\n- b\n- c\n\nd", 0.5, id="items and a break"),
        pytest.param("structure", "", "- a\r\n- b\r\n\r\nc", 2 / 6, id="other ends of lines"),
        pytest.param("structure", "", "a\n\n\nb", 1 / 6, id="three ends are one break"),
        pytest.param("structure", "", "x\n-" * 60, 1.0, id="no more than full"),
        pytest.param(
            "clarity", "", "One two. Three four five six.", 1 - 1 / 50, id="variance of 1"
        ),
        pytest.param("clarity", "", "One. At 3.14 all.", 1 - 2.25 / 50, id="no end in a number"),
        pytest.param("clarity", "", "क ख। ग घ ङ च।", 1 - 1 / 50, id="danda"),
        pytest.param("clarity", "", "One sentence", 1.0, id="one sentence"),
        pytest.param("reading_time", "", "word " * 180, 60.0, id="a minute"),
    ],
)
def test_each_part_counts_what_the_seed_says(
    name: str, prompt: str, answer: str, expected: float
) -> None:
    assert value(name, prompt, answer) == pytest.approx(expected, abs=1e-12)


def test_the_overall_value_follows_from_the_parts_as_they_are_shown() -> None:
    """Length 9/350 alone would make 0.356; the seed rounds every part to three decimals."""
    prompt, answer = "Translate: the dog sees me", "ᓂᐚᐸᒥᐠ ᐊᑎᒼ"
    assert value("overall", prompt, answer) == 0.3565
    assert half_up(0.3565, 3) == Decimal("0.357")


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("answer", ["", "  \n", "\u200b"])
def test_an_empty_answer_has_no_value(name: str, answer: str) -> None:
    assert value(name, "prompt", answer) is None


@given(prompt=sentences, answer=sentences, more=st.integers(1, 5))
def test_what_holds_for_every_text(prompt: str, answer: str, more: int) -> None:
    found = {name: value(name, prompt, answer) for name in IDS}
    if None in found.values():
        assert set(found.values()) == {None}
        return
    given_ = {name: each for name, each in found.items() if each is not None}
    assert all(0 <= each <= 1 for name, each in given_.items() if name != "reading_time")
    shown = (w * half_up(given_[name], 3) for name, w in WEIGHTS.items())
    assert given_["overall"] == pytest.approx(float(sum(shown)), abs=1e-12)
    longer = value("reading_time", prompt, f"{answer} word" * more)
    assert longer is not None
    assert longer >= given_["reading_time"]
    covered = value("coverage", prompt, f"{answer} {prompt}")
    assert covered is not None
    assert covered >= given_["coverage"]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_pace_counts_sentences_in_any_script(lengths: list[int]) -> None:
    mean = sum(lengths) / len(lengths)
    variance = sum((each - mean) ** 2 for each in lengths) / len(lengths)
    for word, end in (("word", ". "), ("ᐊᑎᒼ", "᙮ "), ("शब्द", "। "), ("字 ", "。")):
        text = "".join(" ".join([word] * each) + end for each in lengths)
        found = pace(text)
        assert found.sentences == len(lengths)
        assert found.variance == pytest.approx(variance)


@pytest.mark.parametrize(
    "text",
    [
        "\ud800 " * 1000,
        "\x00" * 100_000,
        "a. " * 1_000_000,
        "a" + "\u0301\u0323" * 100_000,
        "\n-" * 100_000,
    ],
    ids=["surrogates", "nul", "sentences", "marks", "items"],
)
def test_hostile_text_has_a_value(text: str) -> None:
    given_ = record({"source": text[:5000], "predicted": text})
    for name in IDS:
        made = metric(f"nest.{name}")
        (found,) = entry_values(made, [given_])
        assert found is not None
        assert 0 <= found <= made.info.high
        assert made.explain(given_)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("length", "13 characters; the target is 350"),
        ("richness", "2 different words of 3"),
        ("coverage", "1 of 2 keywords of the prompt; not in the answer: river"),
        ("structure", "0 list items and 0 paragraph breaks; 6 together give 1"),
        ("clarity", "2 sentences; variance of their lengths 0.25 words²"),
        ("overall", "0.25 × length 0.037"),
        ("reading_time", "3 words at 180 a minute"),
    ],
)
def test_a_value_can_be_explained(name: str, words: str) -> None:
    fields = {"source": "The house, the river", "predicted": "House a. a  !"}
    assert words in metric(f"nest.{name}").explain(record(fields))[0]


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 8))
def test_half_even_prints_as_python_does(number: float, digits: int) -> None:
    assert f"{half_even(number, digits):.{digits}f}" == f"{number:.{digits}f}"


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_half_up_rounds_what_is_written(whole: int, digits: int) -> None:
    written: Any = Decimal(whole).scaleb(-digits - 1)
    rounded = half_up(float(written), digits)
    assert abs(rounded - written) <= Decimal(1).scaleb(-digits) / 2
    if abs(whole) % 10 == 5:
        assert abs(rounded) > abs(written)
