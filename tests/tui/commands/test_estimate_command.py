"""``rosetta estimate``: the same as the form says, as text and as JSON, and refusals in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui.new_run.form import CORPUS, path

__all__ = ["path"]


def ask(home: Path, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from rosetta_tui.cli import main; main()", "estimate", *words],
        env={n: v for n, v in os.environ.items() if not n.endswith("_API_KEY")}
        | {"ROSETTA_HOME": str(home), "PYTHONWARNINGS": "error", "PYTHONPATH": str(Path.cwd())},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.thorough
def test_the_command_says_the_same_as_text_and_as_json(path: Path) -> None:
    words = [
        CORPUS, "--method", "chat", "--endpoint", "openai", "--model", "gpt-4o", "--limit", "7",
    ]  # fmt: skip
    code, said, problems = ask(path.parent, *words)
    assert (code, problems) == (0, "")
    assert said.startswith("Entries  7\nCost     about $0.00")
    assert "time is a guess" in said
    code, said, problems = ask(path.parent, *words, "--json")
    assert (code, problems) == (0, "")
    found = json.loads(said)
    assert found["entries"] == 7
    assert 0 < found["cost_usd"]["low"] < found["cost_usd"]["expected"] < found["cost_usd"]["high"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((CORPUS,), "Missing option '--method'"),
        ((CORPUS, "--method", "chat"), "needs --endpoint"),
        (("store:0000000", "--method", "copy-source"), "no such corpus"),
    ],
    ids=["method", "endpoint", "store"],
)
def test_the_command_refuses_in_words(path: Path, words: tuple[str, ...], said: str) -> None:
    code, out, problems = ask(path.parent, *words)
    assert (code, out) == (2, "")
    assert said in problems
