"""A review whose corpus, or one entry of it, was taken back: nothing of it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.store.file.database import opened
from tests.tui.commands.certified_gold import TwoSides, ok, refused, two_sides


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TwoSides:
    monkeypatch.chdir(tmp_path)
    return two_sides(tmp_path, monkeypatch)


def withdraw(sides: TwoSides, *more: str) -> str:
    """Take the corpus of the run back, or some entries of it; return what was said."""
    with opened(sides.organisation / "rosetta.sqlite") as store:
        [(sha256,)] = store.execute("SELECT sha256 FROM corpora")
    notice = sides.stick / "n.rosetta-notice"
    line = f"consent withdraw --corpus store:{sha256} -o {notice} --by Council --reason asked"
    return ok(" ".join((line, *more)))


@pytest.mark.parametrize("about", ["", "--entries 0"])
def test_nothing_of_it_leaves_any_more(sides: TwoSides, about: str) -> None:
    evidence = sides.stick / "evidence"
    leaving = (
        "review gate last --issue -o again",
        "review gate last",
        "review page last -o page.html",
        "review export last -o out",
        "review export last --csv table.csv",
        "review export last --mtme mtme",
        f"review export last --inside {evidence}",
    )
    withdraw(sides, about)
    here = sorted(Path().rglob("*"))
    for line in leaving:
        told = refused(line)
        assert "consent was withdrawn for" in told, line
        assert "“asked”" in told, line
    assert sorted(Path().rglob("*")) == here
