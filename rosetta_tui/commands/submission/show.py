"""``rosetta submission show``: Show how far a submission has come, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.submission.sharing import NAMED, bundle_lines, kept
from rosetta_tui.show.json_forms import print_form

with when_used():
    from harness.store.file import database
    from harness.submission import desk as desks
    from review.office.results import whole_way
    from review.office.store import store
    from review.records import agreeing


@click.command()
@click.argument("submission", metavar=NAMED)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(submission: str, *, as_json: bool) -> None:
    """Show each step from the bundle to the certificate: rehearsed, run over secret texts, told, rated by speakers, decided.

    What is done is read from where it was done. The first step that is not done yet comes with the command that does
    it.
    """
    kept_submission = kept(submission)
    with database.opened() as connection, store.Office.open(database.home()) as office:
        steps = whole_way.whole_way(connection, office, kept_submission)
        end = agreeing.end_of_way(connection, kept_submission, steps)
    document = {
        "number": kept_submission.number,
        "name": kept_submission.manifest.name,
        "submitter": kept_submission.manifest.submitter,
        "steps": [asdict(step) for step in steps],
        "notes": [note.model_dump(mode="json") for note in kept_submission.notes],
    }
    print_form("submission-show", document, _lines(kept_submission, steps, end), as_json=as_json)


def _lines(
    found: desks.KeptSubmission, steps: list[whole_way.WayStep], end: whole_way.WayEnd
) -> Iterator[str]:
    yield from bundle_lines(found.submission)
    width = max(len(step.name) for step in steps)
    for step in steps:
        yield f"  {'✓' if step.done else '·'} {step.name.ljust(width)}  {step.words}"
    if end.step is not None and end.command:
        yield f"Next: {end.command}"
    elif end.step is None:
        yield f"{end.words} What follows from it: {end.command}" if end.command else end.words
