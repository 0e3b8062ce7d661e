"""Whether something in an export was taken back since: its corpora, runs and key, held against the notices believed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.card.reading import parse_object
from harness.consent.verifying import Found, Verified, found, of_card
from harness.consent.withdrawals_in_force import CorpusFacts, Withdrawals
from harness.core.failures import UsageError
from review.community.folder import Checked


def withdrawn_in(folder: Path, export: Checked, now: Withdrawals) -> list[Found]:
    """Return what notices say of an export that was checked, each once; empty where nothing was ever taken back here."""
    if not now:
        return []
    withdrawals: dict[Found, None] = dict.fromkeys(
        found(Verified(keys=frozenset({export.signer})), now)
    )
    for path in export.sums:
        for subject in _subjects(path, folder, export):
            withdrawals |= dict.fromkeys(
                [subject] if isinstance(subject, Found) else found(subject, now)
            )
    return list(withdrawals)


def _subjects(path: str, folder: Path, export: Checked) -> Iterator[Verified | Found]:
    """Yield by what a file is held against notices, where it is a card or a corpus; or that nobody can tell."""
    where, name = path.split("/", maxsplit=1)[0], path.rsplit("/", maxsplit=1)[-1]
    card = where == "runs" and name == "card.json"
    if not card and not (where == "corpora" and path.count("/") == 1 and name.endswith(".json")):
        return
    try:
        content = parse_object(folder.joinpath(*path.split("/")).read_bytes(), path)
    except UsageError as error:
        yield Found(None, f"whether it was withdrawn cannot be told: {error}")
        return
    if card:
        rows = content.get("results")
        yield of_card(content, _ids(rows, "entry_id") if rows else None)
    else:
        yield Verified(
            _facts(content, name, export), ids=frozenset(_ids(content.get("entries"), "id"))
        )


def _facts(corpus: Mapping[str, Any], name: str, export: Checked) -> CorpusFacts:
    """Return by what a corpus is known; its file is named by the beginning of its hash."""
    dataset = corpus.get("dataset")
    fields = dataset if isinstance(dataset, Mapping) else {}
    known = [str(corpus_entry.get("sha256")) for corpus_entry in export.about["corpora"]]
    sha256 = next((digest for digest in known if name.endswith(f"-{digest[:12]}.json")), "")
    return CorpusFacts(
        sha256,
        str(fields.get("id", "")),
        fields.get("source_language"),
        fields.get("target_language"),
    )


def _ids(rows: Any, field: str) -> list[str]:
    listed = rows if isinstance(rows, list) else []
    return [str(row.get(field)) for row in listed if isinstance(row, Mapping)]
