"""What screens look like where the corpus asks for something else than translations."""

from __future__ import annotations

from asyncio import to_thread
from pathlib import Path

import pytest

from scoring.statistics.spread import ValueSpread
from tests.tui.answered import (
    INSTRUCTIONS,
    JUDGED,
    QA,
    RESPONSE,
    answered,
    asking,
    judge,
    text2sql,
)
from tests.tui.golden import SIZES, compare
from tests.tui.golden_colours import THEMES, compare_colours
from tests.tui.screens import App, at_rest, lines, press, settle, text

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
async def test_which_shares_of_instructions_are_kept(
    size: tuple[int, int], theme: str, tmp_path: Path
) -> None:
    path, run = await to_thread(answered, tmp_path, "ifeval", [INSTRUCTIONS])
    id_, app = "au.instruction_following", App(None, path, watch=True)
    ends = ("strict_prompt", "loose_prompt", "strict_instruction", "loose_instruction")
    shares = {f"{id_}_{end}": 0.2 + n / 10 for n, end in enumerate(ends)}
    told = {"values": {id_: 0.35, **shares}, "intervals": {id_: (0.1, 0.6)}, "cost_usd": None}
    now = {"scoring": None, "doing": None, "spread": ValueSpread(0.35, 0.2, 1)}
    asking(path, run, app.queue, **told, **now)
    async with at_rest(app, size) as (_, pilot):
        app.theme = theme
        await settle(pilot)
        look("ifeval-live", size, app)
        await press(pilot, "m")
        look("ifeval-metrics", size, app)


@pytest.mark.parametrize("size", SIZES)
async def test_a_sealed_run_says_how_many_answers_nobody_judged(
    size: tuple[int, int], tmp_path: Path
) -> None:
    records = [*JUDGED, {"source": "The largest lake?", "predicted": "Baikal"}]
    path, _ = await to_thread(answered, tmp_path, "judged", records)
    async with at_rest(App(None, path), size) as (app, pilot):
        await press(pilot, "enter")
        assert "1 entry not judged" in text(app)


async def test_a_list_has_whole_names_and_a_dash_for_a_cost_that_nobody_knows(
    tmp_path: Path,
) -> None:
    path, _ = await to_thread(answered, tmp_path, "response", [RESPONSE])
    for size in SIZES:
        async with at_rest(App(None, path), size) as (app, _):
            row = next(line.split() for line in lines(app) if "✓" in line)
            assert "response-v1" in row
            assert ("–" in row) == (size[0] > 80)
            assert "unknown" not in row


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
