"""What scoring a run again would give, told before it is done."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from harness.run.beginning import tools_with
from harness.run.rescoring import chosen_options
from harness.setup.scoring_options import ScoringOptions
from harness.setup.scoring_tools import stored_setup
from harness.store.corpora.entries import read_entries
from harness.store.runs import Run
from scoring.core.specification import specification


@dataclass(frozen=True, slots=True)
class Prospect:
    """Metrics by what becomes of them, in the specification's order."""

    new: tuple[str, ...]
    """Those that the run was not scored with."""
    again: tuple[str, ...]
    """Those that it was scored with, and is again."""
    kept: Mapping[str, str]
    """Those that stay as they are, and why they cannot be taken anew here."""
    off: Mapping[str, str]
    """Those that are wanted and cannot be had here, and why."""


def prospect(connection: sqlite3.Connection, run: Run, options: ScoringOptions) -> Prospect:
    """Look up what the metrics need; no text is scored, no model asked.

    Raises UsageError for what was named and cannot be had, as ``rescore`` does.
    """
    covered = list(read_entries(connection, run.corpus, run.positions).values())
    had = stored_setup(run, "und", covered)
    tools = tools_with(connection, run, chosen_options(run, had, options))
    tools.close()
    now = tools.setup
    can = [id_ for id_ in specification().metrics if id_ in now.metrics]
    return Prospect(
        new=tuple(id_ for id_ in can if id_ not in had.metrics),
        again=tuple(id_ for id_ in can if id_ in had.metrics),
        kept={id_: why for id_, why in now.off.items() if id_ in had.metrics},
        off={id_: why for id_, why in now.off.items() if id_ not in had.metrics},
    )
