"""A run of 100,000 entries: opening it in the app, sorting, filtering and searching its entries.

    python -m benchmarks.store_sorting [entries] [folder]

makes the run (kept in ``folder`` for the next time) and prints wall-clock seconds against the goals: first rows
within 0.3 s of opening, any sort or filter within 0.1 s once the run is open, and how late the event loop was.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from benchmarks.synthetic import translations
from corpora.model.entry import Entry
from harness.core.failures import ErrorClass
from harness.core.query import Query, parse
from harness.method.method import MethodClass, Output, Setup
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.ordering import Ordering
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.entry.table import EntryTable
from rosetta_tui.live.screen import LiveScreen
from rosetta_tui.session.picture import EntryState
from rosetta_tui.toolkit.messages import RunChosen
from rosetta_tui.toolkit.ordered_table import RowOrder
from tests.harness.evaluation import LANGUAGES, corpus_of, run_corpus
from tests.tui.screens import App

OPEN_GOAL, SORT_GOAL, FILTER_GOAL = 0.3, 0.1, 0.2
FILTERS = (
    "chrf<30",
    "state:failed",
    "tier:baseline -match:exact",
    "ter>0.5 len>60",
    "pâto",
    "output:pâto -source:a",
    "id:77",
)
METRICS = ("exact_match_rate", "chrf_plus_plus", "bleu", "ter", "length_ratio")


class Noisy:
    """Gives outputs that were made beforehand; one in fifty fails."""

    endpoint = None
    setup = Setup(
        method="noisy", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
        model_slug="synthetic", condition="benchmark",
    )  # fmt: skip

    def __init__(self, outputs: dict[Any, str]) -> None:
        self._outputs = outputs

    async def translate(self, entries: Sequence[Entry], calls: Any) -> list[Output]:  # noqa: ARG002  a method's form
        return [
            Output(None, ErrorClass.METHOD, "made to fail")
            if int(entry.id) % 50 == 0
            else Output(self._outputs[entry.id])
            for entry in entries
        ]


def make(path: Path, size: int) -> None:
    """Run a corpus of this size to its seal."""
    made = translations(size)
    outputs = {each.entry.id: each.output for each in made}
    entries = [each.entry.model_copy(update={"source": each.entry.reference[::-1]}) for each in made]
    plan = Plan(
        method="noisy",
        options=MethodOptions(**LANGUAGES),
        run=RunOptions(concurrency=64),
        scoring=ScoringOptions(metrics=METRICS),
    )
    run_corpus(path, corpus_of(entries), plan, method=Noisy(outputs))


def line(what: str, seconds: float, goal: float | None = None) -> None:
    """Print a figure with its goal."""
    verdict = "" if goal is None else f"   goal {goal:.1f} {'met' if seconds <= goal else 'MISSED'}"
    print(f"{what:<44} {seconds * 1000:8.1f} ms{verdict}")


def timed(call: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def measure_store(path: Path) -> None:
    """Measure the columns without any screen."""
    with closing(open_store(path)) as store:
        line("list of runs", timed(lambda: list_runs(store)))
        line("the run by its name", timed(lambda: find_run(store, "last")))
        ordering = Ordering(find_run(store, "last").id)
        line("columns read, in the background", timed(lambda: ordering.prepare(store)))
        for again in ("for the first time", "again"):
            sorts = [
                (timed(lambda: ordering.positions(store, sort=s, descending=d)), s)  # noqa: B023  called at once
                for s in ordering.fields
                for d in (False, True)
            ]
            line(f"slowest sort {again} ({max(sorts)[1]})", max(sorts)[0], SORT_GOAL)
            filters = [
                (timed(lambda: ordering.positions(store, where=Query.of(n, ordering.fields), sort="chrf")), n)  # noqa: B023
                for n in FILTERS
            ]
            line(f"slowest filter {again} ({max(filters)[1]}), sorted", max(filters)[0], FILTER_GOAL)


class Lateness:
    """How late the event loop was at worst, beyond the wait that was asked for."""

    def __init__(self) -> None:
        self.worst = 0.0

    async def watch(self) -> None:
        """Look every millisecond."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            self.worst = max(self.worst, time.perf_counter() - before - 0.001)


@asynccontextmanager
async def _watched() -> AsyncIterator[Lateness]:
    lateness = Lateness()
    task = asyncio.create_task(lateness.watch())
    try:
        yield lateness
    finally:
        task.cancel()


async def _until(condition: Callable[[], bool]) -> float:
    began = time.perf_counter()
    while not condition():
        if time.perf_counter() - began > 60:
            raise TimeoutError
        await asyncio.sleep(0.001)
    return time.perf_counter() - began


async def measure_app(path: Path) -> None:
    """Measure opening and ordering as a person sees them."""
    with closing(open_store(path)) as store:
        run = find_run(store, "last")
    app = App(None, path)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.pause()
        app.post_message(RunChosen(run.run_id, True))

        def opened() -> bool:
            tables = app.screen.query(EntryTable)
            drawn: Any = tables.first()._painted.get(1) if tables else None  # noqa: SLF001  what is drawn
            return drawn is not None and drawn[0][1] >= EntryState.DONE

        async with _watched() as late:
            line("opened, to first rows, imports included", await _until(opened), OPEN_GOAL)
            line("  the loop was late by at most", late.worst)
            screen = app.screen
            assert isinstance(screen, LiveScreen)
            await _until(lambda: screen.live.done == len(run.positions))
            await app.workers.wait_for_complete()
            line("  … until all is ready", late.worst)
        await _orders(app, screen)
        app.post_message(RunChosen(run.run_id, True))
        again = await _until(lambda: app.screen is not screen and opened())
        line("opened once more, to first rows", again, OPEN_GOAL)
        await app.workers.wait_for_complete()


async def _orders(app: App, screen: LiveScreen) -> None:
    worst, slowest = 0.0, ""
    async with _watched() as late:
        for order in [
            *(RowOrder(sort, down) for sort in screen.table.fields for down in (True, False)),
            *(RowOrder("chrf", where=parse(where)) for where in FILTERS),
        ]:
            before = screen.table.entries
            screen.table.wish(order)
            seconds = await _until(lambda: screen.table.entries is not before)  # noqa: B023  awaited at once
            worst, slowest = max((worst, slowest), (seconds, f"{order.sort} {order.where}"))
        line(f"slowest order on the screen ({slowest})", worst, SORT_GOAL)
        line("  the loop was late by at most", late.worst)
    async with _watched() as late:
        before = screen.table.entries
        screen.table.wish(RowOrder(where=parse("kâto")))
        line("search on the screen", await _until(lambda: screen.table.entries is not before))
        line("  the loop was late by at most", late.worst)
    await app.workers.wait_for_complete()


def main() -> None:
    """Measure all."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(temporary)
        path = folder / "rosetta.sqlite"
        if not path.exists():
            print(f"making a run of {size:,} entries …", flush=True)
            make(path, size)
        measure_store(path)
        asyncio.run(measure_app(path))


if __name__ == "__main__":
    main()
