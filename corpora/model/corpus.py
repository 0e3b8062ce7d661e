"""A corpus: the envelope of benchmark-specification §2.1 and its entries.

The fields of a corpus that are set, in the order of the specification's tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from corpora.files.problems import Problem
from corpora.model.entry import Entry
from corpora.model.terms import Terms, terms_in, weighed


class Form(StrEnum):
    """How a corpus is written in a file."""

    SPECIFICATION = "specification"
    """JSON envelope of §2.1."""
    LEGACY = "legacy"
    """JSON with the old field names of the implementation note in §2.2."""
    REFERENCE_IMPLEMENTATION = "reference-implementation"
    """JSON with top-level corpus_id and a language_pair object."""
    JSONL = "jsonl"
    CSV = "csv"
    TSV = "tsv"
    PARALLEL = "parallel"
    """Text files, aligned line by line."""
    TMX = "tmx"
    """Translation memory."""
    XLIFF = "xliff"
    """Localisation files, versions 1.2 and 2.0 and later; read and not written, as TMX."""

    @property
    def written(self) -> bool:
        """True where a corpus can be written in this form."""
        return self not in (Form.TMX, Form.XLIFF)


class Dataset(BaseModel):
    """The envelope of a corpus (§2.1); unknown fields are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)

    id: str
    version: str = "0"
    language_pair: str
    """Display label such as ``EN→CRK``."""
    source_language: str
    """BCP 47 tag."""
    target_language: str
    """BCP 47 tag."""
    variety: str | None = None
    """Dialect or other variety of the target language; it is that of every entry without one of its own."""
    orthography: str | None = None
    """Spelling system of the references, of entries likewise."""
    created: str | None = None
    license: str | None = None
    provenance: tuple[str, ...] = ()
    file_lines: Annotated[StrictInt, Field(ge=1)] | None = None
    """Lines of the text files whose line numbers are the ids, where lines blank on both sides were left out."""
    columns_read: dict[str, str] | None = None
    """``source`` and ``reference`` → column that a person named when the file was read; it stands in no file."""
    transmission: Any = None
    """``local-only`` or ``open``, as ``corpora.model.terms`` reads it; None where only a licence speaks."""
    transmission_because: str | None = None
    """The term that ``transmission`` was taken from, where it stood elsewhere than in the envelope."""

    @property
    def terms(self) -> Terms:
        """Where the texts may go; a term that is not understood keeps them here."""
        own = {"transmission": self.transmission, "license": self.license}
        found = weighed(list(terms_in(own | (self.model_extra or {}))))
        if self.transmission is None or self.transmission_because is None:
            return found
        return replace(found, because=self.transmission_because)

    @property
    def name(self) -> str:
        """Id and version; the id alone where no version was given."""
        return self.id if self.version == "0" else f"{self.id} {self.version}"


INHERITED = ("variety", "orthography")
"""Tags that an envelope says of every entry that has none of its own."""


def with_tags_of(dataset: Dataset, entry: Entry) -> Entry:
    """Return an entry with the variety and orthography of its corpus where it has none of its own."""
    tags = {
        name: tag
        for name in INHERITED
        if (tag := getattr(dataset, name)) is not None and getattr(entry, name) is None
    }
    return entry.model_copy(update=tags) if tags else entry


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus as read from a file."""

    dataset: Dataset
    entries: tuple[Entry, ...]
    sha256: str
    """SHA-256 in hexadecimal over the bytes of the file (of both files, in order, where there are two)."""
    form: Form
    warnings: tuple[Problem, ...] = ()
    files: tuple[Path, ...] = field(default=(), compare=False)
    """Where it was read from, absolute; several for the parallel form, none where it never was a file."""
    lines: tuple[int | None, ...] = field(default=(), compare=False)
    """1-based line of each entry in its file, None where the form has no lines; empty without a file."""


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
