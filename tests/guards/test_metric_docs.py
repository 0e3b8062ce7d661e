"""The page of metrics is what its generator writes, and tells every metric with what a reader needs."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from scoring.core.specification import specification

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "metrics.md").read_text("utf-8")


def test_the_page_is_what_its_generator_writes() -> None:
    written = runpy.run_path(str(DOCS / "make_metrics.py"))["page"]()
    assert written == PAGE, "run: python -P docs/make_metrics.py"


def test_every_metric_has_one_full_row() -> None:
    rows = {
        cells[1].strip().strip("`"): [cell.strip() for cell in cells[2:-1]]
        for line in PAGE.splitlines()
        if line.startswith("| `") and len(cells := line.split("|")) == 11
    }
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


def test_the_page_names_no_metric_that_there_is_not() -> None:
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", PAGE))
    assert named - set(specification().metrics) <= {"morphological_analysis"}
