"""Reviewers' codes: what a tired person mistypes is noticed."""

import contextlib
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from review.files.reviewer_codes import (
    ALPHABET,
    CodeError,
    CodeProblem,
    make_codes,
    printed,
    read_code,
)
from review.log.payloads import Reviewer
from tests.review.thorough import times

CODES = make_codes(times(20, 1000), random.Random(1).randrange)


def refused(typed: str) -> CodeProblem:
    with pytest.raises(CodeError) as error:
        read_code(typed)
    return error.value.problem


def test_codes_differ_and_fit_the_form_of_events() -> None:
    form = TypeAdapter(Reviewer)
    assert len(set(CODES)) == len(CODES)
    assert [form.validate_python(code) for code in CODES] == CODES
    assert len(set(make_codes(500))) == 500


def test_a_seed_gives_the_same_codes() -> None:
    assert make_codes(3, random.Random(7).randrange) == make_codes(3, random.Random(7).randrange)


def test_every_single_wrong_character_is_noticed() -> None:
    for code in CODES:
        for place in range(8):
            for other in ALPHABET.replace(code[place], ""):
                assert refused(code[:place] + other + code[place + 1 :]) is CodeProblem.CHECK


def test_every_two_swapped_characters_are_noticed() -> None:
    for code in CODES:
        for one, two in combinations(range(8), 2):
            swapped = list(code)
            swapped[one], swapped[two] = code[two], code[one]
            if code[one] != code[two]:
                assert refused("".join(swapped)) is CodeProblem.CHECK


@given(st.integers(0, 2**35 - 1), st.randoms(use_true_random=False))
def test_codes_are_read_as_people_type_them(seed: int, chance: random.Random) -> None:
    code = make_codes(1, random.Random(seed).randrange)[0]
    alike = {"0": "0Oo\uff10", "1": "1IilL\uff11"}
    typed = "".join(
        chance.choice(alike.get(c, c + c.lower())) + chance.choice(["", " ", "-", "\u2011"])
        for c in code
    )
    assert read_code(typed) == read_code(printed(code)) == code


def test_the_words_say_what_is_wrong() -> None:
    assert refused("") is CodeProblem.LENGTH
    assert refused(CODES[0] + "0") is CodeProblem.LENGTH
    assert refused("U" + CODES[0][1:]) is CodeProblem.CHARACTER
    with pytest.raises(CodeError, match=r"Character 3 of the code"):
        read_code("00\u140100000")


@given(st.text(max_size=12))
def test_anything_typed_is_a_code_or_refused(typed: str) -> None:
    with contextlib.suppress(CodeError):
        assert len(read_code(typed)) == 8
