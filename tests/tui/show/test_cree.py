"""Cree either way: roman letters to syllabics and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosetta_tui.show.cree import CreeTarget, converted, is_cree, other_writing
from tests.tui.scenes import HOSTILE

PAIRS = [
    ("niwâpamâw atim", "ᓂᐚᐸᒫᐤ ᐊᑎᒼ"),
    ("tânisi", "ᑖᓂᓯ"),
    ("nêhiyawêwin", "ᓀᐦᐃᔭᐍᐏᐣ"),
    ("maskêkosihk", "ᒪᐢᑫᑯᓯᕽ"),
]
"""Two words of the seeds, and three of textbooks of Plains Cree."""


@pytest.mark.parametrize(("roman", "syllabics"), PAIRS)
def test_both_ways(roman: str, syllabics: str) -> None:
    assert converted(roman, CreeTarget.SYLLABICS) == syllabics
    assert converted(syllabics, CreeTarget.ROMAN) == roman


@pytest.mark.parametrize(("roman", "syllabics"), PAIRS)
def test_what_is_in_the_writing_already_stays(roman: str, syllabics: str) -> None:
    assert converted(roman, CreeTarget.ROMAN) == roman
    assert converted(syllabics, CreeTarget.SYLLABICS) == syllabics
    assert other_writing(roman) is CreeTarget.SYLLABICS
    assert other_writing(syllabics) is CreeTarget.ROMAN


def test_macrons_and_decomposed_letters_are_the_same_word() -> None:
    assert converted("niwāpamāw", CreeTarget.SYLLABICS) == "ᓂᐚᐸᒫᐤ"
    assert converted("niwa\u0302pama\u0302w", CreeTarget.SYLLABICS) == "ᓂᐚᐸᒫᐤ"


def test_a_preverb_stands_apart_by_a_visible_space() -> None:
    assert converted("ê-wâpamât", CreeTarget.SYLLABICS) == "ᐁ ᐚᐸᒫᐟ"


def test_words_that_cannot_be_cree_stay() -> None:
    assert converted("niwâpamâw train {name}", CreeTarget.SYLLABICS) == "ᓂᐚᐸᒫᐤ train {name}"


@pytest.mark.parametrize(
    ("output", "source", "shown"),
    [
        ("I see the dog.", "I see the dog.", "I see the dog."),
        ("i see atim", "I see the dog.", "i see ᐊᑎᒼ"),
        ("nimis Mary", "my sister Mary", "ᓂᒥᐢ Mary"),
        ("Nimis ðê lîla", "", "ᓂᒥᐢ ðê lîla"),
        ("miýo-kîsikâw", "", "ᒥᔪ ᑮᓯᑳᐤ"),
        ("{atim} <i>atim</i> atim", "", "{atim} <i>ᐊᑎᒼ</i> ᐊᑎᒼ"),
    ],
)
def test_words_of_the_source_and_of_other_alphabets_stay(
    output: str, source: str, shown: str
) -> None:
    assert converted(output, CreeTarget.SYLLABICS, source) == shown


@pytest.mark.parametrize(
    ("tag", "cree"),
    [("crk", True), ("crk-Latn", True), ("CRK_cans", True), ("cwd", True), ("iu", False), ("", False)],
)  # fmt: skip
def test_only_cree_is_converted(tag: str, cree: bool) -> None:
    assert is_cree(tag) is cree


@given(st.text() | st.sampled_from(HOSTILE))
def test_any_text_is_converted_without_a_fault(text: str) -> None:
    for writing in CreeTarget:
        converted(text, writing)
        assert writing is CreeTarget.ROMAN or converted(text, writing, text) == text
    other_writing(text)
