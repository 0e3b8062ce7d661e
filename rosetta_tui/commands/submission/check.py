"""``rosetta submission check``: Say what a submission lacks, and what in it would be refused."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.submission.sharing import (
    FILE,
    NAMED,
    bundle_at,
    bundle_lines,
    check_lines,
)
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.submission import checking, folder


@click.command()
@click.argument("submission", metavar=NAMED)
@click.option("--terms", type=FILE, metavar="FILE", help="The organisation's terms, which must be those that were accepted.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(submission: str, terms: Path | None, *, as_json: bool) -> None:
    """Check the signature, every member and each part of a submission; nothing in it is run.

    The exit code is 0 if everything is there, 1 if a part is missing, and 2 if the file is refused; then each member
    that is the reason is named.
    """
    bundle = bundle_at(submission)
    wanted = None if terms is None else folder.terms_sha256(terms)
    checks = checking.check_submission(bundle, wanted)
    document = {
        "number": bundle.sha256[:16],
        "sha256": bundle.sha256,
        "name": bundle.manifest.name,
        "submitter": bundle.manifest.submitter,
        "lane": bundle.manifest.method.lane,
        "complete": all(check.ok for check in checks),
        "parts": [{"part": str(e.part), "ok": e.ok, "words": e.words} for e in checks],
    }
    print_form(
        "submission-check", document, (*bundle_lines(bundle), *check_lines(checks)), as_json=as_json
    )
    if not document["complete"]:
        raise click.exceptions.Exit(1)
