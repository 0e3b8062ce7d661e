"""Words for what pydantic finds wrong in a file that a user wrote."""

from __future__ import annotations

from pydantic import ValidationError

_NUMBERS = {
    "int_parsing": "A whole number is wanted",
    "int_from_float": "A whole number is wanted",
    "float_parsing": "A number is wanted",
}
"""pydantic's name of a problem → plainer words than its own."""


def first_problem(error: ValidationError) -> str:
    """Say which field is wrong and how; never quotes the value, which may be anything."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or "the whole"
    more = error.error_count() - 1
    rest = f" ({more} more like it.)" if more else ""
    if first["type"] == "extra_forbidden":
        return f"field {field!r} is not known here. Remove it, or correct its name.{rest}"
    said = _NUMBERS.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    return f"field {field!r}: {said}. Correct it.{rest}"
