"""How a model is asked for tasks that are no translations: the prompt of each, and the message of a record.

What is in a message comes from ``Entry.question``, so no answer can.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from corpora.model.entry import Entry
from corpora.tasks.task import TRANSLATION, task
from harness.core.failures import UsageError
from harness.method.options import MethodOptions, flag

_NOT_FOR_OTHERS = ("coaching", "source_name")
"""Options of a model that only mean something for translations."""


def prompt_of(options: MethodOptions) -> str | None:
    """Return the version of the prompt that a task other than translation is asked with, else None.

    UsageError for an option that means nothing for the task.
    """
    name = options.task
    if name == TRANSLATION:
        return None
    given = [option for option in _NOT_FOR_OTHERS if getattr(options, option) is not None]
    if options.batch_size > 1:
        given.append("batch_size")
    if given:
        raise UsageError(
            f"{flag(given[0])} is for translation, and the task of the corpus is {name}. Leave it out."
        )
    return options.prompt or f"{name}-v1"


def refuse_translator(method: str, name: str) -> None:
    """Raise UsageError: a method that translates cannot be asked for another task."""
    asked = task(name)
    other = "ask a model with --method chat, or " if asked.asks_models else ""
    raise UsageError(
        f"Method {method!r} does not do what the corpus asks for ({name}: {asked.title}). Instead, {other}"
        "score outputs that were made elsewhere: `rosetta score FILE OUTPUTS`."
    )


def message(entry: Entry) -> str:
    """Return what a model is asked about an entry, in one message; a chat's turns are asked one by one."""
    seen: Mapping[str, Any] = entry.model_extra or {}
    match entry.of_task:
        case "qa" if evidence := seen.get("evidence"):
            return f"Evidence:\n{_numbered(evidence)}\n\nQuestion: {entry.source}"
        case "function_call":
            tools = json.dumps(seen.get("tools", []), ensure_ascii=False)
            return f"Functions:\n{tools}\n\nRequest: {entry.source}"
        case "text2sql" if schema := seen.get("database_schema"):
            return f"Schema:\n{schema}\n\nQuestion: {entry.source}"
        case "multiple_choice" if choices := seen.get("choices"):
            lettered = (f"{chr(ord('A') + at)}. {choice}" for at, choice in enumerate(choices))
            return "\n".join([entry.source, "", *lettered])
        case _:
            return entry.source


def _numbered(evidence: Sequence[Mapping[str, Any]]) -> str:
    passages = [
        ": ".join(str(passage[k]) for k in ("title", "text") if passage.get(k))
        for passage in evidence
    ]
    return "\n".join(f"{number}. {text}" for number, text in enumerate(passages, 1))


def turns(entry: Entry) -> list[str] | None:
    """Return what the user says, turn by turn; None where the task is no conversation."""
    if entry.of_task != "chat":
        return None
    return [turn["user"] for turn in (entry.model_extra or {}).get("turns", []) if "user" in turn]
