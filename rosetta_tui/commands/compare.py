"""``rosetta compare``: Tell which run is better, and how sure that is."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Sequence

import click

from harness.core.failures import UsageError
from harness.store.file.database import opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import form_text

with when_used():
    from harness.compare import comparing, comparison
    from rosetta_tui.compare import lines, values
    from rosetta_tui.show import metric_words


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN [RUN]...")
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME",
    help="Compare by this metric only (chrf, bleu, exact, composite …); may be given several times.",
)  # fmt: skip
@click.option("--baseline", metavar="RUN", help="Compare every other run with this one only.")
@click.option(
    "--entries", "most", type=click.IntRange(0), default=0, metavar="N",
    help="Show the N entries on which the runs differ most.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True)
@click.option(
    "--draws", type=click.IntRange(100, 1_000_000), default=1000, show_default=True,
    help="Resamples of the bootstrap; there are ten times as many shuffles.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(
    runs: Sequence[str],
    metrics: Sequence[str],
    baseline: str | None,
    most: int,
    seed: int,
    draws: int,
    as_json: bool,
) -> None:
    """Compare two to six RUNs on the entries that all of them have.

    A RUN is an id, its beginning, `last`, or `last~1` for the one before. Runs that do not compare are named
    with the reason. Texts of secret entries are never printed.
    """
    metrics = [metric_words.metric_asked(words, "--metric") for words in metrics]
    with opened() as connection:
        found = comparing.compare_runs(
            connection,
            runs,
            metrics=metrics or None,
            baseline=baseline,
            draws=draws,
            trials=10 * draws,
            seed=seed,
        )
        comparing.require_two(found)
        _show(connection, found, most, metrics, as_json=as_json)
    if found.refused:
        sys.exit(2)


def _show(
    connection: sqlite3.Connection,
    found: comparison.Comparison,
    most: int,
    metrics: Sequence[str],
    *,
    as_json: bool,
) -> None:
    metric = _by(found, metrics) if most else ""
    places = found.entries.spread_first(metric)[:most] if most else []
    texts = comparison.open_texts(connection, found.entries, found.sides, places)
    if as_json:
        shown = values.comparison_json(found)
        if most:
            shown["biggest_differences"] = values.entries_json(found, metric, places, texts)
        click.echo(form_text("compare", shown))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in lines.comparison_lines(found, width):
        click.echo(line)
    if most:
        for line in lines.entry_lines(found, metric, places, texts):
            click.echo(line)
    for line in lines.refusals(found):
        click.echo(line, err=True)


def _by(found: comparison.Comparison, metrics: Sequence[str]) -> str:
    """Choose the metric by which entries are shown: the first asked for that single entries have, else chrF++."""
    there = found.entries.values
    for metric in (*metrics, "chrf_plus_plus", *there):
        if metric in there:
            return metric
    raise UsageError(
        "--entries: single entries have no value of this metric; it is one of a whole corpus. Name another "
        "one, such as --metric chrf_plus_plus."
    )
