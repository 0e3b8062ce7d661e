"""Reading TOML that a person wrote or sent: settings, cards, price tables, policies, lists.

The library follows any depth, by recursion and at a cost that grows with the square of a key's parts. So
every file from outside is read here, and each error says the same.

What a model refuses in such a file is said with the line in which it stands and with what is wanted there;
the words never quote the value, which may be anything.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

Place = tuple[int | str, ...]
"""Names of sections and fields, and numbers of list items from 0, from the outside in."""
_HEADER = re.compile(r"\s*(\[\[?)([\w.-]+)\]")
_KEY = re.compile(r"\s*([\w-]+)\s*=")
_TYPE = re.compile(r"str|int|float|bool|\[key\]|.*\[.*\]|function-.*")
"""What pydantic puts into a place for one of several types that a field may have."""

_WANTED = {
    name: words
    for words, names in {
        "true or false is wanted, without quotation marks": "bool_type bool_parsing",
        "text in quotation marks is wanted": "string_type",
        "a whole number is wanted, without quotation marks": "int_type",
        "a whole number is wanted": "int_parsing int_from_float",
        "a number is wanted, without quotation marks": "float_type decimal_type",
        "a number is wanted": "float_parsing decimal_parsing",
        "at most {decimal_places} decimal places are wanted": "decimal_max_places",
        "at most {max_digits} digits are wanted": "decimal_max_digits",
        "at most {whole_digits} digits before the point are wanted": "decimal_whole_digits",
        "a finite number is wanted": "finite_number",
        "a number above {gt} is wanted": "greater_than",
        "a number of at least {ge} is wanted": "greater_than_equal",
        "a number below {lt} is wanted": "less_than",
        "a number of at most {le} is wanted": "less_than_equal",
        "a list in square brackets is wanted": "tuple_type list_type set_type frozen_set_type",
        "a section with its own fields is wanted": "dict_type mapping_type model_type model_attributes_type",
        "this is too short: at least {min_length} is wanted": "too_short",
        "this list is too long: {max_length} are wanted": "too_long",
        "nothing stands here": "string_too_short",
        "this is longer than {max_length} characters": "string_too_long",
        "this is not written in the form that is wanted here": "string_pattern_mismatch",
        "one of {expected} is wanted": "literal_error enum",
        "a date is wanted, such as 2026-03-01": "date_type date_parsing date_from_datetime_parsing",
        "a date with a time is wanted, such as 2026-03-01T12:00:00Z": "datetime_type datetime_parsing datetime_from_date_parsing",
        "the name of a file is wanted": "path_type",
    }.items()
    for name in names.split()
}
"""pydantic's name of a fault → what was expected, in words."""


def place_of(found: ErrorDetails) -> Place:
    """Return where a fault is, without what pydantic adds for keys and for fields of several types."""
    parts = found["loc"]
    return tuple(part for part in parts if isinstance(part, int) or not _TYPE.fullmatch(part))


def wanted_words(found: ErrorDetails) -> str:
    """Return what is wrong, without its full stop; a rule of ours says it itself."""
    kind = found["type"]
    if kind in {"value_error", "assertion_error"}:
        return found["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    if kind == "extra_forbidden":
        return "this field is not known here"
    if kind == "missing":
        last = found["loc"][-1] if found["loc"] else ""
        whole = isinstance(last, str)
        return "this field is missing" if whole else "this list is too short: a pair is wanted"
    wanted = _WANTED.get(kind, "another value is wanted here")
    ctx = found.get("ctx", {}).items()
    bounds = {name: f"{one:g}" if isinstance(one, float) else one for name, one in ctx}
    return wanted.format_map(defaultdict(str, bounds))


def line_of(text: str, place: Place) -> int | None:
    """Return the 1-based line of a TOML text that says a field, or the nearest thing around it; None without one."""
    best: tuple[int, int] | None = None
    section: Place = ()
    counted: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            section = tuple(header[2].split("."))
            if header[1] == "[[":
                section = (*section, counted.setdefault(header[2], 0))
                counted[header[2]] += 1
            here = section
        elif key := _KEY.match(line):
            here = (*section, key[1])
        else:
            continue
        if here == place[: len(here)] and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return best[1] if best else None


MOST_CHARACTERS = 8 * 2**20
"""Longest text; a table that people wrote has some hundred thousand."""
MOST_PARTS = 32
"""Parts that a dotted key may have."""
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_.-])(?:{_PART}){{{MOST_PARTS},}}")


def parse_toml(text: str, *, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Return the table that a TOML text holds; ValueError says what is wrong with it, and where."""
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"it is longer than {MOST_CHARACTERS:,} characters")
    if (key := _LONG_KEY.search(text)) is not None:
        line = text.count("\n", 0, key.start()) + 1
        raise ValueError(f"nested too deeply, in a key of many parts (at line {line}, column 1)")
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise ValueError("nested too deeply") from None


# ---- Words for what a model finds wrong in a file that a user wrote, or in options.

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
