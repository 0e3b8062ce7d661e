"""The screens of corpora in the making: what they show of one, that no sentence stands on them, and how one gets there."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from textual.widgets import Input

from harness.core.failures import UsageError
from harness.project.authoring import changing
from harness.project.state import known_folders, read_project
from rosetta_tui.commands import rosetta
from rosetta_tui.project import list_screen, screen
from rosetta_tui.project.list_screen import NewCorpusScreen, ProjectsScreen
from rosetta_tui.project.screen import SECTIONS, AddSentencesScreen, ProjectScreen, ToldScreen, WantedSentences, checked
from rosetta_tui.project.sections import (
    ProjectReading,
    bar,
    commands_of,
    costs,
    needs,
    read_facts,
    read_known,
    sentences,
    speakers,
    worth_having,
)
from rosetta_tui.report.project import NextStep, next_step
from rosetta_tui.request.draft import Value
from rosetta_tui.request.new_corpus import arguments, command_of, look_at
from rosetta_tui.toolkit.dialogs.choose import ConfirmScreen, PathScreen
from tests.tui.commands.new_language import sentences as sources
from tests.tui.commands.new_language import table
from tests.tui.golden import SMALL, look
from tests.tui.project.made import CANARY, begun, halfway
from tests.tui.screens import App, at_rest, notices, press, press_in_turn, settle, showing, store, text
from tests.tui.vault.made import taken


async def test_project_screen_section_by_section(home: Path) -> None:
    halfway(home, Path("words"))
    made = ProjectScreen(store(home), Path("words"))
    async with showing(App(None, store(home)), made, SMALL) as (app, pilot):
        for number, name in enumerate(SECTIONS, 1):
            await press(pilot, str(number))
            look(f"project-{name.lower().replace(' ', '-')}", app)
            assert CANARY not in text(app)
        await press_in_turn(pilot, "1", "c", "down")
        look("project-what-to-do", app)


async def test_project_list_with_one_gone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_screen, "read_known", _steady)
    async with showing(App(None, store(home)), ProjectsScreen(store(home)), SMALL) as (app, pilot):
        look("projects-empty", app)
        halfway(home, Path("words"))
        begun(home, Path("songs"), "Songs of the river")
        begun(home, Path("gone"), "Letters")
        Path("gone", "project.json").unlink()
        await settle(pilot)
        look("projects", app)


def _steady(*all_: object, **more: object) -> list[ProjectReading]:
    """Read as the screen does, with folders as they are called from here."""
    here = f"{Path.cwd()}{os.sep}"
    return [
        replace(each, folder=Path(each.folder.name), trouble=each.trouble.replace(here, ""))
        for each in read_known(*all_, **more)  # type: ignore[arg-type]
    ]


@pytest.mark.thorough
async def test_project_walk_from_home_to_another_folder(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "the words"
    begun(tmp_path / "elsewhere", folder)
    async with at_rest(App(None, store(home)), (100, 30), notifications=True) as (app, pilot):
        await press(pilot, "L")
        assert "begins a new one, in an empty folder" in text(app)
        for typed, said in ((tmp_path, "holds no corpus in the making"), (folder, "1 of 7 met")):
            await press(pilot, "o")
            assert isinstance(app.screen, PathScreen)
            app.screen.query_one(Input).value = str(typed)
            await press(pilot, "enter")
            assert said in f"{text(app)}{notices(app)}"
        await press_in_turn(pilot, "c", "enter")
        assert app.clipboard == f"rosetta corpus sources '{folder}' FILE", "the next command is first"
        await press(pilot, "q")
        assert "Words of our school" in text(app)
        await press(pilot, "delete")
        assert "No corpus has been begun here yet" in text(app)
        assert (folder / "project.json").is_file()
        await press(pilot, "q")
        assert "A corpus for a new language" in text(app)


async def test_a_change_of_the_folder_is_seen_and_what_cannot_be_read_is_said(home: Path) -> None:
    begun(home, Path("words"))
    async with showing(App(None, store(home)), ProjectScreen(store(home), Path("words")), (100, 30)) as (app, pilot):
        assert "1 of 7 met" in text(app)
        Path("words", "project.json").write_text('{"format": "rosetta-corpus-project/1"}')
        await settle(pilot)
        assert f"✗ {screen.UNREADABLE}" in text(app)
        assert "field 'number'" in " ".join(text(app).split())
        await press_in_turn(pilot, "2", "c", "right")
        assert isinstance(app.screen, ProjectScreen)
        Path("words", "project.json").unlink()
        Path("words").rmdir()
        halfway(home, Path("words"))
        await settle(pilot)
        assert "3 of 8 met" in text(app)


def test_each_command_is_one_that_the_program_takes(home: Path) -> None:
    halfway(home, Path("words"))
    Path("STICK").mkdir()
    for name in ("FILE", "FILE.toml", "FILE.txt", "CORPUS"):
        Path(name).touch()
    facts = read_facts(Path("words"), home).facts
    assert facts is not None
    pages = [make(facts, Path("words")) for make in (needs, sentences, speakers, worth_having)]
    closed = commands_of(NextStep("nothing"), Path("words"), in_vault=True)
    told = [told.values() for page in (*pages, costs(facts)) for told in page.commands]
    assert all(taken(words) for words in chain(*told, closed.values()))


def test_of_what_came_back_only_the_rest_is_out(home: Path) -> None:
    """A translation that a second speaker did not agree to came back; it is asked for anew, and then looked over anew."""
    halfway(home, Path("words"))
    facts = read_facts(Path("words"), home).facts
    assert [(each.kind, each.sentences, each.out) for each in facts.reviews] == [("translate", 90, 30), ("agree", 30, 10)]  # fmt: skip
    assert dict(facts.reviews[0].people) == {"A": 40, "B": 20}
    assert (facts.corrected, facts.refused, facts.came_translated) == (5, 0, 0)
    with changing(Path("words"), home) as project:
        for each in project.state.entries:
            if not each.has_reference:
                texts = replace(project.texts(each), reference="vorto")
                project.put([project.with_texts(each, texts)])
        refused = project.state.entries[20:30]
        project.put(
            each.model_copy(update={"refused": ("words-translate-1",), "translated": None, "has_reference": False})
            for each in refused
        )  # fmt: skip
    facts = read_facts(Path("words"), home).facts
    assert [each.out for each in facts.reviews] == [0, 0]
    assert (facts.refused, facts.progress.waiting) == (10, ())
    assert not next_step(facts.progress, Path("words")).words.startswith("take in")


def test_a_bar_is_as_long_as_what_is_there() -> None:
    assert bar(0, 50) == "·" * 16
    assert bar(25, 50, 40) == "━" * 8 + "╌" * 4 + "·" * 4
    assert bar(60, 50, 90) == "━" * 16
    assert bar(0, 0) == "·" * 16


def test_folders_are_known_once_and_found_where_they_were_moved(home: Path, tmp_path: Path) -> None:
    begun(home, Path("words"))
    Path("words").rename("moved")
    assert known_folders(home) == [tmp_path / "words"]
    with changing(Path("moved"), home):
        pass
    assert known_folders(home) == [tmp_path / "moved"]
    next((home / "projects").iterdir()).write_text("{")
    assert known_folders(home) == []
    with changing(Path("moved"), home):
        pass
    assert known_folders(home) == [tmp_path / "moved"]


# Sentences in and out again, and what speakers sent back; no sentence is shown

KNOWN = dict(list(sources().items())[:8])


@pytest.fixture
def table_of_sentences(home: Path) -> None:
    Path("sentences.tsv").write_text(table(KNOWN), "utf-8")


@pytest.mark.usefixtures("table_of_sentences")
async def test_sentences_are_added_told_of_and_taken_out_again(home: Path) -> None:
    begun(home, Path("words"))
    made = ProjectScreen(store(home), Path("words"))
    async with showing(App(None, store(home)), made, SMALL) as (app, pilot):
        await press(pilot, "u")
        assert app.screen is made
        await press_in_turn(pilot, "s", "enter")
        assert "Name the file." in text(app)
        app.screen.query_one(Input).value = "sentences.tsv"
        app.screen.query_one("#difficulty", Input).value = "hard"
        await press(pilot, "enter")
        look("project-add", app)
        app.screen.query_one("#difficulty", Input).value = ""
        for file, said in (("gone.tsv", "gone.tsv"), ("words", "words")):
            app.screen.query_one(Input).value = file
            await press(pilot, "enter")
            assert isinstance(app.screen, AddSentencesScreen)
            assert said in text(app)
        assert read_project(Path("words"), home).state.entries == ()
        app.screen.query_one(Input).value = "sentences.tsv"
        app.screen.query_one("#most", Input).value = "6"
        await press(pilot, "enter")
        assert isinstance(app.screen, ToldScreen)
        look("project-added", app)
        told = text(app)
        assert "Added: 6 entries" in told
        assert "are open: erase it" in " ".join(told.replace("│", " ").split())
        assert not any(each in told for each in KNOWN)
        await press_in_turn(pilot, "enter", "2")
        assert "6 sentences collected" in text(app)
        await press(pilot, "u")
        assert isinstance(app.screen, ConfirmScreen)
        await press(pilot, "y")
        assert "Taken out again: 6 entries." in text(app)
        await press(pilot, "enter")
        assert app.screen is made
        assert "There are no sentences yet." in text(app)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("difficulty", "6", "a number from 1"), ("difficulty", "²", "a number from 1"),
        ("register", "loud", "permitted are conversational"), ("most", "0", "how many sentences"),
        ("most", "²", "how many sentences"),
    ],
)  # fmt: skip
def test_a_field_that_is_wrong_is_named(field: str, value: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        checked(WantedSentences(Path("s.tsv"), **{field: value}))


# The form of a new corpus: what it says and begins is what the command says and begins

FILLED: dict[str, Value] = {
    "source_language": "en", "target_language": "crk", "title": "Words of our school",
    "organisation": "Our school", "folder": "words", "licence": "CC-BY-NC-SA-4.0",
}  # fmt: skip


async def test_new_corpus_form_looks_as_kept(home: Path) -> None:
    wrong = FILLED | {"source_language": "english", "licence": "ask us", "folder": ".", "title": "", "labels": ("TK NC",)}  # fmt: skip
    async with at_rest(App(None, store(home)), SMALL) as (app, pilot):
        for name, typed in (("new-corpus", {}), ("new-corpus-wrong", wrong)):
            app.push_screen(NewCorpusScreen(store(home), dict(typed)))
            await settle(pilot)
            if typed:
                await press(pilot, "ctrl+s")
            look(name, app)


def called(words: list[str]) -> Result:
    return CliRunner().invoke(rosetta, words)


@pytest.mark.thorough
async def test_new_corpus_form_begins_what_the_command_begins(home: Path) -> None:
    app = App(None, store(home))
    async with showing(app, ProjectsScreen(store(home)), (100, 30)) as (_, pilot):
        await press(pilot, "n")
        await press(pilot, *"en", "enter", "ctrl+s")
        assert "5 things are not right yet" in text(app)
        assert "This is still to be filled in." in text(app)
        assert not list(Path().glob("*/project.json"))
        await press_in_turn(pilot, "escape", "n")
        assert isinstance(app.screen, NewCorpusScreen)
        assert app.screen.lines["source_language"].value == "en", "what was typed stays"
        form = app.screen
        for name, value in list(FILLED.items())[1:]:
            form.lines[name].put(value)
        await settle(pilot)
        assert form.typed == FILLED
        assert "Plains Cree" in text(app)
        assert "has to know" in text(app)
        command = command_of(form.typed)
        await press(pilot, "ctrl+y")
        assert app.clipboard == command
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, ProjectScreen)
        assert "New languages › Words of our school" in text(app)
        await press(pilot, "q")
        assert "1 corpus" in text(app)
        await press(pilot, "n")
        assert form.typed == {}
    made = json.loads(Path("words", "project.json").read_bytes())
    Path("words").rename("first")
    assert called(shlex.split(command)[1:]).exit_code == 0
    again = json.loads(Path("words", "project.json").read_bytes())
    assert made["dataset"] == again["dataset"]
    assert made["dataset"]["id"] == "words"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("source_language", "no such tongue"), ("target_language", "-x"), ("licence", "ask us"),
        ("transmission", "to friends"), ("labels", ("TK Foo",)), ("corpus_id", "Ä b"), ("folder", "home"),
        ("folder", "gold_standard"),
    ],
)  # fmt: skip
def test_wrong_field_is_said_as_by_the_command(field: str, value: Value, home: Path) -> None:
    (home / "full").touch()
    typed = FILLED | {field: value}
    found = look_at(typed)
    [(where, [words])] = found.wrong.items()
    assert where == (field if value != "gold_standard" else "corpus_id")
    done = called(arguments(typed))
    said = f"{done.output}{done.exception}"
    assert done.exit_code != 0
    assert words.partition(". ")[0] in said
    assert not (Path("words") / "project.json").exists()


def test_what_is_missing_is_no_fault_and_nothing_is_begun(home: Path) -> None:
    found = look_at({"target_language": "crk"})
    assert (found.wrong, found.notes["target_language"]) == ({}, "Plains Cree")
    assert found.missing == ["folder", "source_language", "title", "organisation", "licence"]
    assert "SPDX" in look_at(FILLED | {"licence": "CC BY NC"}).wrong["licence"][0]


def test_no_value_is_taken_for_an_option(home: Path) -> None:
    typed = FILLED | {"title": "--help", "folder": "-words", "labels": ("TK NC", "for our schools")}
    assert called(arguments(typed)).exit_code == 0
    made = json.loads(Path("-words", "project.json").read_bytes())["dataset"]
    assert (made["title"], made["labels"]) == ("--help", ["TK NC", "for our schools"])
