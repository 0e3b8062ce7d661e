"""A fault of the program is told without a word of what it was working on."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any, Never

import pytest

from corpora.model.entry import Segment
from rosetta_tui import cli
from rosetta_tui.commands import rosetta
from rosetta_tui.entry import screen as entry_screen
from rosetta_tui.show.crash import crash_text
from tests.tui.hostile import acting
from tests.tui.scenes import HOSTILE, PAIRS, entries_of, scene
from tests.tui.screens import App, at_rest, press

SECRET = PAIRS[0][0]


def fail_on_an_entry(facts: Any) -> Never:  # type: ignore[misc]
    source = facts.entry.source
    try:
        int(source)  # its message quotes the text
    except ValueError as error:
        raise KeyError(source + HOSTILE[3]) from error


async def test_a_crash_on_a_secret_entry_prints_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = {"segment": Segment.GOLD_STANDARD}
    secret = [entry.model_copy(update=gold) for entry in entries_of(PAIRS, 8)]
    made = scene(tmp_path / "s.sqlite", total=8, stored=8, entries=secret)
    monkeypatch.setattr(entry_screen, "texts", fail_on_an_entry)
    made.play([made.started(), *made.scored(8), made.progress(8)])
    app = App(made, watch=True)
    with pytest.raises(KeyError):
        async with at_rest(app, (120, 40)) as (_, pilot):
            await press(pilot, "enter")
    words = capsys.readouterr().err
    assert "fail_on_an_entry" in words
    assert "KeyError (its message is left out" in words
    assert "ValueError" in words
    assert not any(part in words for texts in PAIRS for part in texts)
    assert app.return_code == 1


def test_a_failing_command_says_where_and_quotes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: Any) -> Never:
        raise ValueError(SECRET + HOSTILE[4])

    monkeypatch.setattr(rosetta, "main", fail)
    with pytest.raises(SystemExit) as left:
        cli.main(["runs", "list"])
    assert left.value.code == 1
    words = capsys.readouterr().err
    assert "in fail" in words
    assert SECRET not in words
    assert acting(words.replace("\n", "")) == []


def test_the_message_of_a_database_is_kept() -> None:
    store = sqlite3.connect(":memory:")
    with pytest.raises(sqlite3.Error) as caught:
        store.execute("SELECT * FROM absent")
    store.close()
    assert "OperationalError: no such table: absent" in crash_text(caught.value)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_is_said_in_one_line() -> None:
    program = "from rosetta_tui.cli import main; main(['corpus', '--help'])"
    with Path("/dev/full").open("w") as full:
        shown = subprocess.run(
            [sys.executable, "-P", "-c", program], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )  # fmt: skip
    assert shown.returncode == 1
    assert shown.stderr == "error: No space left on device. Make room there, and do it again.\n"
