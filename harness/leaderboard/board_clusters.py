"""Significance clusters of one leaderboard: which of its runs can be told apart by what it is ranked by."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from harness.leaderboard.entrant import CHRF
from harness.leaderboard.ranking import Board
from harness.store.run_list import RunSummary
from harness.store.runs import Run, read_run
from harness.store.sqlite.trouble import stored_json
from scoring.core.metric import Table
from scoring.core.scorer import Scorer
from scoring.core.setup import ScoringSetup
from scoring.metrics.inventory import make_scorer
from scoring.statistics.clusters import Ranking, rank
from scoring.statistics.significance import COMPOSITE
from scoring.words.source_words import Resources

if TYPE_CHECKING:
    from harness.compare.rows import RowReader


def with_clusters(connection: sqlite3.Connection, board: Board) -> Board:
    """Add the clusters to a list, by the paired bootstrap of all pairs of its runs, and what its entries show.

    Left out are unverified runs, and those whose cards came without the texts of secret entries or without
    entries: nobody here can take their scores again.
    """
    ranked = [entrant.run for entrant in board.entrants if board.may_rank(entrant)]
    try:
        tables = _tables(connection, ranked, board)
        left_out, why = len(ranked) - len(tables), ""
        if left_out:
            words = "1 run has" if left_out == 1 else f"{left_out:,} runs have"
            why = f"{words} no group: a card came without texts or entries to take its scores of again"
        if len(tables) < 2:
            return replace(board, unclustered=why or "a group needs two runs")
        ranking = rank(list(tables.values()), board.by)
    except ValueError as error:
        return replace(board, unclustered=f"no groups: {error}")
    clusters, beside = _groups(tables, ranking), dict[str, int]()
    if board.by == COMPOSITE:
        beside = _groups(tables, rank([table.only({CHRF}) for table in tables.values()], CHRF))
    return replace(board, clusters=clusters, chrf_clusters=beside, unclustered=why, smallest=ranking.smallest)


def _groups(tables: Collection[str], ranking: Ranking) -> dict[str, int]:
    ranks = ranking.ranks()
    return {run_id: ranks[place] for place, run_id in enumerate(tables)}


def _tables(connection: sqlite3.Connection, runs: Sequence[RunSummary], board: Board) -> dict[str, Table]:
    """Return the statistics of the runs by id, rows of all in the same order; incomplete ones are left out.

    Runs of one corpus of the store have their entries in its order; others meet by the entries' ids.
    """
    inputs = frozenset(board.grounds.inputs if board.by == COMPOSITE else [board.by])
    query = """
        SELECT id, corpus, json_array(opening -> '$.scoring', opening -> '$.packed') FROM runs
        WHERE id IN (SELECT value FROM json_each(?))
    """
    rows = connection.execute(query, (json.dumps([run.number for run in runs]),)).fetchall()
    alike = len({corpus for _, corpus, _ in rows}) == 1 and not any(run.imported for run in runs)
    stated = {number: setup for number, _, setup in rows}
    scorers = {setup: _stated_scorer(setup) for setup in set(stated.values())} if alike else {}
    if not alike or None in scorers.values():
        from harness.compare.rows import RowReader, scorer_of  # loads what whole runs are read with

        if not alike:
            reader = RowReader(connection)
            met = {run.run_id: _met(reader, read_run(connection, run.number), inputs) for run in runs}
            return {run_id: table for run_id, table in met.items() if table is not None and len(table) == board.entries}
        for number, setup in stated.items():
            scorers[setup] = scorers[setup] or scorer_of(connection, read_run(connection, number))
    tables = dict[str, Table]()
    for run in runs:  # their statistics alone are needed, and a scorer for all that state the same set-up
        query = "SELECT statistics FROM results WHERE run = ? ORDER BY position"
        packed = [row[0] for row in connection.execute(query, (run.number,))]
        scorer = scorers[stated[run.number]]
        if scorer is not None and len(packed) == board.entries:
            tables[run.run_id] = scorer.unpack_table(packed, inputs)
    return tables


def _stated_scorer(stated: str) -> Scorer | None:
    """Return the scorer of the set-up that a run states; None without one, and for another than is known."""
    scoring, packed = stored_json(stated)
    if not isinstance(packed, list) or not all(map(_is_column, packed)):
        return None
    try:
        return make_scorer(Resources(ScoringSetup.model_validate(scoring)), [(id_, width) for id_, width in packed])
    except ValidationError:
        return None


def _is_column(stated: object) -> bool:
    return isinstance(stated, list) and list(map(type, stated)) in ([str, int], [str, type(None)])


def _met(reader: RowReader, run: Run, inputs: Collection[str]) -> Table | None:
    """Return a run's statistics in the order of the entries' ids, None where its card withheld texts."""
    ordered_run = reader.read(run)
    if ordered_run.withheld:
        return None
    ordered = sorted(ordered_run.rows, key=lambda row: (str(type(row.entry.id)), row.entry.id))
    return ordered_run.scorer.unpack_table([row.statistics for row in ordered], inputs)
