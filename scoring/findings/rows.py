"""One output as detectors see it, and what a detector returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple
from unicodedata import is_normalized, normalize

from corpora.model.entry import Entry
from corpora.text.comparison import is_blank


class RowFault(NamedTuple):
    """One entry in which a detector found something."""

    row: OutputRow
    corrected: str | None = None
    """The output without the fault; None where no rule undoes it."""
    example: str | None = None
    """What shows the fault; None: the output's beginning does."""


class OutputRow:
    """One entry with its output, in NFC."""

    def __init__(self, place: int, entry: Entry, output: str) -> None:
        self.place = place
        self.entry = entry
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

    @cached_property
    def accepted(self) -> tuple[str, ...]:
        """Source, reference and variants: what is in one of them is no fault of the output."""
        return (self.source, self.reference, *map(nfc, self.entry.variants))

    @cached_property
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
