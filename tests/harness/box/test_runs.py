"""A boxed method in a run: asked in another order than the corpus's, told sources alone, ended with the run."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from corpora.model.entry import Entry
from harness.box.boxed import BoxedMethod, boxed_method
from harness.box.code import BoxedCode
from harness.box.engine import Inside, Launch
from harness.box.engines import find_engine
from harness.box.failures import BoxFailure, BoxStage
from harness.box.gateway import gateway
from harness.box.limits import Limits
from harness.core.calls import Calls
from harness.core.failures import ErrorClass
from harness.core.run_state import RunState
from harness.endpoint.keys import no_key
from harness.method.method import Output
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from tests.harness.box.making import SMALL, boxed, needs_engine, setup, written
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus
from tests.harness.scripted import Scripted

PLAN = Plan(
    method="copy-source",
    options=MethodOptions(**LANGUAGES),
    run=RunOptions(concurrency=4, most_attempts=1, timeout_seconds=20),
)
TELLS_ALL = """
import json, sys
seen = []
def translate(texts):
    main = sys.modules["__main__"]
    frame = sys._getframe(1)
    seen.append([each["source"] for each in frame.f_locals["batch"]])
    return [json.dumps({"told": frame.f_locals["batch"], "number": len(seen)})]
"""


@needs_engine
def test_it_gets_sources_alone_and_in_another_order(store_path: Path, tmp_path: Path) -> None:
    given = corpus(30)
    texts = [
        run_corpus(store_path, given, PLAN, method=boxed(tmp_path, TELLS_ALL)) for _ in range(2)
    ]
    told = [[json.loads(result.output or "") for result in heard.scored] for heard in texts]
    for run in told:
        assert all(
            len(each["told"]) == 1 and each["told"][0].keys() == {"id", "source"} for each in run
        )
        assert sorted(each["number"] for each in run) == list(range(1, 31))
    orders = [
        [each["told"][0]["source"] for each in sorted(run, key=lambda each: each["number"])]
        for run in told
    ]
    assert orders[0] != orders[1]
    assert orders[0] != [entry.source for entry in given.entries]
    ids = [{each["told"][0]["id"] for each in run} for run in told]
    assert not ids[0] & ids[1]


@needs_engine
def test_a_method_that_fails_at_some_texts(store_path: Path, tmp_path: Path) -> None:
    code = "def translate(texts):\n    if texts[0].endswith('3'):\n        raise ValueError(texts)\n    return texts\n"
    heard = run_corpus(store_path, corpus(12), PLAN, method=boxed(tmp_path, code))
    assert [result.position for result in heard.scored if result.failed] == [3]
    assert heard.scored[0].error_class in {None, ErrorClass.METHOD}
    assert heard.finished.done == 12


class Broken:
    """An engine that is there and makes no box."""

    name = "broken"
    holds_secrets = True

    def lacking(self) -> None:
        return None

    def launch(self, inside: Inside, limits: Limits) -> AbstractContextManager[Launch]:
        raise NotImplementedError


class NeverRun(BoxedMethod):
    """A box that the computer cannot make."""

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Sequence[Output]:
        raise BoxFailure(BoxStage.ENGINE)


def test_what_is_the_custodians_stops_the_run_and_counts_nothing(
    store_path: Path, tmp_path: Path
) -> None:
    code = BoxedCode(written(tmp_path, ""), "method:translate")
    method = NeverRun(code, SMALL, Broken(), None, setup(), open_data=False)
    heard = run_corpus(store_path, corpus(12), PLAN, method=method)
    assert heard.scored == []
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.reason == str(BoxFailure(BoxStage.ENGINE))


def test_no_words_of_a_method_say_that_the_custodian_failed(
    store_path: Path, tmp_path: Path
) -> None:
    class Liar(BoxFailure):
        def __str__(self) -> str:
            return "a secret sentence"

    class Lying(NeverRun):
        async def translate(self, entries: Sequence[Entry], calls: Calls) -> Sequence[Output]:
            raise Liar(BoxStage.ENGINE)

    code = BoxedCode(written(tmp_path, ""), "method:translate")
    method = Lying(code, SMALL, Broken(), None, setup(), open_data=False)
    heard = run_corpus(store_path, corpus(3, segment="gold_standard"), PLAN, method=method)
    assert {result.error for result in heard.scored} == {"The method failed (method)."}


@needs_engine
def test_a_note_for_the_next_run_is_not_found(store_path: Path, tmp_path: Path) -> None:
    code = """
import os
PLACES = ["/tmp/note", "/dev/shm/note", "/tmp/site/note", "/box/code/note", "/box/run/note", "/note", "/dev/note"]
found = [place for place in PLACES if os.path.exists(place)]
for place in PLACES:
    try:
        open(place, "w").write("a note")
    except OSError:
        pass
def translate(texts):
    return ["found " + " ".join(found) for _ in texts]
"""
    for _ in range(2):
        heard = run_corpus(store_path, corpus(1), PLAN, method=boxed(tmp_path, code))
        assert [result.output for result in heard.scored] == ["found "]


@needs_engine
def test_a_failure_says_the_same_whatever_the_method_would_say_by_it(
    store_path: Path, tmp_path: Path
) -> None:
    """Exit codes, signals, words, sizes, and how long it took: none is told."""
    code = """
import os, sys, time
def translate(texts):
    number = int(texts[0].split()[-1])
    if number % 4 == 0:
        os._exit(number + 1)
    if number % 4 == 1:
        sys.stderr.write(texts[0] * 1000)
        raise ValueError(texts[0])
    if number % 4 == 2:
        os.kill(os.getpid(), 1 + number)
    time.sleep(number / 100)
    sys.exit(texts[0])
"""
    limits = SMALL.model_copy(update={"restarts": 100})
    code_folder = BoxedCode(written(tmp_path / "code", code), "method:translate")
    method = boxed_method(code_folder, limits, find_engine(), None, setup())
    heard = run_corpus(store_path, corpus(8), PLAN, method=method)
    assert {(result.error_class, result.error) for result in heard.scored} == {
        (ErrorClass.METHOD, "The method failed at a text: it ended.")
    }
    assert method.words == ""


@needs_engine
def test_a_rehearsal_is_for_open_entries(store_path: Path, tmp_path: Path) -> None:
    code = "def translate(texts):\n    return texts\n"
    heard = run_corpus(
        store_path, corpus(3, segment="gold_standard"), PLAN, method=boxed(tmp_path, code)
    )
    assert all(result.failed for result in heard.scored)


@pytest.mark.parametrize("field", ["memory_bytes", "processes", "disk_bytes", "entry_seconds"])
def test_limits_are_limits(field: str) -> None:
    with pytest.raises(ValueError, match=field):
        Limits.model_validate({field: 0})


ASKS = """
from rosetta_box import ask
def translate(texts):
    return [ask("mock", [{"role": "user", "content": text}]) for text in texts]
"""


@needs_engine
def test_a_secret_run_asks_a_model_of_this_computer(
    store_path: Path, tmp_path: Path, endpoint: Scripted
) -> None:
    """Also with the door to other machines shut; each call stands with the entry for which it was made."""
    models = gateway(endpoint.url, ["mock"], no_key)
    code = BoxedCode(written(tmp_path / "code", ASKS), "method:translate")
    method = boxed_method(code, SMALL, find_engine(), models, setup())
    heard = run_corpus(store_path, corpus(4, segment="gold_standard"), PLAN, method=method)
    assert [result.error for result in heard.scored] == [None] * 4
    assert len(endpoint.asked) == 4
    assert {result.total_tokens for result in heard.scored} == {30}
    assert {result.attempts for result in heard.scored} == {1}


@needs_engine
def test_a_model_that_is_down_stops_the_run(
    store_path: Path, tmp_path: Path, unused_port: int
) -> None:
    """Whatever the method makes of it: it was not judged."""
    models = gateway(f"http://127.0.0.1:{unused_port}/v1", ["mock"], no_key)
    code = ASKS.replace("return [", "try:\n        return [").replace(
        "texts]\n", "texts]\n    except RuntimeError:\n        return texts\n"
    )
    method = boxed(tmp_path, code, gateway=models)
    heard = run_corpus(store_path, corpus(4), PLAN, method=method)
    assert heard.scored == []
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.reason == str(BoxFailure(BoxStage.GATEWAY))


@pytest.fixture
def unused_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
