"""What is linted: a run of the store, or the card in a file, with what the store knows of its corpus."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from corpora.files.json_types import JsonObject
from corpora.model.corpus import Dataset
from corpora.model.entry import Entry, EntryId, Segment, reveal_here
from corpora.model.task import TRANSLATION
from corpora.text.comparison import normalised
from harness.card.comparability import card_id
from harness.card.foreign_cards import ForeignLayout, adopt, layout, unwrapped
from harness.card.reading import block, card_head, parse_object, read_card_bytes
from harness.card.rows import row_entry
from harness.core.failures import UsageError
from harness.setup.scoring_tools import stated_setup
from harness.store.corpora.entries import (
    corpus_sha256,
    open_entries,
    read_dataset,
    read_entries,
    shown_entries,
    whole_corpus,
)
from harness.store.results import read_results
from harness.store.runs import Run
from scoring.core.scorer import Scorer
from scoring.findings.engine import find
from scoring.findings.finding import FindingCode, OutputFinding, finding_sentence
from scoring.metrics.chrf_bleu import ChrfPlusPlus, References
from scoring.words.source_words import Resources


@dataclass(frozen=True, slots=True)
class LintedEntry:
    """One entry with what a method gave for it."""

    entry: Entry
    output: str  # Empty where it failed


@dataclass(frozen=True, slots=True)
class LintSubject:
    """A run as linting sees it."""

    name: str
    rows: tuple[LintedEntry, ...]
    development: tuple[Entry, ...]
    """Those entries of its corpus, whether they were translated or not; of a card from elsewhere only open ones."""
    dataset: Dataset | None
    """The envelope of its corpus; None where the store does not have the corpus."""
    card: JsonObject


def stored_subject(connection: sqlite3.Connection, run: Run) -> LintSubject:
    """Return a finished run of the store; HarnessError where it has no card yet, StoreSealed where no key opens it."""
    card = card_head(connection, run)
    read = read_entries(connection, run.corpus, run.positions)
    own = dict(zip(read, reveal_here(read.values()), strict=True))
    rows = [
        LintedEntry(entry, result.output or "")
        for result in read_results(connection, run.id)
        if (entry := own.get(result.position)) and not entry.withheld
    ]
    if run.imported:
        whole = whole_corpus(connection, corpus_sha256(connection, run.corpus))
        return _completed(connection, run.run_id, rows, card, whole)
    return _completed(connection, run.run_id, rows, card, run.corpus, own=True)


def filed_subject(connection: sqlite3.Connection, path: Path) -> LintSubject:
    """Return the card in a file; UsageError where it is none, or has no rows."""
    raw = unwrapped(parse_object(read_card_bytes(path), path.name))
    if layout(raw, path.name) is not ForeignLayout.CARD:
        raise UsageError(f"{path.name} is not a run card. `rosetta runs import` takes it in first.")
    card = adopt(raw, path.name)
    rows = [LintedEntry(row_entry(result), result.predicted or "") for result in card.results if not result.withheld]
    whole = whole_corpus(connection, card.dataset.sha256)
    return _completed(connection, path.name, rows, raw, whole)


def _completed(
    connection: sqlite3.Connection,
    name: str,
    told: Iterable[LintedEntry],
    card: JsonObject,
    corpus: int | None,
    *,
    own: bool = False,
) -> LintSubject:
    """Return rows with the classes of variants that the corpus knows beyond a card, and the development entries.

    ``own``: a run of this store, whose secret entries may be examined here; a card from elsewhere is held against open ones only.
    """
    read = shown_entries if own else open_entries
    whole = () if corpus is None else read(connection, corpus).values()
    usable = [entry for entry in whole if not entry.not_stored]
    known = {str(card_id(entry.id)): entry for entry in usable}
    rows = []
    for row in told:  # with the class of its entry; its texts stay those of the run
        same = known.get(str(card_id(row.entry.id)))
        if same is not None and same.variant_class is not None:
            update = {"variant_class": same.variant_class}
            row = LintedEntry(row.entry.model_copy(update=update), row.output)  # noqa: PLW2901
        rows.append(row)
    every = usable or [row.entry for row in rows]
    return LintSubject(
        name=name,
        rows=tuple(rows),
        development=tuple(entry for entry in every if entry.segment is Segment.DEVELOPMENT),
        dataset=None if corpus is None else read_dataset(connection, corpus),
        card=card,
    )


# ---- What linting says of a run: what was seen, how likely that is by chance, and what it does
# not prove.


class LintFinding(BaseModel):
    """One thing that somebody ought to look at, or to know. It names entries by id.

    ``examples`` are the only texts: short pieces of open outputs.
    """

    model_config = ConfigDict(frozen=True)

    check: Literal["variants", "generalization", "copies", "prompt", "declaration", "canary"] | FindingCode
    severity: Literal["look", "note"]
    """``look``: somebody should look at these entries; ``note``: to be known."""
    seen: str
    """What was seen, as a sentence."""
    count: int
    of: int
    """Entries at which it was seen, and those that were examined."""
    entries: tuple[EntryId, ...] = ()
    """Ids of those entries, all of them."""
    chance: float | None = None
    """Probability of as much or more by chance (0–1); null where none can be computed."""
    share: float | None = None
    """``count`` / ``of`` (0–1) of a finding in outputs; null of the checks of legitimacy."""
    cost: float | None = None
    """Points of chrF++ that the run would gain without it; null where that cannot be computed, or below 2 %."""
    examples: tuple[str, ...] = ()
    """Pieces of outputs that show it, never of a secret entry. Hostile text."""
    rests_on: str = ""
    """What the finding was made of, and what it takes for granted; empty where ``seen`` says it."""
    proves_not: str = ""
    """What else may be the reason."""


class NotLookedAt(BaseModel):
    """A check that could not be made."""

    model_config = ConfigDict(frozen=True)

    check: str
    why: str


class LintReport(BaseModel):
    """All that was found in one run."""

    model_config = ConfigDict(frozen=True)

    run: str
    """Id of the run, or name of the card's file."""
    findings: tuple[LintFinding, ...]
    not_looked_at: tuple[NotLookedAt, ...]
    checks: int = 0
    """How many checks there are, those that could not be made among them."""


# ---- Faults that outputs show by themselves: the findings of ``scoring.findings``, with their
# entries.


def findings_of(subject: LintSubject) -> tuple[OutputFinding, ...] | None:
    """Return the findings of a run of translations, the most frequent first; None of a run of another task."""
    if (block(subject.card, "dataset").get("task") or TRANSLATION) != TRANSLATION:
        return None
    setup = stated_setup(block(subject.card, "scoring") or None)
    chrf = ChrfPlusPlus() if setup is None else ChrfPlusPlus(References.of(setup))
    scorer = Scorer([chrf], languages=None if setup is None else Resources(setup).languages)
    entries = [row.entry for row in subject.rows]
    return find(entries, [row.output for row in subject.rows], chrf, read=scorer.alike)


def lint_outputs(subject: LintSubject) -> Iterator[LintFinding | NotLookedAt]:
    """Yield what can be named in the outputs of translations."""
    findings = findings_of(subject)
    if findings is None:
        yield NotLookedAt(check="outputs", why="these findings are those of translations")
        return
    canaries = () if subject.dataset is None else tuple(map(normalised, subject.dataset.canary))
    yield from (_linted(finding, canaries) for finding in findings)


def _linted(finding: OutputFinding, canaries: Sequence[str]) -> LintFinding:
    """Return a finding as linting shows it, without examples that quote a canary."""

    def quotes(example: str, canary: str) -> bool:  # an example may be cut
        return bool(example) and (canary[:_BEGINNING] in example or example in canary)

    examples = [
        example for example in finding.examples if not any(quotes(normalised(example), canary) for canary in canaries)
    ]
    return LintFinding(
        check=finding.code,
        severity="look",
        seen=finding_sentence(finding),
        count=finding.count,
        of=finding.of,
        share=finding.share,
        cost=finding.cost,
        entries=finding.entries,
        examples=tuple(examples),
    )


_BEGINNING = 8
