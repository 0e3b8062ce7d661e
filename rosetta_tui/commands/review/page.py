"""``rosetta review page``: Write the result as a page for the speakers themselves."""

from __future__ import annotations

from pathlib import Path

import click

from harness.store.file.database import home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from review.office.results import results
    from review.office.store import store
    from rosetta_tui.review.organiser import export_files


@click.command("page")
@click.argument("review", metavar="[REVIEW]", default="last")
@click.option("--run", "run_id", help="Which run, in a review of several (the beginning of its id).")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: REVIEW-page.html.")
@click.option("--language", metavar="TAG", help="Default: the language of the review.")
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
def page_(
    review: str, run_id: str | None, output: Path | None, language: str | None, overwrite: bool
) -> None:
    """Write what people said in plain words, from the newest certificate of REVIEW.

    Nobody can be recognised on it: with fewer than five people it shows the result alone.
    """
    with store.Office.open(home()) as office:
        reviewed = office.review(review)
        path = output or Path(f"{reviewed.name}-page.html")
        words = export_files.page_words(reviewed, language, home())
        export = export_files.page(
            office, reviewed, results.one_run(reviewed, run_id), path.name, words
        )
    (written,) = export_files.write_export(export, path.parent, overwrite=overwrite)
    for note in export.notes:
        click.echo(plain(note), err=True)
    click.echo(f"Written: {plain(str(written))}", err=True)
