"""Cards of laptops: read as they were written, and changed by nobody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sealed.forms import FileError
from review.files.statements import read_laptop_card, write_laptop_card
from tests.review.files.made import LAPTOP, ORGANISATION

CARD = write_laptop_card(LAPTOP, "Library, second table")


def test_a_card_is_read_as_it_was_written() -> None:
    card = read_laptop_card(CARD)
    assert (card.name, card.public) == ("Library, second table", LAPTOP.public)
    assert write_laptop_card(LAPTOP, "Library, second table") == CARD


def test_every_single_changed_byte_is_refused() -> None:
    for place in range(len(CARD)):
        for value in (1, 2, 4, 32, 128):
            changed = CARD[:place] + bytes([CARD[place] ^ value]) + CARD[place + 1 :]
            with pytest.raises(FileError, match=r"\.$"):
                read_laptop_card(changed)


def test_another_laptops_key_cannot_be_put_in() -> None:
    other = CARD.replace(LAPTOP.public.recipient.encode(), ORGANISATION.public.recipient.encode())
    with pytest.raises(FileError, match="changed"):
        read_laptop_card(other)


@given(st.binary(max_size=300))
def test_anything_else_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(FileError):
        read_laptop_card(data)


def test_a_huge_file_is_not_read() -> None:
    with pytest.raises(FileError):
        read_laptop_card(b"[" * 10_000_000)
