"""The corpus of a draft: which options decide its reading, what is in it, what the form says of its faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpora.checks.requirements import requirements
from corpora.files.problems import Problem
from corpora.model.corpus import Corpus
from corpora.model.entry import Segment
from corpora.model.task import TRANSLATION, task
from harness.consent.given import consent_of
from harness.method.option_table import CORPUS
from harness.store.withdrawn import now_standing
from harness.vault.folder import HEAD
from harness.vault.opening import BECAUSE, vault_at
from harness.vault.sealed_corpus import corpus_named
from rosetta_tui.request.draft import RunDraft

_CORPUS_FIELDS = {
    "dataset.source_language": ("source_language", "Write a tag here, such as en, crk or es-MX."),
    "dataset.target_language": ("target_language", "Write a tag here, such as en, crk or es-MX."),
    "dataset.task": ("task", "Write a task of docs/corpora.md, such as qa."),
    "dataset.id": ("corpus_id", "Write an id here."),
}
"""Field of a corpus's problem → field of the form that can say it instead, and how."""


@dataclass(frozen=True, slots=True)
class CorpusLook:
    """What is in a corpus, in counts; never a text."""

    title: str
    """Id and languages, and what is asked where it is no translation."""
    entries: int
    segments: Mapping[str, int]
    tiers: Mapping[str, int]
    warnings: Sequence[str]
    unmet: Sequence[str]
    """Minimum requirements that it does not meet."""
    target_language: str
    terms: str = ""
    """What keeps its texts on this machine; empty where nothing does."""
    sealed: bool = False
    """True where it is in a vault, which is not opened for a look."""
    together: int = 1
    """How many keepers of that vault open it together."""


def corpus_look(corpus: Corpus) -> CorpusLook:
    """Count what is in a corpus, with the findings of ``rosetta corpus check``."""
    dataset = corpus.dataset
    segments = Counter(str(entry.segment.value) for entry in corpus.entries if entry.segment)
    tiers = Counter(str(entry.difficulty) for entry in corpus.entries if entry.difficulty)
    asks = "" if dataset.task == TRANSLATION else f" · {task(dataset.task).title}"
    return CorpusLook(
        title=f"{dataset.name} · {dataset.source_language} → {dataset.target_language}{asks}",
        entries=len(corpus.entries),
        segments=dict(sorted(segments.items())),
        tiers=dict(sorted(tiers.items())),
        warnings=[f"{problem.message} {problem.mend}" for problem in corpus.warnings],
        unmet=[
            f"{row.name}: {row.found} of {row.needed}"
            for row in requirements(corpus, consent_of(corpus, now_standing()))
            if not row.met
        ],
        target_language=dataset.target_language,
        terms=dataset.terms.words if dataset.terms.local_only else "",
    )


def is_vault(folder: Path) -> bool:
    """Return whether a vault is in a folder."""
    return (folder / HEAD).is_file()


def vault_look(folder: Path, name: str, home: Path) -> CorpusLook:
    """Return what a vault tells openly of a corpus of this name; raises UsageError where there is none."""
    state = vault_at(folder, home).read()
    _, stored = corpus_named(state, name)
    segments = {str(segment.value): count for segment, count in sorted(stored.entries.items()) if count}
    return CorpusLook(
        title=f"{stored.name} · sealed",
        entries=sum(stored.entries.values()),
        segments={segment_name: n for segment_name, n in segments.items() if segment_name != Segment.HELD_OUT},
        tiers={},
        warnings=[],
        unmet=[],
        target_language="",
        terms=f"no text leaves this machine ({BECAUSE})",
        sealed=True,
        together=state.threshold,
    )


def in_the_form(problem: Problem) -> tuple[str, str]:
    """Return what the form says of a problem with a corpus, where an option of the command would fix it."""
    side = problem.field or ""
    if f"--{side}-column" in problem.mend:
        return f"{problem.message} Write its name, or its number from 1, here.", f"{side}_column"
    name, mend = _CORPUS_FIELDS.get(problem.field or "", ("file", ""))
    if mend and problem.mend.startswith("Write it in the file"):
        return f"The file does not say it. {mend}", name
    if mend and "than the option" in problem.message:
        return "The file says something else. Leave this empty, or correct the file.", name
    # Where in the file it is; the file itself is in the form.
    places = {"line": problem.line, "entry": problem.entry, "field": problem.field}
    where = ", ".join(f"{part} {place}" for part, place in places.items() if place is not None)
    before = f"{where[0].upper()}{where[1:]}: " if where else ""
    return f"{before}{problem.message} {problem.mend}", name


def reading_key(draft: RunDraft) -> tuple[object, ...]:
    """Return what decides the reading of a draft's corpus: another file, or the same saved again, is another."""
    key: list[object] = [draft.values.get(name) for name in CORPUS.names]
    for name in ("file", "reference"):
        try:
            stat_result = Path(draft.get(name)).stat()
            key.append((stat_result.st_mtime_ns, stat_result.st_size))
        except (OSError, ValueError):
            key.append(None)
    return tuple(key)
