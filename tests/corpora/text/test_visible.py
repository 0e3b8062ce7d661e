"""What a window shows of hostile text: everything, made visible, and nothing that reaches over other text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.text.visible import MOST_MARKS, plain, readable

REACHING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def tower(text: str) -> int:
    """Count the most marks in a row."""
    best = run = 0
    for character in text:
        run = run + 1 if unicodedata.category(character).startswith("M") else 0
        best = max(best, run)
    return best


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from(REACHING + "\u0301\u20dd"))))
def test_nothing_acts_and_nothing_is_stacked_high(text: str) -> None:
    shown = readable(text)
    assert not set(shown) & set(REACHING)
    acting = [c for c in shown if unicodedata.category(c) in {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}]
    assert set(acting) <= {"\n", "\t"}
    assert tower(shown) <= MOST_MARKS


@pytest.mark.parametrize(
    "text",
    [
        "ᓂᐚᐸᒫᐤ ᐊᑎᒼ\nnîpîy",
        "Il dit\u202f: «\u00a0oui\u00a0»",
        "ƛ\u0313 x\u030c k\u0313\u02b7",
        "שלום (abc)\u200f!",
        "کتاب\u200cخانه",
        "क्षत्रिय",
        "a\tb",
    ],
    ids=["syllabics", "french", "salish", "hebrew", "sorani", "devanagari", "tab"],
)
def test_text_of_people_stays_as_it_is(text: str) -> None:
    assert readable(text) == text


def test_what_acts_becomes_visible() -> None:
    assert readable("a\u202eb\x00c\x1b[0m\ud800") == "a‹RLO›b‹U+0000›c‹U+001B›[0m‹U+D800›"
    assert readable("a\r\nb\rc") == "a\nb‹U+000D›c"
    assert plain("a\u200fb") == "a⟨RLM⟩b"


def test_many_of_the_same_are_counted() -> None:
    assert readable("a" + "\x00" * 20_000 + "b") == "a‹U+0000›‹×20000›b"
    assert readable("\x00\x00\x00") == "‹U+0000›" * 3
    assert readable("éééé\x00" + "\u00a0" * 9) == "éééé‹U+0000›" + "\u00a0" * 9


def test_what_became_visible_is_written_in_signs_of_every_latin_font() -> None:
    acting = [chr(code) for code in range(0x3000) if readable(chr(code)) != chr(code)]
    shown = set("".join(map(readable, acting)))
    assert shown <= set("‹›+ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


def test_ten_thousand_marks_keep_their_number_on_many_seats() -> None:
    shown = readable("a" + "\u0301" * 10_000)
    assert shown.count("\u0301") == 10_000
    assert tower(shown) == MOST_MARKS
