"""What a run does with its outputs before the seal is seen in a second terminal too."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from harness.events.control import Control
from harness.events.following import Follower
from harness.events.kinds import Event, Progress
from tests.harness.annotators.judged import answering, judged_plan, know_packs, says, shown_again
from tests.harness.evaluation import Heard, corpus, run_corpus
from tests.harness.scripted import Scripted


@pytest.fixture(autouse=True)
def _packs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    know_packs(monkeypatch)
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))


def test_a_second_terminal_hears_at_once_what_is_done_now(
    endpoint: Scripted, store_path: Path
) -> None:
    """Long before the next heartbeat, as nothing may be told for long after it; a sealed run does nothing."""
    endpoint.answer = answering(lambda _: says(0.5))
    elsewhere: dict[str, str | None] = {}

    def react(event: Event, _: Control) -> None:
        if isinstance(event, Progress) and event.doing in {
            "asking judge_semantic",
            "scoring the whole",
        }:
            with closing(Follower(store_path, event.run_id)) as follower:
                [told] = [each for each in follower.drain() if isinstance(each, Progress)]
            elsewhere[event.doing] = told.doing

    run_corpus(store_path, corpus(3), judged_plan(endpoint.url), Heard(react=react))
    assert elsewhere == {name: name for name in ("asking judge_semantic", "scoring the whole")}
    assert shown_again(store_path).doing is None
