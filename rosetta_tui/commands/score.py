"""``rosetta score``: score outputs that were made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rosetta_tui.commands.reading import load_corpus, reading_options, selecting, selection
from rosetta_tui.commands.scoring import scoring_options


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("outputs", type=click.Path(path_type=Path))
@click.option("--reference", type=click.Path(path_type=Path), help="Second file of aligned texts.")
@reading_options
@selecting
@scoring_options
@click.option("--model", help="Name of the system that made the outputs.")
@click.option("--condition", help="Label of the experiment.")
@click.option("--json", "as_json", is_flag=True, help="Print the run card.")
def score(reference: Path | None, as_json: bool, **given: Any) -> None:
    """Score OUTPUTS against the corpus FILE; the result is kept as a run.

    OUTPUTS is a text file with one output a line in the order of the corpus, or JSONL, TSV or CSV with
    the entry's id.
    """
    from rosetta_tui.commands.run import make_plan
    from rosetta_tui.showing import start_and_show

    corpus = load_corpus(given, reference)
    positions = selection(given).apply(corpus)
    plan = make_plan(corpus, {**given, "method": "replay", "outputs": given["outputs"]})
    start_and_show(corpus, positions, plan, "card" if as_json else "summary")
