"""Files of corpora: what people wrote wrongly, TOML from outside, and what became of the original."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core.core_schema import ErrorType

from corpora.files import toml_text
from corpora.files.decode import Original, original
from corpora.files.problems import CorpusError
from corpora.files.toml_text import MOST_PARTS, first_problem, line_of, parse_toml, place_of, wanted_words
from corpora.formats.load import load
from corpora.languages.cards import read_card
from harness.core.failures import UsageError
from harness.endpoint.budget import Prices
from harness.inputs.dictionary import read_coaching
from harness.settings import parse_settings
from review.office.making.controls import read_training
from review.verdict.gate.policy import read_policy
from tests.corpora.making import entry, json_file
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import examples


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
    caught = refuses(ValidationError, "", _File.model_validate, {"part": [{}, fields]})
    return first_problem(caught)


def test_wrong_field_is_named_in_plain_words() -> None:
    fields: Any
    for fields, words in [
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
        ({"names": []}, "A section with its own fields is wanted"),
    ]:
        [name] = fields
        assert problem(**fields) == f"field 'part.1.{name}': {words}. Correct it."
    caught = refuses(ValidationError, "", _Part.model_validate, {"either": 3})
    places = {place_of(each) for each in caught.errors()}
    assert places == {("either",)}
    assert first_problem(caught).startswith("field 'either': ")


def test_every_wrong_field_is_named_and_no_value_quoted() -> None:
    with pytest.raises(ValidationError) as caught:
        _File.model_validate({"part": [{}, {"share": 2, "number": "x-secret", "wrod": "y-secret"}]})
    assert first_problem(caught.value, TEXT) == (
        "line 6, field 'part.1.number': A whole number is wanted, without quotation marks. Correct it. "
        "Wrong too: line 5, field 'part.1.share', line 4, field 'part.1.wrod'."
    )


def test_no_word_of_the_library_reaches_a_person() -> None:
    """A kind without words of its own says less, and never the library's English."""
    for kind in set(get_args(ErrorType)) - {"value_error", "assertion_error"}:
        found: Any = {"type": kind, "loc": ("x",), "msg": "Input should be it", "ctx": {}}
        assert "Input" not in wanted_words(found)
        assert "{" not in wanted_words(found)


def test_the_nearest_line_is_found() -> None:
    for place, line in [
        (("part", 0, "number"), 3), (("part", 1, "number"), 6), (("part", 1), 4),
        (("part", 1, "word"), 4), (("other",), None), ((), None),
    ]:  # fmt: skip
        assert line_of(TEXT, place) == line


def test_files_are_known_changed_or_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = json_file(tmp_path, [entry(1)])
    monkeypatch.chdir(tmp_path)
    corpus = load(path.name)
    assert corpus.files == (path,)
    assert original(corpus.files, corpus.sha256) is Original.UNCHANGED
    path.write_bytes(path.read_bytes() + b" ")
    assert original(corpus.files, corpus.sha256) is Original.CHANGED
    path.unlink()
    assert original(corpus.files, corpus.sha256) is Original.GONE
    assert original([tmp_path], corpus.sha256) is Original.GONE
    assert original([], corpus.sha256) is Original.UNKNOWN
    first, second = tmp_path / "a.en", tmp_path / "a.eo"
    first.write_text("a\nb\n", "utf-8")
    second.write_text("c\nd\n", "utf-8")
    joined = hashlib.sha256(first.read_bytes() + second.read_bytes()).hexdigest()
    corpus = load(first, second)
    assert (corpus.files, corpus.lines) == ((first, second), (1, 2))
    assert original([first, second], joined) is Original.UNCHANGED
    assert original([second, first], joined) is Original.CHANGED


def test_every_warning_names_all_entries_it_is_about(tmp_path: Path) -> None:
    same = {"source": "a", "reference": "b"}
    many = [entry(number, **same) for number in range(1, 21)]
    (repeated,) = load(json_file(tmp_path, many)).warnings
    assert repeated.places == tuple(range(1, 20))
    forms = [entry(1, reference="â"), entry(2), entry(3, reference="a\u0302")]
    (mixed,) = load(json_file(tmp_path, forms)).warnings
    assert mixed.places == (2,)


ROOT = Path(__file__).parents[3]


READERS: tuple[Callable[[Path], object], ...] = (
    Prices, read_coaching, read_card, read_training,
    lambda path: parse_settings(path.read_text("utf-8"), path.name),
    lambda path: read_policy(path.read_bytes(), path.name),
)  # fmt: skip


def test_every_reader_says_that_a_file_is_nested_too_deeply(tmp_path: Path) -> None:
    path, many = tmp_path / "deep.toml", ".".join(["a"] * 20_000)
    quoted = " . ".join(['"a b"', "'c'"] * 10_000)
    for text in (
        "a = " + "[" * 20_000, "a = " + "{a = " * 10_000, f"{many} = 1", f"[{many}]",
        f"{quoted} = 1", f"b = 1\n{many} = 1",
    ):  # fmt: skip
        path.write_text(text, "utf-8")
        for reader in READERS:
            caught = refuses((UsageError, CorpusError), "", reader, path)
            said = str(caught)
            assert "deep.toml" in said
            assert "nested too deeply" in said or "larger than" in said
            assert len(said) < 1000


def test_long_keys_and_texts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    refuses(ValueError, r"at line 2, column 1", parse_toml, "b = 1\n" + ".".join(["a"] * 20_000) + " = 1")
    most = ".".join(["a"] * MOST_PARTS)
    assert parse_toml(f"{most} = 1") == tomllib.loads(f"{most} = 1")
    refuses(ValueError, "many parts", parse_toml, f"{most}.a = 1")
    assert parse_toml("a = 0.70", parse_float=Decimal) == {"a": Decimal("0.70")}
    monkeypatch.setattr(toml_text, "MOST_CHARACTERS", 10)
    refuses(ValueError, "longer than 10 characters", parse_toml, "a = 1234567")


@examples(15, 100)
@given(st.text("ab.'\"= \n[]1-_", max_size=60))
def test_everything_else_is_as_the_library_reads_it(text: str) -> None:
    try:
        expected = tomllib.loads(text)
    except ValueError as error:
        refuses(ValueError, re.escape(str(error)), parse_toml, text)
    else:
        assert parse_toml(text) == expected


def test_no_other_file_of_the_program_reads_toml_from_outside() -> None:
    """What ships inside the wheel may be read by the library itself, and by the second verifier."""
    shipped = {
        "corpora/files/toml_text.py", "corpora/model/vocabularies.py", "harness/endpoint/endpoints.py", "review/office/making/texts.py", "rosetta_tui/html/stick_pages.py",
        "review/verdict/stand_alone/rosetta_verify.py", "scoring/grammar/gold_analysis.py",
        "scoring/core/specification.py", "review/community/export.py", "harness/vault/shares.py",
    }  # fmt: skip
    found = {
        path.relative_to(ROOT).as_posix()
        for package in ("corpora", "scoring", "harness", "review", "rosetta_tui", "rosetta")
        for path in (ROOT / package).rglob("*.py")
        if re.search(r"tomllib", path.read_text("utf-8"))
    }
    assert found - shipped == set()
