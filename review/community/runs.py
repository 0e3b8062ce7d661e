"""What an export has of runs: cards with their seals and certificates, rows, and the methods that they name."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from harness.card.exporting import ExportForm, card_bytes, export_run, must_be_released
from harness.card.load import load_card, stored_rows
from harness.card.reading import parse_object
from harness.card.signing.signed_run import kept_seals, outgoing, sign_run
from harness.core.failures import HarnessError, UsageError
from harness.sealed.keys import Identity
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.notes import Attached, attached_to
from harness.store.results import read_results
from harness.store.runs import Run, find_run
from review.community.folder import OutFile
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.coarse import over_secret

_HASH = re.compile("[0-9a-f]{64}")


def run_files(
    connection: sqlite3.Connection,
    run_id: str,
    signer: Identity,
    now: datetime,
    *,
    open_secrets: bool,
    vault: str | None,
    left_out: list[str],
) -> Iterator[OutFile]:
    """Yield what there is of one run; what is not is named in ``left_out`` with the reason.

    ``open_secrets``: rows and texts of secret entries too, as the store has them; of a run from a vault only where it is
    ``vault``, by its number.
    """
    folder = f"runs/{run_id}"
    try:
        run = find_run(connection, run_id)
        if must_be_released(connection, run):
            came = read_dataset(connection, run.corpus).opened_from
            named = came is None or came.partition("/")[0] == vault
            yield from _inside(
                connection, run, folder, open_secrets=open_secrets and named, left_out=left_out
            )
            return
        data = export_run(connection, run.id, ExportForm.CARD)
        card = parse_object(data, run_id)
    except HarnessError as error:
        left_out.append(f"run {run_id}: {error}")
        return
    yield OutFile(f"{folder}/card.json", data)
    seals = [] if run.imported else [sign_run(connection, run.id, data, signer, now)]
    for sealed in (seals or kept_seals(connection, run.id, card))[:1]:
        yield OutFile(f"{folder}/card.seal.json", outgoing(sealed, card).data())
    outside = [each for each in attached_to(connection, run.id) if not _exact(each)]
    for number, attached in enumerate(outside, start=1):
        yield OutFile(f"{folder}/certificate-{number}.json", attached.certificate)
        yield OutFile(f"{folder}/certificate-{number}.sig", attached.signature)
    if card.get("results"):
        for form in (ExportForm.JSONL, ExportForm.CSV):
            yield OutFile(f"{folder}/rows.{form}", export_run(connection, run.id, form))
    yield from _method(card)


def _exact(attached: Attached) -> bool:
    """Return whether a certificate is over secret entries, and so stays inside; one that is not understood does, too."""
    try:
        return over_secret(read_certificate(attached.certificate, "the certificate"))
    except UsageError:
        return True


def _inside(
    connection: sqlite3.Connection,
    run: Run,
    folder: str,
    *,
    open_secrets: bool,
    left_out: list[str],
) -> Iterator[OutFile]:
    """Yield card and rows of a run with secret entries, where they are to be opened; else others get a released card."""
    if not open_secrets:
        left_out.append(
            f"run {run.run_id}: its card, rows and outputs, for it has secret entries (--open-secrets, and --vault where "
            "it came out of one); what others may know of it is a released card"
        )
        return
    card = load_card(connection, run.id)
    rows = _secret_rows(connection, run)
    yield OutFile(f"{folder}/card.json", card_bytes(card))
    yield OutFile(f"{folder}/secret-rows.jsonl", rows)
    yield from _method(card.as_json())


def _method(card: Mapping[str, Any]) -> Iterator[OutFile]:
    setup = card.get("method")
    stated = card.get("fingerprint")
    name = stated.get("setup_hash") if isinstance(stated, dict) else None
    if isinstance(setup, dict) and isinstance(name, str) and _HASH.fullmatch(name):
        text = json.dumps(setup, ensure_ascii=False, indent=2, sort_keys=True)
        yield OutFile(f"methods/{name}.json", f"{text}\n".encode())


def _secret_rows(connection: sqlite3.Connection, run: Run) -> bytes:
    """Return the rows of a run with secret entries, one JSON object a line, with the texts of the store."""
    results = list(read_results(connection, run.id))
    entries = read_entries(connection, run.corpus, [result.position for result in results])
    lines = []
    for row, result in zip(stored_rows(connection, run.id), results, strict=True):
        entry = entries[result.position]
        texts = {"source": entry.source, "reference": entry.reference, "predicted": result.output}
        lines.append(json.dumps(row | texts, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines).encode()
