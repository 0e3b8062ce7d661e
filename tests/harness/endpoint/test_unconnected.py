"""Entries that failed for want of a connection say nothing of a method: nobody's run is sealed with them unasked."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.core.run_state import RunState
from harness.run.total_failure import unconnected
from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from rosetta_tui.app import showing
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.leaderboard import leaderboard
from tests.harness.evaluation import Heard, chat_plan, corpus, resume, run_corpus
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer, translated

DEAD = Answer(cut_after=0)
WORDS = "3 entries failed for want of a connection; they count as 0"


def dead_for(*numbers: int) -> Any:
    """Answer all but these entries; for those the connection breaks."""

    def answer(asked: Asked) -> Answer:
        found = re.search(r"entry number (\d+)", asked.source)
        return DEAD if found and int(found[1]) in numbers else translated(asked)

    return answer


@pytest.fixture
def home(store_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(store_path.parent))
    return store_path


@pytest.fixture
def cut(endpoint: Scripted, home: Path) -> Heard:
    """A run of 12 of which 3 entries met a dead server, which is alive by now."""
    endpoint.answer = dead_for(2, 5, 7)
    heard = run_corpus(home, corpus(12), chat_plan(endpoint.url))
    endpoint.answer = translated
    endpoint.asked.clear()
    return heard


def called(*arguments: str) -> Result:
    return CliRunner().invoke(rosetta, list(arguments))


def test_a_run_does_not_seal_them_as_zeros_unasked(cut: Heard) -> None:
    end = cut.finished
    assert (end.state, end.card_hash, end.done, end.failed) == (RunState.STOPPED, None, 12, 3)
    assert (end.reason or "").startswith(WORDS)
    assert "--keep-failed" in (end.reason or "")


def test_resume_without_a_word_refuses_where_nobody_can_be_asked(
    cut: Heard, endpoint: Scripted, home: Path
) -> None:
    done = called("resume", "last")
    assert WORDS in str(done.exception)
    assert "--retry-failed" in str(done.exception)
    assert "--keep-failed" in str(done.exception)
    assert endpoint.asked == []
    with closing(open_store(home)) as store:
        assert list_runs(store)[0].card is None


def test_the_exit_code_of_that_is_2(
    cut: Heard, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rosetta_tui.cli import main

    with Path("/dev/null").open(encoding="utf-8") as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        with pytest.raises(SystemExit) as left:
            main(["resume", "last"])
    assert left.value.code == 2
    assert WORDS in capsys.readouterr().err


def test_scripts_ask_again_or_keep(cut: Heard, endpoint: Scripted, home: Path) -> None:
    kept = called("resume", "last", "--keep-failed", "--plain")
    assert kept.exit_code == 0, kept.output
    assert endpoint.asked == []
    with closing(open_store(home)) as store:
        [run] = list_runs(store)
    assert (run.failed, dict(run.failures)) == (3, {"connection": 3})
    assert "3 connection" in called("runs", "list").stdout
    [listed] = json.loads(called("runs", "list", "--json").stdout)
    assert listed["failures"] == {"connection": 3}


def test_scripts_that_ask_again_seal_what_came(cut: Heard, endpoint: Scripted, home: Path) -> None:
    again = called("resume", "last", "--retry-failed", "--plain")
    assert again.exit_code == 0, again.output
    assert len(endpoint.asked) == 3
    with closing(open_store(home)) as store:
        assert list_runs(store)[0].failed == 0


def test_both_at_once_are_refused(cut: Heard) -> None:
    assert called("resume", "last", "--retry-failed", "--keep-failed").exit_code == 2


@pytest.mark.parametrize(("answer", "asked"), [("\n", 3), ("y\n", 3), ("n\n", 0)])
def test_a_terminal_asks_and_asking_again_is_what_enter_does(
    cut: Heard,
    endpoint: Scripted,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    asked: int,
) -> None:
    monkeypatch.setattr(showing, "can_be_asked", lambda style: style != "json-lines")
    done = CliRunner().invoke(rosetta, ["resume", "last", "--plain"], input=answer)
    assert done.exit_code == 0, done.output
    assert f"{WORDS}. Ask for them again? [Y/n]" in done.output
    assert len(endpoint.asked) == asked
    with closing(open_store(home)) as store:
        assert list_runs(store)[0].failed == 3 - asked


def test_a_kept_run_is_not_asked_about_twice(cut: Heard, endpoint: Scripted, home: Path) -> None:
    with closing(open_store(home)) as store:
        run = find_run(store, "last")
        store.execute("UPDATE runs SET plan = json_set(plan, '$.run.keep_failed', json('true'))")
    done = called("resume", run.run_id, "--plain")
    assert done.exit_code == 0, done.output


def test_a_run_that_was_told_to_keep_them_seals_at_once(endpoint: Scripted, home: Path) -> None:
    endpoint.answer = dead_for(2)
    plan = chat_plan(endpoint.url, run={"keep_failed": True})
    assert run_corpus(home, corpus(12), plan).finished.card_hash


def test_a_server_that_is_still_dead_leaves_the_run_unsealed(
    cut: Heard, endpoint: Scripted, home: Path
) -> None:
    endpoint.answer = dead_for(5)
    end = resume(home, retry_failed=True).finished
    assert (end.state, end.failed) == (RunState.STOPPED, 1)
    assert (end.reason or "").startswith("1 entry failed for want of a connection; it counts as 0")


def test_a_retry_of_a_kept_run_does_not_keep_its_own(endpoint: Scripted, home: Path) -> None:
    endpoint.answer = dead_for(2, 5)
    run_corpus(home, corpus(12), chat_plan(endpoint.url, run={"keep_failed": True}))
    endpoint.answer = dead_for(2)
    done = called("retry", "last", "--plain")
    assert done.exit_code == 1
    assert "1 entry failed for want of a connection" in done.stderr


def test_other_failures_are_the_methods_own(endpoint: Scripted, home: Path) -> None:
    endpoint.answer = lambda asked: (
        json_answer(completion("")) if "number 3" in asked.source else translated(asked)
    )
    assert run_corpus(home, corpus(12), chat_plan(endpoint.url)).finished.card_hash
    with closing(open_store(home)) as store:
        assert unconnected(store, find_run(store, "last").id) == 0
    assert "1 empty" in called("runs", "list").stdout


@pytest.mark.parametrize(("dead", "ranked"), [((2,), False), ((), True)])
def test_a_run_that_met_a_dead_server_is_not_ranked(
    endpoint: Scripted, home: Path, dead: tuple[int, ...], ranked: bool
) -> None:
    endpoint.answer = dead_for(*dead)
    plan = chat_plan(endpoint.url, run={"keep_failed": True})
    number = run_corpus(home, corpus(12), plan).finished.run_id
    [board] = json.loads(CliRunner().invoke(leaderboard, ["--json"]).stdout)
    [run] = board["runs"]
    assert (run["rank"] is not None) == ranked
    if not ranked:
        why = "1 of 12 entries failed for want of a connection"
        assert why in run["unranked"]
        assert f"rosetta retry {number[:8]}" in run["unranked"]
        assert why in CliRunner().invoke(leaderboard, []).stdout


def test_one_in_twenty_is_still_ranked(endpoint: Scripted, home: Path) -> None:
    endpoint.answer = dead_for(7)
    plan = chat_plan(endpoint.url, run={"keep_failed": True})
    run_corpus(home, corpus(20), plan)
    [board] = json.loads(CliRunner().invoke(leaderboard, ["--json"]).stdout)
    [run] = board["runs"]
    assert (run["rank"], run["failures"]) == (1, {"connection": 1})
