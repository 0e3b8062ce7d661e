"""The pane of a table: the entry under the cursor on every screen that lists entries."""

from __future__ import annotations

from importlib.util import find_spec, module_from_spec
from pathlib import Path
from unittest.mock import patch

import pytest
from textual._compositor import Compositor  # what draws a screen has no other door
from textual.content import Content
from textual.geometry import Region
from textual.screen import Screen

from corpora.model.entry import Segment
from harness.settings import read_settings
from rosetta_tui.compare.screen import CompareScreen
from rosetta_tui.corpus.screen import CorpusScreen
from rosetta_tui.entry.pane import EntryPane, PanedScreen
from rosetta_tui.live.screen import LiveScreen
from tests.tui.compare.compared import A, B, filled, small_corpus
from tests.tui.entry.explained import Known, why
from tests.tui.scenes import HOSTILE, PAIRS, entries_of, hostile, scene, sealed
from tests.tui.screens import App, at_rest, lines, press, rest, settle, showing, text, until

DIFFERENCE = "La virino, kies filo [iras→iris] al la [butiko→vendejo]"


async def test_walk_of_the_pane_in_a_run(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=24, stored=20)
    made.play([made.started(), *made.scored(20), made.progress(20, waiting=())])
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        await press(pilot, "home")
        assert "Reference  Mi vidas la hundon." in text(app)
        assert app.screen.query_one("#entries").size.height >= 21, "a header and twenty rows"
        await press(pilot, "down")
        assert "2  difficulty 2" in text(app)
        same_frames(app.screen)
        await press(pilot, "tab")
        assert DIFFERENCE in text(app), "with the focus it is large"
        assert isinstance(app.focused, EntryPane)
        await press(pilot, "end")
        assert '{"model": "qwen2.5-7b"' in text(app)
        await press(pilot, "escape")
        assert app.screen.query_one("#entries").has_focus
        await press(pilot, "end")
        assert "Output     not yet" in text(app)
        await pilot.resize_terminal(160, 48)
        await settle(pilot)
        assert any("│ Entry      24" in line for line in lines(app)), "from 150 cells it is beside the rows"
        await pilot.resize_terminal(70, 24)
        await settle(pilot)
        assert "Reference" not in text(app), "below 80 cells there is no room for it"


DRAWS, OF_SCREEN, FRAME = "_get_renders", "_compositor", "_render_chops"  # no public way to draw a part of a screen


def same_frames(screen: Screen[object]) -> None:
    """Check that what is drawn of a change is what Textual itself draws of it, which draws every widget whole."""
    spec = find_spec(Compositor.__module__)
    assert spec is not None
    assert spec.loader is not None
    own = module_from_spec(spec)
    spec.loader.exec_module(own)
    theirs, ours = getattr(own.Compositor, DRAWS), getattr(Compositor, DRAWS)
    assert theirs.__module__ != ours.__module__
    for crop in (Region(0, 8, 120, 1), Region(5, 0, 60, 30), Region(100, 20, 20, 16)):
        frames = []
        for draws in (theirs, ours):
            with patch.object(Compositor, DRAWS, draws):
                chops = getattr(getattr(screen, OF_SCREEN), FRAME)(crop, crop.line_range.__contains__)
            frames.append(
                [[(x, strip) for x, strip in chops[y].items() if x in crop.column_range] for y in crop.line_range]
            )
        assert frames[0] == frames[1]
        assert any(strip is not None for line in frames[1] for _, strip in line)


async def test_lines_out_of_sight_are_made_when_the_cursor_rests(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    made.play([made.started(), *made.scored(24), made.progress(24, in_flight=(), waiting=())])
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, LiveScreen)

        def shown() -> str:
            return "\n".join(row.plain for row in screen.pane.rows)

        await press(pilot, "home")
        with patch.object(PanedScreen, "set_timer"):  # the cursor does not rest
            for keys, whole in (
                ("down", False),
                ("tab", True),
                ("escape down", False),
            ):  # with the focus one may scroll
                await pilot.press(*keys.split())
                await rest(pilot)
                assert "Source" in shown()
                assert ("Attempts" in shown()) is whole, keys
        await pilot.press("down")
        await until(pilot, lambda: "Attempts" in shown())


async def test_pane_is_drawn_with_the_cursor_unless_more_keys_wait(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    made.play([made.started(), *made.scored(24), made.progress(24, in_flight=(), waiting=())])
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, LiveScreen)
        await press(pilot, "home")

        def shown() -> str:
            return Content.from_markup(str(screen.pane.border_title)).plain.split()[1]

        screen.table.move_to(4)
        assert shown() == "5", "no frame shows the cursor without its entry"
        with patch.object(type(app), "keys_wait", new=True):
            screen.table.move_to(5)
            assert shown() == "5", "while a key is held down, entries that are passed are not read"
        await until(pilot, lambda: shown() == "6")


async def test_cursor_that_rests_has_its_scores_explained(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    made.play([made.started(), *made.scored(24), made.progress(24, in_flight=(), waiting=())])
    async with at_rest(App(made, watch=True), (160, 48)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, LiveScreen)
        screen._explaining = Known(made, why())
        await press(pilot, "down")
        assert "Why   " not in text(app)
        screen.explain_entry()  # what its timer does
        await until(pilot, lambda: "Why        FST: Three of four words are known." in text(app))


async def test_closed_pane_stays_closed_on_every_screen(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    made.play([made.started(), *made.scored(24), made.progress(24, in_flight=(), waiting=())])
    async with at_rest(App(made, watch=True), (120, 36)) as (app, pilot):
        await press(pilot, "tab", "p")
        assert app.screen.query_one("#entries").has_focus
        assert not app.screen.query_one(EntryPane).display
        await until(pilot, lambda: read_settings(tmp_path).pane == "closed")
    async with at_rest(App(made), (120, 36)) as (app, pilot):
        sha256 = f"{24:064x}"
        app.push_screen(CorpusScreen(made.path, sha256))
        await settle(pilot)
        assert not app.screen.query_one(EntryPane).display
        await press(pilot, "p")
        assert app.screen.query_one(EntryPane).display
        await until(pilot, lambda: not read_settings(tmp_path).pane)


@pytest.mark.parametrize("kind", ["run", "corpus"])
async def test_pane_of_a_secret_entry_shows_what_cannot_be_copied(tmp_path: Path, kind: str) -> None:
    entries = entries_of(PAIRS, 4)
    entries[1] = entries[1].model_copy(update={"segment": Segment.GOLD_STANDARD})
    made = scene(tmp_path / "s.sqlite", entries=entries, stored=4, total=4)
    made.play([made.started(), *made.scored(4), made.progress(4)])
    async with at_rest(App(made, watch=kind == "run"), (120, 36)) as (app, pilot):
        if kind == "corpus":
            app.push_screen(CorpusScreen(made.path, f"{4:064x}"))
            await settle(pilot)
        await press(pilot, "home", "down")
        pane = app.screen.query_one(EntryPane)
        shown = "\n".join(row.plain for row in pane.rows)
        assert all(told in shown for told in (entries[1].source, entries[1].reference))
        assert not pane.allow_select
        await press(pilot, "y", "Y")
        assert not any(told in app.clipboard for told in (entries[1].source, entries[1].reference))


async def test_pane_of_a_comparison_has_both_outputs(tmp_path: Path) -> None:
    path = filled_store(tmp_path)
    async with showing(App(None, path), CompareScreen(path, (A, B)), (160, 48)) as (app, pilot):
        for words in ("A → reference", "B → reference", "A → B", "A Attempts", "B Prompt"):
            assert words in text(app)
        await press(pilot, "slash", *"nowhere to be found", "enter")
        pane = app.screen.query_one(EntryPane)
        assert [row.plain for row in pane.rows] == ["Entry      none"]
        assert "· esc shows all" in text(app)
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        await screen.dismiss()
        screen.show_entry()  # what a key asked for when the screen was already leaving


def filled_store(folder: Path) -> Path:
    """Return a store of finished runs; made in a thread, for an event loop goes on here."""
    from threading import Thread

    path = folder / "compared.sqlite"
    making = Thread(target=filled, args=(path, small_corpus(12, 0)))
    making.start()
    making.join()
    return path


async def test_hostile_texts_are_harmless_in_the_pane(tmp_path: Path) -> None:
    made = hostile(tmp_path / "s.sqlite")
    made.play([made.started(), *made.scored(len(HOSTILE)), made.progress(len(HOSTILE), in_flight=(), waiting=())])
    async with at_rest(App(made, watch=True), (160, 48)) as (app, pilot):
        for _ in HOSTILE:
            await pilot.press("down")
            assert isinstance(app.screen, PanedScreen)
            shown = text(app)
            assert not {"\x1b", "\x9b", "\u202e"} & set(shown)
