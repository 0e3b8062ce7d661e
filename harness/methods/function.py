"""A plain function as a method: three lines in a file are enough."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from corpora.model.entry import Entry
from harness.core.calls import Calls
from harness.core.failures import ErrorClass
from harness.method.method import MethodClass, Output, Setup
from harness.method.options import MethodOptions

NAME = "translate"
"""The function that a file without a named class or function is searched for."""

BATCH = "texts"
"""Name of the parameter by which a function takes a list of texts and returns as many."""


class FunctionMethod:
    """Calls ``translate(text)``, or ``translate(texts)`` for a batch; an ``async`` function runs concurrently.

    Any other function runs in a thread, one call at a time, because most are not made for several.
    """

    endpoint = None

    def __init__(self, function: Callable[[Any], Any], options: MethodOptions) -> None:
        self._function = function
        self._batch = BATCH in inspect.signature(function).parameters
        self._one_at_a_time = asyncio.Lock()
        name = function.__name__ if function.__name__ != NAME else "function"
        self.setup = Setup(
            method=name,
            method_class=MethodClass.CUSTOM_PLUGIN,
            method_version="1",
            model_slug=name,
            condition=options.condition or "baseline",
            batch_size=options.batch_size if self._batch else 1,
        )

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        """Return one output for each entry; ValueError where a batch has another number of texts."""
        sources = [entry.source for entry in entries]
        if not self._batch:
            return [_output(await self._call(source)) for source in sources]
        texts = await self._call(sources)
        if not isinstance(texts, list | tuple) or len(texts) != len(sources):
            raise ValueError(f"the function must return a list of {len(sources)} texts")
        return [_output(text) for text in texts]

    async def _call(self, argument: str | list[str]) -> object:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(argument)
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._function, argument)


def _output(text: object) -> Output:
    if isinstance(text, str):
        return Output(text)
    kind = "nothing" if text is None else f"a value of type {type(text).__name__}"
    return Output(None, ErrorClass.METHOD, f"The function returned {kind}, not a text.")
