"""``rosetta runs show``: Show all scores of a run, its note and its tags.
``rosetta runs note``: Write a note beside a run, or give it tags.
``rosetta runs delete``: Delete runs, or bring back deleted ones within a week.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from harness.core.failures import UsageError
from harness.store.attachments import change_words, note_of, tags_of
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import json_text, plain

with when_used():
    from harness.card import reading, rows
    from harness.run import final_scores
    from harness.store import attachments, deletion, run_list, runs
    from harness.store.corpora import entries as corpora_entries
    from harness.store.sqlite import database
    from review.records import agreeing
    from rosetta_tui.report import card as report_card
    from rosetta_tui.report import paragraphs
    from rosetta_tui.report import run as report_run
    from rosetta_tui.show import card_fields


@click.command()
@click.argument("run")
@click.argument("text", required=False)
@click.option("--tag", "tags", multiple=True, help="A word to find the run again, `rosetta runs list --where tag:WORD`; may be repeated.")  # fmt: skip
@click.option("--remove", is_flag=True, help="Take the note away; with --tag, these tags.")
def note(run: str, text: str | None, tags: Sequence[str], *, remove: bool) -> None:
    """Write TEXT beside RUN, in place of the note that was there; without TEXT, print it. With --tag, give RUN tags.

    TEXT `-` reads the note from standard input. Notes and tags stay in this store: a sealed card never changes, so
    `rosetta runs export` writes none.
    """
    if remove and text is not None:
        raise UsageError("--remove takes no text: leave one of them out.")
    words = sys.stdin.read() if text == "-" else text
    with database.opened() as connection:
        number = runs.find_run(connection, run).id
        if words is not None or (remove and not tags):
            change_words(connection, number, note=words or "")
        if tags:
            add, gone = ((), tags) if remove else (tags, ())
            left = change_words(connection, number, add=add, remove=gone)
            click.echo(plain(f"{run}: {', '.join(left) or 'no tags'}"), err=True)
        elif words is None and not remove:
            for line in note_of(connection, number).splitlines():
                click.echo(plain(line))


# ---- Delete runs; for a week they can be brought back ----


@click.command()
@click.argument("names", nargs=-1, metavar="RUN...")
@click.option("--undo", is_flag=True, help="Bring back deleted RUNs; without a name, the one that was deleted last.")
@click.option("--now", is_flag=True, help="Erase for good at once; also runs deleted before.")
@click.option("--yes", is_flag=True, help="Do not ask before erasing.")
def delete(names: Sequence[str], *, undo: bool, now: bool, yes: bool) -> None:
    """Delete RUNs; --undo brings them back within a week. `rosetta runs list --deleted` lists those.

    After a week the next start of the app erases them with all their outputs, and whatever nothing else needs. --now
    erases at once. A run with secret entries is always erased at once.
    """
    if undo:
        if now or yes:
            raise UsageError("--undo brings runs back: leave --now and --yes out.")
        _bring_back(names or ("last",))
        return
    if not names:
        raise click.UsageError("Name the runs: rosetta runs delete RUN...")
    with database.opened() as connection:
        chosen = {run.id: run for run in (_find(connection, name, now=now) for name in names)}
        for run in chosen.values():
            deletion.refuse_under_way(run)
        doomed = [run for run in chosen.values() if now or corpora_entries.holds_secrets(connection, run)]
        if doomed and not yes:
            _ask(doomed)
        gone = {run.id for run in doomed}
        for run in chosen.values():
            if run.id in gone:
                deletion.erase(connection, run)
                click.echo(f"Erased: {plain(run.run_id)}", err=True)
            else:
                deletion.trash(connection, run.id)
                message = f"Deleted: {run.run_id}. Back with: rosetta runs delete --undo {run.run_id[:8]}"
                click.echo(plain(message), err=True)


def _find(connection: sqlite3.Connection, name: str, *, now: bool) -> runs.Run:
    """Find a run; one that is put away only where it is to be erased, and is named by its id."""
    try:
        return runs.find_run(connection, name, withdrawn=True)
    except UsageError:
        if not now or runs.runs_back(name) is not None:
            raise
        try:
            return runs.find_trashed(connection, name)
        except UsageError:
            pass
        raise


def _ask(chosen: Sequence[runs.Run]) -> None:
    if not sys.stdin.isatty():
        raise UsageError("Erasing asks on a terminal; here, add --yes if you are sure.")
    for run in chosen:
        setup = run.setup
        click.echo(plain(f"{run.run_id[:8]}  {run.dataset_id}  {setup.method}  {setup.model_slug}"), err=True)
    click.confirm(f"Erase {len(chosen)} run(s) for good?", abort=True, err=True)


def _bring_back(names: Sequence[str]) -> None:
    with database.opened() as connection:
        for run in [runs.find_trashed(connection, name) for name in names]:
            deletion.bring_back(connection, run.id)
            click.echo(plain(f"Back: {run.run_id}"), err=True)


# ---- Show all scores of a run, its note and its tags ----


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
    with database.opened() as connection:
        stored_run = runs.find_run(connection, run)
        if runs.read_card(connection, stored_run.id) is None and not stored_run.imported:
            _unfinished(connection, stored_run, as_json=as_json)
            return
        card = (rows.load_card if as_json else rows.load_head)(connection, stored_run.id).as_json()
        head = runs.read_card(connection, stored_run.id) or {}
        certificates = attachments.attached_to(connection, stored_run.id)
        retried = final_scores.retried_scores(connection, stored_run)
        review = card_fields.review_of(card, certificates)
        checked = attachments.checked_here(connection, stored_run.id).get(stored_run.id, attachments.UNCHECKED)
        reproduced = card_fields.is_reproduced(card, checked)
        stated = card_fields.stated_words(card, review, reproduced=reproduced)
        summary = run_list.list_runs(connection, run_id=stored_run.run_id, brief=True)
        evidence = agreeing.evidence_of(connection, stored_run, database.home())
        beside = _beside(connection, stored_run, retried, stated) | _stated(stored_run, checked.recount)
    if as_json:
        with database.opened() as connection:
            reading.refuse_to_leave(connection, [stored_run])
        beside["verification"] = paragraphs.checks_json(evidence)
        beside |= card_fields.owner_json(*summary)
        click.echo(json_text({**card, "beside": beside}))
        return
    if "unverified" in head:
        card["unverified"] = head["unverified"]
    owner = card_fields.owner_words(*summary)
    lines_shown = [paragraphs.line("  owner", owner)] if owner else []
    shown = [*paragraphs.evidence_lines(evidence), *lines_shown]
    click.echo(report_card.card_text(card, review, reproduced=reproduced, beside=shown))
    for line in _beside_lines(beside, retried):
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
    unfinished_run = report_run.read_unfinished(database.default_path(), run.run_id)
    beside = _beside(connection, run, None, "")
    if as_json:
        document = report_run.unfinished_json(unfinished_run, inside=reading.must_be_released(connection, run))
        click.echo(form_text("runs-show-unfinished", {**document, "beside": beside} if beside else document))
        return
    for line in [*report_run.unfinished_lines(unfinished_run), *_beside_lines(beside, None)]:
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


def _beside_lines(beside: dict[str, Any], retried: final_scores.RetriedScores | None) -> list[str]:
    lines = [] if retried is None else ["", *paragraphs.retried_lines(retried)]
    if beside.get("scores"):
        lines += ["", paragraphs.line("its scores", beside["scores"])]
    if beside.get("tags"):
        lines += ["", paragraphs.line("tags", " ".join(f"#{tag}" for tag in beside["tags"]))]
    first, *rest = beside.get("note", "").splitlines() or [""]
    if first:
        lines += ["", paragraphs.line("note", first), *(paragraphs.line("", line) for line in rest)]
    return lines
