"""What docs/fst.md says of statuses and engines is what there is."""

import re
from pathlib import Path

from harness.fst.builtin import MOST_ANALYSES
from harness.fst.layout import MOST_LETTERS
from harness.fst.model import MOST_BYTES, FstStatus
from tests.harness.fst.making import ENGINES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "fst.md").read_text("utf-8")


def first_cells(title: str) -> list[str]:
    table = re.search(rf"\| {title} \|.*\n((?:\|.*\n)+)", PAGE)
    assert table is not None
    return re.findall(r"^\| `([^`]+)` \|", table[1], re.MULTILINE)


def test_statuses_and_engines() -> None:
    assert first_cells("status") == list(FstStatus)
    assert first_cells("engine") == list(ENGINES)


def test_limits() -> None:
    assert f"{MOST_BYTES >> 20} MB" in PAGE
    assert f"{MOST_LETTERS} letters" in PAGE
    assert f"{MOST_ANALYSES:,} analyses" in PAGE


def test_links() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists(), target
