"""What is known of a corpus as a whole: its statistics, what its checks find, and the file it came from."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora.checks.entries import check_entries
from corpora.checks.requirements import Requirement, Statistics, requirements, statistics
from corpora.files.decode import Original, original
from corpora.files.problems import CorpusError, Problem
from corpora.formats.columns import Columns
from corpora.formats.load import load
from corpora.model.corpus import Corpus, Dataset, Form
from harness.consent.given import consent_of
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.withdrawn import now_standing


@dataclass(frozen=True, slots=True)
class Examination:
    """A corpus, examined as ``rosetta corpus check`` and ``rosetta corpus show`` look at its file."""

    original: Original
    files: tuple[Path, ...]
    sha256: str
    """Of what was read."""
    problems: tuple[Problem, ...]
    """Of the file where it is unchanged; else what the entries alone can tell, without lines."""
    statistics: Statistics
    requirements: tuple[Requirement, ...]
    lines: tuple[int | None, ...] = ()
    """Line of each entry in the file, by place; empty where the file is not available."""

    flagged: frozenset[int] = frozenset()
    """Places of all entries that a finding is about."""

    def of_entry(self, place: int) -> list[Problem]:
        """Return what was found about one entry."""
        return [problem for problem in self.problems if place in problem.places]


def examine(corpus: Corpus) -> Examination:
    """Check a corpus that was just read from its file."""
    return _examination(corpus, corpus.files, original(corpus.files, corpus.sha256))


def examine_stored(
    connection: sqlite3.Connection, number: int, sha256: str, files: Sequence[Path]
) -> Examination:
    """Check a corpus of the store, and the file that it was read from where that is still the same."""
    dataset, source_state = read_dataset(connection, number), original(files, sha256)
    corpus = _from_file(files, dataset) if source_state is Original.UNCHANGED else None
    held = connection.execute("SELECT count(*) FROM entries WHERE corpus = ?", (number,))
    if corpus is None or len(corpus.entries) != held.fetchone()[0]:
        entries = tuple(entry for _, entry in sorted(read_entries(connection, number).items()))
        problems = check_entries(entries, dataset.id)
        corpus = Corpus(dataset, entries, sha256, Form.SPECIFICATION, problems)
    return _examination(corpus, files, source_state)


def _examination(corpus: Corpus, files: Sequence[Path], found: Original) -> Examination:
    return Examination(
        original=found,
        files=tuple(files),
        sha256=corpus.sha256,
        problems=corpus.warnings,
        statistics=statistics(corpus),
        requirements=tuple(requirements(corpus, consent_of(corpus, now_standing()))),
        lines=corpus.lines,
        flagged=frozenset(place for warning in corpus.warnings for place in warning.places),
    )


def _from_file(files: Sequence[Path], dataset: Dataset) -> Corpus | None:
    """Read the file once more; None where it cannot be read without the options that its reader had then."""
    options: dict[str, Any] = {**(dataset.columns_read or {})}
    try:
        return load(files[0], files[1:], dataset=dataset, columns=Columns(**options))
    except CorpusError:
        return None
