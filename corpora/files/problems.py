"""What is wrong with a file or with a stored value, said so that its owner can fix it.

CorpusError      carries every Problem of a file, not only the first
└── CardError    the file is a language card
StoredValueError a value that was packed to be kept cannot be read

Findings collects what is wrong with a file, so that its owner learns of all of it in one go.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, TypedDict, Unpack


class StoredValueError(ValueError):
    """A stored value cannot be unpacked, is no JSON, or is not what it was when it was stored.

    Its words, where it has any, say the fix and quote nothing of the value.
    """


class Severity(StrEnum):
    """How much a problem matters: with an error the file cannot be used, with a warning it can."""

    ERROR = "error"
    WARNING = "warning"


class Problem(NamedTuple):
    """One thing that is wrong, where it is, and how to fix it.

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


MOST = 10_000
"""After that many problems reading stops: the file is something else than a corpus."""


def shown(value: object, longest: int = 60) -> str:
    """Return an id or file name as harmless text: control and bidi characters escaped, shortened."""
    text = str(value) if not isinstance(value, str) or value.isprintable() else repr(value)[1:-1]
    return text if len(text) <= longest else text[: longest - 1] + "…"


class ProblemPlace(TypedDict, total=False):
    """Where a problem is; see ``Problem``."""

    line: int | None
    entry: int | str | None
    field: str | None
    places: Sequence[int]


class Findings:
    """The problems found in one corpus so far."""

    def __init__(self, file: str) -> None:
        self.file = shown(file, longest=4096)
        self.problems: list[Problem] = []

    def error(self, message: str, mend: str, **where: Unpack[ProblemPlace]) -> None:
        """Record what makes the file unusable."""
        self._note(Severity.ERROR, message, mend, **where)

    def warning(self, message: str, mend: str, **where: Unpack[ProblemPlace]) -> None:
        """Record what the owner should know although the file can be used."""
        self._note(Severity.WARNING, message, mend, **where)

    def _note(
        self,
        severity: Severity,
        message: str,
        mend: str,
        *,
        line: int | None = None,
        entry: int | str | None = None,
        field: str | None = None,
        places: Sequence[int] = (),
    ) -> None:
        known = shown(entry) if isinstance(entry, str) else entry
        place = (line, known, field, tuple(places))
        self.problems.append(Problem(severity, self.file, message, mend, *place))
        if len(self.problems) >= MOST:
            what = f"There are more than {MOST} problems; reading stopped here."
            mend = "Check that this is the right file."
            self.problems.append(Problem(Severity.ERROR, self.file, what, mend, line))
            raise CorpusError(self.problems)

    @property
    def failed(self) -> bool:
        """True once an error was noted."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)

    def failure(self) -> CorpusError:
        """Return the exception that carries everything found."""
        warned = Severity.WARNING
        return CorpusError(sorted(self.problems, key=lambda p: (p.severity is warned, p.line or 0)))

    def stop_if_failed(self) -> None:
        """Raise CorpusError with everything found, if any of it is an error."""
        if self.failed:
            raise self.failure()
