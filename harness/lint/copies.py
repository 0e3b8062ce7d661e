"""Outputs that are near copies of what belongs to other entries, of the development set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from corpora.model.entry import Entry
from corpora.text.comparison import normalised
from harness.lint.finding import LintFinding, NotLookedAt
from harness.lint.subject import LintedEntry, LintSubject

NEAR = 0.9
"""Share of letters that stand alike, from which a text is a near copy of another."""

LEAST_LETTERS = 12
"""Shorter texts, without spaces and punctuation, are alike by chance."""

_AT_ONCE = 256
"""Outputs compared in one matrix."""


def lint_copies(subject: LintSubject) -> Iterator[LintFinding | NotLookedAt]:
    """Yield a finding where outputs are near copies of references of other development entries, and less like their own."""
    known = [
        (entry, text)
        for entry in subject.development
        for text in _long([entry.reference, *entry.variants])
    ]
    asked = [row for row in subject.rows if _long([row.output])]
    if not known or not asked:
        why = (
            "the development entries of the corpus are not known here"
            if not known
            else "no output is long enough"
        )
        yield NotLookedAt(check="copies", why=why)
        return
    copies = list(_copies(asked, known))
    if not copies:
        return
    pairs = ", ".join(f"{row.entry.id} of {of.id}" for row, of in copies[:5])
    yield LintFinding(
        check="copies",
        severity="look",
        seen=f"{len(copies):,} of {len(asked):,} outputs are near copies of the reference of another entry, one of the development set "
        f"({pairs}{', …' if len(copies) > 5 else ''})",
        count=len(copies),
        of=len(asked),
        entries=tuple(row.entry.id for row, _ in copies),
        rests_on=f"{NEAR:.0%} of the letters alike (Levenshtein, without case, spaces and punctuation, from {LEAST_LETTERS} "
        "letters on), and more than with the entry's own reference",
        proves_not="that the method was trained on them: a dictionary of phrases, a prompt with examples or a formulaic corpus does the same",
    )


def _long(texts: Sequence[str]) -> list[str]:
    forms = (normalised(text) for text in texts)
    return [text for text in forms if len(text) >= LEAST_LETTERS]


def _copies(
    asked: Sequence[LintedEntry], known: Sequence[tuple[Entry, str]]
) -> Iterator[tuple[LintedEntry, Entry]]:
    """Yield outputs with the development entry that each is nearest to."""
    texts = [text for _, text in known]
    for start in range(0, len(asked), _AT_ONCE):
        rows = asked[start : start + _AT_ONCE]
        outputs = [normalised(row.output) for row in rows]
        alike = cdist(outputs, texts, scorer=Levenshtein.normalized_similarity, score_cutoff=NEAR)
        for row, output, line in zip(rows, outputs, alike, strict=True):
            near = int(line.argmax())
            if line[near] and not _explained(row, output, texts[near]):  # what is less alike is 0
                yield row, known[near][0]


def _explained(row: LintedEntry, output: str, near: str) -> bool:
    """Return whether an output is as like to what its own entry has, or that is a near copy itself."""
    entry, similarity = row.entry, Levenshtein.normalized_similarity(output, near)
    own = [normalised(text) for text in (entry.reference, *entry.variants, entry.source) if text]
    return any(
        Levenshtein.normalized_similarity(output, text) >= similarity
        or Levenshtein.normalized_similarity(near, text) >= NEAR
        for text in own
    )
