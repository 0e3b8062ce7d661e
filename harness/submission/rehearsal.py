"""A bundle becomes a ``Method`` in one of two lanes (code in the box, data through this program's own methods), and is rehearsed:
run over the open entries of its card before any keeper is asked, and compared with its claim.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import filelock

from corpora.model.corpus import Corpus
from corpora.model.entry import Entry
from corpora.samples import DEMO_CORPUS, sample_path
from harness import api, privacy
from harness.api import RunRequest
from harness.box import boxed, engines, gateway
from harness.box.boxed import BoxedMethod
from harness.box.engine import BoxedCode, BoxStage, Limits, WhoseFault
from harness.card.model import DatasetBlock
from harness.card.reproduction import reproduced_card
from harness.card.rows import load_card
from harness.core.calls import Calls, Reply, Request
from harness.core.failures import ErrorClass, UsageError
from harness.core.storage import PRIVATE, private_folder, write_file
from harness.endpoint.endpoints import find_key, is_loopback, no_key
from harness.method.method import Method, MethodClass, Output, Setup
from harness.method.method_names import NUMBER_LETTERS, SUBMITTED
from harness.method.option_table import METHODS
from harness.method.options import MethodOptions
from harness.privacy import ClearedMethod
from harness.release.ledger_records import RefusedStage
from harness.reproduce import places_of, scored_with
from harness.run.events import Finished
from harness.setup.scoring_tools import stated_setup
from harness.shipped_methods.registry import build
from harness.store.corpora.secrecy import known_secrets, refuse_widened
from harness.store.results import read_results
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from harness.submission import FOLDER, UNPACKED
from harness.submission.bundle import CodeLane, DataLane, Submission, unpack_into
from harness.submission.desk import LOCK, SubmissionEvent, SubmissionStore
from harness.submission.folder import carried_card, lane_options
from harness.submission.members import CARD, CODE, DATA, WHEELS, requirements
from scoring.statistics.repetitions import Reproduction, verdict

# ---- The two lanes ----


@dataclass(frozen=True, slots=True)
class ModelHere:
    """The model that the organisation lets a submission ask; without one none is asked."""

    endpoint: str
    model: str

    def __str__(self) -> str:
        return f"{self.model} at {self.endpoint}"


@dataclass(frozen=True, slots=True)
class LanePlan:
    """How a bundle is asked for at the door: the name of the method, and its options."""

    method: str
    told: Mapping[str, Any]


def asks_models(submission: Submission) -> bool:
    """Return whether nothing comes of a bundle without a model that the organisation chooses."""
    lane = submission.manifest.method
    return isinstance(lane, DataLane) and "endpoint" in METHODS[lane.method].needs


@contextmanager
def unpacked(submission: Submission, home: Path) -> Iterator[Path]:
    """Yield a private folder with the bundle's members, which is gone afterwards; what a kill left of others too.

    Another thread may end it than began it. Raises UsageError where another program is at the same bundle.
    """
    own = private_folder(home / FOLDER / submission.sha256[:NUMBER_LETTERS])
    try:
        with filelock.FileLock(own / LOCK, timeout=0, mode=PRIVATE, thread_local=False):
            above = private_folder(own / UNPACKED)
            for left in above.iterdir():
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=above) as name:
                folder = Path(name)
                for part in (CODE, DATA, WHEELS):
                    unpack_into(submission.below(part), folder / part)
                if submission.below(WHEELS):
                    pinned = requirements(submission.members).encode()
                    write_file(folder / "requirements.txt", pinned, overwrite=False)
                yield folder
    except filelock.Timeout:
        raise UsageError("Another program is running this submission. Wait until it is done.") from None


def lane_plan(submission: Submission, folder: Path, model: ModelHere | None) -> LanePlan:
    """Return how the bundle in ``folder`` is asked for at the door.

    Raises UsageError where it asks a model and none was chosen.
    """
    lane = submission.manifest.method
    options: dict[str, Any] = {"method_name": submission.manifest.name[:100], "use_cache": False}
    if isinstance(lane, CodeLane):
        return LanePlan(SUBMITTED, options)
    if asks_models(submission):
        if model is None:
            made = f" It was made with {lane.made_for}." if lane.made_for else ""
            raise UsageError(
                f"This submission asks a model, which you choose: --endpoint and --model, on this computer.{made}"
            )
        options |= {"endpoint": model.endpoint, "model": model.model}
    return LanePlan(lane.method, options | lane_options(lane, folder))


def code_method(submission: Submission, folder: Path, model: ModelHere | None, *, open_data: bool) -> Method:
    """Return the code of a bundle as a method in the box.

    Raises HarnessError where no box can be made on this computer, with what to install.
    """
    manifest = submission.manifest
    assert isinstance(manifest.method, CodeLane)  # noqa: S101  asked for its lane alone
    pinned = folder / "requirements.txt"
    wheels = pinned.exists()
    code = BoxedCode(
        folder / CODE,
        manifest.method.entry,
        pinned if wheels else None,
        folder / WHEELS if wheels else None,
        manifest.method.options,
    )
    setup = Setup(
        method=SUBMITTED,
        method_name=manifest.name[:100],
        method_class=MethodClass.CUSTOM_PLUGIN,
        method_version=manifest.release or "1",
        method_sha256=submission.sha256,
        model_slug=SUBMITTED if model is None else model.model,
        provider=None,
        condition="submission",
    )
    way = None if model is None else gateway.gateway(model.endpoint, [model.model], find_key)
    engine = engines.find_engine()
    return boxed.boxed_method(code, Limits(), engine, way, setup, open_data=open_data)


def require_kept_here(
    submission: Submission, place: Path, plan: LanePlan, model: ModelHere | None, *, trusted: bool
) -> None:
    """Raise what would keep a submission from running here over texts that stay on this computer, before one is opened.

    HarnessError where no box can be made, and UsageError where its model is on another machine or nobody answers for its
    server; ``trusted``: a person does now.
    """
    manifest = submission.manifest
    if isinstance(manifest.method, CodeLane):
        made = code_method(submission, place, model, open_data=False)
    else:
        options = {n: v for n, v in plan.told.items() if n in MethodOptions.model_fields}
        tags = {"source_language": manifest.source_language, "target_language": manifest.target_language}
        made = build(plan.method, MethodOptions(**{**tags, **options}), find_key=no_key)
    if made.endpoint is None:
        return
    if not is_loopback(made.endpoint) or privacy.is_cloud_model(made.setup.model_slug):
        raise UsageError(f"{made.setup.model_slug} at {made.endpoint} is on another machine, or of a cloud, and these entries stay on this one. Name a model that runs here (--endpoint, --model).")  # fmt: skip
    if not trusted and made.endpoint not in privacy.answered():
        raise privacy.NobodyAnswersForServer(made.endpoint)


def handed_in(method: Method, submission: Submission) -> Method:
    """Return a method of this program with somebody else's data, of which the card names the bundle that it came from."""
    setup = method.setup.model_copy(update={"method_sha256": submission.sha256})
    if isinstance(method, BoxedMethod):
        method.setup = setup
        return method
    return HandedIn(method, setup)


def asked_by(method: Method) -> int:
    """Return how many questions a submission's method has put to a model; one that was tried again counts once."""
    return method.asked if isinstance(method, BoxedMethod | HandedIn) else 0


class HandedIn:
    def __init__(self, method: Method, setup: Setup) -> None:
        self._method = method
        self.endpoint = method.endpoint
        self.setup = setup
        self.asked = 0
        """Questions that went to its model."""

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Sequence[Output]:
        return await self._method.translate(entries, _CountedCalls(calls, self))


class _CountedCalls:
    """Carries calls and counts them with the method that asks."""

    def __init__(self, calls: Calls, method: HandedIn) -> None:
        self._calls = calls
        self._method = method

    async def send(self, request: Request) -> Reply:
        self._method.asked += 1
        return await self._calls.send(request)


# ---- The rehearsal, and how it compares with the claim ----


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
        return request.clear(make=lambda _: code_method(submission, place, model, open_data=open_data))
    cleared = request.clear()
    return replace(cleared, method=handed_in(cleared.method, submission))


def rehearsal_place(request: RunRequest, store: Path, folder: Path) -> tuple[RunRequest, Path]:
    """Return the run of a rehearsal and the store that it is kept in: ``store``, or a new one in ``folder``, with which it goes.

    It is the new one where ``store`` knows one of the sentences as secret, and the run is kept on this machine then, whatever
    the terms of the corpus say (``require_kept_here`` has the words for it). The card names the corpus by its hash, so the
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
