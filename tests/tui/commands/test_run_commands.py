"""The commands that run, in processes of their own: exit codes, streams, Ctrl-C, pipes."""

from __future__ import annotations

import json
import os
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
from rosetta_tui.cli import main
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
from tests.tui.commands.processes import ROOT, START, Rosetta, read_until


@pytest.fixture
def rosetta(tmp_path: Path) -> Rosetta:
    return Rosetta(tmp_path / "home")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Rosetta, tuple[int, str, str]]:
    """Return a data folder with one finished demo, which is only read, and what the demo said."""
    rosetta = Rosetta(tmp_path_factory.mktemp("demo") / "home")
    return rosetta, rosetta("demo")


class Here:
    """The command line, called in this process, with a data folder of its own."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self._capsys = home, capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(each) for each in arguments])
        assert isinstance(ended.value.code, int)
        return ended.value.code, *self._capsys.readouterr()


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    return Here(tmp_path / "home", capsys)


@pytest.fixture
def in_demo(
    demo: tuple[Rosetta, object],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Here:
    home = demo[0].home
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    return Here(home, capsys)


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
def test_a_pipe_of_an_old_encoding_gets_every_letter(rosetta: Rosetta, encoding: str) -> None:
    """Windows gives pipes a code page that lacks most of the world's letters."""
    environment = rosetta.environment | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    for words in (["demo", "--fast", "--plain"], ["runs", "list"], ["runs", "verify", "last"]):
        shown = subprocess.run(
            [sys.executable, "-P", "-c", START, *words], check=False, cwd=ROOT, env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=600,
        )  # fmt: skip
        assert shown.returncode == 0, shown.stderr
        shown.stderr.decode("utf-8")
        assert {"demo": "·", "runs": "–" if "list" in words else "✓"}[words[0]] in (
            shown.stdout.decode("utf-8")
        )


def test_an_export_is_not_poured_onto_a_terminal(
    demo: tuple[Rosetta, object], in_demo: Here
) -> None:
    pty = pytest.importorskip("pty", reason="this system has no pseudo terminals")
    rosetta, _ = demo
    ours, theirs = pty.openpty()
    shown = subprocess.run(
        [sys.executable, "-P", "-c", START, "runs", "export", "last", "-o", "-"], check=False,
        cwd=ROOT, env=rosetta.environment, stdin=subprocess.DEVNULL, stdout=theirs,
        stderr=subprocess.PIPE, text=True, timeout=600,
    )  # fmt: skip
    os.close(theirs)
    os.close(ours)
    assert shown.returncode == 2
    assert "Give a file, or pipe" in shown.stderr
    piped, out, _ = in_demo("runs", "export", "last", "-o", "-")
    assert (piped, json.loads(out)["dataset"]["id"]) == (0, "eo-demo-v1")


def test_the_demo_runs_without_key_network_or_terminal(
    demo: tuple[Rosetta, tuple[int, str, str]],
) -> None:
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
    [("qa", 12, "F1 of Answers"), ("asr", 12, "Word Error Rate"),
     ("function_call", 10, "Function Call Match")],
)  # fmt: skip
def test_the_demo_of_another_task_runs_without_key_or_network(
    rosetta: Rosetta, task: str, entries: int, headline: str
) -> None:
    code, out, problems = rosetta("demo", "--task", task, "--plain")
    assert code == 0
    assert all(line.startswith("No lbrag.") for line in problems.splitlines())
    assert any(line.startswith(f"complete: {entries} entries") for line in out.splitlines())
    told = next(line for line in out.splitlines() if "leads: runs are ranked by it" in line)
    assert told.startswith(headline)


def test_records_that_bring_their_outputs_are_scored_without_a_file_of_outputs(
    rosetta: Rosetta, tmp_path: Path
) -> None:
    file = tmp_path / "qa.jsonl"
    record = {"id": 1, "source": "Who?", "reference": "Anna"}
    told = (
        "score",
        str(file),
        "--task",
        "qa",
        "--source-language",
        "en",
        "--target-language",
        "eo",
    )
    file.write_text(json.dumps(record | {"predicted": "Anna"}), encoding="utf-8")
    code, out, _ = rosetta(*told, "--metrics", "exact_match_rate", "--json")
    assert code == 0
    card = json.loads(out)
    assert (card["scores"]["exact_match_rate"], card["dataset"]["task"]) == (1.0, "qa")
    file.write_text(json.dumps(record), encoding="utf-8")
    code, _, problems = rosetta(*told)
    assert (code, "records bring theirs" in problems) == (2, True)


def test_json_lines_are_nothing_but_json(rosetta: Rosetta) -> None:
    code, out, problems = rosetta("demo", "--system", "griza", "--json-lines")
    assert (code, problems) == (0, "")
    told = events(out)
    assert (told[0]["event"], told[-1]["event"]) == ("Started", "Finished")
    assert sum(event["event"] == "EntryScored" for event in told) == 96
    assert told[-1]["card_hash"]
    assert len({event["run_id"] for event in told}) == 1


def test_outputs_made_elsewhere_are_scored_and_the_card_is_printed(
    rosetta: Rosetta, tmp_path: Path
) -> None:
    corpus = tmp_path / "corpus.tsv"
    corpus.write_text("id\tsource\treference\na\tone\tunu\nb\ttwo\tdu\n", encoding="utf-8")
    outputs = tmp_path / "outputs.txt"
    outputs.write_text("unu\ntri\n", encoding="utf-8")
    tags = ("--source-language", "en", "--target-language", "eo")
    code, out, problems = rosetta("score", corpus, outputs, *tags, "--json")
    assert code == 0, problems
    card = json.loads(out)
    assert [row["predicted"] for row in card["results"]] == ["unu", "tri"]
    assert card["scores"]["exact_match_rate"] == 0.5
    assert card["run_card_hash"]


def test_warnings_of_a_corpus_stand_before_its_first_run_only(here: Here, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.tsv"
    corpus.write_text("id\tsource\treference\na\t \tunu\nb\ttwo\tdu\n", encoding="utf-8")
    tags = ("--source-language", "en", "--target-language", "eo")
    run = ["run", corpus, "-m", "copy-source", *tags, "--json-lines"]
    (code, _, first), (code_again, _, second) = (here(*run) for _ in range(2))
    assert code == code_again == 0, first + second
    assert "corpus.tsv, line 2" in first
    assert "corpus.tsv, line 2" not in second
    assert (
        "about this corpus came before its first run; `rosetta corpus check` shows them all"
        in second
    )


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
def test_wrong_usage_is_said_in_words_and_ends_with_two(
    here: Here, arguments: list[str], words: str
) -> None:
    corpus = str(sample_path(DEMO_CORPUS))
    code, out, problems = here(*(each.format(corpus=corpus) for each in arguments))
    assert (code, out) == (2, "")
    assert words in problems
    assert "Traceback" not in problems
    kept = Rosetta(here.home)
    assert not kept.store.exists() or kept.count() == 0


@pytest.mark.parametrize("words", ["nonsense", "run nowhere.json -m copy-source"])
def test_wrong_usage_ends_the_process_with_two_and_words(rosetta: Rosetta, words: str) -> None:
    code, out, problems = rosetta(*words.split())
    assert (code, out) == (2, "")
    assert words.split()[:2][-1] in problems
    assert "Traceback" not in problems


def test_a_run_that_stops_itself_ends_with_one_and_says_why(
    rosetta: Rosetta, endpoint: Scripted
) -> None:
    endpoint.answer = lambda _: error(401, "\x1b[31mwrong key")
    code, out, problems = rosetta(*chat(endpoint))
    assert code == 1
    assert "The key is refused" in problems
    assert "rosetta resume" in problems
    assert "\x1b" not in out + problems
    assert "Traceback" not in problems


def test_nothing_is_left_to_resume_after_the_end(in_demo: Here) -> None:
    code, out, problems = in_demo("resume")
    assert (code, out) == (2, "")
    assert "No run is waiting to go on" in problems


def test_the_first_ctrl_c_drains_and_saves_and_resume_asks_only_the_rest(
    rosetta: Rosetta, endpoint: Scripted
) -> None:
    heard = threading.Event()
    endpoint.answer = held(heard.is_set, 8)
    process = rosetta.start(*chat(endpoint))
    read_until(process.stdout, "done", 5)
    process.send_signal(signal.SIGINT)
    read_until(process.stderr, "Finishing what is under way")
    heard.set()
    out, problems = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "rosetta resume" in problems
    state, done = rosetta.done()
    assert state is RunState.STOPPED
    assert 5 <= done < 96
    assert len(endpoint.asked) == done
    endpoint.answer = translated
    code, out, problems = rosetta("resume", "--json-lines")
    assert code == 0, problems
    told = events(out)
    assert told[0]["done"] == done
    assert sum(event["event"] == "EntryScored" for event in told) == 96 - done
    assert len(endpoint.asked) == 96
    assert rosetta.count() == 1


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(signal.SIGINT, id="ctrl-c twice"),
        pytest.param(None, id="terminate", marks=pytest.mark.thorough),
    ],
)
def test_the_second_ctrl_c_stops_at_once_and_so_does_a_polite_kill(
    rosetta: Rosetta, endpoint: Scripted, first: signal.Signals | None
) -> None:
    endpoint.answer = held(never, 9)
    process = rosetta.start(*chat(endpoint))
    read_until(process.stdout, "done", 5)
    if first is not None:
        process.send_signal(first)
        read_until(process.stderr, "Finishing")
    process.send_signal(signal.SIGTERM if first is None else signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 130, said
    state, done = rosetta.done()
    assert state is RunState.STOPPED
    assert done >= 5
    endpoint.answer = translated
    code, _, problems = rosetta("resume")
    assert code == 0, problems
    assert rosetta.done() == (RunState.COMPLETE, 96)


@pytest.mark.thorough
def test_however_fast_ctrl_c_comes_again_it_is_heard(rosetta: Rosetta, endpoint: Scripted) -> None:
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


def test_a_reader_that_leaves_early_hurts_nothing(rosetta: Rosetta, endpoint: Scripted) -> None:
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
    code, _, problems = rosetta("resume")
    assert code == 0, problems
    assert rosetta.done() == (RunState.COMPLETE, 96)
    assert len(endpoint.asked) == 96


def test_failed_entries_can_be_asked_for_again(rosetta: Rosetta, endpoint: Scripted) -> None:
    broken, heard = {3, 4, 5}, threading.Event()
    well = held(heard.is_set, 12)
    endpoint.answer = lambda asked: error(500) if asked.number in broken else well(asked)
    process = rosetta.start(*chat(endpoint, "--concurrency", 1))
    read_until(process.stdout, "done", 8)
    process.send_signal(signal.SIGINT)
    read_until(process.stderr, "Finishing")
    heard.set()
    process.communicate(timeout=600)
    code, out, problems = rosetta("resume", "--retry-failed", "--json-lines")
    assert code == 0, problems
    assert events(out)[-1]["failed"] == 0
    assert len(endpoint.asked) == 96 + len(broken)


def test_secret_entries_pass_through_the_command_line_unspoken(
    here: Here, endpoint: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        code, out, problems = here(*arguments, style)
        assert code == 0, problems
        assert ("a way to other machines (wlan0)" in problems) == (style == "--plain")
        said += out + problems
    assert secret not in said
    code, out, problems = here(
        "run", corpus, "-m", "chat", "--model", "m", "--endpoint", "https://model.example/v1"
    )
    assert code == 2
    assert "secret segment" in problems
    assert secret not in problems


def test_help_lists_every_method(here: Here) -> None:
    code, out, _ = here("run", "--help")
    assert code == 0
    for method in method_names():
        assert f"\n  {method} " in out
