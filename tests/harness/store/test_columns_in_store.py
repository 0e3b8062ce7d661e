"""Two readings of one file, by the columns that a person named, are two corpora of the store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from corpora.columns import Columns
from corpora.corpus import Corpus
from corpora.load import load
from corpora.original import Original
from harness.corpus_examination import examine_stored
from harness.failures import UsageError
from harness.methods.options import MethodOptions
from harness.plan import Plan
from harness.store.corpora import find_corpus
from harness.store.database import open_store
from harness.stored_corpus import read_stored, stored_name
from rosetta_tui.run_draft import RunDraft
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
        draft = RunDraft.of_run(kept(store_path).run, connection)
        assert (draft.get("source_column"), draft.get("reference_column")) == ("en", "formal")
        corpus = corpora["formal"]
        number = find_corpus(connection, corpus)
        assert number is not None
        examined = examine_stored(connection, number, corpus.sha256, corpus.files)
    assert examined.original is Original.UNCHANGED
    assert examined.lines == (2,)
    assert [each.reference for each in draft.corpus(store_path).entries] == ["Tēnā koe"]
