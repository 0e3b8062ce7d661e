"""A letter that nobody could read is found before anybody is asked about it; nothing else is."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from review.desktop.look.fonts import forget_fonts, legible, shown, undrawn
from tests.growth import grows_less


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("ᓂᐚᐸᒫᐤ ᐊᑎᒼ \U00011ab0", None),
        ("niwâpamâw atim", None),
        (unicodedata.normalize("NFD", "niwâpamâw"), None),
        ("x̌ ƛ̓ ʔ", None),
        ("سڵاو", None),
        ("", None),
        (" \n\t\u2028", None),
        ("a\u200db\u200c\u200e\u2066c\u2069\ufeff\u00ad", None),
        ("a\ufe0f", None),
        ("abc שלום", "ש"),
        ("漢字", "漢"),
        ("ab\ue000c", "\ue000"),
        ("a\u0378", "\u0378"),
        ("a😀b", "😀"),
        ("\U000e1234", "\U000e1234"),
        ("a\U000111ebb", "\U000111eb"),
        ("a\u07ca", "\u07ca"),
        ("\u0712b", "\u0712"),
        ("\u0780", "\u0780"),
        ("! \u07ca", "\u07ca"),
    ],
)
def test_with_the_bundled_fonts_alone(qapp: QApplication, text: str, missing: str | None) -> None:
    assert undrawn([text])[:1] == ([] if missing is None else [missing])


def test_all_of_all_texts_are_found_with_their_marks(qapp: QApplication) -> None:
    texts = ["good", "also good", "here ק\u05b8 and 漢", "漢", "a\u07ca ! \u2014 \u0712"]
    assert undrawn(texts) == ["ק\u05b8", "漢", "\u07ca", "\u0712"]
    assert undrawn(texts[2:3]) == ["ק\u05b8", "漢"], "what was asked before is known"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("good 😀 ê ᓂ", "good ‹GRINNING FACE› ê ᓂ"),
        ("▁Mi▁vidas 中", "‹LOWER ONE EIGHTH BLOCK›Mi‹LOWER ONE EIGHTH BLOCK›vidas ‹CJK UNIFIED IDEOGRAPH-4E2D›"),
        ("👩🏽\u200d🏫", "‹WOMAN + EMOJI MODIFIER FITZPATRICK TYPE-4 + ZERO WIDTH JOINER + SCHOOL›"),
        ("ק\u05b8\u202e", "‹HEBREW LETTER QOF + HEBREW POINT QAMATS›‹RLO›"),
        ("a\ue000😀😀😀😀", "a‹U+E000›‹GRINNING FACE›‹×4›"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_shown_by_name(qapp: QApplication, text: str, seen: str) -> None:
    assert shown(text) == seen
    assert shown(seen) == seen


@given(st.text(alphabet="aᐊê \u0302漢ש😀▁\ue000\u202e\n", max_size=30))
def test_nothing_is_shown_that_cannot_be_drawn(qapp: QApplication, text: str) -> None:
    assert undrawn([shown(text)]) == []


@pytest.mark.parametrize(
    ("text", "script", "reads"),
    [
        ("Mi vidas 😀 ▁ 中", "Latn", True),
        ("Mi 中 漢", "Latn", True),
        ("Mi 中漢字", "Latn", False),
        ("😀 ▁ 1", "Latn", True),
        ("ᏣᎳᎩ", None, False),
        ("one word of many: ᏣᎳᎩ", None, True),
        ("one word of many: ᏣᎳᎩ", "Cher", False),
        ("one word of many: 漢", "Jpan", False),
        ("one letter of many: Ａ", "Latn", False),
        ("one letter of many: ק\u05b8", "Hebr", False),
        ("▁ " * 201, "Latn", False),
        ("", "Latn", True),
    ],
)
def test_a_text_is_judged_only_where_it_can_be_read(
    qapp: QApplication, text: str, script: str | None, reads: bool
) -> None:
    assert legible(text, script) is reads


@given(st.lists(st.text(alphabet="aêᐊᓂ ̌سx\u200d", max_size=20), max_size=5))
def test_a_text_of_letters_that_are_there_misses_none(qapp: QApplication, texts: list[str]) -> None:
    assert undrawn(texts) == []


@given(st.text(alphabet="aᐊ \u0302漢ש", max_size=20))
def test_one_that_is_named_stands_in_the_text_and_cannot_be_drawn(
    qapp: QApplication, text: str
) -> None:
    found = undrawn([text])
    assert {each[0] for each in found} == set(text) & set("漢ש")
    assert all(each in text for each in found)


def test_the_time_of_looking_through_a_review_grows_as_its_texts_do(qapp: QApplication) -> None:
    letters = [chr(code) for code in (*range(0x1400, 0x1680), *range(0xC0, 0x180))]
    texts = ["".join(letters[(7 * n + m) % len(letters)] for m in range(200)) for n in range(300)]
    assert undrawn(texts) == []
    assert grows_less(lambda size: undrawn(texts[:size]), 60, 300, 2.5)


def test_a_sign_that_scripts_share_is_not_blamed_for_its_neighbour(qapp: QApplication) -> None:
    assert undrawn(["\u2014 \u2212", "\u07ca\u2014\u2212"]) == ["\u07ca"]


def _assigned() -> list[str]:
    """Return every character that shows something, in no order of scripts; the seed keeps it the same."""
    known = [chr(code) for code in range(0x20, 0x30000)]
    seen = [each for each in known if unicodedata.category(each)[0] in "LMNPS"]
    return random.Random(5).sample(seen, len(seen))


@pytest.mark.parametrize("kind", ["one text", "a text each", "all with a mark"])
def test_five_thousand_different_characters_hold_nobody_up(qapp: QApplication, kind: str) -> None:
    letters = _assigned()[:5000]
    undrawn(letters)  # every font that is needed is open now, as after the first page

    def look(size: int) -> list[str]:
        forget_fonts()
        some = letters[:size]
        texts = {
            "one text": ["".join(some)],
            "a text each": some,
            "all with a mark": ["".join(f"{letter}\u07eb" for letter in some)],
        }[kind]
        return undrawn(texts)

    assert look(5000)
    assert grows_less(look, 1000, 5000, 4)


def test_a_thousand_marks_on_one_letter_are_looked_at_once(qapp: QApplication) -> None:
    assert undrawn(["a" + "\u0301" * 20_000]) == []
    assert undrawn(["a" + "\u0301" * 20_000 + "\u0378"])
    look = lambda marks: undrawn(["a" + "\u0301" * marks + "\u0378"])  # noqa: E731
    assert grows_less(look, 4_000, 20_000, 2.5)
