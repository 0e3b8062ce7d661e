"""The page of packs: each number of the pack ``au`` under “here” is what its record gives."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.scoring.packs.au import entry_value, golden, metric

PAGE = (Path(__file__).parents[3] / "docs" / "packs.md").read_text("utf-8")
ROWS = re.findall(
    r"^\| `au\.(\w+)` \| `(.+?)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", PAGE, re.MULTILINE
)


def test_the_page_has_the_rows() -> None:
    assert len(ROWS) == 18


@pytest.mark.parametrize(("name", "told", "published", "here"), ROWS)
def test_a_difference_is_as_the_page_says(name: str, told: str, published: str, here: str) -> None:
    assert entry_value(metric(name), golden(json.loads(told))) == pytest.approx(
        float(here), abs=0.5 * 10 ** -len(here.partition(".")[2])
    )
    assert published != here
