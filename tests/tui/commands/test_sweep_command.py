"""``rosetta sweep``: the demo plan, what is printed and shown, refusals, and Ctrl-C."""

from __future__ import annotations

import json
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from docs import make_schemas
from harness.store.file.database import open_store
from harness.store.sweeps import find_sweep
from harness.sweep.expansion import expand, open_plan_corpus
from harness.sweep.plan import read_plan
from harness.sweep.record import sweep_record
from rosetta_tui.commands import rosetta
from tests.harness.scripted import Answer, Asked, completion, json_answer, serving, translated
from tests.harness.sweep.sweeping import begun
from tests.tui.commands.processes import Rosetta

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the demo's sweep."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def lines(home: Path) -> list[dict[str, Any]]:
    """What the demo's sweep printed as JSON lines."""
    code, out, problems = Rosetta(home)("sweep", "demo.toml", "--json-lines")
    assert (code, problems) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


def called(home: Path, line: str) -> Any:
    return CliRunner().invoke(rosetta, line.split(), env={"ROSETTA_HOME": str(home)})


def require_schema(name: str, value: object) -> None:
    schema = json.loads((make_schemas.SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(value)


def test_the_demo_needs_no_key_and_tells_of_each_run(lines: list[dict[str, Any]]) -> None:
    for each in lines:
        require_schema("sweep-event", each)
    complete = {each["name"] for each in lines if each.get("state") == "complete" and each["event"] == "cell"}  # fmt: skip
    assert complete == {"Verda", "Griza", "word by word", "source copied"}
    assert lines[-1]["event"] == "sweep"
    assert lines[-1]["state"] == "complete"


def test_show_and_list_say_the_same_as_text_and_as_json(
    home: Path, lines: list[dict[str, Any]]
) -> None:
    shown = json.loads(called(home, "sweep show demo --json").stdout)
    require_schema("sweep", shown)
    cells = {each["name"]: each for each in shown["cells"]}
    assert cells["Verda"]["composite"] > cells["Griza"]["composite"]
    low, high = cells["Verda"]["composite_interval"]
    assert low < cells["Verda"]["composite"] < high
    text = called(home, "sweep show").stdout
    row = next(line for line in text.splitlines() if "source copied" in line)
    assert "baseline" in row
    assert "! Griza: failed: 2 empty" in text
    listed = json.loads(called(home, "sweep list --json").stdout)
    require_schema("sweep-list", listed)
    assert listed[0]["cells_by_state"]["complete"] == 4
    assert lines[-1]["id"] in called(home, "sweep list").stdout


def test_an_estimate_knows_what_the_store_has(
    home: Path, lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    found = json.loads(called(home, "estimate demo.toml --json").stdout)
    require_schema("sweep-estimate", found)
    assert found["to_make"] == 0
    fresh = json.loads(called(tmp_path / "other", "estimate demo.toml --json").stdout)
    assert fresh["to_make"] == sum(lines[-1]["cells_by_state"].values())
    assert fresh["cost_usd"] == {"low": 0.0, "expected": 0.0, "high": 0.0}


def test_an_estimate_adds_up_calls_and_money(tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text(
        "id\tsource\treference\n1\ta dog\thundo\n2\ta cat\tkato\n", "utf-8"
    )
    (tmp_path / "plan.toml").write_text(
        'version = 1\ncorpus = "c.tsv"\nreplicates = 3\nbudget_usd = 0.000001\n[reading]\n'
        'source_language = "en"\ntarget_language = "eo"\n[axes]\nmodel = ["gpt-4o", "gpt-4o-mini"]\n'
        '[fixed]\nmethod = "chat"\nendpoint = "openai"\n',
        "utf-8",
    )
    done = called(tmp_path / "home", f"estimate {tmp_path}/plan.toml --json")
    found = json.loads(done.stdout)
    assert (len(found["runs"]), found["to_make"]) == (6, 6)
    assert found["calls"]["expected"] == 2 * 2 * 3
    parts = [each["estimate"]["cost_usd"]["expected"] for each in found["runs"]]
    assert found["cost_usd"]["expected"] == pytest.approx(sum(parts))
    assert "will be reached" in found["budget"]
    text = called(tmp_path / "home", f"estimate {tmp_path}/plan.toml").stdout
    assert "Runs     6 of 6" in text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sweep nowhere.toml", "nowhere.toml: the plan of a sweep cannot be read"),
        ("sweep show nothing", "There is no sweep 'nothing'"),
        ("sweep stop last", "Nobody is working on sweep"),
        ("sweep shw", "Did you mean 'show'?"),
        ("estimate demo.toml --limit 3", "leave options out"),
        ("sweep resume last --budget -1", "--budget"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(
    home: Path, lines: list[dict[str, Any]], line: str, said: str
) -> None:
    assert lines
    code, out, problems = Rosetta(home)(*line.split())
    assert (code, out) == (2, "")
    assert said in problems


def test_ctrl_c_ends_after_the_entries_under_way_and_resume_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    with serving() as server:
        store, _ = begun(tmp_path, server.url, size=30)
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
        assert 0 < found.entries_done == len(server.asked) < 60
        server.answer = translated
        assert command("sweep", "resume", "last")[0] == 0
        assert len(server.asked) == 60


def test_a_race_says_who_was_raced_out_and_ranks_no_such_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))

    def answer(asked: Asked) -> Answer:
        poor = asked.body["model"] == "poor"
        return json_answer(completion("%%%")) if poor else translated(asked)

    command = Rosetta(tmp_path / "home")
    with serving(answer) as server:
        begun(tmp_path, server.url, '[axes]\nmodel = ["good", "poor"]', size=40)
        code, out, problems = command("sweep", str(tmp_path / "plan.toml"), "--race")
        asked = len(server.asked)
    assert (code, "Traceback" in problems) == (0, False)
    words = next(line for line in out.splitlines() if line.startswith("poor: raced-out"))
    assert "of 40: raced out after " in words
    assert words.endswith(" below good")
    assert f"1 run raced out, {80 - asked} entries not asked for." in out
    shown = called(tmp_path / "home", "sweep show").stdout
    assert f"! poor: raced out after {asked - 40} of 40 entries: " in shown
    found = json.loads(called(tmp_path / "home", "sweep show --json").stdout)
    require_schema("sweep", found)
    good, poor = found["cells"]
    assert (good["state"], poor["state"], poor["raced_out"]["leader"]) == ("complete", "raced-out", "good")  # fmt: skip
    assert (found["race_seed"], found["entries_spared"]) == (12345, 80 - asked)
    ranked = called(tmp_path / "home", "leaderboard --json").stdout
    assert good["run_id"] in ranked
    assert poor["run_id"] not in ranked
    assert "raced out after" in called(tmp_path / "home", f"runs show {poor['run_id']}").stdout


def test_the_plan_of_the_docs_is_a_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_sweep_of_answers_shows_what_ranks_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [("Capital of France?", "Paris"), ("Capital of Italy?", "Rome")]
    told = [
        {"id": n, "source": asked, "reference": answer} for n, (asked, answer) in enumerate(rows)
    ]
    Path("qa.jsonl").write_text("".join(json.dumps(each) + "\n" for each in told), "utf-8")
    Path("good.txt").write_text("Paris\nRome\n", "utf-8")
    Path("poor.txt").write_text("Paris\nOslo\n", "utf-8")
    reading = '[reading]\ntask = "qa"\nsource_language = "en"\ntarget_language = "en"\n'
    axes = '[axes]\nmodel = [{label = "good", outputs = "good.txt"}, {label = "poor", outputs = "poor.txt"}]\n'
    Path("qa.toml").write_text(
        f'version = 1\ncorpus = "qa.jsonl"\n{reading}[fixed]\nmethod = "replay"\n{axes}', "utf-8"
    )
    told = called(tmp_path / "home", "sweep qa.toml --plain")
    assert {"good: complete, F1 1.00", "poor: complete, F1 0.50"} <= set(told.stdout.splitlines())
    shown = called(tmp_path / "home", "sweep show last").stdout
    assert "entries  F1    95 %       cost" in shown
    assert "composite" not in shown
    found = json.loads(called(tmp_path / "home", "sweep show last --json").stdout)
    require_schema("sweep", found)
    values = [
        (each["headline"], each["headline_value"], each["chrf_plus_plus"])
        for each in found["cells"]
    ]
    assert values == [("lbrag.f1", 1.0, None), ("lbrag.f1", 0.5, None)]
    page = tmp_path / "s.html"
    called(tmp_path / "home", f"report sweep last -o {page}")
    assert "F1 0.50" in page.read_text("utf-8")
