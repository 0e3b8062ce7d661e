"""The one reader of TOML from outside: any depth, any key, one answer in words and in linear time."""

import re
import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.files import toml_text
from corpora.files.problems import CorpusError
from corpora.files.toml_text import MOST_PARTS, parse_toml
from corpora.languages.cards import read_card
from harness.core.failures import UsageError
from harness.endpoint.prices import Prices
from harness.inputs.coaching import read_coaching
from harness.settings import parse_settings
from review.office.items.training import read_training
from review.verdict.gate.policy import read_policy

ROOT = Path(__file__).parents[3]
DEEP = {
    "brackets": "a = " + "[" * 100_000,
    "tables": "a = " + "{a = " * 50_000,
    "key": ".".join(["a"] * 100_000) + " = 1",
    "header": f"[{'.'.join(['a'] * 100_000)}]",
    "quoted": " . ".join(['"a b"', "'c'"] * 50_000) + " = 1",
    "second line": "b = 1\n" + ".".join(["a"] * 100_000) + " = 1",
}
READERS: dict[str, Callable[[Path], object]] = {
    "prices": Prices,
    "settings": lambda path: parse_settings(path.read_text("utf-8"), path.name),
    "coaching": read_coaching,
    "card": read_card,
    "policy": lambda path: read_policy(path.read_bytes(), path.name),
    "training": read_training,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", DEEP)
def test_whoever_reads_it_says_that_it_is_nested_too_deeply(
    tmp_path: Path, kind: str, reader: str
) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(DEEP[kind], "utf-8")
    with pytest.raises((UsageError, CorpusError)) as caught:
        READERS[reader](path)
    said = str(caught.value)
    assert "deep.toml" in said
    assert "nested too deeply" in said or "larger than" in said
    assert len(said) < 1000


def test_a_long_key_is_named_by_its_line() -> None:
    with pytest.raises(ValueError, match=r"at line 2, column 1"):
        parse_toml(DEEP["second line"])


def test_a_text_that_is_too_long_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toml_text, "MOST_CHARACTERS", 10)
    with pytest.raises(ValueError, match="longer than 10 characters"):
        parse_toml("a = 1234567")


@pytest.mark.parametrize(("parts", "read"), [(MOST_PARTS, True), (MOST_PARTS + 1, False)])
def test_keys_up_to_the_bound_are_read(parts: int, read: bool) -> None:
    text = ".".join(["a"] * parts) + " = 1"
    if read:
        assert parse_toml(text) == tomllib.loads(text)
    else:
        with pytest.raises(ValueError, match="many parts"):
            parse_toml(text)


@given(st.text("ab.'\"= \n[]1-_", max_size=60))
def test_everything_else_is_as_the_library_reads_it(text: str) -> None:
    try:
        expected = tomllib.loads(text)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            parse_toml(text)
    else:
        assert parse_toml(text) == expected


def test_numbers_may_be_kept_as_they_are_written() -> None:
    assert parse_toml("a = 0.70", parse_float=Decimal) == {"a": Decimal("0.70")}


def test_no_other_file_of_the_program_reads_toml_from_outside() -> None:
    """What ships inside the wheel may be read by the library itself, and by the second verifier."""
    shipped = {
        "corpora/files/toml_text.py",
        "harness/endpoint/endpoints.py",
        "review/office/making/texts.py",
        "review/verdict/stand_alone/rosetta_verify.py",
        "scoring/grammar/inflection.py",
        "scoring/core/specification.py",
    }
    found = {
        path.relative_to(ROOT).as_posix()
        for package in ("corpora", "scoring", "harness", "review", "rosetta_tui", "rosetta")
        for path in (ROOT / package).rglob("*.py")
        if re.search(r"tomllib", path.read_text("utf-8"))
    }
    assert found - shipped == set()
