"""The corpora of the store: which there are, who used them, their entries in any order, and their names.

Nothing here loads a corpus whole for a screen: lists of places are numbers, and texts are read a screenful at a
time. ``store:`` and the beginning of a corpus's hash replaces a file, so that a run can be asked for
again after its file was moved or changed, on exactly the entries it had.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corpora.checks.entries import check_entries
from corpora.checks.requirements import Requirement, Statistics, requirements, statistics
from corpora.files.decode import Original, original
from corpora.files.problems import CorpusError, Problem
from corpora.formats.columns import Columns
from corpora.formats.load import load
from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import AnyEntry, Segment, reveal_here
from harness.consent.given import consent_of
from harness.core.failures import UsageError
from harness.store.corpora.entries import read_dataset, read_entries, save_corpus, shown_entries
from harness.store.sqlite.schema import create_schema
from harness.store.sqlite.trouble import among, of_kind, stored_json, stored_word
from harness.store.withdrawn import now_standing, withdrawn_corpora

PREFIX = "store:"
_LETTERS = 12  # Letters of the hash in a name that we give
_HASH = re.compile("[0-9a-f]{6,64}")


def stored_name(corpus: Corpus) -> str:
    """Name a corpus of the store."""
    return f"{PREFIX}{corpus.sha256[:_LETTERS]}"


def names_stored(name: str) -> bool:
    """Distinguish the name of a corpus of the store from that of a file."""
    return name.startswith(PREFIX)


def read_stored(
    connection: sqlite3.Connection,
    name: str,
    envelope: Mapping[str, str | None],
    columns: Mapping[str, str] | None = None,
    *,
    kept_here: bool = False,
) -> Corpus:
    """Read the corpus of this name; ``envelope`` and the ``columns`` by side tell which, where one file was
    read in several ways.

    It comes with the warnings that its entries give without their file; with ``kept_here`` none quotes anything of an entry.
    UsageError where it is not there, or is still not clear.
    """
    number = find_stored(connection, name, envelope, columns)
    if read_dataset(connection, number).opened_from is not None:
        raise UsageError(
            f"{name}: this corpus was opened from a vault. Open it there: --vault FOLDER and --purpose WORDS, with its name "
            "in the vault instead of a file."
        )
    corpus = read_corpus_of_run(connection, number)
    update = {"local_only": True} if kept_here else {}
    entries = [entry.model_copy(update=update) for entry in corpus.reveal_here()]
    return replace(corpus, warnings=check_entries(entries, corpus.dataset.id))


def find_stored(
    connection: sqlite3.Connection,
    name: str,
    envelope: Mapping[str, str | None],
    columns: Mapping[str, str] | None = None,
) -> int:
    """Return the store's number of the corpus that ``read_stored`` reads; UsageError as there, and nothing is opened."""
    beginning = name.removeprefix(PREFIX).lower()
    if not _HASH.fullmatch(beginning):
        raise UsageError(f"{name}: after {PREFIX} come at least six letters of the corpus's hash.")
    envelope = {"id": None, "source_language": None, "target_language": None} | dict(envelope)
    rows = connection.execute(
        "SELECT id FROM corpora WHERE NOT partial AND substr(sha256, 1, ?) = ? ORDER BY id", (len(beginning), beginning)
    ).fetchall()
    numbers = []
    for (number,) in rows:
        dataset = read_dataset(connection, number)
        if all(value in (None, getattr(dataset, field)) for field, value in envelope.items()):
            numbers.append(int(number))
    if not numbers:
        raise UsageError(f"{name}: the store has no such corpus. Name its file instead.")
    if columns or None not in envelope.values():
        named = dict(columns or {})
        exact = [n for n in numbers if (read_dataset(connection, n).columns_read or {}) == named]
        numbers = exact or numbers
    if len(numbers) > 1 and None in envelope.values():
        raise UsageError(
            f"{name}: the store has {len(numbers)} corpora that begin so. Give more of the hash, or "
            "--source-language, --target-language, --id and the columns of the one that is meant."
        )
    return numbers[-1]


def segments_of(connection: sqlite3.Connection, corpus: int, positions: Sequence[int]) -> tuple[Segment, ...]:
    """Return the segments of some entries of a stored corpus, each once; nothing is opened for it."""
    condition, wanted = among("position", positions)
    query = f"SELECT DISTINCT segment FROM entries WHERE corpus = ? AND segment IS NOT NULL{condition} ORDER BY 1"
    rows = connection.execute(query, (corpus, *wanted))
    return tuple(stored_word(segment, Segment) for (segment,) in rows)


def count_secret(connection: sqlite3.Connection, corpus: int, positions: Sequence[int]) -> int:
    """Return how many of some entries of a stored corpus are secret; nothing is opened for it."""
    condition, wanted = among("position", positions)
    query = f"SELECT segment FROM entries WHERE corpus = ? AND segment IS NOT NULL{condition}"
    rows = connection.execute(query, (corpus, *wanted))
    return sum(stored_word(segment, Segment).secret for (segment,) in rows)


def read_corpus_of_run(connection: sqlite3.Connection, number: int) -> Corpus:
    """Read the whole corpus with this number of the store."""
    return _corpus_of(connection, number, read_entries(connection, number))


def shown_corpus(connection: sqlite3.Connection, number: int) -> Corpus:
    """Return the same for a list or screen; entries that no key available opens are without texts (``shown_entries``)."""
    return _corpus_of(connection, number, shown_entries(connection, number))


def _corpus_of(connection: sqlite3.Connection, number: int, entries: Mapping[int, AnyEntry]) -> Corpus:
    sha256 = connection.execute("SELECT sha256 FROM corpora WHERE id = ?", (number,)).fetchone()[0]
    return Corpus(
        read_dataset(connection, number), tuple(entries[place] for place in sorted(entries)), sha256, Form.SPECIFICATION
    )


@dataclass(frozen=True, slots=True)
class CorpusSummary:
    """One line of the list of corpora; readings of one and the same file are one line."""

    number: int
    """The store's own number of its fullest reading, the newest where several are as full."""
    sha256: str
    dataset: Dataset
    partial: bool
    """True where it is known only through a run card that came from elsewhere."""
    entries: int
    segments: Mapping[str | None, int]
    """Entries by segment, None for those without one."""
    runs: tuple[str, ...]
    """Ids of the runs that used it, newest first."""
    last_used: float | None
    """Unix time at which the newest of them began."""
    files: tuple[Path, ...]
    """Where the newest run that says so read it from."""


def list_corpora(
    connection: sqlite3.Connection, sha256: str | None = None, *, withdrawn: bool = False
) -> list[CorpusSummary]:
    """Return all corpora, or those of one hash, the one used last first.

    Those for which consent was withdrawn, for some entries too, are among them only where ``withdrawn`` asks for them.
    """
    counts: dict[int, dict[str | None, int]] = {}
    readings: dict[str, list[tuple[int, bool]]] = {}
    gone = {} if withdrawn else withdrawn_corpora(connection)
    for number, hashed, partial in connection.execute(
        "SELECT id, sha256, partial FROM corpora WHERE ? IN (sha256, '')", (sha256 or "",)
    ):
        if number in gone:
            continue
        readings.setdefault(hashed, []).append((number, bool(partial)))
        segments = connection.execute(
            "SELECT segment, count(*) FROM entries WHERE corpus = ? GROUP BY 1 ORDER BY 1", (number,)
        )
        counts[number] = dict(segments.fetchall())
    summaries = (_summary(connection, hashed, of, counts) for hashed, of in readings.items())
    return sorted(summaries, key=lambda each: (each.last_used or 0.0, each.number), reverse=True)


def _summary(
    connection: sqlite3.Connection,
    sha256: str,
    readings: Sequence[tuple[int, bool]],
    counts: Mapping[int, Mapping[str | None, int]],
) -> CorpusSummary:
    def fullness(reading: tuple[int, bool]) -> tuple[bool, int, int]:
        number, partial = reading
        return (not partial, sum(counts.get(number, {}).values()), number)

    number, partial = max(readings, key=fullness)
    rows = connection.execute(
        "SELECT run_id, created, json_extract(plan, '$.corpus_files') FROM runs WHERE put_away IS NULL"
        " AND corpus IN (SELECT value FROM json_each(?)) ORDER BY created DESC, id DESC",
        (json.dumps([reading for reading, _ in readings]),),
    )
    users = [(run_id, created, _paths(files)) for run_id, created, files in rows]
    segments = counts.get(number, {})
    return CorpusSummary(
        number=number,
        sha256=sha256,
        dataset=read_dataset(connection, number),
        partial=partial,
        entries=sum(segments.values()),
        segments=segments,
        runs=tuple(run_id for run_id, _, _ in users),
        last_used=users[0][1] if users else None,
        files=next((files for _, _, files in users if files), ()),
    )


def _paths(stated: str | None) -> tuple[Path, ...]:
    if stated is None:
        return ()
    return tuple(Path(of_kind(path_text, str)) for path_text in of_kind(stored_json(stated), list))


def hold_in_memory(corpus: Corpus) -> tuple[sqlite3.Connection, int]:
    """Store a corpus that was only opened in a store in memory; return it with its number.

    It is read as the store is, without a copy of its texts on the disk.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA temp_store = MEMORY")  # what it sorts stays in memory too
    create_schema(connection)
    connection.execute("BEGIN")
    number = save_corpus(connection, corpus)
    connection.execute("COMMIT")
    return connection, number


# ---- What is known of a corpus as a whole: its statistics, what its checks find, and the file it
# came from.


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
    lines: Sequence[int | None] = ()
    """Line of each entry in the file, by place; empty where the file is not available."""

    flagged: frozenset[int] = frozenset()
    """Places of all entries that a finding is about."""

    def of_entry(self, place: int) -> list[Problem]:
        """Return what was found about one entry."""
        return [problem for problem in self.problems if place in problem.places]


def examine(corpus: Corpus) -> Examination:
    """Check a corpus that was just read from its file."""
    return _examination(corpus, corpus.files, original(corpus.files, corpus.sha256))


def examine_stored(connection: sqlite3.Connection, number: int, sha256: str, files: Sequence[Path]) -> Examination:
    """Check a corpus of the store, and the file that it was read from where that is still the same."""
    dataset, source_state = read_dataset(connection, number), original(files, sha256)
    corpus = None
    if source_state is Original.UNCHANGED:
        with suppress(CorpusError):  # it cannot be read without the options that its reader had then
            columns = Columns(**dict[str, Any](dataset.columns_read or {}))
            corpus = load(files[0], files[1:], dataset=dataset, columns=columns)
    held = connection.execute("SELECT count(*) FROM entries WHERE corpus = ?", (number,))
    if corpus is None or len(corpus.entries) != held.fetchone()[0]:
        entries = read_entries(connection, number).in_order
        problems = check_entries(reveal_here(entries), dataset.id)
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
