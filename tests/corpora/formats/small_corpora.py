"""Small corpora to write."""

from typing import Any

from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry
from tests.corpora.making import envelope


def corpus_of(*rows: dict[str, Any], **more: Any) -> Corpus:
    entries = tuple(Entry.model_validate(row) for row in rows)
    return Corpus(Dataset.model_validate(envelope(**more)), entries, "", Form.SPECIFICATION)
