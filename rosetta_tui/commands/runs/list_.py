"""``rosetta runs list``: List all runs, newest first.
``rosetta runs show``: Show all scores of a run, its note and its tags.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from harness.store.attachments import attached_to, note_of, tags_of
from harness.store.file.database import default_path, home, opened
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import json_text

if TYPE_CHECKING:
    import sqlite3

    from harness.store.run_list import RunSummary


with when_used():
    from harness.card import rows as exporting
    from harness.store import runs as store_runs


@click.command("list")
@click.option("--tag", "tags", multiple=True, help="Only runs that have this tag; may be repeated.")
@click.option("--deleted", is_flag=True, help="The deleted runs that can be brought back.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(tags: Sequence[str], *, deleted: bool, as_json: bool) -> None:
    """List all runs, newest first."""
    from harness.store.attachments import tidy_tag
    from harness.store.file.database import opened
    from harness.store.run_list import list_runs
    from harness.store.withdrawn import withdrawn_names
    from rosetta_tui.show.run_facts import listed_runs, runs_now

    wanted = {tidy_tag(tag) for tag in tags}
    with opened() as connection:
        # JSON has more of the cards than lists show
        run_summaries = (
            runs_now(list_runs(connection, deleted=deleted, brief=True))
            if as_json
            else listed_runs(connection, deleted=deleted)
        )
        inside = _unfinished_inside(connection, run_summaries) if as_json else frozenset()
        others = not run_summaries and not deleted and bool(list_runs(connection, deleted=True, brief=True))
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
    click.echo("\n".join(stacked(rows, width, (TIER, CAVEATS))))
    if other_inputs(run_summaries):
        click.echo(OTHER_INPUTS_WORDS)
    if deleted:
        click.echo("A deleted run comes back with: rosetta runs delete --undo RUN", err=True)
    else:
        _say_how_stopped_go_on([run for run in run_summaries if run.state == "stopped"])


def _say_how_stopped_go_on(stopped: Sequence[RunSummary]) -> None:
    if not all(run.submission for run in stopped):
        click.echo("A stopped run continues with: rosetta resume RUN", err=True)
    for number in dict.fromkeys(run.submission for run in stopped if run.submission):
        click.echo(f"A submission is run again with: rosetta submission run {number}", err=True)


def _with_score(run: RunSummary) -> RunSummary:
    """Return a stopped run with its score so far, which only its entries tell where the store keeps none."""
    if run.state != "stopped" or run.trashed is not None or not run.done or run.so_far:
        return run
    from harness.store.file.database import default_path
    from harness.store.file.openings import Live
    from rosetta_tui.report.unfinished import read_unfinished

    values = read_unfinished(default_path(), run.run_id).progress.values
    return replace(run, live=Live(so_far=dict(values)), line=None)


def _nothing(wanted: set[str], *, deleted: bool, others: bool, gone: bool) -> str:
    if others:
        return "All runs are deleted. `rosetta runs list --deleted` shows which can be brought back."
    if gone:
        return "No run can be used: consent was withdrawn. `rosetta community notices` has for what, and who said so."
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
    from rosetta_tui.show.run_facts import CAVEATS, OF_TRANSLATIONS, headings, other_inputs, run_line, translates

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


def _unfinished_inside(connection: sqlite3.Connection, runs: Sequence[RunSummary]) -> frozenset[str]:
    """Return the ids of runs without a card whose numbers stay inside: of the others the card says it."""
    waiting = [run for run in runs if run.card is None and not run.imported]
    return frozenset(
        run.run_id
        for run in waiting
        if exporting.must_be_released(connection, store_runs.read_run(connection, run.number))
    )


def _summary(run: RunSummary, inside: Collection[str]) -> dict[str, Any]:
    from harness.card.reading import inside_words
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
    from harness.card.reading import block, objects
    from rosetta_tui.show.card_fields import is_reproduced, review_of, tiers_json
    from rosetta_tui.show.run_facts import tiered

    scores, review = block(card, "scores"), review_of(card, run.certificates)
    return {
        **({} if tiered(run) else _answers(card, run)),
        "chrf_plus_plus": scores.get("chrf_plus_plus"),
        "composite": scores.get("composite"),
        "composite_profile": scores.get("composite_profile"),
        "composite_inputs": [block.get("metric") for block in objects(scores, "composite_inputs")],
        **tiers_json(card, review, reproduced=is_reproduced(card, run.checked)),
        "review": None if review is None else review.certificate.outcome,
        "review_suspended": review is not None and review.suspended,
        "certificate_sha256": None if review is None else review.certificate.sha256,
        "total_cost_usd": block(card, "cost").get("total_cost_usd"),
    }


def _answers(card: Mapping[str, Any], run: RunSummary) -> dict[str, Any]:
    """Return the task of a run that is of no translations, and what it is shown by, the headline first."""
    from harness.card.reading import block
    from rosetta_tui.show.card_line import kept_of, score

    spreads, ids = block(block(card, "scores"), "spread"), kept_of(run).ids
    return {
        "task": block(card, "scoring").get("task") or (run.scoring or {}).get("task"),
        "values": {id_: score(run, id_) for id_ in ids},
        "spread": {id_: spreads[id_] for id_ in ids if id_ in spreads},
    }


# ---- Show all scores of a run, its note and its tags ----

with when_used():
    from harness.card import rows
    from harness.run import final_scores
    from harness.store import attachments, run_list, runs
    from review.records import agreeing
    from rosetta_tui.report import card as report_card
    from rosetta_tui.report import paragraphs, unfinished
    from rosetta_tui.report import records as report_records
    from rosetta_tui.show import card_fields


@click.command()
@click.argument("run", default="last")
@click.option("--json", "as_json", is_flag=True, help="Print the whole card as JSON.")
def show(run: str, *, as_json: bool) -> None:
    """Show all scores of RUN (an id, its beginning, `last`, or `last~1` …), with its note and tags.

    For a run that is under way or stopped: how far it is, its score so far, and how to continue it.

    What only this computer knows (note, tags, scores without retried entries, whether anything here supports the
    verification tier that a card states, whether an imported card's scores were scored again here) is in the JSON
    under `beside`, which is not part of the sealed card: `rosetta runs export` writes the card alone. A run with
    secret entries has no JSON: its numbers leave only as a released card (`rosetta runs export --submitter`).
    """
    with opened() as connection:
        stored_run = runs.find_run(connection, run)
        if runs.read_card(connection, stored_run.id) is None and not stored_run.imported:
            _unfinished(connection, stored_run, as_json=as_json)
            return
        card = rows.load_card(connection, stored_run.id).as_json()
        head = runs.read_card(connection, stored_run.id) or {}
        certificates = attached_to(connection, stored_run.id)
        retried = final_scores.retried_scores(connection, stored_run)
        review = card_fields.review_of(card, certificates)
        checked = attachments.checked_here(connection, stored_run.id).get(stored_run.id, attachments.UNCHECKED)
        reproduced = card_fields.is_reproduced(card, checked)
        stated = card_fields.stated_words(card, review, reproduced=reproduced)
        summary = run_list.list_runs(connection, run_id=stored_run.run_id, brief=True)
        evidence = agreeing.evidence_of(connection, stored_run, home())
        beside = _beside(connection, stored_run, retried, stated) | _stated(stored_run, checked.recount)
    if as_json:
        with opened() as connection:
            rows.refuse_to_leave(connection, [stored_run])
        beside["verification"] = report_records.checks_json(evidence)
        beside |= card_fields.owner_json(*summary)
        click.echo(json_text({**card, "beside": beside}))
        return
    if "unverified" in head:
        card["unverified"] = head["unverified"]
    owner = card_fields.owner_words(*summary)
    lines_shown = [paragraphs.line("  owner", owner)] if owner else []
    shown = [*report_records.evidence_lines(evidence), *lines_shown]
    click.echo(report_card.card_text(card, review, reproduced=reproduced, beside=shown))
    for line in _lines(beside, retried):
        click.echo(line)


def _stated(run: runs.Run, found: attachments.Recount | None) -> dict[str, Any]:
    """Return what the scores of an imported card are worth here; nothing for a run of this store, or one that counts."""
    if not run.imported or (found is not None and found.counts):
        return {}
    words = "as its maker stated them; `rosetta runs import CARD --corpus FILE` scores the outputs again"
    if found is not None and found.differences:
        words = f"NOT those of its outputs, scored again here: {'; '.join(found.differences)}"
    return {"scores": words}


def _unfinished(connection: sqlite3.Connection, run: runs.Run, *, as_json: bool) -> None:
    """Show a run that has no card yet."""
    unfinished_run = unfinished.read_unfinished(default_path(), run.run_id)
    beside = _beside(connection, run, None, "")
    if as_json:
        document = unfinished.unfinished_json(unfinished_run, inside=rows.must_be_released(connection, run))
        click.echo(form_text("runs-show-unfinished", {**document, "beside": beside} if beside else document))
        return
    for line in [*unfinished.unfinished_lines(unfinished_run), *_lines(beside, None)]:
        click.echo(line)


def _beside(
    connection: sqlite3.Connection, run: runs.Run, retried: final_scores.RetriedScores | None, stated: str
) -> dict[str, Any]:
    """Return what is next to a card at home; nothing where there is nothing."""
    beside_card = {
        "tags": list(tags_of(connection, run.id)),
        "note": note_of(connection, run.id),
        "retried_scores": None if retried is None else asdict(retried),
        "verification_tier_stated": stated or None,
    }
    return beside_card if any(beside_card.values()) else {}


def _lines(beside: dict[str, Any], retried: final_scores.RetriedScores | None) -> list[str]:
    lines = [] if retried is None else ["", *paragraphs.retried_lines(retried)]
    if beside.get("scores"):
        lines += ["", paragraphs.line("its scores", beside["scores"])]
    if beside.get("tags"):
        lines += ["", paragraphs.line("tags", " ".join(f"#{tag}" for tag in beside["tags"]))]
    first, *rest = beside.get("note", "").splitlines() or [""]
    if first:
        lines += ["", paragraphs.line("note", first), *(paragraphs.line("", line) for line in rest)]
    return lines
