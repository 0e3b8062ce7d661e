"""What holds on every screen: the way, jumping, the palette, the clipboard, chosen keys, colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.color import Color
from textual.command import CommandList
from textual.pilot import Pilot
from textual.widgets import Input

from corpora.model.entry import Segment
from harness.store.notes import change_tags, set_note
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.show.clipboard import MOST_BYTES
from rosetta_tui.toolkit.dialogs.export import ExportScreen
from rosetta_tui.toolkit.dialogs.help import HelpScreen, JumpScreen, Letter
from rosetta_tui.toolkit.messages import Copied
from rosetta_tui.toolkit.result_table import ResultTable
from rosetta_tui.toolkit.theme import THEME_WORDS
from tests.tui.app.standing import stands
from tests.tui.scenes import HOSTILE, PAIRS, entries_of, hostile, scene, sealed
from tests.tui.screens import App, at_rest, drawn, notices, press, settle, text, until


async def typed(pilot: Pilot[Any], words: str) -> None:
    """Type into the palette and wait until it has looked for it."""
    await pilot.press("ctrl+p")
    await pilot.pause()
    await press(pilot, *words)
    found = pilot.app.screen.query_one(CommandList)
    await until(pilot, lambda: bool(found.option_count))


async def test_every_line_at_the_top_says_the_way(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (100, 30)) as (app, pilot):
        assert "Rosetta › Home" in text(app)
        await press(pilot, "b")
        assert text(app).splitlines()[0].startswith(" Rosetta › Corpora") or "Corpora" in text(app)


async def test_letters_lead_to_what_can_have_the_focus(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (100, 30)) as (app, pilot):
        assert app.focused is not None
        assert app.focused.id == "runs"
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert stands(app, JumpScreen)
        assert [label.target.id for label in app.screen.query(Letter)] == ["waiting", "runs"]
        await pilot.press("a")
        await pilot.pause()
        assert app.focused.id == "waiting"
        await pilot.press("ctrl+o")
        await pilot.pause()
        await pilot.click(app.screen.query(Letter).last())
        await pilot.pause()
        assert app.focused.id == "runs"
        await pilot.press("ctrl+o", "9")
        await pilot.pause()
        assert stands(app, HomeScreen)


async def test_the_palette_opens_a_run_by_its_name(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    change_tags(made.store, made.number, ["flagship"])
    async with at_rest(App(made), (100, 30)) as (app, pilot):
        await typed(pilot, "flagship")
        await press(pilot, "enter")
        await settle(pilot)
        assert stands(app, LiveScreen)


async def test_the_palette_finds_an_action_by_what_is_said_of_it(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (100, 30)) as (app, pilot):
        await press(pilot, "delete")
        await typed(pilot, "bring")
        await press(pilot, "enter")
        await until(pilot, lambda: "Brought back" in "\n".join(notices(app)))


@pytest.mark.thorough
async def test_the_palette_finds_what_a_table_does_and_the_theme(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (100, 30)) as (app, pilot):
        for where in (HomeScreen, LiveScreen):
            if where is LiveScreen:
                await press(pilot, "enter")
            for words, found in (
                ("export", "Export what is shown"),
                ("copy", "Copy the row"),
                ("copy", "Copy the whole table"),
                ("theme", "Colours (theme)"),
            ):
                await typed(pilot, words)
                assert found in text(app)
                await press(pilot, "escape")
            assert isinstance(app.screen, where)
        await typed(pilot, "export")
        await press(pilot, "enter")
        assert stands(app, ExportScreen)


async def test_the_palette_offers_each_theme_and_takes_it(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (100, 30)) as (app, pilot):
        await typed(pilot, "high contrast")
        await press(pilot, "enter")
        assert app.theme == "rosetta-contrast"
        assert set(app.available_themes) == set(THEME_WORDS)
    again = App(made)
    async with at_rest(again, (100, 30)) as (_, pilot):
        assert again.theme == "rosetta-contrast"


async def test_settings_that_cannot_be_read_are_said_and_nothing_else_fails(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("theme = ", encoding="utf-8")
    async with at_rest(App(None, tmp_path / "s.sqlite"), (100, 30)) as (app, _):
        assert "settings.toml" in "\n".join(notices(app))
        assert "Run the demo" in text(app)


async def test_without_colours_there_are_none_and_the_cursor_is_turned_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (100, 30)) as (app, _):
        no_color = app._filters[-1]  # Textual applies it where it writes to a terminal
        strips = [strip.apply_filter(no_color, Color(0, 0, 0)) for strip in drawn(app)]
        shown = [segment for strip in strips for segment in strip]
        used = {each.style.color for each in shown if each.style}
        used |= {each.style.bgcolor for each in shown if each.style}
        assert all(colour is None or colour.is_default for colour in used)
        turned = "".join(each.text for each in shown if each.style and each.style.reverse)
        assert "emerging" in turned


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
@pytest.mark.parametrize("theme", sorted(THEME_WORDS))
async def test_home_can_be_drawn_in_every_theme_and_size(
    theme: str, size: tuple[int, int], tmp_path: Path
) -> None:
    made = sealed(tmp_path / "s.sqlite")
    app = App(made)
    async with app.run_test(size=size) as pilot:
        app.theme = theme
        await settle(pilot)
        assert "1 entry failed" in text(app)
        assert "✓" in text(app)
        assert "emerging" in text(app)


async def test_copying_says_what_and_how_much(tmp_path: Path) -> None:
    async with at_rest(App(None, tmp_path / "s.sqlite"), (100, 30)) as (app, pilot):
        app.screen.post_message(Copied("a\tb\r\nc\x1b]0;t\x07", "Table"))
        await settle(pilot)
        assert app.clipboard == "a\tb\nc␛]0;t␇"
        assert "Table copied: 2 lines, 12 characters." in "\n".join(notices(app))


async def test_too_much_is_not_copied_and_why_is_said(tmp_path: Path) -> None:
    async with at_rest(App(None, tmp_path / "s.sqlite"), (100, 30)) as (app, pilot):
        app.screen.post_message(Copied("é" * (MOST_BYTES // 2), "Output"))
        await settle(pilot)
        assert len(app.clipboard) == MOST_BYTES // 2
        app.screen.post_message(Copied("é" * (MOST_BYTES // 2) + "a", "Output"))
        await settle(pilot)
        assert len(app.clipboard) == MOST_BYTES // 2
        assert "74,001 bytes" in "\n".join(notices(app))


async def test_no_selection_takes_a_secret_text_along(tmp_path: Path) -> None:
    entries = [
        each.model_copy(update={"segment": Segment.GOLD_STANDARD}) for each in entries_of(PAIRS, 3)
    ]
    made = scene(tmp_path / "s.sqlite", total=3, stored=3, entries=entries)
    app = App(made)
    async with app.run_test(size=(100, 30)) as pilot:
        made.queue = app.queue
        made.middle(3)
        await settle(pilot)
        await press(pilot, "enter")
        await press(pilot, "enter")
        assert app.screen.holds_secret  # type: ignore[attr-defined]
        app.copy_to_clipboard("Mi vidas la hundon.")
        await pilot.pause()
        assert app.clipboard == ""
        assert "secret entry" in "\n".join(notices(app))


async def test_keys_that_a_person_chose_hold_and_are_named_everywhere(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('[keys]\n"home.demo" = "f5"\nhelp = "f1"\n')
    async with at_rest(App(None, tmp_path / "s.sqlite"), (100, 30)) as (app, pilot):
        assert "f5  Run the demo" in text(app)
        await pilot.press("question_mark")
        await pilot.pause()
        assert stands(app, HomeScreen)
        await pilot.press("f1")
        await pilot.pause()
        assert stands(app, HelpScreen)
        assert "f5  Demo" in text(app)


async def test_hostile_words_do_nothing_on_home(tmp_path: Path) -> None:
    made = hostile(tmp_path / "s.sqlite")
    made.store.execute(
        "UPDATE runs SET dataset_id = ?, language_pair = ?, state = 'stopped', live = NULL",
        (HOSTILE[1], HOSTILE[3]),
    )
    set_note(made.store, made.number, "\n".join(HOSTILE[:12]))
    app = App(made)
    async with app.run_test(size=(160, 48)) as pilot:
        for keys in ([], ["t"], ["escape"], ["f"], ["escape"], ["ctrl+p", "R", "u", "n"]):
            await press(pilot, *keys)
            drawn = text(app)
            assert not any(
                ord(sign) < 32 or 0x7F <= ord(sign) < 0xA0 for sign in drawn if sign != "\n"
            )
            assert "\u202e" not in drawn


async def test_what_is_filtered_by_a_hostile_name_is_found_and_shown_harmless(
    tmp_path: Path,
) -> None:
    made = sealed(tmp_path / "s.sqlite")
    made.store.execute(
        "INSERT INTO runs SELECT NULL, 'x' || run_id, "
        + ", ".join(
            f"'{chr(27)}[2J evil'" if name == "dataset_id" else name
            for name in (row[1] for row in made.store.execute("PRAGMA table_info(runs)"))
            if name not in {"id", "run_id"}
        )
        + " FROM runs"
    )
    async with at_rest(App(made), (120, 30)) as (app, pilot):
        await press(pilot, "f")
        await press(pilot, "down", "enter")
        assert "\x1b" not in app.screen.query_one("#search", Input).value
        assert "1 shown" in text(app)


async def test_the_mouse_opens_sorts_and_marks_nothing_by_itself(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    async with at_rest(App(made), (120, 30)) as (app, pilot):
        table = app.screen.query_one("#runs", ResultTable)
        await pilot.click(table, offset=(16, 0))
        await settle(pilot)
        assert "by corpus" in text(app) or "by newest" in text(app)
        await pilot.click(table, offset=(6, 1), times=2)
        await settle(pilot)
        await settle(pilot)
        assert stands(app, LiveScreen)
