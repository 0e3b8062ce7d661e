"""Fields of records as the entry screen shows them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rosetta_tui.entry.page import field_words

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def test_evidence_and_turns_stand_one_after_the_other() -> None:
    evidence = [{"text": "La kato sidas.", "token_count": 4}, {"text": "Ĝi dormas."}]
    assert field_words(evidence) == '1. La kato sidas.   {"token_count": 4}\n2. Ĝi dormas.'
    turns = [{"user": "Saluton!", "assistant": "Sal."}, {"user": "Kiu?", "reference": "Mi."}]
    said = "1. user: Saluton!\n   assistant: Sal.\n2. user: Kiu?\n   reference: Mi."
    assert field_words(turns) == said
    assert field_words("a text") == "a text"
    assert field_words([{"name": "f"}, {"name": "g"}]) == '1. {"name": "f"}\n2. {"name": "g"}'
    assert field_words({"hotel": {"name": "x"}}) == '{"hotel": {"name": "x"}}'


@given(JSON)
def test_whatever_a_record_holds_is_words(value: Any) -> None:
    assert isinstance(field_words(value), str)
