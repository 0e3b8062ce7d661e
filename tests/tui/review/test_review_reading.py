"""A terminal with little room: nothing is answered that was not on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from review.log.payloads import Kind
from review.rating import Rating
from tests.review.session.scenes import CODE, batch_of, items_of
from tests.tui.review.reviewing import Reviewing, begun, press, settle, started, text


def ratings(app: Reviewing) -> list[Rating]:
    return [event.payload.rating for event in app.laptop.events() if event.kind is Kind.RATE]


@pytest.mark.parametrize("size", [(50, 16), (60, 18), (80, 16)])
async def test_nothing_is_rated_before_its_whole_translation_was_on_the_screen(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    last = "lastword"
    long = [
        item.model_copy(update={"source": "a source " * 20, "candidate": f"{'longa ' * 40}{last}"})
        for item in items_of(2)
    ]
    async with begun(Reviewing(tmp_path, batch_of(long)), size) as (app, pilot):
        assert "read it, then answer" in text(app)
        presses = 0
        while last not in text(app):
            await press(pilot, "3")
            presses += 1
            assert "First read the translation." in text(app)
            assert ratings(app) == []
        assert 1 <= presses <= 30
        assert "read it, then answer" not in text(app)
        await press(pilot, "comma", "escape", "pageup", "pageup", "3")
        assert ratings(app) == [Rating.ACCEPTABLE]
        await press(pilot, "4")
        assert ratings(app) == [Rating.ACCEPTABLE], "the next one was not read yet"


async def test_a_terminal_without_room_for_a_line_takes_no_answer_and_says_so(
    tmp_path: Path,
) -> None:
    async with begun(Reviewing(tmp_path, batch_of(items_of(2))), (40, 12)) as (app, pilot):
        assert "Make this window larger to read." in text(app)
        await press(pilot, "3", "4")
        assert ratings(app) == []
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        await press(pilot, "3")
        assert ratings(app) == [Rating.ACCEPTABLE]
        assert "Make this window larger" not in text(app)


async def test_a_code_of_the_command_line_is_not_asked_for_unless_it_is_wrong(
    tmp_path: Path,
) -> None:
    async with started(Reviewing(tmp_path / "a", batch_of(), code=CODE)) as pilot:
        await press(pilot, "enter")
        assert "Before you begin" in text(pilot.app)
    async with started(Reviewing(tmp_path / "b", batch_of(), code=CODE[1:])) as pilot:
        await press(pilot, "enter")
        assert "A code has 8 letters and digits." in text(pilot.app)
        assert CODE[1:] in text(pilot.app)
