"""Methods of others may do anything; the run goes on and says what happened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpora.model.entry import Entry
from harness.core.calls import Calls, Price, Reply, Request, Usage
from harness.core.failures import CallError, ErrorClass, HarnessError, Refused, UsageError
from harness.core.run_state import RunState
from harness.endpoint.budget import BudgetReached
from harness.method.method import Method, MethodClass, Output, Recorded, Setup
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from tests.harness.evaluation import LANGUAGES, Heard, corpus, kept, query, run_corpus
from tests.harness.scripted import Answer, Asked, Scripted, error, json_answer


class Foreign:
    """A method whose answer to one entry is up to the test; the others are translated well."""

    endpoint = None

    def __init__(self, act: Callable[[], Any], batch_size: int = 1) -> None:
        self.act = act
        self.seen: list[Entry] = []
        self.setup = Setup(
            method="foreign", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
            method_sha256="0" * 64, model_slug="foreign", condition="test", batch_size=batch_size,
        )  # fmt: skip

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Any:
        self.seen += entries
        if any(entry.id == 1 for entry in entries):
            return self.act()
        return [Output(entry.source.upper()) for entry in entries]


def run_foreign(path: Path, act: Callable[[], Any], size: int = 3, **more: Any) -> Heard:
    plan = Plan(method="foreign", options=MethodOptions(**LANGUAGES), run=RunOptions(concurrency=2))
    batch_size = more.pop("batch_size", 1)
    return run_corpus(path, corpus(size, **more), plan, method=Foreign(act, batch_size))


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


@pytest.mark.parametrize(
    ("error", "error_class", "words"),
    [
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
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_whatever_a_method_raises_is_that_entrys_error(
    store_path: Path, error: BaseException, error_class: ErrorClass, words: str
) -> None:
    heard = run_foreign(store_path, throw(error))
    assert heard.finished.state is RunState.COMPLETE
    first, second, third = kept(store_path).results
    assert (first.error_class, third.error_class) == (None, None)
    assert (second.error_class, second.error) == (error_class, words)
    assert (second.output, second.exact) == (None, False)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "The method gave NoneType, not outputs."),
        ("x", "The method gave str, not an output."),
        ([], "The method gave 0 outputs for 1 entries."),
        ([Output("a"), Output("b")], "The method gave 2 outputs for 1 entries."),
        (["text"], "The method gave str, not an output."),
        ([None], "The method gave NoneType, not an output."),
        ([Output(None)], "The method gave neither a text nor a reason."),
        ([Output(b"bytes")], "The method gave neither a text nor a reason."),  # type: ignore[arg-type]
        ((each for each in [Output("a")]), "The method gave generator, not outputs."),
    ],
    ids=[
        "nothing", "text", "none", "two", "texts", "list of nothing", "empty", "bytes",
        "generator",
    ],
)  # fmt: skip
def test_whatever_a_method_gives_instead_of_outputs_is_said(
    store_path: Path, given: Any, words: str
) -> None:
    run_foreign(store_path, lambda: given)
    row = kept(store_path).results[1]
    assert (row.error_class, row.error, row.output) == (ErrorClass.METHOD, words, None)


def test_a_text_beside_an_error_is_no_output(store_path: Path) -> None:
    run_foreign(store_path, lambda: [Output("text", ErrorClass.FILTERED, "stopped")])
    row = kept(store_path).results[1]
    assert (row.output, row.error_class, row.error) == (None, ErrorClass.FILTERED, "stopped")


@pytest.mark.parametrize(
    ("said", "kept_as"),
    [("empty", ErrorClass.EMPTY), ("my own", ErrorClass.METHOD), (7, ErrorClass.METHOD)],
)
def test_a_kind_of_failure_is_one_of_ours(store_path: Path, said: Any, kept_as: ErrorClass) -> None:
    run_foreign(store_path, lambda: [Output(None, said, "in words")])
    row = kept(store_path).results[1]
    assert (row.error_class, row.error) == (kept_as, "in words")


NO_NUMBERS = {
    "no record": {"latency_seconds": 1.0},
    "negative cost": Recorded(cost_usd=-5.0),
    "no number": Recorded(latency_seconds=float("nan")),
    "endless": Recorded(cost_usd=float("inf")),
    "words": Recorded(latency_seconds="slow"),  # type: ignore[arg-type]
    "truth": Recorded(cost_usd=True),
    "no usage": Recorded(usage=(1, 2)),  # type: ignore[arg-type]
    "negative tokens": Recorded(usage=Usage(-1, 2)),
    "parts of tokens": Recorded(usage=Usage(1.5, 2)),  # type: ignore[arg-type]
    "more tokens than a card can hold": Recorded(usage=Usage(2**70, 1)),
}


@pytest.mark.parametrize("recorded", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_a_record_that_is_none_is_that_entrys_error_and_spoils_no_card(
    store_path: Path, recorded: Any
) -> None:
    heard = run_foreign(store_path, lambda: [Output("fine", recorded=recorded)])
    assert heard.finished.state is RunState.COMPLETE
    row = kept(store_path).results[1]
    assert (row.output, row.error_class) == (None, ErrorClass.METHOD)
    assert "latency, tokens or cost" in (row.error or "")
    assert (row.cost_usd, row.prompt_tokens) == (None, None)
    card = kept(store_path).card
    assert card is not None
    assert card["cost"]["total_cost_usd"] is None


def test_a_record_of_any_kind_of_number_is_kept(store_path: Path) -> None:
    recorded = Recorded(np.float32(1.5), Usage(np.int64(3), 4), Decimal("0.25"))  # type: ignore[arg-type]
    run_foreign(store_path, lambda: [Output("fine", recorded=recorded)], size=2)
    row = kept(store_path).results[1]
    assert (row.latency_seconds, row.prompt_tokens, row.cost_usd) == (1.5, 3, 0.25)


BROKEN = {
    "error": Output(None, ErrorClass.EMPTY, 7),  # type: ignore[arg-type]
    "notes": Output("fine", notes=7),  # type: ignore[arg-type]
    "unspeakable": Output("fine", notes=(UnspeakableError(),)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("output", BROKEN.values(), ids=BROKEN)
def test_an_output_that_cannot_be_read_is_that_entrys_error(
    store_path: Path, output: Output
) -> None:
    heard = run_foreign(store_path, lambda: [output])
    assert heard.finished.state is RunState.COMPLETE
    assert heard.finished.failed == 1


@pytest.mark.parametrize(
    "ends", [GeneratorExit("x"), KeyboardInterrupt(), BaseExceptionGroup("x", [SystemExit()])]
)
def test_nothing_that_a_method_raises_ends_the_run(store_path: Path, ends: BaseException) -> None:
    heard = run_foreign(store_path, throw(ends))
    assert heard.finished.state is RunState.COMPLETE
    assert kept(store_path).results[1].error_class is ErrorClass.METHOD


def test_a_short_batch_fails_as_a_whole_instead_of_shifting(store_path: Path) -> None:
    heard = run_foreign(store_path, lambda: [Output("a")] * 3, size=8, batch_size=4)
    rows = kept(store_path).results
    assert [each.error_class for each in rows] == [ErrorClass.METHOD] * 4 + [None] * 4
    assert rows[0].error == "The method gave 3 outputs for 4 entries."
    assert heard.finished.state is RunState.COMPLETE


def test_an_output_that_is_a_tower_of_marks_is_a_failure_in_words(store_path: Path) -> None:
    tower = "a" + "\u0301\u0316" * 150_000
    heard = run_foreign(store_path, lambda: [Output(tower)])
    assert heard.finished.state is RunState.COMPLETE
    row = kept(store_path).results[1]
    assert (row.error_class, row.output) == (ErrorClass.MALFORMED, None)
    assert row.error == "The output has more than 30 combining marks in a row."


def test_texts_and_notes_that_no_file_can_hold_are_made_storable(store_path: Path) -> None:
    odd = Output("a\ud800\x00\U0001f9ed", notes=("note \udfff", 7))  # type: ignore[arg-type]
    run_foreign(store_path, lambda: [odd])
    stored = kept(store_path)
    assert stored.results[1].output == "a\ufffd\x00\U0001f9ed"
    assert [attempt.note for attempt in stored.attempts[1]] == ["note \ufffd", "7"]


def test_a_method_sees_the_question_and_never_the_answer(store_path: Path) -> None:
    plan = Plan(method="foreign", options=MethodOptions(**LANGUAGES))
    method = Foreign(lambda: [Output("x")])
    given = corpus(3, variants=["A VARIANT"], notes="HINT", morphological_analysis="HINT+N")
    run_corpus(store_path, given, plan, method=method)
    for entry in method.seen:
        shown = repr(entry)
        assert "ENTRY NUMBER" not in shown
        assert "VARIANT" not in shown
        assert "HINT" not in shown


SECRET = "the medicine bundle"


@pytest.mark.parametrize(
    "act",
    [
        throw(ValueError(f"cannot parse {SECRET!r}")),
        throw(Refused(ErrorClass.REQUEST, SECRET)),
        throw(UsageError(SECRET)),
        throw(BudgetReached(SECRET)),
        throw(HarnessError(SECRET)),
        lambda: [Output(None, ErrorClass.REQUEST, SECRET, notes=(SECRET,))],
        lambda: [Output("fine", notes=(SECRET,))],
    ],
)
def test_a_method_that_quotes_a_secret_entry_is_not_repeated(
    store_path: Path, act: Callable[[], Any]
) -> None:
    heard = run_foreign(store_path, act, segment="gold_standard", source=SECRET)
    stored = kept(store_path)
    assert heard.finished.state is RunState.COMPLETE
    assert SECRET not in repr(heard.events).replace(repr(SECRET.upper()), "")
    assert SECRET not in repr(stored.attempts)
    assert SECRET not in (stored.results[1].error or "")


class Asking(Foreign):
    """A foreign method that asks an endpoint in a way of its own."""

    def __init__(self, url: str, read: Callable[[Any], Reply], price: Price | None = None) -> None:
        super().__init__(lambda: None)
        self.url, self.read, self.price = url, read, price
        self.swallows = False

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Any:
        body = {"messages": [{"content": entries[0].source}]}
        try:
            reply = await calls.send(
                Request(
                    "own", self.url, body, self.read, price=self.price, most_completion_tokens=5
                )
            )
        except BaseException:
            if self.swallows:
                return [Output("made up")]
            raise
        return [Output(reply.text)]


def run_asking(path: Path, method: Method, size: int = 3, **more: Any) -> Heard:
    run = RunOptions(concurrency=1, most_attempts=1, budget_usd=more.pop("budget_usd", None))
    plan = Plan(method="foreign", options=MethodOptions(**LANGUAGES), run=run)
    return run_corpus(path, corpus(size, **more), plan, method=method)


NO_REPLIES: dict[str, Callable[[Any], Any]] = {
    "text": lambda _: "text",
    "nothing": lambda _: None,
    "no text": lambda _: Reply(None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("read", NO_REPLIES.values(), ids=NO_REPLIES)
def test_what_a_foreign_method_reads_must_be_a_reply(
    endpoint: Scripted, store_path: Path, read: Callable[[Any], Any]
) -> None:
    assert run_asking(store_path, Asking(endpoint.url, read)).finished.done == 3
    assert {each.error_class for each in kept(store_path).results} == {ErrorClass.MALFORMED}


NO_COSTS = [-1.0, float("nan"), float("inf"), "much", True]


@pytest.mark.parametrize("cost", NO_COSTS, ids=str)
def test_a_cost_that_is_none_counts_as_unknown(
    endpoint: Scripted, store_path: Path, cost: Any
) -> None:
    def read(_: Any) -> Reply:
        return Reply("x", Usage(-5, 2**70), reported_cost_usd=cost)

    heard = run_asking(store_path, Asking(endpoint.url, read))
    assert heard.finished.state is RunState.COMPLETE
    stored = kept(store_path)
    assert {(each.cost_usd, each.prompt_tokens) for each in stored.results} == {(None, None)}
    assert stored.card is not None
    assert stored.card["cost"]["total_cost_usd"] is None


@pytest.mark.parametrize("rate", [-1.0, float("nan"), float("inf")])
def test_a_price_is_a_number_of_at_least_zero(rate: float) -> None:
    with pytest.raises(ValueError, match="at least 0"):
        Price(input_per_million=rate)


@pytest.mark.parametrize("swallows", [False, True])
def test_a_foreign_method_cannot_go_on_past_the_budget(
    endpoint: Scripted, store_path: Path, swallows: bool
) -> None:
    method = Asking(endpoint.url, lambda _: Reply("x", Usage(1, 1)), Price(1e6, 1e6))
    method.swallows = swallows
    heard = run_asking(store_path, method, budget_usd=0.5)
    assert heard.finished.state is RunState.STOPPED
    assert "more than the whole budget of $0.5" in (heard.finished.reason or "")
    assert (kept(store_path).results, endpoint.asked) == ([], [])


def test_what_a_foreign_method_says_of_a_secret_call_is_kept_nowhere(
    endpoint: Scripted, store_path: Path
) -> None:
    """Its request calls itself fit for the cache, and its reader quotes the entry."""

    def read(reply: Any) -> Reply:
        if len(endpoint.asked) == 1:
            raise Refused(ErrorClass.REQUEST, f"cannot read {SECRET}")
        return Reply("fine")

    heard = run_asking(store_path, Asking(endpoint.url, read), segment="held_out", source=SECRET)
    assert (heard.finished.done, heard.finished.failed) == (3, 1)
    assert SECRET not in repr(kept(store_path).attempts)
    assert query(store_path, "SELECT count(*) FROM replies") == [(0,)]


def test_a_kind_of_failure_that_is_none_cannot_be_raised() -> None:
    with pytest.raises(ValueError, match="bogus"):
        CallError("bogus", "words")  # type: ignore[arg-type]


class Thrice(Asking):
    """Asks three times for each entry, whatever comes back."""

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Any:
        for step in range(3):
            body = {"messages": [{"content": f"{step} {entries[0].source}"}]}
            with suppress(CallError):
                await calls.send(Request("own", self.url, body, self.read))
        return [Output("x")]


def test_a_429_to_a_later_call_of_an_entry_slows_down_too(
    endpoint: Scripted, store_path: Path
) -> None:
    def answer(asked: Asked) -> Answer:
        step = int(asked.source.split()[0])
        return error(429) if step else json_answer({})

    endpoint.answer = answer
    plan = Plan(
        method="foreign",
        options=MethodOptions(**LANGUAGES),
        run=RunOptions(concurrency=8, most_attempts=1),
    )
    method = Thrice(endpoint.url, lambda _: Reply("x"))
    heard = run_corpus(store_path, corpus(8), plan, method=method)
    assert heard.progress[-1].rate_limited == 16
    assert heard.progress[-1].concurrency <= int(8 * 0.8 * 0.8)
