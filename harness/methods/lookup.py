"""What a model may ask while it translates: a dictionary, and the analyser of the target language."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.fst.model import AnalyserError
from harness.inputs.dictionary import Dictionary
from harness.methods.completions import Message

if TYPE_CHECKING:  # loaded only where an analyser is given
    from harness.annotators.fst import FstAnnotator

MOST_CALLS = 32
"""Tool calls answered in one reply; a model that loops must not fill the next call."""

MOST_ANALYSES = 32
"""Analyses of a word that are told; an ambiguous word must not fill the next call either."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function of one word that a model may call."""

    name: str
    description: str
    word: str
    """What the word is, for the model."""
    answer: Callable[[str], dict[str, Any]]
    """Gives what is known of a word."""
    prompt: str
    """Shipped prompt that tells the model of the tool."""
    said: str
    """What the tool did with a number of words, for the entry screen."""

    @property
    def declaration(self) -> dict[str, Any]:
        """The tool as the body of a call describes it."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": {
                    "type": "object",
                    "properties": {"word": {"type": "string", "description": self.word}},
                    "required": ["word"],
                },
            },
        }


def lookup_tool(dictionary: Dictionary) -> Tool:
    """Let the model look up words of the source language."""
    return Tool(
        name="lookup",
        description="Look up a word or phrase of the source language in the dictionary.",
        word="The word or phrase.",
        answer=lambda word: {"translations": list(dictionary.lookup(word))},
        prompt="tools-v1",
        said="looked up",
    )


def analyse_tool(annotator: FstAnnotator) -> Tool:
    """Let the model ask whether a word of the target language exists, and what form it is."""

    def answer(word: str) -> dict[str, Any]:
        try:
            [found] = annotator.analyse_words([word], secret=True)
        except AnalyserError:
            return {"error": "the analyser cannot answer"}
        analyses = list(found.analyses[:MOST_ANALYSES])
        return {"accepted": found.accepted is not None, "analyses": analyses}

    return Tool(
        name="analyse",
        description="Ask the morphological analyser of the target language about one word: whether it "
        "exists, and its lemma and inflection.",
        word="The word as it would stand in the translation.",
        answer=answer,
        prompt="analyse-v1",
        said="analysed",
    )


def answers(calls: Sequence[Mapping[str, Any]], tools: Sequence[Tool]) -> list[Message]:
    """Answer each tool call of a reply, also one that makes no sense: the model is told so."""
    return [
        {
            "role": "tool",
            "tool_call_id": call["id"],
            "content": json.dumps(
                _answer(call["function"], tools)
                if place < MOST_CALLS
                else {"error": "too many calls at once"},
                ensure_ascii=False,
            ),
        }
        for place, call in enumerate(calls)
    ]


def account(calls: Sequence[Mapping[str, Any]], tools: Sequence[Tool]) -> str:
    """Say what the calls of a reply asked for, in a sentence for the entry screen."""
    asked = [call["function"].get("name") for call in calls]
    parts = [f"{tool.said} {asked.count(tool.name)} words" for tool in tools if tool.name in asked]
    return f"The model {' and '.join(parts) or 'called tools that do not exist'}."


def _answer(function: Mapping[str, Any], tools: Sequence[Tool]) -> dict[str, Any]:
    tool = next((tool for tool in tools if tool.name == function.get("name")), None)
    if tool is None:
        known = " and ".join(repr(tool.name) for tool in tools)
        return {"error": f"there is only the tool {known}"}
    try:
        arguments = json.loads(function.get("arguments") or "")
    except (TypeError, ValueError, RecursionError):
        return {"error": "the arguments are not valid JSON"}
    word = arguments.get("word") if isinstance(arguments, dict) else None
    if not isinstance(word, str):
        return {"error": "the argument 'word' must be a text"}
    return tool.answer(word)
