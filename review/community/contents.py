"""What an export has of corpora, reviews and runs; of a vault its sealed copy, or what is opened on explicit wish."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from corpora.files.decode import open_regular
from corpora.files.json_types import JsonObject
from corpora.formats.load import load
from corpora.formats.write import encode
from corpora.model.corpus import Corpus, Form
from corpora.model.entry import Segment, reveal_here
from corpora.model.sidecar import marks_beside
from corpora.text.visible import guarded
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.reading import must_be_released, parse_object
from harness.card.rows import load_card, stored_rows
from harness.card.signing import kept_seals, outgoing, sign_run
from harness.consent.checks import with_consent
from harness.consent.withdrawals_in_force import Withdrawals
from harness.core.failures import HarnessError, UsageError
from harness.sealed.keys import Identity
from harness.sealed.sealing import seal
from harness.store.attachments import Attached, attached_to
from harness.store.corpora.entries import read_dataset, read_entries
from harness.store.corpora.listing import PREFIX, list_corpora, shown_corpus
from harness.store.results import read_results
from harness.store.runs import Run, find_run
from harness.vault.folder import copy_to
from harness.vault.opening import VaultOpening, corpus_of
from harness.vault.request import VaultWork
from harness.vault.sealed_corpus import UnsealedCorpus
from harness.vault.vault import Vault
from review.community.folder import OutFile, plain_name
from review.log.payloads import Consent
from review.office.results.certifying import look_at_ratings
from review.office.results.results import (
    bundle_name,
    governance_bundle,
    of_runs,
    refuse_withdrawn,
    review_files,
    withdrawn_entries,
)
from review.office.results.translations import collect
from review.office.store.store import Office, Review
from review.session.words.catalogue import Words
from review.verdict.certificate.certificate import read_certificate
from review.verdict.certificate.coarse import over_secret


@dataclass(frozen=True)
class OwnCorpus:
    id: str
    sha256: str
    number: int | None  # The store's own; None where only a file has it
    runs: tuple[str, ...]
    file: Path | None = None
    corpus: Corpus | None = None  # As it was read from its file


def choose_contents(connection: sqlite3.Connection, names: Iterable[str]) -> list[OwnCorpus]:
    """Find corpora by file, id, or ``store:`` and the beginning of a hash; all versions of an id.

    Raises UsageError that names what there is, CorpusError for a file that cannot be read.
    """
    stored = list_corpora(connection, withdrawn=True)
    chosen: dict[str, OwnCorpus] = {}
    for name in names:
        path, digest = Path(name), name.removeprefix(PREFIX)
        corpus = load(path) if path.is_file() else None
        if corpus is not None:
            fitting = [summary for summary in stored if summary.sha256 == corpus.sha256]
        elif name.startswith(PREFIX):
            fitting = [summary for summary in stored if len(digest) >= 6 and summary.sha256.startswith(digest)]
        else:
            fitting = [summary for summary in stored if summary.dataset.id == name]
        if corpus is None and not fitting:
            known = ", ".join(sorted({summary.dataset.id for summary in stored})) or "none yet"
            raise UsageError(f"There is no corpus {name!r}, as a file or in the store. There are: {known}.")
        for one in fitting:
            number = None if one.partial else one.number
            chosen[one.sha256] = OwnCorpus(one.dataset.id, one.sha256, number, one.runs)
        if corpus is not None:
            sha256, runs = corpus.sha256, fitting[-1].runs if fitting else ()
            chosen[sha256] = OwnCorpus(corpus.dataset.id, sha256, None, runs, path, corpus)
    return list(chosen.values())


def corpus_files(
    connection: sqlite3.Connection, chosen: OwnCorpus, now: Withdrawals, *, open_secrets: bool, left_out: list[str]
) -> Iterator[OutFile]:
    """Yield the files of one corpus: JSON of the benchmark specification and a table; a file's own bytes too."""
    whole = _whole(connection, chosen)
    if isinstance(whole, str):
        left_out.append(f"corpus {chosen.id}: {whole}")
        return
    try:
        agreed = with_consent(whole, now).entries
    except UsageError as error:
        left_out.append(f"corpus {chosen.id}: {error}")
        return
    there = [entry for entry in agreed if not entry.not_stored]
    kept = tuple(entry for entry in there if open_secrets or not entry.secret)
    reasons = {
        "entries for which consent was withdrawn": len(whole.entries) - len(agreed),
        "entries whose texts the store never had, or does not open here": len(agreed) - len(there),
        "secret entries (--open-secrets)": len(there) - len(kept),
    }
    left_out += [f"corpus {chosen.id}: {n:,} {why}" for why, n in reasons.items() if n]
    name = f"corpora/{plain_name(chosen.id)}-{chosen.sha256[:12]}"
    if chosen.file is not None and len(kept) == len(whole.entries):
        # the file as it is, and the terms next to it
        for path in (chosen.file, *marks_beside(chosen.file)):
            try:
                with open_regular(path) as file:
                    yield OutFile(f"{name}/{plain_name(path.name)}", file.read())
            except OSError as error:
                raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    if kept:
        corpus = replace(whole, entries=kept)
        for form, suffix in ((Form.SPECIFICATION, "json"), (Form.TSV, "tsv")):
            yield OutFile(f"{name}.{suffix}", encode(corpus, form)[0].encode())


def _whole(connection: sqlite3.Connection, chosen: OwnCorpus) -> Corpus | str:
    """Return a corpus with what is available of its texts, or say why none of it goes out; one of a vault is not opened."""
    if chosen.corpus is not None:
        return chosen.corpus
    if chosen.number is None:
        return "only cards from elsewhere name it; its texts are in their rows"
    if read_dataset(connection, chosen.number).opened_from is not None:
        return "it is in a vault, which goes along where it is named (--vault)"
    return shown_corpus(connection, chosen.number)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Write a table: tabs between cells, quotation marks where needed; texts that would run as formulas are guarded."""
    file = io.StringIO(newline="")
    made = csv.writer(file, dialect="excel-tab", lineterminator="\n")
    made.writerows([columns, *(map(guarded, row) for row in rows)])
    return file.getvalue().encode()


def sealed_vault(vault: Vault, target: Path, purpose: str, keeper: Identity | None) -> list[str]:
    """Copy a vault, sealed as it is, into a new folder; gives the names of its files.

    With the keys of one of its keepers its log has the copy first. Without them the copy is as good, and no line tells
    of it.
    """
    if keeper is None or keeper.public.signing_key not in vault.read().keepers:
        copy_to(vault.read(), target)
    else:
        vault.export(target, purpose, keeper)
    (target / "vault.lock").unlink(missing_ok=True)
    return sorted(path.name for path in target.iterdir())


def opened_vault(
    vault: Vault, purpose: str, keeper: Identity, now: Withdrawals, left_out: list[str]
) -> Iterator[OutFile]:
    """Open every corpus of a vault but its ``held_out`` entries, each with a line of the log first, and yield it as JSON.

    A vault that several keepers open together stays closed, which ``left_out`` says.
    """
    state = vault.read()
    if state.split is not None:
        left_out.append(
            "vault: what is in it, openly, for it asks for several keepers together; its sealed copy has all of it"
        )
        return
    for number, stored in state.head.corpora.items():
        if shut := stored.entries.get(Segment.HELD_OUT, 0):
            left_out.append(
                f"vault, corpus {stored.name!r}: {shut:,} entries of held_out, which are in its sealed copy alone"
            )
        if shut == sum(stored.entries.values()):
            continue
        opened = VaultOpening(vault, keeper, purpose, VaultWork.EXPORT).unsealed(number)
        whole = corpus_of(opened)
        try:
            agreed = {entry.id for entry in with_consent(whole, now).entries}
        except UsageError as error:
            left_out.append(f"vault: {error}")
            continue
        if gone := len(whole.entries) - len(agreed):
            left_out.append(f"vault, corpus {stored.name!r}: {gone:,} entries for which consent was withdrawn")
        yield OutFile(f"corpora/vault-{number}.json", _opened(opened, agreed))


def _opened(opened: UnsealedCorpus, agreed: Collection[int | str]) -> bytes:
    """Return the entries with these ids, with all their fields, in their order in the corpus."""
    metadata = json.loads(opened.envelope.reveal())
    entries = []
    for entry in opened.entries:
        fields = json.loads(entry.rest.reveal())
        if fields["id"] not in agreed:
            continue
        place = fields.pop("place")
        texts = {"source": entry.source.reveal(), "reference": entry.reference.reveal()}
        place = place[0] if isinstance(place, list) else place
        entries.append((place, fields | texts | {"segment": entry.segment}))
    ordered = [entry for _, entry in sorted(entries, key=lambda e: e[0])]
    made = {"dataset": metadata.get("dataset", metadata), "entries": ordered}
    return f"{json.dumps(made, ensure_ascii=False, indent=2)}\n".encode()


# ---- What an export has of reviews: ratings, answer key, policy, events, certificates with their
# evidence, consent.


def reviews_of(office: Office, runs: Collection[str], names: Collection[str]) -> list[Review]:
    """Return the reviews all of whose runs are among ``runs``, and those that are named; UsageError for a name of none."""
    named = [office.review(name) for name in names]
    every = [review for review in office.reviews() if review.key.runs]
    of_them = [review for review in every if {run.run_id for run in review.key.runs} <= set(runs)]
    return list({review.name: review for review in (*of_them, *named)}.values())


def files_of_review(
    office: Office,
    review: Review,
    store: sqlite3.Connection,
    identity: Identity,
    *,
    open_secrets: bool,
    left_out: list[str],
) -> Iterator[OutFile]:
    """Yield the files of one review; whose ratings leave here are examined, which is written down and counts at the gate.

    Of a review of secret entries comments may quote texts: it goes out as one file, sealed for its recipients, unless
    ``open_secrets``.
    """
    folder = f"reviews/{plain_name(review.name)}-{review.key.batches[0][:8]}"
    try:
        if review.translating:
            closed = review.secret and not open_secrets
            yield from _translations(office, review, folder, sealed=closed)
            return
        look_at_ratings(office, review)
        words = Words.load(review.manifest.language, ())
        gathered = of_runs(office, review, store, identity.public.signing_key, words)
        if review.secret and not open_secrets:
            sealed = governance_bundle(office, review, gathered, identity, review.created)
            yield OutFile(f"{folder}/{plain_name(bundle_name(review))}", sealed)
            left_out.append(
                f"review {review.name}: its open files, for its entries are secret; the sealed file has all (--open-secrets)"
            )
            return
        for name, data in review_files(office, review, gathered).items():
            yield OutFile(f"{folder}/{name}", data)
        items = (text.model_dump(mode="json", exclude_none=True) for text in review.texts.values())
        yield OutFile(f"{folder}/items.jsonl", _lines(items))
        yield OutFile(f"{folder}/consent.jsonl", _consent(office, review))
        yield from _signed(review, folder)
    except HarnessError as error:
        left_out.append(f"review {review.name}: {error}")


def _consent(office: Office, review: Review) -> bytes:
    """Return who agreed to what when, by the tags of the log; those who took it back are not among them."""
    payloads = (event.payload for event in office.events(review))
    return _lines(p.model_dump(mode="json") for p in payloads if isinstance(p, Consent))


def _signed(review: Review, folder: str) -> Iterator[OutFile]:
    """Yield what went out to the speakers, as the organisation signed it."""
    for batch, signed in review.signed.items():
        yield OutFile(f"{folder}/batch-{batch}.json", signed.content)
        if signed.signature:
            yield OutFile(f"{folder}/batch-{batch}.sig", signed.signature)


def _translations(office: Office, review: Review, folder: str, *, sealed: bool) -> Iterator[OutFile]:
    """Yield what speakers wrote, sealed for the review's recipients where it was handed out sealed."""
    refuse_withdrawn(review)
    collected = collect(review, office.state(review)).without(withdrawn_entries(review))
    data = encode(collected, Form.JSONL)[0].encode()
    if sealed:
        recipients = review.manifest.organisation.recipients
        yield OutFile(f"{folder}/translations.jsonl.age", seal(data, recipients))
    else:
        yield OutFile(f"{folder}/translations.jsonl", data)
    yield OutFile(f"{folder}/consent.jsonl", _consent(office, review))
    yield from _signed(review, folder)


def _lines(records: Iterable[JsonObject]) -> bytes:
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records).encode()


# ---- What an export has of runs: cards with their seals and certificates, rows, and the methods
# that they name.

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
            yield from _inside(connection, run, folder, open_secrets=open_secrets and named, left_out=left_out)
            return
        data = export_run(connection, run.id, ExportForm.CARD)
        card = parse_object(data, run_id)
    except HarnessError as error:
        left_out.append(f"run {run_id}: {error}")
        return
    yield OutFile(f"{folder}/card.json", data)
    seals = [] if run.imported else [sign_run(connection, run.id, signer, now)]
    for sealed in (seals or kept_seals(connection, run.id, card))[:1]:
        yield OutFile(f"{folder}/card.seal.json", outgoing(sealed, card).data())
    outside = [attached for attached in attached_to(connection, run.id) if not _exact(attached)]
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
    connection: sqlite3.Connection, run: Run, folder: str, *, open_secrets: bool, left_out: list[str]
) -> Iterator[OutFile]:
    """Yield card and rows of a run with secret entries, where they are to be opened; else others get a released card."""
    if not open_secrets:
        left_out.append(
            f"run {run.run_id}: its card, rows and outputs, for it has secret entries (--open-secrets, and --vault where "
            "it came out of one); what others may know of it is a released card"
        )
        return
    card = load_card(connection, run.id)
    # Rows of a run with secret entries, one JSON object a line, with the texts of the store.
    results = list(read_results(connection, run.id))
    read = read_entries(connection, run.corpus, [result.position for result in results])
    entries = reveal_here(read[result.position] for result in results)
    lines = []
    for row, result, entry in zip(stored_rows(connection, run.id), results, entries, strict=True):
        texts = {"source": entry.source, "reference": entry.reference, "predicted": result.output}
        lines.append(json.dumps(row | texts, ensure_ascii=False))
    rows = "".join(f"{line}\n" for line in lines).encode()
    yield OutFile(f"{folder}/card.json", card_bytes(card))
    yield OutFile(f"{folder}/secret-rows.jsonl", rows)
    yield from _method(card.as_json())


def _method(card: JsonObject) -> Iterator[OutFile]:
    setup = card.get("method")
    stated = card.get("fingerprint")
    name = stated.get("setup_hash") if isinstance(stated, dict) else None
    if isinstance(setup, dict) and isinstance(name, str) and _HASH.fullmatch(name):
        text = json.dumps(setup, ensure_ascii=False, indent=2, sort_keys=True)
        yield OutFile(f"methods/{name}.json", f"{text}\n".encode())
