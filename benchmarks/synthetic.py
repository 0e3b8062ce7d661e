"""Synthetic agglutinative text, so that benchmarks need no data and nobody's sentences.

Zipf-distributed stems with chains of prefixes and suffixes and circumflex vowels, about 15 words and
160 characters per sentence; outputs are noisy copies of the references, some of them exact.
"""

from __future__ import annotations

import random
from itertools import accumulate

from corpora.model.entry import Entry
from scoring.core.setup import Translation

_CONSONANTS = "ptkcsmnwyhl"
_VOWELS = "aeioâêîô"
_STEMS = 4000


class Language:
    """An invented language with a fixed vocabulary of stems and affixes."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._stems = [self._syllables(2, 3) for _ in range(_STEMS)]
        self._weights = list(accumulate(1 / rank for rank in range(1, _STEMS + 1)))
        self._prefixes = [self._syllables(1, 1) for _ in range(12)]
        self._suffixes = [self._syllables(1, 1) for _ in range(40)]

    def _syllables(self, least: int, most: int) -> str:
        pick = self._random.choice
        return "".join(pick(_CONSONANTS) + pick(_VOWELS) for _ in range(self._random.randint(least, most)))

    def word(self) -> str:
        """Inflect one stem."""
        stem = self._random.choices(self._stems, cum_weights=self._weights)[0]
        prefixes = self._random.choices(self._prefixes, k=self._random.choice((0, 0, 1, 1, 2)))
        suffixes = self._random.choices(self._suffixes, k=self._random.choice((0, 1, 2, 3)))
        return "".join((*prefixes, stem, *suffixes))

    def lexc(self) -> str:
        """Write the language's words down for an analyser compiler."""
        prefixes = "\n".join(f"{prefix}+:{prefix} Stems ;" for prefix in self._prefixes)
        twice = "\n".join(f"{prefix}+:{prefix} Prefixes ;" for prefix in self._prefixes)
        stems = "\n".join(f"{stem}+W:{stem} Suffixes1 ;" for stem in sorted(set(self._stems)))
        suffixes = "\n".join(
            f"LEXICON Suffixes{turn}\n# ;\n"
            + "\n".join(
                f"+{suffix}:{suffix} {'#' if turn == 3 else f'Suffixes{turn + 1}'} ;" for suffix in self._suffixes
            )
            for turn in (1, 2, 3)
        )
        return (
            f"LEXICON Root\n{twice}\nPrefixes ;\n\nLEXICON Prefixes\n{prefixes}\nStems ;\n\n"
            f"LEXICON Stems\n{stems}\n\n{suffixes}\n"
        )

    def sentence(self) -> str:
        """Put words and marks together."""
        words = [self.word() for _ in range(self._random.randint(6, 24))]
        if len(words) > 10:
            words[self._random.randrange(3, 8)] += ","
        return " ".join(words).capitalize() + self._random.choice(("", ".", ".", "?"))

    def noisy(self, sentence: str) -> str:
        """Translate as a middling system would: words replaced, bent, dropped, doubled, moved."""
        if self._random.random() < 0.12:
            return sentence
        words = [bent for word in sentence.split() for bent in self._bent(word)]
        if len(words) > 4 and self._random.random() < 0.4:
            place = self._random.randrange(len(words) - 2)
            phrase = words[place : place + 2]
            del words[place : place + 2]
            goal = self._random.randrange(len(words))
            words[goal:goal] = phrase
        return " ".join(words)

    def _bent(self, word: str) -> list[str]:
        chance = self._random.random()
        if chance < 0.62:
            return [word]
        if chance < 0.84:
            return [word[: max(2, len(word) - 3)] + self._random.choice(self._suffixes)]
        if chance < 0.93:
            return [self.word()]
        return [] if chance < 0.97 else [word, self.word()]


def translations(entries: int, seed: int = 1) -> list[Translation]:
    """Make a corpus with the outputs of a middling system."""
    language = Language(seed)
    made = []
    for id_ in range(entries):
        reference = language.sentence()
        output = language.noisy(reference)
        entry = Entry(id=id_, source=f"Sentence {id_}.", reference=reference, difficulty=id_ % 5 + 1)
        made.append(Translation(entry, output))
    return made
