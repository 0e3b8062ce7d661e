"""``rosetta runs show``: Show all scores of a run, its note and its tags."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from typing import Any

import click

from harness.store.file.database import default_path, home, opened
from harness.store.notes import attached_to, note_of, tags_of
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.card_fields import is_reproduced, review_of, stated_words
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import json_text

with when_used():
    from harness.card import exporting, load
    from harness.run import final_scores
    from harness.store import others_cards, run_list, runs
    from review.records import paths
    from rosetta_tui.report import card as report_card
    from rosetta_tui.report import paragraphs, unfinished
    from rosetta_tui.report import records as report_records
    from rosetta_tui.show import owners


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
        card = load.load_card(connection, stored_run.id).as_json()
        head = runs.read_card(connection, stored_run.id) or {}
        certificates = attached_to(connection, stored_run.id)
        retried = final_scores.retried_scores(connection, stored_run)
        review = review_of(card, certificates)
        checked = others_cards.checked_here(connection, stored_run.id).get(
            stored_run.id, others_cards.UNCHECKED
        )
        reproduced = is_reproduced(card, checked)
        stated = stated_words(card, review, reproduced=reproduced)
        summary = run_list.list_runs(connection, run_id=stored_run.run_id, brief=True)
        evidence = paths.evidence_of(connection, stored_run, home())
        beside = _beside(connection, stored_run, retried, stated) | _stated(
            stored_run, checked.recount
        )
    if as_json:
        with opened() as connection:
            exporting.refuse_to_leave(connection, [stored_run])
        beside["verification"] = report_records.checks_json(evidence)
        beside |= owners.owner_json(*summary)
        click.echo(json_text({**card, "beside": beside}))
        return
    if "unverified" in head:
        card["unverified"] = head["unverified"]
    owner = owners.owner_words(*summary)
    lines_shown = [paragraphs.line("  owner", owner)] if owner else []
    shown = [*report_records.evidence_lines(evidence), *lines_shown]
    click.echo(report_card.card_text(card, review, reproduced=reproduced, beside=shown))
    for line in _lines(beside, retried):
        click.echo(line)


def _stated(run: runs.Run, found: others_cards.Recount | None) -> dict[str, Any]:
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
        document = unfinished.unfinished_json(
            unfinished_run, inside=exporting.must_be_released(connection, run)
        )
        click.echo(
            form_text(
                "runs-show-unfinished", {**document, "beside": beside} if beside else document
            )
        )
        return
    for line in [*unfinished.unfinished_lines(unfinished_run), *_lines(beside, None)]:
        click.echo(line)


def _beside(
    connection: sqlite3.Connection,
    run: runs.Run,
    retried: final_scores.RetriedScores | None,
    stated: str,
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
