"""Writing cards to files: whole, or only their entry rows for other programs."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from corpora.text.spreadsheet import guarded
from harness.card.entry_ids import card_id
from harness.card.leaving import inside_words, kept_inside
from harness.card.load import load_card
from harness.card.model import EntryResult, EntryUsage, RunCard
from harness.card.rows import entry_scores
from harness.core.failures import UsageError
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.deletion import holds_secrets
from harness.store.results import read_results
from harness.store.runs import Run, read_card, read_imported, read_run


class ExportForm(StrEnum):
    """What is written of a run."""

    CARD = "card"
    """The whole card as JSON; ``verify`` and ``import`` read it."""
    JSONL = "jsonl"
    """One JSON object a line for each entry."""
    CSV = "csv"
    """One line for each entry; lists as JSON, nothing for null, and an apostrophe before what a spreadsheet would run."""


_OF_ENDINGS = {
    ".csv": ExportForm.CSV,
    ".jsonl": ExportForm.JSONL,
    ".ndjson": ExportForm.JSONL,
    **dict.fromkeys((".tsv", ".xlsx", ".xls", ".ods", ".parquet", ".html", ".md"), None),
}
"""Ending of a file in lower case → its form, None where no form goes with it; any other is a card's."""


def form_of(name: str) -> ExportForm:
    """Return the form that a file's ending asks for; raises UsageError where nothing is written in such files."""
    ending = os.path.splitext(name)[1].lower()  # noqa: PTH122  a name, also of no file
    form = _OF_ENDINGS.get(ending, ExportForm.CARD)
    if form is None:
        raise UsageError(
            f"A run is not written as {ending}. Choose a name that ends in .json (the card), .csv or .jsonl (its rows), "
            "or add --form."
        )
    return form


def export_run(connection: sqlite3.Connection, run: int, form: ExportForm) -> bytes:
    """Return a sealed run in one of the forms; an imported card comes out byte for byte as it came in.

    Raises HarnessError where the run is not sealed yet, UsageError where it has secret entries: what leaves of
    those is a released card (``harness.release``).
    """
    card = load_card(connection, run)
    imported = read_imported(connection, run)
    if imported is None:
        _refuse_secrets(card, form)
    if form is ExportForm.CARD:
        return imported or card_bytes(card)
    rows = _rows(connection, run, card)
    if form is ExportForm.JSONL:
        lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
        return "".join(f"{line}\n" for line in lines).encode()
    return _csv(rows).encode()


def must_be_released(connection: sqlite3.Connection, run: Run) -> bool:
    """Return whether the numbers of a run, finished or not, leave as a released card only (``harness.release``).

    An imported card leaves as it came: who exported it decided what it says.
    """
    if run.imported:
        return False
    if kept_inside(read_card(connection, run.id)):
        return True
    if not holds_secrets(connection, run):
        return False
    entries = read_entries(connection, run.corpus, run.positions, to_show=True)
    return any(entry.secret for entry in entries.values())


def refuse_to_leave(connection: sqlite3.Connection, runs: Iterable[Run]) -> None:
    """Raise UsageError, in words that say what leaves instead, where the numbers of one of these runs stay inside."""
    for run in runs:
        if must_be_released(connection, run):
            raise UsageError(inside_words(run.run_id))


def _refuse_secrets(card: RunCard, form: ExportForm) -> None:
    """Raise UsageError for a run with secret entries: neither its rows nor its card leave like this."""
    if not kept_inside(card.as_json()):
        return
    if form is not ExportForm.CARD:
        raise UsageError(
            "This run has secret entries; so no row of it leaves this machine. Export its released card: it has the scores. "
            "For a copy of your own, copy the data folder."
        )
    raise UsageError(f"{inside_words(card.run_id)} For a copy of your own, copy the data folder.")


def card_bytes(card: RunCard) -> bytes:
    """Write a card for people and programs: indented, in the order of the specification."""
    text = json.dumps(card.as_json(), ensure_ascii=False, indent=2, allow_nan=False)
    return f"{text}\n".encode()


def _rows(connection: sqlite3.Connection, number: int, card: RunCard) -> list[dict[str, Any]]:
    """Return the rows of a card, each with the entry's own value of every metric, as ``RunHandle.entries`` has them."""
    run = read_run(connection, number)
    entries = read_entries(connection, run.corpus, run.positions, to_show=True)
    target = read_dataset(connection, run.corpus).target_language or "und"
    scorer = stored_scorer(run, target, list(entries.values()))
    scores = {
        card_id(entries[result.position].id): entry_scores(result, scorer)
        for result in read_results(connection, run.id, to_show=True)
        if not entries[result.position].secret
    }
    fields = (row.model_dump(mode="json", by_alias=True) for row in card.results)
    return [  # the row's own fields first, and its own values
        row if row["withheld"] else {**row, **scores.get(row["entry_id"], {}), **row}
        for row in fields
    ]


def _csv(rows: Iterable[Mapping[str, Any]]) -> str:
    flat = [dict(_cells(row)) for row in rows]
    columns = list(dict.fromkeys([*_COLUMNS, *(name for row in flat for name in row)]))
    file = io.StringIO(newline="")
    table = csv.DictWriter(file, columns, restval="", lineterminator="\r\n")
    table.writerow({name: guarded(name) for name in columns})
    table.writerows(flat)
    return file.getvalue()


_COLUMNS = tuple(
    column
    for name, field in EntryResult.model_fields.items()
    for column in (
        [f"usage.{part}" for part in EntryUsage.model_fields]
        if name == "usage"
        else [field.alias or name]
    )
)


def _cells(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if name == "usage":
            yield from ((f"usage.{part}", _cell(count)) for part, count in (value or {}).items())
        else:
            yield name, _cell(value)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return guarded(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
