"""``rosetta runs``: a run that has no card yet, lists that mix inputs, and words that a run is begun with."""

from __future__ import annotations

import json
import sqlite3
import time
from asyncio import to_thread
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from corpora.samples import DEMO_CORPUS, DEMO_WEAK, sample_path
from harness.core.failures import UsageError
from harness.core.run_state import RunState
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.store.file.openings import Live
from harness.store.run_list import list_runs
from harness.store.runs import set_live
from rosetta_tui.commands import rosetta
from rosetta_tui.runs.table import COLUMNS, RunRows
from rosetta_tui.show.run_facts import OTHER_INPUTS_WORDS
from tests.harness.card import factory
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.tui.commands.runs_group import connection, harmless, rosetta_runs
from tests.tui.screens import App, at_rest, press, text

__all__ = ["connection"]


def page() -> dict[str, str]:
    shown = rosetta_runs("show", "last").stdout
    assert harmless(shown)
    lines = (line.strip().partition("  ") for line in shown.splitlines())
    return {name: rest.strip() for name, _, rest in lines}


def test_run_under_way_tells_its_score_so_far(
    connection: sqlite3.Connection,
) -> None:
    number = factory.add_run(connection, stored=2)
    live = Live(at=time.time(), in_flight=(2,), waiting=((3, 2, 6, 1.5, "429"),))
    set_live(connection, number, RunState.RUNNING, live)
    told = page()
    assert told["run"] == factory.RUN_ID
    assert told["state"].startswith("running · 2 of 4 entries (50 %)")
    assert told["goes on"].endswith("1 under way · 1 waiting to be tried again")
    fields = json.loads(rosetta_runs("show", "--json").stdout)
    assert (fields["complete"], fields["state"], fields["goes_on_with"]) == (False, "running", None)
    assert (fields["done"], fields["total"], fields["under_way"], fields["waiting"]) == (2, 4, 1, 1)
    chrf = fields["scores_so_far"]["chrf_plus_plus"]
    assert told["chrF++"].startswith(f"{chrf:.1f} (")


def test_a_stopped_run_tells_why_and_what_goes_on_with_it(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection, stored=2)
    reason = Live(reason="The budget\x1b[2J is spent", budget_reached=True)
    set_live(connection, number, RunState.STOPPED, reason)
    rosetta_runs("tag", "last", "cheap")
    told = page()
    assert told["state"].startswith("stopped · 2 of 4 entries (50 %)")
    assert told["why"].endswith("is spent.")
    assert told["goes on with"] == f"rosetta resume {factory.RUN_ID[:8]} --budget USD"
    assert told["tags"] == "#cheap"
    fields = json.loads(rosetta_runs("show", "--json").stdout)
    assert fields["goes_on_with"] == told["goes on with"]
    assert fields["beside"]["tags"] == ["cheap"]


def test_the_list_has_the_score_so_far_of_a_stopped_run(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection, stored=2)
    set_live(connection, number, RunState.STOPPED, None)
    told = page()
    heads, row = rosetta_runs("list").stdout.splitlines()[:2]
    chrf = told["chrF++"].split(" ")[0]
    assert row[heads.index("chrF++") :].startswith(f"{chrf} so far")
    assert row[heads.index("tier") :].split()[0] == "–"
    rosetta_runs("delete", "last")
    assert rosetta_runs("list", "--deleted").exit_code == 0


def test_a_run_whose_process_is_gone_is_said_to_be_stopped(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection, stored=0)
    set_live(connection, number, RunState.RUNNING, Live(at=time.time() - 3600))
    told = page()
    assert told["state"].startswith("stopped · 0 of 4")
    assert told["why"] == "The process that ran it is gone."
    assert told["score so far"] == "no entry is in yet"


def test_lists_show_the_score_so_far_of_a_run_under_way(connection: sqlite3.Connection) -> None:
    number = factory.add_run(connection, stored=2)
    names = [column.key for column in COLUMNS]
    seen = []
    for chrf in (41.26, 42.5):
        so_far: dict[str, float | None] = {"chrf_plus_plus": chrf, "composite": 0.333}
        live = Live(at=time.time(), so_far=so_far)
        set_live(connection, number, RunState.RUNNING, live)
        rows = RunRows(list_runs(connection))
        cells = dict(zip(names, rows.cells(0), strict=True))
        assert cells["chrf"].text == f"{chrf:.1f} so far"
        assert cells["composite"].text == "0.33"
        assert cells["id"].text == factory.RUN_ID[:8]
        assert f"{chrf:.1f} so far" in rosetta_runs("list").stdout
        seen.append(rows.key(0))
    assert seen[0] != seen[1], "the row is drawn anew as the score moves"
    set_live(connection, number, RunState.STOPPED, Live(so_far=live.so_far))
    assert RunRows(list_runs(connection)).cells(0)[names.index("chrf")].text == "42.5 so far"
    assert "42.5 so far" in rosetta_runs("list").stdout
    set_live(connection, number, RunState.RUNNING, Live(at=time.time(), so_far={}))
    assert "so far" not in rosetta_runs("list").stdout


# Composites of other inputs


def scored(path: Path, *metrics: str, size: int = 12, text: str = "ENTRY NUMBER 3") -> str:
    """Score the same outputs by these metrics; gives the run's id."""
    plan = Plan(method="constant", options=MethodOptions(**LANGUAGES, text=text))
    if metrics:
        plan = plan.model_copy(update={"scoring": ScoringOptions(metrics=metrics)})
    return run_corpus(path, corpus(size), plan).finished.run_id


async def test_other_inputs_are_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    path, few = tmp_path / "rosetta.sqlite", ("chrf_plus_plus", "exact_match_rate")
    most = await to_thread(scored, path)
    await to_thread(scored, path, *few, size=13)
    assert "≠" not in rosetta_runs("list").stdout, "runs of other corpora are no others"
    await to_thread(scored, path)
    other = await to_thread(scored, path, *few)
    said = rosetta_runs("list").stdout
    assert said.count(OTHER_INPUTS_WORDS) == 1
    [marked] = [line for line in said.splitlines() if "≠" in line and line != OTHER_INPUTS_WORDS]
    assert other[:8] in marked
    runs = json.loads(rosetta_runs("list", "--json").stdout)
    inputs = {run["run_id"]: run["composite_inputs"] for run in runs}
    assert set(inputs[other]) == set(few)
    assert set(inputs[most]) > set(few)
    async with at_rest(App(None, path), (200, 40)) as (app, pilot):
        words = "composite of other inputs than most runs of this corpus"
        assert words in " ".join(text(app).split())
        await press(pilot, "down")
        assert "composite of other inputs" not in text(app)


def test_caveat_stands_whole_in_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    run_id = scored(tmp_path / "rosetta.sqlite", text="E")
    head, *rows = rosetta_runs("list").stdout.splitlines()
    assert "caveats" in head
    [row] = [line for line in rows if run_id[:8] in line]
    assert "100 % too short  free" in row
    assert "baseline (automatic 0.16; not above either floor)  " in row
    assert "…" not in row


def test_score_takes_variants_where_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    corpus, outputs = str(sample_path(DEMO_CORPUS)), str(sample_path(DEMO_WEAK))
    for words, counted in (
        ([corpus, outputs, "--multi-ref"], "nrefs:var"),
        (["--rescore", "last", "--one-ref"], "nrefs:1"),
    ):
        few = ("--metrics", "exact_match_rate,chrf_plus_plus", "--json")
        done = CliRunner().invoke(rosetta, ["score", *words, *few])
        assert done.exit_code == 0, done.output
        signatures = json.loads(done.stdout)["scores"]["signatures"]
        assert signatures["chrf_plus_plus"].split("|")[0] == counted


def test_run_is_begun_with_tags_and_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    path = tmp_path / "c.tsv"
    path.write_text("id\tsource\treference\n1\tA dog.\tHundo.\n")
    languages = ("--source-language", "en", "--target-language", "eo")
    base = ["run", str(path), *languages, "-m", "copy-source", "--plain"]
    refused = CliRunner().invoke(rosetta, [*base, "--tag", "two words"])
    assert isinstance(refused.exception, UsageError)
    begun = CliRunner().invoke(rosetta, [*base, "--tag", "b", "--tag", "a", "--note", "My words."])
    assert begun.exit_code == 0, begun.output
    with closing(open_store(tmp_path / "home" / "rosetta.sqlite")) as store:
        [run] = list_runs(store)
    assert (run.tags, run.note) == (("a", "b"), "My words.")
