"""Methods that translate nothing, to see what a score is worth.

constant: one text for every entry, against scores that reward fluency alone; copy-source: the source itself, the
floor under every translation.
"""

from __future__ import annotations

from collections.abc import Sequence

from corpora.model.entry import Entry
from corpora.text.tokens import words
from harness.core.calls import Calls
from harness.core.failures import UsageError
from harness.inputs.dictionary import Dictionary, Headword, read_dictionary
from harness.inputs.outputs import Outputs, own_outputs, read_outputs
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


# ---- glossary: word by word from a dictionary, the oldest method and an honest baseline ----


class Glossary:
    """Replaces the longest known phrases; what the dictionary does not know stays as it is."""

    endpoint = None

    def __init__(self, options: MethodOptions) -> None:
        check_options("glossary", options, *METHODS["glossary"])
        assert options.glossary is not None  # noqa: S101  check_options has seen to it
        self._dictionary = read_dictionary(options.glossary)
        self.setup = Setup(
            method="glossary",
            method_name=options.method_name,
            method_class=MethodClass.CUSTOM_PLUGIN,
            method_version="1",
            model_slug="glossary",
            condition=options.condition or "baseline",
            replicate=options.replicate,
            options={"glossary_sha256": self._dictionary.sha256},
        )

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        """Translate word by word."""
        return [Output(word_by_word(self._dictionary, entry.source)) for entry in entries]


def word_by_word(dictionary: Dictionary, source: str) -> str:
    """Replace known phrases, keeping punctuation, placeholders, unknown words and a first capital."""
    source_words = list(words(source))
    pieces, end = [], 0
    for hit in dictionary.longest(source, source_words):
        start = source_words[hit.first].start
        pieces += [source[end:start], _cased(source[start], hit.headword)]
        end = source_words[hit.last - 1].end
    return "".join([*pieces, source[end:]])


def _cased(first: str, headword: Headword) -> str:
    """Capitalise where the source does and the dictionary does not: “I” and names are capitals anyway."""
    translation = headword.translations[0]
    if first.isupper() and not headword.phrase[0].isupper():
        return translation[0].upper() + translation[1:]
    return translation


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
        """Return the given outputs of these entries."""
        return [self._outputs.output(entry.id) for entry in entries]


def replay(options: MethodOptions, entries: Sequence[Entry]) -> Replay:
    """Make the method that replays a system's outputs; ``entries`` are those of the whole corpus."""
    return replay_of(options, _outputs("replay", options, entries))


def replay_of(options: MethodOptions, outputs: Outputs) -> Replay:
    """Make the method that replays these outputs."""
    models = outputs.models()
    model = options.model or (models[0] if len(models) == 1 else "replay")
    kind = options.method_class or MethodClass.CUSTOM_PLUGIN
    return Replay(outputs, _replay_setup(options, "replay", kind, model, outputs))


def human(options: MethodOptions, entries: Sequence[Entry]) -> Replay:
    """Make the method that shows a human translator's work; ``entries`` are those of the whole corpus."""
    outputs = _outputs("human", options, entries)
    translator = options.translator or "human"
    return Replay(outputs, _replay_setup(options, "human", MethodClass.HUMAN, translator, outputs))


def _outputs(method: str, options: MethodOptions, entries: Sequence[Entry]) -> Outputs:
    """Read the file of outputs, or, where none is named, take what the records bring with them."""
    needs, takes = METHODS[method]
    if options.outputs is None and (own := own_outputs(entries)) is not None:
        check_options(method, options, (), takes)
        return own
    check_options(method, options, needs, takes)
    assert options.outputs is not None  # noqa: S101  check_options has seen to it
    return read_outputs(options.outputs, entries, options.file_lines)


def _replay_setup(
    options: MethodOptions, name: str, kind: MethodClass, slug: str, outputs: Outputs
) -> Setup:
    return Setup(
        method=name,
        method_name=options.method_name,
        method_class=kind,
        method_version="1",
        model_slug=slug,
        condition=options.condition or name,
        outputs_sha256=outputs.sha256,
        replicate=options.replicate,
    )
