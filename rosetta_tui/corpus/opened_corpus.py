"""A corpus that is only looked at: read from its file, in no store, gone when its screen is left."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from corpora.formats.columns import Columns
from corpora.formats.load import load
from harness.core.failures import StoreError
from harness.store.corpora.examination import Examination, examine
from harness.store.corpora.listing import CorpusSummary, hold_in_memory, list_corpora
from harness.store.file.database import opened


@dataclass(frozen=True, slots=True)
class OpenedCorpus:
    """What a screen needs of it; its texts are in memory alone."""

    sha256: str
    connection: sqlite3.Connection
    """A store in memory that holds this corpus only; the screen closes it."""
    examination: Examination

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection to a thread; StoreError where it is closed meanwhile, or fails otherwise."""
        try:
            yield self.connection
        except sqlite3.Error as error:
            raise StoreError("The corpus cannot be read any more; open its file again.") from error


def open_corpus(
    file: Path,
    reference: Path | None,
    dataset: Mapping[str, str],
    columns: Mapping[str, str] | None = None,
) -> OpenedCorpus:
    """Read a corpus from its one or two files; ``dataset`` and ``columns`` (by side) say what they do not.

    Raises CorpusError with everything that is wrong with them.
    """

    corpus = load(file, reference, dataset=dict(dataset), columns=Columns(**(columns or {})))
    connection, _ = hold_in_memory(corpus)
    return OpenedCorpus(corpus.sha256, connection, examine(corpus))


def summary_of(path: Path, sha256: str, looked_at: OpenedCorpus | None) -> CorpusSummary | None:
    """Return the line of a corpus, None where the store has none of this hash and it was not opened.

    One that was opened and is in the store too names the runs that used it.
    """
    with opened(path) as store:
        stored = next(iter(list_corpora(store, sha256)), None)
    if looked_at is None:
        return stored
    own = list_corpora(looked_at.connection, sha256)[0]
    runs = () if stored is None else stored.runs
    return replace(own, files=looked_at.examination.files, runs=runs)
