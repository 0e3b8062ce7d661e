"""``rosetta review page``: the result as one page for the speakers themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rosetta_tui.text import plain

if TYPE_CHECKING:
    from review.office.store import Review
    from review.session.words import Words


@click.command("page")
@click.argument("review", metavar="[REVIEW]", default="last")
@click.option("--run", "run_id", help="Of a review of several runs: which (the beginning of its id).")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Default: REVIEW-page.html.")
@click.option("--language", metavar="TAG", help="Default: the language of the review.")
@click.option("--overwrite", is_flag=True, help="Overwrite a file that is there.")
def page_(
    review: str, run_id: str | None, output: Path | None, language: str | None, overwrite: bool
) -> None:
    """Write what people said in plain words, from the newest certificate of REVIEW.

    Nobody can be recognised on it: from fewer than five people it shows the result alone.
    """
    from harness.card.exporting import write_file
    from harness.failures import UsageError
    from harness.store.database import home
    from review.office.results import one_run, page_of
    from review.office.store import Office

    with Office.open(home()) as office:
        found = office.review(review)
        run = one_run(found, run_id)
        text = page_of(office, found, run, words_of(found, language))
    if text is None:
        raise UsageError(
            f"Review {found.name!r} has no certificate of run {run[:8]} yet, and the page says only what one "
            f"says. Issue it with: rosetta review gate {found.name} --issue"
        )
    path = output or Path(f"{found.name}-page.html")
    write_file(path, text.encode(), overwrite=overwrite)
    click.echo(f"Written: {plain(str(path))}", err=True)


def words_of(review: Review, language: str | None) -> Words:
    """Give the words in which a review's page speaks, own catalogues of this installation included."""
    from harness.store.database import home
    from review.session.opening import WORDS_FOLDER
    from review.session.words import Words, checked_tag

    tag = checked_tag(language) if language else review.manifest.language
    return Words.load(tag, (home() / WORDS_FOLDER,))
