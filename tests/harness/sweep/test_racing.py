"""Races of sweeps: who is stopped, what it saves, that kills change no decision; and entries that every run misses."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from harness import api
from harness.compare.against_best import SharedRuns
from harness.core.failures import RunState, UsageError
from harness.method.method import MethodClass
from harness.run.events import Control
from harness.run.running import execute_run
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from harness.store.sweeps import NewCell, StoredSweep, find_sweep, keep_sweep, read_cells, set_run
from harness.sweep import record as record_module
from harness.sweep.comparing import SweepComparison, axis_effects, compare_sweep
from harness.sweep.processes import WorkerProcesses
from harness.sweep.racing import BLOCK, SweepRace, entry_scores, read_racers
from harness.sweep.record import MissedTier, RacedOutRecord, SweepRecord, sweep_record, with_missed
from harness.sweep.state import CellMeasure, SweepSetup, best, best_baseline, effort_of, front, setups_of  # fmt: skip
from harness.sweep.working import cells_again, work
from rosetta_tui.commands import rosetta
from rosetta_tui.report.sweep import missed_lines, sweep_lines
from rosetta_tui.sweep.grid import SweepMap
from scoring.statistics.racing import Race, shuffled
from tests.harness.ranked import play, ranked_corpus
from tests.harness.scripted import Answer, Asked, completion, error, json_answer, serving
from tests.harness.sweep.made import MadeCell, begun, made_misses, made_sweep, never, record, stored_entries
from tests.review.thorough import first

SIZE = 60
SHARES = {"best": 0.95, "second": 0.85, "poor": 0.2, "worst": 0.0}
"""Model → share of its entries that it translates."""
TWO = {"best": 1.0, "worst": 0.0}
AXES = "[axes]\nmodel = [{}]"


def axes(shares: Mapping[str, float] = SHARES) -> str:
    return AXES.format(", ".join(f'"{name}"' for name in shares))


def answering(shares: Mapping[str, float] = SHARES, before: Any = lambda _: None) -> Any:
    """Translate a share of the entries of each model, the same ones each time."""

    def answer(asked: Asked) -> Answer:
        before(asked)
        model, entry = str(asked.body["model"]), int(asked.source.split()[-1])
        drawn = np.random.default_rng([list(shares).index(model), entry]).random()
        return json_answer(completion(asked.source.upper() if drawn < shares[model] else "%%%"))

    return answer


def decided(store: Path) -> dict[str, RacedOutRecord]:
    return {each.name: each.raced_out for each in record(store).cells if each.raced_out}


@dataclass(frozen=True)
class Undisturbed:
    """A race that one worker made and nobody disturbed."""

    store: Path
    sweep: StoredSweep
    asked: list[tuple[str, str]]
    """Model and source of each call."""
    out: dict[str, RacedOutRecord]


def raced(folder: Path, url: str, shares: Mapping[str, float] = SHARES, top: str = "", size: int = SIZE) -> tuple[Path, StoredSweep]:  # fmt: skip
    """Store a race of these models, and bring it as far as it goes."""
    store, sweep = begun(folder, url, axes(shares), top=f"race = true\n{top}", size=size)
    work(store, sweep.number, never)
    return store, sweep


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch, serving(answering()) as server:
        patch.setenv("ROSETTA_HOME", str(folder / "home"))
        store, sweep = raced(folder, server.url)
        asked = [(str(each.body["model"]), each.source) for each in server.asked]
    return Undisturbed(store, sweep, asked, decided(store))


def test_losers_are_stopped_and_their_calls_saved(undisturbed: Undisturbed) -> None:
    asked = Counter(model for model, _ in undisturbed.asked)
    found = record(undisturbed.store)
    cells = {each.name: each for each in found.cells}
    assert found.state == "complete"
    assert [each.state for each in found.cells] == ["complete"] * 2 + ["raced-out"] * 2
    assert [each.trouble for each in found.cells] == [None] * len(SHARES)
    assert asked["best"] == asked["second"] == SIZE
    assert found.entries_spared == 2 * SIZE - asked["poor"] - asked["worst"] > SIZE
    assert (found.entries_done, found.entries_total) == (asked.total(), asked.total())
    out = undisturbed.out["worst"]
    assert cells["worst"].done == asked["worst"] == out.entries
    assert out.entries % BLOCK == 0
    assert 0 < out.lower < out.difference < out.upper
    # the first of the shuffled order, whatever place they have in the corpus
    first_ones = shuffled(SIZE, 12345)[: out.entries]
    sources = sorted(source for model, source in undisturbed.asked if model == "worst")
    assert sources == sorted(f"entry number {place}" for place in first_ones)
    with closing(open_store(undisturbed.store)) as connection:
        run = find_run(connection, cells["worst"].run_id or "")
        assert run.state is RunState.STOPPED
        assert run.live.reason == out.words(SIZE)
    assert out.words(SIZE).startswith(f"raced out after {out.entries} of {SIZE} entries: 0.")


def test_what_was_decided_follows_from_the_rule(undisturbed: Undisturbed) -> None:
    """The rule alone decides the same from the scores of single entries."""
    race, order = Race(list(SHARES), SIZE), shuffled(SIZE, 12345)
    with closing(open_store(undisturbed.store)) as connection:
        cells = record(undisturbed.store).cells
        runs = {each.name: find_run(connection, each.run_id or "") for each in cells}
        seen = {name: entry_scores(connection, run) for name, run in runs.items()}
    for start in range(0, SIZE, BLOCK):
        block = order[start : start + BLOCK]
        race.add({name: [seen[name][place] for place in block] for name in race.running})
    assert undisturbed.out.keys() == race.out.keys() == {"poor", "worst"}
    for name, out in race.out.items():
        told = undisturbed.out[name]
        assert (told.leader, told.entries, told.level) == (out.leader, out.entries, out.level)
        assert (told.lower, told.upper) == pytest.approx((out.lower, out.upper))


@pytest.mark.thorough
@pytest.mark.parametrize("instant", [25, 47, 8, 40, 41, 60, 80, 100])
def test_kill_changes_no_decision(tmp_path: Path, undisturbed: Undisturbed, instant: int) -> None:
    with serving() as server:
        store, sweep = begun(tmp_path, server.url, axes(), top="race = true", size=SIZE)
        with closing(WorkerProcesses(store, sweep.number, 2)) as workers:

            def kill(asked: Asked) -> None:
                if asked.number == instant:
                    for pid in workers.pids:
                        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))

            server.answer = answering(before=kill)
            workers.start()
            while not workers.wait(600):
                pass
            assert workers.failed
        assert record(store).state == "stopped"
        work(store, sweep.number, never)
        pairs = Counter((each.body["model"], each.source) for each in server.asked)
    assert decided(store) == undisturbed.out
    assert record(store).state == "complete"
    assert max(pairs.values()) <= 2  # what was under way is asked again, once


def test_repetitions_and_failures_race(tmp_path: Path) -> None:
    with serving(answering(TWO)) as server:
        store, _ = raced(tmp_path, server.url, TWO, "replicates = 2", size=2 * BLOCK)
    found = record(store)
    out = {each.name: each.raced_out for each in found.cells if each.raced_out}
    assert out.keys() == {"worst · #1", "worst · #2"}
    assert out["worst · #1"] == out["worst · #2"]
    assert {each.leader for each in out.values()} == {"best"}
    assert [each.done for each in found.cells[2:]] == [out["worst · #1"].entries] * 2

    def answer(asked: Asked) -> Answer:
        if asked.body["model"] == "worst" and int(asked.source.split()[-1]) % 3:
            return error(400, f"no answer to {asked.source}")
        return json_answer(completion(asked.source.upper()))

    with serving(answer) as server:
        store, _ = raced(tmp_path, server.url, TWO, size=4 * BLOCK)
    worst = record(store).cells[1]
    assert (worst.state, bool(worst.failed)) == ("raced-out", True)
    with closing(open_store(store)) as connection:
        scores = entry_scores(connection, find_run(connection, worst.run_id or ""))
    assert {n for n, score in scores.items() if score == 0} == {n for n in scores if n % 3}


def test_equal_configurations_and_small_corpora_are_finished(tmp_path: Path) -> None:
    for shares, size in (({"one": 1.0, "other": 1.0}, 2 * BLOCK), (SHARES, BLOCK - 1)):
        with serving(answering(shares)) as server:
            store, _ = raced(tmp_path, server.url, shares, size=size)
            assert len(server.asked) == len(shares) * size
        assert {each.state for each in record(store).cells} == {"complete"}
        assert decided(store) == {}


def test_incomplete_block_decides_nothing(tmp_path: Path, undisturbed: Undisturbed) -> None:
    store = tmp_path / "copy.sqlite"
    with closing(open_store(undisturbed.store)) as whole_store:
        whole_store.execute("VACUUM INTO ?", (str(store),))
    with closing(open_store(store)) as connection:
        race = SweepRace(cells_again(undisturbed.sweep), 12345)
        whole = race.replay(read_racers(connection, undisturbed.sweep.number))
        last = race.order[BLOCK - 1]
        run = find_run(connection, record(store).cells[1].run_id or "")
        connection.execute("DELETE FROM results WHERE run = ? AND position = ?", (run.id, last))
        lacking = race.replay(read_racers(connection, undisturbed.sweep.number))
    assert whole.seen == SIZE
    assert (lacking.seen, lacking.out) == (0, {})


def test_race_stays_one_and_a_run_may_be_finished_by_hand(tmp_path: Path) -> None:
    with serving(answering(TWO)) as server:
        store, sweep = raced(tmp_path, server.url, TWO, size=2 * BLOCK)
        store, again = begun(tmp_path, server.url, axes(TWO), size=2 * BLOCK)
        assert again.number == sweep.number
        asked = len(server.asked)
        work(store, again.number, never)
        assert len(server.asked) == asked
        ready = api.resume(store, record(store).cells[1].run_id or "")
        execute_run(ready.path, ready.number, ready.cleared, lambda _: None, Control())
        work(store, again.number, never)
    found = record(store).cells[1]
    assert (found.state, found.done) == ("complete", 2 * BLOCK)
    assert found.raced_out is not None
    assert len(stored_entries(store, found.run_id or "")) == 2 * BLOCK
    with closing(open_store(store)) as connection:
        assert find_sweep(connection, "last").key == sweep.key


def test_runs_that_cannot_race_are_refused(tmp_path: Path) -> None:
    coaching = tmp_path / "coaching.json"
    coaching.write_text('{"notes": "Be brief.", "dictionary": {"number": "NUMBER"}}', "utf-8")
    url = "http://127.0.0.1:9/v1"
    coached = '[axes]\nmodel = ["a"]\ncoaching = [false, "coaching.json"]'
    for parts, said in (
        (coached, r"Say terms = .*coaching\.json"),
        (AXES.format('"a"'), "a race takes two configurations or more"),
        (AXES.format('"a", { label = "b", model = "b", metrics = "chrf" }'), "scored in different"),
    ):
        with pytest.raises(UsageError, match=r"plan\.toml: line 4, field 'race': .*" + said):
            begun(tmp_path, url, parts, top="race = true")
    for fixed in ('terms = "coaching.json"\n', 'metrics = "chrf,exact"\n'):
        begun(tmp_path, url, coached, top="race = true", fixed=fixed)
    coaching.write_text('{"notes": "Be brief."}', "utf-8")
    begun(tmp_path, url, coached, top="race = true")


RAW = MethodClass.RAW_LLM
EACH = 40
RIGHT = {
    "raw a": (RAW, (10,)), "raw b": (RAW, (8,)), "good": (MethodClass.PIPELINE, (30, 34)),
    "fair": (MethodClass.PIPELINE, (13,)), "bad": (MethodClass.PIPELINE, (3,)),
}  # fmt: skip
"""Set-up → its class, and the right outputs of each repetition, of 40."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a sweep of five set-ups and one that waits."""
    found = tmp_path_factory.mktemp("compared") / "rosetta.sqlite"
    corpus = ranked_corpus(EACH)
    made = [
        (name, number, play(found, corpus, right, name.replace(" ", "-"), replicate=number, kind=kind))
        for name, (kind, rights) in RIGHT.items()
        for number, right in enumerate(rights)
    ]  # fmt: skip
    cells = [NewCell(f"{name} #{n}", {"model": name}, n, "0", EACH) for name, n, _ in made]
    with closing(open_store(found)) as store:
        sweep = keep_sweep(
            store, key="a" * 64, name="five", file="plan.toml", budget_usd=None, workers=1,
            plan=json.dumps({"axes": {"model": [{"label": name} for name in RIGHT]}}),
            cells=[*cells, NewCell("late", {"model": "late"}, 0, "1", EACH)],
        )  # fmt: skip
        for cell, (_, _, run_id) in zip(read_cells(store, sweep.number), made, strict=False):
            set_run(store, sweep.number, cell.place, run_id, reused=False)
    return found


@pytest.fixture(scope="module")
def comparison(path: Path) -> tuple[SweepComparison, SweepRecord]:
    with closing(open_store(path)) as store:
        record = sweep_record(store, find_sweep(store, "five"))
        return compare_sweep(store, record, "chrf_plus_plus", draws=100), record


def test_methods_meet_the_best(
    comparison: tuple[SweepComparison, SweepRecord], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, record = comparison
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
    assert fair.method.between_entries is None, "one run alone cannot be separated"
    assert found.left_out == {"late": "none of its runs is complete"}
    with closing(open_store(path)) as store:
        cells = tuple(each for each in record.cells if each.labels["model"] == "good")
        with pytest.raises(UsageError, match="No baseline"):
            compare_sweep(store, record.model_copy(update={"cells": cells}))
        cells = tuple(each for each in record.cells if each.labels["model"].startswith("raw"))
        raw = compare_sweep(store, record.model_copy(update={"cells": cells}), "chrf_plus_plus", draws=100)
    assert (raw.methods, "no method" in raw.unanswered) == ((), True)
    [effect] = raw.effects
    assert (effect.axis, effect.reference, effect.value, effect.pairs) == ("model", "raw a", "raw b", 1)
    assert effect.lower <= effect.difference <= effect.upper
    assert {each.value for each in found.effects} == {"raw b", "good", "fair", "bad"}
    monkeypatch.setenv("ROSETTA_HOME", str(path.parent))
    asked = ["sweep", "compare", "five", "--metric", "chrf", "--draws", "300"]
    lines = CliRunner().invoke(rosetta, asked)
    assert lines.exit_code == 0, lines.output
    assert "3 methods against the best of 2 baselines" in lines.output
    assert "axis   value  adds" in lines.output
    told = json.loads(CliRunner().invoke(rosetta, [*asked, "--json"]).output)
    assert [each["method"]["name"] for each in told["methods"]] == ["good", "fair", "bad"]


class Drawn(SharedRuns):
    """Values of set-ups as they are given; each resample moves all set-ups alike."""

    def __init__(self, points: Sequence[float]) -> None:
        self.points = np.array(points)

    def drawn(self, setups: Any) -> Any:
        moved = np.random.default_rng(1).normal(0, 5, 400)
        return [*range(len(setups))], self.points, self.points[:, None] + moved


def test_effect_of_an_axis_is_the_mean_over_pairs_that_differ_in_it_alone() -> None:
    grid = [{"model": m, "prompt": p} for m, p in product(("a", "b"), ("plain", "long"))]
    setups = [SweepSetup(labels, (), other_inputs=False) for labels in grid]
    model, prompt = axis_effects(Drawn([50.0, 53.0, 60.0, 65.0]), setups, "chrf_plus_plus")
    assert (model.value, model.difference, model.pairs) == ("b", 11.0, 2)
    assert (prompt.reference, prompt.value, prompt.difference) == ("plain", "long", 4.0)
    assert (model.lower, model.upper) == (pytest.approx(11.0), pytest.approx(11.0)), "what moves all alike is no doubt"
    [model, prompt] = axis_effects(Drawn([-50.0, -53.0, -60.0]), setups[:3], "ter")
    assert (model.difference, model.pairs, prompt.difference) == (10.0, 1, 3.0)


@pytest.mark.parametrize("term", first(1, ["absent", "number"]))
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


COMPOSITE, CHRF = CellMeasure.COMPOSITE, CellMeasure.CHRF


def cell(model: str, composite: float | None, cost: float | None = 0.001, **told: object) -> MadeCell:
    return MadeCell({"model": model}, composite, 50.0, cost, 1.0, **told)  # type: ignore[arg-type]


def of(tmp_path: Path, *cells: MadeCell) -> tuple[SweepSetup, ...]:
    return setups_of(read(tmp_path, *cells))


def read(tmp_path: Path, *cells: MadeCell) -> SweepRecord:
    path = Path(mkdtemp(dir=tmp_path)) / "s.sqlite"
    models = list(dict.fromkeys(each.labels["model"] for each in cells))
    sweep = made_sweep(path, {"model": models}, cells)
    with closing(open_store(path)) as store:
        return sweep_record(store, sweep)


def names(setups: Sequence[SweepSetup | None]) -> list[str]:
    return [each.labels["model"] for each in setups]


def test_repetitions_count_as_their_mean_and_seconds_as_cost(tmp_path: Path) -> None:
    stopped = cell("a", None, replicate=2, state="stopped")
    waiting = cell("b", None, state="waiting")
    a, b = of(tmp_path, cell("a", 0.4), cell("a", 0.5, replicate=1), stopped, waiting)
    assert (a.value(COMPOSITE), a.values(COMPOSITE)) == (pytest.approx(0.45), (0.4, 0.5))
    assert len(a.cells) == 3
    assert b.value(COMPOSITE) is None
    assert not b.is_baseline
    slow, fast = cell("slow", 0.5, 0.0), MadeCell({"model": "fast"}, 0.5, 50.0, 0.0, 0.2)
    setups = of(tmp_path, slow, fast)
    assert effort_of(setups) is CellMeasure.SECONDS
    assert names(front(setups, COMPOSITE)) == ["fast"]
    cheapest = best(setups, CellMeasure.SECONDS)
    assert names((cheapest,)) == ["fast"], "of time less is better"
    found = read(tmp_path, cell("z", 0.5), cell("a", 0.4, replicate=1))
    assert (found.axes, found.replicates) == ({"model": ("z", "a")}, 2)
    assert [(each.method, each.method_class) for each in found.cells] == [("chat", "raw-llm")] * 2
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
        assert names(front(drawn.setups, CellMeasure.HEADLINE)) == (["a", "b", "c"] if grid.rises else ["a"])
    other = cell("c", 0.9, inputs=("chrf_plus_plus",))
    drawn = SweepMap(read(tmp_path, cell("a", 0.1), cell("b", 0.2), other))
    grid = drawn.grid("model", "", COMPOSITE, COMPOSITE)
    assert [grid.level(grid.cells[row, 0]) for row in range(3)] == [0, 7, None]


def test_best_baseline_and_the_front_that_none_beats(tmp_path: Path) -> None:
    setups = of(
        tmp_path, cell("coached", 0.9, kind="coached-llm"), cell("raw", 0.5),
        cell("copy", 0.6, kind="custom-plugin", method="copy-source"),
        cell("plugin", 0.8, kind="custom-plugin", method="mine"),
        cell("other", 0.95, inputs=("chrf_plus_plus",)),
    )  # fmt: skip
    found = best_baseline(setups, COMPOSITE)
    assert names((found,)) == ["copy"]
    by_chrf = best_baseline(setups, CHRF)
    assert names((by_chrf,)) == ["raw"], "of equal ones the first"
    assert [each.labels["model"] for each in setups if each.other_inputs] == ["other"]
    best_of_all = best(setups, COMPOSITE)
    assert names((best_of_all,)) == ["coached"], "one with other inputs does not compare"
    assert best(setups[4:], COMPOSITE) is setups[4], "where there is no other it is shown"
    setups = of(
        tmp_path, cell("good", 0.9, 0.010), cell("dear", 0.9, 0.020), cell("cheap", 0.5, 0.001),
        cell("twin", 0.5, 0.001), cell("beaten", 0.4, 0.002), cell("unknown", 0.99, None),
        cell("other", 0.99, 0.0001, inputs=("chrf_plus_plus",)),
    )  # fmt: skip
    assert effort_of(setups) is CellMeasure.COST
    assert names(front(setups, COMPOSITE)) == ["good", "cheap", "twin"]
    assert names(front(setups, CHRF)) == ["other"]


def found_in(store: sqlite3.Connection):  # type: ignore[no-untyped-def]
    return with_missed(store, sweep_record(store, find_sweep(store, "last")))


def test_missed_entries_are_those_that_no_complete_run_solves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.sqlite"
    made_misses(path)
    with closing(open_store(path)) as store:
        record = found_in(store)
        found = record.missed
        assert (found.runs, found.entries, found.missed, found.secret, found.below) == (3, 5, 3, None, 0.3)
        ids = [each.entry_id for each in found.listed]
        assert ids == [3, 5, 1], "the worst first; ids count from 1"
        assert [each.best_composite for each in found.listed] == [0.0, 0.28, 0.29]
        assert [each.best_run[-12:] for each in found.listed][1:] == ["0000001-made", "0000002-made"]
        assert found.by_difficulty == (
            MissedTier(difficulty=1, missed=1, entries=3), MissedTier(difficulty=5, missed=2, entries=2),
        )  # fmt: skip
        lines = [*missed_lines(found)]
        assert lines[:2] == [
            "Missed by all 3 complete runs (failed or composite < 0.30): 3 of 5 entries, and fewer than five secret entries",
            "  by difficulty   1: 1 of 3 · 5: 2 of 2 (all)",
        ]
        assert lines[3].startswith("  5 · difficulty 5 · best 0.28 · ")
        assert lines[0] in [*sweep_lines(record, 100)]
        secret = store.execute("SELECT t.body FROM entries e JOIN texts t ON t.id = e.source WHERE position = 5").fetchone()[0]  # fmt: skip
        assert secret not in json.dumps(record.model_dump(mode="json"))
        inside = record.model_copy(update={"inside": True, "missed": None})
        assert with_missed(store, inside).missed is None, "of a sweep over a vault nothing is counted before its end"
        assert with_missed(store, inside.model_copy(update={"state": "complete"})).missed == found
        monkeypatch.setattr(record_module, "MOST_LISTED", 1)
        assert [*missed_lines(found_in(store).missed)][-1] == "  and 2 more"
        store.execute("UPDATE runs SET opening = json_set(opening, '$.scoring.task', 'chat', '$.scoring.metrics', json('[]'))")  # fmt: skip
        assert found_in(store).missed is None, "answers of a chat are neither right nor wrong"


def test_one_run_alone_misses_nothing_for_all(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    made_sweep(path, {"model": ("a",)}, [MadeCell({"model": "a"}, 0.2)])
    with closing(open_store(path)) as store:
        assert found_in(store).missed is None
