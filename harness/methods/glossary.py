"""glossary: word by word from a dictionary, the oldest method and an honest baseline."""

from __future__ import annotations

from collections.abc import Sequence

from corpora.model.entry import Entry
from corpora.text.tokens import words
from harness.core.calls import Calls
from harness.inputs.dictionary import Dictionary, Headword, read_dictionary
from harness.method.method import MethodClass, Output, Setup
from harness.method.options import MethodOptions, check_options
from harness.method.shipped import METHODS


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
