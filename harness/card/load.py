"""Reading a sealed card back from the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from harness.card.foreign.layouts import adopt
from harness.card.model import RunCard
from harness.card.reading import parse_object
from harness.card.rows import entry_rows, row_json
from harness.card.seal import seal_form
from harness.core.failures import HarnessError, StoreError
from harness.setup.scoring_tools import stored_scorer
from harness.store.corpora.entries import read_entries
from harness.store.results import read_results, read_row_words
from harness.store.runs import Run, read_card, read_imported, read_run
from scoring.statistics.breakdown import FREE


def load_card(connection: sqlite3.Connection, number: int) -> RunCard:
    """Assemble a sealed card again from its head and the entry rows.

    Raises HarnessError where the run is not sealed yet, StoreError where head and rows no longer
    match the seal.
    """
    raw = read_raw(connection, number)
    run = read_run(connection, number)
    if run.imported:
        return adopt(raw, run.run_id)
    if seal_form(raw) is None:
        raise _broken(run.run_id)
    try:
        return RunCard.model_validate(raw)
    except ValidationError as error:
        raise _broken(run.run_id) from error


def read_raw(connection: sqlite3.Connection, number: int) -> dict[str, Any]:
    """Return a card's JSON as it is stored, its seal not examined; raises HarnessError where there is none."""
    return raw_card(connection, read_run(connection, number))


def card_head(connection: sqlite3.Connection, run: Run) -> dict[str, Any]:
    """Return the JSON of a run's card without its rows; HarnessError where the run is not complete."""
    head = read_card(connection, run.id)
    if head is None:
        raise HarnessError(
            f"Run {run.run_id[:8]} has no card yet: it is not complete. "
            f"`{run.goes_on_with}` continues with it."
        )
    return head


def raw_card(connection: sqlite3.Connection, run: Run) -> dict[str, Any]:
    """Return the JSON of a run's card as ``read_raw`` does, also where the run was deleted and not yet erased."""
    imported = read_imported(connection, run.id)
    if imported is not None:
        return parse_object(imported, run.run_id)
    head = card_head(connection, run)
    rows = [] if "withheld" in head else _rows(connection, run, head)
    return {**head, "results": rows}


def stored_rows(connection: sqlite3.Connection, number: int) -> list[dict[str, Any]]:
    """Return the rows of a run as a card has them, also where its card leaves them out for its secret entries."""
    run = read_run(connection, number)
    return _rows(connection, run, card_head(connection, run))


def _rows(
    connection: sqlite3.Connection, run: Run, head: Mapping[str, Any]
) -> list[dict[str, Any]]:
    results = list(read_results(connection, run.id))
    entries = read_entries(connection, run.corpus, [result.position for result in results])
    scorer = stored_scorer(run, "und", list(entries.values()))
    statistics = [scorer.unpack(result.statistics) for result in results]
    rows = entry_rows(entries, results, statistics, scorer, read_row_words(connection, run.id))
    absent = {name: None for name in FREE if f"by_{name}" not in head.get("scores", {})}
    return [row_json(row.model_copy(update=absent)) for row in rows]


def _broken(run_id: str) -> StoreError:
    return StoreError(
        f"The seal of run {run_id[:8]} is broken: its rows in the store are not those that were "
        "sealed. The store was changed from outside; import the card from a copy."
    )
