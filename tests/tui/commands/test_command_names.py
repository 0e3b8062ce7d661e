"""What the command line says of wrong names, files and streams; help is everywhere, and every error looks the same."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
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
from harness.core.written_files import write_file
from harness.store.file.database import open_store
from harness.store.runs import find_open_run, find_run, find_trashed, runs_back
from rosetta_tui import cli
from rosetta_tui.commands import rosetta
from rosetta_tui.request.reading import MOST_ALIKE, MOST_LINES, MOST_PLACES, print_problems
from tests.harness.evaluation import corpus, run_corpus
from tests.harness.run.breaking_plan import PLAN
from tests.review.thorough import times
from tests.tui.commands.command_line import Program, said
from tests.tui.commands.processes import START, Rosetta
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
        ("runs lsit", "error: There is no command 'lsit'. Did you mean 'list'?"),
        ("review craete", "error: There is no command 'craete'. Did you mean 'create'?"),
        ("key ste x", "error: There is no command 'ste'. Did you mean 'set'?"),
        ("corpus chekc", "error: There is no command 'chekc'. Did you mean 'check'?"),
        ("language lits", "error: There is no command 'lits'. Did you mean 'list'?"),
        ("run --methd x", "error: There is no option --methd. Did you mean --method?"),
        ("--vresion", "error: There is no option --vresion. Did you mean --version?"),
        ("leaderboard --jsno", "error: There is no option --jsno. Did you mean --json?"),
        ("run x --source en", "error: There is no option --source. Did you mean --source-language, --source-column or --source-name?"),
        ("runs export last --format csv", "error: There is no option --format. Did you mean --form?"),
        ("corpus check x --lang mi", "error: There is no option --lang. Did you mean --source-language or --target-language?"),
        ("compare a b --alpha 1", "error: There is no option --alpha."),
        ("key xyzzy", "error: There is no command 'xyzzy'. There are set, list, delete."),
        ("run", "error: Missing argument 'FILE'."),
        ("runs show nine", "error: There is no run 'nine'. `rosetta runs list` shows which there are."),
        ("corpus check no.tsv", "error: no.tsv: The file cannot be read: No such file or directory."),
        ("score", "error: FILE and OUTPUTS are wanted, or --rescore RUN."),
        ("runs import no.json", "error: no.json cannot be read: No such file or directory."),
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
        pages = [
            CliRunner().invoke(rosetta, [*path, option], prog_name="rosetta").output
            for option in ("-h", "--help")
        ]
        assert pages[0] == pages[1]
        assert pages[0].startswith(f"Usage: rosetta {' '.join(path)} ")
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
        with pytest.raises(UsageError, match="There is no run 'last~3'"):
            find_run(store, "last~3")
        with pytest.raises(UsageError, match="waiting to go on that far back"):
            find_open_run(store, 1)
        for number, when in ((1, 10.0), (2, 20.0)):
            store.execute("UPDATE runs SET put_away = ? WHERE id = ?", (when, number))
        assert find_trashed(store, "last~1").run_id == ids[0]
        assert find_run(store, "last").run_id == ids[2]


def test_missing_option_names_its_choices(program: Program) -> None:
    code, _, problems = program("corpus", "convert", "c.json", "-o", "x")
    first, *rest = problems.splitlines()
    assert code == 2
    assert first.startswith("error: Missing option '--to'. Choose from: specification, legacy, ")
    assert len(rest) == 1


@pytest.mark.parametrize(
    ("number", "name", "code", "mend"),
    [
        (errno.EACCES, "f.txt", 2, "Allow it, or name another place."),
        (errno.EROFS, b"f.txt", 2, "Allow it, or name another place."),
        (errno.ENOENT, "f.txt", 2, "Correct the path"),
        (errno.EISDIR, "f.txt", 2, "Name a file in it."),
        (errno.ENOSPC, "f.txt", 1, "Make room there"),
        (errno.EIO, "f.txt", 1, "See whether the disk is still there"),
        (errno.EACCES, None, 1, "Allow it"),
        (errno.EMFILE, 3, 1, "do it again"),
    ],
)
def test_refusal_of_the_system_is_said_with_its_mend(
    number: int, name: str | None, code: int, mend: str, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = os.dup(1)
    try:
        ended = cli._unwritten(OSError(number, os.strerror(number), name))  # the last place of all
        assert ended == code
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
    done = said(f"ownership propose last --developer Ann --key abc -o {tmp_path}/x")
    assert str(done.exception).startswith("--key: ")
    path = tmp_path / "m.rosetta-ownership"
    path.write_text("{}")
    for command in ("ownership show", "ownership sign", "ownership take", "organisation take"):
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
    for count in (1, MOST_ALIKE, MOST_ALIKE + 1):
        few = alike(count, line=lambda n: n + 2)
        assert printed(few, capsys) == [str(each) for each in few]
    lines = printed(alike(MOST_ALIKE + 2, entry=lambda n: f"e{n}\x1b[2J"), capsys)
    assert lines[-1].startswith(f"… and the same in the entries e{MOST_ALIKE}")
    assert "\x1b" not in "".join(lines)
    assert printed(alike(MOST_ALIKE + 9), capsys)[-1].startswith("… and the same 9 times more")


def test_problems_of_all_kinds_have_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    findings = Findings("a.json")
    for number in range(MOST_LINES + MOST_ALIKE):
        findings.error(f"It is {number}.", "Look at it.")
    lines = printed(findings.problems, capsys)
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == f"… and {MOST_ALIKE} more; `rosetta corpus check --json` lists all."


def test_estimate_prints_text_and_json(program: Program) -> None:
    words = f"estimate {CORPUS} --method chat --endpoint openai --model gpt-4o --limit 7".split()
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
    ):
        code, out, problems = program("estimate", *words.split())
        assert (code, out, told in problems) == (2, "", True)


UNIX = pytest.mark.skipif(sys.platform == "win32", reason="closes a stream as a Unix shell does")


def called(home: Path, *words: object, first: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:  # fmt: skip
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
    homes("office", "grant request elders greetings {stick}/a.rosetta-request --purpose spring")
    homes("office", "export elders {stick}/elders --purpose", "for the keepers")
    asked = ("vault", "grant", "allow", homes.stick / "elders", homes.stick / "a.rosetta-request", "--to", "a.rosetta-answer")  # fmt: skip
    for first in (lambda: os.close(0), None)[: times(1, 2)]:
        done = called(homes.folder / "school", *asked, first=first)
        assert done.returncode == 2, done.stderr
        assert "Do you allow this?" in done.stdout
        assert "error: Nobody is there to answer" in done.stderr
    assert not list(homes.folder.rglob("*.rosetta-answer"))


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
    ("text2sql", {**ASKED, "database": "pipe.sqlite"}, "is no SQLite file"),
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


def scored(folder: Path, program: Program, task: str, record: dict[str, Any], code: int) -> str:
    """Score two entries of the same record; gives what the command says."""
    file = folder / "corpus.jsonl"
    file.write_text("\n".join(json.dumps({"id": n, **record}) for n in (1, 2)), "utf-8")
    ended, out, problems = program("score", file, *LANGUAGES, "--task", task)
    assert (ended, "Traceback" in problems) == (code, False), out + problems
    return out + problems


def test_score_refuses_a_bad_record_with_its_place(folder: Path, program: Program) -> None:
    os.mkfifo(folder / "pipe.sqlite")  # nothing waits for it
    for task, record, words in REFUSED:
        told = scored(folder, program, task, record, 2)
        assert words in told
        assert task == "translating" or "entry 1" in told.lower()


@pytest.mark.parametrize(("metric", "task", "record", "value", "said"), SCORED)
def test_score_of_a_bad_output_is_a_value_or_a_reason(
    folder: Path, program: Program, metric: str, task: str, record: dict[str, Any], value: float | None, said: str
) -> None:  # fmt: skip
    assert said in scored(folder, program, task, record, 0)
    program("runs", "export", "last", "-o", folder / "card.json")
    scores = json.loads((folder / "card.json").read_text("utf-8"))["scores"]
    assert scores[metric] == value
    assert (value is None) == bool(scores["reasons"].get(metric))
