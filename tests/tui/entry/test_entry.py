"""The entry screen: the texts, how they differ, what they scored, how the output came about."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from corpora.model.entry import Segment
from harness.store.runs import find_run
from rosetta_tui.entry.explaining import Explaining
from rosetta_tui.entry.screen import EntryScreen
from tests.tui.entry.explained import Known, why
from tests.tui.scenes import CREE, Scene, entries_of, scene
from tests.tui.screens import App, at_rest, press, settle, text


@asynccontextmanager
async def opened(
    made: Scene, index: int, explaining: Explaining | None = None, *, watch: bool = False
) -> AsyncIterator[tuple[App, Pilot[Any]]]:
    """Run the app on a large terminal with one entry of the run open."""
    async with at_rest(App(made, watch=watch), (120, 60)) as (app, pilot):
        app.push_screen(entry_screen(made, index, explaining))
        await settle(pilot)
        yield app, pilot


def entry_screen(made: Scene, index: int, explaining: Explaining | None = None) -> EntryScreen:
    run = find_run(made.store, made.run_id)
    explaining = explaining or Explaining(made.path, run.run_id)
    return EntryScreen(made.store, run, run.positions, index, made.missing, explaining)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Scene]:
    with closing(scene(tmp_path / "s.sqlite", total=24, stored=20)) as opened:
        yield opened


async def test_entry_says_everything_about_itself(made: Scene) -> None:
    async with opened(made, 1) as (app, pilot):
        for words in (
            "Entry 2   2 of 24   difficulty 2 · development · elicited · formal · declaration",
            "La virino, kies filo [iras→iris] al la [butiko→vendejo], estas mia [instruisto→instruistino].",
            "exact no · equivalent no · chrF++ 69.9",
            "repair: not among the metrics of this run",
            "mi vid-as la hund-o-n",
            "With two lines.",
            "1. 200 in 1.00 s",
            "202 tokens · cost $0.0002",
        ):
            assert words in text(app)
        assert "SRO" not in text(app), "other languages have no other writing"
        await press(pilot, "v")
        assert "converted" not in text(app)
        await press(pilot, "left", "left")
        assert "1 of 24" in text(app)
        app.push_screen(entry_screen(made, 22))
        await settle(pilot)
        await press(pilot, "right", "right", "right")
        assert "24 of 24" in text(app)
        assert "not yet" in text(app)


async def test_prompt_and_reply_open_and_close(made: Scene) -> None:
    prompt = "Answer with the translation only."
    async with opened(made, 3) as (app, pilot):
        assert prompt not in text(app)
        await press(pilot, "p", "r")
        for words in (prompt, '{"model": "qwen2.5-7b", "temperature": 0}', "Reply 2"):
            assert words in text(app)
        await press(pilot, "p", "r")
        assert "Reply 2" not in text(app)
        await press(pilot, "p")
        assert prompt in text(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, EntryScreen)
        assert prompt not in text(app)
        await press(pilot, "escape")
        assert not isinstance(app.screen, EntryScreen)


async def test_attempts_of_outputs_made_elsewhere_are_recorded_ones(made: Scene) -> None:
    made.store.execute("UPDATE results SET trace = NULL")
    async with at_rest(App(made), (120, 60)) as (app, pilot):
        for sha256 in (None, "ab" * 32):
            change = "UPDATE runs SET setup = json_set(setup, '$.outputs_sha256', ?)"
            made.store.execute(change, (sha256,))
            app.push_screen(entry_screen(made, 1))
            await settle(pilot)
            assert ("made elsewhere" in text(app)) is (sha256 is not None)
            assert ("nothing was called" in text(app)) is (sha256 is None)


async def test_the_output_is_copied_but_not_that_of_a_secret_entry(tmp_path: Path) -> None:
    entries = entries_of(CREE, 2)
    entries[1] = entries[1].model_copy(update={"segment": Segment.GOLD_STANDARD})
    made = scene(
        tmp_path / "s.sqlite", entries=entries, stored=2, pairs=CREE, outputs=["ᓂᐚ\x1bᐸ", "secret"]
    )
    async with opened(made, 0) as (app, pilot):
        await pilot.press("y")
        assert app.clipboard == "ᓂᐚ␛ᐸ"
        await press(pilot, "right")
        await pilot.press("y")
        assert app.clipboard == "ᓂᐚ␛ᐸ"


async def test_why_stands_below_the_scores_and_analyses_open(made: Scene) -> None:
    async with opened(made, 1, Known(made, why())) as (app, pilot):
        shown = text(app)
        for words in (
            "FST: Three of four words are known.",
            "↓La virino ≈kīes ✗butikoj",
            "✓ 1 accepted as written",
            "“iras”: present instead of past.",
        ):
            assert words in shown
        places = [shown.index(label) for label in ("Scores", "Why", "Words", "Word forms", "Notes")]
        assert places == sorted(places)
        assert "a Analyses" in text(app)
        assert "vir+N+Der/in+Sg+Nom" not in text(app)
        await press(pilot, "a")
        assert text(app).count("vir+N+Der/in+Sg+Nom") == 2
        assert "Reference words" in text(app)
        await press(pilot, "escape")
        assert "vir+N+Der/in+Sg+Nom" not in text(app)


async def test_entry_is_explained_once_and_a_failed_one_never(made: Scene) -> None:
    explaining = Known(made, why())
    async with opened(made, 10, explaining) as (app, pilot):
        for key in ("right", "left", "p", "p", "right"):
            await press(pilot, key)
        assert "timeout: No answer within 60 s." in text(app)
        assert "6. – in 60.0 s after 32.0 s of waiting" in text(app)
        assert "Why" not in text(app)
        assert explaining.asked == [11]


async def test_what_cannot_be_explained_is_said_once(made: Scene) -> None:
    explaining = Known(made, None, "the analyser is gone")
    async with opened(made, 1, explaining) as (app, pilot):
        assert "Not here: the analyser is gone" in text(app)
        assert "a Analyses" not in text(app)
        await press(pilot, "right")
        assert "the analyser is gone" not in text(app)
        assert explaining.asked == [2]


async def test_cree_is_shown_in_the_other_writing_and_says_so(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=2, stored=2, pairs=CREE, target="crk")
    async with opened(made, 0) as (app, pilot):
        assert "ᓂᐚᐸᒫᐤ   = reference" in text(app)
        await press(pilot, "right")
        assert "niwa\u0302pama\u0302na\u0302n atim" in text(app), "stacked marks as they are"
        assert "v SRO/syllabics" in text(app)
        await press(pilot, "v")
        assert "ᓂᐚᐸᒫᓈᐣ ᐊᑎᒼ   converted into syllabics" in text(app)
        assert "We see the dog." in text(app)
        await press(pilot, "left")
        assert "niwâpamâw   converted into roman letters (SRO)   = reference" in text(app)
        await press(pilot, "v")
        assert "ᓂᐚᐸᒫᐤ   = reference" in text(app)
        assert "converted" not in text(app)


async def test_a_difference_that_the_other_writing_hides_is_told(tmp_path: Path) -> None:
    pair = ("I see him.", "niwâpamâw", "Niwāpamāw see")
    close = ("I see him.", "niwâpamâw", "Niwāpamāw")
    made = scene(tmp_path / "s.sqlite", total=2, stored=2, pairs=(close, pair), target="crk")
    async with opened(made, 0) as (app, pilot):
        assert "the same after conversion" not in text(app)
        await press(pilot, "v")
        assert "the same after conversion" in text(app)
        await press(pilot, "right")
        assert "the same after conversion" not in text(app)
        assert "ᓂᐚᐸᒫᐤ [-see-]" in text(app)


@pytest.mark.thorough
async def test_selected_text_is_copied_from_entry_and_scores(made: Scene) -> None:
    made.middle(20)
    async with opened(made, 1, watch=True) as (app, pilot):
        app.screen.text_select_all()
        await pilot.press("ctrl+c")
        assert "La virino, kies filo" in app.clipboard
        await press(pilot, "escape", "m")
        app.screen.text_select_all()
        await pilot.press("ctrl+c")
        assert "weight: in this composite" in app.clipboard
        assert "La virino" not in app.clipboard
