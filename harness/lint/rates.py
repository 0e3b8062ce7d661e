"""Two groups of one run: entries with known variants beside the others, development entries beside the others.

In both, right means the reference itself, letter by letter. Anyone who knows the references hits them where an honest
method would as well say it otherwise, or do worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from corpora.model.entry import Entry, Segment
from corpora.text.comparison import comparison_form
from harness.lint.finding import LintFinding, NotLookedAt
from harness.lint.subject import LintedEntry, LintSubject
from scoring.statistics.fisher import chance_of_so_many

LEAST = 5
"""Fewest entries of a group that says anything."""

TOO_PERFECT = 0.9
"""Share of references hit, from which entries with variants are examined."""

UNLIKELY = 0.01
"""Chance below which a difference is worth a look. Several checks are made of each run, so it is no test of a method."""


def is_reference(row: LintedEntry) -> bool:
    """Return whether an output is the reference itself, but for white space and forms of Unicode."""
    return bool(row.output) and comparison_form(row.output) == comparison_form(row.entry.reference)


def _parted(
    rows: Sequence[LintedEntry], belongs: Callable[[Entry], bool]
) -> tuple[list[LintedEntry], list[LintedEntry]]:
    inside = [row for row in rows if belongs(row.entry)]
    return inside, [row for row in rows if not belongs(row.entry)]


def lint_variants(subject: LintSubject) -> Iterator[LintFinding | NotLookedAt]:
    """Yield a finding where entries with a ``variant_class`` are hit letter by letter, far above the others (§9.3)."""
    classed, others = _parted(subject.rows, lambda row: row.variant_class is not None)
    if len(classed) < LEAST:
        why = f"{len(classed)} of the translated entries have a variant_class; {LEAST} are needed"
        yield NotLookedAt(check="variants", why=why)
        return
    hits = [row for row in classed if is_reference(row)]
    if len(hits) < TOO_PERFECT * len(classed):
        return
    chance = _chance(hits, classed, others)
    if chance is not None and chance >= UNLIKELY:
        return
    beside = (
        f"; of the {len(others):,} without a class {sum(map(is_reference, others)):,}"
        if others
        else ""
    )
    yield LintFinding(
        check="variants",
        severity="note" if chance is None else "look",
        seen=f"{len(hits):,} of {len(classed):,} entries with known variants are the reference letter by letter{beside}",
        count=len(hits),
        of=len(classed),
        entries=tuple(row.entry.id for row in hits),
        chance=chance,
        rests_on="exact references on entries with a variant_class, beside those without one; the chance is that of an "
        "exact test (Fisher, one-sided), as if both kinds were equally hard",
        proves_not="that references were known: entries with variants may be the easier ones, or the commonest wording may be the "
        "reference",
    )


def lint_generalization(subject: LintSubject) -> Iterator[LintFinding | NotLookedAt]:
    """Yield a finding where development entries are hit far more often than the others of the run (§9.2)."""
    seen, unseen = _parted(subject.rows, lambda row: row.segment is Segment.DEVELOPMENT)
    if min(len(seen), len(unseen)) < LEAST:
        why = f"the run has {len(seen):,} development entries and {len(unseen):,} others; {LEAST} of each are needed"
        yield NotLookedAt(check="generalization", why=why)
        return
    hits = [row for row in seen if is_reference(row)]
    chance = _chance(hits, seen, unseen)
    if chance is None or chance >= UNLIKELY:
        return
    beside = sum(map(is_reference, unseen))
    yield LintFinding(
        check="generalization",
        severity="look",
        seen=f"{len(hits):,} of {len(seen):,} development entries are the reference letter by letter, of {len(unseen):,} others {beside:,}",
        count=len(hits),
        of=len(seen),
        entries=tuple(row.entry.id for row in hits),
        chance=chance,
        rests_on="exact references on development entries, beside the other segments; the chance is that of an exact "
        "test (Fisher, one-sided), as if all segments were equally hard",
        proves_not="that examples were memorized: the development entries may be the easier ones",
    )


def _chance(
    hits: Sequence[LintedEntry], group: Sequence[LintedEntry], others: Sequence[LintedEntry]
) -> float | None:
    """Return how likely that many hits are where both groups are hit equally often; None for too few others."""
    if len(others) < LEAST:
        return None
    return chance_of_so_many(len(hits), len(group), sum(map(is_reference, others)), len(others))
