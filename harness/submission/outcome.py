"""What became of a submission's run over secret entries: scores, a refusal, or nothing that counts."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from harness.box.boxed import BoxedMethod
from harness.box.failures import BoxStage, WhoseFault
from harness.core.failures import ErrorClass
from harness.events.kinds import Finished
from harness.method.method import Method
from harness.release.records import RefusedStage
from harness.store.results import read_results
from harness.store.runs import find_run
from harness.submission.desk import SubmissionEvent

_THE_METHODS: Final = frozenset(
    {
        ErrorClass.METHOD,
        ErrorClass.EMPTY,
        ErrorClass.MALFORMED,
        ErrorClass.TIMEOUT,
        ErrorClass.TRUNCATED,
        ErrorClass.FILTERED,
        ErrorClass.NUMBERING,
    }
)
"""Failures of entries that are the method's own, where no server is asked."""
_STAGES: Final[dict[BoxStage, RefusedStage]] = {
    BoxStage.INSTALL: "install",
    BoxStage.LOAD: "load",
    BoxStage.TRANSLATE: "translate",
}


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended, and who has to do something."""

    act: SubmissionEvent
    """SCORED, REFUSED or NOT_RUN."""
    stage: RefusedStage | None = None
    """Where the method stopped; only where it is refused."""
    words: str = ""
    """For the organisation alone; nothing of a text is in it."""


def run_outcome(
    connection: sqlite3.Connection, finished: Finished, method: Method, *, interrupted: bool
) -> RunOutcome:
    """Return what became of a run.

    What somebody stopped here, and what this computer, its engine or its models failed at, is no fault of the method. A run
    without a single output is a refusal, sealed or not: scores of nothing tell nothing.
    """
    failure = method.failure if isinstance(method, BoxedMethod) else None
    results = list(read_results(connection, find_run(connection, finished.run_id).id))
    if finished.card_hash and any(result.output is not None for result in results):
        return RunOutcome(SubmissionEvent.SCORED)
    if failure is not None and failure.fault is WhoseFault.CUSTODIAN:
        return RunOutcome(SubmissionEvent.NOT_RUN, words=str(failure))
    if interrupted:
        return RunOutcome(SubmissionEvent.NOT_RUN, words="It was stopped here.")
    if failure is not None:
        return RunOutcome(SubmissionEvent.REFUSED, _STAGES[failure.stage], str(failure))
    classes = {result.error_class for result in results if result.error_class is not None}
    own = _THE_METHODS if method.endpoint is None else _THE_METHODS - {ErrorClass.TIMEOUT}
    if classes and classes <= own:
        return RunOutcome(SubmissionEvent.REFUSED, "translate", "No text of it could be scored.")
    return RunOutcome(SubmissionEvent.NOT_RUN, words=finished.reason or "It did not finish.")
