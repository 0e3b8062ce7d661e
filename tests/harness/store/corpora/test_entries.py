"""Corpora in the store: what counts as the same one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry
from harness.store.corpora.entries import read_dataset, read_entries, save_corpus
from harness.store.file.database import open_store


def _corpus(**envelope: str) -> Corpus:
    fields = {
        "id": "greetings",
        "language_pair": "EN→EO",
        "source_language": "en",
        "target_language": "eo",
    }
    entries = (
        Entry(id=1, source="Hello!", reference="Saluton!", register="conversational", mood="glad"),
        Entry(id="1b", source="Yes.", reference="Jes.", variants=("Ja.",)),
    )
    return Corpus(Dataset(**{**fields, **envelope}), entries, "ab" * 32, Form.TSV)


def test_the_same_corpus_is_stored_once_and_comes_back_as_it_was(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "rosetta.sqlite")) as store:
        numbers = {save_corpus(store, _corpus()) for _ in range(3)}
        assert len(numbers) == 1
        assert tuple(read_entries(store, numbers.pop()).values()) == _corpus().entries


@pytest.mark.parametrize("field", ["id", "target_language", "source_language", "version"])
def test_the_same_file_under_another_envelope_is_another_corpus(field: str, tmp_path: Path) -> None:
    other = _corpus(**{field: "crk"})
    with closing(open_store(tmp_path / "rosetta.sqlite")) as store:
        first, second = save_corpus(store, _corpus()), save_corpus(store, other)
        assert first != second
        assert read_dataset(store, first) == _corpus().dataset
        assert read_dataset(store, second) == other.dataset
