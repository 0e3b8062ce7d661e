"""``rosetta runs list``: List all runs, newest first."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from harness.card.reading import block
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import form_text

with when_used():
    from harness.card import exporting
    from harness.store import runs as store_runs

if TYPE_CHECKING:
    import sqlite3

    from harness.store.run_list import RunSummary


@click.command("list")
@click.option("--tag", "tags", multiple=True, help="Only runs that have this tag; may be repeated.")
@click.option("--deleted", is_flag=True, help="The deleted runs that can be brought back.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(tags: Sequence[str], *, deleted: bool, as_json: bool) -> None:
    """List all runs, newest first."""
    from harness.store.file.database import opened
    from harness.store.notes import tidy_tag
    from harness.store.run_list import list_runs
    from harness.store.withdrawn import withdrawn_names
    from rosetta_tui.show.run_facts import runs_now

    wanted = {tidy_tag(tag) for tag in tags}
    with opened() as connection:
        run_summaries = runs_now(list_runs(connection, deleted=deleted, brief=True))
        inside = _unfinished_inside(connection, run_summaries) if as_json else frozenset()
        others = (
            not run_summaries
            and not deleted
            and bool(list_runs(connection, deleted=True, brief=True))
        )
        gone = [] if run_summaries else withdrawn_names(connection)
    run_summaries = [run for run in run_summaries if wanted <= set(run.tags)]
    if as_json:
        click.echo(form_text("runs-list", [_summary(run, inside) for run in run_summaries]))
        return
    if not run_summaries:
        click.echo(_nothing(wanted, deleted=deleted, others=others, gone=bool(gone)))
        return
    from rosetta_tui.show.run_facts import CAVEATS, OTHER_INPUTS_WORDS, TIER, other_inputs
    from rosetta_tui.show.text import stacked

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    rows = list(_rows([_with_score(run) for run in run_summaries]))
    if width is not None:  # where the columns part, each part begins with the run
        rows = [(run, when, *rest) for when, run, *rest in rows]
    for line in stacked(rows, width, (TIER, CAVEATS)):
        click.echo(line)
    if other_inputs(run_summaries):
        click.echo(OTHER_INPUTS_WORDS)
    if deleted:
        click.echo("A deleted run comes back with: rosetta runs undelete RUN", err=True)
    else:
        _say_how_stopped_go_on([run for run in run_summaries if run.state == "stopped"])


def _say_how_stopped_go_on(stopped: Sequence[RunSummary]) -> None:
    if not all(run.submission for run in stopped):
        click.echo("A stopped run continues with: rosetta resume RUN", err=True)
    for number in dict.fromkeys(run.submission for run in stopped if run.submission):
        click.echo(f"A submission is run again with: rosetta submission run {number}", err=True)


def _with_score(run: RunSummary) -> RunSummary:
    """Return a stopped run with its score so far, which only its entries tell where the store keeps none."""
    from rosetta_tui.show.run_facts import so_far

    if run.state != "stopped" or run.trashed is not None or not run.done or so_far(run):
        return run
    from harness.store.file.database import default_path
    from harness.store.file.openings import Live
    from rosetta_tui.report.unfinished import read_unfinished

    values = read_unfinished(default_path(), run.run_id).progress.values
    return replace(run, live=Live(so_far=dict(values)))


def _nothing(wanted: set[str], *, deleted: bool, others: bool, gone: bool) -> str:
    if others:
        return (
            "All runs are deleted. `rosetta runs list --deleted` shows which can be brought back."
        )
    if gone:
        return "No run can be used: consent was withdrawn. `rosetta consent list` has for what, and who said so."
    if wanted:
        return f"No run has {'this tag' if len(wanted) == 1 else 'these tags'}."
    if deleted:
        return "No deleted run can be brought back."
    return "There are no runs yet. `rosetta demo` makes one: no key, no network."


def _rows(runs: Sequence[RunSummary]) -> Iterator[tuple[str, ...]]:
    """Yield the heading and a line for each run.

    Caveats and the person's words are there only where there are any, and what translations alone have only beside
    one of them.
    """
    from rosetta_tui.show.run_facts import (
        CAVEATS,
        OF_TRANSLATIONS,
        headings,
        other_inputs,
        run_line,
        translates,
    )

    others, head = other_inputs(runs), headings(runs)
    named = "score" in head
    lines = [head, *(run_line(run, other=run.run_id in others, named=named) for run in runs)]
    gone = {CAVEATS} if not any(line[head.index(CAVEATS)] for line in lines[1:]) else set()
    gone |= set() if any(map(translates, runs)) else set(OF_TRANSLATIONS)
    kept = [place for place, name in enumerate(head) if name not in gone]
    lines = [tuple(line[place] for place in kept) for line in lines]
    if not any(run.tags or run.note for run in runs):
        yield from lines
        return
    yield (*lines[0], "tags, note")
    for run, line in zip(runs, lines[1:], strict=True):
        words = [*(f"#{tag}" for tag in run.tags), *run.note.splitlines()[:1]]
        yield (*line, " ".join(words))


def _unfinished_inside(
    connection: sqlite3.Connection, runs: Sequence[RunSummary]
) -> frozenset[str]:
    """Return the ids of runs without a card whose numbers stay inside: of the others the card says it."""
    waiting = [run for run in runs if run.card is None and not run.imported]
    return frozenset(
        run.run_id
        for run in waiting
        if exporting.must_be_released(connection, store_runs.read_run(connection, run.number))
    )


def _summary(run: RunSummary, inside: Collection[str]) -> dict[str, Any]:
    from harness.card.leaving import inside_words
    from rosetta_tui.show.run_facts import iso, leaving

    whole, run = run, leaving(run)
    if run.run_id in inside:
        run = replace(run, failed=0, failures={})
    card = run.card or {}
    return {
        **({"withheld": inside_words(run.run_id)} if run is not whole else {}),
        "run_id": run.run_id,
        "created": iso(run.created),
        "state": run.state,
        "imported": run.imported,
        "unverified": card.get("unverified"),
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
        **_quality(card, run),
        "rescore_of": run.rescore_of or None,
        "retry_of": run.retry_of or None,
        "tags": list(run.tags),
        "note": run.note,
        "deleted": None if run.trashed is None else iso(run.trashed),
        "run_card_hash": card.get("run_card_hash"),
    }


def _quality(card: Mapping[str, Any], run: RunSummary) -> dict[str, Any]:
    from rosetta_tui.show.card_fields import (
        blocks,
        is_reproduced,
        review_of,
        tiers_json,
    )
    from rosetta_tui.show.run_facts import tiered

    scores, review = block(card, "scores"), review_of(card, run.certificates)
    return {
        **({} if tiered(run) else _answers(card, run)),
        "chrf_plus_plus": scores.get("chrf_plus_plus"),
        "composite": scores.get("composite"),
        "composite_profile": scores.get("composite_profile"),
        "composite_inputs": [block.get("metric") for block in blocks(scores, "composite_inputs")],
        **tiers_json(card, review, reproduced=is_reproduced(card, run.checked)),
        "review": None if review is None else review.certificate.outcome,
        "review_suspended": review is not None and review.suspended,
        "certificate_sha256": None if review is None else review.certificate.sha256,
        "total_cost_usd": block(card, "cost").get("total_cost_usd"),
    }


def _answers(card: Mapping[str, Any], run: RunSummary) -> dict[str, Any]:
    """Return the task of a run that is of no translations, and what it is shown by, the headline first."""
    from rosetta_tui.show.run_facts import kept_of, score

    spreads, ids = block(block(card, "scores"), "spread"), kept_of(run).ids
    return {
        "task": block(card, "scoring").get("task") or (run.scoring or {}).get("task"),
        "values": {id_: score(run, id_) for id_ in ids},
        "spread": {id_: spreads[id_] for id_ in ids if id_ in spreads},
    }
