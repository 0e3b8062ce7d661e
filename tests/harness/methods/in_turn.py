"""Replies of a model, one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.harness.methods.conftest import completion


def in_turn(*answers: Any) -> Callable[[Any], Any]:
    left = list(answers)
    return lambda _: completion(found) if isinstance(found := left.pop(0), str) else found


def asks_for(*words: str, name: str = "lookup") -> dict[str, Any]:
    reply = completion(None)
    message = reply["choices"][0]["message"]
    message["tool_calls"] = [
        {
            "id": f"call_{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps({"word": word})},
        }
        for place, word in enumerate(words)
    ]
    return reply
