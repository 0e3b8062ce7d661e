"""Cards that are sealed, and what is found of them."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from harness.card.build import build_card
from harness.card.checking.verify import CardVerdict
from tests.harness.card import factory


def written(card: dict[str, Any]) -> bytes:
    return json.dumps(card, ensure_ascii=False, indent=2).encode()


@cache
def sealed(*, secret: bool = False) -> dict[str, Any]:
    """Return the JSON of a sealed card; the same object each time, so copy before changing.

    ``secret``: as older versions sealed it, with the numbers of a secret entry.
    """
    with tempfile.TemporaryDirectory() as folder:
        entries, outputs = factory.ENTRIES, factory.OUTPUTS
        if secret:
            entries = (*entries, factory.SECRET_ENTRY)  # type: ignore[assignment]
            outputs = (*outputs, factory.SECRETS[3])
        with factory.store(Path(folder)) as connection:
            number = factory.add_run(connection, entries, outputs)
            card = build_card(connection, number, whole=True).as_json()
    return card


def checks(verdict: CardVerdict) -> dict[str, bool | None]:
    return {check.name: check.ok for check in verdict.checks}
