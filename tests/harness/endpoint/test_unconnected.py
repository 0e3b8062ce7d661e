"""Entries that failed for want of a connection say nothing of a method: nobody's run is sealed with them unasked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
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
from rosetta_tui.cli import main
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.leaderboard import leaderboard
from tests.harness.evaluation import chat_plan, corpus, resume, run_corpus
from tests.harness.scripted import (
    Answer,
    Asked,
    Scripted,
    completion,
    json_answer,
    serving,
    translated,
)

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


class Cut:
    """A run of 12 of which 3 entries met a dead server, in a store that tests copy, and the server alive again."""

    def __init__(self, folder: Path, endpoint: Scripted) -> None:
        self.endpoint, self.store = endpoint, folder / "rosetta.sqlite"
        endpoint.answer = dead_for(2, 5, 7)
        self.heard = run_corpus(self.store, corpus(12), chat_plan(endpoint.url))


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cut]:
    with serving() as endpoint:
        yield Cut(tmp_path_factory.mktemp("cut"), endpoint)


@pytest.fixture
def cut(once: Cut, home: Path) -> Cut:
    home.parent.mkdir(exist_ok=True)
    with closing(open_store(once.store)) as store:
        store.execute("VACUUM INTO ?", (str(home),))
    once.endpoint.answer = translated
    once.endpoint.asked.clear()
    return once


def called(*arguments: str) -> Result:
    return CliRunner().invoke(rosetta, list(arguments))


def test_run_and_resume_seal_no_failed_entries_unasked(cut: Cut, home: Path) -> None:
    end = cut.heard.finished
    assert (end.state, end.card_hash, end.done, end.failed) == (RunState.STOPPED, None, 12, 3)
    assert (end.reason or "").startswith(WORDS)
    told = str(called("resume", "last").exception)
    assert [part in told for part in (WORDS, "--retry-failed", "--keep-failed")] == [True] * 3
    assert called("resume", "last", "--retry-failed", "--keep-failed").exit_code == 2
    assert cut.endpoint.asked == []
    with closing(open_store(home)) as store:
        assert list_runs(store)[0].card is None


def test_exit_code_of_a_resume_that_nobody_answers_is_2(
    cut: Cut, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path("/dev/null").open(encoding="utf-8") as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        with pytest.raises(SystemExit) as left:
            main(["resume", "last"])
    assert left.value.code == 2
    assert WORDS in capsys.readouterr().err


def test_scripts_keep_failed_entries(cut: Cut, home: Path) -> None:
    kept = called("resume", "last", "--keep-failed", "--plain")
    assert (kept.exit_code, cut.endpoint.asked) == (0, []), kept.output
    with closing(open_store(home)) as store:
        [run] = list_runs(store)
    assert (run.failed, dict(run.failures)) == (3, {"connection": 3})
    assert "3 connection" in called("runs", "list").stdout
    [listed] = json.loads(called("runs", "list", "--json").stdout)
    assert listed["failures"] == {"connection": 3}


def test_scripts_ask_for_failed_entries_again(cut: Cut, home: Path) -> None:
    again = called("resume", "last", "--retry-failed", "--plain")
    assert (again.exit_code, len(cut.endpoint.asked)) == (0, 3), again.output
    with closing(open_store(home)) as store:
        assert list_runs(store)[0].failed == 0


@pytest.mark.parametrize(("answer", "asked"), [("\n", 3), ("n\n", 0)])
def test_terminal_asks_and_enter_asks_again(
    cut: Cut, home: Path, monkeypatch: pytest.MonkeyPatch, answer: str, asked: int
) -> None:
    monkeypatch.setattr(showing, "can_be_asked", lambda style: style != "json-lines")
    done = CliRunner().invoke(rosetta, ["resume", "last", "--plain"], input=answer)
    assert done.exit_code == 0, done.output
    assert f"{WORDS}. Ask for them again? [Y/n]" in done.output
    assert len(cut.endpoint.asked) == asked
    with closing(open_store(home)) as store:
        assert list_runs(store)[0].failed == 3 - asked


def test_kept_run_is_not_asked_about_twice(cut: Cut, home: Path) -> None:
    with closing(open_store(home)) as store:
        run = find_run(store, "last")
        store.execute("UPDATE runs SET plan = json_set(plan, '$.run.keep_failed', json('true'))")
    done = called("resume", run.run_id, "--plain")
    assert done.exit_code == 0, done.output


def test_kept_run_seals_at_once_and_its_retry_does_not(endpoint: Scripted, home: Path) -> None:
    endpoint.answer = dead_for(2, 5)
    plan = chat_plan(endpoint.url, run={"keep_failed": True})
    assert run_corpus(home, corpus(12), plan).finished.card_hash
    endpoint.answer = dead_for(2)
    done = called("retry", "last", "--plain")
    assert done.exit_code == 1
    assert "1 entry failed for want of a connection" in done.stderr


def test_server_that_is_still_dead_leaves_the_run_unsealed(cut: Cut, home: Path) -> None:
    cut.endpoint.answer = dead_for(5)
    end = resume(home, retry_failed=True).finished
    assert (end.state, end.failed) == (RunState.STOPPED, 1)
    assert (end.reason or "").startswith("1 entry failed for want of a connection; it counts as 0")


def test_other_failures_are_the_methods_own(endpoint: Scripted, home: Path) -> None:
    endpoint.answer = lambda asked: (
        json_answer(completion("")) if "number 3" in asked.source else translated(asked)
    )
    assert run_corpus(home, corpus(12), chat_plan(endpoint.url)).finished.card_hash
    with closing(open_store(home)) as store:
        assert unconnected(store, find_run(store, "last").id) == 0
    assert "1 empty" in called("runs", "list").stdout


def test_run_is_ranked_with_one_dead_entry_of_twenty(endpoint: Scripted, home: Path) -> None:
    endpoint.answer = dead_for(7)
    plan = chat_plan(endpoint.url, run={"keep_failed": True})
    for size, failed in ((19, True), (20, False)):
        number = run_corpus(home, corpus(size), plan).finished.run_id
        boards = json.loads(CliRunner().invoke(leaderboard, ["--json"]).stdout)
        [run] = [each for board in boards for each in board["runs"] if each["run_id"] == number]
        assert (run["rank"] is None, run["failures"]) == (failed, {"connection": 1})
        if failed:
            assert f"1 of {size} entries failed for want of a connection" in run["unranked"]
            assert f"rosetta retry {number[:8]}" in run["unranked"]
