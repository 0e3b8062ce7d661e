"""Canaries: strings that a corpus has so that nobody else has them, found in outputs."""

from __future__ import annotations

from collections.abc import Iterator

from corpora.model.corpus import LEAST_OF_CANARY, Dataset
from corpora.text.comparison import comparison_form, normalised
from harness.lint.finding import LintFinding, NotLookedAt
from harness.lint.subject import LintedEntry, LintSubject


def lint_canaries(subject: LintSubject) -> Iterator[LintFinding | NotLookedAt]:
    """Yield a finding where an output has a canary of its corpus that its own entry does not have."""
    stated = () if subject.dataset is None else subject.dataset.canary
    if not stated:
        yield NotLookedAt(check="canary", why=_why_none(subject.dataset))
        return
    canaries = [
        comparison_form(canary) for canary in stated if len(normalised(canary)) >= LEAST_OF_CANARY
    ]
    if not canaries:
        yield NotLookedAt(check="canary", why="the canaries of the corpus are too short")
        return
    linted_entries = [
        row for row in subject.rows if any(_sings(row, canary) for canary in canaries)
    ]
    if linted_entries:
        yield LintFinding(
            check="canary",
            severity="look",
            seen=f"{len(linted_entries):,} of {len(subject.rows):,} outputs hold a canary of the corpus, which no source and no reference of theirs has",
            count=len(linted_entries),
            of=len(subject.rows),
            entries=tuple(row.entry.id for row in linted_entries),
            rests_on="the canaries of the corpus's envelope, letter by letter; no method is told of them",
            proves_not="who had the corpus file: a model's maker may have gathered it without the method's author knowing",
        )


def _why_none(dataset: Dataset | None) -> str:
    if dataset is None:
        return "the corpus is not known here"
    if dataset.opened_from is not None:
        return "the corpus came from a vault, which keeps its canaries, if it has any"
    return "the corpus names no canary"


def _sings(row: LintedEntry, canary: str) -> bool:
    entry = row.entry
    own = (entry.source, entry.reference, *entry.variants)
    return canary in comparison_form(row.output) and not any(
        canary in comparison_form(text) for text in own
    )
