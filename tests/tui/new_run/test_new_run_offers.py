"""What the form of a new run offers while somebody types: files, languages, models, by keys and by mouse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.widgets import OptionList

from harness.method.shipped import TAKES
from rosetta_tui.new_run import screen as new_run
from rosetta_tui.new_run.screen import NewRunScreen
from rosetta_tui.toolkit.form.suggesting_line import SuggestingLine
from tests.harness.scripted import json_answer, serving
from tests.tui.new_run.form import CHAT, CORPUS, at_form, path, typed
from tests.tui.scenes import HOSTILE
from tests.tui.screens import App, at_rest, burst, lines, press, settle, text

__all__ = ["path"]


async def test_a_list_is_gone_through_by_keys_and_closed_by_escape(path: Path) -> None:
    async with at_form(App(None, path), (120, 40), {"file": CORPUS}) as (app, pilot, screen):
        screen.form.focus_on("method")
        await settle(pilot)
        await press(pilot, "down")
        line = screen.form.lines["method"]
        assert "pipeline  a language model, checked" in text(app)
        await press(pilot, "escape")
        assert app.screen is screen
        assert not line.query_one("SuggestingLine").has_class("-open")
        await press(pilot, "down")
        assert line.query_one(OptionList).highlighted == 0
        await press(pilot, "pagedown", "enter")
        assert screen.draft.get("method") in TAKES


async def test_a_key_that_overtakes_what_was_typed_marks_what_fits_it(path: Path) -> None:
    async with at_form(App(None, path), (120, 40), {"file": CORPUS}) as (_, pilot, screen):
        screen.form.focus_on("method")
        await settle(pilot)
        line = screen.form.lines["method"].query_one(SuggestingLine)
        line.input.value = "pipe"  # what is typed is told by a message, which comes later
        line.action_move(1)
        await settle(pilot)
        assert (line.offers.option_count, line.offers.highlighted) == (1, 0)
        await press(pilot, "enter")
        assert screen.draft.get("method") == "pipeline"


async def test_who_types_on_after_the_name_of_a_table_writes_its_languages(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.tsv").write_text("source\ttarget\nHi.\tSaluton.\n", "utf-8")
    monkeypatch.setattr(new_run, "QUIET_SECONDS", 3600)
    async with at_form(App(None, path), (80, 24), {}) as (app, pilot, screen):
        screen.form.focus_on("file")
        await settle(pilot)
        await burst(app, *"x.tsv", "enter", *"en", "enter", *"eo", "enter")
        assert screen.draft.values == {
            "file": "x.tsv",
            "source_language": "en",
            "target_language": "eo",
        }


CHOSEN = ("enter", "tab", *"en", "tab", *"mi", "tab")
"""What the finding typed in one go after ↓ had opened the list."""


@pytest.mark.parametrize("keys", [
    (*"my-co", "down", *CHOSEN),          # taken from the list before anybody saw it
    (*"my", "down", "down", "up", *CHOSEN),
    (*"my-co", "enter", *"en", "enter", *"mi", "enter"),  # the only one that fits
])  # fmt: skip
async def test_keys_typed_ahead_in_the_form_act_one_after_the_other(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my-corpus.tsv").write_text("source\ttarget\nHi.\tKia ora.\n", "utf-8")
    monkeypatch.setattr(new_run, "QUIET_SECONDS", 3600)
    async with at_rest(App(None, path), (80, 24)) as (app, _):
        await burst(app, "n", *keys)
        assert isinstance(app.screen, NewRunScreen)
        assert app.screen.draft.values == {
            "file": "my-corpus.tsv",
            "source_language": "en",
            "target_language": "mi",
        }


async def test_the_only_folder_is_gone_into_and_a_model_stands_as_typed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts").mkdir()
    Path("texts/a.tsv").write_text("source\ttarget\n", "utf-8")
    Path("texts/b.tsv").write_text("source\ttarget\n", "utf-8")
    monkeypatch.setattr(new_run, "QUIET_SECONDS", 3600)
    draft = {"method": "chat", "endpoint": "openai"}
    async with at_form(App(None, path), (80, 24), draft) as (app, pilot, screen):
        screen.form.focus_on("model")
        await settle(pilot)
        await burst(app, *"gpt-4.1-min", "enter")
        screen.form.focus_on("file")
        await settle(pilot)
        await burst(app, *"tex", "enter", "b", "enter")
        assert screen.draft.get("file") == "texts/b.tsv"
        assert screen.draft.get("model") == "gpt-4.1-min"


async def test_a_list_of_what_is_typed_already_does_not_cover_what_is_said_of_it(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.json").write_text("{", "utf-8")
    async with at_form(App(None, path), (80, 24), {}) as (app, pilot, screen):
        screen.form.focus_on("file")
        await settle(pilot)
        line = screen.form.lines["file"].query_one("SuggestingLine")
        await press(pilot, *"broken.jso")
        assert line.has_class("-open")
        await press(pilot, "n")
        assert not line.has_class("-open")
        assert "✗ " in text(app)


async def test_a_mouse_takes_from_the_list_and_ticks_boxes(path: Path) -> None:
    async with at_form(App(None, path), (120, 40), {"file": CORPUS}) as (app, pilot, screen):
        screen.form.focus_on("method")
        await settle(pilot)
        await press(pilot, "down")
        row = next(n for n, line in enumerate(lines(app)) if "one text for every entry" in line)
        await pilot.click(offset=(18, row))
        await settle(pilot)
        assert screen.draft.get("method") == "constant"
        row = next(n for n, line in enumerate(lines(app)) if "[ ] diagnostic (24)" in line)
        await pilot.click(offset=(lines(app)[row].index("diagnostic"), row))
        await settle(pilot)
        assert screen.draft.values["segment"] == ("diagnostic",)
        assert "[x] diagnostic (24)" in text(app)
        assert "24 of 96 entries take part" in text(app)


async def test_local_models_are_asked_for_only_when_a_person_wishes_it(path: Path) -> None:
    def answer(asked: Any) -> Any:
        return json_answer({"data": [{"id": "aya:8b"}, {"id": HOSTILE[3]}, {"id": 3}, "x"]})

    with serving(answer) as scripted:
        async with at_form(
            App(None, path), (120, 40), CHAT | {"endpoint": f"{scripted.url}", "model": ""}
        ) as (app, pilot, screen):
            assert scripted.asked == []
            await press(pilot, "ctrl+r")
            await settle(pilot)
            assert [asked.path.rpartition("/")[2] for asked in scripted.asked] == ["models"]
            assert "aya:8b  served there" in text(app)
            assert "\x1b" not in text(app)
            await press(pilot, "down", "enter")
            assert screen.draft.get("model") == "aya:8b"


async def test_a_table_without_languages_can_be_mended_in_the_form(
    path: Path, tmp_path: Path
) -> None:
    file = tmp_path / "c.tsv"
    file.write_text("id\tsource\treference\n1\tHello\tSaluton\n2\tYes\tJes\n", "utf-8")
    draft = {"file": str(file), "method": "copy-source"}
    async with at_form(App(None, path), (80, 24), draft) as (app, pilot, screen):
        assert "Source language" in text(app)
        assert "Target language" in text(app)
        assert "The file does not say it." in text(app)
        for name, tag in (("source_language", "en"), ("target_language", "eo")):
            screen.form.focus_on(name)
            await settle(pilot)
            await typed(pilot, tag)
            screen.look()
            await settle(pilot)
        assert not screen.found.troubles
        await press(pilot, "f1")
        assert type(app.screen).__name__ == "HelpScreen"
