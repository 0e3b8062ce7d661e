"""``rosetta compare``: Tell which run is better, and how sure that is."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from harness.core.failures import UsageError
from harness.store.file.database import opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import json_text, plain

if TYPE_CHECKING:
    from scoring.core.packs import Pack

with when_used():
    from harness.card import exporting
    from harness.compare import comparing, comparison, reported
    from rosetta_tui.compare import lines, values
    from scoring.core import inventory, packs
    from scoring.packs import views


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME",
    help="Compare by this metric only (chrf, composite, lbrag.f1, wer …); may be given several times.",
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
@click.option(
    "--view", metavar="PACK",
    help="Print the numbers as the document of a pack reports them (lbrag, au, nest); one RUN will do.",
)  # fmt: skip
@click.option(
    "--form", type=click.Choice(["lbrag-metrics"]),
    help="Print the content of the metrics.json of lbrag.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(
    runs: Sequence[str],
    metrics: Sequence[str],
    baseline: str | None,
    most: int,
    seed: int,
    draws: int,
    view: str | None,
    form: str | None,
    as_json: bool,
) -> None:
    """Compare two to six RUNs on the entries that all of them have.

    A RUN is an id, its beginning, `last`, or `last~1` for the one before. Runs that do not compare are named
    with the reason. Texts of secret entries are never printed.
    """
    if view is not None or form is not None:
        if metrics or most or as_json:
            raise UsageError(
                "--view goes with --baseline and --form only: it prints all numbers of a pack."
            )
        _report(runs, view or "lbrag", baseline, form)
        return
    metrics = [comparing.metric_asked(words, "--metric") for words in metrics]
    with opened() as connection:
        comparison = comparing.compare_runs(
            connection,
            runs,
            metrics=metrics or None,
            baseline=baseline,
            draws=draws,
            trials=10 * draws,
            seed=seed,
        )
        comparing.require_two(comparison)
        _show(connection, comparison, most, metrics, as_json=as_json)
    if comparison.refused:
        sys.exit(2)


def _report(runs: Sequence[str], view: str, baseline: str | None, form: str | None) -> None:
    """Print runs as the document of a pack reports its metrics."""
    pack = packs.pack_named(inventory.pack_called(view) or view)
    if pack is None or not pack.view:
        known = ", ".join(
            shipped_pack.name for shipped_pack in packs.shipped_packs() if shipped_pack.view
        )
        raise UsageError(f"--view: there is no view {view[:40]!r}; there are {known}.")
    if form is not None and pack.name != "lbrag":
        raise UsageError("--form lbrag-metrics goes with --view lbrag.")
    with opened() as connection:
        reported_runs = reported.reported_runs(connection, runs, pack, baseline)
        inside = form and any(
            exporting.must_be_released(connection, reported_run.run)
            for reported_run in reported_runs
        )
    systems = {reported_run.name: reported_run.totals for reported_run in reported_runs}
    if form is not None:
        if inside:
            raise UsageError(_INSIDE)
        click.echo(json_text(views.lbrag_metrics(systems)))
        return
    lines = views.lbrag_summary(systems) if pack.name == "lbrag" else _figures(pack, systems)
    for line in lines:
        click.echo(plain(line))


def _figures(pack: Pack, systems: Mapping[str, views.RunTotals]) -> Iterator[str]:
    for name, totals in systems.items():
        yield from (
            name,
            *(f"  {line}" for line in views.figure_lines(views.figures(pack, totals))),
        )


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
        if found.entries.secret.any():
            raise UsageError(_INSIDE)
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


_INSIDE = (
    "These runs have secret entries: how they differ leaves in no file or pipe but as a signed, coarse and counted difference: "
    "rosetta vault compare RUN RUN -o FILE. Without --json it is shown here."
)


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
