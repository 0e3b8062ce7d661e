"""Collects what is wrong with a file, so that its owner learns of all of it in one go."""

from __future__ import annotations

from collections.abc import Sequence

from corpora.files.problems import CorpusError, Problem, Severity

MOST = 10_000
"""After so many problems reading stops: the file is something else than a corpus."""


def shown(value: object, longest: int = 60) -> str:
    """Return an id or file name as harmless text: control and bidi characters escaped, shortened."""
    text = str(value) if not isinstance(value, str) or value.isprintable() else repr(value)[1:-1]
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _importance(problem: Problem) -> tuple[bool, int]:
    return problem.severity is not Severity.ERROR, problem.line or 0


class Findings:
    """The problems found in one corpus so far."""

    def __init__(self, file: str) -> None:
        self.file = shown(file, longest=4096)
        self.problems: list[Problem] = []

    def error(
        self,
        message: str,
        mend: str,
        *,
        line: int | None = None,
        entry: int | str | None = None,
        field: str | None = None,
    ) -> None:
        """Note what makes the file unusable."""
        self._note(Severity.ERROR, message, mend, line, entry, field)

    def warning(
        self,
        message: str,
        mend: str,
        *,
        line: int | None = None,
        entry: int | str | None = None,
        field: str | None = None,
        places: Sequence[int] = (),
    ) -> None:
        """Note what the owner should know although the file can be used."""
        self._note(Severity.WARNING, message, mend, line, entry, field, places)

    def _note(
        self,
        severity: Severity,
        message: str,
        mend: str,
        line: int | None,
        entry: int | str | None,
        field: str | None,
        places: Sequence[int] = (),
    ) -> None:
        where = shown(entry) if isinstance(entry, str) else entry
        self.problems.append(
            Problem(severity, self.file, message, mend, line, where, field, tuple(places))
        )
        if len(self.problems) >= MOST:
            self.problems.append(
                Problem(
                    Severity.ERROR,
                    self.file,
                    f"There are more than {MOST} problems; reading stopped here.",
                    "Check that this is the right file.",
                    line,
                )
            )
            raise CorpusError(self.problems)

    @property
    def failed(self) -> bool:
        """True once an error was noted."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)

    def failure(self) -> CorpusError:
        """Return the exception that carries everything found."""
        return CorpusError(sorted(self.problems, key=_importance))

    def stop_if_failed(self) -> None:
        """Raise CorpusError with everything found, if any of it is an error."""
        if self.failed:
            raise self.failure()
