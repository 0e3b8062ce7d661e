"""The app over a store that can only be read: runs are seen and opened, and what would write says why not."""

from __future__ import annotations

from pathlib import Path

from rosetta_tui.live.screen import LiveScreen
from tests.harness.store.file.locked_stick import made, stick
from tests.tui.screens import App, settle, text

__all__ = ["made", "stick"]


async def test_runs_are_seen_and_opened_and_nothing_is_changed(stick: Path) -> None:
    before = {path.name: path.read_bytes() for path in stick.iterdir()}
    app = App(None, stick / "rosetta.sqlite")
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await settle(pilot)
        assert "2 runs · can only be read here" in text(app)
        assert "noted last" in text(app)
        assert "cannot be read" not in text(app)
        await pilot.press("delete")
        await settle(pilot)
        said = " ".join(note.message for note in app._notifications)
        assert "it can only be read here, so nothing was changed" in said
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, LiveScreen)
        assert "Complete." in text(app)
        await pilot.press("q")
    assert {path.name: path.read_bytes() for path in stick.iterdir()} == before
