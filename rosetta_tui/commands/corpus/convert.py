"""``rosetta corpus convert``: Write a corpus, or some entries of it, in another form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from corpora.files.problems import CorpusError
from rosetta_tui.commands.corpus.sharing import entry_count, load_told
from rosetta_tui.commands.naming import when_used
from rosetta_tui.request.reading import WRITTEN, print_problems, reading, selecting, selection
from rosetta_tui.show.text import plain

with when_used():
    from corpora.formats import write
    from corpora.model import corpus as model_corpus


@click.command("convert")
@reading
@selecting
@click.option("--to", "to_form", type=click.Choice(WRITTEN), required=True, help="Form to write.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
@click.option(
    "--reference-output",
    type=click.Path(path_type=Path),
    help="Second file of the parallel form.",
)
@click.option("--allow-loss", is_flag=True, help="Write although the form cannot carry everything.")
@click.option("--allow-secret", is_flag=True, help="Write entries of secret segments.")
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
def convert_(
    to_form: str,
    output: Path,
    reference_output: Path | None,
    allow_loss: bool,
    allow_secret: bool,
    overwrite: bool,
    **given: Any,
) -> None:
    """Write FILE, or the chosen entries of it, in another form.

    If the form would lose something, that is named, and nothing is written.
    """
    loaded = load_told(given)
    print_problems(loaded.warnings)
    if not overwrite:
        _refuse_existing(output, reference_output)
    try:
        chosen = _chosen(loaded, given)
        write.write(
            chosen,
            output,
            to_form,
            reference=reference_output,
            lossy=allow_loss,
            allow_secret=allow_secret,
        )
    except CorpusError as error:
        print_problems(error.problems)
        raise click.exceptions.Exit(2) from None
    click.echo(f"Written: {entry_count(len(chosen.entries))}.", err=True)


def _refuse_existing(*paths: Path | None) -> None:
    for path in paths:
        if path is not None and path.exists():
            name = plain(click.format_filename(path))
            raise click.UsageError(f"{name} exists. Choose another name, or give --overwrite.")


def _chosen(loaded: model_corpus.Corpus, given: dict[str, Any]) -> model_corpus.Corpus:
    positions = selection(given).apply(loaded)
    return replace(loaded, entries=tuple(loaded.entries[position] for position in positions))
