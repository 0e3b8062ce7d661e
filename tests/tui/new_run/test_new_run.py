"""The form of a new run: from nothing to a started run by keys alone, and nothing false on the way."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from harness.core.failures import RunState
from harness.method.option_table import METHODS
from harness.store.results import read_outcome
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.app.app import RosettaApp
from rosetta_tui.compare.screen import CompareScreen
from rosetta_tui.home.screen import HomeScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.new_run import screen as new_run
from rosetta_tui.new_run.screen import NewRunScreen
from rosetta_tui.request.draft import RunDraft, kept_draft
from rosetta_tui.request.fields import applicable
from rosetta_tui.request.look import FormCache
from rosetta_tui.request.look import examine_draft as form_look
from rosetta_tui.sweep.grid import BARS
from rosetta_tui.sweep.screen import SweepScreen
from rosetta_tui.toolkit.form.form_line import Ticks
from rosetta_tui.toolkit.messages import NewRunAsked
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer, serving
from tests.review.thorough import first
from tests.tui.golden import SMALL, look
from tests.tui.new_run.form import CHAT, COACHING, CORPUS, Starting, path
from tests.tui.scenes import HOSTILE
from tests.tui.screens import AnyApp, App, at_rest, burst, press, settle, stands, text, until

__all__ = ["path"]

SECRET = {
    "dataset": {"id": "secret-v1", "version": "1", "language_pair": "EN→EO",
                "source_language": "en", "target_language": "eo"},
    "entries": [{"id": n, "source": f"hidden source {n}", "reference": f"kaŝita {n}",
                 "segment": "gold_standard"} for n in range(3)],
}  # fmt: skip


@pytest.fixture
def secret(tmp_path: Path) -> str:
    (tmp_path / "secret.json").write_text(json.dumps(SECRET), "utf-8")
    return str(tmp_path / "secret.json")


async def opened(pilot: Pilot[Any], draft: dict[str, Any] | None = None) -> NewRunScreen:
    await settle(pilot)
    pilot.app.screen.post_message(NewRunAsked(None if draft is None else RunDraft.of(draft)))
    await settle(pilot)
    await settle(pilot)
    assert isinstance(pilot.app.screen, NewRunScreen)
    return pilot.app.screen


@asynccontextmanager
async def at_form(
    app: AnyApp, size: tuple[int, int], draft: dict[str, Any] | None = None
) -> AsyncIterator[tuple[AnyApp, Pilot[Any], NewRunScreen]]:
    """Run an app on a terminal of ``size`` columns and lines; the block begins at the form of a new run."""
    async with app.run_test(size=size) as pilot:
        yield app, pilot, await opened(pilot, draft)


async def typed(pilot: Pilot[Any], words: str) -> None:
    await press(pilot, *("space" if each == " " else each for each in words))


def shown(app: RosettaApp) -> type[object]:
    return type(app.screen)


def beside(app: RosettaApp) -> str:
    return str(app.screen.query_one("#facts").render())


@pytest.mark.costly("one walk through the whole form, with a run behind it")
async def test_form_leads_from_nothing_to_a_run_by_keys(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "corpora here"
    folder.mkdir()
    (folder / "demo.json").write_bytes(Path(CORPUS).read_bytes())
    async with at_form(Starting(path), (80, 24)) as (app, pilot, screen):
        assert "nothing to choose from" in text(app)
        for _ in range(4):
            await pilot.press("tab")
            assert screen.focused is not None
            assert not isinstance(screen.focused, Ticks), "no key stops where nothing is to do"
        assert "✗" not in text(app)
        await press(pilot, "ctrl+s")
        assert "✗ This is needed." in text(app)
        assert (app.screen, app.engines) == (screen, []), "nothing starts"
        assert app.focused is screen.query_one("#field-file").query_one(Input)
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
        await until(pilot, lambda: "✓ exact · equivalent · chrF++" in beside(app))
        assert "no embeddings: name an endpoint" in beside(app)
        await press(pilot, "ctrl+t")
        fields = {line.field.name for line in screen.form.lines.values() if line.display}
        assert fields == applicable("copy-source")
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


@pytest.mark.parametrize("method", sorted(METHODS))
def test_method_is_offered_only_the_fields_it_takes(method: str) -> None:
    needs, takes = METHODS[method]
    others = {"text", "outputs", "glossary", "endpoint", "translator"} - {*needs, *takes}
    assert not others & applicable(method)


@pytest.mark.costly("the form over a real call")
async def test_prompt_that_is_shown_is_the_one_that_is_sent(path: Path, endpoint: Scripted) -> None:
    app = Starting(path)
    asks = {"endpoint": endpoint.url, "coaching": COACHING, "limit": "1", "model": "[mock]"}
    async with at_form(app, (160, 60), CHAT | asks) as (_, pilot, screen):
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


@pytest.mark.costly("the form over secret entries")
async def test_secrets_stay_here(path: Path, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-eyes")
    async with at_form(Starting(path), (160, 48), CHAT | {"file": secret, "endpoint": "openai"}) as (
        app,
        pilot,
        screen,
    ):
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


@pytest.mark.costly("the form with a fault, and mended")
async def test_new_run_as_kept(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo.json").write_bytes(Path(CORPUS).read_bytes())
    wrong = CHAT | {"file": "demo.json", "concurrency": "x", "limit": "10"}
    async with at_form(App(None, path), SMALL, wrong) as (app, pilot, screen):
        look("new-run-wrong", app)
        screen.form.focus_on("concurrency")
        await settle(pilot)
        await press(pilot, "backspace", "4")
        await settle(pilot)
        look("new-run", app)
        assert "10 entries · cost free · time about" in text(app)


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
    async with at_form(App(None, path), (160, 60), {"file": f"{folder}/", "method": "chat", "endpoint": "ollama"}) as (
        app,
        pilot,
        screen,
    ):
        screen.form.focus_on("file")
        await press(pilot, "end", *"x", "backspace")
        assert harmless(text(app))
        for name in names:
            screen.form.put({})
            screen.typed.update(CHAT | {"file": str(folder / f"{name}.json"), "model": name})
            screen.form.put(screen.typed)
            await settle(pilot)
            assert screen.found.corpus is not None, (name, screen.found.troubles)
            assert harmless(text(app)), name
        assert isinstance(app.screen, NewRunScreen)


def harmless(shown: str) -> bool:
    acts = {chr(n) for n in (*range(32), *range(0x7F, 0xA0), *range(0x202A, 0x202F), 0x2066)} - {"\n"}
    return not acts & set(shown)


# What it offers while somebody types


CHOSEN = ("enter", "tab", *"en", "tab", *"mi", "tab")
"""What the finding typed in one go after ↓ had opened the list."""
AHEAD = [
    (*"my-co", "down", *CHOSEN),          # taken from the list before anybody saw it
    (*"my", "down", "down", "up", *CHOSEN),
    (*"my-co", "enter", *"en", "enter", *"mi", "enter"),  # the only one that fits
]  # fmt: skip


@pytest.mark.parametrize("keys", first(1, [" ".join(each) for each in AHEAD]))
@pytest.mark.thorough
async def test_keys_typed_ahead_act_one_after_the_other(
    keys: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = "source\ttarget\nHi.\tKia ora.\n"
    Path("my-corpus.tsv").write_text(table, "utf-8")
    monkeypatch.setattr(new_run, "QUIET_SECONDS", 3600)
    async with at_rest(App(None, path), (80, 24)) as (app, _):
        await burst(app, "n", *keys.split())
        assert isinstance(app.screen, NewRunScreen)
        assert app.screen.draft.values == {"file": "my-corpus.tsv", "source_language": "en", "target_language": "mi"}


async def test_older_draft_is_never_kept_over_a_newer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began, may_keep, is_over = threading.Event(), threading.Event(), threading.Event()
    keep = NewRunScreen._keep  # its thread, held up here

    def late(screen: NewRunScreen, typed: dict[str, Any], worker: Any = None) -> None:
        is_old = typed["file"] == "old.json"
        if is_old:
            began.set()
            assert may_keep.wait(600)
        keep(screen, typed, worker)
        if is_old:
            is_over.set()

    def kept_file() -> object:
        draft = kept_draft(path.parent)
        return None if draft is None else draft.values["file"]

    async with at_form(App(None, path), SMALL) as (_, pilot, screen):
        monkeypatch.setattr(NewRunScreen, "_keep", late)  # an older draft comes late
        screen.typed["file"] = "old.json"
        screen.look()
        assert await asyncio.to_thread(began.wait, 600)
        screen.typed["file"] = "new.json"
        screen.look()
        await until(pilot, lambda: kept_file() == "new.json")
        may_keep.set()
        assert await asyncio.to_thread(is_over.wait, 600)
        assert kept_file() == "new.json"


@pytest.mark.costly("the form over a server")
async def test_local_models_are_asked_for_only_by_a_key(path: Path) -> None:
    def answer(asked: Any) -> Any:
        return json_answer({"data": [{"id": "aya:8b"}, {"id": HOSTILE[3]}, {"id": 3}, "x"]})

    with serving(answer) as scripted:
        async with at_form(App(None, path), (120, 40), CHAT | {"endpoint": f"{scripted.url}", "model": ""}) as (
            app,
            pilot,
            screen,
        ):
            assert scripted.asked == []
            await press(pilot, "ctrl+r")
            await settle(pilot)
            assert [asked.path.rpartition("/")[2] for asked in scripted.asked] == ["models"]
            assert "aya:8b  served there" in text(app)
            assert "\x1b" not in text(app)
            await press(pilot, "down", "enter")
            assert screen.draft.get("model") == "aya:8b"


@pytest.mark.costly("three runs over a server")
async def test_repeats_are_priced_followed_and_compared_by_keys(path: Path) -> None:
    lucky = itertools.count()

    def answer(asked: Asked) -> Answer:
        return json_answer(completion("Bonan tagon" + ", kara amiko" * (next(lucky) % 3) + "."))

    with serving(answer) as server:
        app, asks = Starting(path), {"endpoint": server.url, "limit": "4"}
        async with at_form(app, (80, 24), CHAT | asks) as (_, pilot, screen):
            screen.form.focus_on("repeats")
            await press(pilot, "1")
            assert "A whole number from 2 to 50 is wanted." in text(app)
            await press(pilot, "backspace", "3")
            await settle(pilot)
            await until(pilot, lambda: "3 × 4 entries · cost free" in text(app))
            assert "Runs     3 of 3" in beside(app)
            assert "Calls    12" in beside(app)
            assert "--repeats 3" in beside(app)
            assert server.asked == []
            await press(pilot, "ctrl+s")
            await until(pilot, lambda: stands(app, SweepScreen) and "of 3 repeats complete" in text(app))
            await until(pilot, lambda: "3 of 3 repeats complete" in text(app) and "c compares" in text(app))
            assert not set(BARS) & set(text(app).partition("repeat ↓")[2]), "repeats differ by chance: none is worse"
            await press(pilot, "c")
            await until(pilot, lambda: stands(app, CompareScreen) and "A, B and C repeat one set-up" in text(app))
        assert len(server.asked) == 12
    with closing(open_store(path)) as connection:
        assert [run.state for run in list_runs(connection)] == ["complete"] * 3
    assert kept_draft(path.parent) is None


@pytest.mark.parametrize(
    ("more", "field", "words"),
    [
        ({"method": "copy-source"}, "repeats", "asks nobody: every repeat would be equal"),
        ({"body": ("seed=7",)}, "repeats", "With one seed every repeat would be equal"),
        ({"vault": "v"}, "repeats", "--vault does not go with --repeats"),
        ({"repeats": "51"}, "repeats", "A whole number from 2 to 50 is wanted."),
    ],
)
def test_repeats_that_say_nothing_are_refused_in_words(
    path: Path, more: dict[str, Any], field: str, words: str
) -> None:
    troubles = form_look(path, RunDraft.of({**CHAT, "repeats": "2", **more}), FormCache()).troubles
    assert [trouble.words for trouble in troubles if trouble.field == field and words in trouble.words]
