"""A new metric is one file and one row of the table: names, options, cards, lists and pages follow."""

from __future__ import annotations

import json
import runpy
import tomllib
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.card.schema import card_schema
from harness.leaderboard.ranking import leaderboards
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_entries
from harness.store.file.database import open_store
from harness.store.results import read_results
from harness.store.run_list import list_runs
from harness.store.runs import find_run, read_run
from rosetta_tui.entry.table import EntryTable
from rosetta_tui.leaderboard.rows import columns, entrant_record
from rosetta_tui.runs.table import run_record
from scoring.core.specification import specification, table_row
from tests.extending.demo_pack import said
from tests.harness.ranked import play, ranked_corpus
from tests.tui.screens import App, settle, text

FILE = """
from scoring.core.metric import Statistics
from scoring.core.metric import RateMetric
from scoring.core.specification import metric_info
from scoring.core.translation import Translation
from scoring.metrics.maker import Maker


class VowelLoss(RateMetric):
    info = metric_info("vowel_loss")
    signature = "vowels:aeiou"
    why_missing = "the references have no vowel"

    def stats(self, translation: Translation) -> Statistics | None:
        there = sum(translation.entry.reference.count(vowel) for vowel in "aeiou")
        kept = sum(translation.output.count(vowel) for vowel in "aeiou")
        return (max(0, there - kept), there) if there else None


METRICS = {"vowel_loss": Maker(lambda _: VowelLoss())}
"""

ROW = """
title = "Loss of Vowels"
short = "vowels"
module = "metric_from_outside"
category = "surface"
section = "§2.1"
low = 0.0
high = 1.0
better = "lower"
level = "both"
what = "Share of the reference's vowels that the output lacks."
status = "implemented"
needs = ["reference"]
library = "own code"
interval = true
digits = 1
excluded = "Vowels alone say little."
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of its own, with the metric in the table."""
    (tmp_path / "metric_from_outside.py").write_text(FILE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(
        specification().metrics, "vowel_loss", table_row("vowel_loss", tomllib.loads(ROW))
    )
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))
    return tmp_path


@dataclass(frozen=True)
class Runs:
    """A good run and a bad one of the same corpus, scored by the metric too."""

    path: Path
    good: str
    bad: str


@pytest.fixture
def runs(home: Path) -> Runs:
    path = home / "data" / "rosetta.sqlite"
    path.parent.mkdir()
    corpus = ranked_corpus(20)
    return Runs(path, play(path, corpus, 19, "alpha"), play(path, corpus, 0, "beta"))


def test_entries_card_and_exports_have_it(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    path, good, bad = runs.path, runs.good, runs.bad
    with closing(open_store(path)) as store:
        run = read_run(store, find_run(store, bad).id)
        entries = read_entries(store, run.corpus, run.positions)
        results = read_results(store, run.id)
        scorer = stored_scorer(run, "eo", list(entries.values()))
        kept = [scorer.entry_values(scorer.unpack(each.statistics)).values for each in results]
    assert [each["vowel_loss"] for each in kept][:2] == [1 / 6, 3 / 8]  # counted by hand

    card = json.loads(said(capsys, "runs", "show", bad, "--json"))
    scores = card.get("card", card)["scores"]
    assert scores["vowel_loss"] == pytest.approx(12 / 36)  # of each five references
    assert scores["signatures"]["vowel_loss"] == "vowels:aeiou"
    assert scores["confidence_intervals"]["vowel_loss"]["ci_upper"] > 1 / 3
    assert "Loss of Vowels" in said(capsys, "runs", "show", bad)
    assert "seal" in said(capsys, "runs", "verify", bad).lower()

    written = path.with_name("card.json")
    said(capsys, "runs", "export", bad, "-o", str(written))
    assert json.loads(written.read_text("utf-8"))["scores"]["vowel_loss"] == scores["vowel_loss"]
    assert "seal" in said(capsys, "runs", "verify", str(written)).lower()

    ranked = json.loads(said(capsys, "leaderboard", "--sort", "vowels", "--json"))
    assert [each["run_id"] for each in ranked[0]["runs"]] == [good, bad]

    compared = json.loads(
        said(capsys, "compare", good, bad, "--metric", "Loss of Vowels", "--json")
    )
    assert "vowel_loss" in json.dumps(compared)

    assert "Loss of Vowels" in said(capsys, "language", "check", "eo")


async def test_screens_of_scores_and_entries_show_it(runs: Runs) -> None:
    app = App(None, runs.path)
    async with app.run_test(size=(420, 30)) as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        table = app.screen.query_one("#entries", EntryTable)
        assert " vowels " in text(app)
        cells = dict(zip(table.entries.further, table.entries.cells(0)[8:], strict=False))
        assert cells["vowel_loss"].text == "0.2"
        assert table.records.record(0)["vowel_loss"] == 1 / 6
        await pilot.press("m")
        await settle(pilot)
        assert "Loss of Vowels" in text(app)


def test_lists_of_runs_have_it(runs: Runs) -> None:
    with closing(open_store(runs.path)) as store:
        for board in leaderboards(store):
            assert "vowels" in [column.key for column in columns()]
            worst = entrant_record(board, board.entrants[-1])
        [bad] = [run_record(run) for run in list_runs(store) if run.run_id == runs.bad]
    assert bad["vowel_loss"] == worst["vowel_loss"] == pytest.approx(12 / 36)


@pytest.mark.usefixtures("home")
def test_options_pages_and_the_schema_follow_from_the_row() -> None:
    assert ScoringOptions(metrics=("Vowels",)).asked_for == {"vowel_loss"}
    assert "vowel_loss" in ScoringOptions().wanted
    docs = Path(__file__).parents[2] / "docs" / "make_metrics.py"
    assert "| `vowel_loss` | 0–1 | lower | both |" in runpy.run_path(str(docs))["page"]()
    there = card_schema()["$defs"]["Scores"]["properties"]["vowel_loss"]
    assert there["title"] == "Loss of Vowels"
