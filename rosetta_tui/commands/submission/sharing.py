"""What the commands about submissions share: the desk of this computer, and facts of a bundle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from corpora.text.near_names import fold
from harness.method.shipped import BUNDLE_SUFFIX
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.sealed import keys
    from harness.store.file import database
    from harness.submission import bundle, checking
    from harness.submission import desk as desks
    from rosetta_tui.submission import messages

if TYPE_CHECKING:
    from harness.submission.manifest import SubmissionManifest

FILE = click.Path(path_type=Path)
SUBMITTER = click.option("--submitter", metavar="NAME", help="Whose budget the answer counts in. Default: the name in the submission.")  # fmt: skip
NAMED = f"FILE{BUNDLE_SUFFIX}|NUMBER"


def desk() -> desks.SubmissionStore:
    """Return the submissions of this computer."""
    return desks.SubmissionStore(database.home())


def kept(name: str) -> desks.KeptSubmission:
    """Return the submission of a file, which the desk takes in, or of a number; raises UsageError, FileError."""
    path = Path(name)
    return desk().receive(path) if path.exists() or name.endswith(BUNDLE_SUFFIX) else desk().find(name)  # fmt: skip


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
    others = {e.by: e.submitter for e in known if e.by != own.by and _alike(e.submitter, own.submitter)}  # fmt: skip
    for key, name in sorted(others.items()):
        yield f"ANOTHER KEY was used under the name {name!r} too: {keys.key_phrase(key)}. One of the two may be somebody else, and both count in one budget: ask by telephone whose six words are whose."


def _alike(one: str, other: str) -> bool:
    return one == other or (fold(one) == fold(other) != "")


def bundle_lines(found: bundle.Submission) -> Iterator[str]:
    """Yield who handed in what, and what is known here of this name and this key next to it."""
    phrase = keys.key_phrase(found.manifest.by)
    yield from messages.bundle_lines(found.manifest, found.sha256[:16], phrase)
    yield from who_else(found.manifest)


def check_lines(checks: Sequence[checking.PartCheck]) -> Iterator[str]:
    """Yield what was found of each part."""
    width = max(len(check.part) for check in checks)
    for check in checks:
        yield f"  {'✓' if check.ok else '✗'} {check.part.ljust(width)}  {check.words}"


def say(lines: Iterator[str] | Sequence[str], *, aside: bool = True) -> None:
    """Print lines of which some come from outside."""
    for line in lines:
        click.echo(plain(line), err=aside)
