"""Methods of others may do anything; the run goes on and says what happened."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from corpora.model.entry import Entry
from harness.box.engine import BoxStage, Inside, Launch, Limits, WhoseFault
from harness.box.engines import OwnProcess
from harness.core.calls import Calls, Price, Reply, Request, Usage
from harness.core.failures import BudgetReached, CallError, ErrorClass, HarnessError, Refused, RunState, UsageError
from harness.core.storage import folder_sha256
from harness.method.method import Method, MethodClass, Output, Recorded, Result, Setup
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.shipped_methods.local_model import LocalModel, limits_for
from harness.shipped_methods.registry import build
from tests.harness.box.making import descendants, new_since, require_ended
from tests.harness.evaluation import LANGUAGES, Heard, corpus, kept, query, run_corpus
from tests.harness.scripted import Scripted, error, json_answer
from tests.harness.sealed.refusals import refuses
from tests.harness.shipped_methods.tiny_model import SAYS, tiny_model

Act = Callable[[], Any]


def fine(**more: Any) -> list[Output]:
    return [Output("fine", **more)]


class Foreign:
    """A method whose answers to some entries are up to the test; the others are translated well."""

    endpoint = None

    def __init__(self, acts: Act | dict[int, Act], batch_size: int = 1) -> None:
        self.acts = acts if isinstance(acts, dict) else {1: acts}
        self.seen: list[Entry] = []
        self.setup = Setup(
            method="foreign", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
            method_sha256="0" * 64, model_slug="foreign", condition="test", batch_size=batch_size,
        )  # fmt: skip

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Any:
        self.seen += entries
        for entry in entries:
            if entry.id in self.acts:
                return self.acts[int(entry.id)]()
        return [Output(entry.source.upper()) for entry in entries]


def run_foreign(path: Path, act: Act | dict[int, Act], size: int = 3, **more: Any) -> Heard:
    plan = Plan(method="foreign", options=MethodOptions(**LANGUAGES), run=RunOptions(concurrency=2))
    batch_size = more.pop("batch_size", 1)
    return run_corpus(path, corpus(size, **more), plan, method=Foreign(act, batch_size))


def rows_of(path: Path, acts: Sequence[Act]) -> list[Result]:
    """Return what one run keeps of such answers; each is asked between two that are translated."""
    heard = run_foreign(path, {2 * n + 1: act for n, act in enumerate(acts)}, 2 * len(acts) + 1)
    assert heard.finished.state is RunState.COMPLETE
    rows = kept(path).results
    assert {each.error_class for each in rows[::2]} == {None}
    return list(rows[1::2])


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even a message")


class UnspeakableCallError(CallError):
    def __str__(self) -> str:
        raise RuntimeError("not even a message")


def throw(error: BaseException) -> Callable[[], Any]:
    def act() -> Any:
        raise error

    return act


def test_what_a_method_raises_is_that_entrys_error(store_path: Path) -> None:
    raised: list[tuple[BaseException, ErrorClass, str]] = [
        (ValueError("bad\ncode"), ErrorClass.METHOD, "The method raised ValueError: bad code"),
        (KeyError(), ErrorClass.METHOD, "The method raised KeyError."),
        (UnspeakableError(), ErrorClass.METHOD, "The method raised UnspeakableError."),
        (ValueError("\ud800\x00"), ErrorClass.METHOD, "The method raised ValueError: \ufffd\x00"),
        (ValueError("x" * 9999), ErrorClass.METHOD, "The method raised ValueError: " + "x" * 200),
        (SystemExit(3), ErrorClass.METHOD, "The method raised SystemExit: 3"),
        (asyncio.CancelledError(), ErrorClass.METHOD, "The method raised CancelledError."),
        (TimeoutError(), ErrorClass.METHOD, "The method raised TimeoutError."),
        (RecursionError("deep"), ErrorClass.METHOD, "The method raised RecursionError: deep"),
        (Refused(ErrorClass.FILTERED, "no \ud800"), ErrorClass.FILTERED, "no \ufffd"),
        (CallError(ErrorClass.SERVER, "gone"), ErrorClass.SERVER, "gone"),
        (UnspeakableCallError(ErrorClass.SERVER, ""), ErrorClass.SERVER, "The call failed."),
        (UsageError("not ours"), ErrorClass.METHOD, "The method raised UsageError: not ours"),
    ]
    ends = [GeneratorExit("x"), KeyboardInterrupt(), BaseExceptionGroup("x", [SystemExit()])]
    rows = rows_of(store_path, [throw(error) for error in [each[0] for each in raised] + ends])
    for row, (_, error_class, words) in zip(rows, raised, strict=False):
        assert (row.error_class, row.error, row.output) == (error_class, words, None)
        assert not row.exact
    assert {row.error_class for row in rows[len(raised) :]} == {ErrorClass.METHOD}


def test_what_a_method_gives_instead_of_outputs_is_reported(store_path: Path) -> None:
    given: list[tuple[Any, ErrorClass, str]] = [
        (None, ErrorClass.METHOD, "The method gave NoneType, not outputs."),
        ("x", ErrorClass.METHOD, "The method gave str, not an output."),
        ([], ErrorClass.METHOD, "The method gave 0 outputs for 1 entries."),
        ([Output("a"), Output("b")], ErrorClass.METHOD, "The method gave 2 outputs for 1 entries."),
        (["text"], ErrorClass.METHOD, "The method gave str, not an output."),
        ([None], ErrorClass.METHOD, "The method gave NoneType, not an output."),
        ([Output(None)], ErrorClass.METHOD, "The method gave neither a text nor a reason."),
        ([Output(b"x")], ErrorClass.METHOD, "The method gave neither a text nor a reason."),  # type: ignore[arg-type]
        (iter([Output("a")]), ErrorClass.METHOD, "The method gave list_iterator, not outputs."),
        ([Output("text", ErrorClass.FILTERED, "stopped")], ErrorClass.FILTERED, "stopped"),
        ([Output(None, "empty", "in words")], ErrorClass.EMPTY, "in words"),  # type: ignore[arg-type]
        ([Output(None, "my own", "in words")], ErrorClass.METHOD, "in words"),  # type: ignore[arg-type]
        ([Output(None, 7, "in words")], ErrorClass.METHOD, "in words"),  # type: ignore[arg-type]
    ]
    rows = rows_of(store_path, [lambda each=each: each[0] for each in given])  # type: ignore[misc]
    for row, (_, error_class, words) in zip(rows, given, strict=True):
        assert (row.error_class, row.error, row.output) == (error_class, words, None)
    broken = [
        Output(None, ErrorClass.EMPTY, 7),  # type: ignore[arg-type]
        Output("fine", notes=7),  # type: ignore[arg-type]
        Output("fine", notes=(UnspeakableError(),)),  # type: ignore[arg-type]
        Output("a" + "\u0301\u0316" * 150_000),
    ]
    rows = rows_of(store_path, [lambda each=each: [each] for each in broken])  # type: ignore[misc]
    assert None not in [row.error_class for row in rows]
    assert (rows[-1].error_class, rows[-1].output) == (ErrorClass.MALFORMED, None)
    assert rows[-1].error == "The output has more than 30 combining marks in a row."


NO_NUMBERS: list[Any] = [
    {"latency_seconds": 1.0},
    Recorded(cost_usd=-5.0),
    Recorded(latency_seconds=float("nan")),
    Recorded(cost_usd=float("inf")),
    Recorded(latency_seconds="slow"),  # type: ignore[arg-type]
    Recorded(cost_usd=True),
    Recorded(usage=(1, 2)),  # type: ignore[arg-type]
    Recorded(usage=Usage(-1, 2)),
    Recorded(usage=Usage(1.5, 2)),  # type: ignore[arg-type]
    Recorded(usage=Usage(2**70, 1)),  # more than a card can hold
]


def test_invalid_record_is_an_error_and_odd_numbers_are_stored(store_path: Path) -> None:
    for row in rows_of(store_path, [partial(fine, recorded=each) for each in NO_NUMBERS]):
        assert (row.output, row.error_class) == (None, ErrorClass.METHOD)
        assert "latency, tokens or cost" in (row.error or "")
        assert (row.cost_usd, row.prompt_tokens) == (None, None)
    card = kept(store_path).card
    assert card["cost"]["total_cost_usd"] is None
    recorded = Recorded(np.float32(1.5), Usage(np.int64(3), 4), Decimal("0.25"))  # type: ignore[arg-type]
    run_foreign(store_path, lambda: [Output("fine", recorded=recorded)], size=2)
    row = kept(store_path).results[1]
    assert (row.latency_seconds, row.prompt_tokens, row.cost_usd) == (1.5, 3, 0.25)
    odd = Output("a\ud800\x00\U0001f9ed", notes=("note \udfff", 7))  # type: ignore[arg-type]
    run_foreign(store_path, lambda: [odd])
    stored = kept(store_path)
    assert stored.results[1].output == "a\ufffd\x00\U0001f9ed"
    assert [attempt.note for attempt in stored.attempts[1]] == ["note \ufffd", "7"]


def test_short_batch_fails_whole_and_no_answer_is_shown(store_path: Path) -> None:
    heard = run_foreign(store_path, lambda: [Output("a")] * 3, size=8, batch_size=4)
    rows = kept(store_path).results
    assert [each.error_class for each in rows] == [ErrorClass.METHOD] * 4 + [None] * 4
    assert rows[0].error == "The method gave 3 outputs for 4 entries."
    assert heard.finished.state is RunState.COMPLETE
    plan = Plan(method="foreign", options=MethodOptions(**LANGUAGES))
    method = Foreign(fine)
    given = corpus(3, variants=["A VARIANT"], notes="HINT", morphological_analysis="HINT+N")
    run_corpus(store_path, given, plan, method=method)
    for shown in map(repr, method.seen):
        assert not [word for word in ("ENTRY NUMBER", "VARIANT", "HINT") if word in shown]


SECRET = "the medicine bundle"


def test_method_that_quotes_a_secret_entry_is_not_repeated(store_path: Path) -> None:
    acts = [
        throw(ValueError(f"cannot parse {SECRET!r}")), throw(Refused(ErrorClass.REQUEST, SECRET)),
        throw(UsageError(SECRET)), throw(BudgetReached(SECRET)), throw(HarnessError(SECRET)),
        lambda: [Output(None, ErrorClass.REQUEST, SECRET, notes=(SECRET,))],
        lambda: [Output("fine", notes=(SECRET,))],
    ]  # fmt: skip
    heard = run_foreign(store_path, dict(enumerate(acts)), len(acts) + 1, segment="gold_standard", source=SECRET)
    stored = kept(store_path)
    assert heard.finished.state is RunState.COMPLETE
    assert SECRET not in repr(heard.events).replace(repr(SECRET.upper()), "")
    assert SECRET not in repr(stored.attempts)
    assert not [each for each in stored.results if SECRET in (each.error or "")]


class Asking(Foreign):
    """A foreign method that asks an endpoint in a way of its own."""

    def __init__(self, url: str, read: Callable[[Any], Reply], price: Price | None = None) -> None:
        super().__init__(lambda: None)
        self.url, self.read, self.price = url, read, price
        self.swallows = False

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Any:
        body = {"messages": [{"content": entries[0].source}]}
        try:
            reply = await calls.send(Request("own", self.url, body, self.read, price=self.price, most_completion_tokens=5))  # fmt: skip
        except BaseException:
            if self.swallows:
                return [Output("made up")]
            raise
        return [Output(reply.text)]


def run_asking(path: Path, method: Method, size: int = 3, **more: Any) -> Heard:
    run = RunOptions(concurrency=1, most_attempts=1, budget_usd=more.pop("budget_usd", None))
    plan = Plan(method="foreign", options=MethodOptions(**LANGUAGES), run=run)
    return run_corpus(path, corpus(size, **more), plan, method=method)


def test_invalid_cost_is_unknown_no_price_negative(endpoint: Scripted, store_path: Path) -> None:
    read = iter(["text", None, Reply(None)]).__next__  # type: ignore[arg-type]
    heard = run_asking(store_path, Asking(endpoint.url, lambda _: read()))  # type: ignore[arg-type,return-value]
    assert heard.finished.done == 3
    assert {each.error_class for each in kept(store_path).results} == {ErrorClass.MALFORMED}
    costs: list[Any] = [-1.0, float("nan"), float("inf"), "much", True]
    replies = iter([Reply("x", Usage(-5, 2**70), reported_cost_usd=each) for each in costs])
    heard = run_asking(store_path, Asking(endpoint.url, lambda _: next(replies)), len(costs))
    assert heard.finished.state is RunState.COMPLETE
    stored = kept(store_path)
    assert {(each.cost_usd, each.prompt_tokens) for each in stored.results} == {(None, None)}
    assert stored.card["cost"]["total_cost_usd"] is None
    for rate in (-1.0, float("nan"), float("inf")):
        refuses(ValueError, "at least 0", Price, input_per_million=rate)
    with pytest.raises(ValueError, match="bogus"):
        CallError("bogus", "words")  # type: ignore[arg-type]


@pytest.mark.parametrize("swallows", [False, True])
def test_method_stops_at_the_budget(endpoint: Scripted, store_path: Path, swallows: bool) -> None:
    method = Asking(endpoint.url, lambda _: Reply("x", Usage(1, 1)), Price(1e6, 1e6))
    method.swallows = swallows
    heard = run_asking(store_path, method, budget_usd=0.5)
    assert heard.finished.state is RunState.STOPPED
    assert "more than the whole budget of $0.5000" in (heard.finished.reason or "")
    assert (kept(store_path).results, endpoint.asked) == ([], [])


class ThreeCalls(Asking):
    """Asks three times for each entry, whatever the replies are."""

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Any:
        for step in range(3):
            body = {"messages": [{"content": f"{step} {entries[0].source}"}]}
            with suppress(CallError):
                await calls.send(Request("own", self.url, body, self.read))
        return [Output("x")]


def test_429_to_a_later_call_of_an_entry_reduces_the_pace(endpoint: Scripted, store_path: Path) -> None:
    endpoint.answer = lambda asked: error(429) if asked.source[0] != "0" else json_answer({})
    run = RunOptions(concurrency=8, most_attempts=1)
    plan = Plan(method="foreign", options=MethodOptions(**LANGUAGES), run=run)
    method = ThreeCalls(endpoint.url, lambda _: Reply("x"))
    last = run_corpus(store_path, corpus(8), plan, method=method).progress[-1]
    assert last.rate_limited == 16
    assert last.concurrency <= int(8 * 0.8 * 0.8)


def test_text_of_a_secret_call_is_kept_nowhere(endpoint: Scripted, store_path: Path) -> None:
    """Its request calls itself fit for the cache, and its reader quotes the entry."""

    def read(reply: Any) -> Reply:
        if len(endpoint.asked) == 1:
            raise Refused(ErrorClass.REQUEST, f"cannot read {SECRET}")
        return Reply("fine")

    heard = run_asking(store_path, Asking(endpoint.url, read), segment="gold_standard", source=SECRET)
    assert (heard.finished.done, heard.finished.failed) == (3, 1)
    assert SECRET not in repr(kept(store_path).attempts)
    assert query(store_path, "SELECT count(*) FROM replies") == [(0,)]


def _options(folder: Path, **told: Any) -> MethodOptions:
    return MethodOptions(source_language="en", target_language="eo", model_folder=folder, **told)


def _asked(options: MethodOptions, *sources: str) -> list[Output]:
    entries = [Entry.model_validate({"id": n, "source": s, "reference": "x", "segment": "development"}) for n, s in enumerate(sources)]  # fmt: skip
    [outputs] = asyncio.run(_in_turn(LocalModel(options), entries))
    return outputs


@pytest.mark.costly("loads a translation engine in three processes")
def test_prefix_of_the_target_is_no_part_of_the_output(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    [output] = _asked(_options(folder, settings={"target_prefix": ["eo"]}), "good")
    assert output.text == "matenon"
    [output] = _asked(_options(folder, settings={"target_prefix": ["matenon"]}), "good")
    assert (output.text, output.error_class) == (None, ErrorClass.EMPTY)
    other = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    other["model"]["vocab"] = {w: n for w, n in other["model"]["vocab"].items() if w != "bonan"}
    (folder / "target_tokenizer.json").write_text(json.dumps(other), "utf-8")
    assert [each.text for each in _asked(_options(folder), "good")] == ["matenon"]


def test_wrong_settings_and_folders_are_named(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    for settings, words in (
        ({"beam_size": 0}, "beam_size"),
        ({"beam_size": 17}, "beam_size"),
        ({"max_length": 1025}, "max_length"),
        ({"beams": 2}, "There are beam_size, max_length, source_prefix, target_prefix"),
        ({"target_prefix": "eo"}, "target_prefix"),
    ):
        refuses(UsageError, words, LocalModel, _options(folder, settings=settings))
    refuses(UsageError, "no folder", LocalModel, _options(tmp_path / "none"))
    (tmp_path / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    refuses(UsageError, r"safetensors.*ct2-transformers-converter", LocalModel, _options(tmp_path))
    (tmp_path / "model.bin").write_bytes(b"\x06\0\0\0")
    refuses(UsageError, r"tokenizer\.json", LocalModel, _options(tmp_path))
    assert limits_for(0).memory_bytes == 4 * 2**30
    assert limits_for(2**30).memory_bytes == 7 * 2**30


async def _in_turn(made: LocalModel, *asked: list[Entry]) -> list[list[Output]]:
    try:
        calls = (made.translate(entries, cast("Calls", None)) for entries in asked)
        return [[*outputs] for outputs in await asyncio.gather(*calls)]
    finally:
        await made.close_box()


def _entry(source: str = "good", segment: str = "development") -> Entry:
    return Entry.model_validate({"id": 1, "source": source, "reference": "x", "segment": segment})


def _begun(monkeypatch: pytest.MonkeyPatch) -> list[Launch]:
    """Return where each launch of a process is noted from now on."""
    found: list[Launch] = []
    launch = OwnProcess.launch

    @contextmanager
    def noted(self: OwnProcess, inside: Inside, limits: Limits) -> Iterator[Launch]:
        with launch(self, inside, limits) as made:
            found.append(made)
            yield made

    monkeypatch.setattr(OwnProcess, "launch", noted)
    return found


def test_model_is_loaded_once_and_its_process_told_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("ROSETTA_PASSPHRASE", "sk-canary")
    begun = _begun(monkeypatch)
    folder = tiny_model(tmp_path / "tiny")
    setup = build("ctranslate2", _options(folder, batch_size=4)).setup
    assert (setup.options, setup.model_slug) == ({"model_sha256": folder_sha256(folder)}, "tiny")
    made, secret = LocalModel(_options(folder)), _entry("kanariobirdo", "gold_standard")
    found = asyncio.run(_in_turn(made, [_entry(), _entry("mañana")], [_entry("morning")], [secret]))
    assert [[each.text for each in outputs] for outputs in found] == [[SAYS] * 2, [SAYS], [SAYS]]
    [launch] = begun
    assert not [name for name in launch.environment if name.startswith(("OPENAI", "ROSETTA"))]
    told = [*launch.argv, *launch.environment.values(), *launch.places.values()]
    assert not [each for each in told if "canary" in each or "kanariobirdo" in each]


def test_batch_without_end_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, before = LocalModel(_options(tiny_model(tmp_path / "tiny"))), descendants()
    monkeypatch.setattr("harness.shipped_methods.local_model.limits_for", lambda _: Limits(entry_seconds=1e-6))
    late = LocalModel(_options(tmp_path / "tiny"))
    [[output]] = asyncio.run(_in_turn(late, [_entry()]))
    assert (output.text, output.error_class) == (None, ErrorClass.TIMEOUT)
    assert str(late.failure) == "The method failed at a text: it took too long."
    for handle in new_since(before):
        require_ended(handle)
    [[output]] = asyncio.run(_in_turn(made, [_entry()]))
    assert output.text == SAYS


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a limit of memory")
def test_too_much_memory_is_the_models_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny_model(tmp_path / "tiny")
    monkeypatch.setattr("harness.shipped_methods.local_model.limits_for", lambda _: Limits(memory_bytes=128 << 20))
    small = LocalModel(_options(folder))
    [[output]] = asyncio.run(_in_turn(small, [_entry()]))
    assert output.error_class is ErrorClass.METHOD
    assert small.failure.stage in {BoxStage.LOAD, BoxStage.TRANSLATE}
    assert small.failure.fault is WhoseFault.ENTRANT


def test_weights_that_the_reader_falls_over_fail_where_they_are_loaded(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    weights = (folder / "model.bin").read_bytes()
    (folder / "model.bin").write_bytes(weights[: len(weights) // 2])
    made = LocalModel(_options(folder))
    [[output], [other]] = asyncio.run(_in_turn(made, [_entry()], [_entry()]))
    assert output.error == other.error == "The method, or its model, could not be loaded: it ended."
    assert "tiny" not in str(output.error)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc names the children of a process")
def test_the_process_ends_with_a_program_that_is_killed(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "tiny")
    with subprocess.Popen([sys.executable, "-P", "-c", _ASKING, str(folder)], stdout=subprocess.PIPE, text=True) as running:  # fmt: skip
        assert running.stdout.readline() == f"{SAYS}\n"
        [child] = map(os.pidfd_open, descendants(running.pid))
        running.kill()
        require_ended(child)


_ASKING = """
import asyncio, sys
from pathlib import Path
from corpora.model.entry import Entry
from harness.method.options import MethodOptions
from harness.shipped_methods.local_model import LocalModel

async def ask():
    told = MethodOptions(source_language="en", target_language="eo", model_folder=Path(sys.argv[1]))
    entry = Entry.model_validate({"id": 1, "source": "good", "reference": "x", "segment": "development"})
    [output] = await (made := LocalModel(told)).translate([entry], None)
    print(output.text, flush=True)
    await asyncio.Event().wait()

asyncio.run(ask())
"""
