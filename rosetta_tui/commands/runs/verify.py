"""``rosetta runs verify``: Check a card's seals, and compute its numbers again."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.store.file.database import default_path
from rosetta_tui.commands.naming import when_used
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import CHECK_SIGNS, plain

with when_used():
    from harness import api
    from harness.card.checking import signed
    from harness.vault import folder

if TYPE_CHECKING:
    from harness.card.checking.verdict import CardVerdict
    from harness.vault.log import LogLine

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("card", metavar="CARD|RUN|PROOF|RECORD")
@click.option("--words", default="", metavar="WORDS", help="The six words of anyone who should have signed it, as they read them to you.")  # fmt: skip
@click.option("--vault", type=_FILE, metavar="FOLDER", help="The vault that the run came from: its log shows when it was sealed.")  # fmt: skip
@click.option("--card", "against", type=_FILE, metavar="CARD", help="Check the proof of a row, or a record of a reproduction, against this card.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(
    card: str, words: str, vault: Path | None, against: Path | None, *, as_json: bool
) -> None:
    """Check the hash of a card and the seal next to it, and compute every number again from its outputs.

    Give the file of a card, a run of the list, the proof of a row, or the record of a reproduction. The exit code is
    1 if something differs.
    """
    lines = () if vault is None else folder.read_state(vault).lines
    known = signed.KnownSigners(keys=_keepers(lines), words=words, log=lines)
    verdict = api.verify(default_path(), card, known, against)
    if as_json:
        click.echo(form_text("runs-verify", _verdict_json(verdict)))
    else:
        for line in _verdict_lines(verdict):
            click.echo(plain(line))
    if not verdict.ok:
        sys.exit(1)


def _keepers(lines: Sequence[LogLine]) -> dict[str, str]:
    """Return the keys of all who ever were keepers by a vault's log."""
    acts = [line.record.act for line in lines]
    came = [k for act in acts for k in (*getattr(act, "keepers", ()), getattr(act, "keeper", None))]
    keepers = [keeper for keeper in came if keeper is not None and not isinstance(keeper, str)]
    return {
        k.signing_key: f"the key of {k.name}, by its log a keeper of this vault" for k in keepers
    }


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


def _verdict_lines(verdict: CardVerdict) -> Iterator[str]:
    for check in verdict.checks:
        yield f"{CHECK_SIGNS[check.ok]} {check.name}: {check.words}"
    if verdict.first_difference is not None:
        yield f"First difference: {verdict.first_difference}"
    skipped = any(check.ok is None for check in verdict.checks)
    if not verdict.ok:
        yield "This does not hold."
    elif skipped:
        yield "What could be checked holds; lines with – could not be checked."
    else:
        yield "Everything holds."
