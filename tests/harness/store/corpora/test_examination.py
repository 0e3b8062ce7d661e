"""A corpus of the store is examined as its file is, and without the file by what its entries tell."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from corpora.checks.requirements import requirements
from corpora.checks.statistics import statistics
from corpora.files.original import Original
from corpora.formats.load import load
from corpora.model.corpus import Corpus
from harness.store.corpora.entries import save_corpus
from harness.store.corpora.examination import examine, examine_stored
from harness.store.corpora.naming import read_stored, stored_name
from harness.store.file.database import open_store
from tests.corpora.making import entry, json_file

FAULTY = [
    entry(1, source="a", reference="b", segment="held_out"),
    entry(2, source="a", reference="b", register="Formal ", segment="held_out"),
    entry(3, source="x\u202e", reference="â"),
    entry(4, source="y", reference="a\u0302"),
]


def stored(folder: Path, corpus: Corpus) -> tuple[Path, int]:
    path = folder / "s.sqlite"
    with closing(open_store(path)) as store:
        store.execute("BEGIN")
        number = save_corpus(store, corpus)
        store.execute("COMMIT")
    return path, number


def test_with_its_file_a_stored_corpus_gives_the_findings_of_the_file(tmp_path: Path) -> None:
    file = json_file(tmp_path, FAULTY)
    corpus = load(file)
    assert len(corpus.warnings) == 4
    path, number = stored(tmp_path, corpus)
    with closing(open_store(path)) as store:
        found = examine_stored(store, number, corpus.sha256, corpus.files)
    assert found == examine(corpus)
    assert found.problems == corpus.warnings
    assert found.lines == (1, 1, 1, 1)
    assert found.flagged == {1, 2, 3}
    assert [len(found.of_entry(place)) for place in range(4)] == [0, 2, 1, 1]
    assert found.statistics == statistics(corpus)
    assert list(found.requirements) == requirements(corpus)


def test_without_its_file_the_entries_tell_the_same_without_lines(tmp_path: Path) -> None:
    file = json_file(tmp_path, FAULTY)
    corpus = load(file)
    path, number = stored(tmp_path, corpus)
    file.write_text("another", "utf-8")
    with closing(open_store(path)) as store:
        changed = examine_stored(store, number, corpus.sha256, corpus.files)
        file.unlink()
        gone = examine_stored(store, number, corpus.sha256, corpus.files)
        unknown = examine_stored(store, number, corpus.sha256, ())
    assert [each.original for each in (changed, gone, unknown)] == [
        Original.CHANGED,
        Original.GONE,
        Original.UNKNOWN,
    ]
    for found in (changed, gone, unknown):
        assert found.lines == ()
        told = [(each.message, each.mend, each.places) for each in found.problems]
        assert told == [(each.message, each.mend, each.places) for each in corpus.warnings]
        assert found.statistics == statistics(corpus)
        assert all(each.line is None for each in found.problems)


def test_a_file_that_needs_to_be_told_its_languages_is_read_with_those_it_was_read_with(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("source,reference\nx,y\nx,y\n", "utf-8")
    corpus = load(file, dataset={"source_language": "en", "target_language": "eo"})
    path, number = stored(tmp_path, corpus)
    with closing(open_store(path)) as store:
        found = examine_stored(store, number, corpus.sha256, corpus.files)
    assert found.original is Original.UNCHANGED
    assert found.problems == corpus.warnings
    assert found.lines == (2, 3)


def test_a_corpus_named_by_its_hash_warns_of_the_same_as_its_file(tmp_path: Path) -> None:
    corpus = load(json_file(tmp_path, FAULTY))
    path, _ = stored(tmp_path, corpus)
    with closing(open_store(path)) as store:
        again = read_stored(store, stored_name(corpus), {})
    assert [each.message for each in again.warnings] == [each.message for each in corpus.warnings]
    assert again.warnings
