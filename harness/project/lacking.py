"""What a corpus in the making lacks when somebody wants to close it: said once, before its secret texts go into a vault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Final

from harness.project.authoring import OutReview, progress_of
from harness.project.state import Project, ProjectEntry
from scoring.core.messages import counted

_COMING: Final = {"translate": "without a translation", "agree": "without an answer that agrees"}


def lacking(project: Project) -> tuple[str, ...]:
    """Return what a corpus lacks, each in words with the command that fixes it; empty where it is complete.

    Covered are translations without a second speaker, sentences without a translation, reviews that are still out, and the minimum
    requirements (benchmark-specification §11.1). No text is quoted.
    """
    return tuple(_lacking(project))


def _lacking(project: Project) -> Iterator[str]:
    entries, project_progress, folder = (
        project.state.entries,
        progress_of(project),
        quote(str(project.folder)),
    )
    alone = [entry for entry in entries if entry.usable and entry.agreed is None]
    if alone:
        yield f"{counted(len(alone), 'translation')} to which no second speaker agreed{_where(alone)}: rosetta corpus agree {folder}"
    if without := [entry for entry in entries if entry.untranslated]:
        yield f"{counted(len(without), 'sentence')} without a translation{_where(without)}, which would not go along: rosetta corpus translate {folder}"
    if objected := [entry for entry in entries if entry.objected and not entry.withdrawn]:
        yield f"{counted(len(objected), 'translation')} to which somebody objects{_where(objected)}, which would not go along: rosetta review adjudicate"
    yield from map(_out, project_progress.out)
    for row in project_progress.requirements:
        if not row.met:
            note = f" ({row.note})" if row.note else ""
            yield f"{row.name}: {row.found} of {row.needed}{note}"


def _where(entries: Sequence[ProjectEntry]) -> str:
    counts = Counter(str(entry.segment) for entry in entries)
    return f" ({', '.join(f'{count} {name}' for name, count in counts.items())})"


def _out(out: OutReview) -> str:
    return f"{out.review} is still with speakers: {out.left} of its {counted(out.asked, 'sentence')} {_COMING[out.kind]}"
