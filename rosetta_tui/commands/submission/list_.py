"""``rosetta submission list``: List what came, where it stands, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from rosetta_tui.commands.naming import when_used
from rosetta_tui.commands.submission.sharing import desk, say
from rosetta_tui.show.json_forms import print_form
from rosetta_tui.show.text import table

with when_used():
    from harness.store import withdrawn as withdrawals
    from harness.store.file import database
    from harness.submission import desk as desks
    from review.office.results import whole_way
    from rosetta_tui.submission import messages


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(*, as_json: bool) -> None:
    """List the submissions that this computer took in, the most recently changed one first.

    *Answers* are those that its maker has had: scores or refusals, which count in the budget (rosetta vault budget).
    """
    kept_submissions, wrong = desk().listed()
    say(wrong)
    rows: list[tuple[str, ...]] = [
        ("number", "name", "by", "lane", "came in", "where it stands", "runs", "answers")
    ]
    gone = _withdrawn(kept_submissions) if withdrawals.now_standing() else {}
    rows += [
        _row(kept_submission, withdrawn=kept_submission.number in gone)
        for kept_submission in kept_submissions
    ]
    lines = (
        table(rows)
        if kept_submissions
        else ["No submission has come yet. See: rosetta submission demo."]
    )
    print_form(
        "submission-list",
        {"submissions": [_json(e) | {"withdrawn": gone.get(e.number)} for e in kept_submissions]},
        lines,
        as_json=as_json,
    )


def _withdrawn(found: Sequence[desks.KeptSubmission]) -> dict[str, str]:
    """Return of submissions of whose last run something was taken back, by number, what."""
    with database.opened() as store:
        words = {
            kept_submission.number: whole_way.withdrawn_words(store, kept_submission)
            for kept_submission in found
        }
    return {number: word for number, word in words.items() if word}


def _row(kept: desks.KeptSubmission, *, withdrawn: bool) -> tuple[str, ...]:
    manifest = kept.manifest
    return (
        kept.number,
        manifest.name[:30],
        manifest.submitter[:20],
        manifest.method.lane,
        kept.notes[0].when[:10],
        messages.where_it_stands(kept) + (", WITHDRAWN" if withdrawn else ""),
        str(kept.runs),
        str(kept.answers),
    )


def _json(kept: desks.KeptSubmission) -> dict[str, Any]:
    manifest = kept.manifest
    return {
        "number": kept.number,
        "sha256": kept.sha256,
        "name": manifest.name,
        "submitter": manifest.submitter,
        "lane": manifest.method.lane,
        "state": str(kept.state.what),
        "since": kept.state.when,
        "runs": kept.runs,
        "answers": kept.answers,
    }
