"""Methods of a sweep against the best of its baselines, and how set-ups stand to each other."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp

import pytest
from click.testing import CliRunner

from harness.core.failures import UsageError
from harness.method.method import MethodClass
from harness.store.file.database import open_store
from harness.store.sweeps import NewCell, find_sweep, keep_sweep, read_cells, set_run
from harness.sweep.comparing import SweepComparison, compare_sweep
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
from harness.sweep.working import work
from rosetta_tui.commands import rosetta
from rosetta_tui.sweep.grid import SweepMap
from tests.harness.ranked import play, ranked_corpus
from tests.harness.scripted import serving
from tests.harness.sweep.made import MadeCell, made_sweep
from tests.harness.sweep.sweeping import begun, never, record

RAW = MethodClass.RAW_LLM
SIZE = 40
RIGHT = {
    "raw a": (RAW, (10,)),
    "raw b": (RAW, (8,)),
    "good": (MethodClass.PIPELINE, (30, 34)),
    "fair": (MethodClass.PIPELINE, (13,)),
    "bad": (MethodClass.PIPELINE, (3,)),
}
"""Set-up → its class, and the right outputs of each repetition, of 40."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a sweep of five set-ups and one that waits."""
    found = tmp_path_factory.mktemp("compared") / "rosetta.sqlite"
    corpus = ranked_corpus(SIZE)
    made = [
        (name, number, play(found, corpus, right, name.replace(" ", "-"), replicate=number, kind=kind))
        for name, (kind, rights) in RIGHT.items()
        for number, right in enumerate(rights)
    ]  # fmt: skip
    cells = [NewCell(f"{name} #{n}", {"model": name}, n, "0", SIZE) for name, n, _ in made]
    with closing(open_store(found)) as store:
        sweep = keep_sweep(
            store, key="a" * 64, name="five", file="plan.toml", budget_usd=None, workers=1,
            plan=json.dumps({"axes": {"model": [{"label": name} for name in RIGHT]}}),
            cells=[*cells, NewCell("late", {"model": "late"}, 0, "1", SIZE)],
        )  # fmt: skip
        for cell, (_, _, run_id) in zip(read_cells(store, sweep.number), made, strict=False):
            set_run(store, sweep.number, cell.place, run_id, reused=False)
    return found


@pytest.fixture(scope="module")
def comparison(path: Path) -> tuple[SweepComparison, SweepRecord]:
    with closing(open_store(path)) as store:
        record = sweep_record(store, find_sweep(store, "five"))
        return compare_sweep(store, record, "chrf_plus_plus", draws=100), record


def test_methods_are_compared_with_the_best(
    comparison: tuple[SweepComparison, SweepRecord],
) -> None:
    found, _ = comparison
    good, fair, bad = found.methods
    assert [each.method.name for each in found.methods] == ["good", "fair", "bad"]
    assert [each.name for each in found.baselines] == ["raw a", "raw b"]
    assert {each.best for each in found.methods} == {"raw a"}
    assert good.difference > 0 > bad.difference
    assert good.beats
    assert good.lower > 0
    assert (bad.p_maximum, bad.beats) == (1.0, False)
    ordered = sorted(each.p_maximum for each in found.methods)
    assert good.p_holm == pytest.approx(3 * ordered[0]), "Holm: the least of three times three"
    assert fair.p_holm == pytest.approx(min(1.0, max(3 * ordered[0], 2 * ordered[1])))
    assert all(each.p_picked <= each.p_maximum for each in found.methods)
    assert len(good.method.runs) == 2
    assert good.method.between_entries > good.method.between_repetitions
    assert fair.method.between_entries is None, "one run alone cannot be parted"


def test_what_waits_is_named_and_one_side_alone_is_refused(
    path: Path, comparison: tuple[SweepComparison, SweepRecord]
) -> None:
    found, record = comparison
    assert found.left_out == {"late": "none of its runs is complete"}
    with closing(open_store(path)) as store:
        for kinds, words in ((("raw a", "raw b"), "no method"), (("good",), "No baseline")):
            cells = tuple(each for each in record.cells if each.labels["model"] in kinds)
            with pytest.raises(UsageError, match=words):
                compare_sweep(store, record.model_copy(update={"cells": cells}))


@pytest.mark.parametrize("term", ["absent", "number"])
def test_coaching_compares_where_its_terms_count_nowhere(tmp_path: Path, term: str) -> None:
    (tmp_path / "coaching.json").write_text(json.dumps({"dictionary": {term: "NUMBER"}}), "utf-8")
    axes = '[axes]\nmodel = ["a"]\ncoaching = [false, "coaching.json"]'
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, axes)
        work(store, sweep.number, never)
    with closing(open_store(store)) as connection:
        if term == "absent":
            found = compare_sweep(connection, record(store), draws=300)
            assert [each.difference for each in found.methods] == [0.0]
            assert not found.left_out
        else:
            with pytest.raises(UsageError, match=r"weigh other inputs .*(?s:.*)`terms` under"):
                compare_sweep(connection, record(store), draws=300)


def test_command_compares_in_lines_and_as_json(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(path.parent))
    asked = ["sweep", "compare", "five", "--metric", "chrf", "--draws", "300"]
    lines = CliRunner().invoke(rosetta, asked)
    assert lines.exit_code == 0, lines.output
    assert "3 methods against the best of 2 baselines" in lines.output
    told = json.loads(CliRunner().invoke(rosetta, [*asked, "--json"]).output)
    assert [each["method"]["name"] for each in told["methods"]] == ["good", "fair", "bad"]


COMPOSITE, CHRF = CellMeasure.COMPOSITE, CellMeasure.CHRF


def cell(model: str, composite: float | None, cost: float | None = 0.001, **told: object) -> MadeCell:  # fmt: skip
    return MadeCell({"model": model}, composite, 50.0, cost, 1.0, **told)  # type: ignore[arg-type]


def of(tmp_path: Path, *cells: MadeCell) -> tuple[SweepSetup, ...]:
    return setups_of(read(tmp_path, *cells))


def read(tmp_path: Path, *cells: MadeCell) -> SweepRecord:
    path = Path(mkdtemp(dir=tmp_path)) / "s.sqlite"
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
    assert (a.value(COMPOSITE), a.values(COMPOSITE)) == (pytest.approx(0.45), (0.4, 0.5))
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


def test_runs_of_another_task_stand_by_what_ranks_them(tmp_path: Path) -> None:
    for metric, order in [("au.wer", [7, 4, 0]), ("lbrag.f1", [0, 4, 7])]:
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


def test_seconds_count_where_nothing_cost_anything(tmp_path: Path) -> None:
    slow, fast = cell("slow", 0.5, 0.0), MadeCell({"model": "fast"}, 0.5, 50.0, 0.0, 0.2)
    setups = of(tmp_path, slow, fast)
    assert effort_of(setups) is CellMeasure.SECONDS
    assert names(front(setups, COMPOSITE)) == ["fast"]
    cheapest = best(setups, CellMeasure.SECONDS)
    assert cheapest is not None
    assert names((cheapest,)) == ["fast"], "of time less is better"
    found = read(tmp_path, cell("z", 0.5), cell("a", 0.4, replicate=1))
    assert (found.axes, found.replicates) == ({"model": ("z", "a")}, 2)
    assert [(each.method, each.method_class) for each in found.cells] == [("chat", "raw-llm")] * 2
