"""What the screens of corpora in the making show, read in a thread: counts and names of reviews, and no text of theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpora.files.problems import CorpusError
from harness.core.failures import HarnessError
from harness.core.storage import file_stamp
from harness.estimate.framework import WorkedFramework, read_framework, work_out
from harness.project.authoring import ProjectProgress, progress_of, still_out
from harness.project.state import CORPUS, FILE, HandedOut, ProjectState, known_folders, read_project
from review.office.results.progress import WorkingTime, worked_until_now

_CONSENT = "consent.jsonl"  # what was withdrawn, in the data folder


@dataclass(frozen=True)
class AskedReview:
    """A review in which speakers were asked, and what came of it."""

    review: str
    kind: str  # `translate` or `agree`
    on: str
    sentences: int
    out: int  # sentences of which nothing came back yet that may be used
    people: Mapping[str, int]  # letters of those who answered, such as `A, B` → sentences


@dataclass(frozen=True)
class ProjectFacts:
    title: str
    progress: ProjectProgress
    reviews: Sequence[AskedReview]
    came_translated: int  # sentences whose translation came with the source
    corrected: int  # sentences with a second speaker's wording instead of the translation
    refused: int  # sentences that wait for another translation: not agreed to, or taken back
    costs: WorkedFramework
    worked: Sequence[WorkingTime] | None  # None where their reviews are in another data folder
    can_undo: bool  # true where sentences were added that are with no speaker


@dataclass(frozen=True)
class ProjectReading:
    folder: Path
    mark: Hashable  # changes where a file does on which the facts depend
    facts: ProjectFacts | None = None  # none where they cannot be shown; `trouble` says why
    trouble: str = ""

    @property
    def name(self) -> str:
        """Title of the corpus; where it cannot be read, the name of its folder."""
        return self.facts.title if self.facts else self.folder.name


def read_facts(
    folder: Path, home: Path, before: ProjectReading | None = None, *, anyway: bool = True
) -> ProjectReading:
    """Read a project; gives ``before`` back where nothing changed since, unless it is to be read ``anyway``."""
    mark = tuple(map(file_stamp, (folder / FILE, folder / CORPUS, home / _CONSENT)))
    if before is not None and not anyway and before.mark == mark:
        return before
    try:
        project = read_project(folder, home)
        state, progress = project.state, progress_of(project)
        facts = ProjectFacts(
            title=(progress.dataset.model_extra or {}).get("title") or progress.dataset.id,
            progress=progress,
            reviews=[_asked(out, state) for out in state.reviews],
            came_translated=sum(e.has_reference and e.translated is None for e in state.entries),
            corrected=sum(entry.agreed is not None and entry.agreed.outcome == "corrected" for entry in state.entries),
            refused=sum(bool(entry.refused) and not entry.has_reference for entry in state.entries),
            costs=work_out(read_framework(None)),
            worked=worked_until_now(project),
            can_undo=bool(state.undoable),
        )
    except (CorpusError, HarnessError, OSError) as error:
        return ProjectReading(folder, mark, trouble=str(error))
    return ProjectReading(folder, mark, facts)


def read_known(home: Path, before: Sequence[ProjectReading] | None, *, anyway: bool) -> Sequence[ProjectReading]:
    """Read every known project that changed since ``before``, or all with ``anyway``, by name; ``before`` if none did."""
    known = {project_reading.folder: project_reading for project_reading in before or ()}
    folders = known_folders(home)
    readings = [read_facts(folder, home, known.get(folder), anyway=anyway) for folder in folders]
    readings.sort(key=lambda reading: (reading.name.casefold(), str(reading.folder)))
    if before is not None and list(map(id, before)) == list(map(id, readings)):
        return before
    return readings


def _asked(out: HandedOut, state: ProjectState) -> AskedReview:
    """Count what came of a review; who it was is known by the letters that the project keeps."""
    own = [entry for entry in state.entries if entry.id in out.entries]
    spokens = [spoken for project_entry in own for spoken in project_entry.said if spoken.review == out.review]
    return AskedReview(
        review=out.review,
        kind=out.kind,
        on=out.on,
        sentences=len(own),
        out=len(still_out(state, out)),
        people=Counter(", ".join(spoken.people) for spoken in spokens),
    )
