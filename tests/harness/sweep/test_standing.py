"""How set-ups stand to each other: repetitions, baselines, the front; and that a map puts each where it belongs."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from harness.store.file.database import open_store
from harness.sweep.record import SweepRecord, sweep_record
from harness.sweep.standing import (  # fmt: skip
    CellMeasure,
    SweepSetup,
    best,
    best_baseline,
    effort_of,
    front,
    setups_of,
)
from rosetta_tui.sweep.grid import SweepMap
from tests.harness.sweep.made import MadeCell, made_sweep

COMPOSITE, CHRF = CellMeasure.COMPOSITE, CellMeasure.CHRF


def cell(model: str, composite: float | None, cost: float | None = 0.001, **told: object) -> MadeCell:  # fmt: skip
    return MadeCell({"model": model}, composite, 50.0, cost, 1.0, **told)  # type: ignore[arg-type]


def of(tmp_path: Path, *cells: MadeCell) -> tuple[SweepSetup, ...]:
    return setups_of(read(tmp_path, *cells))


def read(tmp_path: Path, *cells: MadeCell) -> SweepRecord:
    path = tmp_path / "s.sqlite"
    models = list(dict.fromkeys(each.labels["model"] for each in cells))
    sweep = made_sweep(path, {"model": models}, cells)
    with closing(open_store(path)) as store:
        return sweep_record(store, sweep)


def names(setups: tuple[SweepSetup, ...]) -> list[str]:
    return [each.labels["model"] for each in setups]


def test_repetitions_count_as_their_mean_and_only_complete_ones(tmp_path: Path) -> None:
    a, b = of(
        tmp_path,
        cell("a", 0.4),
        cell("a", 0.5, replicate=1),
        cell("a", None, replicate=2, state="stopped"),
        cell("b", None, state="waiting"),
    )
    assert a.value(COMPOSITE) == pytest.approx(0.45)
    assert a.values(COMPOSITE) == (0.4, 0.5)
    assert len(a.cells) == 3
    assert b.value(COMPOSITE) is None
    assert not b.is_baseline


def test_the_best_baseline_is_a_model_as_it_comes_or_a_copy(tmp_path: Path) -> None:
    setups = of(
        tmp_path,
        cell("coached", 0.9, kind="coached-llm"),
        cell("raw", 0.5),
        cell("copy", 0.6, kind="custom-plugin", method="copy-source"),
        cell("plugin", 0.8, kind="custom-plugin", method="mine"),
        cell("other", 0.95, inputs=("chrf_plus_plus",)),
    )
    found = best_baseline(setups, COMPOSITE)
    assert found is not None
    assert names((found,)) == ["copy"]
    by_chrf = best_baseline(setups, CHRF)
    assert by_chrf is not None
    assert names((by_chrf,)) == ["raw"], "of equal ones the first"
    assert [each.labels["model"] for each in setups if each.other_inputs] == ["other"]
    best_of_all = best(setups, COMPOSITE)
    assert best_of_all is not None
    assert names((best_of_all,)) == ["coached"], "one with other inputs does not compare"
    assert best(setups[4:], COMPOSITE) is setups[4], "where there is no other it is shown"


def test_the_front_is_what_none_beats(tmp_path: Path) -> None:
    setups = of(
        tmp_path,
        cell("good", 0.9, 0.010),
        cell("dear", 0.9, 0.020),
        cell("cheap", 0.5, 0.001),
        cell("twin", 0.5, 0.001),
        cell("beaten", 0.4, 0.002),
        cell("unknown", 0.99, None),
        cell("other", 0.99, 0.0001, inputs=("chrf_plus_plus",)),
    )
    assert effort_of(setups) is CellMeasure.COST
    assert names(front(setups, COMPOSITE)) == ["good", "cheap", "twin"]
    assert names(front(setups, CHRF)) == ["other"]


@pytest.mark.parametrize(("metric", "order"), [("au.wer", [7, 4, 0]), ("lbrag.f1", [0, 4, 7])])
def test_runs_of_another_task_stand_by_what_ranks_them(
    tmp_path: Path, metric: str, order: list[int]
) -> None:
    found = read(tmp_path, *(cell(name, None, 0.001 * n) for n, name in enumerate("abcd", 1)))
    ranked = [
        each.model_copy(update={"headline": metric, "headline_value": value})
        for each, value in zip(found.cells, (0.1, 0.5, 0.9), strict=False)
    ]
    cells = (*ranked, found.cells[3].model_copy(update={"headline_value": None}))
    drawn = SweepMap(found.model_copy(update={"cells": cells}))
    assert drawn.measures == (CellMeasure.HEADLINE, CellMeasure.COST, CellMeasure.SECONDS)
    grid = drawn.grid("model", "", CellMeasure.HEADLINE, CellMeasure.HEADLINE)
    assert [grid.level(grid.cells[row, 0]) for row in range(4)] == [*order, None]
    assert grid.rises == (metric == "lbrag.f1")
    least, *_, most = drawn.setups[:3]
    top = best(drawn.setups, CellMeasure.HEADLINE)
    assert top is (most if grid.rises else least)
    assert drawn.best_baseline(CellMeasure.HEADLINE) is top
    assert names(front(drawn.setups, CellMeasure.HEADLINE)) == (["a", "b", "c"] if grid.rises else ["a"])  # fmt: skip


def test_a_composite_that_does_not_compare_does_not_stretch_the_bars(tmp_path: Path) -> None:
    other = cell("c", 0.9, inputs=("chrf_plus_plus",))
    drawn = SweepMap(read(tmp_path, cell("a", 0.1), cell("b", 0.2), other))
    grid = drawn.grid("model", "", COMPOSITE, COMPOSITE)
    assert [grid.level(grid.cells[row, 0]) for row in range(3)] == [0, 7, None]


def test_where_nothing_cost_anything_seconds_count(tmp_path: Path) -> None:
    slow, fast = cell("slow", 0.5, 0.0), MadeCell({"model": "fast"}, 0.5, 50.0, 0.0, 0.2)
    setups = of(tmp_path, slow, fast)
    assert effort_of(setups) is CellMeasure.SECONDS
    assert names(front(setups, COMPOSITE)) == ["fast"]
    cheapest = best(setups, CellMeasure.SECONDS)
    assert cheapest is not None
    assert names((cheapest,)) == ["fast"], "of time less is better"


def test_a_record_names_the_axes_as_the_plan_orders_them(tmp_path: Path) -> None:
    found = read(tmp_path, cell("z", 0.5), cell("a", 0.4, replicate=1))
    assert found.axes == {"model": ("z", "a")}
    assert found.replicates == 2
    assert [(each.method, each.method_class) for each in found.cells] == [("chat", "raw-llm")] * 2
