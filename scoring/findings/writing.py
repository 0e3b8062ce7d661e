"""How an answer is written: the mark at its end, capitals, and letters of the language that never occur."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, combining, is_normalized, normalize

import regex

from corpora.model.entry import Entry
from corpora.text.comparison import is_blank

# ---- One output as detectors see it, and what a detector returns ----


class RowFault(NamedTuple):
    """One entry in which a detector found something."""

    row: OutputRow
    corrected: str | None = None
    """The output without the fault; None where no rule undoes it."""
    example: str | None = None
    """What shows the fault; None: the output's beginning does."""


class OutputRow:
    """One entry with its output, in NFC; of the entry no more is held than detectors read."""

    __slots__ = (
        "answered", "blank", "body", "id", "output", "place", "reference", "right", "secret", "source", "variants",
    )  # fmt: skip

    def __init__(self, place: int, entry: Entry, output: str) -> None:
        self.place = place
        self.id, self.secret = entry.id, entry.secret
        self.variants = entry.variants
        self.source = nfc(entry.source)
        self.reference = nfc(entry.reference)
        self.output = nfc(output)
        self.blank = is_blank(output)
        self.body = self.output.strip()
        """The part that is the answer, as far as detectors have taken off what stands around it."""
        self.right = not self.blank and _spaced(self.body) == _spaced(self.reference.strip())
        """The output is the reference: no detector of single outputs finds anything."""
        self.answered = not self.blank
        """False once it is known that the output translates nothing; later detectors pass it over."""

    @property
    def accepted(self) -> tuple[str, ...]:
        """Source, reference and variants: what is in one of them is no fault of the output."""
        return (self.source, self.reference, *map(nfc, self.variants))

    @property
    def known(self) -> str:
        """All texts of the entry, each on a line."""
        return "\n".join(self.accepted)

    def narrowed(self, body: str) -> str:
        """Shorten the body, and return the output without that part."""
        before, self.body = self.body, body
        at = self.output.find(before)
        if at < 0:
            return body
        return self.output[:at] + body + self.output[at + len(before) :]


def _spaced(text: str) -> str:
    return " ".join(filter(None, text.split(" "))) if "  " in text else text


def nfc(text: str) -> str:
    """Return a text in NFC."""
    return text if text.isascii() or is_normalized("NFC", text) else normalize("NFC", text)


def rows_of(entries: Sequence[Entry], outputs: Iterable[str]) -> list[OutputRow]:
    """Return the rows of a run in its order."""
    pairs = zip(entries, outputs, strict=True)
    return [OutputRow(place, entry, output) for place, (entry, output) in enumerate(pairs)]


def to_check(rows: Sequence[OutputRow]) -> Iterator[OutputRow]:
    """Yield the rows that answer something and are not the reference."""
    return (row for row in rows if row.answered and not row.right)


_SENTENCE_ENDS = frozenset(".!?…。．！？｡।॥؟۔᙮።፧་།၊။។៕᱾")
_CLOSERS = " \t\n\"'”’“»«›)]}」』】*_`"
_LEAST_HAVING = 10
"""References that must have a letter before its absence says anything."""
_HARDLY = 0.15
"""Outputs with a letter / references with it, up to which it hardly occurs."""


def ends_sentence(text: str) -> bool:
    """Return whether a text ends with a mark that ends a sentence; brackets and quotation marks aside."""
    return text.rstrip(_CLOSERS)[-1:] in _SENTENCE_ENDS and bool(text.strip(_CLOSERS))


def end_mark(row: OutputRow) -> RowFault | None:
    """Return a hit where the last mark is lost or added; its source and its reference agree."""
    wanted = ends_sentence(row.reference)
    present = ends_sentence(row.body)
    if wanted == present or wanted != ends_sentence(row.source) or not row.reference:
        return None
    if any(ends_sentence(item) == present for item in row.accepted[2:]):
        return None
    if present:
        corrected = row.body.rstrip(_CLOSERS).rstrip("".join(_SENTENCE_ENDS))
    else:
        corrected = row.body + row.reference.rstrip(_CLOSERS)[-1:]
    before = row.body
    whole = row.narrowed(corrected)
    row.body = before
    return RowFault(row, whole, f"…{before[-40:]}")


def capitals(row: OutputRow) -> RowFault | None:
    """Return a hit where capitals stand otherwise than in the reference: everywhere, nowhere, at each word."""
    text, reference = row.body, row.reference
    if not (not reference.isupper() and reference != reference.lower()):
        return None
    wrong = (
        (_shouted(text) and not any(map(_shouted, row.accepted)))
        or (text.islower() and not any(item.islower() for item in row.accepted))
        or (_titled(text) and not any(map(_titled, row.accepted)))
    )
    if not wrong:
        return None
    lowered = text.lower()
    corrected = lowered[:1].upper() + lowered[1:] if reference[:1].isupper() else lowered
    return RowFault(row, respelled(corrected, reference, str.casefold))


def _shouted(text: str) -> bool:
    # not isupper(), which is false with ª or º: small letters that have no capital
    return text == text.upper() and sum(map(str.isupper, text)) >= 4


def _titled(text: str) -> bool:
    return text == text.title() and text != text.lower() and text.count(" ") >= 3


_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’ʼ-][\p{L}\p{M}]+)*")


def respelled(output: str, reference: str, fold: Callable[[str], str]) -> str:
    """Return an output whose words are written as in the reference, where ``fold`` gives the same for both."""
    wanted = {fold(item): item for item in _WORD.findall(reference)}
    return _WORD.sub(lambda match: wanted.get(fold(match[0]), match[0]), output)


def missing_letters(rows: Sequence[OutputRow]) -> list[RowFault]:
    """Return the outputs without letters that their references have and hardly any output has.

    Letters are counted one by one, and by accent: of 15 references with a macron on some vowel no single vowel may
    be frequent enough.
    """
    answered = [row for row in rows if row.answered]
    having, occurring = Counter[str](), Counter[str]()
    for row in answered:
        having.update(_units(row.reference))
        occurring.update(_units(row.body))
    often = [unit for unit, count in having.items() if count >= _LEAST_HAVING]
    rare = [unit for unit in often if occurring[unit] <= having[unit] * _HARDLY]
    missing = frozenset(unit for unit in rare if category(unit)[0] in "LM")
    if not missing:
        return []
    of_open = Counter(unit for row in answered if not row.secret for unit in _units(row.reference) & missing)
    # Missing letters, most frequent first; an accent alone if no own letter has it.
    letters = [unit for unit, _ in of_open.most_common()]
    composed = {mark for item in letters if not combining(item[0]) for mark in _accents(item)}
    shown_letters = " ".join(f"◌{item}" if combining(item) else item for item in letters if item not in composed)
    hits = []
    for row in answered:
        if (_units(row.reference) & missing) - _units(row.body):
            before = row.body
            corrected = row.narrowed(respelled(before, row.reference, without_accents))
            row.body = before
            hits.append(RowFault(row, corrected, shown_letters))
    return hits


@lru_cache(maxsize=256)
def _accents(letter: str) -> tuple[str, ...]:
    return tuple(item for item in normalize("NFD", letter)[1:] if combining(item))


def _units(text: str) -> frozenset[str]:
    """Return the small letters of a text, the other signs in it, and the accents on its letters."""
    letters = frozenset(text.lower())
    accents = {mark for item in letters if item > "\x7f" for mark in _accents(item)}
    return letters | accents if accents else letters


_WRITTEN = {
    "ø": "o", "đ": "d", "ŋ": "n", "ł": "l", "ħ": "h", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th",
    "ŧ": "t", "ɨ": "i", "ɬ": "l", "ƛ": "l", "ʻ": "", "ʼ": "", "ʔ": "", "ə": "e", "ɛ": "e", "ɔ": "o", "ґ": "г",
    "'": "", "’": "",
}  # fmt: skip
"""Letter without an accent of its own → what is written in its place where it cannot be typed."""
_BASES = str.maketrans(_WRITTEN | {item.upper(): base.upper() for item, base in _WRITTEN.items() if len(item.upper()) == 1})  # fmt: skip
_NO_ACCENTS = dict.fromkeys(range(0x300, 0x370)) | _BASES


@lru_cache(maxsize=8192)
def without_accents(text: str) -> str:
    """Return a text without accents (U+0300–U+036F), as it is written where they cannot be typed."""
    return normalize("NFD", text).translate(_NO_ACCENTS)


# ---- Marks that a decoder, a tokenizer or a file format leaves in outputs ----

_PIECES = "▁ĠĊ￭"
"""Signs of sub-word pieces; a language may write with one of them, such as Maltese with Ġ."""

_MARKS = re.compile(
    r"""(?mx)
      @@(?=\s|$) | @-@ | (?:^|\s)\#\#(?=\w) | ⁇ | \ufffd | (?:Ã[\u0080-\u00bf]|â€.)
    | </?s> | <(?:pad|eos|bos|unk|mask|UNK|PAD|EOS|BOS)> | \[(?:UNK|PAD|EOS|BOS|SEP|CLS|MASK)\] | <\|[\w ]+\|>
    | </?(?:end|start)_of_(?:turn|text)>
    | &(?:amp|apos|quot|lt|gt|nbsp|\#\d{1,6}|\#x[0-9a-fA-F]{1,6});
    | \ \|\|\|\ | \t | \\[t"] | \\u[0-9a-fA-F]{4}
    """
)
_LEADING = re.compile(
    r"""(?x)\A(?!\s*1[.)]\s[^\n]*\n+\s*2[.)])\s* (?:
      [HDTSP]-\d+\s | \#?\d+\s*(?:\t|[.):\]]\s|\|\|) | \[\d+\]\s | (?:id|ID|entry|Entry|line|Line|sent|seg)[ _:#-]?\d+\s*[:.)\t|-]?\s
    | \[?(?:[a-z]{2,3}_[A-Z][a-z]{3}|__[a-z_]{2,}__|<2[a-z]{2,3}>|>>[a-z]{2,3}(?:_[A-Za-z]+)?<<)\]?\s )"""
)
_SPACED = re.compile(r"(?<=\w) [.,](?=\s|$)")
_QUICK = re.compile(r"[@#⁇\ufffdÃâ<\[&|\t\\]")


def decoder_marks(rows: Sequence[OutputRow]) -> list[RowFault]:
    """Return the outputs with marks of a decoder that neither their sources nor their references have."""
    known = {item for text in (row.known for row in rows) for item in _PIECES if item in text}
    pieces = re.compile(f"[{''.join(set(_PIECES) - known)}]") if len(known) < len(_PIECES) else None
    return [hit for row in rows if (hit := _hit(row, pieces)) is not None]


def _hit(row: OutputRow, pieces: re.Pattern[str] | None) -> RowFault | None:
    mark = _new_mark(row, pieces)
    if mark is None:
        return None
    text = row.body
    for undo in _UNDO:
        text = undo(text)
    corrected = text.strip()
    if corrected == row.body or not corrected:
        return RowFault(row, None, mark)
    return RowFault(row, row.narrowed(corrected), mark)


def _new_mark(row: OutputRow, pieces: re.Pattern[str] | None) -> str | None:
    """Return the first mark that the other texts of the entry do not have; None where there is none."""
    text = row.body
    if pieces is not None and (result := pieces.search(text)):
        return result[0]
    if _QUICK.search(text):
        for match in _MARKS.finditer(text):
            if (match[0].strip() or match[0]) not in row.known:
                return match[0].strip() or "tab"
    leading = _LEADING.match(text)
    if leading and not any(
        _LEADING.match(item) or (leading[0][:1].isdigit() and item[:1].isdigit()) for item in row.accepted
    ):
        return leading[0].strip()
    spaced = _SPACED.search(text)
    if spaced and not _SPACED.search(row.known):
        return spaced[0]
    return None


_NBEST = re.compile(r"\A(?:\s*\d+ \|\|\| )?(.*?) \|\|\| .*\Z", re.DOTALL)
_FAIRSEQ = re.compile(r"\A[HDTSP]-\d+\s+(?:-?\d+(?:\.\d+)?(?:e-?\d+)?\s+)?")
_SPECIAL = re.compile(
    r"\s*(?:</?s>|<(?:pad|eos|bos|unk|mask|UNK|PAD|EOS|BOS)>|\[(?:UNK|PAD|EOS|BOS|SEP|CLS|MASK)\]|<\|[\w ]+\|>|</?(?:end|start)_of_(?:turn|text)>|⁇)\s*"
)
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})")

_UNDO: tuple[Callable[[str], str], ...] = (
    lambda text: _FAIRSEQ.sub("", text),
    lambda text: _NBEST.sub(r"\1", text),
    lambda text: _LEADING.sub("", text),
    lambda text: text.replace(" ", "").replace("▁", " ") if "▁" in text else text,
    lambda text: re.sub(r"@@(?:\s|$)", "", text).replace(" @-@ ", "-"),
    lambda text: re.sub(r"\s##(?=\w)", "", text),
    lambda text: text.replace(" ", "").replace("Ġ", " ") if "Ġ" in text else text,
    lambda text: re.sub(r"￭ | ￭|￭", "", text),
    html.unescape,
    lambda text: _SPECIAL.sub(" ", text),
    lambda text: _UNICODE.sub(lambda match: chr(int(match[1], 16)), text),
    lambda text: text.replace('\\"', '"').replace("\\t", " "),
    lambda text: _SPACED.sub(lambda match: match[0][1:], text),
    lambda text: _repaired(text) if "Ã" in text or "â€" in text else text,
)


def _repaired(text: str) -> str:
    """Return UTF-8 that was read as Windows-1252, read rightly; itself where it is no such text."""
    try:
        return text.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return text
