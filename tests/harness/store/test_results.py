"""What screens read from the store: order, selection, search, single entries; and a budget that processes share."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlite_utils import Database

from corpora.model.entry import Entry
from harness.core.calls import Usage
from harness.core.failures import BudgetReached, ErrorClass, UsageError
from harness.core.query import Query, QueryTerm, parse
from harness.endpoint.budget import Spending
from harness.method.method import Attempt, Result
from harness.store import results, sweeps
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.deletion import delete_run
from harness.store.live_runs import begin_stretch, spent_usd, touch_stretch
from harness.store.ordering import Ordering
from harness.store.run_list import done_by_run, failures_by_run, list_runs
from harness.store.runs import find_run, forget_failed, read_run
from harness.store.sqlite import trouble
from harness.store.sqlite.database import open_store
from harness.store.sqlite.migrations import migrations
from harness.store.sweeps import SharedBudget, committed_usd, leave_money, share_money, shared_budget_of
from tests.harness.evaluation import corpus_of
from tests.harness.sealed.refusals import refuses
from tests.harness.store.stored_rows import add, in_memory, make_run, result
from tests.harness.virtual_time import in_virtual_time
from tests.review.thorough import examples

ODD = [
    "",
    "a",
    "A",
    "Straße",
    "STRASSE",
    "ᓀᐦᐃᔭᐍᐏᐣ",
    "é",
    "e\u0301",
    "%",
    "_",
    "a%b_c",
    "'",
    '"',
    "\\",
    "a\x00b",
    "\U0001f9ed",
    "İ",
    "x' OR 1=1 --",
    "\x1b[31m",
    "zz",
    "a\nb",
]
TEXTS = st.sampled_from(ODD) | st.text(max_size=6)


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[Entry], list[int], list[Result]]:
    size = draw(st.integers(1, 8))
    ids = draw(st.lists(st.integers(-5, 20) | TEXTS, min_size=size, max_size=size, unique_by=str))
    entries = [
        Entry(id=id_, source=draw(TEXTS), reference=draw(TEXTS),
              difficulty=draw(st.none() | st.integers(1, 5)))
        for id_ in ids
    ]  # fmt: skip
    positions = draw(st.lists(st.sampled_from(range(size)), min_size=1, unique=True))
    done = draw(st.lists(st.sampled_from(positions), unique=True))
    number = st.integers(0, 3)
    amount = st.none() | st.sampled_from([0.0, 0.5, 1.0])
    rows = []
    for place in done:
        failed = draw(st.booleans())
        rows.append(
            result(
                place, entries[place], None if failed else draw(TEXTS),
                error_class=ErrorClass.SERVER if failed else None,
                headline=draw(amount), exact=not failed and draw(st.booleans()), second=draw(amount),
                usage=draw(st.none() | st.builds(Usage, number, number)), cost_usd=draw(amount),
                latency_seconds=draw(amount),
            )
        )  # fmt: skip
    return entries, positions, rows


ValueOf = Callable[[int, Entry, Result | None], Any]
VALUES: dict[str, ValueOf] = {
    "position": lambda place, entry, row: place,
    "id": lambda place, entry, row: (isinstance(entry.id, str), entry.id),
    "state": lambda place, entry, row: 2 if row is None else 0 if row.failed else 1,
    "chrf": lambda place, entry, row: row and row.headline,
    "exact": lambda place, entry, row: None if row is None else row.exact,
    "composite": lambda place, entry, row: row and row.second,
    "equivalent": lambda place, entry, row: row and row.third,
    "match": lambda place, entry, row: None if row is None else 2 if row.exact else row.third == 1,
    "error": lambda place, entry, row: row and row.error_class,
    "len": lambda place, entry, row: len(entry.source.partition("\0")[0]),
    "tokens": lambda place, entry, row: row and row.total_tokens,
    "cost": lambda place, entry, row: row and row.cost_usd,
    "seconds": lambda place, entry, row: row and row.latency_seconds,
    "difficulty": lambda place, entry, row: entry.difficulty,
    "source": lambda place, entry, row: entry.source.encode(),
    "output": lambda place, entry, row: row and (None if row.output is None else row.output.encode()),
}
KEPT: dict[str, Callable[[Result | None], bool]] = {
    "": lambda row: True, "state:done": lambda row: row is not None and not row.failed,
    "state:failed": lambda row: row is not None and row.failed, "state:waiting": lambda row: row is None,
    "match:exact": lambda row: row is not None and row.exact,
    "-match:exact": lambda row: row is None or not row.exact,
    "chrf<=0.5": lambda row: row is not None and row.headline is not None and row.headline <= 0.5,
    "-chrf:none": lambda row: row is not None and row.headline is not None,
    "error:server -state:done": lambda row: row is not None and row.failed,
    "tier:fluent": lambda row: row is not None and row.second is not None and row.second >= 0.9,
    "composite!=1": lambda row: row is None or row.second != 1,
}  # fmt: skip


def expected(
    entries: list[Entry], positions: list[int], rows: list[Result], sort: str, narrow: str,
    search: str, *, descending: bool,
) -> list[int]:  # fmt: skip
    """Say in Python what the query must give: entries without a value last, ties in corpus order."""
    by_place = {row.position: row for row in rows}
    piece = search.casefold()

    def found(place: int) -> bool:
        entry, row = entries[place], by_place.get(place)
        texts = [entry.source, entry.reference, (row and row.output) or ""]
        return not search or any(piece in text.casefold() for text in texts) or str(entry.id) == search

    places = [place for place in sorted(positions) if KEPT[narrow](by_place.get(place)) and found(place)]
    value = {place: VALUES[sort](place, entries[place], by_place.get(place)) for place in places}
    known = [place for place in places if value[place] is not None]
    known.sort(key=lambda place: value[place], reverse=False)
    if descending:
        known = sorted(known, key=lambda place: value[place], reverse=True)
    return known + [place for place in places if value[place] is None]


@examples(25, 150)
@given(
    runs(), st.sampled_from(sorted(VALUES)), st.sampled_from(sorted(KEPT)),
    st.just("") | TEXTS, st.booleans(),
)  # fmt: skip
def test_order_and_search_are_those_of_a_plain_reading(
    run: tuple[list[Entry], list[int], list[Result]],
    sort: str, narrow: str, search: str, descending: bool,
) -> None:  # fmt: skip
    entries, positions, rows = run
    with in_memory() as connection:
        number = make_run(connection, entries, positions=positions)
        add(connection, number, *rows)
        ordering = Ordering(number)
        where = Query.of(f"{narrow} {QueryTerm('', ':', search) if search else ''}", ordering.fields)
        found = ordering.positions(connection, descending=descending, sort=sort, where=where)
    assert found.tolist() == expected(entries, positions, rows, sort, narrow, search, descending=descending)


def test_search_reads_own_texts_alone_where_they_are_far_apart(connection: Connection) -> None:
    others = [Entry(id=n, source=f"between {n} word", reference="r") for n in range(60)]
    make_run(connection, [Entry(id=1, source="old Word", reference="r")], "1")
    make_run(connection, others, "2")
    entries = [Entry(id=2, source="old Word", reference="new"), Entry(id=3, source="x", reference="new word")]
    run = make_run(connection, entries)
    add(connection, run, result(0, entries[0], "between 59 word"))
    ordering, ranges = Ordering(run), list[list[int]]()

    def keep(sql: str) -> None:
        if "json_each" in sql:
            ranges.extend(json.loads(sql.partition("json_each('")[2].partition("'")[0]))

    connection.set_trace_callback(keep)
    assert ordering.positions(connection, where=parse("WORD")).tolist() == [0, 1]
    texts = connection.execute("SELECT id, body FROM texts ORDER BY id").fetchall()
    searched = [body for id_, body in texts if any(first <= id_ <= last for first, last in ranges)]
    assert {"old Word", "between 59 word", "x", "new word"} <= {*searched}
    assert len(ranges) == 2
    assert "between 30 word" not in searched
    assert ordering.positions(connection, where=parse("between")).tolist() == [0]
    add(connection, run, result(1, entries[1], "between 7 word"))
    del ranges[:]
    assert ordering.positions(connection, where=parse("between")).tolist() == [0, 1]
    assert ranges == [], "only the new row is searched"
    assert not len(ordering.positions(connection, where=parse("between -word")))


def test_ids_stay_integers_or_texts(connection: Connection) -> None:
    ids: list[int | str] = [7, "7a", "007", -1, 2**63 - 1]
    entries = [Entry(id=id_, source="s", reference="r") for id_ in ids]
    run = make_run(connection, entries)
    add(connection, run, *(result(place, entry) for place, entry in enumerate(entries)))
    assert list(results.entry_ids(connection, run).values()) == ids
    rows = [row.entry_id for row in results.read_results(connection, run)]
    assert [(type(id_), id_) for id_ in rows] == [(type(id_), id_) for id_ in ids]
    assert not len(Ordering(run).positions(connection, where=parse("\ud800")))


def test_an_entry_comes_back_as_it_went_in(connection: Connection) -> None:
    entry = Entry.model_validate(
        {"id": "x", "source": "\x00 ᓀ\U0001f9ed", "reference": " r ", "variants": ["v"],
         "segment": "diagnostic", "difficulty": 3, "register": "formal", "context": "label",
         "provenance": "elicited", "notes": "", "their_own": {"deep": [1, None, 2.5]}}
    )  # fmt: skip
    run = read_run(connection, make_run(connection, [entry]))
    assert read_entries(connection, run.corpus) == {0: entry}
    assert read_entries(connection, run.corpus)[0].model_fields_set == entry.model_fields_set
    assert read_dataset(connection, run.corpus) == corpus_of([entry]).dataset


def test_rows_and_attempts_come_back_as_they_went_in(connection: Connection) -> None:
    entry = Entry(id=1, source="s", reference="r")
    run = make_run(connection, [entry])
    row = result(
        0, entry, "ᐅ\x00", statistics=bytes(range(256)), headline=1 / 3, exact=True, second=None,
        latency_seconds=0.1, cached=True, batch_size=7, attempts=3,
        usage=Usage(1, 2, 3, 4), cost_usd=1e-9, spent_usd=0.0,
        finished_at=1.5,
    )  # fmt: skip
    attempts = [
        Attempt(b"k" * 16, 200, 0.1, 2.5, cached=True),
        Attempt(None, 429, None, 0.0, error_class=ErrorClass.RATE_LIMIT, error="slow down"),
        Attempt(note="ᐊ"),
    ]
    connection.execute("BEGIN")
    results.add_results(connection, run, [replace(row, trace=tuple(attempts))])
    connection.execute("COMMIT")
    assert list(results.read_results(connection, run)) == [row]
    assert list(results.read_results(connection, run, [0])) == [row]
    assert results.read_attempts(connection, run, 0) == attempts
    assert results.read_attempts(connection, run, 1) == []
    assert dict(results.read_statistics(connection, run)) == {0: bytes(range(256))}


def test_each_column_holds_what_its_name_says(connection: Connection) -> None:
    """What other programs read of a store, by the names of the schema and without our own reading."""
    entry = Entry(id=1, source="s", reference="r")
    run = make_run(connection, [entry])
    own: dict[str, Any] = {
        "statistics": b"s", "headline": 1.25, "exact": True, "second": 2.25,
        "error_class": ErrorClass.RATE_LIMIT, "error": "slow down", "latency_seconds": 3.25,
        "cached": False, "batch_size": 11, "attempts": 12, "cost_usd": 4.25,
        "spent_usd": 5.25, "finished_at": 6.25, "third": 0.75,
    }  # fmt: skip
    connection.execute("BEGIN")
    usage = Usage(13, 14, 15, 16)
    results.add_results(connection, run, [Result(0, 1, "out", raw="before", usage=usage, **own)])
    connection.execute("COMMIT")
    cursor = connection.execute("SELECT * FROM results")
    stored = dict(zip((each[0] for each in cursor.description), cursor.fetchone(), strict=True))
    texts = {stored.pop("output"): "out", stored.pop("raw"): "before"}
    found = connection.execute("SELECT id, body FROM texts WHERE body IN ('out', 'before')")
    assert dict(found) == texts
    assert stored == {"run": run, "position": 0, "trace": None, "sealed": None, **own, **asdict(usage)}


def test_more_rows_than_a_statement_takes_values(connection: Connection) -> None:
    entries = [Entry(id=n, source="s", reference="r") for n in range(1300)]
    run = make_run(connection, entries)
    add(connection, run, *(result(n, entry) for n, entry in enumerate(entries)))
    wanted = list(range(0, 1300, 2))
    assert [row.position for row in results.read_results(connection, run, wanted)] == wanted
    assert set(read_entries(connection, read_run(connection, run).corpus, wanted)) == set(wanted)


def test_an_entry_cannot_be_stored_twice(connection: Connection) -> None:
    entry = Entry(id=1, source="s", reference="r")
    run = make_run(connection, [entry])
    add(connection, run, result(0, entry))
    connection.execute("BEGIN")
    refuses(sqlite3.IntegrityError, "", results.add_results, connection, run, [result(0, entry)])
    connection.execute("ROLLBACK")


def test_new_rows_are_followed(connection: Connection) -> None:
    entries = [Entry(id=n, source="s", reference="r") for n in range(4)]
    run = make_run(connection, entries)
    add(connection, run, result(2, entries[2]))
    [(row_id, first)] = results.results_after(connection, run, 0)
    assert first.position == 2
    add(connection, run, result(0, entries[0], None, error_class=ErrorClass.SERVER))
    [(_, second)] = results.results_after(connection, run, row_id)
    assert (second.position, second.failed) == (0, True)
    assert (results.read_outcome(connection, run).done, results.read_outcome(connection, run).failed) == (2, 1)
    assert forget_failed(connection, run) == 1
    assert results.stored_positions(connection, run) == {2}


def test_a_run_is_found_by_the_beginning_of_its_id(connection: Connection) -> None:
    entries = [Entry(id=1, source="s", reference="r")]
    for created, run_id in enumerate(["abcd-1111", "abcd-2222", "beef-3333"]):
        make_run(connection, entries, run_id, created=float(created))
    assert find_run(connection, "be").run_id == "beef-3333"
    assert find_run(connection, "ABCD-1").run_id == "abcd-1111"
    assert find_run(connection, "last").run_id == "beef-3333"
    assert [run.run_id for run in list_runs(connection)] == ["beef-3333", "abcd-2222", "abcd-1111"]
    make_run(connection, entries, "abcd")
    assert find_run(connection, "abcd").run_id == "abcd"
    refuses(UsageError, "Several runs begin with 'abc'", find_run, connection, "abc")
    delete_run(connection, find_run(connection, "abcd").id)
    refuses(UsageError, "Several runs begin with 'abcd'", find_run, connection, "abcd")
    for name in ("", "%", "_bcd", "x", "abcd-11111", "\x00", "'; DROP TABLE runs; --"):
        refuses(UsageError, "No run is named", find_run, connection, name)


def test_a_text_is_kept_once_whatever_refers_to_it(connection: Connection) -> None:
    entries = [Entry(id=n, source="the same", reference="the same") for n in range(50)]
    run = make_run(connection, entries)
    add(connection, run, *(result(n, each, "the same") for n, each in enumerate(entries)))
    assert connection.execute("SELECT body FROM texts").fetchall() == [("the same",)]
    assert next(iter(results.read_results(connection, run))).output == "the same"


def test_equal_digests_stay_apart(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trouble, "digest", lambda text: 42)
    ids = [trouble.intern_text(connection, text) for text in ("one", "two", "one")]
    assert ids[0] == ids[2] != ids[1]
    assert trouble.read_texts(connection, ids) == {ids[0]: "one", ids[1]: "two"}


def test_store_of_version_9_is_read_and_migrated() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrations.apply(Database(connection), stop_before="m010_sort_values")
        run = make_run(connection, [Entry(id=n, source="s", reference="r") for n in (1, 2)])
        kept = [(71.5, 0.25, 1), (12.5, None, None)]  # in the sort columns of translations
        names = (
            "run, position, statistics, cached, batch_size, attempts, finished_at, exact, chrf, composite, equivalent"
        )
        rows = [(run, n, b"s", 0, 1, 1, 0.0, 1 - n, *each) for n, each in enumerate(kept)]
        sql = f"INSERT INTO results ({names}) VALUES ({', '.join('?' * 11)})"
        connection.executemany(sql, rows)
        for _ in range(2):
            found = list(results.read_results(connection, run))
            assert [(row.headline, row.second, row.third) for row in found] == kept
            assert [row.exact for row in found] == [True, False]
            assert [row for _, row in results.results_after(connection, run, 0)] == found
            order = Ordering(run).positions(connection, sort="chrf", descending=False)
            assert list(order) == [1, 0]
            migrations.apply(Database(connection))
        assert {row[1] for row in connection.execute("PRAGMA table_info(results)")} >= {"headline"}
        add(connection, run)


ENTRIES = [Entry(id=n, source=f"s{n}", reference="r") for n in range(4)]


def test_runs_are_counted(connection: Connection) -> None:
    two = [make_run(connection, ENTRIES, run_id) for run_id in ("11111111-a", "22222222-b")]
    rows = [result(place, ENTRIES[place]) for place in (0, 1)]
    lost = [result(n, ENTRIES[n], None, error_class=ErrorClass.TIMEOUT) for n in (2, 3)]
    add(connection, two[0], *rows, *lost)
    add(connection, two[1], rows[0], lost[0])
    first, second = two
    assert done_by_run(connection) == {first: 4, second: 2}
    assert done_by_run(connection, [first]) == {first: 4}
    assert failures_by_run(connection) == {first: {"timeout": 2}, second: {"timeout": 1}}
    assert failures_by_run(connection, [second]) == {second: {"timeout": 1}}
    assert done_by_run(connection, [77]) == failures_by_run(connection, [77]) == {}
    for count in (done_by_run, failures_by_run):  # one run reads no row of another
        asked: list[str] = []
        connection.set_trace_callback(asked.append)
        count(connection, [first])
        connection.set_trace_callback(None)
        (query,) = asked
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")]
        assert any("SEARCH" in step and "(run=?)" in step for step in plan), plan
        assert not any(step.startswith("SCAN") for step in plan), plan


@pytest.mark.parametrize(
    ("also", "heavy"),
    [
        (
            "rosetta_tui.commands.runs.list_",
            {"numpy", "pydantic", "ssl", "_hashlib", "tomllib", "scoring.core.inventory"},
        ),
        ("harness.card.reading, rosetta_tui.show.run_facts", {"numpy", "pydantic", "asyncio"}),
    ],
    ids=["empty", "with runs"],
)
def test_listing_runs_loads_no_library_of_scoring(also: str, heavy: set[str]) -> None:
    code = f"import sys, harness.store.sqlite.database, harness.store.runs, {also}\n"
    code += f"print(*{heavy!r} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True)
    assert done.stdout.split() == []


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
        found = shared_budget_of(self.connection, self.path, name)
        assert found is not None
        number = int(name.removeprefix("run-")) + 1
        before = spent_usd(self.connection, number)
        spending = Spending(None, before, _AtOnce(found))
        stretch = begin_stretch(self.connection, number)

        async def secure() -> None:
            touch_stretch(self.connection, stretch, spending.committed)

        spending.secure = secure
        work = asyncio.gather(*(self.call(spending, c) for c in each.calls), return_exceptions=True)
        if each.killed_after:
            done, _ = await asyncio.wait([work], timeout=each.killed_after)
            if not done:
                spending.__dict__["settle"] = _dead
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
                return
        for end in await work:
            self.reached += isinstance(end, BudgetReached)
            assert end is None or isinstance(end, BudgetReached), end
        touch_stretch(self.connection, stretch, spending.committed)
        leave_money(self.connection, name, before + spending.committed)

    async def call(self, spending: Spending, charge: Charge) -> None:
        for _ in range(2 if charge.ends == "retried" else 1):
            amount = await spending.reserve(charge.most)
            cost = 0.0 if charge.ends == "free" else charge.most * charge.share
            self.charged += cost
            assert self.charged <= CAP * (1 + ROUNDING)
            try:
                await asyncio.sleep(charge.seconds)
            finally:
                known = charge.ends != "unknown"
                spending.settle(amount, cost if known else amount, billed=known)


def _dead(*_: object, **__: object) -> None:
    """Write nothing any more."""


class _AtOnce(SharedBudget):
    """Asks the store in the loop's own thread, for virtual time knows no other."""

    def __init__(self, shared_budget: SharedBudget) -> None:
        self.__dict__.update(shared_budget.__dict__)

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
