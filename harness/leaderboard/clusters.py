"""Significance clusters of one leaderboard: which of its runs can be told apart by what it is ranked by."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from dataclasses import replace

from harness.compare.rows import RowReader, scorer_of
from harness.leaderboard.entrant import CHRF
from harness.leaderboard.ranking import Board
from harness.store.runs import Run, find_run
from scoring.core.metric import Table
from scoring.core.scorer import Scorer
from scoring.statistics.clusters import Ranking, rank
from scoring.statistics.significance import COMPOSITE


def with_clusters(connection: sqlite3.Connection, board: Board) -> Board:
    """Add the clusters to a list, by the paired bootstrap of all pairs of its runs, and what its entries show.

    Left out are unverified runs, and those whose cards came without the texts of secret entries or without
    entries: nobody here can take their scores again.
    """
    ranked = [entrant.run.run_id for entrant in board.entrants if board.may_rank(entrant)]
    runs = [find_run(connection, run_id) for run_id in ranked]
    try:
        tables = _tables(connection, runs, board)
        left_out, why = len(runs) - len(tables), ""
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


def _tables(connection: sqlite3.Connection, runs: list[Run], board: Board) -> dict[str, Table]:
    """Return the statistics of the runs by id, rows of all in the same order; incomplete ones are left out.

    Runs of one corpus of the store have their entries in its order; others meet by the entries' ids.
    """
    inputs = frozenset(board.grounds.inputs if board.by == COMPOSITE else [board.by])
    alike = len({run.corpus for run in runs}) == 1 and not any(run.imported for run in runs)
    read = _Stored(connection).table if alike else _Met(connection).table
    tables = {run.run_id: read(run, inputs) for run in runs}
    return {run_id: table for run_id, table in tables.items() if table is not None and len(table) == board.entries}


class _Stored:
    """Reads runs made here, whose statistics alone are needed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._scorers: dict[str, Scorer] = {}

    def table(self, run: Run, inputs: Collection[str]) -> Table | None:
        """Return a run's statistics in the order of the corpus."""
        rows = self._connection.execute("SELECT statistics FROM results WHERE run = ? ORDER BY position", (run.id,))
        # Make the scorer of a set-up once for all runs that state the same.
        stated = [run.opening.scoring, run.opening.packed]
        key = json.dumps(stated, sort_keys=True)
        if key not in self._scorers:
            self._scorers[key] = scorer_of(self._connection, run)
        scorer = self._scorers[key]
        return scorer.unpack_table([row[0] for row in rows]).only(inputs)


class _Met:
    """Reads runs of which some came from elsewhere, and have a corpus of their own."""

    def __init__(self, connection: sqlite3.Connection) -> None:

        self._reader = RowReader(connection)

    def table(self, run: Run, inputs: Collection[str]) -> Table | None:
        """Return a run's statistics in the order of the entries' ids, None where its card withheld texts."""
        ordered_run = self._reader.read(run)
        if ordered_run.withheld:
            return None
        ordered = sorted(ordered_run.rows, key=lambda row: (str(type(row.entry.id)), row.entry.id))
        return ordered_run.scorer.unpack_table([row.statistics for row in ordered]).only(inputs)
