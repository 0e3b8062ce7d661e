"""What is wrong with a file, said so that its owner can mend it.

CorpusError      carries every Problem of a file, not only the first
└── CardError    the file is a language card
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a problem matters: with an error the file cannot be used, with a warning it can."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where it is, and how to mend it.

    The message never quotes the text of an entry: it may belong to a secret segment.
    """

    severity: Severity
    file: str
    message: str
    """What is wrong, in one sentence."""
    mend: str
    """What to do about it, in one sentence."""
    line: int | None = None
    """1-based line of the file, where the form has lines."""
    entry: int | str | None = None
    """The entry's id, or its 1-based place in the file where the id itself is missing."""
    field: str | None = None
    places: tuple[int, ...] = ()
    """Places in the corpus, from 0, of every entry that a warning is about; the message names a few."""

    def __str__(self) -> str:
        where = [self.file]
        if self.line is not None:
            where.append(f"line {self.line}")
        if self.entry is not None:
            where.append(f"entry {self.entry}")
        if self.field is not None:
            where.append(f"field {self.field!r}")
        return f"{self.severity}: {', '.join(where)}: {self.message} {self.mend}"


class CorpusError(Exception):
    """A corpus file that cannot be used; carries all its problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class CardError(CorpusError):
    """A language card that cannot be used."""
