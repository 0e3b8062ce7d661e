"""An output held against its reference word by word, and letter by letter within a changed word."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import regex
from rapidfuzz.distance import Levenshtein

from corpora.text.comparison import scripts
from corpora.text.tokens import folded, words

MOST_WORDS = 3_000  # longest text that is compared: the time grows quadratically
_WORD = regex.compile(r"(\s*)([\p{L}\p{M}\p{N}'’ʼ-]+|\S|$)")
_GRAPHEME = regex.compile(r"\X")


class DiffKind(StrEnum):
    SAME = "same"
    CHANGED = "changed"
    EXTRA = "extra"  # the output has it, the reference does not
    MISSING = "missing"  # the reference has it, the output does not


@dataclass(frozen=True, slots=True)
class WordPart:
    """A run of characters inside a changed word."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """One word of the output, of the reference, or of both."""

    kind: DiffKind
    space: str  # white space before it
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
    """Compare an output with its reference, None where too long; the pieces' output sides give the output back exactly."""
    ours, theirs = _words(output), _words(reference)
    if max(len(ours), len(theirs)) > MOST_WORDS:
        return None
    steps = Levenshtein.opcodes([word.key for word in ours], [word.key for word in theirs])
    pieces: list[Piece] = []
    for step in steps:
        mine, other = ours[step.src_start : step.src_end], theirs[step.dest_start : step.dest_end]
        match step.tag:
            case "equal":
                pieces += [Piece(DiffKind.SAME, word.space, (WordPart(word.text, False),)) for word in mine]
            case "delete":
                pieces += [Piece(DiffKind.EXTRA, word.space, (WordPart(word.text, True),)) for word in mine]
            case "insert":
                pieces += [Piece(DiffKind.MISSING, word.space, (), (WordPart(word.text, True),)) for word in other]
            case _:
                for word, wanted in zip(mine, other, strict=True):
                    letters, aim = _GRAPHEME.findall(word.text), _GRAPHEME.findall(wanted.text)
                    edits = Levenshtein.opcodes(letters, aim)
                    given = [WordPart("".join(letters[e.src_start : e.src_end]), e.tag != "equal") for e in edits]
                    right = [WordPart("".join(aim[e.dest_start : e.dest_end]), e.tag != "equal") for e in edits]
                    pieces.append(Piece(DiffKind.CHANGED, word.space, filled(given), filled(right)))
    return pieces


def _words(text: str) -> list[_Word]:
    return [_Word(*match.groups()) for match in _WORD.finditer(text) if match.group()]


def filled(parts: Sequence[WordPart]) -> tuple[WordPart, ...]:
    return tuple(part for part in parts if part.text)


# ---- Cree in its other writing: Standard Roman Orthography as syllabics, and syllabics as SRO.
#
# Many who read one of the two do not read the other, and an entry has to be judged by both.

LANGUAGES = frozenset({"cr", "cre", "crk", "cwd", "csw"})
"""Plains, Woods and Swampy Cree, whose two writings can be told from each other letter by letter."""


class CreeTarget(StrEnum):
    """What a text can be turned into."""

    ROMAN = "roman letters (SRO)"
    SYLLABICS = "syllabics"


def is_cree(tag: str) -> bool:
    """Return whether a language tag is that of a Cree whose texts can be converted."""
    return tag.replace("_", "-").split("-")[0].lower() in LANGUAGES


def other_writing(text: str) -> CreeTarget:
    """Return the writing that a text is not in, going by most of its letters."""
    syllabic = scripts([text]).get("Canadian_Aboriginal", 0.0) >= 0.5
    return CreeTarget.ROMAN if syllabic else CreeTarget.SYLLABICS


def converted(text: str, into: CreeTarget, source: str = "") -> str:
    """Return a text in one of the writings; what is in it already stays as it is.

    So do placeholders, punctuation, words that the ``source`` of an entry has too, and roman words with
    letters that Cree does not have; any other word is taken for Cree.
    """
    if into is CreeTarget.ROMAN:
        from cree_sro_syllabics import syllabics2sro  # needed at the press of one key only

        return str(syllabics2sro(text))
    from cree_sro_syllabics import sro2syllabics

    left_over = {folded(word.text) for word in words(source)}
    pieces, end = [], 0
    for word in words(text):
        letters = folded(word.text)
        stays = letters in left_over or _ROMAN.fullmatch(letters) is None
        shown = word.text if stays else str(sro2syllabics(letters.replace("ý", "y"), hyphens=" "))
        pieces += [text[end : word.start], shown]
        end = word.end
    return "".join([*pieces, text[end:]])


_ROMAN = regex.compile(r"[aâācehiîīkmnoôōpstwyýêē\-‑'’ʼ]+")
"""A word of Standard Roman Orthography, folded; ý is the y that other dialects say otherwise."""
