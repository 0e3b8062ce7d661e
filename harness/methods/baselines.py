"""Methods that translate nothing, to see what a score is worth.

constant: one text for every entry, against scores that reward fluency alone; copy-source: the source itself, the
floor under every translation.
"""

from __future__ import annotations

from collections.abc import Sequence

from corpora.model.entry import Entry
from harness.core.calls import Calls
from harness.core.failures import UsageError
from harness.method.method import MethodClass, Output, Setup
from harness.method.options import MethodOptions, check_options
from harness.method.shipped import METHODS


class CopySource:
    """Answers each entry with its source."""

    endpoint = None

    def __init__(self, options: MethodOptions) -> None:
        check_options("copy-source", options, *METHODS["copy-source"])
        self.setup = _setup("copy-source", options)

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        """Copy."""
        return [Output(entry.source) for entry in entries]


class Constant:
    """Answers each entry with the same text."""

    endpoint = None

    def __init__(self, options: MethodOptions) -> None:
        check_options("constant", options, *METHODS["constant"])
        self._text = (options.text or "").strip()
        if not self._text:
            raise UsageError("--text is blank. Give a sentence of the target language.")
        self.setup = _setup("constant", options, text=self._text)

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        """Repeat the text."""
        return [Output(self._text) for _ in entries]


def _setup(name: str, options: MethodOptions, **told: str) -> Setup:
    return Setup(
        method=name,
        method_name=options.method_name,
        method_class=MethodClass.CUSTOM_PLUGIN,
        method_version="1",
        model_slug=name,
        condition=options.condition or "floor",
        replicate=options.replicate,
        options=told,
    )
