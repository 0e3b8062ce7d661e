"""The line face as a program: in a real terminal and through pipes, cut off at any moment."""

import random
import re
import signal
import sys
from pathlib import Path

import pexpect
import pytest

from harness.sealed.chain import check_chain
from review.log.laptop import Laptop
from review.log.payloads import MOST_TEXT, Rate
from review.rating import Rating
from tests.review.session.scenes import batch_of, item_id, items_of, write_file
from tests.review.thorough import times
from tests.tui.review.line_driver import (
    FIRST,
    Pipe,
    Terminal,
    file,
    home,
    no_keyring,
    sit,
    state_of,
)

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
