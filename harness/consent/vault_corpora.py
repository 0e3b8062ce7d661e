"""By what corpora are known that were opened out of a vault here: none is opened again to see that it was taken back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from harness.consent.withdrawals_in_force import CorpusFacts
from harness.core.written_files import write_file

FILE: Final = "vault-corpora.json"
"""In the data folder; it has hash, id and languages of each corpus, and no text."""


def remember_opened(folder: Path, opened_from: str, facts: CorpusFacts) -> None:
    """Store by what a corpus is known; ``opened_from``: as its envelope has it (``Dataset.opened_from``)."""
    place, known = opened_from.rpartition("/")[0], _kept(folder)
    if known.get(place) != [*facts]:
        data = json.dumps(known | {place: [*facts]}, ensure_ascii=False, sort_keys=True)
        write_file(folder / FILE, data.encode(), overwrite=True)


def opened_before(folder: Path, vault: str, corpus: str) -> CorpusFacts | None:
    """Return by what a corpus of a vault is known, by the numbers of both; None where it was not opened here."""
    facts = _kept(folder).get(f"{vault}/{corpus}")
    return None if facts is None else CorpusFacts(*facts)


def _kept(folder: Path) -> dict[str, list[str]]:
    """Read what is stored; what is damaged is stored again when a corpus is opened."""
    try:
        stored = json.loads((folder / FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    dict_items = stored.items() if isinstance(stored, dict) else ()
    return {place: facts for place, facts in dict_items if _are_facts(facts)}


def _are_facts(told: object) -> bool:
    if not isinstance(told, list) or len(told) != len(CorpusFacts._fields):
        return False
    return all(isinstance(item, str) for item in told)
