"""Marks that a decoder, a tokenizer or a file format leaves in outputs."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence

from scoring.findings.rows import OutputRow, RowFault

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
    known = {item for item in _PIECES if any(item in row.known for row in rows)}
    pieces = re.compile(f"[{''.join(set(_PIECES) - known)}]") if len(known) < len(_PIECES) else None
    return [hit for row in rows if (hit := _hit(row, pieces)) is not None]


def _hit(row: OutputRow, pieces: re.Pattern[str] | None) -> RowFault | None:
    mark = _new_mark(row, pieces)
    if mark is None:
        return None
    corrected = _undone(row.body)
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
        _LEADING.match(item) or (leading[0][:1].isdigit() and item[:1].isdigit())
        for item in row.accepted
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


def _undone(text: str) -> str:
    for undo in _UNDO:
        text = undo(text)
    return text.strip()


def _repaired(text: str) -> str:
    """Return UTF-8 that was read as Windows-1252, read rightly; itself where it is no such text."""
    try:
        return text.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return text
