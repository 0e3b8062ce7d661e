"""From the list of runs to a review and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from review.log.laptop import Laptop
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.review.rating.opening import TerminalOpening
from rosetta_tui.toolkit.dialogs.help import HERE, keys_of
from tests.review.session.scenes import CODE, batch_of
from tests.tui.review.reviewing import Doors, begin, press, text, until
from tests.tui.screens import App
from tests.tui.screens import settle as settle_home


async def test_a_review_is_opened_from_home_and_leads_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of()
    with Laptop.open(tmp_path) as laptop:
        opening = TerminalOpening(laptop)
        opening.accept(batch)
        opening.reviewer(batch, CODE)
        opening.laptop.add_batch(batch.manifest_bytes, batch.archive, secret=False)
    monkeypatch.setattr("rosetta_tui.review.rating.visit.TerminalOpening", Doors)
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle_home(pilot)
        await pilot.press("v")
        await until(pilot, lambda: not isinstance(app.screen, HomeScreen))
        await begin(pilot)
        await press(pilot, "enter", "2", "3")
        assert "Sentence 1 of 4" in text(app)
        await press(pilot, "3", "question_mark")
        assert "Leave it for later" in text(app)
        await press(pilot, "escape", "q")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
    with Laptop.open(tmp_path) as laptop:
        assert len(list(laptop.events())) == 4  # consent, nearness to the method, session, rating


async def test_a_data_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "review.sqlite").write_text(
        "not a database, but long enough to be taken for one" * 9
    )
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle_home(pilot)
        await pilot.press("v")
        await settle_home(pilot)
        assert "The review cannot open" in text(app)
        assert isinstance(app.screen, HomeScreen)


async def test_help_at_home_lists_every_key_that_quits(tmp_path: Path) -> None:
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(100, 40)) as pilot:
        await settle_home(pilot)
        quits = keys_of(app.screen)[HERE]["Quit"]
        assert "q" in quits.split()
