"""Methods of others may do anything; the run goes on and says what happened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from corpora.entry import Entry
from harness.calls import Calls
from harness.events import RunState
from harness.failures import CallError, ErrorClass, Refused
from harness.method import MethodClass, Output, Setup
from harness.methods.options import MethodOptions
from harness.plan import Plan, RunOptions
from tests.harness.evaluation import Heard, corpus, kept, run_corpus

LANGUAGES = {"source_language": "en", "target_language": "eo"}


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
    ids=["nothing", "text", "none", "two", "texts", "list of nothing", "empty", "bytes", "generator"],
)
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


def test_a_short_batch_fails_as_a_whole_instead_of_shifting(store_path: Path) -> None:
    heard = run_foreign(store_path, lambda: [Output("a")] * 3, size=8, batch_size=4)
    rows = kept(store_path).results
    assert [each.error_class for each in rows] == [ErrorClass.METHOD] * 4 + [None] * 4
    assert rows[0].error == "The method gave 3 outputs for 4 entries."
    assert heard.finished.state is RunState.COMPLETE


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
        lambda: [Output(None, ErrorClass.REQUEST, SECRET, notes=(SECRET,))],
        lambda: [Output("fine", notes=(SECRET,))],
    ],
)
def test_a_method_that_quotes_a_secret_entry_is_not_repeated(
    store_path: Path, act: Callable[[], Any]
) -> None:
    run_foreign(store_path, act, segment="gold_standard", source=SECRET)
    stored = kept(store_path)
    assert SECRET not in repr(stored.attempts)
    assert SECRET not in (stored.results[1].error or "")
