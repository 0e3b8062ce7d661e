"""What each entry of a finished run adds to the run's figures, as columns in the order of finishing.

A replay adds up stretches of these columns, so that a jump over a hundred thousand entries reads and unpacks
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.events.progress import RunTally
from harness.store.results import Moment
from scoring.core.scorer import Scorer
from scoring.core.table import Table

Floats = npt.NDArray[np.float64]

AT_ONCE = 2_000
"""Entries unpacked at once: a screen is drawn by another thread between them."""


class ReplayRows:
    """The columns; every method takes places in the order of finishing."""

    def __init__(
        self, rows: Sequence[Moment], scorer: Scorer, tries: Sequence[tuple[int, int]]
    ) -> None:
        """Raises ValueError where the statistics of an entry do not fit the metrics.

        ``tries`` are those of each row (``harness.store.mixed_setups``).
        """
        self.positions = np.array([row.position for row in rows], dtype=np.uint32)
        """Places in the corpus."""
        self.failed = np.array([row.failed for row in rows], dtype=bool)
        self._costs = _numbers([row.cost_usd for row in rows])
        self._tokens = _numbers([row.tokens for row in rows])
        timed = [None if row.failed else row.latency_seconds for row in rows]
        self._latencies = _numbers(timed)
        self._table = _table(rows, scorer)
        self.limited = _sums([limited for _, limited in tries])
        """Tries that were answered with 429, up to each entry; the first is 0, as below."""
        self.retries = _sums([retries for retries, _ in tries])
        self.spent = _sums([row.spent_usd or 0.0 for row in rows])

    def tally(self, first: int, after: int) -> RunTally:
        """Add up the entries from one place to before another."""
        costs, tokens = self._costs[first:after], self._tokens[first:after]
        latencies = self._latencies[first:after]
        untold = int(np.isnan(tokens).sum())
        return RunTally(
            done=after - first,
            failed=int(self.failed[first:after].sum()),
            cost_usd=None if np.isnan(costs).any() else float(costs.sum()),
            known_cost_usd=float(np.nansum(costs)),
            tokens=None if untold == len(tokens) else int(np.nansum(tokens)),
            tokens_untold=untold,
            latencies=latencies[~np.isnan(latencies)].tolist(),
        )

    def table(self, first: int, after: int) -> Table:
        """Return the statistics of the entries from one place to before another."""
        whole = self._table
        return Table(whole.metrics, whole.matrix[first:after], whole.present[first:after])


def _numbers(values: Sequence[float | None]) -> Floats:
    """Lay out numbers; NaN where there is none."""
    return np.array(values, dtype=np.float64)


def _sums(numbers: Sequence[float]) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.array(numbers, dtype=np.float64))])


def _table(rows: Sequence[Moment], scorer: Scorer) -> Table:
    starts = range(0, max(1, len(rows)), AT_ONCE)
    parts = [
        scorer.unpack_table([row.statistics for row in rows[start : start + AT_ONCE]])
        for start in starts
    ]
    matrices, present = [part.matrix for part in parts], [part.present for part in parts]
    return Table(parts[0].metrics, np.vstack(matrices), np.vstack(present))
