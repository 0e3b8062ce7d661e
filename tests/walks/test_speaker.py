"""A speaker from nothing, in plain lines: a slip in the code, words left open, an answer taken back, everything taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from review.files.ratings import open_ratings
from tests.review.session.scenes import CODE, CUSTODIANS, batch_of, item_id, items_of, write_file
from tests.tui.review.test_review_lines import state_of
from tests.walks.shell import Speaker

OPEN, SAVED = "nobody says it this way", "too stiff"


@pytest.mark.thorough
def test_from_the_card_to_the_hand_over_and_everything_taken_back(tmp_path: Path) -> None:
    stick, laptop = tmp_path / "stick", tmp_path / "laptop"
    write_file(batch_of(items_of(3)), stick)
    speaker = Speaker(laptop, stick, CODE)
    with speaker.sitting() as say:
        say()
        say("")
        say("1")
        refused = say(CODE[:-1] + ("0" if CODE[-1] != "0" else "1"))
        assert "code" in refused
        assert "What you agree to" in say(CODE.lower())
        say("1")
        say("3")
        assert "Saved: Excellent." in say("4")
        say("u")
        assert "Saved: Gist." in say("2")
        say(f"c {SAVED}")
        say("c")
        say(OPEN)  # the power goes here
    assert state_of(laptop).comments == {item_id(2): SAVED}
    with speaker.sitting() as say:
        seen = say("") if "Enter opens" in say() else ""
        seen = speaker.rates(say, seen, lambda *_: "3")
        assert "That was the last one" in seen
        words = speaker.hands_over(say)
    state = state_of(laptop)
    assert [each.rating.value for each in state.judgements.values()]
    assert state.comments == {item_id(2): f"{SAVED}\n{OPEN}"}
    [file] = stick.glob("*.rosetta-ratings")
    assert open_ratings(file.read_bytes(), CUSTODIANS).phrase == words
    with speaker.sitting() as say:
        say()
        say("")
        assert "take back" in say("w")
        print(say("3"))
        print(say("1"))
        speaker.hands_over(say)
    assert state_of(laptop).judgements == {}
    assert OPEN not in file.read_bytes().decode("latin-1")
    assert OPEN.encode() not in b"".join(p.read_bytes() for p in laptop.rglob("*") if p.is_file())
