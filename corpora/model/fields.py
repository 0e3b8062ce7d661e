"""The fields of a corpus that are set, in the order of the specification's tables."""

from __future__ import annotations

from typing import Any

from corpora.model.corpus import Dataset
from corpora.model.entry import Entry

_OURS = frozenset({"local_only", "not_stored", "columns_read"})
"""What follows from the corpus, the store or the reading, and stands in no file."""


def entry_fields(entry: Entry) -> dict[str, Any]:
    """Return the fields of an entry that are set, under their names in a file, unknown ones last."""
    fields = _set_fields(entry)
    if "register_" in fields:
        fields = {"register" if name == "register_" else name: fields[name] for name in fields}
    return fields | (entry.model_extra or {})


def dataset_fields(dataset: Dataset) -> dict[str, Any]:
    """Return the fields of an envelope that are set, unknown ones last."""
    return _set_fields(dataset) | (dataset.model_extra or {})


def _set_fields(record: Entry | Dataset) -> dict[str, Any]:
    """Read the attributes; tuples become the lists that JSON has."""
    fields: dict[str, Any] = {}
    for name in type(record).model_fields:
        value = getattr(record, name)
        if isinstance(value, tuple):
            value = list(value)
        if value is not None and value != [] and name not in _OURS:
            fields[name] = value
    return fields
