"""Texts that JSON may hold and a file cannot."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.storable import storable


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udfff\ud800", "\ufffd\ufffd"),
        ("\ud83e\udded", "\U0001f9ed"),
        ("\ud83e\ud83e\udded", "\ufffd\U0001f9ed"),
        ("", ""),
    ],
)
def test_lone_surrogates_are_replaced_and_pairs_are_one_character(given: str, kept: str) -> None:
    assert storable(given) == kept


@given(st.text())
def test_what_a_file_can_hold_stays_as_it_is(text: str) -> None:
    assert storable(text) == text


@given(st.text(st.characters() | st.characters(categories=["Cs"])))
def test_everything_can_be_stored_afterwards_and_reads_as_json_reads_it(text: str) -> None:
    kept = storable(text)
    assert kept.encode() == storable(kept).encode()
    assert kept == storable(json.loads(json.dumps(text)))
