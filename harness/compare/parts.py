"""Where a run is good and where it is not: its entries by what the corpus says of them, and by what their sources show.

A corpus that says nothing of its entries still has short and long sentences, questions, numbers and words that occur
once. These parts are made of the sources alone, so that they are the same for every run over the same entries.
"""

from __future__ import annotations

import json
import re
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corpora.model.entry import Entry
from corpora.text.tokens import words
from harness.compare.reasons import run_findings
from harness.compare.rows import scorer_of
from harness.core.query import Cancelled, Query, never, parse
from harness.store.corpora.entries import shown_entries
from harness.store.ordering import Groups, Ordering
from harness.store.runs import Run
from scoring.core.inventory import composite_metrics
from scoring.core.metric import StatisticsError
from scoring.core.scorer import Scorer
from scoring.core.specification import COMPOSITE
from scoring.statistics.intervals import DIMENSIONS, SEED, Group, LiveIntervals, poisson_counts

LENGTH, PUNCTUATION, NUMBERS, ONCE = "length", "punctuation", "numbers", "words seen once"
LIVE_DRAWS = 200  # resamples of a part, which are taken again and again

READ_AT_ONCE = 2_000  # entries in memory while parts are made or scored


class PartTag(NamedTuple):
    """The parts of a run's entries by one dimension."""

    names: tuple[str, ...]
    """In the order in which they are shown."""
    codes: npt.NDArray[np.int32]
    """By place in the corpus the index of the entry's name, −1 for an entry of no part."""

    def places(self, name: str) -> array[int]:
        """Return the places of the entries of a part, ascending."""
        return array("I", np.flatnonzero(self.codes == self.names.index(name)).astype(np.uint32).tobytes())

    def of(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the codes of some places, −1 also beyond the last entry of a part."""
        return np.append(self.codes, np.int32(-1))[np.minimum(places, len(self.codes))]


Tags = Mapping[str, PartTag]
"""By dimension."""


@dataclass(frozen=True, slots=True)
class RunPart:
    """One part of a run's entries."""

    dimension: str
    name: str
    scores: Group
    """Of those of its entries that are done; without intervals where they are too few to tell."""


def part_tags(blocks: Iterable[Mapping[int, Entry]]) -> Tags:
    """Return the parts of entries by place, read some at a time; of secret ones only what may leave, nothing of their texts."""
    places, shown = array("I"), array("I")  # all of them, and those whose texts may be read
    words_of: dict[str, int] = {}
    lengths, kinds, distinct, occurring = array("I"), array("b"), array("I"), array("I")
    given = {dimension: (array("i"), dict[str, int]()) for dimension in DIMENSIONS}
    for block in blocks:
        for place, entry in block.items():
            places.append(place)
            for dimension, (codes, names) in given.items():
                tag = entry.open_tag(DIMENSIONS[dimension])
                codes.append(-1 if tag is None else names.setdefault(str(tag), len(names)))
            if not (entry.secret or entry.not_stored):
                own = [word.text.casefold() for word in words(entry.source)]
                numbers = {words_of.setdefault(word, len(words_of)) for word in own}
                shown.append(place)
                lengths.append(len(own))
                kinds.append(2 * _PUNCTUATION.index(_punctuation(entry.source)) + bool(re.search(r"\d", entry.source)))
                distinct.append(len(numbers))
                occurring.extend(numbers)
    tags = {}
    for dimension, (codes, names) in given.items():
        order = sorted(names)
        ranks = np.array([*(order.index(name) for name in names), -1], np.int32)
        tags[dimension] = _tag(order, places, ranks[np.asarray(codes, np.int32)])
    counts, kind = np.asarray(lengths, np.int64), np.asarray(kinds, np.int32)
    once = np.bincount(np.asarray(occurring, np.int64), minlength=1)[np.asarray(occurring, np.int64)] == 1
    ends = np.cumsum(np.asarray(distinct, np.int64))
    before = np.concatenate([[0], np.cumsum(once)])
    seen_once = before[ends] - before[ends - np.asarray(distinct, np.int64)]
    tags[LENGTH] = _lengths(shown, counts)
    tags[PUNCTUATION] = _tag(_PUNCTUATION, shown, kind // 2)
    tags[NUMBERS] = _tag(("no number", "a number"), shown, kind % 2)
    tags[ONCE] = _tag(("0", "1–2", "3 or more"), shown, (seen_once > 0).astype(np.int32) + (seen_once > 2))
    return {dimension: tag for dimension, tag in tags.items() if len(tag.names) > 1}


def _tag(names: Sequence[str], places: array[int], codes: npt.NDArray[np.int32]) -> PartTag:
    """Return the parts that have entries, in the order of their names, by place."""
    used = np.unique(codes[codes >= 0]).tolist()
    order = sorted(used, key=lambda code: names[code])
    ranks = np.full(len(names) + 1, -1, np.int32)
    ranks[order] = np.arange(len(order))
    by_place = np.full(max(places, default=-1) + 1, -1, np.int32)
    by_place[np.asarray(places, np.int64)] = ranks[codes]
    return PartTag(tuple(names[code].strip() for code in order), by_place)


def _lengths(places: array[int], counts: npt.NDArray[np.int64]) -> PartTag:
    """Group entries into three of about the same size by how many words they have."""
    if not len(counts):
        return PartTag((), np.zeros(0, np.int32))
    low, high = (int(edge) for edge in np.quantile(counts, (1 / 3, 2 / 3)))
    wide = len(str(high + 1))
    names = (
        f"{counts.min():>{wide}}–{low} words",
        f"{low + 1:>{wide}}–{high} words",
        f"{high + 1:>{wide}} words or more",
    )
    return _tag(names, places, (counts > low).astype(np.int32) + (counts > high))


_PUNCTUATION = ("comma, dash, bracket", "exclamation", "none inside", "question", "several sentences")


def _punctuation(text: str) -> str:
    """Return what a source has of punctuation, the most telling first."""
    end = text.rstrip("\"'”’»)] ")[-1:]
    if end in {"?", "？", "؟", "՞", ";"}:
        return "question"
    if end in {"!", "！"}:
        return "exclamation"
    if re.search(r"[.!?。！？…][\"'”’»)]*\s+\S", text):
        return "several sentences"
    return "comma, dash, bracket" if re.search(r"[,;:()\[\]«»“”—–、，；：]", text) else "none inside"


def run_tags(connection: sqlite3.Connection, run: Run, positions: Sequence[int]) -> Tags:
    """Return the parts of a run's entries; they never change, so that who looks again keeps them."""
    blocks = (positions[first : first + READ_AT_ONCE] for first in range(0, len(positions), READ_AT_ONCE))
    return part_tags(shown_entries(connection, run.corpus, block) for block in blocks)


def run_parts(connection: sqlite3.Connection, run: Run, tags: Tags) -> list[RunPart]:
    """Score every part of a run by what is stored of it now; StatisticsError where the rows cannot be read."""
    scorer = scorer_of(connection, run)
    wanted = _wanted(scorer)
    empty, random = scorer.unpack_table([], wanted), np.random.default_rng(SEED)
    sums = {
        (dimension, code): LiveIntervals(empty.metrics, draws=LIVE_DRAWS, weighing=empty.weighing)
        for dimension, tag in tags.items()
        for code in range(len(tag.names))
    }
    rows = connection.execute("SELECT position, statistics FROM results WHERE run = ? ORDER BY position", (run.id,))
    while chunk := rows.fetchmany(READ_AT_ONCE):
        places = np.array([place for place, _ in chunk])
        table = scorer.unpack_table([packed for _, packed in chunk], wanted)
        counts = poisson_counts(random, LIVE_DRAWS, len(chunk))  # which the parts of all dimensions share
        for dimension, tag in tags.items():
            codes = tag.of(places)
            for code in np.unique(codes[codes >= 0]).tolist():
                own = np.flatnonzero(codes == code)
                sums[dimension, code].add(table.rows(own), counts[:, own])
    return [
        RunPart(dimension, name, sums[dimension, code].group())
        for dimension, tag in tags.items()
        for code, name in enumerate(tag.names)
    ]


def _wanted(scorer: Scorer) -> frozenset[str]:
    """Return the metrics that parts are scored by: the headline and what a composite is made of."""
    return frozenset({scorer.columns.headline, *(composite_metrics() if scorer.mixes else ())})


# ---- What some entries of a run are worth together

ShownScores = Mapping[str, tuple[float, tuple[float, float] | None]]
"""Metric id → value and the ends of its 95 % interval, None below ten entries."""
_VERSION = """
    SELECT (SELECT count(*) FROM stretches WHERE run = u.id), json_extract(run_card, '$.run_card_hash')
    FROM runs u WHERE id = ?
"""
_SOME = "SELECT position, statistics FROM results WHERE run = ? AND position IN (SELECT value FROM json_each(?))"


class SubsetScorer:
    """Scores some entries of a run again and again, and reads only those that are new: statistics are sums.

    It starts again where an entry is no longer wanted, and where stored rows may have changed: when a run is resumed,
    which deletes failed ones, and when it gets its card. May be asked from any thread, with that thread's connection.
    """

    def __init__(self, run: int, scorer: Scorer) -> None:
        self._run, self._scorer, self._lock, self._metrics = run, scorer, Lock(), _wanted(scorer)
        self._start(None)

    def _start(self, version: object) -> None:
        self._version = version
        empty = self._scorer.unpack_table([], self._metrics)
        self._intervals = LiveIntervals(empty.metrics, weighing=empty.weighing)
        self._counted = np.zeros(0, np.bool_)  # by place

    def scores(
        self, connection: sqlite3.Connection, places: Sequence[int], cancelled: Callable[[], bool] = never
    ) -> ShownScores:
        """Return the headline, and the composite of translations, of those entries that are stored.

        Raises Cancelled as soon as nobody waits; what was read until then is kept.
        """
        wanted = np.asarray(places, np.int64)
        with self._lock:
            version = connection.execute(_VERSION, (self._run,)).fetchone()
            self._counted = np.pad(self._counted, (0, max(0, int(wanted.max(initial=-1)) + 1 - len(self._counted))))
            if version != self._version or self._counted[wanted].sum() < self._intervals.entries:
                self._start(version)
                self._counted = np.zeros(int(wanted.max(initial=-1)) + 1, np.bool_)
            new = np.sort(wanted[~self._counted[wanted]])
            for first in range(0, len(new), READ_AT_ONCE):
                if cancelled():
                    raise Cancelled
                some = json.dumps(new[first : first + READ_AT_ONCE].tolist())
                rows = connection.execute(_SOME, (self._run, some)).fetchall()
                try:
                    table = self._scorer.unpack_table([packed for _, packed in rows], self._metrics)
                except StatisticsError:
                    return {}
                self._intervals.add(table)
                self._counted[[place for place, _ in rows]] = True
            group = self._intervals.group()
        known = group.intervals
        return {
            id_: (value, (known[id_].lower, known[id_].upper) if id_ in known else None)
            for id_ in (self._scorer.columns.headline, *([COMPOSITE] if self._scorer.mixes else ()))
            if (value := group.values[id_]) is not None
        }


def entries_where(connection: sqlite3.Connection, run: Run, scorer: Scorer, where: str) -> frozenset[int]:
    """Return the places of a run's entries that fit a query, by findings and parts too; raises QueryError."""
    ordering = Ordering(run.id, kept=scorer.columns, scorer=scorer)
    ordering.prepare(connection)
    if {term.field for term in parse(where).terms} - {"", *ordering.fields}:  # which may go by another name of theirs
        findings = run_findings(connection, run)
        why = {} if findings is None else findings.groups
        ordering.groups = {**why, **tag_groups(run_tags(connection, run, run.positions))}
    places = ordering.positions(connection, where=Query.of(where, ordering.fields))
    return frozenset(int(place) for place in places)


def tag_groups(tags: Tags) -> Groups:
    """Return the parts that are worked out as fields of the filter; the others are columns of the store."""
    return {
        part_field(dimension): {name: tag.places(name) for name in tag.names}
        for dimension, tag in tags.items()
        if dimension not in DIMENSIONS
    }


def part_field(dimension: str) -> str:
    """Return the field of the filter that has the parts of a dimension."""
    return dimension.replace(" ", "_")
