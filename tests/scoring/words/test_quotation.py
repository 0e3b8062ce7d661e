"""Quotation marks are told apart from what only looks like them."""

from __future__ import annotations

import pytest
from hypothesis import given

from scoring.words.violations import quotation_marks, quoting, turned_round
from tests.scoring.samples import sentences


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ('He said "go".', '"'),
        ("“Go,” she said", "“”"),
        ("„Geh“, sagte er", "„“"),
        ("« Va », dit-elle", "«»"),
        ("「行け」と『本』", "「」『』"),
        ("“He said ‘no’ twice”", "“”‘’"),
        ("worried about 'looking like muppets'", "'"),
        ('"They shouted: \'I got bit!\'"', "\"'"),
        ("said: 'The investigation of O'Hagan goes on'", "'"),
        ('مثل "007"و"مهمة"', '"'),
        ("これは\"テスト\"です", '"'),
        ("‚so‘", "‚‘"),
        ("‹so›", "‹›"),
    ],
)  # fmt: skip
def test_quotations_are_found(text: str, marks: str) -> None:
    assert quotation_marks(text) == frozenset(marks)


@pytest.mark.parametrize(
    "text",
    [
        "don't", "l’homme", "it's the dogs' home", "the dogs' and cats' homes", "rock 'n roll", "kâ-wî'c", "qaʼaq",
        "a 24\" screen", "5'10\" tall", "5′ 10″", "צה\"ל", "", "'", "‘", "в’їзд", "o‘zbek tili", "Toyota's Aurisን",
    ],
)  # fmt: skip
def test_apostrophes_inches_and_abbreviations_are_none(text: str) -> None:
    assert quotation_marks(text) == frozenset()


def test_letters_of_the_language_are_none() -> None:
    assert quotation_marks("‘o ka ‘ōlelo’ ", "‘’") == frozenset()
    assert quotation_marks("“‘ōlelo”", "‘") == frozenset("“”")


def test_a_number_may_end_a_quotation() -> None:
    assert quotation_marks('he wrote "in 1974" twice') == frozenset('"')


@given(sentences)
def test_only_characters_of_the_text_are_named(text: str) -> None:
    assert quotation_marks(text) <= frozenset(text)


@pytest.mark.parametrize(
    ("text", "pair", "turned"),
    [
        ("»Va« , dit-elle", "«»", True),
        ("«Va», dit-elle", "«»", False),
        ("»Va« et »viens«", "«»", True),
        ("»Va« et «viens»", "«»", False),
        ("»Va ‘là’«", "«»", True),
        ("Va»", "«»", False),
        ('"Va"', '""', False),
        ("„Geh“", "“”", False),
        ("", "«»", False),
    ],
)
def test_marks_that_are_turned_round(text: str, pair: str, turned: bool) -> None:
    assert turned_round(quoting(text), pair) is turned
