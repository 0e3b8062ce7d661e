"""Translating in plain lines: what is typed is the translation, and a line that begins with a slash is a key."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from review.log.laptop import Laptop
from review.rating import CannotJudge
from review.session.course import REST_ITEMS
from rosetta_tui.review.rating.lines import face
from rosetta_tui.review.rating.lines.pages import Console
from rosetta_tui.review.rating.sitting import TerminalOpening
from tests.review.session.scenes import CODE, batch_of, item_id, sentences_of, write_file
from tests.tui.review.line_face import home, no_keyring, sit, state_of

__all__ = ["home", "no_keyring"]

FIRST = ["1", CODE, "1", "1"]
"""Trust the organisation, type the code, agree, let the translations be used; nobody asks about a method."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_file(batch_of(sentences_of(4), task="translate"), tmp_path / "stick")


def test_what_is_typed_is_saved_and_the_next_one_read(home: Path, file: Path) -> None:
    code, said = sit(home, file, *FIRST, "Bonan tagon", "  c ", "", "q")
    assert code == 0
    assert "May your translations be used?" in said
    assert "How to translate" in said
    assert said.index("Your translation is saved.") < said.index("Sentence 2 of 4")
    assert "Translation:" not in said.replace("Your translation:", ""), "there is none to read out"
    state = state_of(home)
    assert state.translations == {item_id(1): "Bonan tagon", item_id(2): "c", item_id(3): "q"}
    assert said.count("Sentence 3 of 4") == 2, "Enter alone reads it again"
    assert state.share_corrections


def test_a_slash_makes_a_line_a_key(home: Path, file: Path) -> None:
    code, said = sit(
        home, file, *FIRST, "?", "/ s", "/03", "/c too short", "/e better", "/1", "Bone", "/u", "/", "/q", "no more"
    )  # fmt: skip
    assert code == 0
    assert "What you type is your translation" in said
    assert "Reject" not in said
    assert "I cannot translate this one" in said
    state = state_of(home)
    assert state.translations == {}
    assert [each.why_not for each in state.judgements.values()] == [list(CannotJudge)[2]]
    assert state.comments == {item_id(3): "too short"}
    assert state.suggestions == {}
    assert "“/e better” means nothing here" in said, "as it was typed"
    assert "“/1” means nothing here" in said, "a number rates nothing"
    assert "Taken back. Your translation is here again." in said
    assert "Your translation: Bone" in said


def test_what_is_too_long_or_hostile_is_said_and_shown_harmless(home: Path, file: Path) -> None:
    _, said = sit(home, file, *FIRST, "\x1b[31mBone", "x" * 4001, "b", "c", "d", "x", "1", "")
    assert "No stick was found" not in said, "the folder that the sentences came from is one"
    assert "The file: " in said
    assert "\x1b" not in said
    assert "4,001" in said or "4001" in said
    assert next(iter(state_of(home).translations.values())) == "\x1b[31mBone"


MANY = REST_ITEMS + 3


@pytest.fixture
def many(tmp_path: Path) -> Path:
    return write_file(batch_of(sentences_of(MANY), task="translate"), tmp_path / "stick")


def test_each_line_of_a_pipe_is_the_translation_of_its_own_sentence(home: Path, many: Path) -> None:
    """A rest is offered on the way, and takes no line for itself."""
    lines = [f"Frazo {n}" for n in range(1, MANY + 1)]
    _, said = sit(home, many, *FIRST, *lines)
    assert "Time for a rest?" in said
    assert state_of(home).translations == {item_id(n): f"Frazo {n}" for n in range(1, MANY + 1)}


class Typing(Console):
    """A terminal at which somebody types, mostly ahead: what was typed is there before it is asked for."""

    def __init__(self, *lines: str, ahead: bool) -> None:
        self.lines, self.printed = list(lines), io.StringIO()
        super().__init__(io.StringIO("".join(f"{line}\n" for line in lines)), self.printed)
        self.typed, self._ahead = True, ahead

    def typed_ahead(self) -> bool:
        return self._ahead

    def forget_what_was_typed(self) -> None:
        raise AssertionError("words of a translation were dropped")


def typed(home: Path, file: Path, *lines: str, guard: float = 0.0, ahead: bool = True) -> str:
    console = Typing(*lines, ahead=ahead)
    with Laptop.open(home) as laptop, pytest.MonkeyPatch.context() as patch:
        patch.setattr(face, "GUARD_SECONDS", guard)
        face.run_lines(TerminalOpening(laptop, places=[file]), console)
    return console.printed.getvalue()


def test_words_typed_at_a_rest_are_kept_for_the_next_sentence(home: Path, many: Path) -> None:
    lines = [f"Frazo {n}" for n in range(1, REST_ITEMS + 1)]
    said = typed(home, many, *FIRST, *lines, "Post la ripozo", "", "/q")
    assert "means nothing here" not in said
    assert f"Sentence {REST_ITEMS + 1} of {MANY}" in said
    assert said.count("Your translation: Post la ripozo") == 2
    assert item_id(REST_ITEMS + 1) not in state_of(home).translations
    said = typed(home, many, "1", CODE, "/q")
    assert "Post la ripozo" in said, "it is there after the program was left, too"


def test_lines_typed_before_their_sentence_is_read_are_kept(home: Path, file: Path) -> None:
    """A text of several lines is pasted: none of them is taken for a translation, and none is lost."""
    said = typed(home, file, *FIRST, "Unu", "Du", "Tri", "/q", guard=3600.0)
    assert state_of(home).translations == {}
    assert "Your translation: Unu\n    Du\n    Tri" in said


def test_line_typed_again_is_not_joined_with_the_one_too_soon(home: Path, file: Path) -> None:
    said = typed(home, file, *FIRST, "Unu", "Unu, denove", "/q", guard=3600.0, ahead=False)
    assert "Your translation: Unu, denove\n" in said
    assert "\n    Unu" not in said
    said = typed(home, file, "1", CODE, "Bone", "/q", ahead=False)
    assert "Your translation: Unu, denove\n" in said
    assert state_of(home).translations == {item_id(1): "Bone"}


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of its own is for Unix")
def test_a_terminal_tells_what_was_typed_ahead() -> None:
    master, slave = os.openpty()
    with (
        os.fdopen(master, "wb", buffering=0) as person,
        os.fdopen(slave, encoding="utf-8") as reads,
    ):
        console = Console(reads, io.StringIO())
        assert not console.typed_ahead()
        person.write(b"Unu\nDu\n")
        assert console.ask("?") == "Unu"
        assert console.typed_ahead()
        assert console.ask("?") == "Du"
        assert not console.typed_ahead()
