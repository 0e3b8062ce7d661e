"""The review mode in a real terminal: the whole script by keyboard, kills at any moment, bursts of keys."""

from __future__ import annotations

import random
import re
import sys
import time
from pathlib import Path

import pytest

from harness.sealed.chain import check_chain
from review.log.fold import ReviewerState, fold
from review.log.laptop import Laptop
from review.rating import Rating
from tests.review.session.scenes import CODE, batch_of, items_of
from tests.review.thorough import times
from tests.tui.review.terminal import Terminal, prepare

pytestmark = [
    pytest.mark.costly("a program of its own in a terminal"),
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
        first.press("\r", "Before you begin")
        first.press("\r", "May the better translations")
        first.press("2", "I took part in making it")
        first.press("3", "Candidate 1.")
        for number in range(1, killed):
            _item(first, number)
        first.see(f"Candidate {killed}.")
        first.kill()
    with Terminal(tmp_path) as second:
        second.see("Which code is on your card?")
        second.press("\r", f"Candidate {killed}.")
        for number in range(killed, ITEMS + 1):
            _item(second, number)
        second.see("You left 2 sentences for later.")
        second.press("\r", "Once more: 1 of 2")
        second.press("1", "Once more: 2 of 2")
        second.press("2", f"You answered {ITEMS} of {ITEMS}.")
        second.press("x", "No stick was found.")
        second.press("\r", "Saved and checked in a folder on this computer")
        second.press("\r", "Thank you!")
        second.press("q", "Everything is kept. Next time you go on here.")
        second.child.wait()
        assert second.child.exitstatus == 0
    done = state(tmp_path)
    assert len(done.judgements) == ITEMS
    assert sum(map(bool, done.reasons.values())) == times(1, 12)
    assert len(done.comments) == times(1, 8)
    assert len(list((tmp_path / "stick").glob("*.rosetta-ratings"))) == 1
    assert first.keys + second.keys <= times(30, 160)


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


@pytest.mark.thorough
def test_a_kill_while_rating_loses_nothing_whose_successor_was_painted(tmp_path: Path) -> None:
    kills, painted_in_all = times(4, 200), 0
    draw = random.Random(7)
    folder = tmp_path
    for kill in range(kills):
        if kill % 50 == 0:
            folder = tmp_path / str(kill)
            prepare(folder, batch_of(items_of(4000)))
        painted_in_all += _killed_while_rating(folder, draw.uniform(0.0, 0.5))


def _killed_while_rating(folder: Path, seconds: float) -> int:
    before = len(state(folder).judgements)
    with Terminal(folder) as terminal:
        terminal.see("Which code is on your card?")
        terminal.press("\r")
        terminal.until(
            lambda: _highest(terminal) == before + 1 or "rest?" in terminal.shown, "item"
        )
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            terminal.write("\r" if "rest?" in terminal.shown else "3")
            terminal.look(0.02)
        terminal.write("3")
        terminal.kill()
        painted = _highest(terminal)
    rated = state(folder).judgements
    assert len(rated) >= painted - 1
    assert {each.rating for each in rated.values()} <= {Rating.ACCEPTABLE}
    return painted - 1 - before


def _highest(terminal: Terminal) -> int:
    """Return the number of the last item that was drawn."""
    return max(map(int, re.findall(rb"Candidate (\d+)\.", bytes(terminal.sent))), default=0)
