"""``rosetta verify``: Say what a file is, who signed it, and whether it holds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from corpora.files.json_types import JsonObject
from harness.core.failures import StoreError, UsageError
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import CHECK_SIGNS

with when_used():
    from harness.card.checking import signed
    from harness.store.sqlite import database
    from review.community import folder as export_folder
    from review.verifying import kinds, verifying
    from rosetta_tui.report import paragraphs

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("file", type=_FILE)
@click.option("--with", "--card", "others", type=_FILE, multiple=True, metavar="OTHER", help="Check it against another file: a card, a certificate, evidence, the public key of a node.")  # fmt: skip
@click.option("--words", default="", metavar="WORDS", help="The six words of anyone who should have signed it, as they read them to you.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(file: Path, others: tuple[Path, ...], words: str, *, as_json: bool) -> None:
    """Show what FILE is, who signed it, whether it holds, and what was withdrawn since.

    It knows every kind of file that this program writes for others, and the cards, reports, rows and signed score
    manifests of the reference implementation.

    FILE may be a folder: then there is one line for each file in it, and a total. An export of `rosetta community
    export` is checked as a whole, byte by byte.

    Exit code 0: everything that could be checked holds; 1: something does not; 2: the file cannot be read, or is of
    no known kind.
    """
    with _looked_at(), database.opened() as connection:
        here = kinds.VerifiedAgainst(connection, database.home(), signed.KnownSigners(words=words), others)
        if (file / export_folder.SUMS).is_file():
            # Verify an export of a community; exit code 1 where it was changed, or something in it was
            # withdrawn.
            if here.others:
                raise UsageError("--with is of one file. Name it in place of its folder.")
            checks = export_folder.export_checks(file, database.home(), here.known.words)
            rows = [{"file": export_folder.SUMS, "kind": "community-export", "holds": check.ok, "words": f"{check.name}: {check.words}"} for check in checks]  # fmt: skip
            lines = [f"{CHECK_SIGNS[check.ok]} {check.name}: {check.words}" for check in checks]
            print_form("verify-folder", {"folder": file.name, "files": rows}, lines, as_json=as_json)
            if any(check.ok is False for check in checks):
                sys.exit(1)
            return
        if file.is_dir():
            _folder(file, here, as_json=as_json)
            return
        file_verdict = verifying.verify_any(file, here)
    print_form("verify", file_verdict.as_json(), paragraphs.verdict_lines(file_verdict), as_json=as_json)
    if not file_verdict.holds:
        sys.exit(1)


def _folder(folder: Path, here: kinds.VerifiedAgainst, *, as_json: bool) -> None:
    """Verify each file of a folder; exit code 1 where one does not hold, 2 where none could be examined."""
    if here.others or here.known.words:
        raise UsageError("--with and --words are of one file. Name it in place of its folder.")
    folder_lines = list(verifying.verify_folder(folder, here))
    document: JsonObject = {"folder": folder.name, "files": [folder_line.as_json() for folder_line in folder_lines]}
    lines = paragraphs.folder_lines(folder_lines, verifying.known_kinds())
    print_form("verify-folder", document, lines, as_json=as_json)
    if any(folder_line.holds is False for folder_line in folder_lines):
        sys.exit(1)
    if all(folder_line.verdict is None for folder_line in folder_lines):
        sys.exit(2)


@contextmanager
def _looked_at() -> Iterator[None]:
    """Report a store that fails like any file that cannot be examined: exit code 1 is for what does not hold."""
    try:
        yield
    except StoreError as error:
        raise UsageError(str(error)) from error
