"""Where a run is good and where it is not: its entries by what the corpus says of them, and by what their sources show.

A corpus that says nothing of its entries still has short and long sentences, questions, numbers and words that occur
once. These parts are made of the sources alone, so that they are the same for every run over the same entries.
"""

from __future__ import annotations

import json
import re
import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from corpora.model.corpus import Dataset
from corpora.model.entry import Entry
from corpora.model.task import TRANSLATION
from corpora.text.tokens import words
from harness.compare.rows import scorer_of
from harness.core.failures import RunState
from harness.core.query import Cancelled, Query, never, parse
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_dataset, shown_entries
from harness.store.ordering import Groups, Ordering
from harness.store.results import headlines_by_place, shown_results
from harness.store.runs import Run
from scoring.card.constant import spread
from scoring.core.inventory import composite_metrics, direction
from scoring.core.metric import FloatArray, StatisticsError
from scoring.core.scorer import Scorer
from scoring.core.specification import COMPOSITE, stated_columns
from scoring.findings.content import STRIPPED_BY, stripped
from scoring.findings.engine import MOST_EXAMPLES, OutputCosts, find
from scoring.findings.finding import LEAST_SHARE, FindingCode, OutputFinding
from scoring.statistics.intervals import DIMENSIONS, SEED, Group, LiveIntervals, poisson_counts

# ---- Why a run is worse: what can be named in its outputs so far, and in which entries; finished or under way ----

CHRF = "chrf_plus_plus"
EXAMINED_AT_ONCE = 4_000  # outputs in memory while a run is examined
OF_SOME_AT_ONCE = 2_000  # the same of a sample, which is examined while the run needs memory, too


@dataclass(frozen=True)
class RunFindings:
    """The findings of the outputs that a run has so far. Examples quote outputs: hostile text, never of a secret entry."""

    findings: tuple[OutputFinding, ...]
    """The most frequent first."""
    positions: Mapping[FindingCode, Sequence[int]]
    """Places in the corpus of the entries that have each finding, ascending."""
    fixes: Mapping[FindingCode, float]
    """Points of chrF++ that the run gains if the run option ``strip`` takes a finding off; others have none."""
    done: int
    """Entries that were examined; those that no key available opens are left out."""

    def of_entry(self, position: int) -> list[FindingCode]:
        """Return what was found in one entry, the most frequent finding first."""
        codes = []
        for finding in self.findings:
            places = self.positions[finding.code]
            at = bisect_left(places, position)
            if at < len(places) and places[at] == position:
                codes.append(finding.code)
        return codes

    @property
    def groups(self) -> Groups:
        """Return the entries of each finding as the filter's field ``why``, the most frequent first."""
        codes = dict.fromkeys([*(finding.code for finding in self.findings), *FindingCode])
        return {"why": {code.value: self.positions.get(code, ()) for code in codes}}


def run_findings(connection: sqlite3.Connection, run: Run, most: int | None = None) -> RunFindings | None:
    """Examine the stored outputs of a run, at most ``most``, spread evenly; None of a run whose task is no translation.

    More than EXAMINED_AT_ONCE, or OF_SOME_AT_ONCE of a sample, are read and examined in random parts of equal size, so that a
    beginning which many outputs share is as frequent in each of them. No more than one part is in memory.
    """
    dataset = read_dataset(connection, run.corpus)
    if dataset.task != TRANSLATION:
        return None
    query = "SELECT position FROM results WHERE run = ? ORDER BY position"
    places = array("I", (place for (place,) in connection.execute(query, (run.id,))))
    chosen = list(places if most is None else spread(places, most))
    Random(0).shuffle(chosen)  # noqa: S311  a corpus may have an order that repeats
    at_once = EXAMINED_AT_ONCE if most is None else OF_SOME_AT_ONCE
    parts = max(1, -(-len(chosen) // at_once))
    return _together([_examined(connection, run, dataset, chosen[first::parts]) for first in range(parts)])


def _examined(connection: sqlite3.Connection, run: Run, dataset: Dataset, places: Sequence[int]) -> RunFindings:
    """Examine some outputs of a run."""
    entries, outputs, packed, positions = [], [], [], []
    stored = shown_entries(connection, run.corpus, places)
    for result in shown_results(connection, run.id, places):
        entry = stored.get(result.position)
        if entry is not None and not entry.not_stored:
            entries.append(entry)
            outputs.append("" if result.failed else result.output or "")
            packed.append(result.statistics)
            positions.append(result.position)
    scorer = stored_scorer(run, dataset.target_language, entries)
    chrf = next((metric for metric in scorer.metrics if metric.info.id == CHRF), None)
    known = None if chrf is None else _known(scorer, packed)
    findings = find(entries, outputs, chrf if known is not None else None, known, read=scorer.alike)
    fixes: dict[FindingCode, float] = {}
    if chrf is not None and known is not None:
        costs = OutputCosts(chrf, scorer.alike, entries, outputs, known)
        for finding in findings:
            if step := STRIPPED_BY.get(finding.code):
                made = {place: stripped(entries[place].source, outputs[place], (step,)) for place in finding.places}
                gain = costs.gain({place: text for place, text in made.items() if text != outputs[place]})
                fixes |= {} if gain is None else {finding.code: gain}
    positions_of = {finding.code: array("I", (positions[place] for place in finding.places)) for finding in findings}
    return RunFindings(findings, positions_of, fixes, len(outputs))


def _together(parts: Sequence[RunFindings]) -> RunFindings:
    """Add up what was found in parts of a run. A cost is the mean of the parts, which are alike, by their outputs."""
    if len(parts) == 1:
        return parts[0]
    done = sum(part.done for part in parts)
    findings, positions, fixes = [], {}, {}
    for code in FindingCode:
        hits = [(part, one) for part in parts for one in part.findings if one.code is code]
        if not hits:
            continue
        places = sorted(
            (place, id_) for part, one in hits for place, id_ in zip(part.positions[code], one.entries, strict=True)
        )
        positions[code] = array("I", (place for place, _ in places))
        priced = [(part.done, one.cost) for part, one in hits if one.cost is not None]
        frequent = len(places) >= LEAST_SHARE * done and priced
        findings.append(
            OutputFinding(
                code=code,
                count=len(places),
                of=done,
                cost=sum(n * cost for n, cost in priced) / done if frequent else None,
                entries=tuple(id_ for _, id_ in places),
                examples=tuple(dict.fromkeys(text for _, one in hits for text in one.examples))[:MOST_EXAMPLES],
            )
        )
        if any(code in part.fixes for part in parts):
            fixes[code] = sum(part.done * part.fixes.get(code, 0.0) for part in parts) / done
    return RunFindings(tuple(sorted(findings, key=lambda one: -one.count)), positions, fixes, done)


def _known(scorer: Scorer, packed: Sequence[bytes]) -> FloatArray | None:
    """Return what chrF++ took from each output; None where the rows were scored in a way that is not known here."""
    try:
        return scorer.unpack_table(packed, {CHRF}).columns(CHRF)
    except StatisticsError:
        return None


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


# ---- The entries of a bench: which are the worst of a run, and what chance alone gives entries that were chosen for that.
#
# Entries that were chosen because they scored lowest score higher when they are asked again in any other way: the next
# answer has other bad luck (regression to the mean). Other runs over the same entries show how much. They are not chosen
# by their own scores, so what they gain on these entries beyond what they gain overall is chance. Example: a run has 40
# overall and 10 on its 20 worst entries, another run has 42 overall and 25 on the same 20. It gains 15 on them and 2
# overall, so 13 points come by chance alone.

MOST_WORST = 20
_MOST_RUNS = 20  # other runs that are read


@dataclass(frozen=True, slots=True)
class ChanceGain:
    """What other runs gain on the chosen entries beyond what they gain overall, in points of the headline."""

    gain: float
    runs: int


def headline_of(run: Run) -> str:
    """Return the metric by which entries of a run are ordered."""
    return stated_columns(run.opening.scoring).headline


def worst_places(
    connection: sqlite3.Connection, run: Run, among: Collection[int] | None = None, most: int = MOST_WORST
) -> list[int]:
    """Return the places of the entries with the lowest values, the worst first; failed ones are for ``rosetta retry``.

    ``among``: only these entries count.
    """
    values = headlines_by_place(connection, run.id)
    better = -1.0 if direction(headline_of(run)) == "lower" else 1.0
    places = [place for place in values if among is None or place in among]
    return sorted(places, key=lambda place: (better * values[place], place))[:most]


def gain_by_chance(connection: sqlite3.Connection, run: Run, places: Sequence[int]) -> ChanceGain | None:
    """Return what chance alone gives; None where no other complete run has all entries of this one, with other values."""
    own, gains = headlines_by_place(connection, run.id), []
    query = "SELECT id FROM runs WHERE corpus = ? AND id <> ? AND state = ? AND put_away IS NULL ORDER BY id DESC"
    for (number,) in connection.execute(query, (run.corpus, run.id, RunState.COMPLETE)).fetchmany(_MOST_RUNS):
        other = headlines_by_place(connection, number)
        if not own.keys() <= other.keys() or all(other[place] == value for place, value in own.items()):
            continue
        overall = fmean(other[place] - value for place, value in own.items())
        gains.append(fmean(other[place] - own[place] for place in places) - overall)
    return ChanceGain(fmean(gains), len(gains)) if gains else None
