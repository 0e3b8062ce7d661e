"""One model for the records of each task: the form of their fields, and the texts that follow from them.

A record is checked as its file has it. Every screen and file shows source and reference; a record that has
none under these names gets them from its task's fields. A finding never quotes a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator

from corpora.files.json_types import Json, JsonObject
from corpora.model.task import json_text

Scalar = str | int | float | bool | None
Slots = dict[str, dict[str, Scalar | list[Scalar]]]
Call = Annotated[dict[str, dict[str, JsonValue]], Field(min_length=1, max_length=1)]
WantedCall = Annotated[
    dict[str, dict[str, Annotated[list[JsonValue], Field(min_length=1)]]], Field(min_length=1, max_length=1)
]
Name = Annotated[str, Field(min_length=1)]
_MOST_TOKENS = 2**53


class _Part(BaseModel):
    """An object inside a record; fields that nobody reads may be in it."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class FoundText(_Part):
    """A text that was found for a question."""

    text: str | None = None
    title: str | None = None
    id: str | int | None = None
    language: str | None = None
    token_count: Annotated[int, Field(ge=0, le=_MOST_TOKENS)] | None = None


class ChatTurn(_Part):
    """What a person says in a conversation, and what answers it."""

    user: Name
    assistant: str | None = None
    """An answer that was made elsewhere."""
    reference: str | None = None


class GivenTool(_Part):
    """A function that may be called."""

    name: Name
    description: str | None = None
    parameters: dict[str, JsonValue] = {}
    """JSON schema."""


class CheckedInstruction(_Part):
    """One of the things that an answer is checked for."""

    id: Name
    given: dict[str, JsonValue] | None = Field(None, validation_alias=AliasChoices("kwargs"))
    """What the check is told, such as how many words."""


_CHECKS = {
    "change_case": "capital_word_frequency english_capital english_lowercase",
    "combination": "repeat_prompt two_responses",
    "detectable_content": "number_placeholders postscript",
    "detectable_format": "constrained_response json_format multiple_sections number_bullet_lists "
    "number_highlighted_sections title",
    "keywords": "existence forbidden_words frequency letter_frequency",
    "language": "response_language",
    "length_constraints": "nth_paragraph_first_word number_paragraphs number_sentences number_words",
    "punctuation": "no_comma",
    "startend": "end_checker quotation",
}

CHECKABLE = frozenset(f"{kind}:{name}" for kind, names in _CHECKS.items() for name in names.split())
"""Ids of the instructions that a program can check (IFEval)."""


class SpokenTurn(_Part):
    """What one speaker says in one go."""

    speaker: Name
    text: str


_LIST_OF_SPOKEN = 'Write [{"speaker": "A", "text": "…"}], or lines “A: words”.'
_JUDGED = "Write what the judge gave, or leave it out."


class _Judgement(_Part):
    """What a judge said elsewhere, with its words; a score of None is a judgement that failed."""

    explanation: str | None = None
    reason: str | None = None
    """Why there is no score."""


class JudgedShare(_Judgement):
    """A judgement of 0 to 1."""

    score: Annotated[float, Field(ge=0, le=1)] | None


class JudgedGrade(_Judgement):
    """A judgement of 0 to 5."""

    score: Annotated[float, Field(ge=0, le=5)] | None


class JudgedTurn(_Judgement):
    """A judgement of 1 to 10 of one turn."""

    score: Annotated[float, Field(ge=1, le=10)] | None


Score = Annotated[float, Field(ge=0, le=1)] | JudgedShare
Rating = Annotated[float, Field(ge=0, le=5)] | JudgedGrade
RatingOfTurn = Annotated[float, Field(ge=1, le=10)] | JudgedTurn


class TaskRecord(_Part):
    """What records of all tasks may have."""

    predicted: str | None = Field(None, description="Write the output as text.")
    language: str | None = Field(None, description="Write a language tag such as crk-Cans.")
    source: str | None = Field(None, description="Give every entry a source.")
    reference: str | None = Field(None, description="Give every entry a reference.")

    def source_text(self) -> str | None:
        """Return the source that follows from the other fields, None where none does."""
        return None

    def reference_text(self) -> str | None:
        """Return the reference that follows from the other fields, None where none does."""
        return None

    def own_answer(self) -> str | None:
        """Return the output that the record brings with it, as text; None where it brings none."""
        return self.predicted


class QuestionRecord(TaskRecord):
    """qa: a question, and what was found for it."""

    evidence: list[FoundText] | None = Field(
        None, description='Write [{"text": "…", "token_count": 12}]; counts are whole numbers.'
    )
    baseline: str | None = Field(None, description="Write the other system's output as text.")
    judge_semantic: Score | None = Field(None, description=f"It is 0 to 1. {_JUDGED}")


class SpeechRecord(TaskRecord):
    """asr: a recording and its words."""

    audio: str | None = Field(None, description="Write the name of the recording as text.")

    def source_text(self) -> str | None:
        return self.audio


class DiarizationRecord(SpeechRecord):
    """diarization: a recording, and who says what in it."""

    reference: str | list[SpokenTurn] | None = Field(None, description=_LIST_OF_SPOKEN)  # type: ignore[assignment]
    predicted: str | list[SpokenTurn] | None = Field(None, description=_LIST_OF_SPOKEN)  # type: ignore[assignment]

    @field_validator("reference")
    @classmethod
    def _has_speakers(cls, value: str | list[SpokenTurn] | None) -> str | list[SpokenTurn] | None:
        """Refuse a line that says no speaker; an output may lack them, which is an error of its system."""
        if isinstance(value, str):
            for number, line in enumerate(value.splitlines(), 1):
                if line.strip() and not _SPEAKER.match(line):
                    raise ValueError(f"Its line {number} names no speaker before a colon.")
        return value

    def reference_text(self) -> str | None:
        return _lines(self.reference)

    def own_answer(self) -> str | None:
        return _lines(self.predicted)


_SPEAKER = re.compile(r"\s*[^\s:][^:]*:")


def _lines(spoken: str | list[SpokenTurn] | None) -> str | None:
    if spoken is None or isinstance(spoken, str):
        return spoken
    return "\n".join(f"{turn.speaker}: {' '.join(turn.text.split())}" for turn in spoken)


class JudgedRecord(TaskRecord):
    """judged: an answer that a judge rates."""

    judge_binary: Score | None = Field(None, description=f"It is 0 or 1. {_JUDGED}")
    judge_detailed: Rating | None = Field(None, description=f"It is 0 to 5. {_JUDGED}")
    judge_redteaming: Score | None = Field(None, description=f"It is 0 or 1. {_JUDGED}")
    judge_big_bench_audio: Score | None = Field(None, description=f"It is 0 or 1. {_JUDGED}")


class ChatRecord(TaskRecord):
    """chat: a conversation of which the user's part is given."""

    turns: list[ChatTurn] = Field(min_length=1, description='Write [{"user": "…", "reference": "…"}], at least one.')
    category: str | None = Field(None, description="Write it as text.")
    predicted: str | list[str] | None = Field(  # type: ignore[assignment]
        None, description='Write the answers as a list of texts: ["…", "…"].'
    )
    judge_mt_bench: list[RatingOfTurn | None] | None = Field(
        None, description=f"It is a list of numbers from 1 to 10, one a turn. {_JUDGED}"
    )

    def source_text(self) -> str | None:
        """Return what the user says, a blank line between the turns."""
        return "\n\n".join(turn.user for turn in self.turns)

    def reference_text(self) -> str | None:
        """Return the turns' references as a JSON list; none where no turn has one."""
        if not any(turn.reference for turn in self.turns):
            return None
        return json_text([turn.reference or "" for turn in self.turns])

    def own_answer(self) -> str | None:
        """Return the answers as a JSON list: ``predicted``, else those that are in the turns."""
        if isinstance(self.predicted, str):
            return self.predicted
        answers: Sequence[str | None] = self.predicted or [turn.assistant for turn in self.turns]
        none = all(answer is None for answer in answers)
        return None if none else json_text([answer or "" for answer in answers])


class FunctionCallRecord(TaskRecord):
    """function_call: a request, the functions there are, and the calls that serve it."""

    tools: list[GivenTool] = Field(
        description='Write [{"name": "…", "description": "…", "parameters": {…}}] with a JSON schema.'
    )
    reference_calls: list[WantedCall] = Field(
        description='Write [{"NAME": {"PARAMETER": [permitted values]}}], one function in each object.'
    )
    predicted_calls: list[Call] | None = Field(
        None, description='Write [{"NAME": {"PARAMETER": value}}], one function in each object.'
    )

    def reference_text(self) -> str | None:
        return json_text(self.reference_calls)

    def own_answer(self) -> str | None:
        return self.predicted if self.predicted_calls is None else json_text(self.predicted_calls)


class TextToSqlRecord(TaskRecord):
    """text2sql: a question to a database, and the query that answers it."""

    database: Name = Field(
        description="Write the path of the SQLite file, seen from the corpus's folder and inside of it."
    )
    database_schema: str | None = Field(None, description="Write the CREATE statements as text.")

    @field_validator("database")
    @classmethod
    def _inside(cls, value: str) -> str:
        """Refuse a path that leaves the folder of the corpus, on any system."""
        parts = value.replace("\\", "/").split("/")
        if parts[0] == "" or ":" in parts[0] or ".." in parts:
            raise ValueError("It leaves the folder of the corpus.")
        return value


class InstructedRecord(TaskRecord):
    """ifeval: a prompt, and what its answer is checked for."""

    instructions: list[CheckedInstruction] = Field(
        min_length=1, description='Write [{"id": "detectable_format:title", "kwargs": {…}}].'
    )


class MultipleChoiceRecord(TaskRecord):
    """multiple_choice: a question, its choices, and the letter of the right one."""

    choices: Annotated[list[Name], Field(min_length=2, max_length=26)] | None = Field(
        None, description='Write ["…", "…"], 2 to 26 texts; their letters are A, B, C …'
    )
    reference: str = Field(description="Write the letter of the right choice.")

    @field_validator("reference")
    @classmethod
    def _is_letter(cls, value: str) -> str:
        """Want one letter; anything else can never be matched."""
        if not re.fullmatch("[A-Za-z]", value.strip()):
            raise ValueError("It is not one letter.")
        return value


class DialogueStateRecord(TaskRecord):
    """dialogue_state: a dialogue, and what is wanted at its end."""

    reference_state: Slots = Field(description='Write {"DOMAIN": {"SLOT": "value"}}.')
    predicted_state: Slots | None = Field(None, description='Write {"DOMAIN": {"SLOT": "value"}}.')

    def reference_text(self) -> str | None:
        return json_text(self.reference_state)

    def own_answer(self) -> str | None:
        return self.predicted if self.predicted_state is None else json_text(self.predicted_state)


RECORDS: Mapping[str, type[TaskRecord]] = {
    "translation": TaskRecord,
    "qa": QuestionRecord,
    "asr": SpeechRecord,
    "diarization": DiarizationRecord,
    "judged": JudgedRecord,
    "chat": ChatRecord,
    "function_call": FunctionCallRecord,
    "text2sql": TextToSqlRecord,
    "ifeval": InstructedRecord,
    "multiple_choice": MultipleChoiceRecord,
    "math": TaskRecord,
    "dialogue_state": DialogueStateRecord,
    "response": TaskRecord,
}
"""By task."""


class WrongField(NamedTuple):
    """What is wrong with a field of a record."""

    field: str
    """With the places inside of it, but without names that only the record has."""
    message: str
    mend: str


def complete(task: str, fields: JsonObject) -> tuple[dict[str, Json], list[WrongField]]:
    """Return a record with the texts that follow from its task, and what is wrong with its fields.

    ``fields``: JSON values of at most 32 levels. The record is unchanged where something is wrong.
    """
    try:
        record = RECORDS[task].model_validate(fields)
    except ValidationError as error:
        model = RECORDS[task]
        wrong_fields: dict[str, WrongField] = {}
        details = error.errors(include_url=False, include_input=False)
        # of a union, what came furthest
        for detail in sorted(details, key=lambda detail: -len(detail["loc"])):
            name = str(detail["loc"][0])
            ours = str(detail["ctx"]["error"]) if detail["type"] == "value_error" else ""
            usual = _MESSAGES.get(detail["type"], "It has not the form that it must have.")
            mend = model.model_fields[name].description or "Correct it."
            # Write a place as `turns[2].user`, as far as it consists of names that we gave.
            place = detail["loc"]
            path = str(place[0])
            for part in place[1:]:
                if isinstance(part, int):
                    path += f"[{part + 1}]"
                elif part in _NAMES:
                    path += f".{part}"
            wrong_fields.setdefault(name, WrongField(path, ours or usual, mend))
        return dict(fields), list(wrong_fields.values())
    made = dict(fields)
    for side, text in (("source", record.source_text()), ("reference", record.reference_text())):
        own = fields.get(side)
        if text is not None and not (isinstance(own, str) and own.strip()):
            made[side] = text
    return made, []


def sides_that_follow(task: str) -> set[str]:
    """Return which of source and reference other fields of a record give where it does not."""
    names = {side: f"{side}_text" for side in ("source", "reference")}
    record = RECORDS[task]
    return {s for s, name in names.items() if getattr(record, name) != getattr(TaskRecord, name)}


def own_answer(task: str, fields: JsonObject) -> str | None:
    """Return the output that a record brings with it, as text; None where it brings none or a damaged one."""
    try:
        return RECORDS[task].model_validate(fields).own_answer()
    except ValidationError:
        return None


_MESSAGES = {
    "missing": "It is missing.",
    "string_type": "It must be text.",
    "list_type": "It must be a list.",
    "dict_type": "It must be an object.",
    "model_type": "It must be an object.",
    "int_type": "It must be a whole number.",
    "float_type": "It must be a number.",
    "string_too_short": "It is empty.",
    "too_short": "It holds too few.",
    "too_long": "It holds too many.",
    "greater_than_equal": "The number is too small.",
    "less_than_equal": "The number is too large.",
}

_NAMES = frozenset({"kwargs"}).union(
    name
    for part in (FoundText, ChatTurn, GivenTool, CheckedInstruction, SpokenTurn, JudgedShare)
    for name in part.model_fields
)
