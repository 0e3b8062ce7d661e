"""``rosetta report review``: Write what speakers decided, how far they agree, and what it rests on."""

from __future__ import annotations

from pathlib import Path

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.report.writing import to_file, written

with when_used():
    from harness.store.file import database
    from review.office.results import results
    from review.office.store import store
    from rosetta_tui.html import review_page


@click.command("review")
@click.argument("review", default="last")
@click.option("--run", "run_id", metavar="RUN", help="Only this run, in a review of several.")
@to_file("review-REVIEW.html")
def review_(review: str, run_id: str | None, output: Path | None, *, overwrite: bool) -> None:
    """Write the page of REVIEW (its name, the beginning of it, or `last`) from its newest certificates.

    It says what the certificates say, so it does not count as a look at the ratings. `rosetta review page` writes the
    page for the speakers themselves, in their own language.
    """
    with store.Office.open(database.home()) as office:
        reviewed = office.review(review)
        results.refuse_withdrawn(reviewed)
        page = review_page.review_page(office, reviewed, run_id)
    written(page, output or Path(f"review-{reviewed.name}.html"), overwrite=overwrite)
