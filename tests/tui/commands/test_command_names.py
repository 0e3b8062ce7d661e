"""What the command line says of wrong names, files and streams; help is everywhere, and every error looks the same."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from corpora.files.problems import Findings, Problem
from harness.core.failures import UsageError
from harness.core.storage import write_file
from harness.store.runs import find_open_run, find_run, find_trashed, runs_back
from harness.store.sqlite.database import open_store
from rosetta_tui import cli
from rosetta_tui.commands import rosetta
from rosetta_tui.request.reading import MOST_ALIKE, MOST_LINES, MOST_PLACES, print_problems
from tests.harness.evaluation import PLAN, corpus, run_corpus
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import times
from tests.tui.commands.command_line import START, Program, Rosetta, said
from tests.tui.commands.vault_office import Homes
from tests.tui.new_run.form import CORPUS


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("rnu", "error: There is no command 'rnu'. Did you mean 'run'?"),
        ("run --methd x", "error: There is no option --methd. Did you mean --method?"),
        ("run x --source en", "error: There is no option --source. Did you mean --source-language, --source-column or --source-name?"),
        ("runs export last --format csv", "error: There is no option --format. Did you mean --form?"),
        ("compare a b --alpha 1", "error: There is no option --alpha."),
        ("key xyzzy", "error: There is no command 'xyzzy'. There are set, list, delete."),
        ("run", "error: Missing argument 'FILE'."),
        ("runs show nine", "error: No run is named 'nine'. `rosetta runs list` shows all runs."),
        ("corpus check no.tsv", "error: no.tsv: The file cannot be read: No such file or directory."),
        ("score", "error: FILE and OUTPUTS are wanted, or --rescore RUN."),
        ("language show qqq", "error: There is no language card for 'qqq'."),
        ("review gate nine", "error: There is no review 'nine'."),
    ],
)  # fmt: skip
def test_wrong_usage_names_the_nearest(program: Program, typed: str, words: str) -> None:
    code, _, problems = program(*typed.split())
    lines = problems.splitlines()
    assert code == 2
    assert lines[0].startswith(words)
    assert all(line.startswith("`rosetta") for line in lines[1:]), lines


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        # kept from a first call, which other tests make without the program around it
        found._help_option = None
        yield (*path, name)
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))


def test_every_command_shows_its_help_in_three_ways(program: Program) -> None:
    for path in commands(rosetta):
        page = CliRunner().invoke(rosetta, [*path, "--help"], prog_name="rosetta").output
        assert page.startswith(f"Usage: rosetta {' '.join(path)} ")
        if len(path) == 1:
            assert CliRunner().invoke(rosetta, [*path, "-h"], prog_name="rosetta").output == page
    assert program("help", "runs", "list")[1].startswith("Usage: rosetta runs list")


BACK = {
    "last": 0, "last~0": 0, "last~2": 2, "last~12": 12, "last~": None, "last~-1": None, "last~x": None,
    "Last": None, "last~1~1": None, "last~9999999999": None, "": None,
}  # fmt: skip


def test_runs_are_counted_from_the_last_one(tmp_path: Path) -> None:
    assert {name: runs_back(name) for name in BACK} == BACK
    store_path = tmp_path / "rosetta.sqlite"
    ids = [run_corpus(store_path, corpus(2), PLAN).finished.run_id for _ in range(3)]
    with closing(open_store(store_path)) as store:
        for back, run_id in enumerate(reversed(ids)):
            assert find_run(store, f"last~{back}").run_id == run_id
        refuses(UsageError, "No run is named 'last~3'", find_run, store, "last~3")
        refuses(UsageError, "waiting to continue that far back", find_open_run, store, 1)
        for number, when in ((1, 10.0), (2, 20.0)):
            store.execute("UPDATE runs SET put_away = ? WHERE id = ?", (when, number))
        assert find_trashed(store, "last~1").run_id == ids[0]
        assert find_run(store, "last").run_id == ids[2]


def test_first_help_page_begins_with_nine_commands(program: Program) -> None:
    _, page, _ = program("-h")
    first = page.partition("Commands:\n")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in first.splitlines()] == [
        "demo", "run", "score", "runs", "compare", "leaderboard", "report", "corpus", "doctor",
    ]  # fmt: skip


def test_missing_option_names_its_choices(program: Program) -> None:
    code, _, problems = program("corpus", "convert", "c.json", "-o", "x")
    first, *rest = problems.splitlines()
    assert code == 2
    assert first.startswith("error: Missing option '--to'. Choose from: specification, legacy, ")
    assert len(rest) == 1


SAID = [
    (errno.EACCES, "f.txt", 2, "Allow it, or name another place."),
    (errno.ENOENT, "f.txt", 2, "Correct the path"),
    (errno.EISDIR, b"f.txt", 2, "Name a file in it."),
    (errno.ENOSPC, "f.txt", 1, "Make room there"),
    (errno.EIO, "f.txt", 1, "See whether the disk is still there"),
    (errno.EMFILE, 3, 1, "do it again"),
]


def test_refusal_of_the_system_is_said_with_its_mend(capfd: pytest.CaptureFixture[str]) -> None:
    for number, name, code, mend in SAID:
        kept = os.dup(1)
        refused = OSError(number, os.strerror(number), name)
        try:
            assert cli._unwritten(refused) == code  # the last place of all
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        told = capfd.readouterr().err
        assert told.startswith("error: f.txt: " if code == 2 else "error: ")
        assert mend in told


def test_data_folder_that_is_none_is_wrong_usage(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Exit code 1 of verify says that a file does not hold, and nobody looked at it."""
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "file"))
    for line in (f"verify {tmp_path / 'file'}", "demo --plain", "runs list"):
        code, _, told = program(*line.split())
        assert code == 2, told
        assert f"The data folder {tmp_path / 'file'} cannot be written" in told
        assert "Name another folder in ROSETTA_HOME" in told


def test_wrong_files_and_options_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    for overwrite in (True, False):
        with pytest.raises(UsageError, match=f"{tmp_path} is a folder. Name a file in it."):
            write_file(tmp_path, b"x", overwrite=overwrite)
    path = tmp_path / "m.rosetta-ownership"
    path.write_text("{}")
    for command in ("community owners", "community answer --sign", "community take"):
        failed = said(f"{command} {path}").exception
        assert isinstance(failed, UsageError)
        assert str(path) in str(failed)


def printed(problems: list[Problem], capsys: pytest.CaptureFixture[str]) -> list[str]:
    print_problems(problems)
    return capsys.readouterr().err.splitlines()


def alike(count: int, **place: Any) -> list[Problem]:
    findings = Findings("a.tsv")
    for number in range(count):
        where = {name: value(number) for name, value in place.items()}
        findings.error("It is no segment.", "Write another.", **where)
    return findings.problems


def test_problems_that_are_alike_are_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    many = alike(500, line=lambda n: n + 2, entry=lambda n: n + 1)
    lines = printed(many, capsys)
    assert len(lines) == MOST_ALIKE + 1
    assert lines[-1].startswith("… and the same on lines 7, 8, 9, ")
    assert lines[-1].endswith(f"and {500 - MOST_ALIKE - MOST_PLACES} more.")
    few = alike(MOST_ALIKE + 1, line=lambda n: n + 2)
    assert printed(few, capsys) == [str(each) for each in few]
    lines = printed(alike(MOST_ALIKE + 2, entry=lambda n: f"e{n}\x1b[2J"), capsys)
    assert lines[-1].startswith(f"… and the same in the entries e{MOST_ALIKE}")
    assert "\x1b" not in "".join(lines)
    assert printed(alike(MOST_ALIKE + 9), capsys)[-1].startswith("… and the same 9 times more")


def test_problems_of_all_kinds_have_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    findings = Findings("a.json")
    for number in range(MOST_LINES + 3):
        findings.error(f"It is {number}.", "Look at it.")
    *lines, last = printed(findings.problems, capsys)
    assert len(lines) == MOST_LINES
    assert last == "… and 3 more; `rosetta corpus check --json` lists all."


def test_estimate_prints_text_and_json(program: Program) -> None:
    words = f"run --estimate {CORPUS} --method chat --endpoint openai --model gpt-4o --limit 7".split()
    code, told, problems = program(*words)
    assert (code, problems) == (0, "")
    assert told.startswith("Entries  7\nCost     about $0.00")
    assert "time is a guess" in told
    code, told, problems = program(*words, "--json")
    assert (code, problems) == (0, "")
    found = json.loads(told)
    assert found["entries"] == 7
    assert 0 < found["cost_usd"]["low"] < found["cost_usd"]["expected"] < found["cost_usd"]["high"]


def test_estimate_refuses_wrong_usage(program: Program) -> None:
    for words, told in (
        (CORPUS, "Missing option '--method'"),
        (f"{CORPUS} --method chat", "needs --endpoint"),
        ("store:0000000 --method copy-source", "no such corpus"),
        (f"{CORPUS} --method copy-source --plain", "--estimate runs nothing"),
    ):
        code, out, problems = program("run", "--estimate", *words.split())
        assert (code, out, told in problems) == (2, "", True)


UNIX = pytest.mark.skipif(sys.platform == "win32", reason="closes a stream as a Unix shell does")


def called(home: Path, *words: object, first: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", START, *map(str, words)], env=Rosetta(home).environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, preexec_fn=first,
    )  # fmt: skip


@UNIX
@pytest.mark.every_python
@pytest.mark.parametrize("stream", [0, 1, 2])
def test_command_runs_without_a_standard_stream(stream: int, tmp_path: Path) -> None:
    done = called(tmp_path, "runs", "list", first=lambda: os.close(stream))
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) is (stream != 1)


@UNIX
def test_question_that_nobody_answers_is_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> None:  # fmt: skip
    """Not interrupted, which is what a person does."""
    homes = Homes(tmp_path, monkeypatch)
    homes.types("office", "vault open ../office/elders greetings --purpose spring", there=homes.stick)
    homes("office", "export elders {stick}/elders --purpose", "for the keepers")
    asked = ("vault", "grant", "answer", homes.stick / "elders", homes.stick / "open.rosetta-request")  # fmt: skip
    for first in (lambda: os.close(0), None)[: times(1, 2)]:
        done = called(homes.folder / "school", *asked, first=first)
        assert done.returncode == 2, done.stderr
        assert "Do you allow this?" in done.stdout
        assert "error: Nobody is there to answer" in done.stderr
    assert not list(homes.folder.rglob("*.rosetta-answer"))


def test_score_waits_for_no_pipe_in_place_of_a_database(program: Program, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.sqlite")
    record = {"id": 1, "source": "Which?", "reference": "SELECT 1", "predicted": "SELECT 1"}
    file = tmp_path / "corpus.jsonl"
    file.write_text(json.dumps(record | {"database": "pipe.sqlite"}), "utf-8")
    languages = ("--source-language", "en", "--target-language", "en")
    code, _, problems = program("score", file, *languages, "--task", "text2sql")
    assert (code, "is no SQLite file" in problems) == (2, True)
