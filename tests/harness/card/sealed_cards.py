"""Cards that are sealed, and what is found of them."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from harness.card.build import build_card
from harness.card.checking.verify import CardVerdict, verify_card
from harness.card.seal import card_hash
from tests.harness.card import factory


def written(card: dict[str, Any]) -> bytes:
    return json.dumps(card, ensure_ascii=False, indent=2).encode()


@cache
def sealed(*, secret: bool = False) -> dict[str, Any]:
    """Return the JSON of a sealed card; the same object each time, so copy before changing.

    ``secret``: as older versions sealed it, with the numbers of a secret entry.
    """
    with tempfile.TemporaryDirectory() as folder, factory.store(Path(folder)) as connection:
        number = add_secret_run(connection) if secret else factory.add_run(connection)
        return build_card(connection, number, whole=True).as_json()


def add_secret_run(connection: sqlite3.Connection) -> int:
    """Store a run with one secret entry behind the others."""
    entries = (*factory.ENTRIES, factory.SECRET_ENTRY)
    return factory.add_run(connection, entries, (*factory.OUTPUTS, factory.SECRETS[3]))


def checks(verdict: CardVerdict) -> dict[str, bool | None]:
    return {check.name: check.ok for check in verdict.checks}


def resealed(card: dict[str, Any]) -> bytes:
    """Seal a changed card again."""
    card["run_card_hash"] = card_hash(card)
    return written(card)


def first_path(data: bytes, store: sqlite3.Connection | None = None) -> str:
    """Return the place of the first difference that verifying finds; empty where there is none."""
    verdict = verify_card(data, store)
    assert verdict.ok is (verdict.first_difference is None)
    return verdict.first_difference.path if verdict.first_difference else ""
