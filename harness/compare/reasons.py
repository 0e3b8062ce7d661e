"""Why a run is worse: what can be named in its outputs so far, and in which entries; finished or under way."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from corpora.model.task import TRANSLATION
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_dataset, shown_entries
from harness.store.ordering import Groups
from harness.store.results import shown_results
from harness.store.runs import Run
from scoring.card.constant import spread
from scoring.core.metric import Statistics, StatisticsError
from scoring.core.scorer import Scorer
from scoring.findings.engine import OutputCosts, find
from scoring.findings.finding import FindingCode, OutputFinding
from scoring.findings.stripping import STRIPPED_BY, stripped

CHRF = "chrf_plus_plus"


@dataclass(frozen=True)
class RunFindings:
    """The findings of the outputs that a run has so far. Examples quote outputs: hostile text, never of a secret entry."""

    findings: tuple[OutputFinding, ...]
    """The most frequent first."""
    positions: Mapping[FindingCode, tuple[int, ...]]
    """Places in the corpus of the entries that have each finding."""
    fixes: Mapping[FindingCode, float]
    """Points of chrF++ that the run gains if the run option ``strip`` takes a finding off; others have none."""
    done: int
    """Entries that were examined; those that no key available opens are left out."""

    def of_entry(self, position: int) -> list[FindingCode]:
        """Return what was found in one entry, the most frequent finding first."""
        return self._codes.get(position, [])

    @property
    def groups(self) -> Groups:
        """Return the entries of each finding as the filter's field ``why``, the most frequent first."""
        codes = dict.fromkeys([*(finding.code for finding in self.findings), *FindingCode])
        return {"why": {code.value: self.positions.get(code, ()) for code in codes}}

    @cached_property
    def _codes(self) -> dict[int, list[FindingCode]]:
        codes: dict[int, list[FindingCode]] = {}
        for finding in self.findings:
            for position in set(self.positions[finding.code]):
                codes.setdefault(position, []).append(finding.code)
        return codes


def run_findings(connection: sqlite3.Connection, run: Run, most: int | None = None) -> RunFindings | None:
    """Examine the stored outputs of a run, at most so many, spread evenly; None of a run whose task is no translation."""
    dataset = read_dataset(connection, run.corpus)
    if dataset.task != TRANSLATION:
        return None
    places = None
    if most is not None:
        rows = connection.execute("SELECT position FROM results WHERE run = ? ORDER BY position", (run.id,))
        places = spread([place for (place,) in rows], most)
    results = list(shown_results(connection, run.id, places))
    stored = shown_entries(connection, run.corpus, [result.position for result in results])
    results = [
        result for result in results if (entry := stored.get(result.position)) is not None and not entry.not_stored
    ]
    entries = [stored[result.position] for result in results]
    scorer = stored_scorer(run, dataset.target_language, entries)
    chrf = next((metric for metric in scorer.metrics if metric.info.id == CHRF), None)
    known = None if chrf is None else _known(scorer, [result.statistics for result in results])
    outputs = ["" if result.failed else result.output or "" for result in results]
    findings = find(entries, outputs, chrf if known is not None else None, known, read=scorer.alike)
    positions = {finding.code: tuple(results[place].position for place in finding.places) for finding in findings}
    fixes: dict[FindingCode, float] = {}
    if chrf is not None and known is not None:
        costs = OutputCosts(chrf, scorer.alike, entries, outputs, known)
        for finding in findings:
            if step := STRIPPED_BY.get(finding.code):
                made = {place: stripped(entries[place].source, outputs[place], (step,)) for place in finding.places}
                gain = costs.gain({place: text for place, text in made.items() if text != outputs[place]})
                fixes |= {} if gain is None else {finding.code: gain}
    return RunFindings(findings, positions, fixes, len(results))


def _known(scorer: Scorer, packed: Sequence[bytes]) -> list[Statistics | None] | None:
    """Return what chrF++ took from each output; None where the rows were scored in a way that is not known here."""
    try:
        return [scorer.unpack(row).get(CHRF) for row in packed]
    except StatisticsError:
        return None
