"""What bad records and outputs get: an error that names place and mend, or no value and a reason; never a traceback."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rosetta_tui.cli import main

LANGUAGES = ("--source-language", "en", "--target-language", "en", "--id", "made")
ASKED = {"source": "Which items?", "reference": "SELECT name FROM item", "predicted": "SELECT 1"}
TOOLS = {"tools": [{"name": "a"}], "reference_calls": [{"a": {"x": [1]}}], "source": "Do a."}
SPOKEN = {"audio": "a.wav", "reference": "A: hello there"}
DEEP = '{"a":' * 10_000 + "1" + "}" * 10_000
LONG = "a" * 99_000


def instructed(id_: str, **asked: Any) -> dict[str, Any]:
    return {
        "source": "Write.",
        "predicted": LONG,
        "instructions": [{"id": id_, "kwargs": asked}],
    }


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("qa", {"reference": "a"}, "field 'source': It is missing"),
    ("judged", {"judge_binary": {"score": 7}}, "'judge_binary.score': The number is too large"),
    ("chat", {"source": "x"}, "field 'turns': It is missing"),
    ("text2sql", ASKED, "field 'database': It is missing"),
    ("text2sql", {**ASKED, "database": "../out.sqlite"}, "It leaves the folder of the corpus"),
    ("text2sql", {**ASKED, "database": "/out.sqlite"}, "It leaves the folder of the corpus"),
    ("text2sql", {**ASKED, "database": "link.sqlite"}, "lies outside the corpus's folder"),
    ("text2sql", {**ASKED, "database": "text.sqlite"}, "is no SQLite file"),
    ("text2sql", {**ASKED, "database": "none.sqlite"}, "is no SQLite file"),
    ("ifeval", {"source": "x"}, "field 'instructions': It is missing"),
    ("diarization", {**SPOKEN, "reference": "hello"}, "names no speaker before a colon"),
    ("translating", {"source": "x", "reference": "y"}, "'translating' is not one of 'translation'"),
]
"""Task, record, and what the command says before it does anything."""

SCORED: list[tuple[str, str, dict[str, Any], float | None, str]] = [
    ("au.cpwer", "diarization", {**SPOKEN, "predicted": "hello there"}, 2.0, "Word Error Rate"),
    ("au.bfcl_match_score", "function_call", {**TOOLS, "predicted": DEEP}, 0.0, "Call"),
    (
        "au.joint_goal_accuracy",
        "dialogue_state",
        {"source": "x", "reference_state": {"a": {"b": "c"}}, "predicted": DEEP},
        0.0,
        "Goal",
    ),
    (
        "au.text2sql_score",
        "text2sql",
        {**ASKED, "database": "cut.sqlite"},
        None,
        "without a result of the reference query",
    ),
    (
        "au.instruction_following",
        "ifeval",
        instructed("nobody:knows"),
        None,
        "without instructions that can be checked",
    ),
    (
        "au.instruction_following",
        "ifeval",
        instructed("length_constraints:number_words", num_words=10**40, relation="about"),
        None,
        "without instructions that can be checked",
    ),
    (
        "au.instruction_following",
        "ifeval",
        instructed("keywords:existence", keywords=["(a+)+$", "(a|a)*b"]),
        0.0,
        "Instruction",
    ),
]
"""Metric, task, record, the value, and what the card says beside it."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The corpus's folder, with files that are no databases of it; a data folder of its own."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    place = tmp_path / "corpus"
    place.mkdir()
    with sqlite3.connect(tmp_path / "out.sqlite") as made:
        made.execute("CREATE TABLE item (name)")
    made.close()
    (place / "link.sqlite").symlink_to(tmp_path / "out.sqlite")
    (place / "text.sqlite").write_text("no database")
    (place / "cut.sqlite").write_bytes((tmp_path / "out.sqlite").read_bytes()[:1000])
    return place


def scored(
    folder: Path, capsys: pytest.CaptureFixture[str], task: str, record: dict[str, Any], code: int
) -> str:
    """Score two entries of the same record; gives what the command says."""
    file = folder / "corpus.jsonl"
    file.write_text("\n".join(json.dumps({"id": n, **record}) for n in (1, 2)), "utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["score", str(file), *LANGUAGES, "--task", task])
    told = capsys.readouterr()
    assert (ended.value.code or 0) == code, told
    assert "Traceback" not in told.err
    return told.out + told.err


@pytest.mark.parametrize(("task", "record", "said"), REFUSED)
def test_a_bad_record_is_refused_with_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str], task: str, record: dict[str, Any], said: str
) -> None:
    told = scored(folder, capsys, task, record, 2)
    assert said in told
    if task != "translating":
        assert "entry 1" in told.lower()


@pytest.mark.parametrize(("metric", "task", "record", "value", "said"), SCORED)
def test_a_bad_output_or_check_has_a_value_or_a_reason(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    metric: str,
    task: str,
    record: dict[str, Any],
    value: float | None,
    said: str,
) -> None:
    assert said in scored(folder, capsys, task, record, 0)
    with pytest.raises(SystemExit):
        main(["runs", "export", "last", "-o", str(folder / "card.json")])
    capsys.readouterr()
    scores = json.loads((folder / "card.json").read_text("utf-8"))["scores"]
    assert scores[metric] == value
    assert (value is None) == bool(scores["reasons"].get(metric))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_no_database_and_nothing_waits_for_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(folder / "pipe.sqlite")
    assert "is no SQLite file" in scored(
        folder, capsys, "text2sql", {**ASKED, "database": "pipe.sqlite"}, 2
    )
