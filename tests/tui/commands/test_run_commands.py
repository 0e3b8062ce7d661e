"""The commands that run, in processes of their own: exit codes, streams, Ctrl-C, pipes."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from harness.core.run_state import RunState
from harness.endpoint import ways_out
from harness.method.shipped import method_names
from tests.harness.scripted import (
    Answer,
    Asked,
    Scripted,
    completion,
    error,
    json_answer,
    serving,
    translated,
)
from tests.review.thorough import first, times
from tests.tui.commands.command_line import Program
from tests.tui.commands.processes import ROOT, START, Rosetta, read_until

KILLS = pytest.mark.costly("a process that is stopped, over a whole corpus")
Demo = tuple[Rosetta, tuple[int, str, str]]


@pytest.fixture
def rosetta(tmp_path: Path) -> Rosetta:
    return Rosetta(tmp_path / "home")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Return a data folder with one finished demo, which is only read, and what the demo said."""
    rosetta = Rosetta(tmp_path_factory.mktemp("demo") / "home")
    return rosetta, rosetta("demo")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def endpoint() -> Iterator[Scripted]:
    with serving() as scripted:
        yield scripted


def chat(endpoint: Scripted, *more: object) -> list[object]:
    return ["run", sample_path(DEMO_CORPUS), "-m", "chat", "--model", "mock",
            "--endpoint", endpoint.url, "--attempts", 1, *more]  # fmt: skip


def held(until: Callable[[], bool], first: int) -> Callable[[Asked], Answer]:
    """Answer the first calls at once and hold the others back until something is so."""
    return lambda asked: json_answer(
        completion(asked.source), until=until if asked.number >= first else None
    )


def never() -> bool:
    return False


def events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("encoding", ["ascii", pytest.param("cp1252", marks=pytest.mark.thorough)])
def test_pipe_of_an_old_encoding_gets_every_letter(demo: Demo, encoding: str) -> None:
    """Windows gives pipes a code page that lacks most of the world's letters."""
    environment = demo[0].environment | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    for words, letter in (("runs list", "–"), *[("runs verify last", "✓")] * times(0, 1)):
        shown = subprocess.run(
            [sys.executable, "-P", "-c", START, *words.split()], check=False, cwd=ROOT,
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=600,
        )  # fmt: skip
        assert shown.returncode == 0, shown.stderr
        shown.stderr.decode("utf-8")
        assert letter in shown.stdout.decode("utf-8")


def test_export_is_not_poured_onto_a_terminal(demo: Demo, monkeypatch: pytest.MonkeyPatch, program: Program) -> None:  # fmt: skip
    monkeypatch.setenv("ROSETTA_HOME", str(demo[0].home))
    code, out, _ = program("runs", "export", "last", "-o", "-")
    assert (code, json.loads(out)["dataset"]["id"]) == (0, "eo-demo-v1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, problems = program("runs", "export", "last", "-o", "-")
    assert (code, out, "Give a file, or pipe" in problems) == (2, "", True)


def test_demo_runs_without_key_network_or_terminal(demo: Demo) -> None:
    rosetta, (code, out, problems) = demo
    assert (code, problems) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("run ")
    assert sum(line.startswith(("done  ", "failed")) for line in lines) == 96
    assert any(line.startswith("complete: 96 entries") for line in lines)
    assert any("chrF++" in line and "nrefs:1" in line for line in lines)
    assert rosetta.done() == (RunState.COMPLETE, 96)
    assert stat.S_IMODE(rosetta.home.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("task", "entries", "headline"),
    first(1, [("qa", 12, "F1 of Answers"), ("asr", 12, "Word Error Rate"),
              ("function_call", 10, "Function Call Match")]),
)  # fmt: skip
@pytest.mark.usefixtures("home")
def test_demo_of_another_task(program: Program, task: str, entries: int, headline: str) -> None:
    code, out, problems = program("demo", "--task", task, "--plain", "--fast")
    assert code == 0
    assert all(line.startswith("No lbrag.") for line in problems.splitlines())
    assert any(line.startswith(f"complete: {entries} entries") for line in out.splitlines())
    told = next(line for line in out.splitlines() if "leads: runs are ranked by it" in line)
    assert told.startswith(headline)


@pytest.mark.usefixtures("home")
def test_score_of_records_that_bring_their_outputs(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "qa.jsonl"
    record = {"id": 1, "source": "Who?", "reference": "Anna"}
    told = ("score", file, "--task", "qa", "--source-language", "en", "--target-language", "eo")
    file.write_text(json.dumps(record | {"predicted": "Anna"}), encoding="utf-8")
    code, out, _ = program(*told, "--metrics", "exact_match_rate", "--json")
    assert code == 0
    card = json.loads(out)
    assert (card["scores"]["exact_match_rate"], card["dataset"]["task"]) == (1.0, "qa")
    file.write_text(json.dumps(record), encoding="utf-8")
    code, _, problems = program(*told)
    assert (code, "records bring theirs" in problems) == (2, True)


@pytest.mark.usefixtures("home")
def test_run_prints_json_lines_and_corpus_warnings_once(program: Program, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.tsv"
    corpus.write_text("id\tsource\treference\na\t \tunu\nb\ttwo\tdu\n", encoding="utf-8")
    tags = ("--source-language", "en", "--target-language", "eo")
    run = ["run", corpus, "-m", "copy-source", *tags, "--json-lines"]
    (code, out, first), (code_again, _, second) = (program(*run) for _ in range(2))
    assert code == code_again == 0, first + second
    told = events(out)
    assert (told[0]["event"], told[-1]["event"]) == ("Started", "Finished")
    assert sum(event["event"] == "EntryScored" for event in told) == 2
    assert told[-1]["card_hash"]
    assert len({event["run_id"] for event in told}) == 1
    assert "corpus.tsv, line 2" in first
    assert "corpus.tsv, line 2" not in second
    assert "about this corpus came before its first run" in second
    (tmp_path / "outputs.txt").write_text("unu\ntri\n", encoding="utf-8")
    code, out, _ = program("score", corpus, tmp_path / "outputs.txt", *tags, "--json")
    card = json.loads(out)
    assert [row["predicted"] for row in card["results"]] == ["unu", "tri"]
    assert (code, card["scores"]["exact_match_rate"]) == (0, 0.5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nowhere.json", "-m", "copy-source"], "nowhere.json"),
        (["run", "{corpus}", "-m", "nonsense"], "nonsense"),
        (["run", "{corpus}"], "--method"),
        (["run", "{corpus}", "-m", "chat", "--model", "m"], "--endpoint"),
        (["run", "{corpus}", "-m", "copy-source", "--concurrency", "0"], "--concurrency"),
        (["run", "{corpus}", "-m", "copy-source", "--entries", "nobody"], "nobody"),
        (["run", "{corpus}", "-m", "copy-source", "--body", "x"], "--body"),
        (
            ["run", "{corpus}", "-m", "chat", "--model", "m", "--endpoint",
             "https://model.example/v1", "--offline"],
            "--offline",
        ),
        (["score", "{corpus}", "nowhere.txt"], "nowhere.txt"),
        (["resume", "abc"], "abc"),
        (["nonsense"], "nonsense"),
    ],
)  # fmt: skip
def test_wrong_usage_is_said_and_ends_with_two(program: Program, home: Path, arguments: list[str], words: str) -> None:  # fmt: skip
    corpus = str(sample_path(DEMO_CORPUS))
    code, out, problems = program(*(each.format(corpus=corpus) for each in arguments))
    assert (code, out) == (2, "")
    assert words in problems
    assert "Traceback" not in problems
    kept = Rosetta(home)
    assert not kept.store.exists() or kept.count() == 0


@pytest.mark.every_python
def test_wrong_usage_ends_the_process_with_two(rosetta: Rosetta) -> None:
    code, out, problems = rosetta("run", "nowhere.json", "-m", "copy-source")
    assert (code, out) == (2, "")
    assert "nowhere.json" in problems
    assert "Traceback" not in problems


@pytest.mark.usefixtures("home")
def test_run_that_stops_itself_ends_with_one(program: Program, endpoint: Scripted) -> None:
    assert program("resume")[0] == 2  # no run is waiting
    endpoint.answer = lambda _: error(401, "\x1b[31mwrong key")
    code, out, problems = program(*chat(endpoint))
    assert code == 1
    assert "The key is refused" in problems
    assert "rosetta resume" in problems
    assert "\x1b" not in out + problems
    assert "Traceback" not in problems


@KILLS
@pytest.mark.usefixtures("home")
def test_first_ctrl_c_drains_and_resume_asks_the_rest(rosetta: Rosetta, endpoint: Scripted, program: Program) -> None:  # fmt: skip
    broken, heard = {3, 4, 5}, threading.Event()
    well = held(heard.is_set, 12)
    endpoint.answer = lambda asked: error(500) if asked.number in broken else well(asked)
    process = rosetta.start(*chat(endpoint, "--concurrency", 1))
    read_until(process.stdout, "done", 8)
    process.send_signal(signal.SIGINT)
    read_until(process.stderr, "Finishing what is under way")
    heard.set()
    out, problems = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "rosetta resume" in problems
    state, done = rosetta.done()
    assert state is RunState.STOPPED
    assert 8 <= done < 96
    assert len(endpoint.asked) == done
    endpoint.answer = translated
    code, out, problems = program("resume", "--retry-failed", "--json-lines")
    assert code == 0, problems
    told = events(out)
    assert told[0]["done"] + sum(each["event"] == "EntryScored" for each in told) == 96
    assert told[-1]["failed"] == 0
    assert len(endpoint.asked) == 96 + len(broken)
    assert rosetta.count() == 1


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(signal.SIGINT, id="ctrl-c twice"),
        pytest.param(None, id="terminate", marks=pytest.mark.thorough),
    ],
)
@KILLS
@pytest.mark.usefixtures("home")
def test_second_ctrl_c_and_polite_kill_stop_at_once(rosetta: Rosetta, endpoint: Scripted, program: Program, sent: signal.Signals | None) -> None:  # fmt: skip
    endpoint.answer = held(never, 9)
    process = rosetta.start(*chat(endpoint))
    read_until(process.stdout, "done", 5)
    if sent is not None:
        process.send_signal(sent)
        read_until(process.stderr, "Finishing")
    process.send_signal(signal.SIGTERM if sent is None else signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 130, said
    state, done = rosetta.done()
    assert state is RunState.STOPPED
    assert done >= 5
    endpoint.answer = translated
    code, _, problems = program("resume")
    assert code == 0, problems
    assert rosetta.done() == (RunState.COMPLETE, 96)


@pytest.mark.thorough
def test_ctrl_c_is_heard_however_fast_it_comes(rosetta: Rosetta, endpoint: Scripted) -> None:
    endpoint.answer = held(never, 9)
    process = rosetta.start(*chat(endpoint))
    read_until(process.stdout, "done", 5)
    process.send_signal(signal.SIGINT)
    read_until(process.stderr, "Finishing")
    # as many as the system delivers, also while the last words are said
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode in {130, -signal.SIGINT}, said  # a shell gives 130 for both
    assert "`rosetta resume" in said


@KILLS
@pytest.mark.usefixtures("home")
def test_reader_that_leaves_early_hurts_nothing(rosetta: Rosetta, endpoint: Scripted, program: Program) -> None:  # fmt: skip
    """``rosetta run … | head``"""
    left = threading.Event()

    def answer(asked: Asked) -> Answer:  # a run notices while it writes, long before its end
        if asked.number < 8:
            return json_answer(completion(asked.source))
        return json_answer(completion(asked.source), until=left.is_set, seconds=0.5)

    endpoint.answer = answer
    process = rosetta.start(*chat(endpoint, "--concurrency", 4))
    read_until(process.stdout, "done", 3)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    left.set()
    problems = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=600) == 1
    assert "Traceback" not in problems
    state, done = rosetta.done()
    assert state is RunState.STOPPED
    assert len(endpoint.asked) == done  # what was under way was waited for, and stored
    code, _, problems = program("resume")
    assert code == 0, problems
    assert rosetta.done() == (RunState.COMPLETE, 96)
    assert len(endpoint.asked) == 96


@pytest.mark.usefixtures("home")
def test_run_prints_no_secret_text(program: Program, endpoint: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    secret = "the medicine bundle"
    corpus = tmp_path / "corpus.json"
    dataset = {"id": "s", "version": "1", "language_pair": "EN→EO", "source_language": "en",
               "target_language": "eo"}  # fmt: skip
    entries = [
        {"id": n, "source": f"{secret} {n}", "reference": f"{secret} {n} ref",
         "segment": "held_out"}
        for n in range(6)
    ]  # fmt: skip
    corpus.write_text(json.dumps({"dataset": dataset, "entries": entries}), encoding="utf-8")
    endpoint.answer = lambda asked: (
        error(400, asked.source) if asked.number % 2 else json_answer(completion(asked.source))
    )
    said = ""
    monkeypatch.setattr(ways_out, "ways_out", lambda: ("wlan0",))
    for style in ("--plain", "--json-lines"):
        arguments = ["run", corpus, "-m", "chat", "--model", "m", "--endpoint", endpoint.url,
                         "--trust-local-server"]  # fmt: skip
        code, out, problems = program(*arguments, style)
        assert code == 0, problems
        assert ("a way to other machines (wlan0)" in problems) == (style == "--plain")
        said += out + problems
    assert secret not in said
    code, out, problems = program(
        "run", corpus, "-m", "chat", "--model", "m", "--endpoint", "https://model.example/v1"
    )
    assert code == 2
    assert "secret segment" in problems
    assert secret not in problems


def test_run_help_lists_every_method(program: Program) -> None:
    code, out, _ = program("run", "--help")
    assert code == 0
    assert all(f"\n  {method} " in out for method in method_names())
