"""``rosetta sweep``: the demo plan, what is printed and shown, refusals, and Ctrl-C."""

from __future__ import annotations

import json
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from docs import make_schemas
from harness.store.file.database import open_store
from harness.store.sweeps import find_sweep
from harness.sweep.expansion import expand, open_plan_corpus
from harness.sweep.plan import read_plan
from harness.sweep.record import sweep_record
from tests.harness.scripted import Answer, Asked, completion, json_answer, serving, translated
from tests.harness.sweep.sweeping import begun
from tests.tui.commands.command_line import Program, ok, said
from tests.tui.commands.made_once import made_once
from tests.tui.commands.processes import Rosetta

DOCS = Path(__file__).parents[3] / "docs"


def swept(folder: Path, patch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Run the demo's sweep; gives what it printed as JSON lines."""
    done = said("sweep demo.toml --json-lines", folder)
    assert (done.exit_code, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    return made_once(tmp_path_factory, "swept", swept)


@pytest.fixture
def home(demo: tuple[Path, object]) -> Path:
    return demo[0]


@pytest.fixture
def lines(demo: tuple[object, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return demo[1]


def require_schema(name: str, value: object) -> None:
    schema = json.loads((make_schemas.SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(value)


def test_sweep_of_the_demo_tells_of_each_run(lines: list[dict[str, Any]]) -> None:
    for each in lines:
        require_schema("sweep-event", each)
    complete = {each["name"] for each in lines if each.get("state") == "complete" and each["event"] == "cell"}  # fmt: skip
    assert complete == {"Verda", "Griza", "word by word", "source copied"}
    assert lines[-1]["event"] == "sweep"
    assert lines[-1]["state"] == "complete"


def test_sweep_show_and_list_print_text_and_json(home: Path, lines: list[dict[str, Any]]) -> None:
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


def test_sweep_estimate_knows_the_store(home: Path, lines: list[dict[str, Any]], tmp_path: Path) -> None:  # fmt: skip
    found = json.loads(said("estimate demo.toml --json", home).stdout)
    require_schema("sweep-estimate", found)
    assert found["to_make"] == 0
    fresh = json.loads(said("estimate demo.toml --json", tmp_path / "other").stdout)
    assert fresh["to_make"] == sum(lines[-1]["cells_by_state"].values())
    assert fresh["cost_usd"] == {"low": 0.0, "expected": 0.0, "high": 0.0}


def test_sweep_estimate_adds_up_calls_and_money(tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text(
        "id\tsource\treference\n1\ta dog\thundo\n2\ta cat\tkato\n", "utf-8"
    )
    (tmp_path / "plan.toml").write_text(
        'version = 1\ncorpus = "c.tsv"\nreplicates = 3\nbudget_usd = 0.000001\n[reading]\n'
        'source_language = "en"\ntarget_language = "eo"\n[axes]\nmodel = ["gpt-4o", "gpt-4o-mini"]\n'
        '[fixed]\nmethod = "chat"\nendpoint = "openai"\n',
        "utf-8",
    )
    done = said(f"estimate {tmp_path}/plan.toml --json", tmp_path / "home")
    found = json.loads(done.stdout)
    assert (len(found["runs"]), found["to_make"]) == (6, 6)
    assert found["calls"]["expected"] == 2 * 2 * 3
    parts = [each["estimate"]["cost_usd"]["expected"] for each in found["runs"]]
    assert found["cost_usd"]["expected"] == pytest.approx(sum(parts))
    assert "will be reached" in found["budget"]
    text = said(f"estimate {tmp_path}/plan.toml", tmp_path / "home").stdout
    assert "Runs     6 of 6" in text


REFUSED = [
    ("sweep nowhere.toml", "nowhere.toml: the plan of a sweep cannot be read"),
    ("sweep show nothing", "There is no sweep 'nothing'"),
    ("sweep stop last", "Nobody is working on sweep"),
    ("sweep shw", "Did you mean 'show'?"),
    ("estimate demo.toml --limit 3", "leave options out"),
    ("sweep resume last --budget -1", "--budget"),
]


def test_sweep_refuses_wrong_usage(home: Path, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    for line, words in REFUSED:
        code, out, problems = program(*line.split())
        assert (code, out, words in problems) == (2, "", True), line


@pytest.mark.costly("a process that is stopped, with workers of its own")
def test_sweep_ctrl_c_drains_and_resume_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    with serving() as server:
        store, _ = begun(tmp_path, server.url, size=10)
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
        assert "goes on." in problems
        assert "Stopped: 2 runs" in out
        with closing(open_store(store)) as connection:
            found = sweep_record(connection, find_sweep(connection, "last"))
        assert 0 < found.entries_done == len(server.asked) < 20
        server.answer = translated
        assert said("sweep resume last", tmp_path / "home").exit_code == 0
        assert len(server.asked) == 20


@pytest.mark.costly("a race needs two runs over forty entries")
def test_sweep_race_says_who_was_raced_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))

    def answer(asked: Asked) -> Answer:
        poor = asked.body["model"] == "poor"
        return json_answer(completion("%%%")) if poor else translated(asked)

    with serving(answer) as server:
        begun(tmp_path, server.url, '[axes]\nmodel = ["good", "poor"]', size=40)
        out = ok(f"sweep {tmp_path}/plan.toml --race")
        asked = len(server.asked)
    words = next(line for line in out.splitlines() if line.startswith("poor: raced-out"))
    assert "of 40: raced out after " in words
    assert words.endswith(" below good")
    assert f"1 run raced out, {80 - asked} entries not asked for." in out
    shown = said("sweep show", tmp_path / "home").stdout
    assert f"! poor: raced out after {asked - 40} of 40 entries: " in shown
    found = json.loads(said("sweep show --json", tmp_path / "home").stdout)
    require_schema("sweep", found)
    good, poor = found["cells"]
    assert (good["state"], poor["state"], poor["raced_out"]["leader"]) == ("complete", "raced-out", "good")  # fmt: skip
    assert (found["race_seed"], found["entries_spared"]) == (12345, 80 - asked)
    ranked = said("leaderboard --json", tmp_path / "home").stdout
    assert good["run_id"] in ranked
    assert poor["run_id"] not in ranked
    assert "raced out after" in said(f"runs show {poor['run_id']}", tmp_path / "home").stdout


def test_docs_plan_of_a_sweep_is_a_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    text = (DOCS / "sweeps.md").read_text("utf-8").split("```toml\n")[1].split("```")[0]
    (tmp_path / "plan.toml").write_text(text.replace("budget_usd = 20.0\n", ""), "utf-8")
    (tmp_path / "corpus.tsv").write_text(
        "id\tsource\treference\tsegment\n1\ta dog\thundo\tdevelopment\n", "utf-8"
    )
    (tmp_path / "coaching.json").write_text('{"notes": ["Plurals end in -j."]}', "utf-8")
    (tmp_path / "words.tsv").write_text("dog\thundo\n", "utf-8")
    found = read_plan(tmp_path / "plan.toml")
    cells = expand(found, open_plan_corpus(found))
    # 2 temperatures of one model and 1 of the other, with and without coaching and tools, thrice; and the copy once
    assert len(cells) == (2 + 1) * 2 * 2 * 3 + 1


@pytest.mark.costly("runs a whole sweep")
def test_sweep_of_answers_shows_what_ranks_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    rows = [("Capital of France?", "Paris"), ("Capital of Italy?", "Rome")]
    told = [{"id": n, "source": q, "reference": a} for n, (q, a) in enumerate(rows)]
    Path("qa.jsonl").write_text("".join(json.dumps(each) + "\n" for each in told), "utf-8")
    Path("good.txt").write_text("Paris\nRome\n", "utf-8")
    Path("poor.txt").write_text("Paris\nOslo\n", "utf-8")
    reading = '[reading]\ntask = "qa"\nsource_language = "en"\ntarget_language = "en"\n'
    axes = '[axes]\nmodel = [{label = "good", outputs = "good.txt"}, {label = "poor", outputs = "poor.txt"}]\n'
    Path("qa.toml").write_text(
        f'version = 1\ncorpus = "qa.jsonl"\n{reading}[fixed]\nmethod = "replay"\n{axes}', "utf-8"
    )
    printed = said("sweep qa.toml --plain", tmp_path / "home").stdout
    assert {"good: complete, F1 1.00", "poor: complete, F1 0.50"} <= set(printed.splitlines())
    shown = said("sweep show last", tmp_path / "home").stdout
    assert "entries  F1    95 %       cost" in shown
    assert "composite" not in shown
    found = json.loads(said("sweep show last --json", tmp_path / "home").stdout)
    require_schema("sweep", found)
    names = ("headline", "headline_value", "chrf_plus_plus")
    assert [tuple(each[name] for name in names) for each in found["cells"]] == [
        ("lbrag.f1", 1.0, None),
        ("lbrag.f1", 0.5, None),
    ]
    page = tmp_path / "s.html"
    said(f"report sweep last -o {page}", tmp_path / "home")
    assert "F1 0.50" in page.read_text("utf-8")
