"""Predicted SQL in its process: what it gives, and what it cannot do."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Entry
from harness.annotators import sql, sql_sandbox
from harness.annotators.annotator import NoMemo, Search
from harness.core.failures import HarnessError, UsageError
from scoring.core.translation import Translation
from tests.review.thorough import first
from tests.scoring.packs.au import cases, metric, resources

DDL = cases("au.text2sql_score")[0]["entries"][0]["ddl"]
NAMES = "SELECT name FROM item"
PROGRAM = sql.PROGRAM


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("corpus")
    (found / "data").mkdir()
    connection = sqlite3.connect(found / "data" / "shop ä#?%.sqlite")
    connection.executescript(DDL)
    connection.close()
    return found


DATABASE = "data/shop ä#?%.sqlite"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take its time: what must end ends by the processor time it takes."""
    monkeypatch.setattr(sql, "QUERY_SECONDS", 60.0)


def _entry(reference: str = NAMES, **fields: Any) -> Entry:
    return Entry.model_validate({"id": 7, "source": "?", "reference": reference, **fields})


@pytest.fixture(scope="module")
def runner(folder: Path) -> Iterator[sql.SqlRunner]:
    made = sql.SqlRunner(folder, [_entry(database=DATABASE)])
    yield made
    made.close()


def _given(runner: sql.SqlRunner, query: str, reference: str = NAMES) -> dict[str, Any]:
    (found,) = runner.annotate([Translation(_entry(reference, database=DATABASE), query)])
    assert found is not None
    return found


def test_values_are_those_of_the_published_system(runner: sql.SqlRunner) -> None:
    for case in cases("au.text2sql_score"):
        (entry,) = case["entries"]
        reference = _entry(entry["reference"], database=DATABASE)
        (found,) = runner.annotate([Translation(reference, entry["predicted"])])
        scored = Translation(reference, entry["predicted"], {"sql": found})
        assert metric("text2sql_score").stats(scored) == (case["expect"]["exec"], 1, 0)
        assert metric("sql_set_match").stats(scored) == (case["expect"]["set_match"], 1, 0)


JOINED = ", ".join(f"item i{place}" for place in range(14))
HOSTILE = {
    "drop": ("DROP TABLE item", "not authorized"),
    "attach": ("ATTACH 'FOLDER/made.db' AS x", "not authorized"),
    "pragma": ("PRAGMA writable_schema = 1", "not authorized"),
    "load extension": ("SELECT load_extension('FOLDER/x')", "not authorized"),
    "endless": (
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT max(x) FROM t",
        "takes too long",
    ),
    "allocate": ("SELECT hex(randomblob(900000000)), zeroblob(2000000000)", "too big"),
    "read a file": ("SELECT readfile('/etc/hostname')", "fails"),
    "write a file": ("SELECT writefile('FOLDER/made', 'x')", "fails"),
    "vacuum into": ("VACUUM INTO 'FOLDER/made.db'", "authoriz"),
    "cross join": (f"SELECT count(*) FROM {JOINED}", "takes too long"),
    "nested": ("SELECT " + "(" * 9_000 + "1" + ")" * 9_000, "fails"),
    "10 MB": ("SELECT '" + "a" * 10_000_000 + "'", "longer than"),
    "rows": ("SELECT i0.* FROM " + JOINED[: len("item i0, ") * 8 - 2], "more than 10,000 rows"),
    "bytes": (
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x FROM t) SELECT zeroblob(900000) FROM t",
        "32 MB",
    ),
    "two statements": ("SELECT 1; DELETE FROM item", "one statement"),
    "insert": ("INSERT INTO item VALUES (9, 'x', 1, 'y')", "not authorized"),
    "temporary": ("CREATE TEMP TABLE t (x)", "not authorized"),
    "its path": ("SELECT file FROM pragma_database_list", "not authorized"),
    "transaction": ("BEGIN EXCLUSIVE", "not authorized"),
    "nul": ("SELECT \x00", "fails"),
    "surrogate": ("SELECT '\ud800'", "fails"),
    "nothing": ("   ", "no query"),
}


def test_query_only_reads_within_limits(runner: sql.SqlRunner, folder: Path) -> None:
    database = folder / DATABASE
    before = hashlib.sha256(database.read_bytes()).digest(), sorted(folder.rglob("*"))
    for text, why in HOSTILE.values():
        found = _given(runner, text.replace("FOLDER", str(folder)))
        assert found["exec"] == 0
        assert why in found["why"]
        assert str(folder) not in found["why"]
        assert before == (hashlib.sha256(database.read_bytes()).digest(), sorted(folder.rglob("*")))
        assert _given(runner, "```sql\nSELECT name FROM item;\n```")["exec"] == 1


def test_rows_in_another_order_or_number_are_told(runner: sql.SqlRunner) -> None:
    assert _given(runner, "SELECT name FROM item LIMIT 3")["why"] == (
        "3 rows; the reference query has 4"
    )
    found = _given(runner, "SELECT cat FROM item")
    assert found["why"].startswith("other rows")
    assert found["rows"] == {"given": ["x", "y", "x", "z"], "wanted": ["ant", "bee", "cat", "dog"]}
    wide = _given(
        runner, "SELECT NULL, x'00ff', name || hex(zeroblob(99)), " + "1, " * 9 + "2.5 FROM item"
    )
    assert wide["rows"]["given"][0] == "NULL | 2 bytes | ant" + "0" * 57 + " | 1" * 5
    ordered = NAMES + " ORDER BY price, name"
    assert _given(runner, NAMES + " ORDER BY name DESC", ordered)["exec"] == 0
    assert _given(runner, ordered, ordered)["exec"] == 1
    assert _given(runner, "SELECT DISTINCT price FROM item", "SELECT price FROM item")["exec"] == 1


def test_a_reference_query_without_a_result_has_no_value(runner: sql.SqlRunner) -> None:
    for reference, why in [
        ("SELECT x FROM nowhere", "the reference query fails: no such table"),
        ("DROP TABLE item", "the reference query fails: not authorized"),
        (HOSTILE["endless"][0], "the reference query takes too long"),
        ("SELECT 1 --" + "x" * 20_000, "the reference query is longer"),
    ]:
        found = _given(runner, NAMES, reference)
        assert found["exec"] is None
        assert why in found["why"]


ENDS = "import sys; sys.stdout.write('{\"ready\": 1}\\n'); sys.stdout.flush(); sys.stdin.readline()"
"""A process that ends at the first question."""
ENDS_LATER = ENDS.replace("1}", '1}\\n{"wanted": true}')
"""One that ends after it has told of the reference query."""
HANGS = "; sys.stdin.readline()"


@pytest.mark.parametrize(
    ("program", "why"),
    first(
        1,
        [
            (ENDS, "the reference query ends the process it runs in"),
            (ENDS_LATER + HANGS, "the query takes too long"),
            (ENDS + HANGS, "the reference query takes too long"),
            (ENDS_LATER, "the query ends the process it runs in"),
        ],
    ),
)
def test_process_that_ends_or_hangs_is_started_again(
    program: str, why: str, runner: sql.SqlRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner.close()
    monkeypatch.setattr(sql, "PROGRAM", program)
    monkeypatch.setattr(sql, "QUERY_SECONDS", 1.0 if "too long" in why else 60.0)
    found = _given(runner, NAMES)
    assert (found["why"], found["exec"]) == (why, None if "reference" in why else 0)
    monkeypatch.setattr(sql, "PROGRAM", PROGRAM)
    monkeypatch.setattr(sql, "QUERY_SECONDS", 60.0)
    assert _given(runner, NAMES)["exec"] == 1


def test_failing_start_is_an_error(runner: sql.SqlRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    runner.close()
    monkeypatch.setattr(sql, "PROGRAM", "import sys; sys.exit(3)")
    with pytest.raises(HarnessError, match="does not start"):
        _given(runner, NAMES)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_its_process_may_write_no_file_and_knows_no_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "secret")
    monkeypatch.setattr(
        sql,
        "PROGRAM",
        "import sys; sys.path.insert(0, sys.argv[1]); import json, os, resource\n"
        "from harness.annotators import sql_sandbox\n"
        "sql_sandbox._limit_process()\n"
        "print(json.dumps({'ready': 1}), flush=True)\n"
        "sys.stdin.readline()\n"
        "limits = [resource.getrlimit(resource.RLIMIT_FSIZE)[0], sorted(set(os.environ) - {'LC_CTYPE'})]\n"
        "print(json.dumps({'wanted': True}), flush=True)\n"
        "print(json.dumps({'exec': 0, 'why': limits}), flush=True)\n"
        "sys.stdin.readline()",
    )
    runner = sql.SqlRunner(folder, [_entry(database=DATABASE)])
    try:
        assert _given(runner, NAMES)["why"] == [0, []]
    finally:
        runner.close()


def test_no_function_of_the_sandbox_writes_where_the_system_sets_no_limits(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_sandbox, "connected", _loud(sql_sandbox.connected))
    asked = {"database": str(folder / DATABASE), "wanted": NAMES, "given": "DELETE FROM item"}
    first, second = sql_sandbox.answers(asked)
    assert first == {"wanted": True}
    assert (second["exec"], second["tables"]["sale"]) == (0, ["id", "item_id", "qty"])


def _loud(connected: Any) -> Any:
    def opened(database: Path) -> sqlite3.Connection:
        connection: sqlite3.Connection = connected(database)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DELETE FROM item")
        return connection

    return opened


def test_a_database_that_cannot_be_used_is_named_by_its_record(folder: Path) -> None:
    database: Any
    for database, words in [
        ("../outside.sqlite", "lies outside the corpus's folder"),
        ("/outside.sqlite", "lies outside the corpus's folder"),
        ("data/linked.sqlite", "lies outside the corpus's folder"),
        ("data", "no SQLite file"),
        ("data/text.sqlite", "no SQLite file"),
        ("data/empty.sqlite", "no SQLite file"),
        ("nowhere.sqlite", "no SQLite file"),
        ("a\x00b", "no SQLite file"),
        ("x" * 5000, "no SQLite file"),
        (7, "is no path"),
        ("", "is no path"),
        (["a"], "is no path"),
    ]:
        outside = folder.parent / "outside.sqlite"
        outside.write_bytes((folder / DATABASE).read_bytes())
        linked = folder / "data" / "linked.sqlite"
        if not linked.is_symlink():
            linked.symlink_to(outside)
        (folder / "data" / "text.sqlite").write_text("SQLite")
        (folder / "data" / "empty.sqlite").write_bytes(b"")
        with pytest.raises(UsageError) as caught:
            sql.find(_search([_entry(database=database)], folder))
        assert "Entry 7: `database`" in str(caught.value)
        assert words in str(caught.value)
        assert str(folder) not in str(caught.value)


def _search(entries: list[Entry], folder: Path | None) -> Search:
    return Search(
        resources("sql"),
        entries,
        NoMemo(),
        {},
        (),
        offline=True,
        step=lambda *_: None,
        folder=folder,
    )


def test_the_annotator_is_made_where_records_name_databases(folder: Path) -> None:
    assert sql.find(_search([_entry()], folder)) is None
    lost = sql.find(_search([_entry(database=DATABASE)], None))
    assert lost.annotator is None
    assert set(lost.off) == {"au.text2sql_score", "au.sql_set_match"}
    found = sql.find(_search([_entry(), _entry(database=DATABASE)], folder))
    content = hashlib.sha256((folder / DATABASE).read_bytes()).digest()
    assert found.facts.model_dump() == {
        "databases": 1,
        "sha256": hashlib.sha256(content).hexdigest(),
        "sqlite": sqlite3.sqlite_version,
    }
    assert found.annotator.annotate([Translation(_entry(), NAMES)]) == [None]
    sandbox = found.annotator._sandbox  # an entry without a database starts no program in it
    assert sandbox._process is None  # it shows nowhere else
