"""A run that is opened again says of itself what it said while it went on."""

from __future__ import annotations

from pathlib import Path

from harness.events import Event, Progress
from harness.store.database import opened
from harness.store.runs import find_run, read_card
from rosetta_tui.live import LiveRun
from rosetta_tui.recorded import recorded, seal
from rosetta_tui.replaying import Playback
from rosetta_tui.resuming import retry
from tests.harness.evaluation import chat_plan, corpus, run_corpus
from tests.harness.scripted import Answer, Asked, completion, error, json_answer, serving


def reopened(path: Path) -> Progress:
    """Give the figures of the newest run, opened anew."""
    with opened(path) as store:
        run, live = find_run(store, "last"), LiveRun()
        live.fold(recorded(store, run.run_id))
        seal(live, read_card(store, run.id) or {})
    assert live.progress is not None
    return live.progress


def replayed(path: Path) -> Progress:
    """Give the figures of the newest run, played to its end."""
    with opened(path) as store:
        playback = Playback(store, find_run(store, "last").run_id)
        [*_, end] = [e for e in playback.move_to(playback.duration) if isinstance(e, Progress)]
    return end


def test_tokens_tries_and_calls_at_once_are_those_that_were_counted_live(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with serving() as endpoint:
        broken = {"entry number 2", "entry number 5"}
        again = {"entry number 5"}

        def answer(asked: Asked) -> Answer:
            if any(each in asked.source for each in broken):
                return error(400)
            if any(each in asked.source for each in again):
                again.clear()
                return error(429, headers={"retry-after": "0"})
            return json_answer(completion(asked.source))

        endpoint.answer = answer
        heard = run_corpus(
            path, corpus(10), chat_plan(endpoint.url, run={"concurrency": 3, "most_attempts": 2})
        )
        live = heard.progress[-1]
        assert live.tokens_untold == 2
        for end in (reopened(path), replayed(path)):
            assert (end.tokens, end.tokens_untold) == (live.tokens, 2)
            assert end.retries == 0
        assert replayed(path).most_concurrency == live.most_concurrency == 3
        broken.clear()
        engine = retry(path, heard.finished.run_id, {})
        engine.start()
        engine.result()
    events: list[Event] = engine.events.drain()
    retries = [each.retries for each in events if isinstance(each, Progress)][-1]
    assert (retries, reopened(path).retries, replayed(path).retries) == (1, 1, 1)
