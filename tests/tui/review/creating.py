"""Reviews that are created by commands."""

from __future__ import annotations

import json
import shutil
import unicodedata
from functools import lru_cache
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.setup.word_analyser import word_analyser
from review.files.batch import Batch, open_batch
from rosetta_tui.commands.review import review
from tests.review.office import made

CREATE = ("create", "last", "--organisation", "The council")


@lru_cache(maxsize=4)
def _analyser(language: str, sentences: tuple[str, ...]) -> object:
    return word_analyser(language, sentences)


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Seal a run in the store; codes cost little, and words of one corpus are looked up once."""
    monkeypatch.setattr("review.files.reviewer_codes._WORK", 4)  # its cost is meant for thieves
    monkeypatch.setattr(
        "review.office.making.creating.word_analyser",
        lambda language, sentences: _analyser(language, tuple(sentences)),
    )
    made.store_runs(home)
    return home


def rosetta(*arguments: object, text: str | None = None, code: int = 0) -> Result:
    result = CliRunner().invoke(review, [*map(str, arguments)], input=text)
    if code == 0 and result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    assert harmless(result.output)
    return result


def refused(*arguments: object) -> str:
    """Run a command that fails in words, which the front door prints; gives them."""
    result = CliRunner().invoke(review, [*map(str, arguments)])
    assert result.exception is not None
    return str(result.exception)


def harmless(text: str) -> bool:
    return all(c == "\n" or unicodedata.category(c) not in {"Cc", "Cf"} for c in text)


def batch_at(path: Path) -> Batch:
    """Return the one batch in a folder, or that of a file."""
    [file] = path.glob("*.rosetta-batch") if path.is_dir() else [path]
    return open_batch(file.read_bytes())


def create(folder: Path, *more: object) -> Batch:
    """Make a review whose batch is written into a folder of its own."""
    rosetta(*CREATE, "-o", folder, "--seed", "3", "--json", *more)
    return batch_at(folder)


def sent(home: Path, folder: Path, *more: str) -> list[made.Person]:
    """Copy a review that was made once, and give its people."""

    def fill(to: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ROSETTA_HOME", str(to / "home"))
            made.store_runs(to / "home")
            create(to / "out", "--name", "spring", *more)

    kept = made.kept(f"sent {more}", fill)
    made.copied(kept / "home", home)
    batch = batch_at(Path(shutil.copytree(kept / "out", folder)))
    people = made.codes_of(home).items()
    return [made.Person(folder / code, batch, who, code) for who, code in people]


def status() -> dict[str, object]:
    told: dict[str, object] = json.loads(rosetta("status", "--json").output)
    return told
