"""``rosetta runs`` on real stores."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.card.build import seal
from harness.card.seal import card_hash
from harness.core.failures import StoreError, UsageError
from harness.core.run_state import RunState
from harness.store.file.openings import Live
from harness.store.run_list import list_runs
from harness.store.runs import set_live
from rosetta_tui.commands.retry import retry
from tests.harness.card import factory
from tests.harness.evaluation import chat_plan, corpus, run_corpus
from tests.harness.scripted import Asked, Scripted, completion, error, json_answer, serving
from tests.tui.commands.runs_group import harmless, rosetta_runs
from tests.tui.scenes import HOSTILE

HOSTILE_NAME = "\x1b[2J\x9b31m[bold]x[/]\u202e"


def test_runs_list_without_runs_says_what_to_do(connection: sqlite3.Connection) -> None:
    assert "rosetta demo" in rosetta_runs("list").stdout
    assert json.loads(rosetta_runs("list", "--json").stdout) == []


def test_runs_list_says_what_came_out(connection: sqlite3.Connection, number: int) -> None:
    factory.add_run(connection, run_id="0" * 8 + factory.RUN_ID[8:], stored=2)
    lines = rosetta_runs("list").stdout.splitlines()
    assert len(lines) == 3
    sealed = next(line for line in lines if "6f1c3a52" in line)
    assert "small-v1 EN→EO" in sealed
    assert "chat · example/model · zero-shot" in sealed
    assert "baseline (automatic 0.51; not clear of either floor)  25 % too short  " in sealed
    assert "62.1 (15.6–89.8)" in sealed
    assert "$0.0010" in sealed
    assert "stopped 2/4" in next(line for line in lines if "00000000" in line)
    listed = {run["run_id"]: run for run in json.loads(rosetta_runs("list", "--json").stdout)}
    assert listed[factory.RUN_ID]["composite"] == pytest.approx(0.5104083642481891)
    assert listed[factory.RUN_ID]["failed"] == 1
    (text,) = connection.execute("SELECT run_card FROM runs WHERE id = ?", (number,)).fetchone()
    card = json.loads(text)
    card["scores"]["mostly_identical"] = True  # a long tier is not cut
    connection.execute("UPDATE runs SET run_card = ? WHERE id = ?", (json.dumps(card), number))
    tier = "baseline (automatic 0.51; mostly one and the same output; not clear of either floor)"
    assert tier in rosetta_runs("list").stdout


@pytest.mark.usefixtures("number")
def test_runs_show_tells_scores_floors_and_cost() -> None:
    shown = rosetta_runs("show", "6f1c").stdout
    for words in (
        "62.1 (15.6–89.8)",
        "nrefs:1|case:mixed",
        "not among the metrics of this run",
        "╿ one constant output",
        "4 in all, 1 failed (empty) (it counts as wrong)",
        "$0.0010 · of $0.0500 budget",
        "95 % within 0.61 s",
        "self-benchmarked",
    ):
        assert words in shown
    assert json.loads(rosetta_runs("show", "last", "--json").stdout)["run_id"] == factory.RUN_ID


def test_runs_show_hostile_names_harmless(connection: sqlite3.Connection) -> None:
    setup = factory.SETUP.model_copy(update={"model_slug": HOSTILE_NAME, "condition": HOSTILE_NAME})
    seal(connection, factory.add_run(connection, setup=setup))
    for arguments in (["list"], ["show", "last"], ["list", "--json"], ["show", "last", "--json"]):
        shown = rosetta_runs(*arguments).stdout
        assert "[bold]x[/]" in shown
        assert harmless(shown)
    assert json.loads(rosetta_runs("list", "--json").stdout)[0]["model_slug"] == HOSTILE_NAME
    assert json.loads(rosetta_runs("show", "--json").stdout)["model_slug"] == HOSTILE_NAME


@pytest.mark.usefixtures("number")
def test_runs_export_delete_and_import(connection: sqlite3.Connection, tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    assert rosetta_runs("export", "last", "-o", str(path)).exit_code == 0
    again = rosetta_runs("export", "last", "-o", str(path))
    assert isinstance(again.exception, UsageError)
    assert rosetta_runs("export", "last", "-o", str(path), "--overwrite").exit_code == 0
    assert rosetta_runs("export", "last", "-o", "-").stdout_bytes == path.read_bytes()
    for form in ("jsonl", "csv"):
        assert (
            "Mi vidas la hundon."
            in rosetta_runs("export", "last", "-o", "-", "--form", form).stdout
        )

    assert rosetta_runs("verify", str(path)).exit_code == 0
    assert "Everything holds" in rosetta_runs("verify", "6f1c").stdout
    assert "nothing to do" in rosetta_runs("import", str(path)).stdout

    assert rosetta_runs("delete", "6f1c3a52", "--now", "--yes").exit_code == 0
    assert list_runs(connection) == []
    assert connection.execute("SELECT count(*) FROM results").fetchone() == (0,)
    imported = rosetta_runs("import", str(path))
    assert imported.exit_code == 0
    assert "6f1c3a52 imported" in imported.stdout
    assert "imported" in rosetta_runs("list").stdout
    assert "Everything holds" in rosetta_runs("verify", "last").stdout
    rosetta_runs("delete", "last")
    assert "is back" in rosetta_runs("import", str(path)).stdout
    assert rosetta_runs("show", "last").exit_code == 0


@pytest.mark.usefixtures("number")
def test_runs_verify_names_the_first_difference(connection: sqlite3.Connection, tmp_path: Path) -> None:  # fmt: skip
    path = tmp_path / "card.json"
    rosetta_runs("export", "last", "-o", str(path))
    card = json.loads(path.read_bytes())
    card["scores"]["chrf_plus_plus"] = 99.0
    path.write_text(json.dumps(card | {"run_card_hash": card_hash(card)}), encoding="utf-8")
    changed = rosetta_runs("verify", str(path), "--json")
    found = json.loads(changed.stdout)["first_difference"]
    assert (changed.exit_code, found["path"]) == (1, "$.scores.chrf_plus_plus")
    connection.execute("UPDATE results SET headline = 99 WHERE position = 3")
    result = rosetta_runs("verify", "last")
    assert result.exit_code == 1
    assert "✗ seal" in result.stdout
    assert "First difference: $.results[3].entry_chrf" in result.stdout
    assert isinstance(rosetta_runs("show", "last").exception, StoreError)


@pytest.mark.usefixtures("number")
def test_runs_import_goes_on_after_a_bad_file(connection: sqlite3.Connection, tmp_path: Path) -> None:  # fmt: skip
    good, bad = tmp_path / "good.json", tmp_path / "bad\x1b[2J.json"
    rosetta_runs("export", "last", "-o", str(good))
    rosetta_runs("delete", "last", "--now", "--yes")
    bad.write_bytes(b"[" * 100_000)
    result = rosetta_runs("import", str(bad), str(tmp_path / "absent.json"), str(good))
    assert result.exit_code == 2
    assert "6f1c3a52 imported" in result.stdout
    assert "nested too deeply" in result.stderr
    assert "absent.json cannot be read" in result.stderr
    assert harmless(result.stderr)
    assert len(list_runs(connection)) == 1


@pytest.mark.usefixtures("number")
def test_runs_import_unverified_stays_marked(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    rosetta_runs("export", "last", "-o", str(path))
    rosetta_runs("delete", "last", "--now", "--yes")
    path.write_bytes(path.read_bytes().replace(b'"chrf_plus_plus": 62', b'"chrf_plus_plus": 92'))
    refused = rosetta_runs("import", str(path))
    assert refused.exit_code == 2
    assert "seal is broken" in refused.stderr
    assert "UNVERIFIED" in rosetta_runs("import", str(path), "--unverified").stdout
    assert "imported, unverified" in rosetta_runs("list").stdout
    assert "UNVERIFIED" in rosetta_runs("show", "last").stdout
    assert rosetta_runs("verify", "last").exit_code == 1


def test_runs_delete_refuses_a_run_under_way(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection, stored=1)
    set_live(connection, number, RunState.RUNNING, Live(at=time.time()))
    result = rosetta_runs("delete", "last", "--yes")
    assert isinstance(result.exception, UsageError)
    assert "under way" in str(result.exception)
    assert "running 1/4" in rosetta_runs("list").stdout
    set_live(connection, number, RunState.RUNNING, Live(at=time.time() - 3600))
    listed = rosetta_runs("list")
    assert "stopped 1/4" in listed.stdout
    assert "rosetta resume" in listed.stderr
    assert "rosetta resume 6f1c3a52" in rosetta_runs("show", "last").stdout
    asked = rosetta_runs("delete", "last", "--now")
    assert isinstance(asked.exception, UsageError)
    assert "--yes" in str(asked.exception)
    assert rosetta_runs("delete", "last", "--yes").exit_code == 0


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this system cannot change its time zone")
@pytest.mark.usefixtures("number")
def test_runs_list_shows_any_time_of_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    path = tmp_path / "card.json"
    rosetta_runs("export", "last", "-o", str(path))
    card = json.loads(path.read_bytes())
    times = ("0001-01-01T00:00:00Z 19", "0001-01-01T00:00:00+14:00 19", "no-time 20",
             "9999-12-31T23:59:59Z 999", "9999-12-31T23:59:59-14:00 999")  # fmt: skip
    for number, each in enumerate(times):
        stated = {"timestamp": each.split()[0], "run_id": f"{number}{factory.RUN_ID[1:]}"}
        changed = card | stated
        path.write_text(json.dumps(changed | {"run_card_hash": card_hash(changed)}), "utf-8")
        assert rosetta_runs("import", str(path)).exit_code == 0, each
    try:
        for zone in ("America/New_York", "Pacific/Kiritimati"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            assert rosetta_runs("list", "--json").exit_code == 0
            listed = [
                line for line in rosetta_runs("list").stdout.splitlines() if " imported " in line
            ]
            begins = sorted(each.split()[1] for each in times)
            assert all(line.startswith(("19", "20", "999")) for line in listed), listed
            assert len(listed) == len(begins)
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()


@pytest.mark.parametrize("created", [-1.0, 1e18, float("inf")])
@pytest.mark.usefixtures("number")
def test_runs_list_shows_no_date_for_an_impossible_time(connection: sqlite3.Connection, created: float) -> None:  # fmt: skip
    connection.execute("UPDATE runs SET created = ?", (created,))
    assert rosetta_runs("list").stdout.splitlines()[1].startswith("–")
    assert json.loads(rosetta_runs("list", "--json").stdout)[0]["created"] is None


def test_runs_commands_print_nothing_secret(connection: sqlite3.Connection) -> None:
    entries = (*factory.ENTRIES, factory.SECRET_ENTRY)
    seal(connection, factory.add_run(connection, entries, (*factory.OUTPUTS, factory.SECRETS[3])))
    said = ""
    for line in (
        "list", "show last", "show last --json", "verify last",
        "export last -o -", "export last -o - --form jsonl", "export last -o - --form csv",
    ):  # fmt: skip
        result = rosetta_runs(*line.split())
        if "export" in line or "--json" in line:
            assert isinstance(result.exception, UsageError)
            said += str(result.exception)
        else:
            assert result.exit_code == 0
        said += result.output
    assert not any(secret in said for secret in factory.SECRETS)


@pytest.mark.usefixtures("number")
def test_runs_note_is_written_shown_and_taken_away() -> None:
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


@pytest.mark.usefixtures("number")
def test_runs_tag_finds_runs_again(connection: sqlite3.Connection) -> None:
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


@pytest.mark.usefixtures("number")
def test_runs_export_has_no_word_of_a_person() -> None:
    before = rosetta_runs("export", "last", "-o", "-").stdout_bytes
    rosetta_runs("note", "last", "my own words")
    rosetta_runs("tag", "last", "mine")
    assert rosetta_runs("export", "last", "-o", "-").stdout_bytes == before
    assert "Everything holds" in rosetta_runs("verify", "last").stdout


@pytest.mark.usefixtures("number")
def test_runs_note_shows_hostile_words_harmless() -> None:
    for words in HOSTILE:
        rosetta_runs("note", "last", f"x{words}")
        for command in ("list", "show last", "note last", "show last --json"):
            result = rosetta_runs(*command.split())
            assert (result.exit_code, harmless(result.stdout)) == (0, True), (command, words)


@pytest.mark.usefixtures("number")
def test_runs_undelete_brings_a_run_back() -> None:
    rosetta_runs("tag", "last", "mine")
    before = rosetta_runs("show", "last").stdout
    said = rosetta_runs("delete", "last")
    assert said.exit_code == 0
    assert "rosetta runs undelete 6f1c3a52" in said.stderr
    assert "rosetta runs list --deleted" in rosetta_runs("list").stdout
    for name in ("last", "6f1c", factory.RUN_ID):
        for command in ("show {}", "export {} -o -", "delete {}", "note {} x", "tag {} x"):
            words = command.format(name).split()
            assert isinstance(rosetta_runs(*words).exception, UsageError), command
    assert "undelete" in str(rosetta_runs("show", "6f1c").exception)
    assert "6f1c3a52" in rosetta_runs("list", "--deleted").stdout
    assert rosetta_runs("undelete").exit_code == 0
    assert rosetta_runs("show", "last").stdout == before
    assert isinstance(rosetta_runs("undelete").exception, UsageError)


def test_runs_delete_erases_a_secret_run_at_once(connection: sqlite3.Connection) -> None:
    entries = (*factory.ENTRIES, factory.SECRET_ENTRY)
    seal(connection, factory.add_run(connection, entries, (*factory.OUTPUTS, factory.SECRETS[3])))
    asked = rosetta_runs("delete", "last")
    assert isinstance(asked.exception, UsageError)
    assert "--yes" in str(asked.exception)
    assert len(list_runs(connection)) == 1
    assert "Erased" in rosetta_runs("delete", "last", "--yes").stderr
    assert list_runs(connection, deleted=True) == []
    home = Path(connection.execute("PRAGMA database_list").fetchone()[2]).parent
    stored = b"".join(each.read_bytes() for each in home.iterdir() if each.is_file())
    assert not any(secret.encode() in stored for secret in factory.SECRETS)


def test_retry_makes_a_run_that_says_what_it_is(connection: sqlite3.Connection, tmp_path: Path) -> None:  # fmt: skip
    with serving() as endpoint:
        retried(endpoint, tmp_path)


def retried(endpoint: Scripted, tmp_path: Path) -> None:
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
