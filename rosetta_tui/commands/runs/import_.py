"""``rosetta runs import``: Take run cards and test reports into the list of runs."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.card.reading import read_card_bytes
from harness.core.failures import UsageError
from harness.store.file.database import home, opened
from rosetta_tui.commands.naming import error_lines, when_used
from rosetta_tui.show.json_forms import form_text
from rosetta_tui.show.text import plain

with when_used():
    from harness import api
    from harness.card import importing, reading
    from harness.card.signing import card_seal, signed_run
    from harness.leaderboard import released_files
    from harness.publish import outgoing
    from harness.release import records
    from harness.sealed import keys
    from harness.store import runs


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--unverified",
    is_flag=True,
    help="Take cards whose seal is absent or broken too, marked as such.",
)
@click.option("--corpus", metavar="FILE", help="The corpus of the cards; their texts are checked against it.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def import_(files: Sequence[Path], unverified: bool, corpus: str | None, as_json: bool) -> None:
    """Import run cards from FILES into the list of runs.

    The outputs on a card are scored again here. Its scores count as stated until its texts have been checked against
    its corpus too: one in the list of corpora, or --corpus, also for a card that was imported before. A card whose
    outputs give other scores has no rank.

    Test reports, run logs and published rows of the reference implementation are read too.
    """
    done: list[dict[str, Any]] = []
    refused = 0
    pinned = None if corpus is None else api.open_corpus(api.CorpusRequest(corpus))
    with opened() as connection:
        for file in files:
            if file.name.endswith(card_seal.SUFFIX):
                click.echo(plain(f"{file.name}: the seal of a card, which is imported with its card."), err=True)  # fmt: skip
                continue
            try:
                data = read_card_bytes(file)
                if outgoing.is_released(reading.parse_object(data, file.name)):
                    card = released_files.take(home(), data, file.name, connection)
                    done.append({"file": str(file), "run_id": card.run, "released": True})
                    if not as_json:
                        click.echo(_released_words(file, card))
                    continue
                imported = importing.import_card(
                    connection, data, file.name, unverified=unverified, corpus=pinned
                )
            except UsageError as error:
                refused += 1
                for line in error_lines(str(error)):
                    click.echo(line, err=True)
                continue
            _take_seal(connection, file, data, imported)
            done.append({"file": str(file), **_fields(imported)})
            if not as_json:
                click.echo(_import_words(file, imported))
    if as_json:
        click.echo(form_text("runs-import", done))
    if refused:
        sys.exit(2)


def _released_words(file: Path, card: records.ReleasedCard) -> str:
    return plain(
        f"{file}: the released card of run {card.run[:8]}, {card.corpus.id}, signed by the key with the six words: {keys.key_phrase(card.by)}. "
        "`rosetta leaderboard` has it."
    )


def _take_seal(
    connection: sqlite3.Connection, file: Path, data: bytes, imported: importing.Imported
) -> None:
    """Store the seal that is next to a card, and show why where it is not accepted."""
    beside = file.with_suffix(card_seal.SUFFIX)
    run = runs.find_by_id(connection, imported.run_id)
    if not beside.is_file() or run is None or not run.imported:
        return
    try:
        card = reading.parse_object(data, file.name)
        signed_run.keep_others_seal(connection, run.id, card, read_card_bytes(beside))
    except UsageError as error:
        click.echo(plain(f"warning: {beside.name} was not taken. {error}"), err=True)


def _fields(imported: importing.Imported) -> dict[str, Any]:
    return {
        "run_id": imported.run_id,
        "known": imported.known,
        "back": imported.back,
        "unverified": imported.unverified,
        "note": imported.note,
        "scored_again": None
        if imported.recount is None
        else {"pinned": imported.recount.pinned, "differences": list(imported.recount.differences)},
    }


def _import_words(file: Path, imported: importing.Imported) -> str:
    outcome = "was there already, nothing to do" if imported.known else "imported"
    if imported.back:
        outcome = "had been deleted, and is back"
    parts = [f"{file.name}: run {imported.run_id[:8]} {outcome}."]
    if imported.unverified:
        parts.append(f"UNVERIFIED: {imported.unverified}")
    if imported.note and not imported.known:
        parts.append(imported.note)
    parts.append(_counted(imported))
    return plain(" ".join(filter(None, parts)))


def _counted(imported: importing.Imported) -> str:
    """Return what scoring the outputs again gave."""
    recount = imported.recount
    if recount is None:
        return ""
    if recount.differences:
        return f"SCORED AGAIN, DIFFERENTLY: {'; '.join(recount.differences)}. It has no rank."
    if not recount.pinned:
        return "Its outputs give its scores; they count as stated until its corpus is here (--corpus FILE)."
    return "Scored again with its corpus: as stated."
