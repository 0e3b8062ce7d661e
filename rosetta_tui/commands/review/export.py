"""``rosetta review export``: results for the governance organisation and for researchers."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rosetta_tui.text import plain

if TYPE_CHECKING:
    from review.office.store import Office, Review


@click.command("export")
@click.argument("review", metavar="[REVIEW]", default="last")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), default=Path(), help="Folder for the sealed file.")  # fmt: skip
@click.option("--csv", "csv_file", type=click.Path(path_type=Path), help="Instead: the ratings as a table.")  # fmt: skip
@click.option("--comments", is_flag=True, help="With --csv: what people wrote, too.")
@click.option("--mtme", type=click.Path(path_type=Path), help="Instead: a folder as in the metrics shared tasks.")  # fmt: skip
@click.option("--language", metavar="TAG", help="Of the page for the speakers in the sealed file.")
@click.option("--overwrite", is_flag=True, help="Overwrite files that are there.")
def export_(
    review: str,
    output: Path,
    csv_file: Path | None,
    comments: bool,
    mtme: Path | None,
    language: str | None,
    overwrite: bool,
) -> None:
    """Write everything of REVIEW into one file, signed, and sealed for the review's recipients.

    It holds ratings with comments, answer key, policy, run cards, certificates with their evidence, and the
    page for the speakers. With --csv or --mtme instead: tables for researchers, people as letters.
    """
    from harness.failures import UsageError
    from harness.store.database import home
    from review.office.store import Office

    if csv_file is not None and mtme is not None:
        raise UsageError("Choose one of --csv and --mtme.")
    with Office.open(home()) as office:
        found = office.review(review)
        if csv_file is not None:
            files = _table(office, found, csv_file, comments)
        elif mtme is not None:
            files = _layout(office, found, mtme)
        else:
            files = _sealed(office, found, output, language)
    _write(files, overwrite)


def _write(files: dict[Path, bytes], overwrite: bool) -> None:
    from harness.card.exporting import write_file
    from harness.failures import UsageError

    taken = [path for path in files if path.exists()]
    if taken and not overwrite:
        raise UsageError(f"{taken[0]} is there already. Choose another place, or add --overwrite.")
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content, overwrite=overwrite)
    if len(files) == 1:
        click.echo(f"Written: {plain(str(next(iter(files))))}", err=True)
    else:
        click.echo(f"Written: {len(files)} files.", err=True)


def _table(office: Office, review: Review, path: Path, comments: bool) -> dict[Path, bytes]:
    from harness.failures import UsageError
    from review.office.rating_rows import rating_rows, ratings_csv, secret

    if comments and secret(review.key):
        raise UsageError(
            "Comments may quote the texts, and entries of this review are secret. Leave --comments away; "
            "the sealed file (without --csv) holds them."
        )
    rows = rating_rows(review.key, office.state(review), free_text=comments)
    if not rows:
        click.echo("Nobody has rated yet; the table has a heading only.", err=True)
    return {path: ratings_csv(rows)}


def _layout(office: Office, review: Review, folder: Path) -> dict[Path, bytes]:
    from harness.store.database import open_store
    from review.office.mtme import mtme_files
    from review.office.rating_rows import rating_rows
    from review.office.results import run_cards

    rows = rating_rows(review.key, office.state(review), free_text=False)
    with closing(open_store()) as store:
        files = mtme_files(review.key, rows, run_cards(store, review))
    return {folder / name: content for name, content in files.items()}


def _sealed(
    office: Office, review: Review, folder: Path, language: str | None
) -> dict[Path, bytes]:
    from harness.store.database import home, open_store
    from review.files.keys import Identity, Role
    from review.office.bundle import bundle_name, governance_bundle
    from review.office.results import of_runs
    from review.office.store import utc_now
    from rosetta_tui.commands.review.page import words_of

    identity = Identity.load(home(), Role.ORGANISATION)
    words = words_of(review, language)
    with closing(open_store()) as store:
        gathered = of_runs(office, review, store, identity.public.signing_key, words)
    for run_id, of_run in gathered.items():
        if of_run.card is None:
            click.echo(
                f"Run {run_id[:8]} is no longer in the store: its card is left out.", err=True
            )
        if of_run.evidence is None:
            click.echo(
                f"Run {run_id[:8]} has no certificate yet (rosetta review gate --issue).", err=True
            )
    sealed = governance_bundle(office, review, gathered, identity, utc_now())
    opens = ", ".join(f"{each[:12]}…" for each in review.manifest.organisation.recipients)
    click.echo(f"It can be opened with any of these keys, each alone: {plain(opens)}", err=True)
    return {folder / bundle_name(review): sealed}
