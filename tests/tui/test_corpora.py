"""The corpus browser: what is there, what is in it, what the checks say, and its own file."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from corpora.files.decode import Original
from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from harness.api import CorpusRequest
from harness.settings import read_settings
from harness.store.corpora.entries import save_corpus
from harness.store.sqlite.database import open_store
from rosetta_tui.corpus import open_corpus as originals
from rosetta_tui.corpus import table
from rosetta_tui.corpus.detail_screens import CorpusChecksScreen, CorpusEntryScreen, CorpusFactsScreen
from rosetta_tui.corpus.open_corpus import open_corpus
from rosetta_tui.corpus.screen import CorporaScreen, CorpusScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.new_run.screen import NewRunScreen
from rosetta_tui.show.columns import LEFT_OUT
from rosetta_tui.toolkit.form.file_choice import FileChoice
from tests.corpora.making import json_file
from tests.tui.golden import SMALL, look
from tests.tui.scenes import FAULTY, sealed
from tests.tui.screens import App, lines, notices, settle, showing, stands, text
from tests.tui.screens import press_in_turn as press


async def typed(pilot: Pilot[Any], app: App, path: object) -> None:
    app.screen.query_one(FileChoice).input.value = str(path)
    await settle(pilot)


def stored(folder: Path, corpus: Corpus) -> Path:
    with closing(open_store(folder / "s.sqlite")) as store:
        store.execute("BEGIN")
        save_corpus(store, corpus)
        store.execute("COMMIT")
    return folder / "s.sqlite"


@pytest.fixture
def faulty(tmp_path: Path) -> tuple[Corpus, Path]:
    """A corpus with faults, and a store that has it."""
    corpus = load(json_file(tmp_path, FAULTY))
    return corpus, stored(tmp_path, corpus)


async def test_corpora_lead_to_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "when", lambda _: "2023-11-14 22:13")
    made = sealed(tmp_path / "s.sqlite")
    async with showing(App(made), CorporaScreen(made.path), SMALL) as (app, pilot):
        look("corpora", app)
        await press(pilot, "enter")
        assert stands(app, CorpusScreen)
        look("corpus", app)
        await press(pilot, "n")
        assert isinstance(app.screen, NewRunScreen)
        assert app.screen.draft.values == {"file": f"store:{24:064x}"[:18]}
        await press(pilot, "escape")
        await pilot.resize_terminal(120, 30)
        await press(pilot, "u")
        assert "chat · qwen2.5-7b · coached-v2" in text(app)
        await press(pilot, "enter")
        assert stands(app, LiveScreen)


async def test_pages_of_a_corpus_and_findings_lead_to_entries(faulty: tuple[Corpus, Path]) -> None:
    corpus, path = faulty
    async with showing(App(None, path), CorpusScreen(path, corpus.sha256), SMALL) as (app, pilot):
        await press(pilot, "i")
        assert stands(app, CorpusFactsScreen)
        look("corpus-facts", app)
        await press(pilot, "q", "c")
        assert stands(app, CorpusChecksScreen)
        look("corpus-checks", app)
        await press(pilot, "q", "down", "enter")
        assert stands(app, CorpusEntryScreen)
        look("corpus-entry", app)
        await pilot.resize_terminal(120, 30)
        await press(pilot, "q")
        assert "2 findings, 2 entries" in text(app)
        assert any(line.strip().startswith("!  3") for line in lines(app))
        await press(pilot, "c")
        assert all(each.message[:60] in text(app) for each in corpus.warnings)
        assert "the file is not available" not in text(app)
        await press(pilot, "enter")
        assert "1 of 4" in text(app)
        await press(pilot, "enter")
        assert "Take them out, or they count twice." in text(app)
        await app.push_screen(CorpusChecksScreen((), Original.UNCHANGED))
        await settle(pilot)
        assert "The checks found nothing." in text(app)
        assert "Statistics say what a complete benchmark needs" in text(app)


async def test_columns_of_a_corpus_are_chosen_and_remembered(faulty: tuple[Corpus, Path]) -> None:
    corpus, path = faulty

    def titles(app: App) -> str:
        return next(line for line in lines(app) if line.split()[1:2] == ["source"])

    async def turn(app: App, pilot: Pilot[Any]) -> dict[str, bool]:
        screen = app.screen
        assert isinstance(screen, CorpusScreen)
        await press(pilot, "s", *["down"] * [*screen.sorts].index("reference"), "space", "escape")
        return dict(screen.table.shown_columns)

    async with showing(App(None, path), CorpusScreen(path, corpus.sha256), (120, 30)) as (app, pilot):
        assert "reference" in titles(app)
        columns = await turn(app, pilot)
        assert [key for key, shown in columns.items() if not shown] == ["reference"]
        assert "reference" not in titles(app)
        assert "-corpus.reference" in read_settings(path.parent).columns.split()
    async with showing(App(None, path), CorpusScreen(path, corpus.sha256), (120, 30)) as (app, pilot):
        assert "reference" not in titles(app), "remembered"
        assert all((await turn(app, pilot)).values())
        assert "reference" in titles(app)


async def test_file_is_chosen_opened_and_not_stored_a_wrong_one_said(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    folder = tmp_path / ("a folder with a name that is longer than any dialog " * 3)
    folder.mkdir()
    json_file(folder, FAULTY, name="greetings.json")
    json_file(tmp_path, [{"id": 1, "source": "a"}, {"id": 1, "reference": "b"}], name="bad.json")
    (folder / "notes.md").write_text("x", "utf-8")
    async with showing(App(None, path), CorporaScreen(path), (100, 30)) as (app, pilot):
        assert "No corpora yet." in text(app)
        assert "o  opens a corpus file" in text(app)
        await press(pilot, "D")
        assert stands(app, CorpusScreen)
        assert all(words in text(app) for words in ("eo-demo-v1 1.0", "Hello!"))
        await press(pilot, "q", "o", "enter")
        assert "Type the path of a corpus file" in text(app)
        await typed(pilot, app, f"{tmp_path}/bad.json")
        await press(pilot, "enter")
        assert stands(app, CorpusChecksScreen)
        assert all(words in text(app) for words in ("cannot be used", "✗ error"))
        await press(pilot, "q", "o")
        await typed(pilot, app, f"{folder}/gr")
        assert "greetings.json" in text(app)
        assert "notes.md" not in text(app)
        await press(pilot, "down", "enter", "enter")
        assert stands(app, CorpusScreen)
        assert all(words in text(app) for words in ("2 findings, 2 entries", "Thank you!"))
    with closing(open_store(path)) as store:
        assert store.execute("SELECT count(*) FROM corpora").fetchone() == (0,)


async def test_secret_entry_is_shown_and_never_copied(faulty: tuple[Corpus, Path]) -> None:
    corpus, path = faulty
    screen = CorpusScreen(path, corpus.sha256)
    async with showing(App(None, path), screen, (120, 30)) as (app, pilot):
        assert screen.holds_secret
        assert screen.table.entries is not None
        assert [LEFT_OUT in screen.table.entries.record(row) for row in range(4)] == [False, False, False, True]
        await press(pilot, "end", "y", "enter")
        assert "Sekreta nokto" in text(app)
        page = app.screen
        assert isinstance(page, CorpusEntryScreen)
        assert page.holds_secret
        await press(pilot, "y")
        assert "ekret" not in app.clipboard.replace("a secret segment", "")
        await press(pilot, "left", "y")
        assert app.clipboard == "Thank you!\nDankon!"
        assert " ".join(notices(app)).count("Source and reference copied") == 1
        assert not page.holds_secret


async def test_original_opens_in_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, noted, editor = tmp_path / "c.csv", tmp_path / "noted", tmp_path / "vim"
    head = "# source_language: en\n# target_language: eo\n"
    file.write_text(f"{head}source,reference\na,b\nc,d\n", "utf-8")
    editor.write_text(f'#!{sys.executable}\nimport sys\nopen({str(noted)!r}, "w").write(repr(sys.argv[1:]))\n')
    editor.chmod(0o700)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", os.fspath(editor))
    opened = open_corpus(CorpusRequest(file))
    app = App(None, tmp_path / "s.sqlite")
    monkeypatch.setattr(app, "suspend", pytest.MonkeyPatch.context)
    screen = CorpusScreen(app.store_path, opened.sha256, opened)
    async with showing(app, screen, (120, 30)) as (_, pilot):
        await press(pilot, "down", "o")
        assert noted.read_text() == repr(["+5", str(file)])
        monkeypatch.undo()
        monkeypatch.setenv("VISUAL", "vi")
        file.write_text(file.read_text("utf-8") + " ", "utf-8")
        await press(pilot, "o")
        assert "cannot be handed to an editor" in " ".join(notices(app))
        assert "The file has changed" in " ".join(notices(app))
        file.unlink()
        await press(pilot, "o")
        assert "The file is gone" in " ".join(notices(app))


@pytest.mark.thorough
async def test_opener_that_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "xdg-open"
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(originals, "system_command", lambda path: [str(program), str(path)])
    monkeypatch.setattr(originals, "SOON", 10.0)
    opened = open_corpus(CorpusRequest(json_file(tmp_path, FAULTY, name="mine.json")))
    screen = CorpusScreen(tmp_path / "s.sqlite", opened.sha256, opened)
    async with showing(App(None, tmp_path / "s.sqlite"), screen, (120, 30)) as (app, pilot):
        for status, words in ((3, "xdg-open ended with 3: nothing here opens"), (0, "Opened:")):
            program.write_text(f"#!/bin/sh\nexit {status}\n")
            program.chmod(0o700)
            await press(pilot, "o")
            await settle(pilot)
            assert words in notices(app)[-1]
            assert "mine.json" in notices(app)[-1]


def test_segment_is_named_in_words() -> None:
    assert table.segment_words({None: 2, Segment.GOLD_STANDARD.value: 1_000}) == ("no segment 2 · gold standard 1,000")
