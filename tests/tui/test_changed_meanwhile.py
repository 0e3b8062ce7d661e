"""What another process does to a store or a file while a screen over it stands open."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from harness.store.database import open_store
from harness.store.deletion import delete_run
from harness.store.runs import list_runs
from rosetta_tui.records import read_all
from rosetta_tui.screens.compared_entry import ComparedEntryScreen
from tests.tui.compared import WIDE, A, B, made, path, press, shown
from tests.tui.screens import App, text

__all__ = ["made", "path"]


def erase_all(path: Path) -> None:
    with closing(open_store(path)) as store:
        for run in list_runs(store):
            delete_run(store, run.number)


async def test_a_compared_run_is_erased(path: Path) -> None:
    app = App(None, path)
    async with app.run_test(size=WIDE) as pilot:
        screen = await shown(pilot, path, A, B)
        erase_all(path)
        assert screen.table.texts is not None
        screen.table.texts._entries.clear()  # as if they had never been on the screen
        await press(pilot, "end", "home")
        assert "gone since: these runs were erased" in text(app)
        assert screen.table.entries is not None
        records = [one async for some in read_all(screen.table.entries) for one in some]
        assert len(records) == screen.table.entries.count
        await press(pilot, "enter")
        assert isinstance(app.screen, ComparedEntryScreen)
        assert "gone since: these runs were erased" in text(app)
        await press(pilot, "y", "right", "v", "q")
        assert app.screen_stack[-1] is screen
