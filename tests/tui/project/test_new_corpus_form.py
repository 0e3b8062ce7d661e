"""The form of a new corpus: what it says is what the command says, and what it begins is what the command begins."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rosetta_tui.commands import rosetta
from rosetta_tui.project.list_screen import ProjectsScreen
from rosetta_tui.project.new_corpus_form import NewCorpusScreen
from rosetta_tui.project.screen import ProjectScreen
from rosetta_tui.request.draft import Value
from rosetta_tui.request.new_corpus import arguments, command_of, look_at
from tests.tui.golden import SMALL, look
from tests.tui.screens import App, at_rest, press, press_in_turn, settle, showing, store, text

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


@pytest.mark.costly("fills the whole form by keys")
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
        ("source_language", "english"), ("target_language", "-x"), ("licence", "ask us"),
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
