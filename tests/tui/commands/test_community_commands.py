"""``rosetta community`` on a store in a home of the test's own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rosetta_tui.commands.community import community
from tests.harness.card import factory
from tests.keyring_in_memory import memory_keyring
from tests.tui.commands.runs_group import connection, harmless, number, rosetta_runs

__all__ = ["connection", "number"]


@pytest.fixture(autouse=True)
def ring() -> Iterator[None]:
    with memory_keyring():
        yield


def rosetta_community(*arguments: str) -> Result:
    return CliRunner().invoke(community, arguments)


def test_out_checked_and_up_to_date(
    connection: sqlite3.Connection, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    done = rosetta_community("export", str(target), "--corpus", factory.DATASET.id)
    assert done.exit_code == 0, done.output
    assert "begin with README.txt" in done.stderr
    card = target / "runs" / factory.RUN_ID / "card.json"
    assert json.loads(card.read_bytes())["run_id"] == factory.RUN_ID
    assert rosetta_runs("verify", str(card)).stdout.endswith("Everything holds.\n")
    again = rosetta_community("export", str(target), "--corpus", factory.DATASET.id)
    assert "had all of this already" in again.stderr
    assert "✓ signed with this computer's key" in rosetta_community("verify", str(target)).stdout
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
    abroad = rosetta_community("verify", str(target)).stdout
    assert "– signed with a key that nobody here knows" in abroad
    words = abroad.partition("six words are: ")[2].partition(".")[0]
    assert (
        "✓ signed with the key whose"
        in rosetta_community("verify", str(target), "--words", words).stdout
    )
    card.write_bytes(card.read_bytes() + b" ")
    broken = rosetta_community("verify", str(target))
    assert (broken.exit_code, "card.json: its bytes are not those" in broken.stdout) == (1, True)


def test_hostile_names_stay_in_the_folder_and_harmless(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    file = tmp_path / "corpus.json"
    name = "../../<script>\x1b[2J"
    entries = [{"id": 1, "source": "<b>a</b>", "reference": "b", "segment": "development"}]
    dataset = {
        "id": name,
        "version": "1",
        "language_pair": "EN→EO",
        "source_language": "en",
        "target_language": "eo",
    }
    file.write_text(json.dumps({"dataset": dataset, "entries": entries}), encoding="utf-8")
    target = tmp_path / "out"
    done = rosetta_community("export", str(target), "--corpus", str(file))
    assert done.exit_code == 0, done.output
    assert harmless(done.output)
    assert {each.name for each in tmp_path.iterdir()} <= {"out", "home", "corpus.json"}
    page = (target / "index.html").read_text("utf-8")
    assert "<script>" not in page
    assert harmless((target / "README.txt").read_text("utf-8"))
    assert len(list((target / "corpora").rglob("corpus.json"))) == 1
