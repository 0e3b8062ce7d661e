"""Check phrases: every bit counts, and people may type them as they like."""

import contextlib
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.files.phrase import PhraseError, draw_words, phrase, read_words, words


def test_every_sixteen_bits_have_a_word_of_their_own() -> None:
    every = {words(number.to_bytes(2, "big")) for number in range(2**16)}
    assert len(every) == 2**16
    assert all(len(word) == 5 and word.isascii() and word.islower() for word in every)


def test_the_words_are_those_of_the_page() -> None:
    assert words(bytes.fromhex("000000010010ffff")) == "babab babad babib zuzuz"
    digest = sha256(b"Rosetta").hexdigest()
    assert phrase(digest) == words(bytes.fromhex(digest[:24]))
    assert len(phrase(digest).split()) == 6


@given(st.binary(min_size=32, max_size=32), st.integers(0, 95))
def test_one_changed_bit_changes_the_phrase(digest: bytes, bit: int) -> None:
    changed = bytearray(digest)
    changed[bit // 8] ^= 1 << bit % 8
    assert phrase(digest.hex()) != phrase(changed.hex())


@given(
    st.binary(min_size=12, max_size=12),
    st.sampled_from([" ", "  ", "-", ", ", "\n", "\u2011", "."]),
)
def test_words_are_read_as_people_type_them(data: bytes, between: str) -> None:
    said = words(data)
    assert read_words(f"  {said.upper().replace(' ', between)}\n") == said


@pytest.mark.parametrize(
    ("typed", "said"),
    [("", "No word"), ("babab house", "Word 2"), ("bababa", "Word 1"), ("\u1401", "Word 1")],
)
def test_a_word_that_is_none_is_named(typed: str, said: str) -> None:
    with pytest.raises(PhraseError, match=said):
        read_words(typed)


@given(st.text(max_size=80))
def test_anything_typed_is_read_or_refused_in_words(typed: str) -> None:
    with contextlib.suppress(PhraseError):
        assert read_words(read_words(typed)) == read_words(typed)


def test_drawn_words_differ() -> None:
    assert len({draw_words() for _ in range(50)}) == 50
    assert len(draw_words(4).split()) == 4
