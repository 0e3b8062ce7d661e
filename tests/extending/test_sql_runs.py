"""Runs whose answers are SQL: begun from a corpus beside its database, scored again, refused."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from rosetta_tui.cli import main

METRIC = "au.text2sql_score"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus with a database beside it, one right and one wrong answer, and a store of its own."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir(mode=0o700)
    found = tmp_path / "corpus"
    found.mkdir()
    connection = sqlite3.connect(found / "shop.sqlite")
    connection.executescript("CREATE TABLE item (name); INSERT INTO item VALUES ('a'), ('b');")
    connection.close()
    _corpus(found, "shop.sqlite")
    outputs = [{"id": 1, "output": "SELECT name FROM item"}, {"id": 2, "output": "DROP TABLE item"}]
    (found / "outputs.jsonl").write_text("\n".join(map(json.dumps, outputs)), "utf-8")
    return found


def _corpus(folder: Path, database: str) -> None:
    record = {"source": "Which items?", "reference": "SELECT name FROM item", "database": database}
    rows = [json.dumps({"id": number, **record}) for number in (1, 2)]
    (folder / "shop.jsonl").write_text("\n".join(rows), "utf-8")


def _said(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    told = capsys.readouterr()
    assert ended.value.code == code, told
    return told.out + told.err


def _score(folder: Path) -> list[str]:
    files = [str(folder / "shop.jsonl"), str(folder / "outputs.jsonl")]
    languages = ["--source-language", "en", "--target-language", "sql", "--id", "shop"]
    return ["score", *files, *languages, "--metrics", METRIC]


def test_queries_run_beside_their_corpus_now_and_when_they_are_scored_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _said(capsys, 0, *_score(folder))
    (run,) = json.loads(_said(capsys, 0, "runs", "list", "--json"))
    file = folder / "card.json"
    _said(capsys, 0, "runs", "export", run["run_id"], "-o", str(file))
    card = json.loads(file.read_text("utf-8"))
    assert card["scores"][METRIC] == 0.5
    assert card["scoring"]["annotators"]["sql"]["databases"] == 1
    assert str(folder) not in file.read_text("utf-8")
    again = ("score", "--rescore", run["run_id"], "--metrics", METRIC)
    assert "with the same values" in _said(capsys, 1, *again)
    (folder / "shop.sqlite").write_text("gone")
    assert "Entry 1: `database` is no SQLite file" in _said(capsys, 2, *again)


def test_a_database_outside_the_corpus_is_refused_before_anything_runs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _corpus(folder, "../elsewhere.sqlite")
    told = _said(capsys, 2, *_score(folder))
    assert "Entry 1: `database` lies outside the corpus's folder" in told
    assert json.loads(_said(capsys, 0, "runs", "list", "--json")) == []
