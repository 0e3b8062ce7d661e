"""An output held against its reference word by word, and letter by letter within a changed word."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import regex
from rapidfuzz.distance import Levenshtein

MOST_WORDS = 3_000
"""Longest text that is compared; beyond it nobody reads a diff, and the comparison grows quadratically."""

_WORD = regex.compile(r"(\s*)([\p{L}\p{M}\p{N}'’ʼ-]+|\S|$)")
_GRAPHEME = regex.compile(r"\X")


class DiffKind(StrEnum):
    """What became of a word."""

    SAME = "same"
    CHANGED = "changed"
    EXTRA = "extra"
    """The output has it, the reference does not."""
    MISSING = "missing"
    """The reference has it, the output does not."""


@dataclass(frozen=True, slots=True)
class WordPart:
    """A run of characters inside a changed word."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """One word of the output, of the reference, or of both."""

    kind: DiffKind
    space: str
    """White space before it."""
    output: tuple[WordPart, ...] = ()
    reference: tuple[WordPart, ...] = ()


@dataclass(frozen=True, slots=True)
class _Word:
    space: str
    text: str

    @property
    def key(self) -> str:
        """Return the normal form by which words are compared, which metrics use too."""
        return unicodedata.normalize("NFC", self.text)


def diff(output: str, reference: str) -> list[Piece] | None:
    """Compare an output with its reference; None where the texts are too long.

    The output sides of all pieces with their white space give the output back, character for character.
    """
    ours, theirs = _words(output), _words(reference)
    if max(len(ours), len(theirs)) > MOST_WORDS:
        return None
    steps = Levenshtein.opcodes([word.key for word in ours], [word.key for word in theirs])
    pieces: list[Piece] = []
    for step in steps:
        mine = ours[step.src_start : step.src_end]
        other = theirs[step.dest_start : step.dest_end]
        pieces += _pieces(step.tag, mine, other)
    return pieces


def _words(text: str) -> list[_Word]:
    return [_Word(*match.groups()) for match in _WORD.finditer(text) if match.group()]


def _pieces(tag: str, ours: Sequence[_Word], theirs: Sequence[_Word]) -> list[Piece]:
    if tag == "equal":
        return [Piece(DiffKind.SAME, word.space, (WordPart(word.text, False),)) for word in ours]
    if tag == "delete":
        return [Piece(DiffKind.EXTRA, word.space, (WordPart(word.text, True),)) for word in ours]
    if tag == "insert":
        return [Piece(DiffKind.MISSING, w.space, (), (WordPart(w.text, True),)) for w in theirs]
    return [_changed(mine, other) for mine, other in zip(ours, theirs, strict=True)]


def _changed(ours: _Word, theirs: _Word) -> Piece:
    mine, other = _GRAPHEME.findall(ours.text), _GRAPHEME.findall(theirs.text)
    steps = Levenshtein.opcodes(mine, other)
    output = [WordPart("".join(mine[s.src_start : s.src_end]), s.tag != "equal") for s in steps]
    reference = [
        WordPart("".join(other[s.dest_start : s.dest_end]), s.tag != "equal") for s in steps
    ]
    return Piece(DiffKind.CHANGED, ours.space, filled(output), filled(reference))


def filled(parts: Sequence[WordPart]) -> tuple[WordPart, ...]:
    """Return the parts that have a letter."""
    return tuple(part for part in parts if part.text)
