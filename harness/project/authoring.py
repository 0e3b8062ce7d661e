"""The corpus that a project has come to: its open part as a growing file, what it lacks, and its way into a vault."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Final, Literal

from corpora.checks.requirements import LEAST, ConsentStanding, Requirement, requirements
from corpora.files.json_types import JsonObject
from corpora.formats.load import File, load, read
from corpora.formats.write import encode
from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry, EntryId, Segment
from corpora.samples import DEMO_CORPUS, sample_path
from corpora.text.comparison import normalised
from corpora.text.messages import counted
from harness.consent.given import consent_standing
from harness.core.failures import UsageError
from harness.core.storage import exclusive, write_file
from harness.project.state import (
    CORPUS,
    HandedOut,
    InVault,
    Project,
    ProjectEntry,
    ProjectState,
    envelope,
    read_project,
    remember,
    today,
    with_reference,
    write_state,
)
from harness.sealed.keys import Identity
from harness.store.withdrawn import now_standing
from harness.vault.key_shares import OpeningKey
from harness.vault.sealed_corpus import corpus_named, opened_key, sealed_texts
from harness.vault.vault import Vault
from harness.vault.vault_records import SmallestTold, StoredCorpus

LOCK: Final = ".project.lock"
_BUSY_SECONDS: Final = 20

_VERIFIED: Final = "gold_standard"
"""Provenance of what fluent speakers verified (benchmark-specification §2.5)."""


def provenance_of(entry: ProjectEntry) -> str:
    """Return the provenance tag: verified where a second speaker agreed, else where the translation came from."""
    return entry.provenance if entry.agreed is None else _VERIFIED


def whole_corpus(project: Project) -> Corpus:
    """Return the corpus of every entry with a translation, read and checked as a file of it would be; nothing is written.

    No message quotes anything of it. UsageError where there is no translation yet, or a text is in a vault; CorpusError for what is wrong.
    """
    entries = with_reference(project.state.entries)
    if not entries:
        words = "No entry has a translation yet. Hand sentences out: rosetta corpus ask translate"
        raise UsageError(words)
    file = File(CORPUS, _bytes(project, entries))
    return read([file], form=Form.SPECIFICATION, kept_here=True)


def every_entry(project: Project) -> Corpus:
    """Return all entries of a project, those without a translation too, to say which of them are meant; their texts are open in memory only.

    It has the hash of the open part. UsageError where its secret part is in a vault.
    """
    if (went := project.state.vault) is not None and went.done:
        raise UsageError(
            f"{project.folder} went into a vault on {went.on}. Name the corpus there: {went.corpus} with --vault VAULT and --purpose WORDS."
        )
    every = project.state.entries
    made = tuple(Entry.model_validate(_fields(project, entry)) for entry in every)
    open_part = _bytes(project, [entry for entry in with_reference(every) if not entry.secret])
    dataset = Dataset.model_validate(_dataset(project, every))
    return Corpus(dataset, made, sha256(open_part).hexdigest(), Form.SPECIFICATION)


@contextmanager
def changing(folder: Path, home: Path, *, keep: bool = True) -> Iterator[Project]:
    """Open a project to change it, alone; it is written when the block ends without an error, as a whole or not at all.

    ``corpus.json`` is written before the state, so that words which are gone are gone from it first; where a stop left another one than the
    state has, it is mended when the project is opened. Without ``keep`` nothing is written. UsageError where the project
    went into a vault: it is closed then.
    """
    read_project(folder, home)
    busy = UsageError(f"{folder}: another program is changing it. Wait until it is done.")
    with exclusive(folder / LOCK, busy, _BUSY_SECONDS):
        project = read_project(folder, home)
        if keep:
            remember(home, project.state.number, folder)
            write_open_part(project)
        if (went := project.state.vault) is not None and went.done:
            raise UsageError(
                f"{folder} went into a vault as {went.corpus!r} on {went.on} and is closed. Begin another: rosetta corpus new"
            )
        yield project
        if keep:
            write_open_part(project)
            write_state(project, overwrite=True)


def write_open_part(project: Project) -> None:
    """Write ``corpus.json`` again with the open entries that have a translation, where it says something else; without one it is gone."""
    entries = [entry for entry in with_reference(project.state.entries) if not entry.secret]
    path = project.folder / CORPUS
    if not entries:
        path.unlink(missing_ok=True)
        return
    data = _bytes(project, entries)
    if not path.is_file() or path.read_bytes() != data:
        write_file(path, data, overwrite=True)


def check_facts(facts: JsonObject) -> Corpus:
    """Read an envelope of these facts as that of a file would be; CorpusError says what cannot be in it.

    UsageError names the option for two languages that are one, and a licence that no list and no class of terms knows: it could not
    be changed later.
    """
    entry = {"id": 1, "source": "a", "reference": "b", "provenance": "elicited"}
    document = {"dataset": envelope(facts), "entries": [entry]}
    corpus = read([File("options", json.dumps(document).encode())], form=Form.SPECIFICATION)
    source, target = str(facts["source_language"]), str(facts["target_language"])
    if source.casefold() == target.casefold():
        raise UsageError(
            f"--target-language {target[:40]!r} is the language of the sources too. Name the one they are translated into; a variety has its own tag, "
            "such as en-GB."
        )
    for warning in corpus.warnings:
        if warning.field == "dataset.license":
            licence = str(facts["license"])[:60]
            raise UsageError(f"--license {licence!r}: {warning.message} {warning.mend}")
    return corpus


def _bytes(project: Project, entries: Sequence[ProjectEntry]) -> bytes:
    dataset = Dataset.model_validate(_dataset(project, entries))
    made = tuple(Entry.model_validate(_fields(project, entry)) for entry in entries)
    return encode(Corpus(dataset, made, "", Form.SPECIFICATION), Form.SPECIFICATION)[0].encode()


def _dataset(project: Project, entries: Sequence[ProjectEntry]) -> JsonObject:
    listed = sorted({provenance_of(entry) for entry in entries})
    return {**project.state.dataset, **({"provenance": listed} if listed else {})}


def _fields(project: Project, entry: ProjectEntry) -> JsonObject:
    texts = project.texts(entry)
    origin = {name: value for name, value in entry.origin.model_dump().items() if value}
    fields = {
        "variants": list(texts.all_variants),
        "context": entry.context,
        "morphological_analysis": texts.analysis,
        "notes": texts.notes,
        "variant_class": texts.variant_class,
        # of a source that a model made, which; of one out of a file, its name
        "source_origin": {"made_by": "a model"} | origin if entry.origin.model else origin,
        "speakers": [spoken.model_dump(mode="json", exclude_defaults=True) for spoken in entry.said if spoken.people],
        "analysis_confirmed": entry.analysed and entry.analysed.model_dump(mode="json"),
    }
    return {
        "id": entry.id,
        "source": texts.source,
        "reference": texts.reference,
        "segment": entry.segment,
        "difficulty": entry.difficulty,
        "provenance": provenance_of(entry),
        "register": entry.register_,
        **{name: value for name, value in fields.items() if value},
    }


@dataclass(frozen=True)
class SegmentProgress:
    segment: Segment
    needed: int
    sources: int
    translated: int
    agreed: int
    """By a second speaker."""


@dataclass(frozen=True)
class OutReview:
    """A review with speakers of which something is still to come."""

    review: str
    """Its name."""
    kind: Literal["translate", "agree"]
    asked: int
    """Entries that were handed out."""
    left: int
    """Of them, those of which nothing came back yet that may be used."""


@dataclass(frozen=True)
class ProjectProgress:
    """How far a project is, in counts that show nothing of its texts."""

    dataset: Dataset
    segments: tuple[SegmentProgress, ...]
    by_difficulty: dict[str, int]
    by_register: dict[str, int]
    by_origin: dict[str, int]
    """Sources ``from a file`` and ``made by a model``."""
    requirements: tuple[Requirement, ...]
    """The minimum requirements (benchmark-specification §11.1), over the entries with a translation."""
    analysed: int
    with_class: int
    with_variants: int
    out: tuple[OutReview, ...]
    """Reviews that were handed out and whose entries are not all done."""
    consent: ConsentStanding
    objected: int
    """Translations to which somebody objects, and which are in no corpus until people decide."""
    withdrawn: int
    """Entries of which consent was taken back; they count nowhere else."""
    in_vault: bool
    warnings: int | None
    """Of the check of the corpus as it is; None where its secret part is in a vault, or there is no translation."""

    @property
    def waiting(self) -> tuple[str, ...]:
        return tuple(out_review.review for out_review in self.out)


def progress_of(project: Project) -> ProjectProgress:
    """Count what a project has and lacks."""
    state = project.state
    entries = [entry for entry in state.entries if not entry.withdrawn]
    dataset = Dataset.model_validate(_dataset(project, entries))
    consent = consent_standing(dataset, now_standing())
    done = with_reference(entries)
    bare = tuple(  # the requirements look at entries without their texts
        Entry(
            id=entry.id, source="", reference="", segment=entry.segment, difficulty=entry.difficulty,
            provenance=provenance_of(entry), register=entry.register_,
        )
        for entry in done
    )  # fmt: skip
    counted = Corpus(dataset, bare, "", Form.SPECIFICATION)
    gone = any(entry.texts is None and not entry.sealed for entry in done)
    return ProjectProgress(
        dataset=dataset,
        segments=tuple(
            SegmentProgress(
                segment,
                LEAST[segment],
                sum(entry.segment is segment for entry in entries),
                sum(entry.segment is segment for entry in done),
                sum(entry.segment is segment and entry.agreed is not None for entry in entries),
            )
            for segment in LEAST
        ),
        by_difficulty=_count(entries, lambda entry: str(entry.difficulty)),
        by_register=_count(entries, lambda entry: entry.register_),
        by_origin=_count(entries, lambda e: "made by a model" if e.origin.model else "from a file"),
        requirements=tuple(requirements(counted, consent)),
        analysed=sum(entry.analysed is not None for entry in done),
        with_class=sum(entry.has_class for entry in done),
        with_variants=sum(entry.has_variants for entry in done),
        out=tuple(
            OutReview(review.review, review.kind, len(review.entries), left)
            for review in state.reviews
            if (left := len(still_out(state, review)))
        ),
        consent=consent,
        objected=sum(entry.objected for entry in entries),
        withdrawn=len(state.entries) - len(entries),
        in_vault=state.vault is not None and state.vault.done,
        warnings=None if gone or not done else len(whole_corpus(project).warnings),
    )


def _count(entries: Sequence[ProjectEntry], of: Callable[[ProjectEntry], str]) -> dict[str, int]:
    return dict(sorted(Counter(map(of, entries)).items()))


def still_out(state: ProjectState, out: HandedOut) -> list[ProjectEntry]:
    """Return the entries of a review of which nothing came back yet; those whose answer was not agreed to did come back."""
    asked = (entry for entry in state.entries if entry.id in out.entries)
    own = [entry for entry in asked if out.review not in entry.refused]
    if out.kind == "translate":
        return [entry for entry in own if entry.untranslated]
    return [entry for entry in own if entry.usable and entry.agreed is None]


# ---- What a corpus in the making lacks when somebody wants to close it: said once, before its
# secret texts go into a vault.

_COMING: Final = {"translate": "without a translation", "agree": "without an answer that agrees"}


def lacking(project: Project) -> tuple[str, ...]:
    """Return what a corpus lacks, each in words with the command that fixes it; empty where it is complete.

    Covered are translations without a second speaker, sentences without a translation, reviews that are still out, and the minimum
    requirements (benchmark-specification §11.1). No text is quoted.
    """
    return tuple(_lacking(project))


def _lacking(project: Project) -> Iterator[str]:
    entries, progress = project.state.entries, progress_of(project)
    folder = quote(str(project.folder))
    alone = [entry for entry in entries if entry.usable and entry.agreed is None]
    if alone:
        yield f"{counted(len(alone), 'translation')} to which no second speaker agreed{_where(alone)}: rosetta corpus ask agree {folder}"
    if without := [entry for entry in entries if entry.untranslated]:
        yield f"{counted(len(without), 'sentence')} without a translation{_where(without)}, which would not go along: rosetta corpus ask translate {folder}"
    if objected := [entry for entry in entries if entry.objected and not entry.withdrawn]:
        yield f"{counted(len(objected), 'translation')} to which somebody objects{_where(objected)}, which would not go along: rosetta review adjudicate"
    for out in progress.out:
        yield f"{out.review} is still with speakers: {out.left} of its {counted(out.asked, 'sentence')} {_COMING[out.kind]}"
    for row in progress.requirements:
        if not row.met:
            note = f" ({row.note})" if row.note else ""
            yield f"{row.name}: {row.found} of {row.needed}{note}"


def _where(entries: Sequence[ProjectEntry]) -> str:
    counts = Counter(str(entry.segment) for entry in entries)
    return f" ({', '.join(f'{count} {name}' for name, count in counts.items())})"


# ---- A finished corpus on its way into a vault: sealed there, and its secret texts taken out of
# the project.
#
# The project notes where it goes before it goes. So one that was stopped on the way is found in
# the vault again, and nothing is lost or put in twice.


def move_into(
    project: Project,
    vault: Vault,
    corpus: Corpus,
    name: str,
    identity: Identity,
    opener: OpeningKey | None,
    tells: Mapping[Segment, SmallestTold],
) -> StoredCorpus:
    """Seal the whole corpus of a project in a vault, then take its secret texts out of the project; gives the vault's record of it.

    Called within ``changing``. Raises VaultError where the vault has another corpus of this name, or a text of it, and UsageError where it has
    this one as it was before a change.
    """
    state = vault.read()
    place = {"vault": state.head.vault, "corpus": name, "sha256": corpus.sha256}
    going = InVault(**place, on=today(), done=False)
    before = project.state.vault
    noted = before is not None and (before.vault, before.corpus) == (going.vault, name)
    there = name in {corpus.name for corpus in state.head.corpora.values()}
    if before is not None and noted and there:
        stored = _ours(vault, corpus, name, identity, opener)
        # Refuse a corpus that is not what went to the vault; UsageError says what to do.
        if before.sha256 != corpus.sha256:
            raise UsageError(
                f"The vault holds {before.corpus!r} as it was on {before.on}, and it was changed here since. Nothing was taken out of the project. Seal it in "
                "another vault, or put back the project.json of that day and run this again."
            )
    else:
        project.change(vault=going)
        write_state(project, overwrite=True)
        stored = vault.add(corpus, name, identity, opener, tells)
    # Extract the secret texts of all entries that went away from the state; those that did not
    # go along stay, sealed.
    project.put(
        entry.model_copy(update={"sealed": ""}) for entry in project.state.entries if entry.secret and entry.usable
    )
    project.change(vault=going.model_copy(update={"done": True}))
    return stored


def _ours(vault: Vault, corpus: Corpus, name: str, identity: Identity, opener: OpeningKey | None) -> StoredCorpus:
    """Return the record of a corpus that is there already, where every source of ours is in it; UsageError where it is another one."""
    state = vault.read()
    number, stored = corpus_named(state, name)
    key = opened_key(state, stored, identity, opener)
    known = {entry.digest for entry in sealed_texts(state, number, stored).entries}
    if not all(key.digest(entry.source).hex() in known for entry in corpus.reveal_here()):
        raise UsageError(f"The vault holds another corpus {name!r}. Choose --name.")
    return stored


# ---- Sentences that can be no secret: those of the demo, which everybody has who has this
# program.


def known_of_the_demo(sources: Iterable[str]) -> frozenset[str]:
    known = {normalised(entry.source) for entry in load(sample_path(DEMO_CORPUS)).reveal_here()}
    return frozenset(source for source in sources if normalised(source) in known)


def secrets_of_the_demo(corpus: Corpus) -> tuple[EntryId, ...]:
    """Return the ids of the secret entries whose source the bundled demo corpus has too."""
    secret = {entry.id: entry.source for entry in corpus.reveal_here() if entry.secret}
    known = known_of_the_demo(secret.values())
    return tuple(id_ for id_, source in secret.items() if source in known)
