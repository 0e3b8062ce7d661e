"""A budget that runs of several processes share is never passed, whatever happens to calls and processes."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.endpoint.budget import BudgetReached, Ledger
from harness.store import sweeps
from harness.store.file.database import open_store
from harness.store.holding import begin_stretch, spent_usd, touch_stretch
from harness.store.sweeps import (
    SharedBudget,
    committed_usd,
    leave_money,
    purse_of,
    share_money,
)
from tests.harness.virtual_time import in_virtual_time
from tests.review.thorough import examples

CAP = 1.0
ROUNDING = 1e-9


@dataclass(frozen=True)
class Charge:
    """One call: what it may cost, what the endpoint takes, how long it lasts, and what its process learns of it."""

    most: float
    share: float
    seconds: float
    ends: str


@dataclass(frozen=True)
class Stretch:
    """What one process does with one run, and after how long it is killed; 0: never."""

    run: int
    calls: tuple[Charge, ...]
    killed_after: float


CHARGES = st.builds(
    Charge, st.floats(0.001, 0.4), st.floats(0, 1), st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from(["billed", "free", "unknown", "retried"]),
)  # fmt: skip
STRETCHES = st.builds(
    Stretch, st.integers(0, 5), st.lists(CHARGES, min_size=1, max_size=8).map(tuple),
    st.sampled_from([0.0, 0.0, 0.05, 0.5]),
)  # fmt: skip


@dataclass
class World:
    """The store, the endpoint's own books, and which runs a living process is at."""

    path: Path
    connection: sqlite3.Connection
    charged: float = 0.0
    held: set[str] = field(default_factory=set)
    reached: int = 0

    async def process(self, stretches: list[Stretch]) -> None:
        for each in stretches:
            name = f"run-{each.run}"
            if name not in self.held:
                self.held.add(name)
                await self.stretch(name, each)
                self.held.discard(name)

    async def stretch(self, name: str, each: Stretch) -> None:
        found = purse_of(self.connection, self.path, name)
        assert found is not None
        number = int(name.removeprefix("run-")) + 1
        before = spent_usd(self.connection, number)
        ledger = Ledger(None, before, _AtOnce(found))
        stretch = begin_stretch(self.connection, number)

        async def secure() -> None:
            touch_stretch(self.connection, stretch, ledger.committed)

        ledger.secure = secure
        work = asyncio.gather(*(self.call(ledger, c) for c in each.calls), return_exceptions=True)
        if each.killed_after:
            done, _ = await asyncio.wait([work], timeout=each.killed_after)
            if not done:
                ledger.__dict__["settle"] = _dead
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
                return
        for end in await work:
            self.reached += isinstance(end, BudgetReached)
            assert end is None or isinstance(end, BudgetReached), end
        touch_stretch(self.connection, stretch, ledger.committed)
        leave_money(self.connection, name, before + ledger.committed)

    async def call(self, ledger: Ledger, charge: Charge) -> None:
        for _ in range(2 if charge.ends == "retried" else 1):
            amount = await ledger.reserve(charge.most)
            cost = 0.0 if charge.ends == "free" else charge.most * charge.share
            self.charged += cost
            assert self.charged <= CAP * (1 + ROUNDING)
            try:
                await asyncio.sleep(charge.seconds)
            finally:
                known = charge.ends != "unknown"
                ledger.settle(amount, cost if known else amount, billed=known)


def _dead(*_: object, **__: object) -> None:
    """Write nothing any more."""


class _AtOnce(SharedBudget):
    """Asks the store in the loop's own thread, for virtual time knows no other."""

    def __init__(self, purse: SharedBudget) -> None:
        self.__dict__.update(purse.__dict__)

    async def take(self, wanted: float, spent: float | None) -> bool | None:
        await asyncio.sleep(0)
        return self.take_now(wanted, spent)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    path = tmp_path / "rosetta.sqlite"
    with closing(open_store(path)) as connection:
        made = World(path, connection)
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA foreign_keys = OFF")
        monkeypatch.setattr(sweeps, "open_store", lambda _: _Open(connection))
        monkeypatch.setattr(sweeps, "is_held", lambda _, run: run in made.held)
        yield made


class _Open:
    """The connection of the test, which nobody else closes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)

    def close(self) -> None:
        """Stay open."""


def clean(world: World) -> None:
    for table in ("sweep_money", "sweeps", "stretches", "runs"):
        world.connection.execute(f"DELETE FROM {table}")
    world.connection.execute(
        "INSERT INTO sweeps (id, key, name, created, plan, file, budget_usd, workers)"
        " VALUES (1, '', 'test', 0, '{}', '', ?, 1)",
        (CAP,),
    )
    for number in range(6):
        fields = "run_id, corpus, state, created, positions, setup, setup_hash, plan, opening,"
        world.connection.execute(
            f"INSERT INTO runs (id, {fields} harness_version, model_slug, condition, dataset_id,"
            " language_pair, fingerprint_hash)"
            " VALUES (?, ?, 1, 'stopped', 0, '', '{}', '', '{}', '{}', '', '', '', '', '', '')",
            (number + 1, f"run-{number}"),
        )
        share_money(world.connection, 1, f"run-{number}")
    world.charged, world.reached = 0.0, 0
    world.held.clear()


def test_no_history_passes_the_budget(world: World) -> None:
    reached = 0

    @examples(30, 10_000)
    @given(st.lists(st.lists(STRETCHES, max_size=3), min_size=4, max_size=4))
    @in_virtual_time
    async def histories(processes: list[list[Stretch]]) -> None:
        nonlocal reached
        clean(world)
        await asyncio.gather(*(world.process(each) for each in processes))
        assert world.charged <= committed_usd(world.connection, 1) + ROUNDING
        assert committed_usd(world.connection, 1) <= CAP + ROUNDING
        reached += world.reached

    histories()
    assert reached > 0
