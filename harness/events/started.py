"""The first event of a run, made from what the store knows of it.

Kept apart from the engine, because a screen that shows a finished run needs nothing else of it.
"""

from __future__ import annotations

from corpora.model.corpus import Dataset
from harness.events.kinds import Started
from harness.store.runs import Run


def started(run: Run, dataset: Dataset, done: int) -> Started:
    """Return the event with which a run, or the following of one, begins."""
    return Started(
        run_id=run.run_id,
        setup=run.setup,
        dataset=dataset,
        positions=run.positions,
        done=done,
        floors=run.opening.floors or (),
        missing=run.opening.missing,
        budget_usd=run.opening.budget_usd,
        started_at=run.created,
    )
