"""A speaker from nothing, in plain lines: a slip in the code, words left open, an answer taken back, everything taken back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from review.files.ratings import open_ratings
from review.rating import Rating
from tests.review.session.scenes import CODE, CUSTODIANS, batch_of, item_id, items_of, write_file
from tests.tui.review.line_face import state_of
from tests.walks.shell import Speaker

OPEN, SAVED = "nobody says it this way", "too stiff"


@pytest.mark.thorough
def test_from_the_card_to_the_hand_over_and_everything_taken_back(tmp_path: Path) -> None:
    stick, laptop = tmp_path / "stick", tmp_path / "laptop"
    write_file(batch_of(items_of(3)), stick)
    speaker = Speaker(laptop, stick, CODE)
    with speaker.sitting() as say:
        say()
        assert "Are they the same?" in say("")
        say("1")
        refused = say(CODE[:-1] + ("0" if CODE[-1] != "0" else "1"))
        assert "This code cannot be right" in refused
        assert "What you agree to" in say(CODE.lower())
    with speaker.sitting() as say:
        speaker.begins(say)
        assert "Saved: Excellent." in say("4")
        say("u")
        assert "Saved: Gist." in say("2")
        say(f"c {SAVED}")
        say("c")
        say(OPEN)  # the power goes here
    assert state_of(laptop).comments == {item_id(2): SAVED}
    with speaker.sitting() as say:
        seen = speaker.rates(say, say(), lambda *_: "3")
        assert "That was the last one" in seen
        words = speaker.hands_over(say)
    state = state_of(laptop)
    given = [each.rating for each in state.judgements.values()]
    assert given == [Rating.GIST, Rating.ACCEPTABLE, Rating.ACCEPTABLE]
    assert state.comments == {item_id(2): f"{SAVED}\n{OPEN}"}
    [file] = stick.glob("*.rosetta-ratings")
    assert open_ratings(file.read_bytes(), CUSTODIANS).phrase(earlier=True) == words
    with speaker.sitting() as say:
        speaker.rates(say, say(), lambda *_: "")  # nothing is left to be answered
        asked = say("w")
        assert "What do you want to take back?" in asked
        everything = max(re.findall(r"^(\d): ", asked, re.MULTILINE))
        assert "1 yes, 2 no" in say(everything)
        assert "erased on this computer" in say("1")
        speaker.hands_over(say)
    assert state_of(laptop).judgements == {}
    assert state_of(laptop).comments == {}
    kept = b"".join(path.read_bytes() for path in laptop.rglob("*") if path.is_file())
    assert not any(words.encode() in kept for words in (OPEN, SAVED))
