"""The command that makes two runs comparable, where there is one; light enough for lists of runs."""

from __future__ import annotations

from typing import NamedTuple


class ScoredTerms(NamedTuple):
    """A run by its short id, and the terms with which it was scored."""

    run: str
    sha256: str | None
    """None for a run without terms and coaching."""


def terms_remedy(first: ScoredTerms, second: ScoredTerms) -> str:
    """Return the command that scores one run with the terms of the other, if only one has any; else an empty text."""
    for run, other in ((first, second), (second, first)):
        if other.sha256 and not run.sha256:
            return f"; `rosetta score --rescore {run.run} --terms FILE`, with the terms or coaching of run {other.run}, makes them comparable"
    return ""
