"""What a comparison reads of a run: its entries' statistics and numbers, and none of their texts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from operator import attrgetter
from typing import Any, NamedTuple

from corpora.files.json_types import JsonObject
from corpora.model.entry import EntryId, reveal_here
from corpora.model.vocabularies import SECRET_SEGMENTS
from harness.core.failures import UsageError
from harness.method.method import Result
from harness.setup.scoring_tools import stated_setup, stored_setup
from harness.store.attachments import UNCHECKED, Attached, attached_to, checked_here
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.results import read_results, shown_results
from harness.store.run_list import distinctions
from harness.store.runs import Run, find_run
from harness.store.sqlite.sealing import CorpusSeal, SealedKind, StoreSealed, sealed_column
from harness.store.sqlite.trouble import stored_object
from scoring.core.inventory import composite, read_by
from scoring.core.metric import StatisticsError, Table
from scoring.core.packs import Pack
from scoring.core.scorer import Scorer
from scoring.core.setup import ScoringSetup, Translation
from scoring.metrics.inventory import make_metrics, make_scorer
from scoring.packs.views import MetricTotals
from scoring.statistics.intervals import spreads
from scoring.words.source_words import Resources


class CorpusRow(NamedTuple):
    """One entry of a corpus, without its texts; all runs of the corpus share it."""

    id: EntryId
    """As it would be on a card, so that runs from elsewhere meet those made here."""
    position: int
    """Place in the corpus."""
    source: int
    reference: int
    """The store's numbers of the texts, of sealed ones below 0: equal numbers are equal texts. 0 is any text: it is
    sealed, and from a vault that nobody opened for this.
    """
    segment: str | None
    difficulty: int | None
    provenance: str | None
    register: str | None
    rest: str | None
    """JSON of the entry's further fields where ``context`` may be among them."""


class ComparedRow(NamedTuple):
    """One entry of a run that can be compared, as the store gives it."""

    entry: CorpusRow
    statistics: bytes
    failed: int  # 1 or 0
    cost_usd: float | None
    latency_seconds: float | None
    cached: int


class _Facts(NamedTuple):
    """What the store says of a run as a whole."""

    sha256: str
    sealed: int
    unverified: int  # 1 or 0, both
    stretches: int
    last: int
    there: int  # Results that the store has of those that were read before
    claimed: str | None  # What the run's card says of its claim, as JSON; None before it has a card
    totals_only: int  # Secret entries of a run from elsewhere whose card has totals and no rows


@dataclass(frozen=True)
class OrderedRun:
    """One run with its rows in corpus order."""

    run: Run
    sha256: str
    """Of its corpus."""
    sealed: bool
    unverified: bool
    """True where it came from elsewhere without a seal that holds."""
    setup: ScoringSetup
    scorer: Scorer
    rows: tuple[ComparedRow, ...]
    made_in: str
    """Id of the run in which the outputs were made: a run that was scored again has those of another."""
    withheld: int
    """Entries that came without their texts, whose scores nobody here can take again; not among the rows."""
    corpus: Mapping[int, CorpusRow]
    """The run's entries by their place in the corpus."""
    stretches: int
    """How often the run was begun and gone on with."""
    last: int
    """The store's number of the newest row that was read."""
    claimed: str | None = None
    """What its card says of its claim, as JSON; None before it has a card."""
    certificates: tuple[Attached, ...] = ()
    """What reviews said of it."""
    local_only: bool = False
    """True where the terms of the corpus keep every entry on this machine."""
    stated: bool = False
    """Whether its scores are only what a card from elsewhere states (``RunSummary.stated``)."""

    def holds(self, run: Run, found: _Facts) -> bool:
        """Return whether these rows still stand as they are in the store.

        A run that is gone on with forgets entries that failed, to ask for them again, and one that is sealed
        may have got its last scores then.
        """
        before = (self.run.run_id, self.stretches, self.sealed, len(self.rows) + self.withheld)
        return before == (run.run_id, found.stretches, bool(found.sealed), found.there)

    @cached_property
    def card(self) -> JsonObject | None:
        """Return the parts of its card from which its claim is read; None before it has a card."""
        return None if self.claimed is None else stored_object(self.claimed)

    @cached_property
    def secret(self) -> bool:
        """Return whether there is a secret entry among the rows."""
        return any(map(self.is_secret, self.rows))

    def is_secret(self, row: ComparedRow) -> bool:
        """Return whether the entry of one of the rows is secret."""
        return self.local_only or row.entry.segment in SECRET_SEGMENTS

    @cached_property
    def by_id(self) -> dict[EntryId, ComparedRow]:
        """Return the rows by their entry's id."""
        return {row.entry.id: row for row in self.rows}


_BEFORE_ALL = -(2**63)

_RESULTS = """
    SELECT position, statistics, error_class IS NOT NULL, cost_usd, latency_seconds, cached
    FROM results WHERE run = ? AND rowid > ? AND rowid <= ? ORDER BY position
"""

_ENTRIES = """
    SELECT CASE WHEN typeof(entry_id) = 'integer' AND abs(entry_id) > 9007199254740991
           THEN CAST(entry_id AS TEXT) ELSE entry_id END, position, source, reference, segment, difficulty,
           provenance, register, CASE WHEN instr(rest, '"context"') THEN rest END, {sealed}
    FROM entries WHERE corpus = ? AND position IN (SELECT value FROM json_each(?))
"""


class RowReader:
    """Reads what is compared of runs, finished or under way; the entries of a corpus once for all its runs."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._corpora: dict[int, dict[int, CorpusRow]] = {}

    def read(self, run: Run, earlier: OrderedRun | None = None) -> OrderedRun:
        """Read a run; of one that was read ``earlier`` only the entries that it did not have then."""
        facts = _facts(self._connection, run, earlier)
        known = earlier if earlier is not None and earlier.holds(run, facts) else None
        withheld = _withheld(self._connection, run) if known is None else frozenset()
        setup = setup_of(self._connection, run) if known is None else known.setup
        corpus = self._corpus(run) if known is None else known.corpus
        # Read the results that the store numbered after one and up to another, in corpus order.
        after = _BEFORE_ALL if known is None else known.last
        new = tuple(
            [
                tuple.__new__(ComparedRow, (corpus[position], packed, failed, cost, seconds, cached))
                for position, packed, failed, cost, seconds, cached in self._connection.execute(
                    _RESULTS, (run.id, after, facts.last)
                )
                if position in corpus
            ]
        )
        rows = new
        if withheld:
            rows = tuple(row for row in new if row.entry.position not in withheld)
        elif known is not None:
            position = attrgetter("entry.position")
            rows = tuple(sorted((*known.rows, *new), key=position)) if new else known.rows
        return OrderedRun(
            run=run,
            sha256=facts.sha256,
            sealed=bool(facts.sealed),
            unverified=bool(facts.unverified),
            setup=setup,
            scorer=_scorer(run, setup),
            rows=rows,
            made_in=_made_in(self._connection, run.run_id),
            withheld=len(withheld) + facts.totals_only if known is None else known.withheld,
            corpus=corpus,
            stretches=facts.stretches,
            last=facts.last,
            claimed=facts.claimed,
            certificates=attached_to(self._connection, run.id),
            local_only=read_dataset(self._connection, run.corpus).terms.local_only
            if known is None
            else known.local_only,
            stated=run.imported and not checked_here(self._connection, run.id).get(run.id, UNCHECKED).counts,
        )

    def _corpus(self, run: Run) -> Mapping[int, CorpusRow]:
        """Read those of a run's entries that no run before it had."""
        known = self._corpora.setdefault(run.corpus, {})
        wanted = [position for position in run.positions if position not in known]
        if wanted:
            query = _ENTRIES.format(sealed=sealed_column(self._connection, "entries", "entries"))
            rows = self._connection.execute(query, (run.corpus, json.dumps(wanted)))
            seal = CorpusSeal(self._connection, run.corpus)
            known.update((row[1], _corpus_row(row, seal)) for row in rows)
        return known


def _corpus_row(row: tuple[Any, ...], seal: CorpusSeal) -> CorpusRow:
    *plain, sealed = row
    if sealed is not None:
        try:
            opened = seal.open(row[1], SealedKind.ENTRY, sealed)
            numbers = (_number(opened.get("source")), _number(opened.get("reference")))
        except StoreSealed:
            numbers = (0, 0)
        source = CorpusRow._fields.index("source")
        plain[source : source + 2] = numbers
    return tuple.__new__(CorpusRow, plain)


def _number(text: object) -> int:
    """Return a number below 0 that distinguishes the sealed texts of two corpora in memory."""
    return -1 - int.from_bytes(blake2b(str(text).encode(), digest_size=8).digest(), "big")


def scorer_of(connection: sqlite3.Connection, run: Run) -> Scorer:
    """Return the scorer of a run's own set-up."""
    return _scorer(run, setup_of(connection, run))


def _scorer(run: Run, setup: ScoringSetup) -> Scorer:
    return make_scorer(Resources(setup), run.opening.packed)


def values_answered(connection: sqlite3.Connection, run: Run) -> dict[str, float | None]:
    """Return the scores of a run without its failed entries; empty where they cannot be read."""
    query = "SELECT statistics FROM results WHERE run = ? AND error_class IS NULL"
    scorer = scorer_of(connection, run)
    try:
        table = scorer.unpack_table([row[0] for row in connection.execute(query, (run.id,))])
    except StatisticsError:
        return {}
    values = table.corpus_values()
    return {**values, "composite": composite(values, weighing=table.weighing).value if scorer.mixes else None}


def _facts(connection: sqlite3.Connection, run: Run, earlier: OrderedRun | None) -> _Facts:
    """Read what is known of a run beside its rows."""
    row = connection.execute(
        "SELECT c.sha256, u.run_card IS NOT NULL, json_extract(u.run_card, '$.unverified') IS NOT NULL,"
        " (SELECT count(*) FROM stretches WHERE run = u.id),"
        " (SELECT coalesce(max(rowid), 0) FROM results WHERE run = u.id),"
        " (SELECT count(*) FROM results WHERE run = u.id AND rowid <= ?),"
        " iif(u.run_card IS NULL, NULL, json_object("  # what a claim is read from, and a review holds for
        " 'run_id', json_extract(u.run_card, '$.run_id'),"
        " 'run_card_hash', json_extract(u.run_card, '$.run_card_hash'),"
        " 'claimable_tier', json_extract(u.run_card, '$.claimable_tier'),"
        " 'floors_version', json_extract(u.run_card, '$.floors_version'),"
        " 'floors', json_extract(u.run_card, '$.floors'),"
        " 'scoring', json_extract(u.run_card, '$.scoring'),"
        " 'scores', json_extract(u.run_card, '$.scores'))),"
        " iif(u.imported IS NULL, 0, coalesce(json_extract(u.run_card, '$.withheld.secret'), 0))"
        " FROM runs u JOIN corpora c ON c.id = u.corpus WHERE u.id = ?",
        (_BEFORE_ALL if earlier is None else earlier.last, run.id),
    ).fetchone()
    return _Facts(*row)


_MOST_STEPS = 50  # Steps back from run to run; cards from elsewhere may name each other in a circle


def _made_in(connection: sqlite3.Connection, run_id: str) -> str:
    """Find the run whose outputs a run has, or most of them: it was scored or tried again."""
    for _ in range(_MOST_STEPS):
        row = connection.execute(
            "SELECT coalesce(json_extract(run_card, '$.rescore_of.run_id'),"
            " json_extract(run_card, '$.retry_of.run_id')) FROM runs WHERE run_id = ?",
            (run_id,),
        ).fetchone()
        if row is None or not isinstance(row[0], str):
            break
        run_id = row[0]
    return run_id


def _withheld(connection: sqlite3.Connection, run: Run) -> frozenset[int]:
    """Find the entries of a run from elsewhere that its card has no texts of."""
    if not run.imported:
        return frozenset()

    entries = read_entries(connection, run.corpus)
    return frozenset(place for place, entry in entries.items() if entry.withheld)


def setup_of(connection: sqlite3.Connection, run: Run) -> ScoringSetup:
    """Return what the run is scored with; the texts are examined only where nothing is stated of it."""
    stated = stated_setup(run.opening.scoring)
    if stated is not None:
        return stated
    target = read_dataset(connection, run.corpus).target_language or "und"
    return stored_setup(run, target, read_entries(connection, run.corpus).in_order)


# ---- What a run has of each metric, as the documents of packs report it: mean and spread of the
# entries, value of the whole.
#
# A view of a pack may be asked of one run alone, so nothing here is tested for significance.


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """One run as a pack reports it."""

    run: Run
    name: str
    """What it is called in the report: the file of its outputs, or its condition; with its id where others share it."""
    totals: Mapping[str, MetricTotals]
    """By metric id, those of the pack only."""


def reported_runs(
    connection: sqlite3.Connection, run_ids: Sequence[str], pack: Pack, baseline: str | None = None
) -> list[ReportedRun]:
    """Read what runs have of a pack's metrics, the baseline first where it is not among them.

    The metrics that compare an answer with a ``baseline`` are taken again against that run's answers, joined by entry
    id. Raises UsageError where there is no such run, or one has no metric of the pack.
    """
    runs = [find_run(connection, run_id_) for run_id_ in run_ids]
    base = None if baseline is None else find_run(connection, baseline)
    if base is not None and base.id not in {run.id for run in runs}:
        runs.insert(0, base)
    # outputs of the baseline by entry id, a failed one as the empty text
    kept = () if base is None else read_results(connection, base.id)
    answers = None if base is None else {result.entry_id: result.output or "" for result in kept}
    totals_of_runs = [_totals_of(connection, run, pack, answers) for run in runs]
    for run, totals in zip(runs, totals_of_runs, strict=True):
        if not totals:
            raise UsageError(
                f"Run {run.run_id[:8]} has no metric of {pack.name}. Score its outputs with them: "
                f"`rosetta score --rescore {run.run_id[:8]} --metrics {pack.name}`."
            )
    files = [run.outputs for run in runs]
    names = [file.stem if file else run.setup.condition for file, run in zip(files, runs, strict=True)]
    apart = distinctions(names, [(run.run_id[:8],) for run in runs])
    called = [f"{name} {id_}" if id_ else name for name, id_ in zip(names, apart, strict=True)]
    return [ReportedRun(run, name, totals) for run, name, totals in zip(runs, called, totals_of_runs, strict=True)]


def _totals_of(
    connection: sqlite3.Connection, run: Run, pack: Pack, answers: Mapping[EntryId, str] | None
) -> dict[str, MetricTotals]:
    results = list(shown_results(connection, run.id))  # their numbers alone
    scorer = scorer_of(connection, run)
    totals = _totals(scorer.unpack_table([result.statistics for result in results]))
    known = {id_: total for id_, total in totals.items() if id_ in pack.rows}
    held = read_by("baseline", pack.rows)
    if known and answers is not None and held:
        known |= _totals(_held_against(connection, run, results, held, answers))
    return known


def _held_against(
    connection: sqlite3.Connection,
    run: Run,
    results: Sequence[Result],
    metrics: frozenset[str],
    answers: Mapping[EntryId, str],
) -> Table:
    """Compute the statistics of metrics that read a baseline's answer, from the stored outputs of two runs."""
    setup = setup_of(connection, run).model_copy(update={"metrics": tuple(sorted(metrics))})
    scorer = Scorer(make_metrics(Resources(setup)))
    entries = read_entries(connection, run.corpus, run.positions)
    pairs = [
        Translation(
            entry,
            result.output or "",
            {"baseline": answers[result.entry_id]} if result.entry_id in answers else {},
        )
        for result, entry in zip(results, reveal_here(entries[result.position] for result in results), strict=True)
    ]
    return scorer.table(scorer.statistics(pairs))


def _totals(table: Table) -> dict[str, MetricTotals]:
    value_spreads = spreads(table.entry_values())
    return {
        id_: MetricTotals(value_spreads[id_].mean, value_spreads[id_].std, value, value_spreads[id_].n)
        if id_ in value_spreads
        else MetricTotals(None, None, value, 0)
        for id_, value in table.corpus_values().items()
    }


# ---- What the values of a run from elsewhere depend on, worked out of what it was scored with.


def setup_signatures(stated: JsonObject) -> Mapping[str, str]:
    """Return the signature of each metric of a set-up as a card states it; UsageError where it is none."""
    setup = stated_setup(stated)
    return {} if setup is None else make_scorer(Resources(setup)).signatures


def run_signatures(connection: sqlite3.Connection, run_id: str) -> Mapping[str, str]:
    """Return the signature of each metric of a run that states no set-up."""
    return scorer_of(connection, find_run(connection, run_id)).signatures
