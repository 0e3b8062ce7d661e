"""Why a run is worse: what can be named in its outputs so far, and in which entries; finished or under way."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from corpora.model.corpus import Dataset
from corpora.model.task import TRANSLATION
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_dataset, shown_entries
from harness.store.ordering import Groups
from harness.store.results import shown_results
from harness.store.runs import Run
from scoring.card.constant import spread
from scoring.core.metric import FloatArray, StatisticsError
from scoring.core.scorer import Scorer
from scoring.findings.content import STRIPPED_BY, stripped
from scoring.findings.engine import MOST_EXAMPLES, OutputCosts, find
from scoring.findings.finding import LEAST_SHARE, FindingCode, OutputFinding

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
