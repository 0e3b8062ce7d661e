"""``rosetta runs list``: List all runs, newest first."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from harness.store.sqlite.database import default_path, opened

if TYPE_CHECKING:
    from corpora.files.json_types import JsonObject
    from harness.store.run_list import RunSummary


@click.command("list")
@click.option("--where", metavar="FILTER", default="", help="Only runs that fit, such as 'tag:pilot chrf<40'.")
@click.option("--deleted", is_flag=True, help="The deleted runs that can be brought back.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(where: str, *, deleted: bool, as_json: bool) -> None:
    """List all runs, newest first."""
    from harness.store.withdrawn import withdrawn_names
    from rosetta_tui.show.run_facts import listed_runs

    with opened() as connection:
        runs = listed_runs(connection, deleted=deleted, summaries=as_json)
        others = not runs and not deleted and bool(listed_runs(connection, deleted=True))
        gone = [] if runs else withdrawn_names(connection)
        inside = _unfinished_inside(connection, runs) if as_json else frozenset()
        if where:
            from rosetta_tui.show.run_columns import runs_where

            runs = runs_where(connection, runs, where)
    if as_json:
        from rosetta_tui.show.json_forms import rows_text

        click.echo(rows_text("runs-list", (_summary(run, inside) for run in runs)))
        return
    if not runs:
        click.echo(_nothing(where, deleted=deleted, others=others, gone=bool(gone)))
        return
    for line in _lines(list(map(_with_score, runs))):
        click.echo(line)
    if deleted:
        click.echo("A deleted run comes back with: rosetta runs delete --undo RUN", err=True)
    else:
        _say_how_stopped_go_on([run for run in runs if run.state == "stopped"])


def _say_how_stopped_go_on(stopped: Sequence[RunSummary]) -> None:
    if not all(run.submission for run in stopped):
        click.echo("A stopped run continues with: rosetta resume RUN", err=True)
    for number in dict.fromkeys(run.submission for run in stopped if run.submission):
        click.echo(f"A submission is run again with: rosetta submission run {number}", err=True)


def _with_score(run: RunSummary) -> RunSummary:
    """Return a stopped run with its score so far, which only its entries tell where the store keeps none."""
    if run.state != "stopped" or run.trashed is not None or not run.done or run.so_far:
        return run
    from harness.store.sqlite.openings import Live
    from rosetta_tui.report.run import read_unfinished

    values = read_unfinished(default_path(), run.run_id).progress.values
    return run._replace(live=Live(so_far=dict(values)), line=None)


def _nothing(where: str, *, deleted: bool, others: bool, gone: bool) -> str:
    if others:
        return "All runs are deleted. `rosetta runs list --deleted` shows which can be brought back."
    if gone:
        return "No run can be used: consent was withdrawn. `rosetta community notices` has for what, and who said so."
    if where:
        return "No run fits."
    if deleted:
        return "No deleted run can be brought back."
    return "There are no runs yet. `rosetta demo` makes one: no key, no network."


def _lines(runs: Sequence[RunSummary]) -> Iterator[str]:
    """Yield the table of runs in one piece, then what its marks say.

    Caveats and the person's words are there only where there are any, and what translations alone have only beside
    one of them.
    """
    from rosetta_tui.show.run_facts import (
        CAVEATS,
        HEADINGS,
        OF_TRANSLATIONS,
        OTHER_INPUTS_WORDS,
        TIER,
        headings,
        other_inputs,
        run_line,
        translates,
    )
    from rosetta_tui.show.text import stacked

    others, head = other_inputs(runs), headings(runs)
    named = "score" in head
    lines = (run_line(run, other=run.run_id in others, named=named) for run in runs)
    columns = dict(zip(HEADINGS, zip(head, *lines, strict=True), strict=True))
    if not any(columns[CAVEATS][1:]):
        del columns[CAVEATS]
    if not any(map(translates, runs)):
        columns = {name: column for name, column in columns.items() if name not in OF_TRANSLATIONS}
    if any(run.tags or run.note for run in runs):
        words = (" ".join([*(f"#{tag}" for tag in run.tags), *run.note.splitlines()[:1]]) for run in runs)
        columns["notes"] = ("tags, note", *words)
    width = None
    if sys.stdout.isatty():
        from shutil import get_terminal_size

        width = get_terminal_size().columns
        columns = {"run": columns.pop("run"), **columns}  # where the columns part, each part begins with the run
    yield "\n".join(stacked(list(zip(*columns.values(), strict=True)), width, (TIER, CAVEATS)))
    if others:
        yield OTHER_INPUTS_WORDS


def _unfinished_inside(connection: sqlite3.Connection, runs: Sequence[RunSummary]) -> frozenset[str]:
    """Return the ids of runs without a card whose numbers stay inside: of the others the card says it."""
    waiting = [run for run in runs if run.card is None and not run.imported]
    if not waiting:
        return frozenset()
    from harness.card.reading import must_be_released
    from harness.store.runs import read_run

    return frozenset(run.run_id for run in waiting if must_be_released(connection, read_run(connection, run.number)))


def _summary(run: RunSummary, inside: Collection[str]) -> tuple[JsonObject, str]:
    """Return the fields of a row of the list of runs, and the stored line of its card."""
    from rosetta_tui.show.run_facts import iso, line_of

    line, withheld = line_of(run), {}
    if line.inside or run.run_id in inside:
        from harness.card.reading import inside_words  # loads the rules of claims

        run, withheld = run._replace(failed=0, failures={}), {"withheld": inside_words(run.run_id)}
    own = {
        **withheld,
        "run_id": run.run_id,
        "created": iso(run.created),
        "state": run.state,
        "imported": run.imported,
        "stated": run.stated,
        "dataset_id": run.dataset_id,
        "language_pair": run.language_pair,
        "method": run.method,
        "model_slug": run.model_slug,
        "condition": run.condition,
        "total": run.total,
        "done": run.done,
        "failed": run.failed,
        "failures": dict(run.failures),
        "rescore_of": run.rescore_of or None,
        "retry_of": run.retry_of or None,
        "tags": list(run.tags),
        "note": run.note,
        "deleted": None if run.trashed is None else iso(run.trashed),
    }
    return own, line.json_summary
