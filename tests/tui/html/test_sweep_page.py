"""The page of a sweep: its map is the screen's, no name on it acts, and what does not compare is not drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.store.file.database import open_store
from harness.store.sweeps import list_sweeps
from harness.sweep.record import CellRecord, SweepRecord, sweep_record
from harness.sweep.standing import CellMeasure
from rosetta_tui.commands import rosetta
from rosetta_tui.html.sweep_page import page_of_sweep
from rosetta_tui.sweep.grid import SweepMap
from rosetta_tui.sweep.words import cell_words
from tests.harness.sweep.made import made_sweep
from tests.tui.hostile import acting
from tests.tui.html.kept import as_kept
from tests.tui.html.spoiling import PLANTED
from tests.tui.html.strict import StrictPage
from tests.tui.scenes import HOSTILE
from tests.tui.sweep.matrix import AXES, cells


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a sweep that nobody works on."""
    found = tmp_path_factory.mktemp("swept")
    made_sweep(
        found / "rosetta.sqlite", AXES, [each for each in cells() if each.state != "running"]
    )
    return found


@pytest.fixture(scope="module")
def found(home: Path) -> SweepRecord:
    """What it came to, with intervals and costs."""
    with closing(open_store(home / "rosetta.sqlite")) as store:
        from_store = sweep_record(store, list_sweeps(store)[0])
    return changed(from_store, lambda each: {} if each.composite is None else {
        "composite_interval": (each.composite - 0.05, each.composite + 0.05), "cost_usd": 0.25,
    })  # fmt: skip


def changed(found: SweepRecord, change: Callable[[CellRecord], dict[str, Any]]) -> SweepRecord:
    """Return a sweep whose cells say something else."""
    told = tuple(each.model_copy(update=change(each)) for each in found.cells)
    return found.model_copy(update={"cells": told})


def test_it_is_whole_and_as_it_was(found: SweepRecord) -> None:
    page = page_of_sweep(found, "eo-demo-v1 · EN→EO")
    StrictPage(page)
    as_kept("sweep", page)
    assert "$2.75" in page, "eleven complete runs at $0.25"


def test_its_map_is_that_of_the_screen(found: SweepRecord) -> None:
    of = SweepMap(found)
    grid = of.grid("model", "temperature", CellMeasure.COMPOSITE, CellMeasure.COMPOSITE)
    page = page_of_sweep(found, "")
    table = re.findall(r"<td>(.*?)</td>", page.split('<table class="map">')[1].split("</table>")[0])
    told = [re.sub(r"<.*?>", "", each) for each in table]
    places = [(row, column) for row in range(len(grid.rows)) for column in range(len(grid.columns))]
    assert told == [
        "no run" if (cell := grid.cells.get(place)) is None else f"{cell_words(grid, cell)} {cell.signs}".strip()
        for place in places
    ]  # fmt: skip
    assert "0.68 ★◆" in told


def test_what_does_not_compare_or_is_not_whole_is_told_and_not_drawn(found: SweepRecord) -> None:
    """Complete runs of the usual inputs have a dot and an interval; 0.71 weighs other metrics."""
    begun = changed(found, lambda each: {} if each.state == "complete" else {"composite": 0.9})
    page = page_of_sweep(begun, "")
    runs = page.split('id="runs"')[1]
    usual = [
        each for each in found.cells if each.state == "complete" and len(each.composite_inputs) == 2
    ]
    assert runs.count("<circle") == runs.count('class="range"') == len(usual) == 10
    assert "0.71 ≠ (0.66–0.76)" in runs
    assert runs.count("0.90 so far</td>") == len(found.cells) - 11


def test_where_nothing_cost_quality_stands_against_seconds(found: SweepRecord) -> None:
    free = changed(found, lambda each: {} if each.cost_per_entry_usd is None else {"cost_per_entry_usd": 0.0})  # fmt: skip
    assert "Across: US dollars for 1,000 entries." in page_of_sweep(found, "")
    page = page_of_sweep(free, "")
    assert "Across: seconds an entry took." in page
    assert "no set-up is both better and faster" in page


def test_a_sweep_without_a_composite_goes_by_chrf_and_one_without_runs_is_a_page(
    found: SweepRecord,
) -> None:
    bare = changed(found, lambda _: {"composite": None, "composite_interval": None, "composite_inputs": ()})  # fmt: skip
    assert "Every run by chrF++" in page_of_sweep(bare, "")
    none = changed(bare, lambda _: {"chrf_plus_plus": None, "state": "waiting", "run_id": None})
    page = StrictPage(page_of_sweep(none, ""))
    assert "no run has begun" in page.text
    assert "What quality takes" not in page.text
    assert "no baseline is complete" in page.text


@pytest.mark.parametrize("text", [*PLANTED, *HOSTILE])
def test_no_name_of_a_plan_is_more_than_text(found: SweepRecord, text: str) -> None:
    def spoilt(each: CellRecord) -> dict[str, Any]:
        labels = {text + axis: text + label for axis, label in each.labels.items()}
        return {"labels": labels, "name": text + each.name, "trouble": text, "claimable_tier": text}

    axes = {
        text + axis: tuple(text + each for each in labels) for axis, labels in found.axes.items()
    }
    hostile = changed(found, spoilt).model_copy(update={"axes": axes, "name": text, "plan": text})
    page = StrictPage(page_of_sweep(hostile, text))
    assert acting(page.text.replace("\n", "")) == []
    assert set(page.tags) <= set(StrictPage(page_of_sweep(found, "corpus")).tags) | {"p"}


def test_the_command_writes_it(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(rosetta, ["report", "sweep", "matrix"])
    assert done.exit_code == 0, done.output
    [path] = tmp_path.iterdir()
    assert re.fullmatch(r"sweep-[0-9a-f]{8}\.html", path.name)
    StrictPage(path.read_text("utf-8"))
    assert "is there already" in str(CliRunner().invoke(rosetta, ["report", "sweep"]).exception)


def test_where_a_plan_lies_is_not_told(found: SweepRecord) -> None:
    page = page_of_sweep(found.model_copy(update={"plan": "plans/of/somebody/demo.toml"}), "")
    assert "demo.toml" in page
    assert "somebody" not in page
