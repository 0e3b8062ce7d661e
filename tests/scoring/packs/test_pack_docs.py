"""The page of packs: each number under “here” is what its record gives."""

from __future__ import annotations

import json
import re
import statistics
from decimal import Decimal
from pathlib import Path

import pytest

from scoring.packs.half_up import half_up
from scoring.packs.judge_replies import CONTRACTS, parse_reply
from tests.scoring.packs.pack_cases import entry_values, metric, record

PAGE = (Path(__file__).parents[3] / "docs" / "packs.md").read_text("utf-8")
ROWS = re.findall(
    r"^\| `((?:lbrag|nest)\.\w+|judge_\w+)` \| `(.+?)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|$",
    PAGE,
    re.MULTILINE,
)


def value(name: str, told: str) -> float | None:
    if name in CONTRACTS:
        return parse_reply(CONTRACTS[name], json.loads(told)).score
    fields = json.loads(told)
    return entry_values(metric(name, fields.get("language", "en")), [record(fields)])[0]


def test_the_page_has_such_rows_of_every_part() -> None:
    assert {name.partition(".")[0].partition("_")[0] for name, *_ in ROWS} == {
        "lbrag",
        "nest",
        "judge",
    }
    assert len(ROWS) > 30


@pytest.mark.parametrize(("name", "told", "published", "here"), ROWS)
def test_a_difference_is_as_the_page_says(name: str, told: str, published: str, here: str) -> None:
    found = value(name, told)
    if here == "null":
        assert found is None
    else:
        assert found is not None
        digits = -int(Decimal(here).as_tuple().exponent)
        assert half_up(found, digits) == Decimal(here)
    assert published != here


def test_examples_that_do_not_follow_are_worked_out() -> None:
    mixed = record({"predicted": "答案是 4429 meters", "language": "zh"})
    years = record({"predicted": "大约11年左右", "reference": "11.0 年份", "language": "zh"})
    one_of_ten, eight_of_ten = [1] + [0] * 9, [1] * 8 + [0] * 2
    follows = [
        entry_values(metric("lbrag.rlc"), [mixed])[0],
        entry_values(metric("lbrag.f1"), [years])[0],
        statistics.stdev(one_of_ten),
        statistics.stdev(eight_of_ten),
    ]
    printed = [f"{half_up(float(each or 0), 3).normalize():f}" for each in follows]
    assert printed == ["0.333", "0.5", "0.316", "0.422"]
    assert all(f"| {each} |" in PAGE.replace("±0.316", "0.316") for each in printed)
    assert statistics.pvariance([4, 40]) == 324
    assert f"{statistics.stdev(one_of_ten * 10):.3f}" == "0.302"
