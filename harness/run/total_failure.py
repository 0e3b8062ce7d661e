"""Tells a run in which nothing worked from one whose outputs are worthless.

Empty and missing outputs are a method's own fault, and they are scored. A wrong key, an unknown model or
a server that is not there says nothing about a translation: such a run is never sealed, and one of which some
entries failed because there is no connection only where a person says so.
"""

from __future__ import annotations

import sqlite3

from harness.core.failures import ErrorClass
from harness.endpoint.endpoints import is_loopback
from harness.setup.plan import told_of
from harness.store.distinctions import failures_by_run
from harness.store.results import failures
from harness.store.runs import Run

_OWN_FAULTS = (
    ErrorClass.EMPTY,
    ErrorClass.MISSING,
    ErrorClass.NUMBERING,
    ErrorClass.NO_SOURCE,
    ErrorClass.TRUNCATED,
    ErrorClass.FILTERED,
    ErrorClass.METHOD,
)
"""Failures that are a result, although a bad one."""


def why_nothing_came(connection: sqlite3.Connection, run: Run) -> str | None:
    """Return why no entry of a run has an output and what to do; None where the failures are a result."""
    for error_class, message in failures(connection, run.id):
        if error_class not in _OWN_FAULTS:
            return f"No entry has an output: {message}{_mend(error_class, run)}"
    return None


def unconnected(connection: sqlite3.Connection, run: int) -> int:
    """Count the entries of a run that failed because there is no connection: they say nothing of its method."""
    return failures_by_run(connection, run).get(run, {}).get(ErrorClass.CONNECTION, 0)


def unconnected_words(count: int) -> str:
    """Return how many entries failed because there is no connection, and what becomes of them in a sealed run."""
    if count == 1:
        return "1 entry failed because there is no connection; it counts as 0"
    return f"{count:,} entries failed because there is no connection; they count as 0"


def why_not_sealed(connection: sqlite3.Connection, run: Run) -> str | None:
    """Return why a run whose entries are all in waits for a person's word; None where it need not."""
    count = unconnected(connection, run.id)
    if not count:
        return None
    return (
        f"{unconnected_words(count)} if the run is sealed. They can be asked for again, or kept with "
        "`--keep-failed`."
    )


def _mend(error_class: ErrorClass, run: Run) -> str:
    provider = run.setup.provider or "NAME"
    if error_class is ErrorClass.AUTH:
        return f" Look at the key: `rosetta key set {provider}`."
    if error_class is ErrorClass.CONNECTION:
        endpoint = told_of(run).endpoint or ""
        here = "://" not in endpoint or is_loopback(endpoint)
        return " Is the server running?" if here else " Look at the address and the network."
    return ""
