"""What annotators found: kept by maker and key, forgotten with the texts."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.store.deletion import delete_run
from harness.store.file.database import open_store
from harness.store.findings import StoredFindings
from harness.store.runs import find_run
from tests.harness.evaluation import corpus, query, run_corpus
from tests.harness.run.constant_runs import constant


def test_makers_do_not_see_each_others_findings(store_path: Path) -> None:
    memo = StoredFindings(store_path)
    memo.keep("analyser a", {"hundo": b"1", "kato": b"2"})
    memo.keep("analyser b", {"hundo": b"3"})
    assert memo.recall("analyser a", ["hundo", "birdo"]) == {"hundo": b"1"}
    assert memo.recall("analyser b") == {"hundo": b"3"}
    assert memo.recall("analyser c") == {}


def test_a_later_finding_replaces_the_earlier(store_path: Path) -> None:
    memo = StoredFindings(store_path)
    memo.keep("a", {"x": b"1"})
    memo.keep("a", {"x": b"2"})
    memo.keep("a", {})
    assert memo.recall("a") == {"x": b"2"}


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(), st.binary(max_size=9), max_size=1200))
def test_whatever_the_words(store_path: Path, found: dict[str, bytes]) -> None:
    memo = StoredFindings(store_path)
    memo.keep("all", found)
    clean = {key: value for key, value in found.items() if key.isprintable()}
    assert clean.items() <= memo.recall("all", list(found)).items()


def test_deleting_a_run_leaves_no_word_behind(store_path: Path) -> None:
    run_corpus(store_path, corpus(3), constant())
    StoredFindings(store_path).keep("analyser", {"sekretavorto": b"x"})
    with closing(open_store(store_path)) as connection:
        delete_run(connection, find_run(connection, "last").id)
    assert query(store_path, "SELECT * FROM findings") == []
    assert b"sekretavorto" not in store_path.read_bytes()
