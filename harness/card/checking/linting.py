"""Canaries: strings that a corpus has so that nobody else has them, found in outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from corpora.model.corpus import LEAST_OF_CANARY, Dataset
from corpora.model.entry import Entry, Segment
from corpora.text.comparison import comparison_form, normalised
from harness.card.checking.lint_subject import (
    LintedEntry,
    LintFinding,
    LintReport,
    LintSubject,
    NotLookedAt,
    lint_outputs,
)
from harness.card.reading import block
from scoring.statistics.distributions import chance_of_so_many


def lint_canaries(subject: LintSubject) -> Iterator[LintFinding | NotLookedAt]:
    """Yield a finding where an output has a canary of its corpus that its own entry does not have."""
    stated = () if subject.dataset is None else subject.dataset.canary
    if not stated:
        yield NotLookedAt(check="canary", why=_why_none(subject.dataset))
        return
    canaries = [comparison_form(canary) for canary in stated if len(normalised(canary)) >= LEAST_OF_CANARY]
    if not canaries:
        yield NotLookedAt(check="canary", why="the canaries of the corpus are too short")
        return
    linted_entries = []
    for row in subject.rows:
        own = (row.entry.source, row.entry.reference, *row.entry.variants)
        known, output = [comparison_form(text) for text in own], comparison_form(row.output)
        if any(c in output and not any(c in text for text in known) for c in canaries):
            linted_entries.append(row)
    if linted_entries:
        yield LintFinding(
            check="canary",
            severity="look",
            seen=f"{len(linted_entries):,} of {len(subject.rows):,} outputs hold a canary of the corpus, which no source and no reference of theirs has",
            count=len(linted_entries),
            of=len(subject.rows),
            entries=tuple(row.entry.id for row in linted_entries),
            rests_on="the canaries of the corpus's envelope, letter by letter; no method receives them",
            proves_not="who had the corpus file: a model's maker may have gathered it without the method's author knowing",
        )


def _why_none(dataset: Dataset | None) -> str:
    if dataset is None:
        return "the corpus is not known here"
    if dataset.opened_from is not None:
        return "the corpus came from a vault, which keeps its canaries, if it has any"
    return "the corpus names no canary"


# ---- Outputs that are near copies of what belongs to other entries, of the development set.

NEAR = 0.9  # Share of letters that stand alike, from which a text is a near copy of another
LEAST_LETTERS = 12  # Shorter texts, without spaces and punctuation, are alike by chance
_AT_ONCE = 256  # Outputs compared in one matrix


def lint_copies(subject: LintSubject) -> Iterator[LintFinding | NotLookedAt]:
    """Yield a finding where outputs are near copies of references of other development entries, and less like their own."""
    known = [(entry, text) for entry in subject.development for text in _long([entry.reference, *entry.variants])]
    asked = [row for row in subject.rows if _long([row.output])]
    if not known or not asked:
        unknown = "the development entries of the corpus are not known here"
        yield NotLookedAt(check="copies", why="no output is long enough" if known else unknown)
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


def _copies(asked: Sequence[LintedEntry], known: Sequence[tuple[Entry, str]]) -> Iterator[tuple[LintedEntry, Entry]]:
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


# ---- Two groups of one run: entries with known variants beside the others, development entries
# beside the others.
#
# In both, right means the reference itself, letter by letter. Anyone who knows the references
# hits them where an honest method would as well say it otherwise, or do worse.

LEAST = 5  # Fewest entries of a group that says anything
TOO_PERFECT = 0.9  # Share of references hit, from which entries with variants are examined

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
    exact = sum(map(is_reference, others))
    beside = f"; of the {len(others):,} without a class {exact:,}" if others else ""
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


def _chance(hits: Sequence[LintedEntry], group: Sequence[LintedEntry], others: Sequence[LintedEntry]) -> float | None:
    """Return how likely that many hits are where both groups are hit equally often; None for too few others."""
    if len(others) < LEAST:
        return None
    return chance_of_so_many(len(hits), len(group), sum(map(is_reference, others)), len(others))


# ---- What a card says of its method: references that are in its prompt, and the use of
# development data.

FIELD = "development_data"
"""Field of a card, or of its ``method_card`` or ``method``, that says which development entries a method was given."""


def declaration(subject: LintSubject) -> object:
    """Return what a card declares of development data; None where it says nothing."""
    places = (subject.card, block(subject.card, "method_card"), block(subject.card, "method"))
    return next((place[FIELD] for place in places if place.get(FIELD) is not None), None)


def lint_prompt(subject: LintSubject) -> Iterator[LintFinding | NotLookedAt]:
    """Yield what of the corpus is in the prompt on the card (§9.2): development entries, and what was translated."""
    prompt = subject.card.get("system_prompt_used")
    if not isinstance(prompt, str) or not prompt.strip():
        yield NotLookedAt(check="prompt", why="there is no prompt on the card")
        return
    text = normalised(prompt)
    examples = [entry for entry in subject.development if _stands_in(entry, text)]
    if examples and declaration(subject) in (None, False):
        of = len(subject.development)
        yield LintFinding(
            check="prompt",
            severity="look",
            seen=f"the references of {len(examples):,} of {of:,} development entries are in the prompt, and the card declares no use of them",
            count=len(examples),
            of=of,
            entries=tuple(example.id for example in examples),
            rests_on=f"the prompt on the card, without case, spaces and punctuation; references from {LEAST_LETTERS} letters on. "
            "A card holds only the hash of coaching data, so their texts are not searched",
            proves_not="anything that is not allowed: development entries may be examples, if that is declared (§9.2)",
        )
    rows = [row.entry for row in subject.rows if row.entry.segment is not Segment.DEVELOPMENT]
    given = [row for row in rows if _stands_in(row, text)]
    if given:
        yield LintFinding(
            check="prompt",
            severity="look",
            seen=f"the references of {len(given):,} of {len(rows):,} translated entries outside of the development set are in the prompt",
            count=len(given),
            of=len(rows),
            entries=tuple(entry.id for entry in given),
            rests_on=f"the prompt on the card, without case, spaces and punctuation; references from {LEAST_LETTERS} letters on",
            proves_not="that they were taken from the corpus: common phrases are in many texts",
        )


def lint_declaration(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield what a card declares of development data."""
    if declaration(subject) in (None, False):
        return
    yield LintFinding(
        check="declaration",
        severity="note",
        seen="the card declares that development entries were given to the method, which is allowed",
        count=0,
        of=len(subject.development),
        rests_on=f"the field {FIELD} of the card",
        proves_not="which entries were used, nor that no others were",
    )


def _stands_in(entry: Entry, prompt: str) -> bool:
    reference = normalised(entry.reference)
    return len(reference) >= LEAST_LETTERS and reference in prompt


# ---- All checks of one run, in the order in which they are shown ----

CHECKS = (lint_outputs, lint_canaries, lint_prompt, lint_declaration, lint_copies, lint_variants, lint_generalization)


def lint(subject: LintSubject) -> LintReport:
    """Return what was found in a run: first in its outputs, then by the rules of legitimacy, the notes last."""
    if not subject.rows:
        why = "no outputs are known: the card has no rows"
        skipped = (NotLookedAt(check="all", why=why),)
        return LintReport(run=subject.name, findings=(), not_looked_at=skipped, checks=len(CHECKS))
    results = [result for check in CHECKS for result in check(subject)]
    findings = [result for result in results if isinstance(result, LintFinding)]
    return LintReport(
        run=subject.name,
        findings=tuple(sorted(findings, key=lambda finding: finding.severity)),
        not_looked_at=tuple(result for result in results if isinstance(result, NotLookedAt)),
        checks=len(CHECKS),
    )
