"""A run that is opened again says of itself what it said while it went on."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from harness.events.following import Follower
from harness.events.kinds import Event, Progress
from harness.store.file.database import opened
from harness.store.runs import find_run, read_card
from rosetta_tui.replay.timeline import Playback
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.session.recorded import recorded, seal
from rosetta_tui.session.starting import retry
from tests.harness.evaluation import chat_plan, corpus, resume, run_corpus
from tests.harness.scripted import Answer, Asked, completion, error, json_answer, serving


def reopened(path: Path) -> Progress:
    """Return the figures of the newest run, opened anew."""
    with opened(path) as store:
        run, live = find_run(store, "last"), LiveRun()
        live.fold(recorded(store, run.run_id))
        seal(live, read_card(store, run.id) or {})
    assert live.progress is not None
    return live.progress


def replayed(path: Path) -> Progress:
    """Return the figures of the newest run, played to its end."""
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


def followed(path: Path) -> Progress:
    """Return the figures of the newest run, looked at from the outside."""
    with closing(Follower(path, "last")) as follower:
        [*_, end] = [each for each in follower.drain() if isinstance(each, Progress)]
    return end


def test_only_its_own_tries_are_a_runs_and_all_who_look_count_the_same(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with serving() as endpoint:
        hasty = {"entry number 1", "entry number 3"}

        def answer(asked: Asked) -> Answer:
            if "entry number 2" in asked.source:
                return error(400)
            if found := {each for each in hasty if each in asked.source}:
                hasty.difference_update(found)
                return error(429, headers={"retry-after": "0"})
            return json_answer(completion(asked.source))

        endpoint.answer = answer
        plan = chat_plan(endpoint.url, run={"concurrency": 1, "most_attempts": 2})
        heard = run_corpus(path, corpus(6), plan)
        assert (heard.progress[-1].retries, heard.progress[-1].rate_limited) == (2, 2)
        assert _counts(path) == {(2, 2)}
        with opened(path) as store:
            store.execute("UPDATE runs SET run_card = NULL, state = 'stopped', live = NULL")
        assert _counts(path, complete=False) == {(2, 2)}
        with opened(path) as store:
            whole = store.execute("SELECT run, position, trace FROM results").fetchall()
            store.execute("UPDATE results SET trace = x'c1' WHERE position = 1")
        assert (followed(path).retries, followed(path).rate_limited) == (2, 1), "one is damaged"
        with opened(path) as store:
            store.executemany(
                "UPDATE results SET trace = ?3 WHERE run = ?1 AND position = ?2", whole
            )
        resume(path)
        engine = retry(path, heard.finished.run_id, {})
        engine.start()
        engine.result()
    assert _counts(path) == {(0, 0)}, "the tries of the kept entries are the first run's"


def _counts(path: Path, *, complete: bool = True) -> set[tuple[int, int]]:
    """Return the retries and the 429 replies that those who look at the newest run count."""
    looks = (reopened, replayed, followed) if complete else (replayed, followed)
    return {(each.retries, each.rate_limited) for each in (look(path) for look in looks)}
