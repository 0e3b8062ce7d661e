"""The bundled demo: a corpus of ours, recorded outputs of imaginary systems, at their own pace."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from corpora.model.entry import Entry
from corpora.model.task import TRANSLATION
from corpora.samples import DEMO_COACHING, demo_files, sample_path
from harness import api
from harness.api import RunRequest
from harness.core.calls import Calls
from harness.core.failures import UsageError
from harness.method.method import Method, Output, Setup
from harness.method.options import MethodOptions
from harness.run.events import Finished
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.sqlite.database import opened
from harness.submission import rehearsal
from harness.submission.desk import SubmissionStore
from harness.submission.folder import check_submission, require_parts
from harness.submission.rehearsal import ModelHere
from rosetta_tui.session.engine import Engine

SYSTEMS = ("verda", "griza")  # imaginary systems, in the order of `corpora.samples.demo_files`


class Paced:
    """Gives a replay's outputs after the time that each once took, so that there is something to see."""

    endpoint = None

    def __init__(self, replay: Method) -> None:
        self._replay = replay

    @property
    def setup(self) -> Setup:
        """The replay's own: waiting changes no answer."""
        return self._replay.setup

    async def translate(self, entries: Sequence[Entry], calls: Calls) -> Sequence[Output]:
        """Wait, then replay."""
        outputs = await self._replay.translate(entries, calls)
        recorded = [output.recorded.latency_seconds or 0.0 for output in outputs if output.recorded]
        await asyncio.sleep(max(recorded, default=0.0))
        return outputs


def demo_run(system: str, task: str = TRANSLATION) -> RunRequest:
    """Return what the demo of a task asks for; settings of the user change nothing of it, Withdrawn where it was taken back."""
    file, *outputs = demo_files(task)
    corpus = api.open_corpus(api.CorpusRequest(sample_path(file)))
    options = MethodOptions(
        source_language=corpus.dataset.source_language,
        target_language=corpus.dataset.target_language,
        task=corpus.dataset.task,
        outputs=sample_path(outputs[SYSTEMS.index(system)]),
        condition="demo",
    )
    scoring = ScoringOptions(terms=sample_path(DEMO_COACHING) if task == TRANSLATION else None)
    plan = Plan(method="replay", options=options, run=RunOptions(concurrency=4), scoring=scoring.said_by(task))
    return RunRequest(corpus, tuple(range(len(corpus.entries))), plan)


def begin_demo(path: Path) -> Engine:
    """Start the demo from the app."""
    ready = api.start(path, demo_run("verda"))
    return Engine(ready.with_method(Paced(ready.method)))


# ---- The rehearsal of a submission as a run of the app: what the command does, with the run
# under way in a thread.


@dataclass(frozen=True)
class RehearsalNeeds:
    """What a person has to say before a submission can be rehearsed here."""

    model: bool  # which model it asks, and where
    made_for: str  # the model that it was made with
    corpus: str  # why the open corpus of its card must be named; empty where this computer has it

    @property
    def anything(self) -> bool:
        """Return whether there is something to ask."""
        return self.model or bool(self.corpus)


def rehearsal_needs(store: Path, number: str) -> RehearsalNeeds:
    """Return what is to be asked before the submission of a number is rehearsed; raises UsageError where it cannot be at all."""
    kept = SubmissionStore(store.parent).find(number)
    require_parts(check_submission(kept.submission), for_secrets=False)
    try:
        rehearsal.rehearsal_corpus(kept.submission, None)
        corpus = ""
    except UsageError as unknown:
        corpus = str(unknown)
    made_for = getattr(kept.manifest.method, "made_for", "")
    return RehearsalNeeds(rehearsal.asks_models(kept.submission), made_for, corpus)


def begin_rehearsal(store: Path, number: str, model: ModelHere | None = None, on: Path | None = None) -> Engine:
    """Make the rehearsal of a submission ready, ``on`` an open corpus; HarnessError or CorpusError, and nothing is left."""
    desk = SubmissionStore(store.parent)
    kept = desk.find(number)
    require_parts(check_submission(kept.submission), for_secrets=False)
    with ExitStack() as unpacked:
        place = unpacked.enter_context(rehearsal.unpacked(kept.submission, store.parent))
        plan = rehearsal.lane_plan(kept.submission, place, model)
        corpus = rehearsal.rehearsal_corpus(kept.submission, on)
        request = rehearsal.rehearsal_request(kept.submission, plan, corpus, {})
        request, kept_in = rehearsal.rehearsal_place(request, store, place)
        if kept_in != store:
            raise UsageError(f"Sentences of this open corpus are secret in another one on this computer, so no run of it is kept to be watched. Rehearse it in a shell: rosetta submission run {kept.number}")  # fmt: skip
        cleared = rehearsal.cleared_method(kept.submission, place, model, request, open_data=True)
        ready = api.start(store, request, cleared)
        left = unpacked.pop_all()

    def at_end(finished: Finished | None) -> None:
        with left:
            if finished is not None and finished.card_hash:
                with opened(store) as connection:
                    rehearsed = rehearsal.rehearsed(connection, kept.submission, finished.run_id)
                rehearsal.note_rehearsal(desk, kept.submission, rehearsed, corpus.dataset.id, model)

    return Engine(ready, at_end)
