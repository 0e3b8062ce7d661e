"""The entry screen: the texts, how they differ, what they scored, how the output came about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from corpora.entry import Segment
from harness.store.runs import find_run
from rosetta_tui.explaining import Explaining
from rosetta_tui.screens.entry import EntryScreen
from tests.tui.scenes import CREE, Scene, entries_of, scene
from tests.tui.screens import App, settle, text


async def opened(app: App, pilot: object, made: Scene, index: int) -> None:
    await settle(pilot)  # type: ignore[arg-type]
    run = find_run(made.store, made.run_id)
    explaining = Explaining(made.path, run.run_id)
    screen = EntryScreen(made.store, run, run.positions, index, made.missing, explaining)
    app.push_screen(screen)
    await settle(pilot)  # type: ignore[arg-type]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Scene]:
    with closing(scene(tmp_path / "s.sqlite", total=24, stored=20)) as opened:
        yield opened


async def test_an_entry_says_everything_about_itself(made: Scene) -> None:
    app = App(made)
    async with app.run_test(size=(120, 48)) as pilot:
        await opened(app, pilot, made, 1)
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


async def test_left_and_right_go_through_the_table_and_stop_at_its_ends(made: Scene) -> None:
    app = App(made)
    async with app.run_test(size=(120, 48)) as pilot:
        await opened(app, pilot, made, 0)
        await pilot.press("left")
        await settle(pilot)
        assert "1 of 24" in text(app)
        await pilot.press(*["right"] * 30)
        await settle(pilot)
        assert "24 of 24" in text(app)
        assert "not yet" in text(app)


async def test_a_failure_shows_every_attempt(made: Scene) -> None:
    app = App(made)
    async with app.run_test(size=(120, 48)) as pilot:
        await opened(app, pilot, made, 11)
        assert "timeout: No answer within 60 s." in text(app)
        assert "6. – in 60.0 s after 32.0 s of waiting" in text(app)


async def test_prompt_and_reply_open_and_close(made: Scene) -> None:
    app = App(made)
    async with app.run_test(size=(120, 60)) as pilot:
        await opened(app, pilot, made, 3)
        assert "Answer with the translation only." not in text(app)
        await pilot.press("p", "r")
        await settle(pilot)
        for words in (
            "Answer with the translation only.",
            '{"model": "qwen2.5-7b", "temperature": 0}',
            "Reply 2",
        ):
            assert words in text(app)
        await pilot.press("p", "r")
        await settle(pilot)
        assert "Reply 2" not in text(app)


async def test_the_output_is_copied_but_not_that_of_a_secret_entry(tmp_path: Path) -> None:
    entries = entries_of(CREE, 2)
    entries[1] = entries[1].model_copy(update={"segment": Segment.GOLD_STANDARD})
    made = scene(
        tmp_path / "s.sqlite", entries=entries, stored=2, pairs=CREE, outputs=["ᓂᐚ\x1bᐸ", "secret"]
    )
    app = App(made)
    async with app.run_test(size=(120, 48)) as pilot:
        await opened(app, pilot, made, 0)
        await pilot.press("y")
        assert app.clipboard == "ᓂᐚ␛ᐸ"
        await pilot.press("right")
        await settle(pilot)
        await pilot.press("y")
        assert app.clipboard == "ᓂᐚ␛ᐸ"
    made.close()


async def test_syllabics_and_stacked_marks_are_shown_as_they_are(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=2, stored=2, pairs=CREE)
    app = App(made)
    async with app.run_test(size=(120, 48)) as pilot:
        await opened(app, pilot, made, 0)
        assert "ᓂᐚᐸᒫᐤ   = reference" in text(app)
        await pilot.press("right")
        await settle(pilot)
        assert "niwa\u0302pama\u0302na\u0302n atim" in text(app)
    made.close()


async def test_escape_closes_the_prompt_before_it_leaves(made: Scene) -> None:
    app = App(made)
    async with app.run_test(size=(120, 48)) as pilot:
        await opened(app, pilot, made, 1)
        await pilot.press("p")
        await settle(pilot)
        assert "Answer with the translation only." in text(app)
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, EntryScreen)
        assert "Answer with the translation only." not in text(app)
        await pilot.press("escape")
        await settle(pilot)
        assert not isinstance(app.screen, EntryScreen)
