"""A boxed method in a run: asked in another order than the corpus's, told sources alone, ended with the run."""

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
from tests.harness.sealed.refusals import refuses

RUN = RunOptions(concurrency=4, most_attempts=1, timeout_seconds=20)
PLAN = Plan(method="copy-source", options=MethodOptions(**LANGUAGES), run=RUN)
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
    given, orders, ids = corpus(12), [], []
    for _ in range(2):
        heard = run_corpus(store_path, given, PLAN, method=boxed(tmp_path, TELLS_ALL))
        told = [json.loads(result.output or "") for result in heard.scored]
        told.sort(key=lambda each: each["number"])
        assert [each["number"] for each in told] == list(range(1, 13))
        texts = [text for each in told for text in each["told"]]
        assert len(texts) == 12
        assert all(text.keys() == {"id", "source"} for text in texts)
        orders.append([text["source"] for text in texts])
        ids.append({text["id"] for text in texts})
    assert orders[0] != orders[1]
    assert orders[0] != [entry.source for entry in given.entries]
    assert not ids[0] & ids[1]


@needs_engine
def test_method_failing_at_some_texts_is_scored(store_path: Path, tmp_path: Path) -> None:
    code = "def translate(texts):\n    if texts[0].endswith('3'):\n        raise ValueError(texts)\n    return texts\n"
    heard = run_corpus(store_path, corpus(6), PLAN, method=boxed(tmp_path, code))
    assert [result.position for result in heard.scored if result.failed] == [3]
    assert heard.scored[0].error_class in {None, ErrorClass.METHOD}
    assert heard.finished.done == 6
    secret = corpus(3, segment="gold_standard")  # a rehearsal is for open entries
    heard = run_corpus(store_path, secret, PLAN, method=boxed(tmp_path, code))
    assert all(result.failed for result in heard.scored)


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

    said: BoxFailure

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Sequence[Output]:
        raise self.said


class Liar(BoxFailure):
    def __str__(self) -> str:
        return "a secret sentence"


@pytest.mark.parametrize("failure", [BoxFailure, Liar])
def test_what_is_the_custodians_stops_the_run_by_our_words_alone(
    store_path: Path, tmp_path: Path, failure: type[BoxFailure]
) -> None:
    code = BoxedCode(written(tmp_path, ""), "method:translate")
    method = NeverRun(code, SMALL, Broken(), None, setup(), open_data=False)
    method.said = failure(BoxStage.ENGINE)
    if failure is Liar:
        heard = run_corpus(store_path, corpus(3, segment="gold_standard"), PLAN, method=method)
        assert {result.error for result in heard.scored} == {"The method failed (method)."}
        return
    heard = run_corpus(store_path, corpus(3), PLAN, method=method)
    assert heard.scored == []
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.reason == str(BoxFailure(BoxStage.ENGINE))


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
def test_failure_says_the_same_whatever_it_is(store_path: Path, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("field", ["memory_bytes", "processes", "disk_bytes", "entry_seconds"])
def test_limits_are_limits(field: str) -> None:
    refuses(ValueError, field, Limits.model_validate, {field: 0})


ASKS = """
from rosetta_box import ask
def translate(texts):
    return [ask("mock", [{"role": "user", "content": text}]) for text in texts]
"""


@needs_engine
def test_secret_run_asks_a_local_model(
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
def test_model_that_is_down_stops_the_run(store_path: Path, tmp_path: Path) -> None:
    """Whatever the method makes of it: it was not judged."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    models = gateway(f"http://127.0.0.1:{port}/v1", ["mock"], no_key)
    code = ASKS.replace("return [", "try:\n        return [")
    code = code.replace("texts]\n", "texts]\n    except RuntimeError:\n        return texts\n")
    method = boxed(tmp_path, code, gateway=models)
    heard = run_corpus(store_path, corpus(4), PLAN, method=method)
    assert heard.scored == []
    assert heard.finished.state is RunState.STOPPED
    assert heard.finished.reason == str(BoxFailure(BoxStage.GATEWAY))
