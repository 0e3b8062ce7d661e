"""Where a run is good and where it is not: its entries by what the corpus says of them, and by what their sources show.

A corpus that says nothing of its entries still has short and long sentences, questions, numbers and words that occur
once. These parts are made of the sources alone, so that they are the same for every run over the same entries.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from corpora.model.entry import Entry
from corpora.text.tokens import words
from harness.compare.reasons import run_findings
from harness.compare.rows import scorer_of
from harness.core.query import Query, parse
from harness.store.corpora.entries import shown_entries
from harness.store.ordering import Groups, Ordering
from harness.store.results import read_statistics
from harness.store.runs import Run
from scoring.core.inventory import composite_metrics
from scoring.core.metric import Table
from scoring.core.scorer import Scorer
from scoring.statistics.intervals import DIMENSIONS, Group, grouped

LENGTH, PUNCTUATION, NUMBERS, ONCE = "length", "punctuation", "numbers", "words seen once"
LIVE_DRAWS = 200  # resamples of a part, which are taken again and again

Tags = Mapping[str, Mapping[int, str]]
"""Dimension → place in the corpus of an entry → its part. Entries of no part are left out."""


@dataclass(frozen=True, slots=True)
class RunPart:
    """One part of a run's entries."""

    dimension: str
    name: str
    places: frozenset[int]
    """All of its entries, whether they are done or not."""
    scores: Group
    """Of those that are done; without intervals where they are too few to tell."""


def part_tags(entries: Mapping[int, Entry]) -> Tags:
    """Return the parts of a run's entries by place; of secret ones only what may leave, and nothing of their texts."""
    tags: dict[str, dict[int, str]] = {}
    for dimension, field in DIMENSIONS.items():
        open_tags = {place: entry.open_tag(field) for place, entry in entries.items()}
        tags[dimension] = {place: str(tag) for place, tag in open_tags.items() if tag is not None}
    texts = {place: entry.source for place, entry in entries.items() if not (entry.secret or entry.not_stored)}
    by_place = {place: [word.text.casefold() for word in words(text)] for place, text in texts.items()}
    tags[LENGTH] = _lengths({place: len(own) for place, own in by_place.items()})
    tags[PUNCTUATION] = {place: _punctuation(text) for place, text in texts.items()}
    tags[NUMBERS] = {place: "a number" if re.search(r"\d", text) else "no number" for place, text in texts.items()}
    entries_with = Counter(word for own in by_place.values() for word in set(own))
    once = {place: sum(entries_with[word] == 1 for word in set(own)) for place, own in by_place.items()}
    tags[ONCE] = {place: "0" if not count else "1–2" if count < 3 else "3 or more" for place, count in once.items()}
    return {dimension: own for dimension, own in tags.items() if len(set(own.values())) > 1}


def _lengths(counts: Mapping[int, int]) -> dict[int, str]:
    """Group entries into three of about the same size by how many words they have."""
    if not counts:
        return {}
    low, high = (int(edge) for edge in np.quantile(list(counts.values()), (1 / 3, 2 / 3)))
    wide = len(str(high + 1))
    names = (
        f"{min(counts.values()):>{wide}}–{low} words",
        f"{low + 1:>{wide}}–{high} words",
        f"{high + 1:>{wide}} words or more",
    )
    return {place: names[(count > low) + (count > high)] for place, count in counts.items()}


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
    return part_tags(shown_entries(connection, run.corpus, positions))


def run_parts(connection: sqlite3.Connection, run: Run, tags: Tags) -> list[RunPart]:
    """Score every part of a run by what is stored of it now; StatisticsError where the rows cannot be read."""
    scorer = scorer_of(connection, run)
    stored = read_statistics(connection, run.id)
    wanted = {scorer.columns.headline, *(composite_metrics() if scorer.mixes else ())}
    table = scorer.unpack_table(list(stored.values())).only(wanted)
    return [part for dimension, own in tags.items() for part in _parts(dimension, own, list(stored), table)]


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
    groups: dict[str, dict[str, list[int]]] = {}
    for dimension in tags.keys() - DIMENSIONS.keys():
        own = groups.setdefault(part_field(dimension), {})
        for place, name in sorted(tags[dimension].items()):
            own.setdefault(name.strip(), []).append(place)
    return groups


def part_field(dimension: str) -> str:
    """Return the field of the filter that has the parts of a dimension."""
    return dimension.replace(" ", "_")


def _parts(dimension: str, own: Mapping[int, str], stored: Sequence[int], table: Table) -> Iterator[RunPart]:
    groups = grouped([own.get(place) for place in stored], table, draws=LIVE_DRAWS)
    places: dict[str, set[int]] = {}
    for place, name in own.items():
        places.setdefault(name, set()).add(place)
    for name in sorted(places):
        yield RunPart(dimension, name.strip(), frozenset(places[name]), groups.get(name, Group(0, {})))
