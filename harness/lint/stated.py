"""What a card says of its method: references that are in its prompt, and the use of development data."""

from __future__ import annotations

from collections.abc import Iterator

from corpora.model.entry import Entry, Segment
from corpora.text.comparison import normalised
from harness.card.reading import block
from harness.lint.copies import LEAST_LETTERS
from harness.lint.finding import LintFinding, NotLookedAt
from harness.lint.subject import LintSubject

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
        yield _undeclared(examples, len(subject.development))
    rows = [row.entry for row in subject.rows if row.entry.segment is not Segment.DEVELOPMENT]
    given = [row for row in rows if _stands_in(row, text)]
    if given:
        yield _given_away(given, len(rows))


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


def _undeclared(examples: list[Entry], of: int) -> LintFinding:
    return LintFinding(
        check="prompt",
        severity="look",
        seen=f"the references of {len(examples):,} of {of:,} development entries are in the prompt, and the card declares no use of them",
        count=len(examples),
        of=of,
        entries=tuple(example.id for example in examples),
        rests_on=f"the prompt on the card, without case, spaces and punctuation; references from {LEAST_LETTERS} letters on. "
        "Coaching data are on a card by their hash only, so what is there is not seen",
        proves_not="anything that is not allowed: development entries may be examples, if that is declared (§9.2)",
    )


def _given_away(given: list[Entry], of: int) -> LintFinding:
    return LintFinding(
        check="prompt",
        severity="look",
        seen=f"the references of {len(given):,} of {of:,} translated entries outside of the development set are in the prompt",
        count=len(given),
        of=of,
        entries=tuple(entry.id for entry in given),
        rests_on=f"the prompt on the card, without case, spaces and punctuation; references from {LEAST_LETTERS} letters on",
        proves_not="that they were taken from the corpus: common phrases are in many texts",
    )
