"""The commands that run, and sweeps: exit codes, streams, what is printed and refused, Ctrl-C, pipes."""

from __future__ import annotations

import json
import re
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from docs import make_schemas
from harness.core.failures import RunState
from harness.endpoint import offline
from harness.method.method_names import method_names
from harness.store.sqlite.database import open_store
from harness.store.sweeps import find_sweep
from harness.sweep.expansion import expand, open_plan_corpus
from harness.sweep.plan import read_plan
from harness.sweep.record import sweep_record
from rosetta_tui.commands.run import run
from tests.harness.scripted import Answer, Asked, Scripted, completion, error, json_answer, serving, translated
from tests.review.thorough import times
from tests.tui.commands.command_line import ROOT, START, Program, Rosetta, made_once, read_until, said

DOCS = Path(__file__).parents[3] / "docs"
Demo = tuple[Path, list[dict[str, Any]]]
"""The data folder, and what was printed as JSON lines."""


def swept(folder: Path, patch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Run the demo's sweep; gives what it printed as JSON lines."""
    done = said("sweep demo.toml --workers 1 --json-lines", folder)
    assert (done.exit_code, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return made_once(tmp_path_factory, "swept", swept)


def require_schema(name: str, value: object) -> None:
    schema = json.loads((make_schemas.SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(value)


def test_sweep_of_the_demo_tells_of_each_run(demo: Demo) -> None:
    _, lines = demo
    for each in lines:
        require_schema("sweep-event", each)
    complete = {each["name"] for each in lines if each.get("state") == "complete" and each["event"] == "cell"}
    assert complete == {"Verda", "Griza", "word by word", "source copied"}
    assert lines[-1]["event"] == "sweep"
    assert lines[-1]["state"] == "complete"


def test_sweep_show_and_list_print_text_and_json(demo: Demo) -> None:
    home, lines = demo
    shown = json.loads(said("sweep show demo --json", home).stdout)
    require_schema("sweep", shown)
    cells = {each["name"]: each for each in shown["cells"]}
    assert cells["Verda"]["composite"] > cells["Griza"]["composite"]
    low, high = cells["Verda"]["composite_interval"]
    assert low < cells["Verda"]["composite"] < high
    text = said("sweep show", home).stdout
    row = next(line for line in text.splitlines() if "source copied" in line)
    assert "baseline" in row
    assert "! Griza: failed: 2 empty" in text
    listed = json.loads(said("sweep list --json", home).stdout)
    require_schema("sweep-list", listed)
    assert listed[0]["cells_by_state"]["complete"] == 4
    assert lines[-1]["id"] in said("sweep list", home).stdout


def test_sweep_estimate_adds_up_calls_and_money(tmp_path: Path) -> None:
    rows = "id\tsource\treference\n1\ta dog\thundo\n2\ta cat\tkato\n"
    (tmp_path / "c.tsv").write_text(rows, "utf-8")
    (tmp_path / "plan.toml").write_text(
        'version = 1\ncorpus = "c.tsv"\nreplicates = 3\nbudget_usd = 0.000001\n[reading]\n'
        'source_language = "en"\ntarget_language = "eo"\n[axes]\nmodel = ["gpt-4o", "gpt-4o-mini"]\n'
        '[fixed]\nmethod = "chat"\nendpoint = "openai"\n',
        "utf-8",
    )
    done = said(f"sweep {tmp_path}/plan.toml --estimate --json", tmp_path / "home")
    found = json.loads(done.stdout)
    require_schema("sweep-estimate", found)
    assert (len(found["runs"]), found["to_make"]) == (6, 6)
    assert found["calls"]["expected"] == 2 * 2 * 3
    parts = [each["estimate"]["cost_usd"]["expected"] for each in found["runs"]]
    assert found["cost_usd"]["expected"] == pytest.approx(sum(parts))
    assert "will be reached" in found["budget"]
    text = said(f"sweep {tmp_path}/plan.toml --estimate", tmp_path / "home").stdout
    assert "Runs     6 of 6" in text


REFUSED = [
    ("sweep nowhere.toml", "nowhere.toml: the plan of a sweep cannot be read"),
    ("sweep show nothing", "There is no sweep 'nothing'"),
    ("sweep stop last", "Nobody is working on sweep"),
    ("sweep shw", "Did you mean 'show'?"),
    ("sweep demo.toml --estimate --plain", "leave out --plain"),
    ("sweep demo.toml --json", "--json goes with --estimate"),
    ("sweep resume last --budget -1", "--budget"),
]


def test_sweep_refuses_wrong_usage(demo: Demo, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(demo[0]))
    for line, words in REFUSED:
        code, out, problems = program(*line.split())
        assert (code, out, words in problems) == (2, "", True), line


@pytest.mark.costly("a process that is stopped, with workers of its own")
def test_sweep_ctrl_c_drains_and_resume_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    rows = "".join(f"{n}\tentry number {n}\tENTRY NUMBER {n}\n" for n in range(5))
    (tmp_path / "c.tsv").write_text(f"id\tsource\treference\n{rows}", "utf-8")
    with serving() as server:
        (tmp_path / "plan.toml").write_text(
            'version = 1\ncorpus = "c.tsv"\nworkers = 1\n[reading]\nsource_language = "en"\n'
            'target_language = "eo"\n[axes]\nmodel = ["a", "b"]\n[fixed]\nmethod = "chat"\n'
            f'endpoint = "{server.url}"\nconcurrency = 2\n',
            "utf-8",
        )
        command = Rosetta(tmp_path / "home")
        process = command.start("sweep", str(tmp_path / "plan.toml"))

        def interrupt(asked: Asked) -> Answer:
            if asked.number == 3:
                process.send_signal(signal.SIGINT)
            return translated(asked, seconds=0.1)

        server.answer = interrupt
        out, problems = process.communicate(timeout=600)
        assert process.returncode == 130
        assert "Finishing what is under way." in problems
        assert "continues." in problems
        assert "Stopped: " in out
        with closing(open_store(command.store)) as connection:
            found = sweep_record(connection, find_sweep(connection, "last"))
        assert 0 < found.entries_done == len(server.asked) < 10
        server.answer = translated
        assert said("sweep resume last", tmp_path / "home").exit_code == 0
        assert len(server.asked) == 10


def test_docs_plan_of_a_sweep_is_a_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    text = (DOCS / "sweeps.md").read_text("utf-8").split("```toml\n")[1].split("```")[0]
    (tmp_path / "plan.toml").write_text(text.replace("budget_usd = 20.0\n", ""), "utf-8")
    rows = "id\tsource\treference\tsegment\n1\ta dog\thundo\tdevelopment\n"
    (tmp_path / "corpus.tsv").write_text(rows, "utf-8")
    (tmp_path / "coaching.json").write_text('{"notes": ["Plurals end in -j."]}', "utf-8")
    (tmp_path / "words.tsv").write_text("dog\thundo\n", "utf-8")
    found = read_plan(tmp_path / "plan.toml")
    cells = expand(found, open_plan_corpus(found))
    # 2 temperatures of one model and 1 of the other, with and without coaching and tools, thrice; and the copy once
    assert len(cells) == (2 + 1) * 2 * 2 * 3 + 1


KILLS = pytest.mark.costly("a process that is stopped, over a whole corpus")
DemoRun = tuple[Rosetta, tuple[int, str, str]]


@pytest.fixture
def rosetta(tmp_path: Path) -> Rosetta:
    return Rosetta(tmp_path / "home")


@pytest.fixture(scope="module")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> DemoRun:
    """Return a data folder with one finished demo, which is only read, and what the demo said."""
    rosetta = Rosetta(tmp_path_factory.mktemp("demo") / "home")
    return rosetta, rosetta("demo")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


SIZE = 24


def chat(endpoint: Scripted, *more: object) -> list[object]:
    return ["run", sample_path(DEMO_CORPUS), "-m", "chat", "--model", "mock",
            "--endpoint", endpoint.url, "--attempts", 1, "--limit", SIZE, *more]  # fmt: skip


def held(until: Callable[[], bool], first: int) -> Callable[[Asked], Answer]:
    """Answer the first calls at once and hold the others back until something is so."""
    return lambda asked: json_answer(completion(asked.source), until=until if asked.number >= first else None)


def never() -> bool:
    return False


def events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_pipe_of_an_old_encoding_gets_every_letter(demo_run: DemoRun) -> None:
    """Windows gives pipes a code page that lacks most of the world's letters."""
    environment = demo_run[0].environment | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    shown = subprocess.run(
        [sys.executable, "-P", "-c", START, "runs", "list"], check=False, cwd=ROOT,
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=600,
    )  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    shown.stderr.decode("utf-8")
    assert "–" in shown.stdout.decode("utf-8")


def test_export_is_not_poured_onto_a_terminal(demo_run: DemoRun, monkeypatch: pytest.MonkeyPatch, program: Program) -> None:  # fmt: skip
    monkeypatch.setenv("ROSETTA_HOME", str(demo_run[0].home))
    code, out, _ = program("runs", "export", "last", "-o", "-")
    assert (code, json.loads(out)["dataset"]["id"]) == (0, "eo-demo-v1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, problems = program("runs", "export", "last", "-o", "-")
    assert (code, out, "Give a file, or pipe" in problems) == (2, "", True)


def test_demo_runs_without_key_network_or_terminal(demo_run: DemoRun) -> None:
    rosetta, (code, out, problems) = demo_run
    assert (code, problems) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("run ")
    assert sum(line.startswith(("done  ", "failed")) for line in lines) == 96
    assert any(line.startswith("complete: 96 entries") for line in lines)
    summary = lines[-12:]
    assert any(line.startswith("chrF++ ") for line in summary)
    assert sum(line.startswith("every score") for line in summary) == 1
    assert rosetta.done() == (RunState.COMPLETE, 96)
    assert stat.S_IMODE(rosetta.home.stat().st_mode) == 0o700


TASKS = [("qa", 12, "F1 of Answers"), ("asr", 12, "Word Error Rate"), ("function_call", 10, "Function Call Match")]


@pytest.mark.usefixtures("home")
def test_demo_of_another_task(program: Program) -> None:
    for task, entries, headline in TASKS[: times(1, 3)]:
        code, out, problems = program("demo", "--task", task, "--plain", "--fast")
        assert code == 0
        assert all(line.startswith("No lbrag.") for line in problems.splitlines())
        lines = out.splitlines()
        assert any(line.startswith(f"complete: {entries} entries") for line in lines)
        assert any(line.startswith(headline) for line in lines[-9:])


@pytest.mark.usefixtures("home")
def test_run_prints_json_lines_and_corpus_warnings_once(program: Program, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.tsv"
    corpus.write_text("id\tsource\treference\na\t \tunu\nb\ttwo\tdu\n", encoding="utf-8")
    tags = ("--source-language", "en", "--target-language", "eo")
    run = ["run", corpus, "-m", "copy-source", *tags, "--json-lines"]
    (code, out, first), (code_again, _, second) = (program(*run) for _ in range(2))
    assert code == code_again == 0, first + second
    told = events(out)
    assert [told[place]["event"] for place in (0, 1, -1)] == ["Preparing", "Started", "Finished"]
    assert sum(event["event"] == "EntryScored" for event in told) == 2
    assert told[-1]["card_hash"]
    big = tmp_path / "big.tsv"
    big.write_text("source\treference\n" + f"{'x' * 600}\ty\n" * 1000, encoding="utf-8")
    _, _, said = program("run", big, *run[2:-1], "--limit", "1")
    assert said.splitlines()[0] == "preparing …"
    assert "preparing" not in first
    code, out, _ = program("run", tmp_path / "none.tsv", *run[2:])  # before a text is read
    assert (code, [event["event"] for event in events(out)]) == (2, ["Preparing"])
    assert len({event["run_id"] for event in told[1:]}) == 1
    assert "corpus.tsv, line 2" in first
    assert "corpus.tsv, line 2" not in second
    assert "about this corpus came before its first run" in second
    (tmp_path / "outputs.txt").write_text("unu\ntri\n", encoding="utf-8")
    code, out, _ = program("score", corpus, tmp_path / "outputs.txt", *tags, "--json")
    card = json.loads(out)
    assert [row["predicted"] for row in card["results"]] == ["unu", "tri"]
    assert (code, card["scores"]["exact_match_rate"]) == (0, 0.5)


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
def test_first_ctrl_c_drains_and_resume_asks_the_rest(rosetta: Rosetta, endpoint: Scripted, program: Program) -> None:
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
    assert 8 <= done < SIZE
    assert len(endpoint.asked) == done
    endpoint.answer = translated
    code, out, problems = program("resume", "--retry-failed", "--json-lines")
    assert code == 0, problems
    told = events(out)
    assert told[1]["done"] + sum(each["event"] == "EntryScored" for each in told) == SIZE
    assert told[-1]["failed"] == 0
    assert len(endpoint.asked) == SIZE + len(broken)
    assert rosetta.count() == 1


@pytest.mark.parametrize("sent", [
    pytest.param(signal.SIGINT, id="ctrl-c twice"),
    pytest.param(None, id="terminate", marks=pytest.mark.thorough),
])  # fmt: skip
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
    assert rosetta.done() == (RunState.COMPLETE, SIZE)


@KILLS
@pytest.mark.usefixtures("home")
def test_reader_that_leaves_early_hurts_nothing(rosetta: Rosetta, endpoint: Scripted, program: Program) -> None:
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
    assert rosetta.done() == (RunState.COMPLETE, SIZE)
    assert len(endpoint.asked) == SIZE


@pytest.mark.usefixtures("home")
def test_run_prints_no_secret_text(program: Program, endpoint: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Though the endpoint gives it back in its errors."""
    secret, corpus = "the medicine bundle", tmp_path / "corpus.tsv"
    rows = [f"{n}\t{secret} {n}\t{secret} {n} ref\tgold_standard" for n in range(6)]
    corpus.write_text("\n".join(["id\tsource\treference\tsegment", *rows]) + "\n", "utf-8")
    endpoint.answer = lambda asked: (
        error(400, asked.source) if asked.number % 2 else json_answer(completion(asked.source))
    )
    monkeypatch.setattr(offline, "network_routes", lambda: ("wlan0",))
    run = ["run", corpus, "--source-language", "en", "--target-language", "eo", "-m", "chat", "--model", "m"]
    for style in ("--plain", "--json-lines"):
        code, out, problems = program(*run, "--endpoint", endpoint.url, "--trust-local-server", style)
        assert code == 0, problems
        assert ("a way to other machines (wlan0)" in problems) == (style == "--plain")
        assert secret not in out + problems
    code, _, problems = program(*run, "--endpoint", "https://model.example/v1")
    assert (code, "secret segment" in problems, secret in problems) == (2, True, False)


def test_run_help_lists_every_method(program: Program) -> None:
    code, out, _ = program("run", "--help")
    assert code == 0
    assert all(f"\n  {method} " in out for method in method_names())
    explained = re.findall(r"^  (?:-\w, )?(--[\w-]+)", out, re.MULTILINE)
    assert len(explained) == 14  # thirteen and --help
    assert "--clock-was-wrong" in out
    every = program("run", "-h", "--all")[1]
    shown = {max(each.opts, key=len) for each in run.params if isinstance(each, click.Option)}
    assert shown <= set(re.findall(r"--[\w-]+", every))


@pytest.mark.usefixtures("home")
def test_model_that_is_not_served_is_said_once_with_those_that_are(program: Program) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.path.endswith("/models"):
            return json_answer({"data": [{"id": "qwen2.5-7b"}, {"id": "gemma-3"}]})
        return error(404, "model 'qwen2.5-7' not found")

    with serving(answer) as server:
        code, out, problems = program(
            "run", str(sample_path(DEMO_CORPUS)), "--method", "chat", "--endpoint", server.url,
            "--model", "qwen2.5-7", "--plain", "--concurrency", "1",
        )  # fmt: skip
    assert code == 1
    failed = [line for line in out.splitlines() if line.startswith("failed")]
    assert len(failed) == 3
    assert [line.endswith("as the one before") for line in failed] == [False, True, True]
    assert "serves no qwen2.5-7. Did you mean qwen2.5-7b? Served: gemma-3, qwen2.5-7b." in problems
