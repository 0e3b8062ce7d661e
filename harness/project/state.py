"""A corpus in the making as its folder has it: one file of state, replaced as a whole with every step.

Texts of secret segments are in it sealed with a key of the project, which this computer opens; they are opened in memory only. Next to it
grows ``corpus.json``, which has the open entries with a translation and is written again from the state.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StrictInt, TypeAdapter, ValidationError

from corpora.files.json_types import Json, JsonObject
from corpora.languages.tags import as_tag, is_language_tag, pair_label
from corpora.model.entry import Segment
from corpora.text.comparison import comparison_form
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawn, standing
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.core.storage import private_folder, read_bytes, usage_errors, write_file
from harness.sealed.strict_records import FileError, Id, Short, StrictRecord
from harness.store.sqlite.sealing import keys_here, recipients_here
from harness.vault.data_key import DataKey, SealedPlace
from harness.vault.secret_text import no_core_dumps

# ---- The folders in which this computer saw corpora in the making: a small file for each in the
# data folder, with no text of theirs.

FOLDER: Final = "projects"

_WHERE: TypeAdapter[str] = TypeAdapter(str)


def remember(home: Path, number: str, folder: Path) -> None:
    """Record where a project is, by its number; one that was moved is found at its new place. UsageError where that cannot be stored."""
    path = home / FOLDER / f"{number}.json"
    where = str(folder.resolve())
    if where in _said(path):
        return
    try:
        private_folder(path.parent)
    except OSError as error:
        raise UsageError(
            f"This computer cannot keep in {home} where {folder} lies ({error.strerror}). Name another data folder in ROSETTA_HOME."
        ) from None
    write_file(path, canonical_bytes(where), overwrite=True)


def known_folders(home: Path) -> list[Path]:
    """Return the folders in which this computer saw projects, also those that are not there now."""
    files = sorted((home / FOLDER).glob("*.json"))
    return list(dict.fromkeys(Path(where) for path in files for where in _said(path)))


def forget(home: Path, folder: Path) -> None:
    for path in (home / FOLDER).glob("*.json"):
        if str(folder.resolve()) in _said(path):
            path.unlink(missing_ok=True)


def _said(path: Path) -> Iterator[str]:
    """Yield the folder that a file names; what is damaged of it is written again when its project is seen."""
    with suppress(ValidationError, OSError):
        yield _WHERE.validate_json(path.read_bytes())


FILE: Final = "project.json"
CORPUS: Final = "corpus.json"
MOST_BYTES: Final = 64 * 2**20

Provenance = Literal["gold_standard", "textbook", "elicited", "corpus"]
Register = Literal["conversational", "formal", "technical", "ceremonial", "educational"]
Context = Literal["greeting", "declaration", "question", "instruction", "narrative", "label", "error"]
Tier = Annotated[StrictInt, Field(ge=1, le=5)]


@dataclass(frozen=True)
class DraftTexts:
    """All of an entry in which its words may stand; of a secret one it is sealed as a whole."""

    source: str
    reference: str = ""
    variants: tuple[str, ...] = ()
    analysis: str = ""
    variant_class: str = ""
    notes: str = ""
    offered: tuple[str, ...] = ()
    """Further variants, which second speakers wrote."""
    came: tuple[str, ...] = ()
    """Wordings that came with the source and that second speakers refused, the reference first: taken again where nobody refuses them any more."""

    @property
    def all_variants(self) -> tuple[str, ...]:
        """Return the other right wordings, anyone who wrote them, without one that is the reference now."""
        own, wordings = comparison_form(self.reference), (*self.variants, *self.offered)
        return tuple(wording for wording in wordings if comparison_form(wording) != own)


class SourceOrigin(StrictRecord):
    file: Short = ""
    """Name of the file; empty for one that a model made."""
    model: Short = ""
    endpoint: Short = ""
    prompt_sha256: Short = ""
    on: Short
    """Day on which it was imported."""


class Spoken(StrictRecord):
    review: Short
    """Its name."""
    people: tuple[Short, ...]
    """By the letters of that review; no names."""
    outcome: Literal["translated", "agreed", "corrected"]
    on: Short
    same_laptop: bool = False
    """True where a second speaker used the laptop of the translation, and the organisation says that it was another person."""


class Analysed(StrictRecord):
    """Who confirmed an analysis that an analyser proposed."""

    by: Short
    on: Short
    analyser: Short
    """Name of its file."""
    analyser_sha256: Short


class ProjectEntry(StrictRecord):
    id: StrictInt
    segment: Segment
    difficulty: Tier
    register_: Register
    context: Context | None = None
    provenance: Provenance
    """Of its translation, as long as no second speaker agreed."""
    origin: SourceOrigin
    round: StrictInt
    """Which adding of sources brought it."""
    translated: Spoken | None = None
    """None before, and where the translation came with the source."""
    agreed: Spoken | None = None
    """What a second speaker said."""
    agreed_also: tuple[Spoken, ...] = ()
    """What others said in further reviews, with the same outcome."""
    refused: tuple[Short, ...] = ()
    """Reviews that are done with: those whose translation a second speaker did not agree to, or was taken back, and those that examined it."""
    analysed: Analysed | None = None
    objected: bool = False
    """True where a second speaker calls its translation harmful, or not to be shown around: it is in no corpus until people decide."""
    withdrawn: Annotated[bool, Field(exclude=True)] = False
    """True where consent for it was taken back (``harness.consent``); seen whenever the project is read, and not kept."""
    has_reference: bool = False
    has_variants: bool = False
    has_class: bool = False
    texts: dict[str, Any] | None = None
    """None where they are sealed or are in a vault."""
    sealed: str = ""

    @property
    def secret(self) -> bool:
        return self.segment.secret

    @property
    def kept_sealed(self) -> bool:
        return self.secret or self.objected

    @property
    def usable(self) -> bool:
        """True where it has a translation to which nobody objects, and nobody took it back."""
        return self.has_reference and not self.objected and not self.withdrawn

    @property
    def untranslated(self) -> bool:
        return not self.has_reference and not self.withdrawn

    @property
    def second_speakers(self) -> tuple[Spoken, ...]:
        """Return what second speakers said, by review."""
        return (*([self.agreed] if self.agreed else []), *self.agreed_also)

    @property
    def said(self) -> tuple[Spoken, ...]:
        """Return what speakers did with it, the translators first."""
        return (*([self.translated] if self.translated else []), *self.second_speakers)


class HandedOut(StrictRecord):
    """A review that was made of entries."""

    review: Short
    kind: Literal["translate", "agree"]
    on: Short
    entries: tuple[StrictInt, ...]
    made: bool = False
    """False while it is being made."""
    shared_laptop: bool = False
    """True where the organisation says that second speakers and translators are others, though they share laptops."""


class InVault(StrictRecord):
    """The vault to which the whole corpus went; from then on no secret text is here."""

    vault: Short
    """Number of the vault."""
    corpus: Short
    """Its name there."""
    sha256: Short
    on: Short
    done: bool
    """False while it goes there."""


class ProjectState(StrictRecord):
    format: Literal["rosetta-corpus-project/1"] = "rosetta-corpus-project/1"
    number: Id
    created: Short
    dataset: dict[str, Any]
    """The envelope that the corpus will have."""
    key: str = ""
    """The project's key, sealed for this computer, in base64; empty before the first secret source."""
    entries: tuple[ProjectEntry, ...] = ()
    next_id: StrictInt = 1
    next_round: StrictInt = 1
    reviews: tuple[HandedOut, ...] = ()
    office: Short = ""
    """Signing key of the organisation whose data folder has the reviews; empty before the first."""
    vault: InVault | None = None

    @property
    def undoable(self) -> frozenset[int]:
        """Return the entries of the last adding; none where speakers have some of them, or they are in a vault."""
        last = max((entry.round for entry in self.entries), default=0)
        added = frozenset(entry.id for entry in self.entries if entry.round == last)
        asked = {id_ for out in self.reviews for id_ in out.entries}
        in_vault = self.vault is not None and self.vault.done
        return frozenset() if added & asked or in_vault else added


@dataclass
class Project:
    """A project that is open: its state, and what opens its secret texts."""

    folder: Path
    home: Path
    """Data folder, where this computer's keys are."""
    state: ProjectState

    @cached_property
    def key(self) -> DataKey:
        """Open the project's key, made where there is none; UsageError in words where no key here opens it."""
        no_core_dumps()
        if not self.state.key:
            made = DataKey.make()
            sealed = base64.b64encode(made.sealed_for(recipients_here(self.home))).decode()
            self.state = self.state.model_copy(update={"key": sealed})
            return made
        try:
            return DataKey.opened(base64.b64decode(self.state.key), keys_here(self.home))
        except FileError:
            raise UsageError(
                f"{self.folder / FILE}: its secret sentences are sealed, and no key of this computer opens them. Continue at the "
                "computer where they were imported, or put back the keys of its data folder."
            ) from None

    def texts(self, entry: ProjectEntry) -> DraftTexts:
        """Return the texts of an entry, opened where they are sealed; never to be logged or stored of a secret one."""
        if entry.texts is not None:
            return _read_texts(entry.texts)
        if not entry.sealed:
            raise UsageError(
                f"The texts of entry {entry.id} are in the vault and no longer here. Open them there: rosetta vault."
            )
        try:
            opened = self.key.open_text(base64.b64decode(entry.sealed), self._place(entry.id))
        except (FileError, ValueError):
            raise UsageError(
                f"{self.folder / FILE}: entry {entry.id}, field 'sealed': it was changed, or moved from another entry. Put back a copy."
            ) from None
        return _read_texts(json.loads(opened.reveal()))

    def with_texts(self, entry: ProjectEntry, texts: DraftTexts) -> ProjectEntry:
        """Return the entry with these texts, sealed where it is secret, or somebody objects to them."""
        changes = {
            "has_reference": bool(texts.reference),
            "has_variants": bool(texts.all_variants),
            "has_class": bool(texts.variant_class),
        }
        if not entry.kept_sealed:
            plain = {name: value for name, value in asdict(texts).items() if value}
            return entry.model_copy(update={**changes, "texts": plain, "sealed": ""})
        words = json.dumps(asdict(texts), ensure_ascii=False)
        sealed = base64.b64encode(self.key.seal_text(words, self._place(entry.id))).decode()
        return entry.model_copy(update={**changes, "texts": None, "sealed": sealed})

    def put(self, entries: Iterable[ProjectEntry]) -> None:
        """Replace the entries with the ids of the changed ones."""
        changed = {entry.id: entry for entry in entries}
        kept = tuple(changed.get(entry.id, entry) for entry in self.state.entries)
        self.state = self.state.model_copy(update={"entries": kept})

    def change(self, **changed: Any) -> None:
        self.state = self.state.model_copy(update=changed)

    def _place(self, entry: int) -> SealedPlace:
        return SealedPlace(self.state.number, str(entry), "project")


def _read_texts(told: Mapping[str, Any]) -> DraftTexts:
    draft_texts = DraftTexts(**told)
    lists = (draft_texts.variants, draft_texts.offered, draft_texts.came)
    variants, offered, came = map(tuple, lists)
    return replace(draft_texts, variants=variants, offered=offered, came=came)


def create_project(folder: Path, home: Path, facts: JsonObject) -> Project:
    """Make a project in a folder that is empty or not there yet; UsageError in words.

    ``facts`` are fields of the envelope: id, source_language, target_language, title, organisation, license, labels …
    """
    tags = {name: as_tag(str(facts[name])) for name in ("source_language", "target_language")}
    for name, tag in tags.items():
        if not is_language_tag(tag):
            option = name.replace("_", "-")
            raise UsageError(f"--{option} {tag[:40]!r}: not a language tag. Write one such as en or crk.")
    require_new(folder)
    state = ProjectState(number=secrets.token_hex(8), created=today(), dataset=envelope({**facts, **tags}))
    try:
        private_folder(folder)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}. Name another folder.") from None
    project = Project(folder, home, state)
    remember(home, state.number, folder)
    write_state(project, overwrite=False)
    return project


def require_new(folder: Path) -> None:
    """Refuse a folder in which something is; UsageError in words."""
    try:
        used = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise UsageError(f"{folder} cannot be looked into: {error.strerror}. Name another folder.") from None
    if used:
        raise UsageError(
            f"{folder} is there already and not empty. Name a new folder; a corpus that was begun continues with its other commands."
        )


def envelope(facts: JsonObject) -> dict[str, Json]:
    """Return the envelope of a new corpus with these facts; those that are empty are left out."""
    return {
        "version": "1.0.0",
        "language_pair": pair_label(str(facts["source_language"]), str(facts["target_language"])),
        "created": today(),
        **{name: value for name, value in facts.items() if value},
    }


def is_project(folder: Path) -> bool:
    """Return whether a corpus in the making is in a folder."""
    return (folder / FILE).is_file()


def read_project(folder: Path, home: Path) -> Project:
    """Read a project; UsageError names file, field and fix, and Withdrawn says that consent for all of it was taken back."""
    path = folder / FILE
    if not is_project(folder):
        raise UsageError(f"{folder} holds no corpus in the making. Begin one: rosetta corpus new {quote(str(folder))}")
    data = read_bytes(path, "a corpus in the making", MOST_BYTES)
    with usage_errors(str(path), fix="Put back a copy of the file."):
        state = ProjectState.model_validate_json(data, strict=True)
    # Mark the entries that were taken back; raises Withdrawn where all of the corpus was.
    now = standing(home)
    named = ("id", "source_language", "target_language", "language_pair")
    facts = CorpusFacts("", *(str(state.dataset.get(name, "")) for name in named))
    if (notice := now.of_corpus(facts)) is not None:
        raise Withdrawn(f"Corpus {facts.id} in {folder}", notice)
    gone = [about for _, about in now.of_entries(facts)]
    marked = (
        entry.model_copy(update={"withdrawn": any(about.has(entry.id) for about in gone)}) for entry in state.entries
    )
    with_consent = state.model_copy(update={"entries": tuple(marked)}) if gone else state
    return Project(folder, home, with_consent)


def write_state(project: Project, *, overwrite: bool) -> None:
    data = canonical_bytes(project.state.model_dump(mode="json"))
    write_file(project.folder / FILE, data, overwrite=overwrite)


def today() -> str:
    """Return the day, UTC, as ISO 8601 has it."""
    return datetime.now(UTC).date().isoformat()


def with_reference(entries: Sequence[ProjectEntry]) -> list[ProjectEntry]:
    """Return those that have a translation, without one to which somebody objects or that was taken back."""
    return [entry for entry in entries if entry.usable]
