"""Two readings of one file, by the columns that a person named, are two corpora of the store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from corpora.files.original import Original
from corpora.formats.columns import Columns
from corpora.formats.load import load
from corpora.model.corpus import Corpus
from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.store.corpora.entries import find_corpus
from harness.store.corpora.examination import examine_stored
from harness.store.corpora.naming import read_stored, stored_name
from harness.store.file.database import open_store
from rosetta_tui.request.draft_of_run import draft_of
from tests.harness.evaluation import kept, run_corpus

PAIR = {"source_language": "en", "target_language": "mi"}


def reading(folder: Path, column: str) -> Corpus:
    path = folder / "two.tsv"
    path.write_text("id\ten\tplain\tformal\n1\tHello\tKia ora\tTēnā koe\n")
    return load(path, dataset=PAIR, columns=Columns("en", column))


@pytest.fixture
def corpora(tmp_path: Path, store_path: Path) -> dict[str, Corpus]:
    found = {column: reading(tmp_path, column) for column in ("plain", "formal")}
    plan = Plan(method="copy-source", options=MethodOptions.model_validate(PAIR))
    for corpus in found.values():
        run_corpus(store_path, corpus, plan)
    return found


def test_each_is_found_by_its_columns(corpora: dict[str, Corpus], store_path: Path) -> None:
    assert corpora["plain"].sha256 == corpora["formal"].sha256
    name = stored_name(corpora["plain"])
    envelope = {**PAIR, "id": "two"}
    with closing(open_store(store_path)) as connection:
        for column, reference in (("plain", "Kia ora"), ("formal", "Tēnā koe")):
            said = {"source": "en", "reference": column}
            corpus = read_stored(connection, name, envelope, said)
            assert [each.reference for each in corpus.entries] == [reference]
        with pytest.raises(UsageError, match="columns of the one that is meant"):
            read_stored(connection, name, {})


def test_a_draft_of_a_run_and_a_second_look_know_them(
    corpora: dict[str, Corpus], store_path: Path
) -> None:
    with closing(open_store(store_path)) as connection:
        draft = draft_of(kept(store_path).run, connection)
        assert (draft.get("source_column"), draft.get("reference_column")) == ("en", "formal")
        corpus = corpora["formal"]
        number = find_corpus(connection, corpus)
        assert number is not None
        examined = examine_stored(connection, number, corpus.sha256, corpus.files)
    assert examined.original is Original.UNCHANGED
    assert examined.lines == (2,)
    assert [each.reference for each in draft.corpus(store_path).entries] == ["Tēnā koe"]
