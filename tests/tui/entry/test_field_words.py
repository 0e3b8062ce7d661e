"""Fields of records as the entry screen shows them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from rosetta_tui.entry.record import about, answers_in_row, field_words

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


TOOL = {
    "name": "set_alarm",
    "description": "Wake somebody.",
    "parameters": {"type": "object", "properties": {"hour": {}, "label": {}}, "required": ["hour"]},
}


@pytest.mark.parametrize(
    ("field", "piece", "words"),
    [
        ("tools", TOOL, "set_alarm(hour, label?)   Wake somebody."),
        ("tools", {"name": "stop", "parameters": {}}, "stop()"),
        ("tools", {"name": "stop", "parameters": {"type": "object"}}, "stop()"),
        ("tools", {"name": "f", "parameters": {"a": 1}}, '{"name": "f", "parameters": {"a": 1}}'),
        ("tools", {"name": "f", "parameters": [1]}, '{"name": "f", "parameters": [1]}'),
        ("tools", {"parameters": {}}, '{"parameters": {}}'),
        ("tools", "f", "f"),
        ("instructions", {"id": "a:b", "kwargs": {}}, "a:b"),
        (
            "instructions",
            {"id": "a:b", "kwargs": {"relation": "at least", "words": ["x", "ᓂᐚ"]}},
            'a:b   relation: at least, words: ["x", "ᓂᐚ"]',
        ),
        ("instructions", {"id": "a:b", "note": 1}, 'a:b   {"note": 1}'),
        ("instructions", {"id": "a:b", "kwargs": [1]}, 'a:b   {"kwargs": [1]}'),
    ],
)
def test_tools_and_instructions_are_one_line_each(field: str, piece: Any, words: str) -> None:
    entry = Entry.model_validate({"id": 1, "source": "s", "reference": "r", field: [piece, piece]})
    assert [line.text.plain for line in about(entry)] == [f"1. {words}\n2. {words}"]


def test_a_row_has_the_answers_of_a_conversation_and_other_outputs_as_they_are() -> None:
    plain = Entry.model_validate({"id": 1, "source": "s", "reference": "r"})
    chat = Entry.model_validate(
        {"id": 1, "source": "s", "reference": "r", "turns": [{"user": "s"}]}
    )
    assert answers_in_row(chat, '["4", "It is twelve."]') == "4\n\nIt is twelve."
    for output in ("no list", "[1]", "[]", ""):
        assert answers_in_row(chat, output) == output
    assert answers_in_row(plain, '["4"]') == '["4"]'


@given(JSON)
def test_whatever_a_record_holds_is_words(value: Any) -> None:
    assert isinstance(field_words(value), str)
