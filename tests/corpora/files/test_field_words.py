"""What people wrote wrongly in a file is told in the program's words, with line, field and mend."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core.core_schema import ErrorType

from corpora.files.field_words import line_of, place_of, wanted_words
from harness.core.problems import first_problem


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    number: int = 1
    share: Annotated[float, Field(ge=0, lt=1)] = 0.5
    exact: Annotated[Decimal, Field(max_digits=4)] = Decimal(1)
    word: Annotated[str, Field(min_length=1, max_length=3, pattern="[a-z]*")] = "x"
    choice: Literal["a", "b"] = "a"
    colour: Colour = Colour.RED
    yes: bool = True
    several: list[str] = []
    names: dict[str, str] = {}
    either: str | list[str] = ""
    day: date | None = None
    where: Path | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    part: list[_Part]


TEXT = "# a comment\n[[part]]\nnumber = 1\n[[part]]\nshare = 2\nnumber = 'x'\n"


def problem(**fields: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        _File.model_validate({"part": [{}, fields]})
    return first_problem(caught.value)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"number": "many"}, "A whole number is wanted, without quotation marks"),
        ({"share": "half"}, "A number is wanted, without quotation marks"),
        ({"share": 1}, "A number below 1 is wanted"),
        ({"share": -0.1}, "A number of at least 0 is wanted"),
        ({"exact": Decimal(12345)}, "At most 4 digits are wanted"),
        ({"word": ""}, "Nothing stands here"),
        ({"word": "abcd"}, "This is longer than 3 characters"),
        ({"choice": "c"}, "One of 'a' or 'b' is wanted"),
        ({"yes": "sure"}, "True or false is wanted, without quotation marks"),
        ({"several": "one"}, "A list in square brackets is wanted"),
        ({"names": []}, "A section with fields of its own is wanted"),
    ],
)
def test_wants_are_said_in_plain_words(fields: dict[str, Any], words: str) -> None:
    [name] = fields
    assert problem(**fields) == f"field 'part.1.{name}': {words}. Correct it."


def test_every_wrong_field_is_named_with_its_line_and_no_value_is_quoted() -> None:
    with pytest.raises(ValidationError) as caught:
        _File.model_validate({"part": [{}, {"share": 2, "number": "x-secret", "wrod": "y-secret"}]})
    assert first_problem(caught.value, TEXT) == (
        "line 6, field 'part.1.number': A whole number is wanted, without quotation marks. Correct it. "
        "Wrong too: line 5, field 'part.1.share', line 4, field 'part.1.wrod'."
    )


def test_what_several_types_may_stand_for_is_one_field() -> None:
    with pytest.raises(ValidationError) as caught:
        _Part.model_validate({"either": 3})
    places = {place_of(each) for each in caught.value.errors()}
    assert places == {("either",)}
    assert first_problem(caught.value).startswith("field 'either': ")


def test_no_word_of_the_library_reaches_a_person() -> None:
    """A kind without words of its own says less, and never the library's English."""
    for kind in set(get_args(ErrorType)) - {"value_error", "assertion_error"}:
        found: Any = {"type": kind, "loc": ("x",), "msg": "Input should be it", "ctx": {}}
        assert "Input" not in wanted_words(found)
        assert "{" not in wanted_words(found)


@pytest.mark.parametrize(
    ("place", "line"),
    [(("part", 0, "number"), 3), (("part", 1, "number"), 6), (("part", 1), 4), (("part", 1, "word"), 4),
     (("other",), None), ((), None)],
)  # fmt: skip
def test_the_nearest_line_is_found(place: tuple[int | str, ...], line: int | None) -> None:
    assert line_of(TEXT, place) == line
