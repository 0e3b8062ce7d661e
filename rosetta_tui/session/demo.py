"""The bundled demo: a corpus of ours, recorded outputs of imaginary systems, at their own pace."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from corpora.model.entry import Entry
from corpora.samples import DEMO_COACHING, demo_files, sample_path
from corpora.tasks.task import TRANSLATION
from harness import api
from harness.api import RunRequest
from harness.core.calls import Calls
from harness.method.method import Method, Output, Setup
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from rosetta_tui.session.engine import Engine

SYSTEMS = ("verda", "griza")
"""Imaginary systems, in the order of ``corpora.samples.demo_files``."""


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
    plan = Plan(
        method="replay",
        options=options,
        run=RunOptions(concurrency=4),
        scoring=scoring.said_by(task),
    )
    return RunRequest(corpus, tuple(range(len(corpus.entries))), plan)


def begin_demo(path: Path) -> Engine:
    """Start the demo from the app."""
    ready = api.start(path, demo_run("verda"))
    return Engine(replace(ready, method=Paced(ready.method)))
