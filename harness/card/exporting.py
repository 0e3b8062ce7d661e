"""Writing cards to files: whole, or only their entry rows for other programs."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from corpora.text.spreadsheet import guarded
from harness.card.leaving import inside_words, kept_inside
from harness.card.load import load_card
from harness.card.model import EntryResult, EntryUsage, RunCard
from harness.core.failures import UsageError
from harness.store.corpora.entries import read_entries
from harness.store.deletion import holds_secrets
from harness.store.runs import Run, read_card, read_imported


class ExportForm(StrEnum):
    """What is written of a run."""

    CARD = "card"
    """The whole card as JSON; ``verify`` and ``import`` read it."""
    JSONL = "jsonl"
    """One JSON object a line for each entry."""
    CSV = "csv"
    """One line for each entry; lists as JSON, nothing for null, and an apostrophe before what a spreadsheet would run."""


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
    if form is ExportForm.JSONL:
        return "".join(f"{_line(row)}\n" for row in card.results).encode()
    return _csv(card).encode()


def must_be_released(connection: sqlite3.Connection, run: Run) -> bool:
    """Tell whether the numbers of a run, finished or not, leave as a released card only (``harness.release``).

    An imported card leaves as it came: who exported it decided what it says.
    """
    if run.imported:
        return False
    if kept_inside(read_card(connection, run.id)):
        return True
    if not holds_secrets(connection, run):
        return False
    entries = read_entries(connection, run.corpus, run.positions, to_show=True)
    return any(each.secret for each in entries.values())


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


def _line(row: EntryResult) -> str:
    return json.dumps(_fields(row), ensure_ascii=False, allow_nan=False)


def _fields(row: EntryResult) -> dict[str, Any]:
    return row.model_dump(mode="json", by_alias=True)


def _csv(card: RunCard) -> str:
    flat = [dict(_cells(_fields(row))) for row in card.results]
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
