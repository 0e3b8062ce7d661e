"""The tasks that a corpus may be of, and what a method sees of a record of each.

A record is the JSON object of one entry. Its answers are never shown: a method gets the source and the fields
of ``Task.shown``, of objects in them only the keys that are there, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from corpora.files.json_types import Json, JsonObject
from corpora.text.messages import near_names

TRANSLATION = "translation"
"""The task of every corpus that names none."""


class Task(NamedTuple):
    """A task for a method: what it has to do with each entry."""

    name: str
    title: str
    """In words, as the end of a sentence: *The task is …*."""
    answer: str
    """Form of an answer, in words."""
    shown: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """Fields of a record that a method sees beside the source → keys of the objects in them that it sees;
    none where the field holds texts."""
    data: tuple[str, ...] = ()
    """Fields in which any name may stand, because they hold names of somebody's functions, slots or checks."""
    wants_source: bool = True
    """False where a record may have none: what is asked is a recording, or was asked elsewhere."""
    wants_reference: bool = True
    """False where no one answer is the right one."""
    empty_reference: bool = False
    """True where a reference may be empty: nobody speaks in the recording."""
    asks_models: bool = True
    """False where a language model cannot be asked by text."""

    def question(self, fields: JsonObject) -> dict[str, Json]:
        """Return what a method sees of a record's further fields; what has another form than it must is left out."""
        there = {name: keys for name, keys in self.shown.items() if name in fields}
        seen = {name: _seen(fields[name], keys) for name, keys in there.items()}
        return {name: value for name, value in seen.items() if value is not None}


_WHOLE = "parameters"
"""Key of a tool whose value is a JSON schema, shown as it stands."""


def _seen(value: Any, keys: tuple[str, ...]) -> Any:
    """Return a text, a list of texts, or a list of objects of which only these keys are left."""
    if isinstance(value, str):
        return None if keys else value
    if not isinstance(value, list | tuple):
        return None
    if not keys:
        return [item for item in value if isinstance(item, str)]
    seen = []
    for item in value:
        if isinstance(item, Mapping):
            there = [key for key in keys if key in item]
            kept = [key for key in there if key == _WHOLE or isinstance(item[key], str | int)]
            seen.append({key: item[key] for key in kept})
    return seen


_CALLS = '[{"NAME": {"PARAMETER": value}}] as JSON'

_EVIDENCE = {"evidence": ("id", "title", "text", "language")}
_recorded = partial(Task, shown={"audio": ()}, wants_source=False, empty_reference=True, asks_models=False)

_TASKS = (
    Task(TRANSLATION, "translation", "the translation"),
    Task("qa", "answering questions from evidence", "the answer", _EVIDENCE),
    _recorded("asr", "writing down speech", "the words that were spoken"),
    _recorded("diarization", "writing down who says what", "a line “SPEAKER: words” for each turn"),
    Task("judged", "answering, rated by a judge", "the answer", wants_source=False, wants_reference=False),
    Task(
        "chat",
        "talking over several turns",
        "the answers to all turns, a list of texts as JSON",
        {"turns": ("user",)},
        wants_reference=False,
    ),
    Task(
        "function_call",
        "calling functions",
        _CALLS,
        {"tools": ("name", "description", _WHOLE)},
        data=("tools", "reference_calls", "predicted_calls"),
    ),
    Task("text2sql", "asking a database", "one SQL query", {"database_schema": ()}),
    Task(
        "ifeval",
        "following instructions that can be checked",
        "the text that was asked for",
        data=("instructions",),
        wants_reference=False,
    ),
    Task("multiple_choice", "choosing one of several answers", "the letter of the choice", {"choices": ()}),
    Task("math", "working out a number", "the way to it, and the number in \\boxed{}"),
    Task(
        "dialogue_state",
        "following what is wanted in a dialogue",
        '{"DOMAIN": {"SLOT": value}} as JSON',
        data=("reference_state", "predicted_state"),
    ),
    Task("response", "answering a prompt", "the answer", wants_reference=False),
)

TASKS: Mapping[str, Task] = {task.name: task for task in _TASKS}
"""By name, translation first."""


def json_text(value: Any) -> str:
    """Return a value as the one line of JSON in which texts hold it: names sorted, all letters as they are."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def unknown_task(name: object) -> tuple[str, str]:
    """Return what is wrong with a name that no task has, and how it is mended; the name is not quoted."""
    near = near_names(name, TASKS) if isinstance(name, str) else []
    hint = f" Did you mean {near[0]}?" if near else ""
    return "There is no such task.", f"Permitted: {', '.join(TASKS)}.{hint}"
