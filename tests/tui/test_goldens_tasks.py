"""What screens look like where the corpus asks for something else than translations."""

from __future__ import annotations

from asyncio import to_thread
from pathlib import Path

import pytest

from tests.tui.answered import QA, answered, asking, judge, text2sql
from tests.tui.golden import SIZES, compare
from tests.tui.golden_colours import THEMES, compare_colours
from tests.tui.screens import App, at_rest, press, settle

SAID = {"score": 0.5, "explanation": "It leaves out the article.\nThe place is right."}
FAILED = {"score": None, "reason": "the reply has no JSON object with a score"}
LOOKS = [(size, THEMES[0]) for size in SIZES] + [((100, 30), theme) for theme in THEMES]
"""Sizes for the words; each theme once for the colours."""


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))


def look(name: str, size: tuple[int, int], app: App) -> None:
    if size in SIZES:
        compare(name, size, app)
    else:
        compare_colours(name, app)


@pytest.mark.parametrize(("size", "theme"), LOOKS)
async def test_a_judged_run_and_what_the_judge_said(
    size: tuple[int, int], theme: str, tmp_path: Path
) -> None:
    path, run = await to_thread(answered, tmp_path, "qa", QA, metrics=("lbrag",))
    judge(path, run, "judge_semantic", SAID, FAILED)
    app = App(None, path, watch=True)
    asking(path, run, app.queue)
    async with at_rest(app, size) as (_, pilot):
        app.theme = theme
        await settle(pilot)
        look("qa-live", size, app)
        await press(pilot, "enter")
        look("qa-entry", size, app)


@pytest.mark.parametrize(("size", "theme"), LOOKS)
async def test_a_query_with_its_rows(size: tuple[int, int], theme: str, tmp_path: Path) -> None:
    records = text2sql(tmp_path)
    metrics = {"metrics": ("au.text2sql_score",)}
    path, run = await to_thread(answered, tmp_path, "text2sql", records, **metrics)
    app = App(None, path, watch=True)
    asking(path, run, app.queue)
    async with at_rest(app, size) as (_, pilot):
        app.theme = theme
        await press(pilot, "enter")
        look("sql-entry", size, app)
