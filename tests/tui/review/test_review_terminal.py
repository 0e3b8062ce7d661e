"""The review mode as a program of its own: the whole script by keyboard, and plain lines, cut off at any moment."""

from __future__ import annotations

import random
import re
import signal
import sys
from pathlib import Path

import pexpect
import pytest

from harness.sealed.chain import check_chain
from review.log.fold import ReviewerState, fold
from review.log.laptop import Laptop
from review.log.payloads import MOST_TEXT, Rate
from review.rating import Rating
from tests.review.session.scenes import CODE, batch_of, item_id, items_of, write_file
from tests.review.thorough import times
from tests.tui.review.line_driver import FIRST, Pipe, Typist, file, home, no_keyring, sit, state_of
from tests.tui.review.terminal import Terminal, prepare

__all__ = ["file", "home", "no_keyring"]

pytestmark = [
    pytest.mark.costly("its own program in a terminal"),
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are of Unix"),
]


def state(folder: Path) -> ReviewerState:
    with Laptop.open(folder / "home") as laptop:
        events = list(laptop.events())
    report = check_chain(events)
    assert all(chain.whole for chain in report.chains), report
    return fold(events).reviewers["ba" * 8, CODE]


ITEMS = times(8, 100)
"""Items of the script: a hundred, as a sitting has them, where there is time for them."""
LEFT, MISTAKEN = {ITEMS // 5, ITEMS * 3 // 5}, {ITEMS // 2 + 1}


def test_the_script_of_a_whole_sitting_by_keyboard_alone(tmp_path: Path) -> None:
    """Reasons, comments, a mistake, rests, a kill, two left for later, six words."""
    prepare(tmp_path, batch_of(items_of(ITEMS)), agreed=False)
    killed = ITEMS * 43 // 100
    with Terminal(tmp_path) as first:
        first.see("Which code is on your card?")
        first.press("1\r", "Before you begin")
        first.press("\r", "I took part")
        first.press("3", "Candidate 1.")
        for number in range(1, killed):
            _item(first, number)
        first.see(f"Candidate {killed}.")
        first.kill()
    with Terminal(tmp_path) as second:
        second.see("Which code is on your card?")
        second.press("1\r", f"Candidate {killed}.")
        for number in range(killed, ITEMS + 1):
            _item(second, number)
        second.see("You left 2 sentences for later.")
        second.press("\r", "Once more: 1 of 2")
        second.press("1", "Once more: 2 of 2")
        second.press("2", f"You answered {ITEMS} of {ITEMS}.")
        second.press("x", "No stick was found.")
        second.press("\r", "Saved and checked in a folder on this computer")
        second.press("\r", "Thank you!")
        second.press("q", "Everything is kept. Next time you continue here.")
        second.child.wait()
        assert second.child.exitstatus == 0
    done = state(tmp_path)
    assert len(done.judgements) == ITEMS
    assert sum(map(bool, done.reasons.values())) == times(1, 12)
    assert len(done.comments) == times(1, 8)
    assert len(list((tmp_path / "stick").glob("*.rosetta-ratings"))) == 1
    assert first.keys + second.keys <= times(30, 165)


def _item(terminal: Terminal, number: int) -> None:
    """Do with one item what the script says, and see the next."""
    last = number == ITEMS
    coming = "You have seen all sentences." if last else f"Candidate {number + 1}."
    if number in LEFT:
        terminal.press("s", coming)
        return
    if number % 12 == 5:
        terminal.press("c", "Your comment")
        terminal.write("1 too formal")
        terminal.see("1 too formal")
        terminal.press("\r", "Your comment is saved.")
    terminal.press("1234"[number % 4])
    terminal.until(lambda: coming in terminal.shown or "rest?" in terminal.shown, coming)
    if "rest?" in terminal.shown:
        terminal.press("\r", coming)
    if number in MISTAKEN:
        terminal.press("u", f"Candidate {number}.")
        terminal.press("3", coming)
    if number % 8 == 3 and number < ITEMS - 4:
        terminal.press(",", "What is wrong with it?")
        terminal.press("5", "A word has the wrong form")
        terminal.see("Acceptable")


def test_a_long_line_and_wrong_bytes_end_nothing(home: Path, file: Path) -> None:
    pipe = Pipe(home, str(file))
    for line in (*FIRST, "c " + "a" * 50_000, "3"):
        assert pipe.read()
        pipe.type(line)
    assert pipe.read()
    pipe.said += b"\n"
    assert pipe.process.stdin is not None
    pipe.process.stdin.write(b"c caf\xe9 \xff\n4\nq\n")
    pipe.process.stdin.flush()
    said = pipe.process.stdout.read().decode() if pipe.process.stdout else ""
    assert pipe.end() == 0
    assert b"too long" in pipe.said
    assert "Saved: Excellent." in said
    state = state_of(home)
    kept = "a" * MOST_TEXT  # as much as was said to be kept, saved with the answer
    assert state.comments == {item_id(1): kept, item_id(2): "caf\ufffd \ufffd"}
    assert len(state.judgements) == 2


def test_fifty_lines_at_once_rate_one_item_and_ctrl_c_keeps_all(home: Path, file: Path) -> None:
    terminal = Typist(home, str(file))
    asks = ("2 no:", "then Enter:", "then Enter:", "then Enter:")
    for ask, answer in zip(asks, FIRST, strict=True):
        terminal.expect(ask)
        terminal.type(answer)
    terminal.expect("for help:")
    terminal.child.delaybeforesend = Typist.WAIT
    terminal.child.send("1\r" * 50)
    terminal.expect("Sentence 2 of 4")
    terminal.expect("for help:")
    terminal.type("2", judging=True)
    terminal.expect("Saved: Gist.")
    for _ in range(3):  # one that comes just before Python begins to read is forgotten
        terminal.child.kill(signal.SIGINT)
        if terminal.child.expect_exact([pexpect.TIMEOUT, "Everything is kept."], timeout=10):
            break
    terminal.child.wait()
    assert terminal.child.exitstatus == 130
    ratings = [each.rating for each in state_of(home).judgements.values()]
    assert ratings == [Rating.REJECT, Rating.GIST]


def test_no_answer_and_no_word_is_lost_by_a_kill(home: Path, tmp_path: Path) -> None:
    kills, chance = times(2, 200), random.Random(5)
    file = write_file(batch_of(items_of(kills * 12)), tmp_path / "stick")
    sit(home, file, *FIRST, "1")
    acknowledged = 1
    for kill in range(kills):
        pipe = Pipe(home, str(file))
        assert pipe.read()
        pipe.type("1")  # the code that was typed before
        for _ in range(chance.randint(1, 8)):
            assert pipe.read()
            pipe.type("" if pipe.said.endswith(b"q stops: ") else "3")
        if kill == kills - 1:
            for line in ("c", "the second half is"):
                assert pipe.read()
                pipe.type(line)
            assert pipe.read()
        pipe.read(chance.uniform(0.0, 0.03))
        pipe.kill()
        shown = [int(n) for n in re.findall(rb"Sentence (\d+) of", pipe.said)]
        assert shown[0] > acknowledged
        acknowledged = shown[-1] - 1
        with Laptop.open(home) as laptop:
            events = list(laptop.events())
        assert sum(isinstance(e.payload, Rate) for e in events) - acknowledged in {0, 1}
        assert check_chain(events).whole
    _, said = sit(home, file, "1", "c", "missing", "", "q")
    assert "Your comment, not saved yet: the second half is" in said
    assert state_of(home).comments == {item_id(acknowledged + 1): "the second half is\nmissing"}
