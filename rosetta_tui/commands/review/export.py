"""``rosetta review export``: Write results for the governance organisation and researchers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from harness.core.failures import UsageError
from harness.store.file.database import default_path, home
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.text import plain

with when_used():
    from review.office.store import store
    from rosetta_tui.review.organiser import desk as organiser_desk
    from rosetta_tui.review.organiser import export_files


@click.command("export")
@click.argument("review", metavar="[REVIEW]", default="last")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="Folder for the sealed file. Default: this one.")  # fmt: skip
@click.option("--csv", "csv_file", type=click.Path(path_type=Path), help="Instead: the ratings as a table.")  # fmt: skip
@click.option("--comments", is_flag=True, help="With --csv: what people wrote, too.")
@click.option("--mtme", type=click.Path(path_type=Path), help="Instead: a folder as in the metrics shared tasks.")  # fmt: skip
@click.option("--corpus", type=click.Path(path_type=Path), metavar="FILE", help="Instead: the translations that were asked for, as a corpus (.jsonl or .json).")  # fmt: skip
@click.option("--inside", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help="Instead: the certificates with their evidence, to check them here. It holds every single rating: for secret entries it must not leave.")  # fmt: skip
@click.option(
    "--language", metavar="TAG", help="Language of the page for the speakers in the sealed file."
)
@click.option("--allow-secret", is_flag=True, help="With --corpus: write sentences readable that were handed out sealed.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Overwrite files that are there.")
def export_(
    review: str,
    output: Path | None,
    csv_file: Path | None,
    comments: bool,
    mtme: Path | None,
    corpus: Path | None,
    inside: Path | None,
    language: str | None,
    *,
    overwrite: bool,
    allow_secret: bool,
) -> None:
    """Write everything of REVIEW into one file, signed, and sealed for the review's recipients.

    It holds ratings with comments, answer key, policy, run cards, certificates with their evidence, and the page for
    the speakers. With --csv or --mtme instead: tables for researchers, with letters for people. With --corpus
    instead: what speakers translated, as a corpus, from those who agreed to its use. With --inside instead: the
    certificates with their evidence, which for a review with secret entries no other command writes. Writing ratings
    out is a look at them: it is written down, and counts at the gate.
    """
    if sum(each is not None for each in (csv_file, mtme, corpus, inside)) > 1:
        raise UsageError("Choose one of --csv, --mtme, --corpus and --inside.")
    for path in filter(None, (output, csv_file, mtme, corpus, inside)):
        if path.name.startswith("--"):
            raise UsageError(f"{path} is an option, and the one before it wants the name of a file or folder, such as ratings.csv. (A file of that name: ./{path})")  # fmt: skip
    if output is not None and (csv_file or mtme or corpus or inside):
        raise UsageError(
            "-o is for the sealed file: --csv, --mtme, --corpus and --inside each name a place of their own."
        )
    if corpus is not None:
        with store.Office.open(home()) as office:
            _tell(
                export_files.write_corpus(
                    office,
                    office.review(review),
                    corpus,
                    overwrite=overwrite,
                    allow_secret=allow_secret,
                )
            )
        return
    desk = organiser_desk.OrganiserService(home(), default_path())
    if csv_file is not None:
        output = csv_file.parent
        export = desk.export(review, "comments" if comments else "csv", name=csv_file.name)
    elif mtme is not None:
        output = mtme
        export = desk.export(review, "mtme")
    elif inside is not None:
        output = inside
        export = desk.export(review, "inside")
    else:
        export = desk.export(review, "sealed", language=language)
    _tell(export.notes)
    written = export_files.write_export(export, output or Path(), overwrite=overwrite)
    _tell([f"Written: {written[0] if len(written) == 1 else f'{len(written)} files.'}"])


def _tell(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(plain(line), err=True)
