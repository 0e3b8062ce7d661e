"""Where a submission is on the whole way: from the bundle to the certificate that lifts its card, and what to do next.

Each step is read from where it was done (the desk, the store, the ledger, the office), so nothing has to be ticked off.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Final

from harness.release.budget import REASONS
from harness.release.ledger_records import LEAST_CONFIRMED
from harness.store.attachments import attached_to
from harness.store.corpora.entries import read_dataset
from harness.store.runs import Run, find_by_id
from harness.store.sqlite.database import store_path
from harness.store.withdrawn import withdrawn_runs
from harness.submission.desk import KeptSubmission, SubmissionEvent
from harness.submission.folder import check_submission
from harness.vault.opening import folder_of
from review.office.results.progress import progress
from review.office.store.store import Office
from review.verdict.certificate.certificate import read_certificate
from review.verdict.gate.adjudication import queue


@dataclass(frozen=True, slots=True)
class WayStep:
    name: str
    done: bool
    words: str  # How it stands
    # What does it, where something is to be done; words in capitals are a person's to fill in
    command: str = ""


_UNDONE: Final = "not yet"
# The names of all steps of a way that is gone to its end
STEPS: Final = (
    "came in", "complete", "rehearsed", "run over secret texts", "report released",
    "confirmation", "speakers are asked", "ratings are here", "the gate decided", "certificate at the card",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WayEnd:
    """What follows from how far a way is gone."""

    step: WayStep | None  # The next step; None where the way is at its end
    words: str  # Why it is at its end
    command: str  # What to do; empty where nothing is


def whole_way(connection: sqlite3.Connection, office: Office | None, kept: KeptSubmission) -> list[WayStep]:
    lacking = [str(check.part) for check in check_submission(kept.submission) if not check.ok]
    parts = f"missing: {', '.join(lacking)}" if lacking else "every part is there"
    claim = "its claim holds within 2 %" if kept.rehearsed else _UNDONE
    if any(note.what is SubmissionEvent.NOT_REPEATED for note in kept.notes) and not kept.rehearsed:
        claim = "its claim does not hold here"
    steps = [
        WayStep("came in", done=True, words=kept.notes[0].when[:10]),
        WayStep("complete", not lacking, parts, f"rosetta submission check {kept.number}"),
        WayStep("rehearsed", kept.rehearsed, claim, f"rosetta submission run {kept.number}"),
        *_over_secrets(connection, office, kept),
    ]
    if _refused(kept):
        return steps
    ahead = [name for name in STEPS if name not in {step.name for step in steps}]
    return [*steps, *(WayStep(name, done=False, words=_UNDONE) for name in ahead)]


def what_follows(kept: KeptSubmission, steps: Sequence[WayStep]) -> WayEnd:
    """Return the first step that is to be done with its command, or in which way this is at its end."""
    if (following := next((step for step in steps if not step.done), None)) is not None:
        return WayEnd(following, "", following.command)
    if _refused(kept):
        return WayEnd(None, "The way ends here: nothing of it could be scored. Its maker may hand in another version.", "")  # fmt: skip
    return WayEnd(None, "The way is at its end: the certificate is next to the card.", "")


def _refused(kept: KeptSubmission) -> bool:
    """Return whether nothing could be scored in the last run over secret texts."""
    last = kept.last_judged
    return last is not None and last.what is SubmissionEvent.REFUSED


def _over_secrets(connection: sqlite3.Connection, office: Office | None, kept: KeptSubmission) -> Iterator[WayStep]:
    last = kept.last_judged
    command = f"rosetta submission run {kept.number} CORPUS --terms FILE"
    if kept.last_rehearsal is not None and kept.last_rehearsal.words:
        model, _, endpoint = kept.last_rehearsal.words.rpartition(" at ")
        command += f" --model {quote(model)} --endpoint {quote(endpoint)}"
    name = "run over secret texts"
    if last is None:
        # What became of runs that gave nothing to tell
        words = {
            SubmissionEvent.BEGUN: "it was begun and cut: a grant that was used up is not used again, and the keepers are asked once more",
            SubmissionEvent.NOT_RUN: f"not run, through no fault of the method: {kept.state.words}",
        }.get(kept.state.what, _UNDONE)
        yield WayStep(name, done=False, words=words, command=command)
        return
    if last.what is SubmissionEvent.REFUSED:
        yield WayStep(name, done=True, words=f"nothing could be scored; it stopped at: {last.words}")
    else:
        before = len({e.run for e in kept.notes if e.what is SubmissionEvent.SCORED}) - 1
        others = f", the newest; {before} before it: rosetta runs list" if before else ""
        yield WayStep(name, done=True, words=f"run {last.run[:8]} over {last.corpus}{others}")
    run = find_by_id(connection, last.run) if last.what is SubmissionEvent.SCORED else None
    gone = withdrawn_words(connection, kept)
    is_released = any(e.what is SubmissionEvent.TOLD and e.run == last.run for e in kept.notes)
    if is_released or not gone:
        command = f"rosetta submission tell {kept.number}"
        command = command if run is None else opening_command(connection, run, command)
        yield WayStep("report released", is_released, f"answers so far: {kept.answers}" if is_released else _UNDONE, command)  # fmt: skip
    if is_released and run is not None:
        yield _confirmation(connection, kept, run)
    if gone:
        yield WayStep("its run", done=False, words=gone, command="rosetta community notices")
    elif run is not None:
        yield from by_people(connection, office, run)
    elif last.what is SubmissionEvent.SCORED:
        yield WayStep("its run", done=False, words="the store does not have it any more", command=command)


def _confirmation(connection: sqlite3.Connection, kept: KeptSubmission, run: Run) -> WayStep:
    """Return whether claims may rest on a run whose scores were released, and what gives them such a run."""
    words = next(e.words for e in reversed(kept.notes) if e.what is SubmissionEvent.TOLD and e.run == run.run_id)
    if words == "confirmed":
        return WayStep("confirmation", done=True, words="no scores over its entries were released before")
    vault = (read_dataset(connection, run.corpus).opened_from or "").partition("/")[0]
    folder = folder_of(store_path(connection).parent, vault) if vault else ""
    command = f"rosetta vault check-up {quote(folder) if folder else 'FOLDER'} CORPUS --do rotate --count {LEAST_CONFIRMED} --purpose WORDS"
    why = next((why for short, why in REASONS.items() if short == words), "its card does not say so")
    return WayStep("confirmation", done=False, words=f"not confirmed: {why}; after the command below, rosetta submission run {kept.number} CORPUS --confirm", command=command)  # fmt: skip


def withdrawn_words(connection: sqlite3.Connection, kept: KeptSubmission) -> str:
    """Return what was taken back of the last run over secret texts; empty where nothing was, or the store does not have it."""
    last = kept.last_judged
    if (run := None if last is None else find_by_id(connection, last.run)) is None:
        return ""
    notices = withdrawn_runs(connection, run.id).values()
    for notice in notices:
        return f"consent was withdrawn for {notice.said}: nothing more comes of it"
    return ""


def by_people(connection: sqlite3.Connection, office: Office | None, run: Run) -> Iterator[WayStep]:
    """Yield the steps that speakers do: a review of a run, its ratings, its certificate, and the certificate at the card."""
    reviews = [] if office is None else [e for e in office.reviews() if any(r.run_id == run.run_id for r in e.key.runs)]
    if office is None or not reviews:
        yield WayStep("speakers are asked", done=False, words=_UNDONE, command=opening_command(connection, run, f"rosetta review create {run.run_id[:8]} --reviewers NUMBER --items NUMBER -o STICK --for LAPTOP-FILE"))  # fmt: skip
        return
    review = reviews[-1]
    yield WayStep("speakers are asked", done=True, words=f"review {review.name}")
    review_progress = progress(office, review)
    words = f"{review_progress.done:,} of {review_progress.asked:,} decisions"
    issued = [c for c in office.certificates(review) if c.run_id == run.run_id]
    yield WayStep("ratings are here", bool(issued) or 0 < review_progress.asked <= review_progress.done, words, "rosetta review import STICK --enrol")  # fmt: skip
    flagged = sum(case.is_open for case in queue(office.state_of_any(review), review.key))
    if flagged:
        words = f"{flagged} of the sentences were called harmful, and nobody decided"
        yield WayStep("what was flagged is decided", done=False, words=words, command=opening_command(connection, run, f"rosetta review adjudicate {quote(review.name)}"))  # fmt: skip
    command = f"rosetta review gate {quote(review.name)} --issue"
    again = bool(issued) and issued[-1].recompute
    # What the newest certificate says, as it is called; empty where there is none
    newest = read_certificate(issued[-1].certificate, "it") if issued else None
    outcome = "" if newest is None else str(newest.outcome).replace("_", "-")
    words = "ratings were taken back since: issue it again" if again else f"it says {outcome}" if outcome else _UNDONE
    yield WayStep("the gate decided", bool(issued) and not again, words, command)
    beside = [attached for attached in attached_to(connection, run.id) if not attached.suspended]
    words, command = _UNDONE, "rosetta review attach NAME.certificate.json"
    if outcome not in {"", "go"}:
        words = f"only a go is there, and the gate says {outcome}"
        command = f"rosetta review gate {quote(review.name)}"
    if beside:
        words = "the run's card shows it"
    yield WayStep("certificate at the card", bool(beside), words, command)


def opening_command(connection: sqlite3.Connection, run: Run, command: str) -> str:
    """Return a command with what opens the texts of a run from a vault."""
    vault = (read_dataset(connection, run.corpus).opened_from or "").partition("/")[0]
    if not vault:
        return command
    folder = folder_of(store_path(connection).parent, vault)
    return f"{command} --vault {quote(folder) if folder else 'FOLDER'} --purpose WORDS"
