"""What the commands about submissions share: the desk of this computer, and what is said of a bundle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from harness.method.shipped import BUNDLE_SUFFIX
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from harness.sealed import keys
    from harness.store.file import database
    from harness.submission import bundle, checking
    from harness.submission import desk as desks
    from rosetta_tui.submission import words

FILE = click.Path(path_type=Path)
SUBMITTER = click.option("--submitter", metavar="NAME", help="Whose budget the answer counts in. Default: the name in the submission.")  # fmt: skip
NAMED = f"FILE{BUNDLE_SUFFIX}|NUMBER"


def desk() -> desks.SubmissionDesk:
    """Return the submissions of this computer."""
    return desks.SubmissionDesk(database.home())


def kept(name: str) -> desks.KeptSubmission:
    """Return the submission of a file, which the desk takes in, or of a number; raises UsageError, FileError."""
    path = Path(name)
    return desk().receive(path) if path.exists() or name.endswith(BUNDLE_SUFFIX) else desk().find(name)  # fmt: skip


def bundle_at(name: str) -> bundle.Submission:
    """Return the bundle of a file, which stays where it is, or of a number at the desk; raises UsageError, FileError."""
    path = Path(name)
    here = path.exists() or name.endswith(BUNDLE_SUFFIX)
    return bundle.read_submission(path) if here else desk().find(name).submission


def other_names(found: desks.KeptSubmission) -> list[str]:
    """Say under which other names the same key handed in, for two names count as two submitters."""
    own = found.manifest
    names = {e.manifest.submitter for e in desk().all() if e.manifest.by == own.by}  # fmt: skip
    return [
        f"The same key handed in under the name {name!r} too: if they are one, rosetta vault budget --together {own.submitter!r} {name!r}."
        for name in sorted(names - {own.submitter})
    ]


def bundle_lines(found: bundle.Submission) -> Iterator[str]:
    """Yield who handed in what."""
    phrase = keys.key_phrase(found.manifest.by)
    return words.bundle_lines(found.manifest, found.sha256[:16], phrase)


def check_lines(checks: Sequence[checking.PartCheck]) -> Iterator[str]:
    """Yield what was found of each part."""
    width = max(len(each.part) for each in checks)
    for each in checks:
        yield f"  {'✓' if each.ok else '✗'} {each.part.ljust(width)}  {each.words}"


def say(lines: Iterator[str] | Sequence[str], *, aside: bool = True) -> None:
    """Print lines of which some come from outside."""
    for line in lines:
        click.echo(plain(line), err=aside)
