"""The page of metrics is what its generator writes, and tells every metric with what a reader needs."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from scoring.core.columns import TASKS
from scoring.core.inventory import shipped_inventory
from scoring.core.packs import shipped_packs
from scoring.core.specification import specification

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "metrics.md").read_text("utf-8")


def test_the_page_is_what_its_generator_writes() -> None:
    written = runpy.run_path(str(DOCS / "make_metrics.py"))["page"]()
    assert written == PAGE, "run: python -P docs/make_metrics.py"


def test_every_metric_has_one_full_row() -> None:
    rows = _rows(PAGE.partition("## Packs")[0])
    assert list(rows) == list(specification().metrics)
    for id_, cells in rows.items():
        assert all(cells), id_
        weights = dict(re.findall(r"([AB]) (\d\.\d\d)", cells[-1]))
        assert {name: float(weight) for name, weight in weights.items()} == {
            name: profile[id_]
            for name, profile in specification().profiles.items()
            if id_ in profile
        }
        assert weights or cells[-1].startswith("no: ")


def test_every_metric_of_a_shipped_pack_has_one_full_row() -> None:
    rows = _rows(PAGE.partition("## Packs")[2])
    assert list(rows) == [id_ for id_ in shipped_inventory() if "." in id_]
    assert all(all(cells) for cells in rows.values())


def _rows(part: str) -> dict[str, list[str]]:
    return {
        cells[1].strip().strip("`"): [cell.strip() for cell in cells[2:-1]]
        for line in part.splitlines()
        if line.startswith("| `") and len(cells := line.split("|")) >= 10
    }


def test_every_task_of_a_pack_has_a_metric_and_every_metric_a_task_that_there_is() -> None:
    for pack in shipped_packs():
        assert all(pack.for_task(task) for task in pack.tasks), pack.name
        tasks = {task for row in pack.rows.values() for task in row.tasks}
        assert tasks <= TASKS.keys()


def test_the_page_names_no_metric_that_there_is_not() -> None:
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", PAGE.partition("## Packs")[0]))
    assert named - set(specification().metrics) <= {"morphological_analysis"}
