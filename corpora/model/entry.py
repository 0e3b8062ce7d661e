"""One translation challenge (benchmark-specification §2.2–2.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Never, NewType, SupportsIndex, TypeAlias, TypeVar, cast, final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr

from corpora.files.packed_list import PackedList, changed, packed
from corpora.model.task import TASKS, TRANSLATION, Task
from corpora.model.vocabularies import Segment as Segment  # noqa: PLC0414  every entry names one

EntryId = int | str
"""Unique within a corpus. Integers in the specification, strings in much of the world's data."""
PROVENANCES = ("gold_standard", "textbook", "elicited", "corpus")
"""Provenance tags of §2.5."""
REGISTERS = ("conversational", "formal", "technical", "ceremonial", "educational")
"""Register tags of §2.6."""
CONTEXTS = ("greeting", "declaration", "question", "instruction", "narrative", "label", "error")
"""Communicative functions of §2.6."""


# An earlier version may have stored something else under a name that was free then; a file with no text there is refused.
FreeTag = Annotated[str | None, BeforeValidator(lambda value: value if isinstance(value, str) else None)]
"""A tag that no list is for."""


_FIELD_SETS: dict[frozenset[str], set[str]] = {}
"""Fields that entries were given. Nothing changes these sets: entries are frozen, and copies have their own."""


class Entry(BaseModel):
    """One source text with its reference translation; unknown fields are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)
    id: Annotated[StrictInt | StrictStr, Field(union_mode="left_to_right")]
    source: str
    reference: str
    variants: tuple[str, ...] = ()
    """Other translations that count as right (scoring-specification §2.1, equivalent match)."""
    segment: Segment | None = None
    difficulty: Annotated[int, Field(ge=1, le=5)] | None = None
    """1 basic vocabulary … 5 advanced (§2.4)."""
    provenance: str | None = None
    register_: str | None = Field(default=None, alias="register")
    """Formality and social setting; the underscore only avoids a name of the base class."""
    context: str | None = None
    variety: FreeTag = None
    """Dialect or other variety of the target language, in the community's own words."""
    orthography: FreeTag = None
    """Spelling system of the reference, such as ``SRO`` or ``1972``."""
    morphological_analysis: str | None = None
    notes: str | None = None
    variant_class: str | None = None
    local_only: bool = Field(default=False, exclude=True)
    """True where the terms of its corpus keep it on this machine; the envelope says so, not the entry."""
    not_stored: bool = Field(default=False, exclude=True)
    """True for what is in the store instead of a secret entry that no run used: it has no text."""
    of_task: str = Field(default=TRANSLATION, exclude=True)
    """Name of its corpus's task; the envelope says it, not the entry."""

    def model_post_init(self, _context: object, /) -> None:
        """Share the set of given fields with all entries that have the same: 0.8 kB less for each entry of a corpus."""
        given = frozenset(self.__pydantic_fields_set__)
        object.__setattr__(self, "__pydantic_fields_set__", _FIELD_SETS.setdefault(given, self.__pydantic_fields_set__))

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        """Show only where a secret entry stands: no log, message or traceback has its texts by accident."""
        return [("id", self.id), ("segment", self.segment)] if self.secret else super().__repr_args__()

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        """Refuse to pickle a secret entry: whatever takes the bytes may write or send them."""
        if self.secret:
            raise TypeError("A secret entry is not pickled.")
        return super().__reduce_ex__(protocol)

    @property
    def task(self) -> Task:
        """Return the task of a method."""
        return TASKS[self.of_task]

    @property
    def secret(self) -> bool:
        """True where the entry's texts must not leave this machine, nor reach a log, cache or message."""
        return self.local_only or (self.segment is not None and self.segment.secret)

    @property
    def withheld(self) -> bool:
        """True for what an imported card had in place of a secret entry: it has no text."""
        return bool((self.model_extra or {}).get("withheld"))

    @property
    def holds_secret(self) -> bool:
        """True where something of it has to be stored sealed: nothing is there where its card came without texts."""
        return self.secret and not self.not_stored and not (self.withheld and not (self.source or self.reference))

    @property
    def secret_because(self) -> str:
        """Why it is secret, as the end of a sentence; empty for an entry that is not."""
        if self.segment is not None and self.segment.secret:
            return "it belongs to a secret segment"
        return "the terms of its corpus keep it on this machine" if self.local_only else ""

    def open_tag(self, field: str) -> str | int | None:
        """Return a tag (§2.3–2.6) as it may leave this machine: of a secret entry only what the lists have.

        Anything may be in a free field, the entry's own text too.
        """
        tag: str | int | None = getattr(self, field)
        free = field not in {"segment", "difficulty"} and tag not in _LISTED.get(field, ())
        return None if self.secret and free else tag

    def question(self) -> Entry:
        """Return the entry as a method may see it: without the answer and what would give it away.

        Of the fields that only its task knows, those that the task shows.
        """
        asked = self.task.question(self.model_extra or {}) if self.of_task != TRANSLATION else {}
        question = Entry.model_construct(
            id=self.id,
            source=self.source,
            reference="",
            segment=self.segment,
            difficulty=self.difficulty,
            provenance=self.provenance,
            register_=self.register_,
            context=self.context,
            variety=self.variety,
            orthography=self.orthography,
            local_only=self.local_only,
            of_task=self.of_task,
        )
        return question.model_copy(update=asked) if asked else question


_LISTED: Mapping[str, Sequence[str]] = {
    "provenance": PROVENANCES,
    "register_": REGISTERS,
    "context": CONTEXTS,
    "variety": (),
    "orthography": (),
}
"""Tags by field; difficulty and segment have no other values than theirs, and the last two have no list."""


def _of_entry(name: str) -> Any:
    return property(lambda self: getattr(self._entry, name))


@final
class SecretEntry:
    """The open fields of a secret entry. ``clearance.reveal`` gives its texts, for a run that was cleared for it.

    It has no text to read or to compare, and is shown by its id and segment; copying, pickling and JSON are refused. That is
    a guard against accidents: code of the same process that means to read it can.
    """

    __slots__ = ("_entry", "mark")
    id: EntryId = _of_entry("id")
    segment: Segment | None = _of_entry("segment")
    difficulty: int | None = _of_entry("difficulty")
    local_only: bool = _of_entry("local_only")
    not_stored: bool = _of_entry("not_stored")
    withheld: bool = _of_entry("withheld")
    secret: bool = _of_entry("secret")
    open_tag: Callable[[str], str | int | None] = _of_entry("open_tag")

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self.mark = hash((entry.id, entry.segment, entry.source, entry.reference, entry.variants))
        """By which a clearance of this process knows it, also when it is read again."""

    def __repr__(self) -> str:
        return f"SecretEntry(id={self.id!r}, segment={self.segment!r})"

    def __reduce_ex__(self, protocol: SupportsIndex) -> Never:
        raise TypeError("A secret entry is not copied or pickled.")


AnyEntry: TypeAlias = Entry | SecretEntry
OpenEntry = NewType("OpenEntry", Entry)
"""An entry that is not secret; ``open_entry`` alone makes it. What learns from texts, sends them on or quotes them takes no other."""


def open_entry(entry: AnyEntry) -> OpenEntry | None:
    """Return an entry that is not secret; None for a sealed one and for one that was revealed."""
    return OpenEntry(entry) if isinstance(entry, Entry) and not entry.secret else None


Kind = TypeVar("Kind", bound=AnyEntry)


def _not_packed(entries: Iterable[Kind]) -> Iterable[Kind]:
    """Return of a packed list what is not packed, among which all secret entries are: they refuse to be packed."""
    return entries.unpacked if isinstance(entries, PackedList) else entries


def secrets_among(entries: Iterable[Kind]) -> Iterator[Kind]:
    """Yield the secret ones of some entries; nothing is unpacked for it."""
    return (entry for entry in _not_packed(entries) if entry.secret)


def only_open(entries: Iterable[AnyEntry]) -> Sequence[OpenEntry]:
    if isinstance(entries, Sequence) and all(open_entry(entry) for entry in _not_packed(entries)):
        return cast("Sequence[OpenEntry]", entries)
    return packed(opened for entry in entries if (opened := open_entry(entry)) is not None)


def seal_secret(entry: AnyEntry) -> AnyEntry:
    return entry if isinstance(entry, SecretEntry) or not entry.secret else SecretEntry(entry)


def seal_secrets(entries: Sequence[AnyEntry]) -> Sequence[AnyEntry]:
    return changed(entries, seal_secret, only_unpacked=True)


def reveal_here(entries: Iterable[AnyEntry]) -> Sequence[Entry]:
    """Return entries with their texts, for what a custodian has done with them on this computer: check, count, seal, show.

    Nothing that it is given to sends, logs or quotes them; a test names its callers.
    """
    if isinstance(entries, Sequence) and not any(isinstance(entry, SecretEntry) for entry in _not_packed(entries)):
        return cast("Sequence[Entry]", entries)
    return packed(entry._entry if isinstance(entry, SecretEntry) else entry for entry in entries)  # noqa: SLF001
