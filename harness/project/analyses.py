"""Analyses of translations, proposed by the language's analyser and confirmed by a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from harness.core.failures import UsageError
from harness.project.state import Analysed, Project, ProjectEntry, today, with_reference
from harness.setup.word_analyser import WordAnalyser, word_analyser

MOST_PROPOSALS = 9
"""Whole readings that are offered of one sentence; a key chooses one."""


@dataclass(frozen=True)
class Proposal:
    """What an analyser says of one translation."""

    entry: ProjectEntry
    reference: str
    """Never to be logged of a secret entry."""
    readings: tuple[str, ...]
    """Each is one analysis for every word, separated by blanks."""
    unknown: tuple[str, ...]
    """Words that the analyser does not know; with one of them there is no reading."""


def analyser_for(project: Project) -> WordAnalyser:
    """Open the analyser of the project's language; UsageError says why there is none, and that the step may be left out."""
    tag = project.state.dataset["target_language"]
    analyser = word_analyser(tag, [])
    if isinstance(analyser, str):
        raise UsageError(
            f"Nothing can be proposed: {analyser}. Copy one (docs/fst.md), or leave this step out: analyses are worth having and no requirement."
        )
    return analyser


def waiting_for_analysis(project: Project, *, secret: bool) -> list[ProjectEntry]:
    """Return the entries with a translation and no confirmed analysis; secret ones only where they are asked for."""
    return [
        project_entry
        for project_entry in with_reference(project.state.entries)
        if project_entry.analysed is None and (secret or not project_entry.secret)
    ]


def proposals(
    project: Project, analyser: WordAnalyser, entries: Sequence[ProjectEntry]
) -> Iterator[Proposal]:
    """Yield what the analyser says of each entry's translation, opened one after the other."""
    for entry in entries:
        texts = project.texts(entry)
        words = analyser.annotator.split(texts.reference)
        word_analyses = analyser.annotator.analyse_words(words, secret=True)
        unknown = tuple(
            word_analysis.word for word_analysis in word_analyses if not word_analysis.analyses
        )
        choices = [word_analysis.analyses for word_analysis in word_analyses]
        readings = (
            ()
            if unknown or not word_analyses
            else tuple(" ".join(reading) for reading in islice(product(*choices), MOST_PROPOSALS))
        )
        yield Proposal(entry, texts.reference, readings, unknown)


def confirm(
    project: Project, proposal: Proposal, reading: int, by: str, analyser: WordAnalyser
) -> None:
    """Store the reading that a person confirmed in an entry, with who it was; ``reading`` is its place, from 0."""
    texts = replace(project.texts(proposal.entry), analysis=proposal.readings[reading])
    done = Analysed(
        by=by,
        on=today(),
        analyser=analyser.analyser.name[:200],
        analyser_sha256=analyser.analyser.sha256,
    )
    project.put([project.with_texts(proposal.entry.model_copy(update={"analysed": done}), texts)])
