"""A letter that nobody could read is found before anybody is asked about it; nothing else is."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from review.desktop.missing_letters import first_missing
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
        ("a\u07ca", "\u07ca"),
        ("\u0712b", "\u0712"),
        ("\u0780", "\u0780"),
        ("a\u07ca ! \u2014 \u0712", "\u07ca"),
        ("! \u07ca", "\u07ca"),
    ],
)
def test_with_the_bundled_fonts_alone(qapp: QApplication, text: str, missing: str | None) -> None:
    assert first_missing([text]) == missing


def test_the_first_of_all_texts_is_named_with_its_marks(qapp: QApplication) -> None:
    assert first_missing(["good", "also good", "here ק\u05b8 and 漢", "漢"]) == "ק\u05b8"


@given(st.lists(st.text(alphabet="aêᐊᓂ ̌سx\u200d", max_size=20), max_size=5))
def test_a_text_of_letters_that_are_there_misses_none(qapp: QApplication, texts: list[str]) -> None:
    assert first_missing(texts) is None


@given(st.text(alphabet="aᐊ \u0302漢ש", max_size=20))
def test_one_that_is_named_stands_in_the_text_and_cannot_be_drawn(
    qapp: QApplication, text: str
) -> None:
    found = first_missing([text])
    assert (found is not None) == any(letter in text for letter in "漢ש")
    if found is not None:
        assert found in text
        assert found[0] == min("漢ש", key=lambda letter: text.find(letter) % 1000)


def test_the_time_of_looking_through_a_review_grows_as_its_texts_do(qapp: QApplication) -> None:
    letters = [chr(code) for code in (*range(0x1400, 0x1680), *range(0xC0, 0x180))]
    texts = ["".join(letters[(7 * n + m) % len(letters)] for m in range(200)) for n in range(300)]
    assert first_missing(texts) is None
    assert grows_less(lambda size: first_missing(texts[:size]), 60, 300, 2.5)


def test_a_sign_that_scripts_share_is_not_blamed_for_its_neighbour(qapp: QApplication) -> None:
    assert first_missing(["\u2014 \u2212", "\u07ca\u2014\u2212"]) == "\u07ca"


def _assigned() -> list[str]:
    """Give every character that shows something, in no order of scripts; the seed keeps it the same."""
    known = [chr(code) for code in range(0x20, 0x30000)]
    seen = [each for each in known if unicodedata.category(each)[0] in "LMNPS"]
    return random.Random(5).sample(seen, len(seen))


@pytest.mark.parametrize("kind", ["one text", "a text each", "all with a mark"])
def test_five_thousand_different_characters_hold_nobody_up(qapp: QApplication, kind: str) -> None:
    letters = _assigned()[:5000]
    first_missing(letters)  # every font that is needed is open now, as after the first page

    def look(size: int) -> str | None:
        some = letters[:size]
        texts = {
            "one text": ["".join(some)],
            "a text each": some,
            "all with a mark": ["".join(f"{letter}\u07eb" for letter in some)],
        }[kind]
        return first_missing(texts)

    assert look(5000) is not None
    assert grows_less(look, 1000, 5000, 4)


def test_a_thousand_marks_on_one_letter_are_looked_at_once(qapp: QApplication) -> None:
    assert first_missing(["a" + "\u0301" * 20_000]) is None
    assert first_missing(["a" + "\u0301" * 20_000 + "\u0378"]) is not None
    look = lambda marks: first_missing(["a" + "\u0301" * marks + "\u0378"])  # noqa: E731
    assert grows_less(look, 4_000, 20_000, 2.5)
