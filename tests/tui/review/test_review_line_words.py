"""The line face: words that are not saved yet, and a code that is never shown whole."""

from pathlib import Path

from review.log.laptop import Draft, Laptop
from tests.review.session.scenes import CODE, item_id
from tests.tui.review.line_face import (
    BATCH,
    FIRST,
    file,
    home,
    no_keyring,
    sit,
    state_of,
)

__all__ = ["file", "home", "no_keyring"]


def test_words_that_are_only_a_draft_are_named_at_the_end_and_saved_by_the_answer(
    home: Path, file: Path
) -> None:
    sit(home, file, *FIRST, "c", "too formal")  # the input ends before the words do
    assert state_of(home).comments == {}
    code, said = sit(home, file, "", "s", "1", "2", "3", "x", "t", "4", "q")
    assert code == 0
    assert "You answered 3 of 4. 1 sentence is left for later." in said
    named = "is not saved, so it is not handed over: sentence 1. Type t and Enter to look at it."
    assert said.count(named) == 2  # when all were seen, and at the hand-over
    assert "Your comment, not saved yet: too formal" in said.partition("What you wrote here")[2]
    assert "Saved: Excellent. Your comment is saved." in said
    assert state_of(home).comments == {item_id(1): "too formal"}


def test_words_about_an_answered_sentence_lead_back_when_they_are_saved(
    home: Path, file: Path
) -> None:
    sit(home, file, *FIRST, "1", "2", "3", "4")
    with Laptop.open(home) as laptop:
        laptop.save_drafts(BATCH, CODE, [Draft(item_id(2), "comment", "old")])
    _, said = sit(home, file, "", "t", "c", "", "q")
    assert said.count("That was the last one. Thank you!") == 2
    assert "Your comment is saved." in said
    assert state_of(home).comments == {item_id(2): "old"}


def test_a_code_that_was_typed_before_is_never_shown_whole(home: Path, file: Path) -> None:
    sit(home, file, *FIRST, "1")
    _, said = sit(home, file, "", "2", "q")
    assert f"If your code begins with {CODE[:2]}, only press Enter." in said
    assert CODE[:3] not in said.replace("-", "")
    assert len(state_of(home).judgements) == 2
