"""Translations made wrong on purpose, without a language model: another one's text, a swapped phrase, a half.

The swapped phrase follows the quality control of the WMT campaigns: an inner phrase gives way to one of the
same length from another text, so that the sentence keeps its look and loses its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from corpora.text.comparison import comparison_form, scripts
from review.office.items.inflected_controls import Inflected

OTHER, SWAP, HALF, FORM = "other reference", "phrase swap", "truncated", "fst"

UNSPACED = frozenset(
    {"Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan", "Javanese",
     "Balinese", "Tai_Le", "New_Tai_Lue", "Tai_Tham", "Yi", "Bopomofo"}
)  # fmt: skip
"""Scripts that put no space between words: their phrases are counted in characters."""

LEAST_WORDS = 4
"""Shorter texts have no inner phrase and no half."""

LEAST_CHARACTERS = 6
"""The same, where words are not told apart."""

ALIKE = 0.25
"""Share by which another text may be longer or shorter than the one it stands for."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong translation and how it was made."""

    text: str
    made_by: str


def plain_form(text: str) -> str:
    """Return the form in which two candidates count as the same: no case, no marks, no spaces."""
    return "".join(letter for letter in comparison_form(text).casefold() if letter.isalnum())


def unspaced(text: str) -> bool:
    """Tell whether a text's script leaves no space between words."""
    return next(iter(scripts([text])), "") in UNSPACED


class WrongTexts:
    """Makes wrong versions of texts out of a pool of others."""

    def __init__(
        self, pool: Sequence[str], forms: Callable[[str], Sequence[Inflected]], chance: Random
    ) -> None:
        """``forms`` gives the versions with one word in a wrong form; none where there is no analyser."""
        self._pool = sorted(set(pool))
        self._forms = forms
        self._chance = chance

    def make(self, kind: str, right: str, length: int, never: frozenset[str]) -> Wrong | None:
        """Make one of a kind from a right text, None where it cannot be.

        ``length`` is that of what it stands beside, in characters; ``never`` are plain forms that it must
        not equal: the references of its entry and what systems gave.
        """
        for text, made_by in self._tries(kind, right, length):
            if (form := plain_form(text)) and form not in never:
                return Wrong(text, made_by)
        return None

    def _tries(self, kind: str, right: str, length: int) -> Iterator[tuple[str, str]]:
        if kind == FORM:
            found = list(self._forms(right))
            self._chance.shuffle(found)
            yield from ((each.text, each.made_by) for each in found)
        elif kind == OTHER:
            yield from ((text, OTHER) for text in self._others(length))
        elif kind == SWAP:
            yield from ((text, SWAP) for text in self._swapped(right))
        elif (half := first_half(right)) is not None:
            yield half, HALF

    def _others(self, length: int) -> list[str]:
        """Return the texts of similar length in random order, then the others, the nearest in length first."""
        alike = [text for text in self._pool if abs(len(text) - length) <= ALIKE * length]
        self._chance.shuffle(alike)
        others = sorted(set(self._pool) - set(alike))
        return [*alike, *sorted(others, key=lambda text: abs(len(text) - length))]

    def _swapped(self, right: str) -> Iterator[str]:
        tokens, glue = _tokens(right)
        size = max(1, round(len(tokens) / 3))
        if len(tokens) < (LEAST_WORDS if glue else LEAST_CHARACTERS):
            return
        for _ in range(20):
            phrase = self._phrase(size, glue)
            start = self._chance.randint(1, len(tokens) - size - 1)
            if phrase:
                yield glue.join([*tokens[:start], *phrase, *tokens[start + size :]])

    def _phrase(self, size: int, glue: str) -> list[str] | None:
        """Return an inner phrase of a random other text, None where that is too short."""
        tokens, theirs = _tokens(self._chance.choice(self._pool)) if self._pool else ([], glue)
        if theirs != glue or len(tokens) < size + 2:
            return None
        start = self._chance.randint(1, len(tokens) - size - 1)
        return tokens[start : start + size]


def first_half(text: str) -> str | None:
    """Return the first half of a text's words (characters, where words are not told apart), None of a short one."""
    tokens, glue = _tokens(text)
    if len(tokens) < (LEAST_WORDS if glue else LEAST_CHARACTERS):
        return None
    return glue.join(tokens[: len(tokens) // 2])


def _tokens(text: str) -> tuple[list[str], str]:
    """Cut a text into what phrases are counted in; gives also what goes between."""
    return (list(text), "") if unspaced(text) else (text.split(), " ")
