"""The line face as a program: in a real terminal and through pipes, cut off at any moment."""

import random
import re
import signal
import sys
from pathlib import Path

import pexpect
import pytest

from harness.sealed.chain import check_chain
from review.files.ratings import open_ratings
from review.log.laptop import Laptop
from review.log.payloads import MOST_TEXT, Rate
from review.rating import Rating
from tests.review.session.scenes import CUSTODIANS, batch_of, item_id, items_of, write_file
from tests.review.thorough import times
from tests.tui.review.line_driver import Pipe, Terminal
from tests.tui.review.line_face import FIRST, file, home, no_keyring, sit, state_of

__all__ = ["file", "home", "no_keyring"]

pytestmark = [
    pytest.mark.costly("a program of its own, in a terminal or through pipes"),
    pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal and SIGKILL"),
]


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


def drive_script(home: Path, file: Path, count: int, cut: int, seed: int) -> tuple[int, str]:
    """Play the session script of the review page; gives typed lines and the six words."""
    marks = random.Random(seed).sample(range(2, count - 3), count // 5)
    reasons, comments = marks[: count * 12 // 100], marks[count * 12 // 100 :][: count * 8 // 100]
    undos, skips = {5, count // 2}, {count - 1}
    terminal = at_the_first_sentence(home, file)
    for number in range(1, count + 1):
        if number == cut:
            terminal.kill()
            lines, terminal = terminal.lines, Terminal(home, str(file))
            terminal.lines = lines
            terminal.expect("only press Enter.")
            terminal.type("")
            terminal.expect(f"Sentence {number} of {count}")
            terminal.expect("for help:")
        if number in comments:
            terminal.type("c it sounds strange")
            terminal.expect("for help:")
        terminal.type("s" if number in skips else str(number % 4 + 1), judging=True)
        _until_next(terminal)
        if number in reasons:
            terminal.type(f",{number % 8 + 1}")
            _until_next(terminal)
        if number in undos:
            terminal.type("u", judging=True)
            terminal.expect("for help:")
            terminal.type("4", judging=True)
            _until_next(terminal)
    terminal.type("")
    terminal.expect("for help:")
    terminal.type("3", judging=True)
    terminal.expect("stops:")
    terminal.type("x")
    terminal.expect("or q:")  # no stick: the folder that the file came from is number 1
    terminal.type("1")
    said = terminal.expect("Write them down")
    terminal.type("")
    terminal.expect("stops:")
    terminal.type("q")
    terminal.child.expect_exact("you go on here.")
    terminal.child.wait()
    assert terminal.child.exitstatus == 0
    return terminal.lines, said


def _until_next(terminal: Terminal) -> None:
    """Read to the next prompt; a rest is left by Enter."""
    ends = ["for help:", "Enter goes on. q stops:", "u takes back, q stops:"]
    if terminal.child.expect_exact(ends) == 1:
        terminal.type("")
        terminal.expect("for help:")


def test_session_script_by_keyboard_alone(home: Path, tmp_path: Path) -> None:
    count = times(9, 100)
    file = write_file(batch_of(items_of(count)), tmp_path / "stick")
    typed, said = drive_script(home, file, count, cut=count * 43 // 100, seed=3)
    assert typed <= 20 + count * 1.4
    assert "Saved and checked" in said
    assert "\x1b" not in said
    state = state_of(home)
    assert len(state.judgements) == count
    assert len(state.comments) == count * 8 // 100
    (ratings,) = (tmp_path / "stick").glob("*.rosetta-ratings")
    assert open_ratings(ratings.read_bytes(), CUSTODIANS).phrase(earlier=True) in said


def at_the_first_sentence(home: Path, file: Path) -> Terminal:
    terminal = Terminal(home, str(file))
    asks = ("2 no:", "then Enter:", "then Enter:", "2 no:", "then Enter:")
    for ask, answer in zip(asks, FIRST, strict=True):
        terminal.expect(ask)
        terminal.type(answer)
    terminal.expect("for help:")
    return terminal


def test_fifty_lines_at_once_rate_one_item_and_ctrl_c_keeps_everything(
    home: Path, file: Path
) -> None:
    terminal = at_the_first_sentence(home, file)
    terminal.child.delaybeforesend = Terminal.WAIT
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
        pipe.type("")
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
    _, said = sit(home, file, "", "c", "missing", "", "q")
    assert "Your comment, not saved yet: the second half is" in said
    assert state_of(home).comments == {item_id(acknowledged + 1): "the second half is\nmissing"}
