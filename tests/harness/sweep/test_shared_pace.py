"""Two worker processes at one endpoint that answers 429: what one is told holds for both."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from harness.sweep.processes import WorkerProcesses
from tests.harness.scripted import Answer, Asked, error, serving, translated
from tests.harness.sweep.sweeping import begun, record

ALLOWED = 8
PAUSE = 1.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))


def test_a_pause_that_one_process_is_asked_for_holds_for_the_other(tmp_path: Path) -> None:
    refused: list[Asked] = []

    def limited(asked: Asked) -> Answer:
        over = len(server.asked) > ALLOWED
        if over and (not refused or asked.at < refused[0].at + PAUSE):
            refused.append(asked)
            return error(429, headers={"retry-after": str(PAUSE)})
        return translated(asked, seconds=0.05)

    with serving(limited) as server:
        store, sweep = begun(tmp_path, server.url, size=30)
        with closing(WorkerProcesses(store, sweep.number, 2)) as workers:
            workers.start()
            while not workers.wait(600):
                pass
    found = record(store)
    assert found.state == "complete"
    assert {each.failed for each in found.cells} == {0}
    assert 0 < len(refused) <= 4, "the calls that were under way, and no more"
