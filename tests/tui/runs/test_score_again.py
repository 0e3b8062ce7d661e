"""`S` on Home: what a run is scored with again, what will work, how far it is, and what came of it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Static

import rosetta_tui
from harness.run import rescoring
from harness.setup.scoring_options import ScoringOptions
from harness.store.corpora.entries import read_entries
from harness.store.file.database import open_store
from harness.store.results import read_results
from harness.store.runs import find_run
from rosetta_tui.entry.explaining import Explaining
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.runs.score_again import ScoreAgainScreen, fields_of, options_of
from rosetta_tui.toolkit.form.form_line import FormLine
from tests.harness.evaluation import LANGUAGES
from tests.tui.runs.made import opened, path, runs
from tests.tui.screens import App, at_rest, press, settle, text

__all__ = ["path"]


async def test_scoring_again_makes_a_new_run_that_names_the_old(path: Path) -> None:
    [before] = runs(path)
    async with at_rest(App(None, path), (80, 24)) as (app, pilot):
        await opened(pilot)
        await pilot.press("enter")
        while isinstance(app.screen, ScoreAgainScreen):
            await pilot.pause()
        await settle(pilot)
    new = next(run for run in runs(path) if run.run_id != before.run_id)
    assert new.rescore_of == before.run_id
    assert new.card["scores"]["ter"] > 0
    assert before.card["scores"]["ter"] is None


@pytest.mark.costly("a dialog that looks at three sets of metrics")
async def test_dialog_says_what_will_work_and_what_is_wrong(path: Path) -> None:
    async with at_rest(App(None, path), (80, 24)) as (app, pilot):
        screen = await opened(pilot)
        screen.query_one("#prospect").scroll_visible(animate=False)
        await settle(pilot)
        seen = " ".join(text(app).split())
        assert all(word in seen for word in ("taken again", "TER", "FST", "semantic"))
        await pilot.resize_terminal(160, 48)
        screen.query_one("#field-metrics", FormLine).put("blue")
        await settle(pilot)
        assert "there is no metric 'blue'" in " ".join(text(app).split())
        await press(pilot, "ctrl+s")
        assert app.screen is screen
        screen.query_one("#field-metrics", FormLine).put("chrf_plus_plus")
        await settle(pilot)
        await press(pilot, "ctrl+s")
        assert app.screen is screen
        assert "Nothing new comes of it" in text(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, HomeScreen)
    assert len(runs(path)) == 1


async def test_stopped_scoring_leaves_no_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with at_rest(App(None, path), (160, 48)) as (app, pilot):
        screen = await opened(pilot)

        def slow(store: Any, run: Any, options: Any, tell: Callable[[str], None], note: Any) -> str:
            tell("embeddings: 1 of 8")
            app.call_from_thread(screen.action_leave)
            return real(store, run, options, tell, note)

        real = rescoring.rescore
        monkeypatch.setattr("rosetta_tui.runs.score_again.rescore", slow)
        await press(pilot, "ctrl+s")
        assert app.screen is screen
        assert "Stopped; no run was made." in text(app)
    assert len(runs(path)) == 1


def test_only_what_is_other_than_before_is_told() -> None:
    assert fields_of(ScoringOptions(multi_ref=True, terms=Path("/t.json"))) == {
        "multi_ref": "yes",
        "terms": "/t.json",
    }
    assert options_of({}).model_fields_set == set()
    told = options_of({"terms": "", "multi_ref": "", "metrics": "ter, bleu"})
    assert told.model_fields_set == {"terms", "multi_ref", "metrics"}
    assert (told.terms, told.multi_ref, told.metrics) == (None, False, ("ter", "bleu"))


def spoil_the_card(path: Path) -> None:
    """Break the person's own card of the target language."""
    folder = path.parent / "languages"
    folder.mkdir()
    (folder / f"{LANGUAGES['target_language']}.toml").write_text("x = ", "utf-8")


@pytest.mark.thorough
async def test_a_broken_language_card_is_spoken_of(path: Path) -> None:
    spoil_the_card(path)
    async with at_rest(App(None, path), (120, 30)) as (app, pilot):
        screen = await opened(pilot)
        said = str(screen.query_one("#said", Static).content)
        assert f"{LANGUAGES['target_language']}.toml: It is no TOML" in said
        assert "✗ /" in said
        await press(pilot, "enter")
        assert app.screen is screen
        assert "✗" in text(app)
        await pilot.press("escape")
    assert len(runs(path)) == 1


def test_a_broken_language_card_is_why_nothing_is_explained(path: Path) -> None:
    [run] = runs(path)
    spoil_the_card(path)
    explaining = Explaining(path, run.run_id)
    with closing(open_store(path)) as store:
        stored = find_run(store, run.run_id)
        entry = read_entries(store, stored.corpus, [0])[0]
        [result] = read_results(store, stored.id, [0])
    assert explaining.explain(entry, result) is None
    assert explaining.why_not is not None
    assert ".toml" in explaining.why_not


READ_CARDS = {"prospect", "rescore", "measured", "_explain", "look", "start_run", "open_corpus"}
"""What reads language cards or corpora of a person, and may say CorpusError of them."""


def test_whoever_says_failures_of_the_harness_says_those_of_cards_and_corpora_too() -> None:
    found = 0
    for file in Path(rosetta_tui.__file__).parent.rglob("*.py"):
        code = file.read_text("utf-8")
        for each in ast.walk(ast.parse(code)) if "HarnessError" in code else ():
            if not isinstance(each, ast.Try):
                continue
            called = {ast.unparse(n.func).split(".")[-1] for line in each.body
                      for n in ast.walk(line) if isinstance(n, ast.Call)}  # fmt: skip
            said = " ".join(ast.unparse(h.type) for h in each.handlers if h.type is not None)
            if called & READ_CARDS and "HarnessError" in said:
                found += 1
                assert "CorpusError" in said, f"{file.name}:{each.lineno}"
    assert found >= 3
