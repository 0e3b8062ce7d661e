"""Translating in plain lines: what is typed is the translation, and a line that begins with a slash is a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from review.rating import CannotJudge
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
    assert [each.why_not for each in state.judgements.values()] == [
        CannotJudge(list(CannotJudge)[2])
    ]
    assert state.comments == {item_id(3): "too short"}
    assert state.suggestions == {}
    assert "“e better” means nothing here" in said
    assert "“1” means nothing here" in said, "a number rates nothing"
    assert "Taken back. Your translation is here again." in said
    assert "Your translation: Bone" in said


def test_what_is_too_long_or_hostile_is_said_and_shown_harmless(home: Path, file: Path) -> None:
    _, said = sit(home, file, *FIRST, "\x1b[31mBone", "x" * 4001)
    assert "\x1b" not in said
    assert "4,001" in said or "4001" in said
    assert list(state_of(home).translations.values()) == ["\x1b[31mBone"]
