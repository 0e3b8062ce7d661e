"""What processes tell each other of an endpoint's 429s."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from harness.endpoint.limiter import Limiter
from harness.endpoint.notice import LONGEST, PauseNotice

URL = "https://llm.example.org/v1"


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def two(folder: Path) -> tuple[PauseNotice, PauseNotice, Clock]:
    clock = Clock()
    return PauseNotice(folder, URL, clock), PauseNotice(folder, URL, clock), clock


def test_nothing_is_written_before_the_first_429(tmp_path: Path) -> None:
    mine, theirs, _ = two(tmp_path / "locks")
    assert (mine.seconds(), theirs.news()) == (0.0, False)
    assert not (tmp_path / "locks").exists()


def test_a_pause_holds_for_the_others_until_its_end(tmp_path: Path) -> None:
    mine, theirs, clock = two(tmp_path)
    mine.tell(5.0)
    assert theirs.seconds() == pytest.approx(5.0)
    clock.now += 4.0
    assert theirs.seconds() == pytest.approx(1.0)
    clock.now += 1.0
    assert (theirs.seconds(), mine.seconds()) == (0.0, 0.0)


def test_a_429_is_news_to_the_others_once_and_not_to_who_was_answered(tmp_path: Path) -> None:
    mine, theirs, _ = two(tmp_path)
    mine.tell(None)
    assert (mine.news(), theirs.news(), theirs.news()) == (False, True, False)
    assert theirs.seconds() == 0.0, "the endpoint asked for no pause"


def test_a_shorter_pause_does_not_end_a_longer_one(tmp_path: Path) -> None:
    mine, theirs, _ = two(tmp_path)
    mine.tell(9.0)
    theirs.tell(2.0)
    assert mine.seconds() == pytest.approx(9.0)


def test_other_endpoints_are_asked_meanwhile(tmp_path: Path) -> None:
    mine, _, clock = two(tmp_path)
    mine.tell(9.0)
    assert PauseNotice(tmp_path, "https://other.example.org/v1", clock).seconds() == 0.0


def test_a_time_that_nobody_could_have_told_holds_nobody_up(tmp_path: Path) -> None:
    mine, theirs, clock = two(tmp_path)
    mine.tell(10 * LONGEST)
    assert theirs.seconds() == pytest.approx(LONGEST)
    (file,) = tmp_path.iterdir()
    os.utime(file, (clock.now + 2 * LONGEST, clock.now + 2 * LONGEST))
    assert theirs.seconds() == 0.0


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_telling(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    mine, theirs, _ = two(tmp_path / "file")
    mine.tell(5.0)
    assert (mine.seconds(), theirs.news()) == (0.0, False)


def test_a_limiter_cuts_its_pace_for_the_429_of_another(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, int]:
        mine, theirs, clock = two(tmp_path)
        here, there = Limiter(10, notice=mine), Limiter(10, notice=theirs)
        slot, other = await here.acquire(), await there.acquire()
        here.begins(slot)
        here.rate_limited(slot)
        there.begins(other)
        clock.now += 1.0
        there.rate_limited(other)  # of a call that began after it heard of the cut: news again
        here.begins(slot)
        return here.limit, there.limit

    assert asyncio.run(scenario()) == (6, 6)
