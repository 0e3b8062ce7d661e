"""The rehearsal: a bundle is run over the open entries of its card before any keeper is asked, and held against its claim."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from corpora.model.corpus import Corpus
from corpora.samples import DEMO_CORPUS, sample_path
from harness import api
from harness.api import RunRequest
from harness.box.boxed import BoxedMethod
from harness.box.engine import BoxStage, WhoseFault
from harness.card.model import DatasetBlock
from harness.card.reproduction import reproduced_card
from harness.card.rows import load_card
from harness.core.failures import ErrorClass, UsageError
from harness.method.method import Method
from harness.privacy import ClearedMethod
from harness.release.ledger_records import RefusedStage
from harness.reproduce import places_of, scored_with
from harness.run.events import Finished
from harness.setup.scoring_tools import stated_setup
from harness.store.corpora.secrecy import known_secrets, refuse_widened
from harness.store.results import read_results
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from harness.submission import lanes
from harness.submission.bundle import CodeLane, Submission
from harness.submission.desk import SubmissionEvent, SubmissionStore
from harness.submission.folder import carried_card
from harness.submission.lanes import LanePlan, ModelHere
from harness.submission.members import CARD
from scoring.statistics.repetitions import Reproduction, verdict


@dataclass(frozen=True)
class Rehearsal:
    run: str
    claimed: Mapping[str, float | None]
    """The scores of the card, by metric id."""
    found: Reproduction
    """The claimed scores and those of here, and whether they are within 2 % (benchmark-specification §9.2, 3)."""

    @property
    def repeated(self) -> bool:
        return self.found.reproduced is True


def rehearsal_corpus(submission: Submission, named: str | Path | None) -> Corpus:
    """Return the open corpus that the card of a bundle is over: the one that is named, or one that this computer has.

    Raises UsageError where none is available, and CorpusError for a file that cannot be read.
    """
    dataset = carried_card(submission.members[CARD]).dataset
    if named is not None:
        return api.open_corpus(_asked(named, dataset))
    sample = api.open_corpus(api.CorpusRequest(sample_path(DEMO_CORPUS)))
    if sample.sha256 == dataset.sha256:
        return sample
    try:
        return api.open_corpus(_asked(f"store:{dataset.sha256[:12]}", dataset))
    except UsageError:
        raise UsageError(
            f"The rehearsal needs the open corpus of the card, {dataset.id} (SHA-256 {dataset.sha256[:16]}…): name its file with --rehearse-on FILE."
        ) from None


def _asked(named: str | Path, dataset: DatasetBlock) -> api.CorpusRequest:
    names = ("id", "source_language", "target_language")
    return api.CorpusRequest(named, **{name: getattr(dataset, name) for name in names})


def rehearsal_request(submission: Submission, plan: LanePlan, corpus: Corpus, more: Mapping[str, Any]) -> RunRequest:
    """Return the run of a rehearsal: the card's entries and metrics; ``more``: further options of a run by name.

    Raises UsageError where the corpus is not the card's.
    """
    card = carried_card(submission.members[CARD])
    options = {**scored_with(stated_setup(card.scoring)), **plan.told, **more}
    return RunRequest(corpus, places_of(card, corpus), api.plan_of(corpus, plan.method, options))


def cleared_method(
    submission: Submission, place: Path, model: ModelHere | None, request: RunRequest, *, open_data: bool
) -> ClearedMethod:
    """Return the method of a bundle for a run, behind a shut door where one is needed.

    Raises UsageError where it may not be asked, and HarnessError where no box can be made.
    """
    if isinstance(submission.manifest.method, CodeLane):
        return request.clear(make=lambda _: lanes.code_method(submission, place, model, open_data=open_data))
    cleared = request.clear()
    return replace(cleared, method=lanes.handed_in(cleared.method, submission))


def rehearsal_place(request: RunRequest, store: Path, folder: Path) -> tuple[RunRequest, Path]:
    """Return the run of a rehearsal and the store that it is kept in: ``store``, or a new one in ``folder``, with which it goes.

    It is the new one where ``store`` knows one of the sentences as secret, and the run is kept on this machine then, whatever
    the terms of the corpus say (``lanes.require_kept_here`` has the words for it). The card names the corpus by its hash, so the
    maker has these sentences and learns none by the rehearsal; but no run that stays here may have them open beside their secret
    ones. Raises UsageError where ``store`` knows the texts under stricter terms.
    """
    with opened(store) as connection:
        refuse_widened(connection, request.corpus)
        if not known_secrets(connection, request.entries):
            return request, store
    kept_here = request.plan.run.model_copy(update={"offline": True})
    plan = request.plan.model_copy(update={"run": kept_here})
    return replace(request, plan=plan), folder / "rehearsal.sqlite"


def rehearsed(connection: sqlite3.Connection, submission: Submission, run_id: str) -> Rehearsal:
    """Compare a finished rehearsal, by the id of its run, with the card of the bundle."""
    claimed = reproduced_card(carried_card(submission.members[CARD]))
    card = load_card(connection, find_run(connection, run_id).id)
    reproduction = verdict(claimed.scores, reproduced_card(card).scores)
    return Rehearsal(run_id, claimed.scores, reproduction)


def note_rehearsal(desk: SubmissionStore, submission: Submission, found: Rehearsal, corpus: str, model: ModelHere | None) -> None:  # fmt: skip
    """Record what came of a rehearsal over a corpus, by its id, with a model that it could ask; without a run, where no run of it is kept."""
    act = SubmissionEvent.REHEARSED if found.repeated else SubmissionEvent.NOT_REPEATED
    desk.note(submission, act, found.run, corpus, str(model or ""))


# ---- What became of a submission's run over secret entries: scores, a refusal, or nothing that
# counts.

_THE_METHODS: Final = frozenset(
    {ErrorClass.METHOD, ErrorClass.EMPTY, ErrorClass.MALFORMED, ErrorClass.TIMEOUT,
     ErrorClass.TRUNCATED, ErrorClass.FILTERED, ErrorClass.NUMBERING}
)  # fmt: skip
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


def run_outcome(connection: sqlite3.Connection, finished: Finished, method: Method, *, interrupted: bool) -> RunOutcome:
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
