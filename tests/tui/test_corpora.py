"""The corpus browser: what is there, what is in it, what the checks say, and its own file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from textual import on
from textual.pilot import Pilot

from corpora.files.decode import Original
from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from harness.api import CorpusRequest
from harness.store.corpora.entries import save_corpus
from harness.store.file.database import open_store
from rosetta_tui.corpus import originals, table
from rosetta_tui.corpus.checks_screen import CorpusChecksScreen
from rosetta_tui.corpus.entry_screen import CorpusEntryScreen
from rosetta_tui.corpus.facts_screen import CorpusFactsScreen
from rosetta_tui.corpus.list_screen import CorporaScreen
from rosetta_tui.corpus.open_corpus import open_corpus
from rosetta_tui.corpus.screen import CorpusScreen
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.new_run.screen import NewRunScreen
from rosetta_tui.request.draft import RunDraft
from rosetta_tui.toolkit.form.file_choice import FileChoice
from rosetta_tui.toolkit.messages import NewRunAsked
from tests.corpora.making import entry, json_file
from tests.tui.faulty import FAULTY
from tests.tui.golden import SIZES, compare
from tests.tui.scenes import HOSTILE, Scene, hostile, scene, sealed
from tests.tui.screens import App, at_rest, lines, notices, settle, text
from tests.tui.screens import press_in_turn as press


class Asked(App):
    """Notes which new runs are asked for, in the place of their form."""

    def __init__(self, made: Scene) -> None:
        super().__init__(made)
        self.drafts: list[RunDraft | None] = []

    @on(NewRunAsked)
    def _note(self, message: NewRunAsked) -> None:
        message.prevent_default()
        self.drafts.append(message.draft)


def here(app: App) -> object:
    return app.screen


async def shown(pilot: Pilot[Any], app: App, screen: Any) -> None:
    await settle(pilot)
    app.push_screen(screen)
    await settle(pilot)


async def typed(pilot: Pilot[Any], app: App, path: str) -> None:
    app.screen.query_one(FileChoice).input.value = path
    await settle(pilot)


def stored(folder: Path, corpus: Corpus) -> Path:
    path = folder / "s.sqlite"
    store = open_store(path)
    store.execute("BEGIN")
    save_corpus(store, corpus)
    store.execute("COMMIT")
    store.close()
    return path


@pytest.mark.parametrize("size", SIZES)
async def test_corpora_golden(
    size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "when", lambda _: "2023-11-14 22:13")
    made = sealed(tmp_path / "s.sqlite")
    app = App(made)
    async with app.run_test(size=size) as pilot:
        await shown(pilot, app, CorporaScreen(made.path))
        compare("corpora", size, app)
        await press(pilot, "enter")
        assert isinstance(here(app), CorpusScreen)
        compare("corpus", size, app)


@pytest.mark.parametrize("size", SIZES)
async def test_corpus_pages_golden(size: tuple[int, int], tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, FAULTY))
    path = stored(tmp_path, corpus)
    app = App(None, path)
    async with app.run_test(size=size) as pilot:
        await shown(pilot, app, CorpusScreen(path, corpus.sha256))
        await press(pilot, "i")
        assert isinstance(here(app), CorpusFactsScreen)
        compare("corpus-facts", size, app)
        await press(pilot, "q", "c")
        assert isinstance(here(app), CorpusChecksScreen)
        compare("corpus-checks", size, app)
        await press(pilot, "q", "down", "enter")
        assert isinstance(here(app), CorpusEntryScreen)
        compare("corpus-entry", size, app)


async def test_an_empty_store_says_what_to_do_and_shows_the_demo_corpus(tmp_path: Path) -> None:
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot, app, CorporaScreen(tmp_path / "s.sqlite"))
        assert "No corpora yet." in text(app)
        assert "o  opens a corpus file" in text(app)
        await press(pilot, "D")
        assert isinstance(here(app), CorpusScreen)
        assert "eo-demo-v1 1.0" in text(app)
        assert "Hello!" in text(app)
        await press(pilot, "q")
        assert isinstance(here(app), CorporaScreen)
    assert load_count(tmp_path / "s.sqlite") == 0


def load_count(path: Path) -> int:
    store = open_store(path)
    found: int = store.execute("SELECT count(*) FROM corpora").fetchone()[0]
    store.close()
    return found


async def test_a_file_is_chosen_from_the_list_and_opened_without_being_stored(
    tmp_path: Path,
) -> None:
    tmp_path = tmp_path / ("a folder with a name that is longer than any dialog " * 3)
    tmp_path.mkdir()
    file = json_file(tmp_path, FAULTY, name="greetings.json")
    (tmp_path / "notes.md").write_text("x", "utf-8")
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(pilot, app, CorporaScreen(tmp_path / "s.sqlite"))
        await press(pilot, "o")
        await typed(pilot, app, f"{tmp_path}/gr")
        assert "greetings.json" in text(app)
        assert "notes.md" not in text(app)
        await press(pilot, "down", "enter", "enter")
        assert isinstance(here(app), CorpusScreen)
        assert "2 findings, 2 entries" in text(app)
        assert "Thank you!" in text(app)
        await press(pilot, "i", "end")
        assert file.name in text(app)
    assert load_count(tmp_path / "s.sqlite") == 0


async def test_a_file_that_cannot_be_used_says_everything_that_is_wrong(tmp_path: Path) -> None:
    json_file(tmp_path, [{"id": 1, "source": "a"}, {"id": 1, "reference": "b"}], name="bad.json")
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(100, 30)) as pilot:
        await shown(pilot, app, CorporaScreen(tmp_path / "s.sqlite"))
        await press(pilot, "o")
        await typed(pilot, app, f"{tmp_path}/bad.json")
        await press(pilot, "enter")
        assert isinstance(here(app), CorpusChecksScreen)
        assert "cannot be used" in text(app)
        assert "✗ error" in text(app)
        await press(pilot, "q", "o", "enter")
        assert "Type the path of a corpus file" in text(app)
        await typed(pilot, app, f"{tmp_path}/none.json")
        await press(pilot, "enter")
        assert "none.json" in text(app)
        await press(pilot, "escape")
        assert isinstance(here(app), CorporaScreen)


@pytest.mark.thorough
async def test_entries_are_searched_sorted_and_narrowed_by_several_tags(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=120, stored=5)
    app = App(made)
    async with app.run_test(size=(140, 40)) as pilot:
        await shown(pilot, app, CorpusScreen(made.path, f"{120:064x}"))
        screen = app.screen
        assert isinstance(screen, CorpusScreen)
        assert "120 entries · development 120" in text(app)
        await pilot.press("slash", *"CATS")
        await press(pilot, "enter")
        assert "15 of 120 · with “CATS”" in text(app)
        await press(pilot, "f", "down", "down", "enter")
        narrowed = screen.table.order
        assert narrowed.search == "CATS"
        assert list(narrowed.only) == ["difficulty"]
        assert "only: difficulty" in text(app)
        await press(pilot, "s", "down", "down", "enter")
        assert screen.table.order.sort == "source"
        assert "source ▲" in text(app)
        await press(pilot, "escape", "escape")
        assert isinstance(here(app), CorpusScreen)
        assert screen.table.entries is not None
        assert screen.table.entries.count == 120
        await pilot.press("slash", *"no such text")
        await settle(pilot)
        assert "nothing found" in text(app)
        await press(pilot, "escape", "escape", "escape")
        assert not isinstance(here(app), CorpusScreen)


async def test_a_finding_leads_to_its_entries(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, FAULTY))
    path = stored(tmp_path, corpus)
    app = App(None, path)
    async with app.run_test(size=(120, 30)) as pilot:
        await shown(pilot, app, CorpusScreen(path, corpus.sha256))
        assert "2 findings, 2 entries" in text(app)
        assert any(line.strip().startswith("!  3") for line in lines(app))
        await press(pilot, "c")
        assert all(each.message[:60] in text(app) for each in corpus.warnings)
        assert "the file is not at hand" not in text(app)
        await press(pilot, "enter")
        assert "1 of 4 · only: those of check 1" in text(app)
        await press(pilot, "enter")
        assert "Take them out, or they count twice." in text(app)


async def test_the_runs_of_a_corpus_are_opened_from_it(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    app = App(made)
    async with app.run_test(size=(120, 30)) as pilot:
        await shown(pilot, app, CorpusScreen(made.path, f"{24:064x}"))
        await press(pilot, "u")
        assert "chat · qwen2.5-7b · coached-v2" in text(app)
        await press(pilot, "enter")
        assert isinstance(here(app), LiveScreen)


async def test_a_new_run_begins_with_the_corpus_of_the_store(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    app = Asked(made)
    async with app.run_test(size=(120, 30)) as pilot:
        await shown(pilot, app, CorpusScreen(made.path, f"{24:064x}"))
        await press(pilot, "n")
        (draft,) = app.drafts
        assert draft is not None
        assert dict(draft.values) == {"file": f"store:{24:064x}"[:18]}


async def test_a_corpus_that_went_with_its_last_run_is_said_to_be_gone(tmp_path: Path) -> None:
    made = sealed(tmp_path / "s.sqlite")
    app = App(made)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot, app, CorpusScreen(made.path, "00" * 32))
        assert "This corpus is no longer in the store." in text(app)
        await press(pilot, "i", "c", "u", "n", "f", "s", "escape", "o", "q")
        assert not isinstance(here(app), CorpusScreen)


async def test_a_secret_entry_is_shown_and_never_copied(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, FAULTY))
    path = stored(tmp_path, corpus)
    app = App(None, path)
    async with app.run_test(size=(120, 30)) as pilot:
        await shown(pilot, app, CorpusScreen(path, corpus.sha256))
        screen = app.screen
        assert isinstance(screen, CorpusScreen)
        assert screen.holds_secret
        assert screen.table.entries is not None
        assert [screen.table.entries.secret(row) for row in range(4)] == [False, False, False, True]
        await press(pilot, "end", "y", "enter")
        assert "Sekreta nokto" in text(app)
        page = here(app)
        assert isinstance(page, CorpusEntryScreen)
        assert page.holds_secret
        await press(pilot, "y")
        assert "ekret" not in app.clipboard.replace("a secret segment", "")
        await press(pilot, "left", "y")
        assert app.clipboard == "Thank you!\nDankon!"
        assert " ".join(notices(app)).count("Source and reference copied") == 1
        assert not page.holds_secret


@pytest.mark.thorough
async def test_hostile_texts_do_nothing_on_any_page(tmp_path: Path) -> None:
    made = hostile(tmp_path / "s.sqlite")
    made.store.execute(
        "UPDATE corpora SET dataset = json_set(dataset, '$.id', ?, '$.version', ?,"
        " '$.language_pair', ?, '$.license', ?, '$.extra', ?)",
        (HOSTILE[1], HOSTILE[3], HOSTILE[6], HOSTILE[4], HOSTILE[0]),
    )
    made.store.execute(
        "UPDATE runs SET plan = json_object('corpus_files', json_array(?))",
        ("/tmp/" + HOSTILE[3].replace("/", "") + HOSTILE[0],),
    )
    app = App(made)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot, app, CorporaScreen(made.path))
        await press(pilot, "enter")
        assert isinstance(here(app), CorpusScreen)
        for keys in (("i", "end", "q"), ("c", "q"), ("f", "escape"), ("u", "escape"), ("o",)):
            await press(pilot, *keys)
            assert harmless(app)
        await press(pilot, "enter")
        for _ in HOSTILE:
            assert harmless(app)
            await press(pilot, "right")
        assert app.is_running


def harmless(app: App) -> bool:
    return not any(ord(letter) < 32 or 0x7F <= ord(letter) < 0xA0 for letter in "".join(lines(app)))


async def test_the_original_opens_in_the_editor_at_the_line_of_the_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "c.csv"
    file.write_text(
        "# source_language: en\n# target_language: eo\nsource,reference\na,b\nc,d\n", "utf-8"
    )
    corpus = load(file)
    noted = tmp_path / "noted"
    editor = tmp_path / "vim"
    editor.write_text(
        f'#!{sys.executable}\nimport sys\nopen({str(noted)!r}, "w").write(repr(sys.argv[1:]))\n'
    )
    editor.chmod(0o700)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", os.fspath(editor))
    opened = open_corpus(CorpusRequest(file))
    app = App(None, tmp_path / "s.sqlite")
    monkeypatch.setattr(app, "suspend", pytest.MonkeyPatch.context)
    async with app.run_test(size=(120, 30)) as pilot:
        await shown(pilot, app, CorpusScreen(tmp_path / "s.sqlite", corpus.sha256, opened))
        await press(pilot, "down", "o")
        assert noted.read_text() == repr(["+5", str(file)])
        file.unlink()
        await press(pilot, "o")
        assert "The file is gone" in " ".join(notices(app))


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ("exit 3", "xdg-open ended with 3: nothing here opens"),
        ("exit 0", "Opened:"),
        ("exec sleep 5", "Opened:"),
    ],
    ids=["cannot", "hands over", "stays"],
)
async def test_the_system_s_program_is_believed_only_where_it_opens_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, words: str
) -> None:
    file = json_file(tmp_path, FAULTY)
    program = tmp_path / "xdg-open"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o700)
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(originals, "system_command", lambda path: [str(program), str(path)])
    monkeypatch.setattr(originals, "SOON", 10.0 if does.startswith("exit") else 0.2)
    opened = open_corpus(CorpusRequest(file))
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(120, 30)) as pilot:
        await shown(pilot, app, CorpusScreen(tmp_path / "s.sqlite", opened.sha256, opened))
        await press(pilot, "o")
        await settle(pilot)
        assert words in " ".join(notices(app))
        assert ("Opened" in " ".join(notices(app))) == (words == "Opened:")


async def test_a_terminal_that_cannot_be_handed_over_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = json_file(tmp_path, FAULTY)
    monkeypatch.setenv("VISUAL", "vi")
    opened = open_corpus(CorpusRequest(file))
    file.write_text(file.read_text("utf-8") + " ", "utf-8")
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(120, 30)) as pilot:
        await shown(pilot, app, CorpusScreen(tmp_path / "s.sqlite", opened.sha256, opened))
        await press(pilot, "o")
        assert "cannot be handed to an editor" in " ".join(notices(app))
        assert "The file has changed" in " ".join(notices(app))


async def test_a_segment_is_named_in_words(tmp_path: Path) -> None:
    assert table.segment_words({None: 2, Segment.GOLD_STANDARD.value: 1_000}) == (
        "no segment 2 · gold standard 1,000"
    )


async def test_a_copy_is_told_of_once_and_says_the_truth(tmp_path: Path) -> None:
    async with at_rest(App(None, tmp_path / "s.sqlite"), (120, 40)) as (app, pilot):
        draft = RunDraft.of(
            {"file": str(json_file(tmp_path, FAULTY)), "method": "chat", "endpoint": "ollama",
             "model": "m", "segment": ("held_out",), "offline": "yes"}
        )  # fmt: skip
        app.push_screen(NewRunScreen(tmp_path / "n.sqlite", draft))
        await settle(pilot)
        assert app.screen.holds_secret  # type: ignore[attr-defined]
        await press(pilot, "ctrl+y")
        [said] = notices(app)
        assert said.startswith("Command copied")
        assert app.clipboard == draft.command()


async def test_a_corpus_without_findings_is_not_called_complete(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, [entry(1, segment="development")]))
    app = App(None, tmp_path / "s.sqlite")
    async with app.run_test(size=(100, 24)) as pilot:
        await app.push_screen(CorpusChecksScreen(corpus.warnings, Original.UNCHANGED))
        await settle(pilot)
        assert "The checks found nothing." in text(app)
        assert "Statistics say what a complete benchmark needs" in text(app)
