"""Whatever is charged, fails or is killed while judges are asked, the budget holds and nothing is asked twice."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from corpora.model.entry import Entry
from harness.core.calls import Calls, Price, Reply, Request
from harness.core.failures import CallError, ErrorClass, HarnessError, RateLimited, Transient
from harness.endpoint.budget import Ledger, most_cost
from harness.endpoint.limiter import RetryPolicy
from harness.run import asking as asking_module
from harness.run.asking import Asking
from harness.setup.plan import RunOptions
from harness.store.annotations import AnnotationRow, keep_annotations, read_annotations
from harness.store.file.database import open_store
from harness.store.holding import begin_stretch, pay_stretch, spent_usd
from harness.store.replies import NewReply, add_replies
from scoring.core.translation import Translation
from tests.harness.evaluation import begun, corpus
from tests.harness.run.constant_runs import constant
from tests.review.thorough import examples

ENTRIES = 5
PRICE = Price(100.0, 1000.0)
QUICK = RetryPolicy(most_attempts=2, first_wait=0.0, most_malformed=2)


class Numbered:
    """Puts as many questions for each translation as a conversation has turns."""

    id = "judge_semantic"
    slow = True
    apart = True
    maker = "numbered"
    endpoint: str | None = None

    def __init__(self, turns: int) -> None:
        self.turns = turns

    async def ask(self, translations: Sequence[Translation], calls: Calls) -> list[Any]:
        for turn in range(self.turns):
            await calls.send(question(f"{translations[0].entry.source}.{turn}"))
        return [[{"score": 1.0}] * self.turns]

    def check_budget(self) -> None:
        pass

    def close(self) -> None:
        pass


def question(text: str) -> Request:
    return Request(
        "p",
        "http://localhost/v1",
        {"question": text},
        lambda _: Reply(""),
        price=PRICE,
        most_completion_tokens=10,
    )


class Killed(BaseException):
    """The process is gone."""


class Endpoint:
    """Charges a share of the most that a call may cost, fails, or is the last that its caller sees."""

    def __init__(self, steps: Sequence[tuple[str, float]], store: Path) -> None:
        self.steps = list(steps)
        self.store = store
        self.charged = 0.0
        self.answered: list[str] = []
        self.copy: Path | None = None
        self._copies = count()

    def __call__(self, **_: Any) -> Endpoint:
        return self

    async def send(self, request: Request) -> tuple[Reply, int]:
        what, share = self.steps.pop(0) if self.steps else ("answer", 1.0)
        cost = share * most_cost(request)
        await asyncio.sleep(0)
        if what == "429":
            raise RateLimited("slow", 0.0)
        self.charged += cost
        if what == "kill":
            self.copy = self.store.with_name(f"killed-{next(self._copies)}.sqlite")
            with (
                closing(sqlite3.connect(self.store)) as now,
                closing(sqlite3.connect(self.copy)) as then,
            ):
                now.backup(then)
            raise Killed
        if what == "lost":
            raise Transient(ErrorClass.TIMEOUT, "No whole reply.")
        self.answered.append(request.body["question"])  # type: ignore[call-overload]
        return Reply("{}", reported_cost_usd=cost, finish_reason="stop"), 200

    async def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    path = tmp_path_factory.mktemp("histories") / "rosetta.sqlite"
    number, _ = begun(path, corpus(ENTRIES), constant())
    return path, number


def stretch(path: Path, run: int, cap: float, turns: int) -> list[Any] | None:
    """Ask about all outputs; None where it did not come to its end."""
    entries = [Entry(id=n, source=f"entry {n}", reference="r") for n in range(ENTRIES)]
    with closing(open_store(path)) as connection:
        ledger = Ledger(cap, spent_usd(connection, run))
        number = begin_stretch(connection, run)

        def keep(
            writer: sqlite3.Connection,
            replies: Sequence[NewReply],
            rows: Sequence[AnnotationRow],
            committed: float,
        ) -> None:
            add_replies(writer, replies)
            keep_annotations(writer, run, rows)
            pay_stretch(writer, number, committed)

        asked = Asking(
            RunOptions(concurrency=3),
            ledger,
            store=path,
            keep=keep,
            places={entry.id: place for place, entry in enumerate(entries)},
            known=lambda _: {
                row.position: row
                for row in read_annotations(connection, run, annotator="judge_semantic")
                if row.position is not None and row.value is not None
            },
        )
        asked.policy = QUICK
        try:
            return asked(Numbered(turns), [Translation(entry, "an output") for entry in entries])
        except (Killed, HarnessError, CallError):
            return None


STEP = st.tuples(
    st.sampled_from(["answer", "answer", "answer", "429", "lost", "kill"]), st.floats(0, 1)
)


@examples(12, 1000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(STEP, max_size=25), calls=st.floats(0.5, 12),
    stretches=st.integers(1, 5), turns=st.integers(1, 3),
)  # fmt: skip
def test_budget_holds_and_nothing_is_asked_twice(
    fresh: tuple[Path, int], tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, float]], calls: float, stretches: int, turns: int,
) -> None:  # fmt: skip
    first, run = fresh
    path = tmp_path_factory.mktemp("history") / "rosetta.sqlite"
    shutil.copy(first, path)
    cap = calls * most_cost(question("entry 0.0"))
    endpoint = Endpoint(steps, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking_module, "EndpointClient", endpoint)
        for _ in range(stretches):
            endpoint.store, endpoint.copy = path, None
            found = stretch(path, run, cap, turns)
            assert endpoint.charged <= cap * (1 + 1e-9)
            if endpoint.copy is not None:  # all that the process did after its end never was
                path = endpoint.copy
            with closing(open_store(path)) as connection:
                assert spent_usd(connection, run) >= endpoint.charged * (1 - 1e-9)
            if found is not None:
                assert len(found) == ENTRIES
    if not any(what == "kill" for what, _ in steps):
        assert len(endpoint.answered) == len(set(endpoint.answered))
