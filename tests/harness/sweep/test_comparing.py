"""Methods of a sweep against the best of its baselines: real runs, as numbers, as lines and as JSON."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.core.failures import UsageError
from harness.method.method import MethodClass
from harness.store.file.database import open_store
from harness.store.sweeps import NewCell, find_sweep, keep_sweep, read_cells, set_run
from harness.sweep.comparing import SweepComparison, compare_sweep
from harness.sweep.record import SweepRecord, sweep_record
from harness.sweep.working import work
from rosetta_tui.commands import rosetta
from tests.harness.ranked import play, ranked_corpus
from tests.harness.scripted import serving
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


def compared(path: Path) -> tuple[SweepComparison, SweepRecord]:
    with closing(open_store(path)) as store:
        record = sweep_record(store, find_sweep(store, "five"))
        return compare_sweep(store, record, "chrf_plus_plus", draws=300), record


def test_each_method_is_held_against_the_best_and_all_are_corrected(path: Path) -> None:
    found, _ = compared(path)
    good, fair, bad = found.methods
    assert [each.method.name for each in found.methods] == ["good", "fair", "bad"]
    assert [each.name for each in found.baselines] == ["raw a", "raw b"]
    assert {each.best for each in found.methods} == {"raw a"}
    assert good.difference > 0 > bad.difference
    assert good.beats
    assert good.lower > 0
    assert bad.p_maximum == 1.0
    assert not bad.beats
    ordered = sorted(each.p_maximum for each in found.methods)
    assert good.p_holm == pytest.approx(3 * ordered[0]), "Holm: the least of three times three"
    assert fair.p_holm == pytest.approx(min(1.0, max(3 * ordered[0], 2 * ordered[1])))
    assert all(each.p_picked <= each.p_maximum for each in found.methods)


def test_repetitions_count_together_and_their_variance_stands_apart(path: Path) -> None:
    good, fair, _ = compared(path)[0].methods
    assert len(good.method.runs) == 2
    assert good.method.between_entries is not None
    assert good.method.between_repetitions is not None
    assert good.method.between_entries > good.method.between_repetitions
    assert fair.method.between_entries is None, "one run alone cannot be parted"


def test_what_waits_is_named_and_one_side_alone_is_refused(path: Path) -> None:
    found, record = compared(path)
    assert found.left_out == {"late": "none of its runs is complete"}
    with closing(open_store(path)) as store:
        for kinds, words in (
            (("raw a", "raw b"), "no method to compare"),
            (("good",), "No baseline"),
        ):
            cells = tuple(each for each in record.cells if each.labels["model"] in kinds)
            with pytest.raises(UsageError, match=words):
                compare_sweep(store, record.model_copy(update={"cells": cells}))


@pytest.mark.parametrize("term", ["absent", "number"])
def test_coaching_whose_terms_count_in_no_composite_compares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, term: str
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
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


def test_the_command_says_it_in_lines_and_as_json(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(path.parent))
    asked = ["sweep", "compare", "five", "--metric", "chrf", "--draws", "300"]
    lines = CliRunner().invoke(rosetta, asked)
    assert lines.exit_code == 0, lines.output
    assert "3 methods against the best of 2 baselines" in lines.output
    assert "beats the best" in lines.output
    told = json.loads(CliRunner().invoke(rosetta, [*asked, "--json"]).output)
    assert told["version"] == 1
    assert [each["method"]["name"] for each in told["methods"]] == ["good", "fair", "bad"]
