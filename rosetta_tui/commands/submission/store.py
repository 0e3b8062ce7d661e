"""``rosetta submission show``: Show how far submissions have come, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from corpora.files.json_types import JsonObject
from corpora.text.messages import fold
from harness.method.method_names import BUNDLE_SUFFIX
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import plain, table

if TYPE_CHECKING:
    from harness.submission.bundle import SubmissionManifest


with when_used():
    from harness.sealed import keys
    from harness.store import withdrawn as withdrawals
    from harness.store.sqlite import database
    from harness.submission import bundle, folder
    from harness.submission import desk as desks
    from review.office.results import whole_way
    from review.office.store import store
    from review.records import agreeing
    from rosetta_tui.submission import facts as submission_facts


FILE = click.Path(path_type=Path)
SUBMITTER = click.option("--submitter", metavar="NAME", help="Whose budget the answer counts in. Default: the name in the submission.")  # fmt: skip
NAMED = f"FILE{BUNDLE_SUFFIX}|NUMBER"


def desk() -> desks.SubmissionStore:
    """Return the submissions of this computer."""
    return desks.SubmissionStore(database.home())


def kept(name: str) -> desks.KeptSubmission:
    """Return the submission of a file, which the desk takes in, or of a number; raises UsageError, FileError."""
    path = Path(name)
    return desk().receive(path) if path.exists() or name.endswith(BUNDLE_SUFFIX) else desk().find(name)


def bundle_at(name: str) -> bundle.Submission:
    """Return the bundle of a file, which stays where it is, or of a number at the desk; raises UsageError, FileError."""
    path = Path(name)
    here = path.exists() or name.endswith(BUNDLE_SUFFIX)
    return bundle.read_submission(path) if here else desk().find(name).submission


def who_else(own: SubmissionManifest) -> Iterator[str]:
    """Yield under which other names the key of a submission handed in, for two names count as two submitters, and which other
    keys did under its name, letters that look alike among it, for anyone who has another key may be another person.
    """
    known = [kept_submission.manifest for kept_submission in desk().all()]
    for name in sorted({e.submitter for e in known if e.by == own.by} - {own.submitter}):
        yield f"The same key was also used under the name {name!r} too: if they are one, rosetta vault budget --together {quote(own.submitter)} {quote(name)}"
    others = {e.by: e.submitter for e in known if e.by != own.by and _alike(e.submitter, own.submitter)}
    for key, name in sorted(others.items()):
        yield f"ANOTHER KEY was used under the name {name!r} too: {keys.key_phrase(key)}. One of the two may be somebody else, and both count in one budget: ask by telephone whose six words are whose."


def _alike(one: str, other: str) -> bool:
    return one == other or (fold(one) == fold(other) != "")


def bundle_lines(found: bundle.Submission) -> Iterator[str]:
    """Yield who handed in what, and what is known here of this name and this key next to it."""
    phrase = keys.key_phrase(found.manifest.by)
    yield from submission_facts.bundle_lines(found.manifest, found.sha256[:16], phrase)
    yield from who_else(found.manifest)


def check_lines(checks: Sequence[folder.PartCheck]) -> Iterator[str]:
    """Yield what was found of each part."""
    width = max(len(check.part) for check in checks)
    for check in checks:
        yield f"  {'✓' if check.ok else '✗'} {check.part.ljust(width)}  {check.words}"


def say(lines: Iterator[str] | Sequence[str], *, aside: bool = True) -> None:
    """Print lines of which some come from outside."""
    for line in lines:
        click.echo(plain(line), err=aside)


# ---- List what came, where it stands, and what it cost ----


def _print_list(*, as_json: bool) -> None:
    """Print the submissions that this computer took in, the most recently changed one first."""
    kept_submissions, wrong = desk().listed()
    say(wrong)
    rows: list[tuple[str, ...]] = [("number", "name", "by", "lane", "came in", "where it stands", "runs", "answers")]
    gone = _withdrawn(kept_submissions) if withdrawals.now_standing() else {}
    rows += [_row(kept_submission, withdrawn=kept_submission.number in gone) for kept_submission in kept_submissions]
    lines = table(rows) if kept_submissions else ["No submission has come yet. See: rosetta submission demo."]
    print_form(
        "submission-list",
        {"submissions": [_json(e) | {"withdrawn": gone.get(e.number)} for e in kept_submissions]},
        lines,
        as_json=as_json,
    )


def _withdrawn(found: Sequence[desks.KeptSubmission]) -> dict[str, str]:
    """Return of submissions of whose last run something was taken back, by number, what."""
    with database.opened() as store:
        words = {kept_submission.number: whole_way.withdrawn_words(store, kept_submission) for kept_submission in found}
    return {number: word for number, word in words.items() if word}


def _row(kept: desks.KeptSubmission, *, withdrawn: bool) -> tuple[str, ...]:
    manifest = kept.manifest
    return (
        kept.number,
        manifest.name[:30],
        manifest.submitter[:20],
        manifest.method.lane,
        kept.notes[0].when[:10],
        submission_facts.where_it_stands(kept) + (", WITHDRAWN" if withdrawn else ""),
        str(kept.runs),
        str(kept.answers),
    )


def _json(kept: desks.KeptSubmission) -> dict[str, Any]:
    manifest = kept.manifest
    return {
        "number": kept.number,
        "sha256": kept.sha256,
        "name": manifest.name,
        "submitter": manifest.submitter,
        "lane": manifest.method.lane,
        "state": str(kept.state.what),
        "since": kept.state.when,
        "runs": kept.runs,
        "answers": kept.answers,
    }


# ---- Show how far a submission has come, and what to do next ----


@click.command()
@click.argument("submission", metavar=f"[{NAMED}]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(submission: str | None, *, as_json: bool) -> None:
    """Show each step from the bundle to the certificate: rehearsed, run over secret texts, told, rated by speakers, decided.

    What is done is read from where it was done. The first step that is not done yet comes with the command that does
    it. Without a name: all that came, the most recently changed one first. *Answers* are those that its maker has had:
    scores or refusals, which count in the budget (rosetta vault budget).
    """
    if submission is None:
        _print_list(as_json=as_json)
        return
    kept_submission = kept(submission)
    with database.opened() as connection, store.Office.open(database.home()) as office:
        steps = whole_way.whole_way(connection, office, kept_submission)
        end = agreeing.end_of_way(connection, kept_submission, steps)
    document: JsonObject = {
        "number": kept_submission.number,
        "name": kept_submission.manifest.name,
        "submitter": kept_submission.manifest.submitter,
        "steps": [asdict(step) for step in steps],
        "notes": [note.model_dump(mode="json") for note in kept_submission.notes],
    }
    print_form("submission-show", document, _lines(kept_submission, steps, end), as_json=as_json)


def _lines(found: desks.KeptSubmission, steps: list[whole_way.WayStep], end: whole_way.WayEnd) -> Iterator[str]:
    yield from bundle_lines(found.submission)
    width = max(len(step.name) for step in steps)
    for step in steps:
        yield f"  {'✓' if step.done else '·'} {step.name.ljust(width)}  {step.words}"
    if end.step is not None and end.command:
        yield f"Next: {end.command}"
    elif end.step is None:
        yield f"{end.words} What follows from it: {end.command}" if end.command else end.words
