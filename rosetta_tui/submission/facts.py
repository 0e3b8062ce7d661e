"""What the screens show of submissions, read in a thread from where it was done: the desk, the store, the ledger, the office.

Nothing of a bundle is run, and no secret text is opened. The release ledger is known by the keys of this computer's
keeper, which are asked for where there is one and made for nobody.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.card.model import RunCard
from harness.card.reproduction import reproduced_card
from harness.core.failures import HarnessError, UsageError
from harness.core.storage import file_stamp
from harness.release import FOLDER, ledger
from harness.release.ledger_records import RefusalTold, ReleasedCard, ReleasedRefusal, ScoresTold
from harness.sealed.keys import key_phrase
from harness.store.runs import find_by_id
from harness.store.sqlite.database import opened
from harness.submission.bundle import SubmissionManifest
from harness.submission.desk import NOTES, KeptSubmission, SubmissionEvent, SubmissionStore, bundle_of, remove_leftovers
from harness.submission.folder import PartCheck, carried_card, check_submission
from harness.submission.members import CARD, README
from harness.submission.rehearsal import Rehearsal, rehearsed
from review.log.table import saying
from review.office.results.whole_way import WayEnd, WayStep, whole_way
from review.office.store.database import FILE
from review.office.store.store import Office
from review.records.agreeing import end_of_way

# ---- What commands and screens say of a submission: who handed it in, what is there, and what each step is.

INCOMPLETE: Final = "It can be rehearsed, but not be run over secret texts before each part is there."

MEANS: Final[Mapping[str, str]] = {
    "came in": "The desk keeps the file as it came, and a line for each thing that is done with it.",
    "complete": "If a part lacks something, its maker fixes it, packs it again and sends it once more.",
    "rehearsed": "It runs over the open sentences of its card, and its scores are compared with those that it claims. No keeper is asked for it.",
    "run over secret texts": "CORPUS is a file with secret entries, or with --vault FOLDER and --purpose WORDS a corpus of a vault, whose keepers are asked. --terms are your terms, which its maker must have accepted.",
    "report released": "Coarse scores and five caveats as yes or no, or where it stopped; either counts in the budget (rosetta vault budget).",
    "confirmation": "A tier above functional, an ownership record and a passed review rest on sentences over which no scores were released before, 50 at least.",
    "its run": "Without its run nothing can be released, and nobody can rate it.",
    "speakers are asked": "Speakers decide, not scores: a review of the run goes to their laptops.",
    "ratings are here": "They come back on sticks, sealed; each stick is imported, and the same one twice does no harm.",
    "what was flagged is decided": "A person looks at each sentence that somebody called harmful, and says whether it is.",
    "the gate decided": "It judges the ratings by the policy that was signed before anybody rated.",
    "certificate at the card": "The certificate lifts what may be claimed of the run, and is next to its card from then on.",
}
"""Step → what it is, and who does it."""


def bundle_lines(manifest: SubmissionManifest, number: str, phrase: str) -> Iterator[str]:
    """Yield who handed in what; ``phrase``: six words of the key that signed it."""
    yield f"{manifest.name} {manifest.release}, by {manifest.submitter} ({manifest.licence}), {manifest.source_language} to {manifest.target_language}"
    yield f"  number      {number}, signed {manifest.packed[:10]}"
    yield f"  six words   {phrase}"


def where_it_stands(kept: KeptSubmission) -> str:
    """Return in a word or two what was done with a submission last."""
    return kept.state.what.replace("_", " ")


# ---- What is read of submissions: where each stands, its parts, its runs.


@dataclass(frozen=True)
class ListedSubmission:
    number: str
    manifest: SubmissionManifest
    phrase: str  # six words of who signed it
    act: SubmissionEvent  # what was done with it last
    state: str  # the same in words
    since: str  # when that was, UTC


@dataclass(frozen=True)
class DeskReading:
    mark: Hashable  # changes where a file of the desk does
    listed: Sequence[ListedSubmission]  # the one that something happened with last first
    wrong: Sequence[str]  # of each submission that cannot be read: what is wrong with it


def read_desk(home: Path, before: DeskReading | None, *, anyway: bool) -> DeskReading:
    """Read the desk of a data folder; gives ``before`` back where nothing has changed since, unless it is to be read ``anyway``."""
    desk = SubmissionStore(home)
    if anyway:
        remove_leftovers(home)
    mark = tuple(
        (folder.name, file_stamp(folder / NOTES), file_stamp(bundle_of(folder)))
        for folder in (sorted(desk.folder.iterdir()) if desk.folder.is_dir() else [])
    )
    if before is not None and not anyway and before.mark == mark:
        return before
    listed, wrong = desk.listed()
    rows = [
        ListedSubmission(
            number=kept.number,
            manifest=kept.manifest,
            phrase=key_phrase(kept.manifest.by),
            act=kept.state.what,
            state=where_it_stands(kept),
            since=kept.state.when,
        )
        for kept in listed
    ]
    return DeskReading(mark, rows, wrong)


def take_in(home: Path, path: Path) -> str:
    """Check the file of a bundle, keep it at the desk, and return its number; FileError names each member that is refused."""
    return SubmissionStore(home).receive(path).number


@dataclass(frozen=True)
class ToldAnswer:
    """The report to its maker about the last run over secret texts."""

    card: ReleasedCard | ReleasedRefusal | None = None  # None: nothing that is known here
    trouble: str = ""  # why the ledger could not be read


@dataclass(frozen=True)
class SubmissionFacts:
    """One submission at the desk, whose bundle is the one that came."""

    kept: KeptSubmission
    phrase: str  # six words of who signed it
    checks: Sequence[PartCheck]
    steps: Sequence[WayStep]
    end: WayEnd  # what is to be done next
    claim: RunCard | None  # the card that it carries; None where that is not right
    claimed: Mapping[str, float | None]  # its scores, by metric id
    rehearsal: Rehearsal | None  # the last one whose run the store has
    told: ToldAnswer
    readme: str
    runs: Mapping[str, bool]  # ids of its runs that the store has → whether it is complete

    @property
    def judged_run(self) -> str:
        """Id of the last run over secret texts that came to its end; empty where there is none."""
        last = self.kept.last_judged
        return "" if last is None else last.run


@dataclass(frozen=True)
class SubmissionReading:
    mark: Hashable  # changes where a file does in which something of it is written down
    facts: SubmissionFacts | None = None  # none where it cannot be shown; `trouble` says why
    trouble: str = ""


def read_submission_facts(
    store: Path, number: str, before: SubmissionReading | None, *, anyway: bool
) -> SubmissionReading:
    """Read what is known of a submission by number; ``before`` where nothing changed since, unless ``anyway``."""
    # What changes where a file does.
    home = store.parent
    folder = SubmissionStore(home).folder / number
    files = (
        folder / NOTES, bundle_of(folder), store, store.with_name(f"{store.name}-wal"),
        home / FOLDER / ledger.LEDGER, home / FILE, home / f"{FILE}-wal",
    )  # fmt: skip
    mark = tuple(map(file_stamp, files))
    if before is not None and not anyway and before.mark == mark:
        return before
    try:
        facts = _read(store, SubmissionStore(store.parent).find(number))
    except (HarnessError, OSError) as error:
        return SubmissionReading(mark, trouble=str(error))
    return SubmissionReading(mark, facts)


def _read(store: Path, kept: KeptSubmission) -> SubmissionFacts:
    home, submission = store.parent, kept.submission
    with opened(store) as connection:
        if (home / FILE).exists():
            with saying(home / FILE), Office.open(home) as office:
                steps = whole_way(connection, office, kept)
        else:
            steps = whole_way(connection, None, kept)
        end = end_of_way(connection, kept, steps)
        last = kept.last_rehearsal
        run = None if last is None else find_by_id(connection, last.run)
        rehearsal = None if run is None else rehearsed(connection, submission, run.run_id)
        runs = {run.run_id: run.state == "complete" for note in kept.notes if (run := find_by_id(connection, note.run))}
    try:
        card = carried_card(submission.members[CARD])
    except UsageError:
        card = None
    return SubmissionFacts(
        kept=kept,
        phrase=key_phrase(kept.manifest.by),
        checks=check_submission(submission),
        steps=steps,
        end=end,
        claim=card,
        claimed={} if card is None else reproduced_card(card).scores,
        rehearsal=rehearsal,
        told=_told(home, kept),
        readme=submission.members[README].decode("utf-8", "replace"),
        runs=runs,
    )


def _told(home: Path, kept: KeptSubmission) -> ToldAnswer:
    """Return the answer about the last run that was judged, as the ledger has it."""
    last = kept.last_judged
    if last is None:
        return ToldAnswer()
    try:
        answers = [act for _, act in ledger.told_so_far(home).answers]
    except HarnessError as error:
        return ToldAnswer(trouble=str(error))
    answers_here = [act.card for act in answers if isinstance(act, ScoresTold | RefusalTold) and act.run == last.run]
    return ToldAnswer(answers_here[-1] if answers_here else None)
