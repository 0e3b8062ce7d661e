"""The tables of the shipped packs."""

from __future__ import annotations

import pytest

from scoring.core.packs import SHIPPED, read_pack, shipped_pack

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
