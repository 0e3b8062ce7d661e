"""``rosetta runs verify``: Check a card's seal, and compute its numbers again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from harness.store.file.database import default_path
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

if TYPE_CHECKING:
    from harness.card.checking.verify import CardVerdict


@click.command()
@click.argument("card", metavar="CARD|RUN")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(card: str, as_json: bool) -> None:
    """Check the seal of a card, and compute every number again from its outputs.

    Give the file of a card, or a run of the list. Exit code 1 where something differs.
    """
    from harness import api

    verdict = api.verify(default_path(), card)
    if as_json:
        click.echo(form_text("runs-verify", _verdict_json(verdict)))
    else:
        for line in _verdict_lines(verdict):
            click.echo(plain(line))
    if not verdict.ok:
        sys.exit(1)


def _verdict_json(verdict: CardVerdict) -> dict[str, Any]:
    first = verdict.first_difference
    return {
        "ok": verdict.ok,
        "first_difference": None
        if first is None
        else {"path": first.path, "expected": first.expected, "found": first.found},
        "differences": len(verdict.differences),
        "checks": [
            {"name": check.name, "ok": check.ok, "words": check.words} for check in verdict.checks
        ],
    }


_SIGNS = {True: "✓", False: "✗", None: "–"}


def _verdict_lines(verdict: CardVerdict) -> Iterator[str]:
    for check in verdict.checks:
        yield f"{_SIGNS[check.ok]} {check.name}: {check.words}"
    if verdict.first_difference is not None:
        yield f"First difference: {verdict.first_difference}"
    skipped = any(check.ok is None for check in verdict.checks)
    if not verdict.ok:
        yield "This card does not hold."
    elif skipped:
        yield "What could be checked holds; lines with – could not be checked."
    else:
        yield "Everything holds."
