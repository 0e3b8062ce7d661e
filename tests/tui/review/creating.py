"""Reviews that are created by commands."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from review.files.batch import open_batch
from rosetta_tui.commands.review import review
from tests.review.office import made

CREATE = ("create", "last", "--organisation", "The council")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("ROSETTA_HOME", str(folder))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    made.store_runs(folder)
    return folder


def rosetta(*arguments: str, text: str | None = None, code: int = 0) -> Result:
    result = CliRunner().invoke(review, arguments, input=text)
    if code == 0 and result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    assert harmless(result.output)
    return result


def refused(*arguments: str) -> str:
    """Run a command that fails in words, which the front door prints; gives them."""
    result = CliRunner().invoke(review, arguments)
    assert result.exception is not None
    return str(result.exception)


def harmless(text: str) -> bool:
    return all(c == "\n" or unicodedata.category(c) not in {"Cc", "Cf"} for c in text)


def create(folder: Path, *more: str) -> dict[str, object]:
    arguments = (*CREATE, "-o", str(folder), "--seed", "3", "--json", *more)
    result = CliRunner().invoke(review, arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    told: dict[str, object] = json.loads(result.stdout)
    return told


def sent(home: Path, folder: Path, *more: str) -> list[made.Person]:
    """Make a review, and give its people."""
    told = create(folder, "--name", "spring", *more)
    [file] = list(told["files"])  # type: ignore[call-overload]
    batch = open_batch(Path(file).read_bytes())
    people = made.codes_of(home).items()
    return [made.Person(folder / code, batch, who, code) for who, code in people]
