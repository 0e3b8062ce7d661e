"""``rosetta runs`` on real stores."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

import pytest

from harness.card.build import seal
from harness.card.seal import card_hash
from harness.core.failures import StoreError, UsageError
from harness.core.run_state import RunState
from harness.store.file.openings import Live
from harness.store.run_list import list_runs
from harness.store.runs import set_live
from tests.harness.card import factory
from tests.tui.commands.runs_group import connection, harmless, number, rosetta_runs

HOSTILE = "\x1b[2J\x9b31m[bold]x[/]\u202e"


__all__ = ["connection", "number"]


def test_an_empty_list_says_what_to_do_first(connection: sqlite3.Connection) -> None:
    assert "rosetta demo" in rosetta_runs("list").stdout
    assert json.loads(rosetta_runs("list", "--json").stdout) == []


def test_the_list_says_what_came_out(connection: sqlite3.Connection, number: int) -> None:
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


def test_show_tells_scores_reasons_floors_and_cost(
    connection: sqlite3.Connection, number: int
) -> None:
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


def test_show_of_an_unfinished_run_names_the_mend(connection: sqlite3.Connection) -> None:
    factory.add_run(connection, stored=1)
    result = rosetta_runs("show", "last")
    assert result.exit_code == 0
    assert "rosetta resume 6f1c3a52" in result.stdout


def test_hostile_names_are_harmless_text(connection: sqlite3.Connection) -> None:
    setup = factory.SETUP.model_copy(update={"model_slug": HOSTILE, "condition": HOSTILE})
    seal(connection, factory.add_run(connection, setup=setup))
    for arguments in (["list"], ["show", "last"], ["list", "--json"], ["show", "last", "--json"]):
        shown = rosetta_runs(*arguments).stdout
        assert "[bold]x[/]" in shown
        assert harmless(shown)
    assert json.loads(rosetta_runs("list", "--json").stdout)[0]["model_slug"] == HOSTILE
    assert json.loads(rosetta_runs("show", "--json").stdout)["model_slug"] == HOSTILE


def test_out_in_and_away_again(connection: sqlite3.Connection, number: int, tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    assert rosetta_runs("export", "last", "-o", str(path)).exit_code == 0
    again = rosetta_runs("export", "last", "-o", str(path))
    assert isinstance(again.exception, UsageError)
    assert rosetta_runs("export", "last", "-o", str(path), "--overwrite").exit_code == 0
    assert rosetta_runs("export", "last", "-o", "-").stdout_bytes == path.read_bytes()

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
    assert rosetta_runs("show", "last").exit_code == 0


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_entries_go_out_line_by_line(
    connection: sqlite3.Connection, number: int, tmp_path: Path, form: str
) -> None:
    path = tmp_path / f"entries.{form}"
    assert rosetta_runs("export", "last", "-o", str(path), "--form", form).exit_code == 0
    assert "Mi vidas la hundon." in path.read_text(encoding="utf-8")


def test_a_changed_card_is_named_and_fails(
    connection: sqlite3.Connection, number: int, tmp_path: Path
) -> None:
    path = tmp_path / "card.json"
    rosetta_runs("export", "last", "-o", str(path))
    card = json.loads(path.read_bytes())
    card["scores"]["chrf_plus_plus"] = 99.0
    card["run_card_hash"] = card_hash(card)
    path.write_text(json.dumps(card), encoding="utf-8")
    result = rosetta_runs("verify", str(path))
    assert result.exit_code == 1
    assert "First difference: $.scores.chrf_plus_plus is 99.0" in result.stdout
    told = json.loads(rosetta_runs("verify", str(path), "--json").stdout)
    assert told["first_difference"]["path"] == "$.scores.chrf_plus_plus"
    assert told["first_difference"]["expected"] == pytest.approx(62.081672849637826)


def test_a_changed_store_is_named_and_fails(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("UPDATE results SET headline = 99 WHERE position = 3")
    result = rosetta_runs("verify", "last")
    assert result.exit_code == 1
    assert "✗ seal" in result.stdout
    assert "First difference: $.results[3].entry_chrf" in result.stdout
    assert isinstance(rosetta_runs("show", "last").exception, StoreError)


def test_one_bad_file_does_not_keep_the_others_out(
    connection: sqlite3.Connection, number: int, tmp_path: Path
) -> None:
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


def test_an_unverified_run_stays_marked(
    connection: sqlite3.Connection, number: int, tmp_path: Path
) -> None:
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


def test_deleting_asks_and_refuses_where_nobody_can_answer(
    connection: sqlite3.Connection, number: int
) -> None:
    result = rosetta_runs("delete", "last", "--now")
    assert isinstance(result.exception, UsageError)
    assert "--yes" in str(result.exception)
    assert len(list_runs(connection)) == 1


def test_a_run_under_way_is_not_deleted(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection, stored=1)
    set_live(connection, number, RunState.RUNNING, Live(at=time.time()))
    result = rosetta_runs("delete", "last", "--yes")
    assert isinstance(result.exception, UsageError)
    assert "under way" in str(result.exception)
    set_live(connection, number, RunState.RUNNING, Live(at=time.time() - 3600))
    assert rosetta_runs("delete", "last", "--yes").exit_code == 0


def test_a_run_whose_process_is_gone_is_listed_as_stopped(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection, stored=1)
    set_live(connection, number, RunState.RUNNING, Live(at=time.time()))
    assert "running 1/4" in rosetta_runs("list").stdout
    set_live(connection, number, RunState.RUNNING, Live(at=time.time() - 3600))
    listed = rosetta_runs("list")
    assert "stopped 1/4" in listed.stdout
    assert "rosetta resume" in listed.stderr
    assert json.loads(rosetta_runs("list", "--json").stdout)[0]["state"] == "stopped"


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this system cannot change its time zone")
@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Kiritimati"])
@pytest.mark.parametrize(
    ("timestamp", "shown"),
    [
        ("0001-01-01T00:00:00Z", "19"),
        ("0001-01-01T00:00:00+14:00", "19"),
        ("9999-12-31T23:59:59Z", "999"),
        ("9999-12-31T23:59:59-14:00", "999"),
        ("no time", "20"),
    ],
)
def test_no_time_of_a_card_breaks_the_list(
    connection: sqlite3.Connection,
    number: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    zone: str,
    timestamp: str,
    shown: str,
) -> None:
    path = tmp_path / "card.json"
    rosetta_runs("export", "last", "-o", str(path))
    card = json.loads(path.read_bytes()) | {"timestamp": timestamp, "run_id": factory.RUN_ID[::-1]}
    path.write_text(json.dumps(card | {"run_card_hash": card_hash(card)}), encoding="utf-8")
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert rosetta_runs("import", str(path)).exit_code == 0
        listed = rosetta_runs("list")
        assert rosetta_runs("list", "--json").exit_code == 0
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()
    assert listed.exit_code == 0
    imported = next(line for line in listed.stdout.splitlines() if " imported " in line)
    assert imported.startswith(shown)


@pytest.mark.parametrize("created", [-1.0, 1e18, float("inf")])
def test_a_time_without_a_date_is_shown_as_none(
    connection: sqlite3.Connection, number: int, created: float
) -> None:
    connection.execute("UPDATE runs SET created = ?", (created,))
    assert rosetta_runs("list").stdout.splitlines()[1].startswith("–")
    assert json.loads(rosetta_runs("list", "--json").stdout)[0]["created"] is None


def test_nothing_of_a_secret_entry_is_printed_or_written(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    entries = (*factory.ENTRIES, factory.SECRET_ENTRY)
    seal(connection, factory.add_run(connection, entries, (*factory.OUTPUTS, factory.SECRETS[3])))
    said = ""
    for arguments in (
        ["list"],
        ["show", "last"],
        ["show", "last", "--json"],
        ["verify", "last"],
        ["export", "last", "-o", "-"],
        ["export", "last", "-o", "-", "--form", "jsonl"],
        ["export", "last", "-o", "-", "--form", "csv"],
    ):
        result = rosetta_runs(*arguments)
        if "export" in arguments or "--json" in arguments:
            assert isinstance(result.exception, UsageError)
            said += str(result.exception)
        else:
            assert result.exit_code == 0
        said += result.output
    assert not any(secret in said for secret in factory.SECRETS)


def test_unknown_runs_are_said_in_words(connection: sqlite3.Connection) -> None:
    for arguments in (
        ["show", "zz"],
        ["export", "zz", "-o", "-"],
        ["delete", "zz"],
        ["verify", "zz"],
    ):
        assert isinstance(rosetta_runs(*arguments).exception, UsageError)


def test_the_tier_is_never_cut(connection: sqlite3.Connection, number: int) -> None:
    (text,) = connection.execute("SELECT run_card FROM runs WHERE id = ?", (number,)).fetchone()
    card = json.loads(text)
    card["scores"]["mostly_identical"] = True
    connection.execute("UPDATE runs SET run_card = ? WHERE id = ?", (json.dumps(card), number))
    [line] = rosetta_runs("list").stdout.splitlines()[1:]
    words = "baseline (automatic 0.51; mostly one and the same output; not clear of either floor)"
    assert len(words) > 60
    assert words in line
