"""lookup: a dictionary as a tool that a model may call while it translates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.methods.completions import Message
from harness.methods.dictionary import Dictionary

TOOL = {
    "type": "function",
    "function": {
        "name": "lookup",
        "description": "Look up a word or phrase of the source language in the dictionary.",
        "parameters": {
            "type": "object",
            "properties": {"word": {"type": "string", "description": "The word or phrase."}},
            "required": ["word"],
        },
    },
}
"""The tool as the body of a call describes it."""

MOST_CALLS = 32
"""Tool calls answered in one reply; a model that loops must not fill the next call."""


def answers(calls: tuple[Mapping[str, Any], ...], dictionary: Dictionary) -> list[Message]:
    """Answer each tool call of a reply, also one that makes no sense: the model is told so."""
    return [
        {
            "role": "tool",
            "tool_call_id": call["id"],
            "content": json.dumps(
                _answer(call["function"], dictionary)
                if place < MOST_CALLS
                else {"error": "too many calls at once"},
                ensure_ascii=False,
            ),
        }
        for place, call in enumerate(calls)
    ]


def _answer(function: Mapping[str, Any], dictionary: Dictionary) -> dict[str, Any]:
    if function.get("name") != "lookup":
        return {"error": "there is only the tool 'lookup'"}
    try:
        arguments = json.loads(function.get("arguments") or "")
    except (TypeError, ValueError, RecursionError):
        return {"error": "the arguments are not valid JSON"}
    word = arguments.get("word") if isinstance(arguments, dict) else None
    if not isinstance(word, str):
        return {"error": "the argument 'word' must be a text"}
    return {"translations": list(dictionary.lookup(word))}
