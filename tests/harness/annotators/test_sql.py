"""Predicted SQL in its process: what it gives, and what it cannot do."""

import hashlib
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.languages.cards import WritingSystem
from corpora.model.entry import Entry, Segment
from harness.annotators import sql, sql_sandbox
from harness.annotators.annotator import NoMemo, Search
from harness.annotators.fst import FstAnnotator
from harness.core.failures import HarnessError, UsageError
from harness.fst.analyser import Analyser, open_analyser
from scoring.core.setup import Acceptance, Translation, WordAnalysis
from tests.harness.fst.making import real, written
from tests.harness.sealed.refusals import refuses
from tests.outside import STRICT
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
    return dict(found)


RECURSIVE = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL"
JOINED = ", ".join(f"item i{place}" for place in range(14))
HOSTILE = {
    "drop": ("DROP TABLE item", "not authorized"),
    "attach": ("ATTACH 'FOLDER/made.db' AS x", "not authorized"),
    "pragma": ("PRAGMA writable_schema = 1", "not authorized"),
    "load extension": ("SELECT load_extension('FOLDER/x')", "not authorized"),
    "endless": (f"{RECURSIVE} SELECT x + 1 FROM t) SELECT max(x) FROM t", "takes too long"),
    "allocate": ("SELECT hex(randomblob(900000000)), zeroblob(2000000000)", "too big"),
    "read a file": ("SELECT readfile('/etc/hostname')", "fails"),
    "write a file": ("SELECT writefile('FOLDER/made', 'x')", "fails"),
    "vacuum into": ("VACUUM INTO 'FOLDER/made.db'", "authoriz"),
    "cross join": (f"SELECT count(*) FROM {JOINED}", "takes too long"),
    "nested": ("SELECT " + "(" * 9_000 + "1" + ")" * 9_000, "fails"),
    "10 MB": ("SELECT 'LONG'", "longer than"),
    "rows": ("SELECT i0.* FROM " + JOINED[: len("item i0, ") * 8 - 2], "more than 10,000 rows"),
    "bytes": (f"{RECURSIVE} SELECT x FROM t) SELECT zeroblob(900000) FROM t", "32 MB"),
    "two statements": ("SELECT 1; DELETE FROM item", "one statement"),
    "insert": ("INSERT INTO item VALUES (9, 'x', 1, 'y')", "not authorized"),
    "temporary": ("CREATE TEMP TABLE t (x)", "not authorized"),
    "its path": ("SELECT file FROM pragma_database_list", "not authorized"),
    "transaction": ("BEGIN EXCLUSIVE", "not authorized"), "nul": ("SELECT \x00", "fails"),
    "surrogate": ("SELECT '\ud800'", "fails"), "nothing": ("   ", "no query"),
}  # fmt: skip


@pytest.mark.costly("its process works at hostile queries up to their limits")
def test_query_only_reads_within_limits(runner: sql.SqlRunner, folder: Path) -> None:
    database = folder / DATABASE
    before = hashlib.sha256(database.read_bytes()).digest(), sorted(folder.rglob("*"))
    for text, why in HOSTILE.values():
        query = text.replace("FOLDER", str(folder)).replace("LONG", "a" * 10_000_000)
        found = _given(runner, query)
        assert found["exec"] == 0
        assert why in found["why"]
        assert str(folder) not in found["why"]
        assert before == (hashlib.sha256(database.read_bytes()).digest(), sorted(folder.rglob("*")))
        assert _given(runner, "```sql\nSELECT name FROM item;\n```")["exec"] == 1
    runner.close()  # what its process used is counted here, and not with a later test


def test_rows_are_compared_as_published_and_told(runner: sql.SqlRunner) -> None:
    fewer = _given(runner, "SELECT name FROM item LIMIT 3")
    assert fewer["why"] == "3 rows; the reference query has 4"
    found = _given(runner, "SELECT cat FROM item")
    assert found["why"].startswith("other rows")
    assert found["rows"] == {"given": ["x", "y", "x", "z"], "wanted": ["ant", "bee", "cat", "dog"]}
    columns = "NULL, x'00ff', name || hex(zeroblob(99)), " + "1, " * 9 + "2.5"
    wide = _given(runner, f"SELECT {columns} FROM item")
    assert wide["rows"]["given"][0] == "NULL | 2 bytes | ant" + "0" * 57 + " | 1" * 5
    ordered = NAMES + " ORDER BY price, name"
    assert _given(runner, NAMES + " ORDER BY name DESC", ordered)["exec"] == 0
    assert _given(runner, ordered, ordered)["exec"] == 1
    assert _given(runner, "SELECT DISTINCT price FROM item", "SELECT price FROM item")["exec"] == 1
    for case in cases("au.text2sql_score"):
        (entry,) = case["entries"]
        reference = _entry(entry["reference"], database=DATABASE)
        (told,) = runner.annotate([Translation(reference, entry["predicted"])])
        scored = Translation(reference, entry["predicted"], {"sql": told})
        assert metric("text2sql_score").stats(scored) == (case["expect"]["exec"], 1, 0)
        assert metric("sql_set_match").stats(scored) == (case["expect"]["set_match"], 1, 0)
    for wrong, why in [
        ("SELECT x FROM nowhere", "the reference query fails: no such table"),
        ("DROP TABLE item", "the reference query fails: not authorized"),
        (HOSTILE["endless"][0], "the reference query takes too long"),
        ("SELECT 1 --" + "x" * 20_000, "the reference query is longer"),
    ]:
        found = _given(runner, NAMES, wrong)
        assert found["exec"] is None
        assert why in found["why"]


ENDS = "import sys; sys.stdout.write('{\"ready\": 1}\\n'); sys.stdout.flush(); sys.stdin.readline()"
"""A process that ends at the first question."""
ENDS_LATER = ENDS.replace("1}", '1}\\n{"wanted": true}')
"""One that ends after it has told of the reference query."""
HANGS = "; sys.stdin.readline()"


@pytest.mark.parametrize(
    ("program", "why"),
    first(1, [
        (ENDS, "the reference query ends the process it runs in"),
        (ENDS_LATER + HANGS, "the query takes too long"),
        (ENDS + HANGS, "the reference query takes too long"),
        (ENDS_LATER, "the query ends the process it runs in"),
    ]),
)  # fmt: skip
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
    refuses(HarnessError, "does not start", _given, runner, NAMES)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_its_process_writes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_sandbox_writes_nothing_unlimited(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connected = sql_sandbox.connected

    def opened(database: Path) -> sqlite3.Connection:
        connection = connected(database)
        refuses(sqlite3.OperationalError, "readonly", connection.execute, "DELETE FROM item")
        return connection

    monkeypatch.setattr(sql_sandbox, "connected", opened)
    asked = {"database": str(folder / DATABASE), "wanted": NAMES, "given": "DELETE FROM item"}
    first, second = (dict[str, Any](answer) for answer in sql_sandbox.answers(asked))
    assert first == {"wanted": True}
    assert (second["exec"], second["tables"]["sale"]) == (0, ["id", "item_id", "qty"])


def test_databases_are_found_or_named_by_their_record(folder: Path) -> None:
    database: Any
    for database, words in [
        ("../outside.sqlite", "lies outside the corpus's folder"),
        ("/outside.sqlite", "lies outside the corpus's folder"),
        ("data/linked.sqlite", "lies outside the corpus's folder"), ("data", "no SQLite file"),
        ("data/text.sqlite", "no SQLite file"), ("data/empty.sqlite", "no SQLite file"),
        ("nowhere.sqlite", "no SQLite file"), ("a\x00b", "no SQLite file"),
        ("x" * 5000, "no SQLite file"), (7, "is no path"), ("", "is no path"),
        (["a"], "is no path"),
    ]:  # fmt: skip
        outside = folder.parent / "outside.sqlite"
        outside.write_bytes((folder / DATABASE).read_bytes())
        linked = folder / "data" / "linked.sqlite"
        if not linked.is_symlink():
            linked.symlink_to(outside)
        (folder / "data" / "text.sqlite").write_text("SQLite")
        (folder / "data" / "empty.sqlite").write_bytes(b"")
        caught = refuses(UsageError, "", sql.find, _search([_entry(database=database)], folder))
        assert "Entry 7: `database`" in str(caught)
        assert words in str(caught)
        assert str(folder) not in str(caught)
    assert sql.find(_search([_entry()], folder)) is None
    lost = sql.find(_search([_entry(database=DATABASE)], None))
    assert lost.annotator is None
    assert set(lost.off) == {"au.text2sql_score", "au.sql_set_match"}
    found = sql.find(_search([_entry(), _entry(database=DATABASE)], folder))
    content = hashlib.sha256((folder / DATABASE).read_bytes()).digest()
    told = {"databases": 1, "sha256": hashlib.sha256(content).hexdigest()}
    assert found.facts.model_dump() == {**told, "sqlite": sqlite3.sqlite_version}
    assert found.annotator.annotate([Translation(_entry(), NAMES)]) == [None]
    sandbox = found.annotator._sandbox  # an entry without a database starts no program in it
    assert sandbox._process is None  # it shows nowhere else


def _search(entries: list[Entry], folder: Path | None) -> Search:
    told: dict[str, Any] = {"offline": True, "step": lambda *_: None, "folder": folder}
    return Search(resources("sql"), entries, NoMemo(), {}, (), **told)


CREE = WritingSystem(
    letters="a c e h i k m n o p s t w y â ê î ô",
    cased=False,
    normalisation=(("ā", "â"), ("ē", "ê"), ("ī", "î"), ("ō", "ô"), ("’", "'")),
)


class Notebook:
    """A memo in the working memory that counts how often it is asked."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, bytes]] = {}
        self.asked: list[str] = []

    def recall(self, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:
        known = self.kept.get(maker, {})
        self.asked += keys or ()
        return {key: known[key] for key in (known if keys is None else keys) if key in known}

    def keep(self, maker: str, found: Mapping[str, bytes]) -> None:
        self.kept.setdefault(maker, {}).update(found)

    @property
    def words(self) -> set[str]:
        return {word for found in self.kept.values() for word in found}


class Counting(Analyser):
    """A real analyser that remembers what it was asked."""

    asked: list[str]

    def analyse(self, words: Sequence[str]) -> list[tuple[bool, tuple[str, ...]]]:
        self.asked = [*getattr(self, "asked", []), *words]
        return super().analyse(words)


@pytest.fixture
def small(tmp_path: Path) -> Counting:
    """Accepts ``dog``, ``dogs``, ``Rex`` and ``câp``."""
    path = tmp_path / "small.hfstol"
    path.write_bytes(SMALL)
    analyser = open_analyser(path, "builtin")
    analyser.__class__ = Counting
    assert isinstance(analyser, Counting)
    return analyser


def spelling(start: int, word: str, tags: str, end: int = 99) -> list[tuple[int, str, str, int]]:
    arcs = [(0 if n == 0 else start + n, letter, letter, start + n + 1) for n, letter in enumerate(word)]
    return [*arcs, (start + len(word), "", tags, end)]


SMALL = written(
    [
        *spelling(10, "dog", "+N"),
        *spelling(20, "dogs", "+N+Pl"),
        *spelling(30, "Rex", "+Prop"),
        *spelling(40, "câp", "+N"),
    ],
    [99],
)


def translation(output: str, reference: str = "", segment: Segment | None = None) -> Translation:
    return Translation(Entry(id=1, source="s", reference=reference, segment=segment), output)


def test_words_in_order_with_the_way_they_are_accepted(small: Counting) -> None:
    text = "Dog dogs REX Rex, cāp ca\u0302p; 12 3rd {dog} https://dog.org DOGS xyz"
    [found] = FstAnnotator(small, CREE).annotate([translation(text, "dog 7")])
    assert found.output == (
        WordAnalysis("Dog", Acceptance.LOWER_CASED, ("dog+N",)),
        WordAnalysis("dogs", Acceptance.AS_WRITTEN, ("dogs+N+Pl",)), WordAnalysis("REX", None),
        WordAnalysis("Rex", Acceptance.AS_WRITTEN, ("Rex+Prop",)),
        WordAnalysis("cāp", Acceptance.NORMALISED, ("câp+N",)),
        WordAnalysis("ca\u0302p", Acceptance.AS_WRITTEN, ("câp+N",)), WordAnalysis("3rd", None),
        WordAnalysis("DOGS", Acceptance.LOWER_CASED, ("dogs+N+Pl",)), WordAnalysis("xyz", None),
    )  # fmt: skip
    assert found.reference == (WordAnalysis("dog", Acceptance.AS_WRITTEN, ("dog+N",)),)
    [word] = FstAnnotator(small, CREE).analyse_words(["CĀP"])
    assert word == WordAnalysis("CĀP", Acceptance.NORMALISED, ("câp+N",))
    both = FstAnnotator(small).analyse_words(["cāp", "Dog"])
    assert [word.accepted for word in both] == [None, Acceptance.LOWER_CASED]
    [found] = FstAnnotator(small).annotate([translation("", "dog")])
    assert (found.output, len(found.reference)) == ((), 1)


def test_a_word_is_looked_up_once(small: Counting, tmp_path: Path) -> None:
    annotator = FstAnnotator(small)
    annotator.annotate([translation("dog dog xyz", "dog"), translation("xyz dog")])
    annotator.annotate([translation("dog xyz")])
    assert sorted(small.asked) == ["dog", "xyz"]
    memo = Notebook()
    first = FstAnnotator(small, CREE, memo)
    before = first.annotate([translation("Dog cāp xyz REX", "dogs")])
    assert not memo.kept
    first.close()
    assert "dogs" in memo.words

    def opener() -> Analyser:
        raise AssertionError("the memo knows all words")

    second = FstAnnotator(opener, CREE, memo, sha256=small.sha256)
    assert second.annotate([translation("Dog cāp xyz REX", "dogs")]) == before
    memo = Notebook()
    with_card = FstAnnotator(small, CREE, memo)
    with_card.annotate([translation("cāp")])
    with_card.close()
    [word] = FstAnnotator(small, None, memo).analyse_words(["cāp"])
    assert word.accepted is None
    memo = Notebook()
    FstAnnotator(small, None, memo).annotate([translation("dog")])
    path = tmp_path / "other.hfstol"
    path.write_bytes(written([(0, "c", "c", 1)], [1]))
    [word] = FstAnnotator(lambda: open_analyser(path), None, memo).analyse_words(["dog"])
    assert word.accepted is None
    memo = Notebook()
    annotator = FstAnnotator(small, None, memo)
    annotator.annotate([translation("dog dogs Rex")])
    annotator.close()
    [kept] = memo.kept.values()
    kept |= {"dog": b"\xc1", "dogs": b"\x92\x01\x02", "Rex": b""}
    found = FstAnnotator(small, None, memo).analyse_words(["dog", "dogs", "Rex"])
    assert all(word.accepted for word in found)


def test_words_are_split_while_another_run_forgets_them(small: Counting) -> None:
    annotator = FstAnnotator(small)

    class Forgotten(dict[str, tuple[str, ...]]):
        def __setitem__(self, piece: str, found: tuple[str, ...]) -> None:
            super().__setitem__(piece, found)
            annotator._pieces = {}  # as another thread does it at this moment

    annotator._pieces = Forgotten()  # what another thread may empty
    assert annotator.split("dog, dogs") == ["dog", "dogs"]


def test_words_of_secret_entries_reach_no_memo_unless_public(small: Counting) -> None:
    for segment in (Segment.GOLD_STANDARD, Segment.HELD_OUT):
        memo = Notebook()
        annotator = FstAnnotator(small, CREE, memo)
        both = [translation("dogs Hidden", "Rex", segment), translation("dog dogs", "xyz")]
        assert annotator.annotate(both)[0].output[0].accepted
        annotator.close()
        assert memo.words == {"dog", "dogs", "xyz"}
        assert not {"Hidden", "hidden", "Rex"} & set(memo.asked)
    memo, small.asked = Notebook(), []
    annotator = FstAnnotator(small, None, memo)
    annotator.annotate([translation("dog Rex", "", Segment.HELD_OUT)])
    annotator.annotate([translation("dog")])
    annotator.close()
    assert (memo.words, sorted(small.asked)) == ({"dog"}, ["Rex", "dog"])


@pytest.mark.thorough
@real
@given(st.text(max_size=80), st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_any_text(output: str, reference: str) -> None:
    annotator = FstAnnotator(open_analyser(STRICT, "builtin"), CREE)
    [found] = annotator.annotate([translation(output, reference)])
    assert all(word.word in output for word in found.output)
    assert all(word.accepted or not word.analyses for word in (*found.output, *found.reference))
