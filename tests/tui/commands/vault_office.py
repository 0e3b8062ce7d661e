"""Computers of keepers who share a folder, for tests that type commands about a vault."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from harness.core.failures import HarnessError
from rosetta_tui.commands import rosetta

CANARY = "kanariobirdo"
SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"
SEGMENTS = ("gold_standard", "gold_standard", "held_out")


class Office:
    """Computers that share a folder, each with a data folder of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        rows = [f"{n}\t{CANARY} {n}\t{CANARY} r{n}\t{s}" for n, s in enumerate(SEGMENTS)]
        (folder / "words.tsv").write_text(
            "\n".join(["id\tsource\treference\tsegment", *rows]) + "\n"
        )
        monkeypatch.chdir(folder)

    def __call__(self, line: str, *more: str, at: str = "office") -> str:
        """Run a command; gives what it printed, or the words of its failure."""
        self.monkeypatch.setenv("ROSETTA_HOME", str(self.folder / at))
        result = CliRunner().invoke(rosetta, ["vault", *line.split(), *more])
        if isinstance(result.exception, HarnessError | click.ClickException):
            return f"error: {result.exception}"
        assert CANARY not in result.output
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.output


def faults(name: str, shown: object) -> list[str]:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    return [each.message for each in Draft202012Validator(schema).iter_errors(shown)]
