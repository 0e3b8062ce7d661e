"""The tables of the shipped packs."""

from __future__ import annotations

from importlib import import_module

import pytest

from scoring.core.packs import SHIPPED, read_pack, shipped_pack
from scoring.core.specification import specification

TABLE = """
[pack]
version = "2.1"
title = "Vowels"
document = "a paper"
tasks = []

[metrics.vowels]
title = "Vowels"
category = "surface"
section = "§1"
low = 0
better = "higher"
level = "both"
what = "How many vowels an output has."
status = "implemented"
needs = []
library = "own code"
interval = true
"""


def test_a_metric_goes_by_the_name_of_its_pack_and_its_own() -> None:
    pack = read_pack("demo", TABLE)
    row = pack.rows["demo.vowels"]
    assert (pack.version, row.info.source, row.info.high) == ("2.1", "a paper §1", float("inf"))


def test_a_table_that_lacks_a_field_is_refused_by_its_name() -> None:
    with pytest.raises(KeyError, match="library"):
        read_pack("demo", TABLE.replace('library = "own code"', ""))


def test_no_task_is_scored_by_two_packs_unasked() -> None:
    tasks = [task for name in SHIPPED for task in shipped_pack(name).tasks]
    assert len(set(tasks)) == len(tasks) == 12


@pytest.mark.parametrize("name", SHIPPED)
def test_every_row_has_code_and_its_needs_are_explained(name: str) -> None:
    pack = shipped_pack(name)
    needs = {*pack.needs, *specification().needs}
    for id_, row in pack.rows.items():
        assert set(row.needs) <= needs, id_
        assert id_ in import_module(str(row.module)).METRICS
        assert len(row.what) < 120
        assert row.what.endswith(".")
    names = [name for row in pack.rows.values() for name in (row.info.title, *row.also)]
    assert len(set(names)) == len(names)


def test_a_range_without_lower_end_is_told_as_one() -> None:
    assert shipped_pack("lbrag").rows["lbrag.cnbe"].scale == "−∞–∞"
