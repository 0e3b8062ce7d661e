"""What the values of a run from elsewhere depend on, worked out of what it was scored with."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from harness.compare.rows import scorer_of
from harness.setup.scoring_tools import stated_setup
from harness.store.runs import find_run
from scoring.metrics.inventory import make_scorer
from scoring.words.resources import Resources


def setup_signatures(stated: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the signature of each metric of a set-up as a card states it; UsageError where it is none."""
    setup = stated_setup(stated)
    return {} if setup is None else make_scorer(Resources(setup)).signatures


def run_signatures(connection: sqlite3.Connection, run_id: str) -> Mapping[str, str]:
    """Return the signature of each metric of a run that states no set-up."""
    return scorer_of(connection, find_run(connection, run_id)).signatures
