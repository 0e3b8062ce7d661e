"""Words for what pydantic finds wrong in a file that a user wrote."""

from __future__ import annotations

from pydantic import ValidationError


def first_problem(error: ValidationError) -> str:
    """Say which field is wrong and how; never quotes the value, which may be anything."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"]) or "the whole"
    more = error.error_count() - 1
    rest = f" ({more} more like it.)" if more else ""
    if first["type"] == "extra_forbidden":
        return f"field {field!r} is not known here. Remove it, or correct its name.{rest}"
    return f"field {field!r}: {first['msg'].removeprefix('Value error, ')}. Correct it.{rest}"
