"""Lists that mix composites of other inputs say so, and mark those that do not compare."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from rosetta_tui.commands import rosetta
from rosetta_tui.show.run_facts import OTHER_INPUTS_WORDS
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.tui.screens import App, at_rest, press, text

FEW = ("chrf_plus_plus", "exact_match_rate")


def scored(path: Path, *metrics: str, size: int = 12) -> str:
    """Score the same outputs by these metrics; gives the run's id."""
    options = MethodOptions(**LANGUAGES, text="ENTRY NUMBER 3")
    plan = Plan(method="constant", options=options)
    if metrics:
        plan = plan.model_copy(update={"scoring": ScoringOptions(metrics=metrics)})
    return run_corpus(path, corpus(size), plan).finished.run_id


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    return tmp_path / "rosetta.sqlite"


def listed() -> str:
    return CliRunner().invoke(rosetta, ["runs", "list"]).stdout


def test_the_few_are_marked_and_one_line_says_why(path: Path) -> None:
    most = [scored(path), scored(path)]
    other = scored(path, *FEW)
    said = listed()
    assert said.count(OTHER_INPUTS_WORDS) == 1
    [marked] = [line for line in said.splitlines() if "≠" in line and line != OTHER_INPUTS_WORDS]
    assert other[:8] in marked
    runs = json.loads(CliRunner().invoke(rosetta, ["runs", "list", "--json"]).stdout)
    inputs = {run["run_id"]: run["composite_inputs"] for run in runs}
    assert inputs[other] == list(FEW) or set(inputs[other]) == set(FEW)
    assert set(inputs[most[0]]) > set(FEW)


def test_runs_of_other_corpora_are_no_others(path: Path) -> None:
    scored(path)
    scored(path, *FEW, size=13)
    assert "≠" not in listed()


@pytest.fixture
def mixed(path: Path) -> Path:
    scored(path)
    scored(path)
    scored(path, *FEW)
    return path


async def test_home_marks_them_too(mixed: Path) -> None:
    async with at_rest(App(None, mixed), (200, 40)) as (app, pilot):
        assert "≠" in text(app)
        assert "composite of other inputs than most runs of this corpus" in " ".join(
            text(app).split()
        )
        await press(pilot, "down")
        assert "composite of other inputs" not in text(app)


def test_a_caveat_stands_whole_in_the_list_of_runs(path: Path) -> None:
    assert "caveats" not in listed()
    finished = run_corpus(
        path, corpus(12), Plan(method="constant", options=MethodOptions(**LANGUAGES, text="E"))
    )
    said = listed()
    assert "caveats" in said.splitlines()[0]
    [row] = [line for line in said.splitlines() if finished.finished.run_id[:8] in line]
    assert "100 % too short  free" in row
    assert "baseline (automatic 0.16; not above either floor)  " in row
    assert "…" not in row
