"""Whose fault the end of a run is: the method's counts as an answer, everything else is free to try again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from corpora.model.entry import Entry
from harness.box.boxed import BoxedMethod
from harness.box.failures import BoxFailure, BoxStage
from harness.core.calls import Calls
from harness.core.failures import ErrorClass
from harness.events.kinds import Finished
from harness.method.method import Method, MethodClass, Output, Setup
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.submission.desk import DeskAct
from harness.submission.outcome import RunOutcome, run_outcome
from tests.harness.evaluation import LANGUAGES, corpus_of, run_corpus
from tests.harness.release.made import hidden


class Answering:
    """Gives a text, or fails in a class, by the entry's place."""

    endpoint: str | None = None

    def __init__(self, *classes: ErrorClass | None, endpoint: str | None = None) -> None:
        self._classes, self.endpoint = classes, endpoint
        self.setup = Setup(
            method="submission",
            method_class=MethodClass.CUSTOM_PLUGIN,
            method_version="1",
            method_sha256="0" * 64,
            model_slug="m",
            condition="c",
        )

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        return [self._one(int(str(each.id).partition("-")[2])) for each in entries]

    def _one(self, place: int) -> Output:
        failed = self._classes[place % len(self._classes)]
        return Output("mi vidas") if failed is None else Output(None, failed, "It failed.")


class Boxy(BoxedMethod):
    """A method in the box, as far as its end is judged."""

    def __init__(self, failure: BoxFailure | None) -> None:
        self.failure = failure
        self.endpoint = None


def _ended(folder: Path, made: Answering) -> tuple[Path, Finished]:
    store = folder / "rosetta.sqlite"
    plan = Plan(
        method="submission",
        options=MethodOptions(**LANGUAGES),
        run=RunOptions(),
        scoring=ScoringOptions(metrics=("chrf_plus_plus",)),
    )
    heard = run_corpus(store, corpus_of(hidden(6)), plan, method=made)
    [finished] = [each for each in heard.events if isinstance(each, Finished)]
    return store, finished


def _outcome(
    folder: Path, made: Answering, judged: Method | None = None, *, interrupted: bool = False
) -> RunOutcome:
    store, finished = _ended(folder, made)
    with closing(open_store(store)) as connection:
        return run_outcome(connection, finished, judged or made, interrupted=interrupted)


def test_outputs_are_scored_though_some_entries_failed(tmp_path: Path) -> None:
    made = Answering(None, ErrorClass.METHOD)
    assert _outcome(tmp_path, made).act is DeskAct.SCORED


@pytest.mark.parametrize("failed", [ErrorClass.METHOD, ErrorClass.EMPTY, ErrorClass.MALFORMED, ErrorClass.TIMEOUT])  # fmt: skip
def test_a_method_that_gives_nothing_is_refused(tmp_path: Path, failed: ErrorClass) -> None:
    found = _outcome(tmp_path, Answering(failed))
    assert (found.act, found.stage) == (DeskAct.REFUSED, "translate")


@pytest.mark.parametrize("failed", [ErrorClass.CONNECTION, ErrorClass.SERVER, ErrorClass.AUTH, ErrorClass.TIMEOUT])  # fmt: skip
def test_a_server_that_fails_is_no_fault_of_the_method(tmp_path: Path, failed: ErrorClass) -> None:
    made = Answering(failed)
    store, finished = _ended(tmp_path, made)
    made.endpoint = "http://127.0.0.1:9/v1"
    with closing(open_store(store)) as connection:
        found = run_outcome(connection, finished, made, interrupted=False)
    assert (found.act, found.stage) == (DeskAct.NOT_RUN, None)


def test_what_somebody_stopped_here_is_no_answer(tmp_path: Path) -> None:
    found = _outcome(tmp_path, Answering(ErrorClass.METHOD), interrupted=True)
    assert found.act is DeskAct.NOT_RUN


@pytest.mark.parametrize(
    ("stage", "act", "told"),
    [
        (BoxStage.ENGINE, DeskAct.NOT_RUN, None),
        (BoxStage.GATEWAY, DeskAct.NOT_RUN, None),
        (BoxStage.INSTALL, DeskAct.REFUSED, "install"),
        (BoxStage.LOAD, DeskAct.REFUSED, "load"),
        (BoxStage.TRANSLATE, DeskAct.REFUSED, "translate"),
    ],
)
def test_a_box_says_whose_fault_it_is(
    tmp_path: Path, stage: BoxStage, act: DeskAct, told: str | None
) -> None:
    found = _outcome(tmp_path, Answering(ErrorClass.METHOD), Boxy(BoxFailure(stage)))
    assert (found.act, found.stage) == (act, told)


def test_every_stage_of_a_box_has_a_word_or_is_the_custodians(tmp_path: Path) -> None:
    for stage in BoxStage:
        found = _outcome(tmp_path / stage, Answering(ErrorClass.METHOD), Boxy(BoxFailure(stage)))
        assert (found.stage is None) is (found.act is DeskAct.NOT_RUN)
