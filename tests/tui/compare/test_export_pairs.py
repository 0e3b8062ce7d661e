"""The pairs of a comparison are exported like any other table: that which has the focus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tui.compare.compared import A, B, made, path, shown
from tests.tui.screens import App, press, settle

__all__ = ["made", "path"]


@pytest.mark.parametrize("form", ["json", "md"])
async def test_the_only_pair_is_exported(
    form: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = App(None, path)
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await shown(pilot, path, A, B)
        screen.panel.pairs.focus()
        await settle(pilot)
        await press(pilot, "e", *["down"] * (["json", "md"].index(form) + 1), "enter", "enter")
        await settle(pilot)
        written = (tmp_path / f"pairs.{form}").read_text("utf-8")
    if form == "json":
        [row] = json.loads(written)
        assert (row["first"], row["second"]) == (A, B)
        assert row["lower"] < row["difference"] < row["upper"]
    else:
        head, _, row = written.splitlines()
        assert "95 % interval" in head
        assert "around zero" not in head
        assert "B − A" in row
