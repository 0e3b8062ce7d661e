"""Words for what a model finds wrong in a file that a user wrote, or in options."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from corpora.files.toml_text import line_of, place_of, wanted_words

_MOST_NAMED = 3  # Further wrong fields that are named; the rest is counted


def first_problem(error: ValidationError, text: str = "") -> str:
    """Return which field is wrong, how, and the fix, and which others are wrong too; no value is quoted.

    ``text``: the TOML that was read; with it, lines are named.
    """
    first, *others = error.errors(include_url=False, include_input=False)
    if first["type"] == "json_invalid":
        return "it is cut short, or something was written into it: it is no JSON up to its end."
    mend = "Add it." if first["type"] == "missing" else "Correct it."
    words = wanted_words(first).removesuffix(".")
    words = words if first["type"] == "value_error" else words[:1].upper() + words[1:]
    description = f"{_where(first, text)}: {words}. {mend}"
    if first["type"] == "extra_forbidden":
        description = f"{_where(first, text)} is not known here. Remove it, or correct its name."
    if not others:
        return description
    named = ", ".join(_where(error_details, text) for error_details in others[:_MOST_NAMED])
    rest = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    return f"{description} Wrong too: {named}{rest}."


def _where(found: ErrorDetails, text: str) -> str:
    place = place_of(found)
    line = line_of(text, place) if text else None
    field = ".".join(str(part) for part in place) or "the whole"
    return f"field {field!r}" if line is None else f"line {line}, field {field!r}"
