"""The engine of a local model, in its own process: weights and tokenizers that others made are read here and nowhere else.

The first program of a box (``harness/box/inside/runner.py``) loads this by its entry point and asks it, line by line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import ctranslate2
from tokenizers import Tokenizer


class TranslatingOptions(TypedDict):
    """Where the files of a model are, and how it is asked."""

    folder: str
    tokenizers: Sequence[str]
    """Paths: that of the sources, then that of the translations."""
    source_prefix: Sequence[str]
    target_prefix: Sequence[str]
    beam_size: int
    max_length: int


class Translating:
    """A model, loaded."""

    def __init__(self, options: TranslatingOptions) -> None:
        self._asked = options
        self._given, self._wanted = (Tokenizer.from_file(path) for path in options["tokenizers"])
        self._translator = ctranslate2.Translator(options["folder"], device="cpu")

    def translate(self, texts: Sequence[str]) -> list[str | None]:
        """Return a translation of each text, None where the model gives no words."""
        asked = self._asked
        tokens = [[*asked["source_prefix"], *self._given.encode(text).tokens] for text in texts]
        prefix = list(asked["target_prefix"])
        results = self._translator.translate_batch(
            tokens,
            target_prefix=[prefix] * len(tokens) if prefix else None,
            beam_size=asked["beam_size"],
            max_decoding_length=asked["max_length"],
        )
        written: list[str | None] = []
        for result in results:
            # Tokens that the tokenizer does not have are no text.
            ids = map(self._wanted.token_to_id, result.hypotheses[0][len(prefix) :])
            text = self._wanted.decode([number for number in ids if number is not None], skip_special_tokens=True)
            written.append(text.strip() or None)
        return written
