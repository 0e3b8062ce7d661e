"""A data folder with the commands about submissions, a corpus of secret entries, and a vault of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from corpora.files.problems import CorpusError
from corpora.samples import DEMO_CORPUS, sample_path
from harness.core.failures import HarnessError
from harness.release.ledger import own_ledger
from harness.submission.desk import SubmissionEvent, SubmissionStore
from rosetta_tui.commands import rosetta

SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"
CANARY = "kanariobirdo"


class Desk:
    """A data folder, and the commands that work on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"

    def __call__(self, line: str, *more: str, code: int = 0) -> str:
        result = CliRunner().invoke(rosetta, [*line.split(), *more], input="y\n")
        failed = isinstance(result.exception, HarnessError | CorpusError | click.ClickException)
        if result.exception is not None and not failed and not isinstance(result.exception, SystemExit):
            raise result.exception
        said = f"{result.output}{result.exception if failed else ''}"
        assert (2 if failed else result.exit_code) == code, said
        return said

    def json(self, line: str, form: str, code: int = 0) -> Any:
        result = CliRunner().invoke(rosetta, [*line.split(), "--json"])
        assert result.exit_code == code, result.output
        told = json.loads(result.stdout)
        schema = json.loads((SCHEMAS / f"{form}.schema.json").read_text("utf-8"))
        Draft202012Validator(schema).validate(told)
        return told

    def notes(self) -> list[SubmissionEvent]:
        [kept] = SubmissionStore(self.home).all()
        return [each.what for each in kept.notes]

    def answers(self) -> int:
        return len(own_ledger(self.home).read().answers)

    def stands(self) -> tuple[str, int, int]:
        """Where the one submission stands, its runs, and its answers."""
        [row] = self.json("submission show", "submission-list")["submissions"]
        return row["state"], row["runs"], row["answers"]

    def steps(self) -> dict[str, bool]:
        [kept] = SubmissionStore(self.home).all()
        told = self.json(f"submission show {kept.number}", "submission-show")
        return {each["name"]: each["done"] for each in told["steps"]}


def packed(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Write and pack the demo, and seal secret entries into a vault."""
    patch.setenv("ROSETTA_HOME", str(folder / "home"))
    patch.chdir(folder)
    desk = Desk(folder)
    desk("submission demo tiny --lane data")
    vault(desk)


def gold(folder: Path, entries: int = 6) -> Path:
    """Write a corpus of secret entries, each with the canary in it; so few are enough for a released card."""
    read = json.loads(sample_path(DEMO_CORPUS).read_text("utf-8"))
    read["dataset"]["id"] = "eo-gold"
    read["entries"] = read["entries"][:entries]
    for each in read["entries"]:
        each |= {"segment": "gold_standard", "source": f"{CANARY} {each['source']}", "reference": f"{CANARY} {each['reference']}"}  # fmt: skip
        each.pop("variants", None)
    path = folder / "gold.json"
    path.write_text(json.dumps(read), "utf-8")
    return path


def vault(desk: Desk, entries: int = 50) -> None:
    desk("vault init elders --name Elders --as Office --recovery rec.txt")
    desk(f"vault add elders {gold(desk.folder, entries)}")
    (desk.folder / "gold.json").unlink()


def rehearsed(desk: Desk, name: str = "tiny.rosetta-submission", with_: str = "") -> None:
    """Have the desk know a submission as one that was rehearsed, with a model where one is named."""
    kept = SubmissionStore(desk.home).receive(desk.folder / name)
    SubmissionStore(desk.home).note(kept.submission, SubmissionEvent.REHEARSED, words=with_)


IN_VAULT = ("eo-gold", "--terms", "tiny-terms.txt", "--vault", "elders", "--purpose", "spring", "--despite-network", "a test", "--plain")  # fmt: skip


def readable(folder: Path) -> list[str]:
    """The files below a folder in which the canary can be read."""
    return [p.name for p in folder.rglob("*") if p.is_file() and CANARY.encode() in p.read_bytes()]
