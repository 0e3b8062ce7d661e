"""kill -9 at any instant loses at most what was in flight."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.card.checking.verify import verify_card
from harness.card.load import load_card
from harness.core.run_state import RunState
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.harness.evaluation import corpus, kept, query
from tests.harness.nursery import Nursery, nursery
from tests.harness.scripted import (
    Answer,
    Asked,
    Scripted,
    completion,
    error,
    json_answer,
    translated,
)
from tests.review.thorough import times

KILLS = times(4, 20)
SIZE = times(160, 600)


@pytest.fixture(scope="module")
def runs() -> Iterator[Nursery]:
    with nursery() as opened:
        yield opened


class Killer:
    """Answers like an endpoint, and kills the asking process at the chosen request."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.victim = 0
        self.at: int | None = None
        self.killed = 0

    def __call__(self, asked: Asked) -> Answer:
        if self.at is not None and asked.number >= self.at:
            self.at = None
            delay = self.dice.choice([0.0, self.dice.random() * 0.06])
            asyncio.get_running_loop().call_later(delay, self.kill, self.victim)
        usage = {"prompt_tokens": 20 + asked.number, "completion_tokens": 5, "cost": 0.001}
        if self.dice.random() < 0.02:
            return error(500)
        return json_answer(completion(asked.source.upper(), usage=usage), seconds=0.01)

    def aim(self, victim: int, at: int) -> None:
        """Choose the process and the request at which it is killed."""
        self.victim, self.at = victim, at

    def kill(self, victim: int) -> None:
        os.kill(victim, signal.SIGKILL)
        self.killed += 1


def stored_sources(path: Path) -> set[str]:
    """Return the sources that need not be asked for again: with a row, or with a reply that was kept."""
    rows = query(
        path,
        "SELECT t.body FROM results r JOIN entries e ON e.position = r.position"
        " JOIN texts t ON t.id = e.source",
    )
    replies = query(path, "SELECT t.body FROM replies p JOIN texts t ON t.id = p.tail")
    return {row[0] for row in [*rows, *replies]}


@pytest.mark.thorough
def test_kills_lose_and_double_nothing(runs: Nursery, endpoint: Scripted, store_path: Path) -> None:
    killer = Killer(20260301)
    endpoint.answer = killer
    asked_again: list[str] = []
    wish: tuple[object, ...] = ("begin", store_path, endpoint.url, SIZE)
    while killer.killed < KILLS:
        known = stored_sources(store_path) if store_path.exists() else set[str]()
        before = len(endpoint.asked)
        victim = runs.begin(*wish)
        killer.aim(victim, before + killer.dice.randrange(1, 2 * SIZE // KILLS - 12))
        code, said = runs.end()
        assert code in {0, -signal.SIGKILL}, said
        asked_again += [asked.source for asked in endpoint.asked[before:] if asked.source in known]
        wish = ("resume", store_path)
        if code == 0:
            break
    assert killer.killed >= KILLS or kept(store_path).card is not None
    killer.at = None
    if kept(store_path).card is None:
        known = stored_sources(store_path)
        before = len(endpoint.asked)
        runs.begin(*wish)
        assert runs.end() == (0, f"{RunState.COMPLETE}\n")
        asked_again += [asked.source for asked in endpoint.asked[before:] if asked.source in known]
    assert killer.killed >= KILLS * 3 // 4
    assert asked_again == []
    check(store_path, SIZE)
    doubled = sum(Counter(asked.source for asked in endpoint.asked).values()) - SIZE
    assert doubled <= KILLS * 40


@pytest.mark.thorough
def test_a_kill_while_the_last_rows_are_written_or_the_card_is_sealed(
    runs: Nursery, endpoint: Scripted, tmp_path: Path
) -> None:
    size = 24
    dice = random.Random(7)
    for number in range(times(2, 6)):
        path = tmp_path / str(number) / "rosetta.sqlite"
        last = len(endpoint.asked) + size - 1
        victim = runs.begin("begin", path, endpoint.url, size)

        def answer(asked: Asked, victim: int = victim, last: int = last) -> Answer:
            if asked.number == last:
                delay = dice.random() * 0.2
                asyncio.get_running_loop().call_later(delay, os.kill, victim, signal.SIGKILL)
            return json_answer(completion(asked.source.upper()), seconds=0.1)

        endpoint.answer = answer
        code, _ = runs.end()
        asked = len(endpoint.asked)
        if code:
            endpoint.answer = translated
            runs.begin("resume", path)
            _, said = runs.end()
            assert said.strip() == RunState.COMPLETE or "is complete" in said, said
        check(path, size)
        assert (
            len(endpoint.asked) - asked <= 2 * 8
        )  # under way, or answered and not yet on the disk


def check(path: Path, size: int) -> None:
    """No row is lost or doubled, the card is whole, and its totals are the sums of the rows."""
    stored = kept(path)
    assert [each.position for each in stored.results] == list(range(size))
    assert Counter(each.output for each in stored.results if not each.failed) == Counter(
        f"ENTRY NUMBER {each.position}" for each in stored.results if not each.failed
    )
    for entry, row in zip(corpus(size).entries, stored.results, strict=True):
        assert row.entry_id == entry.id
    assert query(path, "PRAGMA integrity_check") == [("ok",)]
    card = stored.card
    assert card is not None
    tokens = sum(each.total_tokens or 0 for each in stored.results)
    assert card["tokens"]["total_tokens"] == tokens
    cost = sum(each.cost_usd or 0 for each in stored.results)
    assert card["cost"]["total_cost_usd"] == pytest.approx(cost)
    with closing(open_store(path)) as connection:
        whole = load_card(connection, find_run(connection, "last").id)
        assert len(whole.as_json()["results"]) == size
        verdict = verify_card(json.dumps(whole.as_json()).encode(), connection)
    assert verdict.ok, verdict.first_difference
