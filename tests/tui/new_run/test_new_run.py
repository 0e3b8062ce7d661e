"""The form of a new run: from nothing to a started run by keys alone, and nothing false on the way."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from textual.widgets import Button, Input

from harness.core.run_state import RunState
from harness.method.shipped import TAKES
from harness.store.file.database import open_store
from harness.store.results import read_outcome
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.new_run.screen import NewRunScreen
from rosetta_tui.request.draft import kept_draft
from rosetta_tui.request.draft_of_run import draft_of
from rosetta_tui.request.fields import applicable
from rosetta_tui.toolkit.form.form_line import Ticks
from tests.harness.scripted import Scripted
from tests.tui.golden import SIZES, compare
from tests.tui.new_run.form import (
    CHAT,
    COACHING,
    CORPUS,
    SECRET,
    Starting,
    at_form,
    beside,
    endpoint,
    opened,
    path,
    secret,
    shown,
    typed,
)
from tests.tui.scenes import HOSTILE
from tests.tui.screens import App, press, settle, text

__all__ = ["endpoint", "path", "secret"]


@pytest.mark.thorough
async def test_from_nothing_to_a_started_run_without_a_mouse(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "corpora here"
    folder.mkdir()
    (folder / "demo.json").write_bytes(Path(CORPUS).read_bytes())
    async with at_form(Starting(path), (80, 24)) as (app, pilot, screen):
        screen.form.lines["file"].put(str(tmp_path / "corpora"))  # what a person would type of it
        await press(pilot, "end", *"#", "backspace")
        assert "corpora here/" in text(app)
        await press(pilot, "down", "enter")
        assert "demo.json" in text(app)
        await press(pilot, "down", "enter")
        await settle(pilot)
        assert "eo-demo-v1 1.0 · en → eo · 96 entries · no problems" in text(app)
        await press(pilot, "enter", "tab", "tab", *"5", "tab", "tab")
        assert "5 of 96 entries take part" in text(app)
        await typed(pilot, "copy")
        await press(pilot, "down", "enter", "enter")
        assert screen.draft.values == {
            "file": str(folder / "demo.json"), "limit": "5", "method": "copy-source"
        }  # fmt: skip
        await settle(pilot)
        assert "5 entries · cost free" in text(app)
        await press(pilot, "ctrl+s")
        await settle(pilot)
        assert shown(app) is LiveScreen
        assert app.engines[0].wait(600)
        await press(pilot, "q")
        assert shown(app) is HomeScreen
    with closing(open_store(path)) as connection:
        run = find_run(connection, "last")
        assert (run.state, run.setup.method) == (RunState.COMPLETE, "copy-source")
        assert read_outcome(connection, run.id).done == 5
    assert kept_draft(path.parent) is None


async def test_the_prompt_that_is_shown_is_the_one_that_is_sent(
    path: Path, endpoint: Scripted
) -> None:
    app = Starting(path)
    chosen = CHAT | {
        "endpoint": endpoint.url,
        "coaching": COACHING,
        "limit": "1",
        "model": "[mock]",
    }
    async with at_form(app, (160, 48), chosen) as (_, pilot, screen):
        shown, found = beside(app), screen.found.request
        assert found is not None
        assert endpoint.asked == []
        assert "First prompt  as it will be sent" in shown
        assert "on this machine, no key needed" in text(app)
        await press(pilot, "ctrl+s")
        await settle(pilot)
        assert app.engines[0].wait(600)
    [asked] = endpoint.asked
    assert asked.body == found.body
    for message in asked.body["messages"]:
        assert message["content"] in shown
    assert '"model": "[mock]"' in shown


@pytest.mark.parametrize("method", ["constant", "pipeline"])
async def test_only_the_fields_that_a_method_takes_are_shown(path: Path, method: str) -> None:
    draft = {"file": CORPUS, "method": method}
    async with at_form(App(None, path), (120, 100), draft) as (_, pilot, screen):
        await press(pilot, "ctrl+t")
        shown = {line.field.name for line in screen.form.lines.values() if line.display}
        assert shown == applicable(method)
        needs, takes = TAKES[method]
        others = {"text", "outputs", "glossary", "endpoint", "translator"} - {*needs, *takes}
        assert not others & shown


async def test_what_is_wrong_stands_beside_its_field_and_nothing_starts(path: Path) -> None:
    async with at_form(Starting(path), (160, 60), CHAT) as (app, pilot, screen):
        screen.form.focus_on("budget")
        await settle(pilot)
        await typed(pilot, "x")
        assert "✗ A number above 0 is wanted." in text(app)
        await press(pilot, "shift+tab", "ctrl+s")
        assert app.screen is screen
        assert app.focused is screen.query_one("#field-budget").query_one(Input)
        await press(pilot, "backspace")
        assert "✗" not in text(app)
    assert app.engines == []


async def test_what_is_missing_is_said_only_when_somebody_wants_to_start(path: Path) -> None:
    async with at_form(App(None, path), (80, 24)) as (app, pilot, screen):
        assert "✗" not in text(app)
        await press(pilot, "ctrl+s")
        assert "✗ This is needed." in text(app)
        assert app.focused is screen.query_one("#field-file").query_one(Input)


async def test_secret_entries_go_to_no_other_machine_and_into_no_copy(
    path: Path, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-eyes")
    async with at_form(
        Starting(path), (160, 48), CHAT | {"file": secret, "endpoint": "openai"}
    ) as (app, pilot, screen):
        said = screen.form.lines["endpoint"].said
        assert "belong to a secret segment" in said
        assert "sk-not-for-eyes" not in text(app)
        await press(pilot, "ctrl+s")
        assert app.screen is screen
        assert app.engines == []
        assert screen.holds_secret
        await pilot.press("ctrl+y")
        await pilot.pause()
        assert "hidden" not in app.clipboard
        await press(pilot, "escape")
    kept = (path.parent / "new-run.json").read_text("utf-8")
    assert "hidden" not in kept
    assert "sk-not" not in kept
    with closing(open_store(path)) as connection:
        assert list_runs(connection) == []


@pytest.mark.thorough
async def test_no_key_stops_where_there_is_nothing_to_do(path: Path) -> None:
    async with at_form(App(None, path), (80, 24), {}) as (app, pilot, screen):
        assert "nothing to choose from" in text(app)
        seen = set()
        for _ in range(20):
            await pilot.press("tab")
            assert screen.focused is not None
            assert screen.focused.region.overlaps(screen.region)
            seen.add(screen.focused)
        assert not any(isinstance(each, Ticks) for each in seen)


@pytest.mark.thorough
async def test_a_draft_is_kept_offered_again_and_begun_anew(path: Path) -> None:
    async with at_form(App(None, path), (80, 24)) as (app, pilot, _):
        await typed(pilot, "/nowhere")
        await press(pilot, "escape", "escape")
        assert isinstance(app.screen, HomeScreen)
        screen = await opened(pilot)
        assert screen.draft.values == {"file": "/nowhere"}
        assert "as you left it · ^n begins anew" in text(app)
        await press(pilot, "ctrl+n")
        assert screen.draft.values == {}
        assert "/nowhere" not in text(app)
        assert "begun anew · ^n brings back what stood here" in text(app)
        await typed(pilot, "/other")
        await press(pilot, "ctrl+n")
        assert screen.draft.values == {"file": "/nowhere"}
        assert "/nowhere" in text(app)
        assert "brought back · ^n shows the one begun anew" in text(app)
        await press(pilot, "ctrl+n")
        assert screen.draft.values == {"file": "/other"}
        assert "begun anew · ^n brings back what stood here" in text(app)


async def test_the_command_line_is_shown_and_copied_whole(path: Path) -> None:
    async with at_form(
        App(None, path), (160, 48), CHAT | {"entries": ",".join(map(str, range(3000)))}
    ) as (app, pilot, screen):
        await pilot.press("ctrl+y")
        assert app.clipboard == screen.draft.command()
        assert "more characters" in beside(app)
        await pilot.press("ctrl+g", "y")
        assert app.clipboard == screen.draft.command()


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
async def test_escape_leads_from_the_preview_to_the_form_and_then_away(
    path: Path, size: tuple[int, int]
) -> None:
    async with at_form(App(None, path), size, CHAT) as (app, pilot, screen):
        await press(pilot, "ctrl+g", "escape")
        assert app.screen is screen
        assert not screen.has_class("-preview")
        assert screen.focused in screen.form.walk_children()
        await press(pilot, "escape")
        assert app.screen is not screen


@pytest.mark.thorough
async def test_hostile_names_of_files_and_corpora_are_only_text(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    names = [name[:60].replace("/", "_").replace("\0", "") for name in HOSTILE]
    for name in names:
        made = json.loads(json.dumps(SECRET))
        made["dataset"] |= {"id": name, "version": name}
        made["entries"] = [{"id": name, "source": name, "reference": name, "difficulty": 1}]
        (folder / f"{name}.json").write_text(json.dumps(made), "utf-8")
    async with at_form(
        App(None, path), (160, 60), {"file": f"{folder}/", "method": "chat", "endpoint": "ollama"}
    ) as (app, pilot, screen):
        screen.form.focus_on("file")
        await press(pilot, "end", *"x", "backspace")
        assert harmless(text(app))
        for name in names:
            screen.form.put({})
            screen.typed.update(CHAT | {"file": str(folder / f"{name}.json"), "model": name})
            screen.form.put(screen.typed)
            screen.look()
            await app.workers.wait_for_complete()
            await pilot.pause()
            assert screen.found.corpus is not None, (name, screen.found.troubles)
            assert harmless(text(app)), name
        assert isinstance(app.screen, NewRunScreen)


def harmless(shown: str) -> bool:
    acts = {chr(n) for n in (*range(32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), 0x2066)} - {
        "\n"
    }
    return not acts & set(shown)


async def test_on_a_small_terminal_the_preview_is_a_key_away(path: Path) -> None:
    async with at_form(App(None, path), (80, 24), CHAT) as (app, pilot, screen):
        assert "The same in a shell" not in text(app)
        assert "96 entries · cost free · time about" in text(app)
        await press(pilot, "ctrl+g")
        assert "The same in a shell" in text(app)
        assert "Estimate" in text(app)
        await press(pilot, "ctrl+g")
        assert "The same in a shell" not in text(app)
        await pilot.resize_terminal(120, 30)
        await settle(pilot)
        assert "The same in a shell" in text(app)
        assert screen.query_one("#start", Button).label


async def test_metrics_say_what_will_work_and_why_others_will_not(path: Path) -> None:
    draft = {"file": CORPUS, "method": "copy-source"}
    async with at_form(App(None, path), (160, 60), draft) as (app, pilot, _):
        await settle(pilot)
        shown = beside(app)
        assert "✓ exact · equivalent · chrF++" in shown
        assert "no embeddings: name an endpoint" in shown


async def test_settings_fill_in_what_is_left_open(path: Path) -> None:
    path.parent.mkdir(parents=True)
    settings = 'endpoint = "mine"\nmodel = "aya"\n[endpoints]\nmine = "http://127.0.0.1:9/v1"\n'
    (path.parent / "settings.toml").write_text(settings, "utf-8")
    draft = {"file": CORPUS, "method": "chat"}
    async with at_form(App(None, path), (160, 48), draft) as (app, _, screen):
        assert screen.found.troubles == ()
        assert "POST http://127.0.0.1:9/v1/chat/completions" in beside(app)
        assert "mine" in text(app)


async def test_another_run_like_an_earlier_one_stands_in_the_form(path: Path) -> None:
    async with at_form(
        Starting(path),
        (160, 48),
        {"file": CORPUS, "method": "constant", "text": "Jes.", "limit": "3"},
    ) as (app, pilot, _):
        await press(pilot, "ctrl+s")
        await settle(pilot)
        assert app.engines[0].wait(600)
        with closing(open_store(path)) as connection:
            draft = draft_of(find_run(connection, "last"), connection)
        screen = await opened(pilot, dict(draft.values))
        assert screen.found.troubles == ()
        assert "3 of 96 entries take part" in text(app)
        assert "rosetta run store:" in beside(app)
        assert "time as in 1 earlier run" in beside(app)


@pytest.mark.parametrize("size", SIZES)
async def test_golden(
    size: tuple[int, int], path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo.json").write_bytes(Path(CORPUS).read_bytes())
    app = App(None, path)
    async with app.run_test(size=size) as pilot:
        screen = await opened(
            pilot, CHAT | {"file": "demo.json", "concurrency": "x", "limit": "10"}
        )
        compare("new-run-wrong", size, app)
        screen.form.focus_on("concurrency")
        await settle(pilot)
        await press(pilot, "backspace", "4")
        await settle(pilot)
        compare("new-run", size, app)


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ("0.001", "No call can go out. The next call could cost up to $0.02"),
        ("0.0225", "The budget would stop the run early"),
        ("0.06", "It may not last"),
    ],
)
async def test_a_budget_that_will_not_last_is_spoken_of(
    path: Path, monkeypatch: pytest.MonkeyPatch, budget: str, words: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    app = App(None, path)
    dear = CHAT | {"endpoint": "openai", "model": "gpt-4o", "budget": budget}
    async with at_form(app, (120, 40), dear) as (_, _, screen):
        assert screen.found.troubles == ()
        assert words in screen.form.lines["budget"].said
        assert words[:18] in text(app)
        assert "key from OPENAI_API_KEY" in text(app)


@pytest.mark.parametrize("theme", ["rosetta-light", "rosetta-contrast", "ansi-dark"])
async def test_ticks_and_faults_are_seen_without_colours(path: Path, theme: str) -> None:
    app = App(None, path)
    async with app.run_test(size=(80, 24)) as pilot:
        app.theme = theme
        await opened(pilot, CHAT | {"segment": ("diagnostic",), "limit": "x"})
        assert "[x] diagnostic" in text(app)
        assert "✗ A whole number" in text(app)
