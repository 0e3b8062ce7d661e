"""A run that stays under way."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.core.failures import RunState
from harness.run.running import execute_run
from tests.harness.evaluation import Heard, begun, chat_plan, corpus, kept
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer

SIZE = 200
"""More entries than any of these runs brings through."""


def slowly(asked: Asked) -> Answer:
    """Answer slowly, and later ones so slowly that no run comes to its end while a busy machine lets its test wait."""
    return json_answer(completion(asked.source.upper()), seconds=0.05 if asked.number < 60 else 1)


@contextmanager
def under_way(path: Path, endpoint: Scripted) -> Iterator[Heard]:
    """A run in a thread of its own, as in another terminal; stopped at the end of the block."""
    endpoint.answer = slowly
    heard, seen = Heard(), threading.Event()
    number, cleared = begun(path, corpus(SIZE), chat_plan(endpoint.url))
    heard.react = lambda event, control: seen.set()
    given = (path, number, cleared, heard, heard.control)
    thread = threading.Thread(target=execute_run, args=given)
    thread.start()
    try:
        assert seen.wait(600)
        while (run := kept(path).run).state is not RunState.RUNNING or run.live is None:
            time.sleep(0.01)
        yield heard
    finally:
        heard.control.stop()
        thread.join()
