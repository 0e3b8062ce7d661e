"""A corpus: the envelope of benchmark-specification §2.1 and its entries.

RawCorpus is a corpus as it is in a file, before it is checked: field names and values, and where they were.
Selection says which entries of a corpus take part in a run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt

from corpora.files.json_types import Json
from corpora.files.packed_list import PackedList
from corpora.files.problems import Findings, Problem, shown
from corpora.model.entry import AnyEntry, Entry, EntryId, Segment, reveal_here, seal_secrets
from corpora.model.task import TASKS, TRANSLATION
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
    """Localisation files, versions 1.2 and 2.0 and later; read and not written, as TMX and all below."""
    XLSX = "xlsx"
    """The first sheet of an Excel workbook."""
    PO = "po"
    """Messages of gettext."""
    ARB = "arb"
    """Messages of Flutter: one JSON file for each language."""

    @property
    def written(self) -> bool:
        """True where a corpus can be written in this form."""
        return self not in (Form.TMX, Form.XLIFF, Form.XLSX, Form.PO, Form.ARB)


def _known_task(value: object) -> object:
    """Accept what an earlier version stored under a name that was free then; a file with no task there is refused."""
    return value if isinstance(value, str) and value in TASKS else TRANSLATION


LEAST_OF_CANARY = 16
"""Fewest letters and digits of a canary; an output may have a shorter text by chance."""


def texts_of(value: object) -> tuple[str, ...] | None:
    """Return a text, or a list of texts, as texts; None for anything else."""
    texts = (value,) if isinstance(value, str) else value
    known = isinstance(texts, list | tuple) and all(isinstance(one, str) for one in texts)
    return tuple(texts) if known else None  # type: ignore[arg-type]


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
    task: Annotated[str, BeforeValidator(_known_task)] = TRANSLATION
    """Name of what is asked of a method: one of ``corpora.model.task.TASKS``."""
    variety: str | None = None
    """Dialect or other variety of the target language; it is that of every entry without one of its own."""
    orthography: str | None = None
    """Spelling system of the references, of entries likewise."""
    created: str | None = None
    license: str | None = None
    provenance: tuple[str, ...] = ()
    canary: Annotated[tuple[str, ...], BeforeValidator(lambda value: texts_of(value) or ())] = ()
    """Texts that stand nowhere else, by which outputs of a method that learned from the file are known; no method is told."""
    file_lines: Annotated[StrictInt, Field(ge=1)] | None = None
    """Lines of the text files whose line numbers are the ids, where lines blank on both sides were left out."""
    columns_read: dict[str, str] | None = None
    """``source`` and ``reference`` → column that a person named when the file was read; it is in no file."""
    transmission: Any = None
    """A word or addresses, as ``corpora.model.terms`` reads them; None where only a licence speaks."""
    transmission_because: str | None = None
    """The term that ``transmission`` was taken from, where it stood elsewhere than in the envelope."""
    opened_from: str | None = None
    """``VAULT/CORPUS/ROTATIONS`` by their numbers, of a corpus that was opened from a vault; it is in no file."""
    transmission_class: str | None = None
    """The class of the licence that this term is."""
    training: Any = None
    """Whether a model may learn from the texts: yes or no."""

    @cached_property
    def terms(self) -> Terms:
        """Where the texts may go; a term that is not understood keeps them here."""
        own = {name: getattr(self, name) for name in ("transmission", "license", "training")}
        terms = weighed(list(terms_in(own | (self.model_extra or {}))))
        if self.transmission is None or self.transmission_because is None:
            return terms
        name = self.transmission_class or ""
        return replace(terms, because=self.transmission_because, licence_class=name)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy that reads its own terms, since the fields that say them may be others."""
        copied = super().model_copy(update=update, deep=deep)
        copied.__dict__.pop("terms", None)
        return copied

    @property
    def name(self) -> str:
        """Id and version; the id alone where no version was given."""
        return self.id if self.version == "0" else f"{self.id} {self.version}"


INHERITED = ("variety", "orthography")
"""Tags that an envelope says of every entry that has none of its own."""


def with_tags_of(dataset: Dataset, entry: Entry) -> Entry:
    """Return an entry with its corpus's task, and with its variety and orthography where it has none."""
    tags: dict[str, str] = {} if dataset.task == entry.of_task else {"of_task": dataset.task}
    lacking = [name for name in INHERITED if getattr(entry, name) is None]
    tags |= {name: tag for name in lacking if (tag := getattr(dataset, name)) is not None}
    return entry.model_copy(update=tags) if tags else entry


@dataclass(frozen=True, slots=True)
class OutOfVault:
    """How a corpus came from a vault, which has it on its log."""

    recipients: tuple[str, ...]
    """Of age (``age1…``): for whom the vault's keys are sealed, and whatever is kept of the texts has to be."""
    run_id: str = ""
    """Of the run that it was opened for; empty where none was known."""
    despite_network: str = ""
    """Why it was opened on a computer that has a way to other machines, in a custodian's words; empty where it has none."""
    consent: Any = None
    """The record of consent in its sealed envelope, to be examined and stored nowhere; None where there is none."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus as read from a file, or opened from a vault."""

    dataset: Dataset
    entries: Sequence[AnyEntry]
    """The secret ones are sealed, whoever read them."""
    sha256: str
    """SHA-256 in hexadecimal over the bytes of the file (of both files, in order, where there are two)."""
    form: Form
    warnings: tuple[Problem, ...] = ()
    files: tuple[Path, ...] = field(default=(), compare=False)
    """Where it was read from, absolute; several for the parallel form, none where it never was a file."""
    lines: Sequence[int | None] = field(default=(), compare=False)
    """1-based line of each entry in its file, None where the form has no lines; empty without a file."""
    vault: OutOfVault | None = field(default=None, compare=False)
    """None for a corpus that no vault was opened for. Entries that stayed closed are ``not_stored`` in their places."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", seal_secrets(self.entries))

    def reveal_here(self) -> Sequence[Entry]:
        """Return all entries with their texts, for what ``clearance.reveal_here`` allows."""
        return reveal_here(self.entries)


_OURS = frozenset({"local_only", "not_stored", "of_task", "columns_read", "opened_from"})
"""What follows from the corpus, the store or the reading, and is in no file."""


def entry_fields(entry: Entry) -> dict[str, Json]:
    """Return the fields of an entry that are set, under their names in a file, unknown ones last."""
    fields = _set_fields(entry)
    if "register_" in fields:
        fields = {"register" if name == "register_" else name: fields[name] for name in fields}
    return fields | (entry.model_extra or {})


def dataset_fields(dataset: Dataset) -> dict[str, Json]:
    """Return the fields of an envelope that are set, unknown ones last."""
    return _set_fields(dataset) | (dataset.model_extra or {})


def _set_fields(record: Entry | Dataset) -> dict[str, Json]:
    """Read the attributes; tuples become the lists that JSON has."""
    fields: dict[str, Json] = {}
    for name in type(record).model_fields:
        value = getattr(record, name)
        if isinstance(value, tuple):
            value = list(value)
        if value is not None and value != [] and name not in _OURS:
            fields[name] = value
    if fields.get("task") == TRANSLATION:
        del fields["task"]
    return fields


SYNONYMS: dict[str, tuple[str, ...]] = {
    "id": ("index", "entry_id", "sentence_id", "segment_id"),
    "source": ("source_text", "src", "source_sentence", "source_segment"),
    "reference": (
        "target_expected", "ref", "target", "target_text", "tgt", "trg", "translation", "expected",
        "target_segment",
    ),
    **dict.fromkeys(("variants", "segment", "difficulty", "provenance", "register", "context"), ()),
    "variety": ("dialect",),
    "orthography": ("spelling_system",),
    **dict.fromkeys(("morphological_analysis", "notes", "variant_class"), ()),
}  # fmt: skip
"""Fields of an entry and the other names that files give them, best first."""
SIDES = ("source", "reference")
LEGACY_NAMES = {"id": "index", "source": "source_text", "reference": "target_expected"}
"""Names of the implementation note in §2.2."""
TIER_OF_WORD = {"easy": 2, "medium": 3, "hard": 4}
"""Difficulty words as tiers of §2.4: the nearest to the middle of those that a word stands for."""
WORD_OF_TIER = {1: "easy", 2: "easy", 3: "medium", 4: "hard", 5: "hard"}
DIFFICULTY_WORD = "difficulty_label"
"""Extra field that keeps the word a difficulty was given as."""
EXACT_TIER = "difficulty_tier"
"""Extra field of a legacy file that keeps the tier which its word only approximates."""
RECORD = "provenance_record"
"""Extra field that keeps a provenance given as an object instead of a tag."""


@dataclass(slots=True)
class RawEntry:
    """One entry under the specification's field names."""

    fields: dict[str, Json]
    place: int
    """1-based among the entries of the file."""
    line: int | None = None


@dataclass(slots=True)
class RawCorpus:
    """Envelope and entries of one file."""

    form: Form
    envelope: dict[str, Json]
    entries: PackedList[RawEntry] = field(default_factory=PackedList)
    guessed: dict[str, str] = field(default_factory=dict)
    """Envelope fields read out of file names; what the caller says goes before."""
    has_envelope: bool = False
    """True where the form asks for an envelope, so that its id cannot come from the file's name."""


def renamed(fields: dict[str, Json]) -> dict[str, Json]:
    """Return the fields of a JSON entry under the specification's names; unknown names stay."""
    names = canonical_names(tuple(fields))
    return {names.get(name, name): value for name, value in fields.items()} if names else fields


_REMARK = re.compile(r"\s?\([^()]{0,60}\)\Z")


@lru_cache(maxsize=16)  # entries of a file have the same names
def canonical_names(present: tuple[str, ...]) -> dict[str, str]:
    """Map the names that a file uses to the specification's, where they differ.

    Case, spaces and a remark in brackets (``Source (en)``) make no difference. A synonym counts only where the
    specification's own name is absent, so no field is ever overwritten.
    """
    spelled: dict[str, str] = {}
    for name in present:
        spelled.setdefault(_REMARK.sub("", name.strip().lower()).replace(" ", "_").replace("-", "_"), name)
    mapping: dict[str, str] = {}
    for known, others in SYNONYMS.items():
        if known in present:
            continue
        names = [spelled[other] for other in (known, *others) if other in spelled]
        if names:
            mapping[names[0]] = known
    return mapping


@dataclass(frozen=True, slots=True)
class Selection:
    """Filters, then a sample, then a limit; the empty selection takes every entry."""

    segments: tuple[Segment, ...] = ()
    difficulties: tuple[int, ...] = ()
    entry_ids: tuple[EntryId, ...] = ()
    """Text from a command line also names the entry whose id is that number."""
    limit: int | None = None
    """At most that many, the first in the order of the corpus."""
    sample: int | None = None
    """So many at random; all where there are fewer."""
    seed: int = 0

    def apply(self, corpus: Corpus) -> tuple[int, ...]:
        """Return the positions of the chosen entries, in the order of the corpus; none that a vault kept closed.

        Entries of ``held_out`` are never chosen: they are activated first (benchmark specification §2.3). Raises
        CorpusError for them where they are asked for, for an id that is not there, and for a filter that leaves nothing.
        """
        findings = Findings(corpus.dataset.id)
        self._check(findings)
        entries = corpus.entries
        held_out = {str(entry.id) for entry in entries if entry.segment is Segment.HELD_OUT}
        chosen = [at for at, entry in enumerate(entries) if entry.segment is not Segment.HELD_OUT]
        if corpus.vault is not None:
            chosen = [at for at in chosen if not entries[at].not_stored]
        if Segment.HELD_OUT in self.segments or (held_out and not chosen):
            _refuse_held_out(findings)
        if self.entry_ids:
            wanted = self._wanted(corpus, findings)
            if not held_out.isdisjoint(wanted):
                _refuse_held_out(findings)
            chosen = [at for at in chosen if str(entries[at].id) in wanted]
        for name, tags in (("segment", self.segments), ("difficulty", self.difficulties)):
            left = [at for at in chosen if not tags or getattr(entries[at], name) in tags]
            if tags and not left:
                what = f"the {name} filter ({', '.join(map(str, tags))})"
                findings.error(
                    f"No entry is left: {what} matches none of the {len(chosen)} entries before it.",
                    "`rosetta corpus show` counts what there is; choose something else.",
                    field=name,
                )
                raise findings.failure()
            chosen = left
        if self.sample is not None:
            keys = {at: f"{self.seed}:{entries[at].id}".encode() for at in chosen}
            drawn = sorted(chosen, key=lambda at: hashlib.sha256(keys[at]).digest())
            chosen = sorted(drawn[: self.sample])
        return tuple(chosen[: self.limit])

    def _check(self, findings: Findings) -> None:
        for name, number in (("limit", self.limit), ("sample", self.sample)):
            if number is not None and number < 1:
                findings.error("It must be at least 1.", "Give a larger number.", field=name)
        if not all(1 <= tier <= 5 for tier in self.difficulties):
            findings.error("There are tiers 1 to 5.", "Give one of these.", field="difficulty")
        findings.stop_if_failed()

    def _wanted(self, corpus: Corpus, findings: Findings) -> set[str]:
        wanted = dict.fromkeys(map(str, self.entry_ids))
        present = dict.fromkeys(str(entry.id) for entry in corpus.entries)
        few = ", ".join(shown(id_) for id_ in list(present)[:3])
        for id_ in wanted:
            if id_ not in present:
                what = f"No entry has the id {shown(id_)}."
                findings.error(what, f"Give ids of the file; it begins with {few}.", entry=id_)
        findings.stop_if_failed()
        return set(wanted)


def _refuse_held_out(findings: Findings) -> None:
    what = "Entries of held_out are not used before they are activated."
    mend = "To activate some, make gold_standard their segment in the file and raise its version."
    findings.error(what, mend, field="segment")
    findings.stop_if_failed()
