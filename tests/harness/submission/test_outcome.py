"""Whose fault the end of a run is: the method's counts as an answer, everything else is free to try again."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from corpora.model.entry import Entry
from harness.box.boxed import BoxedMethod
from harness.box.engine import BoxFailure, BoxStage
from harness.core.calls import Calls
from harness.core.failures import ErrorClass
from harness.method.method import Method, MethodClass, Output, Setup
from harness.method.options import MethodOptions
from harness.run.events import Finished
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.submission.desk import SubmissionEvent
from harness.submission.rehearsal import RunOutcome, run_outcome
from tests.harness.evaluation import LANGUAGES, corpus_of, run_corpus
from tests.harness.release.made import hidden


class Answering:
    """Gives a text, or fails in a class, by the entry's place."""

    def __init__(self, *classes: ErrorClass | None, endpoint: str | None = None) -> None:
        self._classes, self.endpoint = classes, endpoint
        self.setup = Setup(
            method="submission", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1", method_sha256="0" * 64,
            model_slug="m", condition="c",
        )  # fmt: skip

    async def translate(self, entries: Sequence[Entry], _calls: Calls) -> list[Output]:
        places = (int(str(each.id).partition("-")[2]) for each in entries)
        classes = (self._classes[place % len(self._classes)] for place in places)
        return [Output("mi vidas") if e is None else Output(None, e, "It failed.") for e in classes]


class Boxy(BoxedMethod):
    """A method in the box, as far as its end is judged."""

    def __init__(self, failure: BoxFailure | None) -> None:
        self.failure = failure
        self.endpoint = None


Ended = Callable[..., RunOutcome]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Judge the end of a run whose texts fail in these classes; each such run is made once."""
    runs: dict[tuple[ErrorClass | None, ...], tuple[Path, Finished]] = {}

    def judged(*classes: ErrorClass | None, method: Method | None = None, endpoint: str | None = None, interrupted: bool = False) -> RunOutcome:  # fmt: skip
        if classes not in runs:
            store = tmp_path_factory.mktemp("run") / "rosetta.sqlite"
            scoring = ScoringOptions(metrics=("chrf_plus_plus",))
            plan = Plan(method="submission", options=MethodOptions(**LANGUAGES), scoring=scoring)
            heard = run_corpus(store, corpus_of(hidden(6)), plan, method=Answering(*classes))
            [finished] = [each for each in heard.events if isinstance(each, Finished)]
            runs[classes] = store, finished
        store, finished = runs[classes]
        with closing(open_store(store)) as connection:
            found = method or Answering(*classes, endpoint=endpoint)
            return run_outcome(connection, finished, found, interrupted=interrupted)

    return judged


def test_outputs_are_scored_though_some_entries_failed(outcome: Ended) -> None:
    assert outcome(None, ErrorClass.METHOD).act is SubmissionEvent.SCORED


@pytest.mark.parametrize("failed", [ErrorClass.METHOD, ErrorClass.EMPTY, ErrorClass.MALFORMED, ErrorClass.TIMEOUT])  # fmt: skip
def test_method_that_gives_nothing_is_refused(outcome: Ended, failed: ErrorClass) -> None:
    found = outcome(failed)
    assert (found.act, found.stage) == (SubmissionEvent.REFUSED, "translate")
    if failed is ErrorClass.METHOD:  # what somebody stopped here is no answer
        assert outcome(failed, interrupted=True).act is SubmissionEvent.NOT_RUN


@pytest.mark.parametrize("failed", [ErrorClass.CONNECTION, ErrorClass.SERVER, ErrorClass.AUTH, ErrorClass.TIMEOUT])  # fmt: skip
def test_server_that_fails_is_no_fault_of_the_method(outcome: Ended, failed: ErrorClass) -> None:
    found = outcome(failed, endpoint="http://127.0.0.1:9/v1")
    assert (found.act, found.stage) == (SubmissionEvent.NOT_RUN, None)


def test_box_says_whose_fault_it_is_at_each_stage(outcome: Ended) -> None:
    told: dict[BoxStage, tuple[SubmissionEvent, str | None]] = {}
    for stage in BoxStage:
        found = outcome(ErrorClass.METHOD, method=Boxy(BoxFailure(stage)))
        told[stage] = found.act, found.stage
        assert (found.stage is None) is (found.act is SubmissionEvent.NOT_RUN)
    for stage in (BoxStage.ENGINE, BoxStage.GATEWAY):
        assert told[stage] == (SubmissionEvent.NOT_RUN, None)
    for stage in (BoxStage.INSTALL, BoxStage.LOAD, BoxStage.TRANSLATE):
        assert told[stage] == (SubmissionEvent.REFUSED, stage.value)
