"""Methods that translate nothing, to see what a score is worth.

constant: one text for every entry, against scores that reward fluency alone; copy-source: the source itself, the
floor under every translation.
"""

from __future__ import annotations

from collections.abc import Sequence

from corpora.model.entry import AnyEntry, Entry
from corpora.text.tokens import words
from harness.core.calls import Calls
from harness.core.failures import UsageError
from harness.inputs.dictionary import Dictionary, read_dictionary
from harness.inputs.outputs import Outputs, own_outputs, read_outputs
from harness.method.method import MethodClass, Output, Setup
from harness.method.option_table import METHODS
from harness.method.options import MethodOptions, check_options


class CopySource:
    """Answers each entry with its source."""

    endpoint = None

    def __init__(self, options: MethodOptions) -> None:
        self.setup = options.setup("copy-source", MethodClass.CUSTOM_PLUGIN, "floor")

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        return [Output(entry.source) for entry in entries]


class Constant:
    """Answers each entry with the same text."""

    endpoint = None

    def __init__(self, options: MethodOptions) -> None:
        self._text = (options.text or "").strip()
        if not self._text:
            raise UsageError("--text is blank. Give a sentence of the target language.")
        kind, own = MethodClass.CUSTOM_PLUGIN, {"text": self._text}
        self.setup = options.setup("constant", kind, "floor", options=own)

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        return [Output(self._text) for _ in entries]


# ---- glossary: word by word from a dictionary, the oldest method and an honest baseline ----


class Glossary:
    """Replaces the longest known phrases; what the dictionary does not know stays as it is."""

    endpoint = None

    def __init__(self, options: MethodOptions) -> None:
        assert options.glossary is not None  # noqa: S101  check_options has seen to it
        self._dictionary = read_dictionary(options.glossary)
        own = {"glossary_sha256": self._dictionary.sha256}
        kind = MethodClass.CUSTOM_PLUGIN
        self.setup = options.setup("glossary", kind, "baseline", options=own)

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        return [Output(word_by_word(self._dictionary, entry.source)) for entry in entries]


def word_by_word(dictionary: Dictionary, source: str) -> str:
    """Replace known phrases, keeping punctuation, placeholders, unknown words and a first capital."""
    source_words = list(words(source))
    pieces, end = [], 0
    for hit in dictionary.longest(source, source_words):
        start = source_words[hit.first].start
        text = hit.headword.translations[0]
        # capitals as in the source, where the dictionary has none: “I” and names are capitals anyway
        if source[start].isupper() and not hit.headword.phrase[0].isupper():
            text = text[0].upper() + text[1:]
        pieces += [source[end:start], text]
        end = source_words[hit.last - 1].end
    return "".join([*pieces, source[end:]])


# ---- replay and human: outputs that were made elsewhere, by a system or by a person ----


class Replay:
    """Answers each entry with the output that a file holds for it, and with what was recorded then.

    What was not recorded is unknown: the time it takes to read a file is no latency of a system.
    """

    endpoint = None

    def __init__(self, outputs: Outputs, setup: Setup) -> None:
        self.setup = setup
        self._outputs = outputs

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        return [self._outputs.output(entry.id) for entry in entries]


def replay(options: MethodOptions, entries: Sequence[AnyEntry]) -> Replay:
    """Make the method that replays a system's outputs; ``entries`` are those of the whole corpus."""
    return replay_of(options, _outputs("replay", options, entries))


def replay_of(options: MethodOptions, outputs: Outputs) -> Replay:
    """Make the method that replays these outputs."""
    models = outputs.models()
    model = options.model or (models[0] if len(models) == 1 else "replay")
    kind = options.method_class or MethodClass.CUSTOM_PLUGIN
    made = {"model_slug": model, "outputs_sha256": outputs.sha256}
    return Replay(outputs, options.setup("replay", kind, "replay", **made))


def human(options: MethodOptions, entries: Sequence[AnyEntry]) -> Replay:
    """Make the method that shows a human translator's work; ``entries`` are those of the whole corpus."""
    outputs = _outputs("human", options, entries)
    made = {"model_slug": options.translator or "human", "outputs_sha256": outputs.sha256}
    return Replay(outputs, options.setup("human", MethodClass.HUMAN, "human", **made))


def _outputs(method: str, options: MethodOptions, entries: Sequence[AnyEntry]) -> Outputs:
    """Read the file of outputs, or, where none is named, take what the records bring with them."""
    needs, takes = METHODS[method]
    if options.outputs is None and (own := own_outputs(entries)) is not None:
        check_options(method, options, (), takes)
        return own
    check_options(method, options, needs, takes)
    assert options.outputs is not None  # noqa: S101  check_options has seen to it
    return read_outputs(options.outputs, entries, options.file_lines)
