"""Notes, tags, deletion with undo, and retry at the command line, on real stores."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.card.build import seal
from harness.core.failures import UsageError
from harness.store.run_list import list_runs
from rosetta_tui.commands.retry import retry
from tests.harness.card import factory
from tests.harness.evaluation import chat_plan, corpus, run_corpus
from tests.harness.scripted import Asked, Scripted, completion, error, json_answer, serving
from tests.tui.commands.runs_group import connection, harmless, number, rosetta_runs
from tests.tui.scenes import HOSTILE

__all__ = ["connection", "number"]


def test_a_note_is_written_shown_and_taken_away(
    connection: sqlite3.Connection, number: int
) -> None:
    assert rosetta_runs("note", "last", "two prompts\nsecond line").exit_code == 0
    assert rosetta_runs("note", "last").stdout == "two prompts\nsecond line\n"
    assert "two prompts" in rosetta_runs("list").stdout
    shown = rosetta_runs("show", "last").stdout
    assert "note" in shown
    assert "second line" in shown
    beside = json.loads(rosetta_runs("show", "last", "--json").stdout)["beside"]
    assert beside["note"] == "two prompts\nsecond line"
    assert rosetta_runs("note", "last", "-", text="from a pipe\n").exit_code == 0
    assert json.loads(rosetta_runs("list", "--json").stdout)[0]["note"] == "from a pipe"
    rosetta_runs("note", "last", "--remove")
    assert rosetta_runs("note", "last").stdout == ""
    assert "note" not in json.loads(rosetta_runs("show", "last", "--json").stdout)["beside"]


def test_tags_find_runs_again(connection: sqlite3.Connection, number: int) -> None:
    seal(connection, factory.add_run(connection, run_id="0" * 8 + factory.RUN_ID[8:]))
    rosetta_runs("tag", "6f1c", "baseline", "#2026-11")
    rosetta_runs("tag", "0000", "baseline")
    assert len(rosetta_runs("list", "--tag", "baseline").stdout.splitlines()) == 3
    narrowed = rosetta_runs("list", "--tag", "baseline", "--tag", "2026-11").stdout
    assert "6f1c3a52" in narrowed
    assert "00000000" not in narrowed
    assert "#2026-11 #baseline" in narrowed
    assert "No run has this tag" in rosetta_runs("list", "--tag", "none").stdout
    rosetta_runs("tag", "6f1c", "baseline", "--remove")
    listed = {
        run["run_id"][:8]: run["tags"] for run in json.loads(rosetta_runs("list", "--json").stdout)
    }
    assert listed == {"6f1c3a52": ["2026-11"], "00000000": ["baseline"]}
    assert isinstance(rosetta_runs("tag", "6f1c", "two words").exception, UsageError)


def test_nothing_of_a_person_s_words_is_exported(
    connection: sqlite3.Connection, number: int
) -> None:
    before = rosetta_runs("export", "last", "-o", "-").stdout_bytes
    rosetta_runs("note", "last", "my own words")
    rosetta_runs("tag", "last", "mine")
    assert rosetta_runs("export", "last", "-o", "-").stdout_bytes == before
    assert "Everything holds" in rosetta_runs("verify", "last").stdout


@pytest.mark.parametrize("words", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_words_are_harmless(
    connection: sqlite3.Connection, number: int, words: str
) -> None:
    rosetta_runs("note", "last", f"x{words}")
    for arguments in (["list"], ["show", "last"], ["note", "last"], ["show", "last", "--json"]):
        result = rosetta_runs(*arguments)
        assert result.exit_code == 0
        assert harmless(result.stdout)


def test_what_was_deleted_comes_back_as_it_was(connection: sqlite3.Connection, number: int) -> None:
    rosetta_runs("tag", "last", "mine")
    before = rosetta_runs("show", "last").stdout
    said = rosetta_runs("delete", "last")
    assert said.exit_code == 0
    assert "rosetta runs undelete 6f1c3a52" in said.stderr
    assert "rosetta runs list --deleted" in rosetta_runs("list").stdout
    for name in ("last", "6f1c", factory.RUN_ID):
        for command in (["show", name], ["export", name, "-o", "-"], ["delete", name],
                        ["note", name, "x"], ["tag", name, "x"]):  # fmt: skip
            assert isinstance(rosetta_runs(*command).exception, UsageError), command
    assert "undelete" in str(rosetta_runs("show", "6f1c").exception)
    assert "6f1c3a52" in rosetta_runs("list", "--deleted").stdout
    assert rosetta_runs("undelete").exit_code == 0
    assert rosetta_runs("show", "last").stdout == before
    assert isinstance(rosetta_runs("undelete").exception, UsageError)


def test_now_erases_what_was_put_away(connection: sqlite3.Connection, number: int) -> None:
    rosetta_runs("delete", "last")
    assert isinstance(rosetta_runs("delete", "last", "--now", "--yes").exception, UsageError)
    assert rosetta_runs("delete", "6f1c", "--now", "--yes").exit_code == 0
    assert connection.execute("SELECT count(*) FROM texts").fetchone() == (0,)
    assert list_runs(connection, deleted=True) == []


def test_a_deleted_card_that_is_imported_again_is_back(
    connection: sqlite3.Connection, number: int, tmp_path: Path
) -> None:
    card = tmp_path / "card.json"
    rosetta_runs("export", "last", "-o", str(card))
    rosetta_runs("delete", "last", "--now", "--yes")
    rosetta_runs("import", str(card))
    rosetta_runs("delete", "last")
    assert "is back" in rosetta_runs("import", str(card)).stdout
    assert len(list_runs(connection)) == 1


def test_a_secret_run_is_erased_at_once_after_a_question(connection: sqlite3.Connection) -> None:
    entries = (*factory.ENTRIES, factory.SECRET_ENTRY)
    seal(connection, factory.add_run(connection, entries, (*factory.OUTPUTS, factory.SECRETS[3])))
    asked = rosetta_runs("delete", "last")
    assert isinstance(asked.exception, UsageError)
    assert "--yes" in str(asked.exception)
    assert len(list_runs(connection)) == 1
    assert "Erased" in rosetta_runs("delete", "last", "--yes").stderr
    assert list_runs(connection, deleted=True) == []
    stored = b"".join(
        each.read_bytes() for each in (Path(connection.execute("PRAGMA database_list").fetchone()[2])).parent.iterdir() if each.is_file()
    )  # fmt: skip
    assert not any(secret.encode() in stored for secret in factory.SECRETS)


@pytest.fixture
def endpoint() -> Iterator[Scripted]:
    with serving() as scripted:
        yield scripted


def test_retry_makes_a_run_that_says_what_it_is(
    connection: sqlite3.Connection, endpoint: Scripted, tmp_path: Path
) -> None:
    def half(asked: Asked) -> object:
        return error(400) if "number 1" in asked.source else json_answer(completion("nothing"))

    endpoint.answer = half  # type: ignore[assignment]  # what both give is an answer
    run_corpus(tmp_path / "home" / "rosetta.sqlite", corpus(4), chat_plan(endpoint.url))
    endpoint.answer = lambda asked: json_answer(completion("ENTRY NUMBER 1"))
    result = CliRunner().invoke(
        retry, ["last", "--model", "other", "--plain", "--max-retries", "0"]
    )
    assert isinstance(result.exception, UsageError)
    assert "--max-retries does not apply" in str(result.exception)
    result = CliRunner().invoke(
        retry, ["last", "--model", "other", "--temperature", "0.5", "--attempts", "2", "--plain"]
    )
    assert result.exit_code == 0, result.output
    assert "Asking again for 1 of 4 entries." in result.stderr
    shown = rosetta_runs("show", "last").stdout
    assert "asked again for 1 entry that had failed; the other 3 are those of that run" in shown
    assert "mock + other" in shown
    assert "3 entries by" in shown
    assert "temperature 0.5" in shown
    assert "without the retried" in shown
    assert "exact match 0.00" in shown.split("without the retried")[1].split("\n")[0].lower()
    beside = json.loads(rosetta_runs("show", "last", "--json").stdout)["beside"]
    assert beside["retried_scores"]["kept"] == 3
    assert "↺ chat · mock + other" in rosetta_runs("list").stdout
    assert rosetta_runs("verify", "last").exit_code == 0
