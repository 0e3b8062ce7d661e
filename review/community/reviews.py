"""What an export has of reviews: ratings, answer key, policy, events, certificates with their evidence, consent."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from typing import Any

from corpora.formats.encode import encode
from corpora.model.corpus import Form
from harness.core.failures import HarnessError
from harness.sealed.keys import Identity
from harness.sealed.sealing import seal
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
        yield OutFile(f"{folder}/items.jsonl", _items(review))
        yield OutFile(f"{folder}/consent.jsonl", _consent(office, review))
        yield from _signed(review, folder)
    except HarnessError as error:
        left_out.append(f"review {review.name}: {error}")


def _items(review: Review) -> bytes:
    lines = (text.model_dump(mode="json", exclude_none=True) for text in review.texts.values())
    return _lines(lines)


def _consent(office: Office, review: Review) -> bytes:
    """Return who agreed to what when, by the tags of the log; those who took it back are not among them."""
    payloads = (event.payload for event in office.events(review))
    return _lines(
        payload.model_dump(mode="json") for payload in payloads if isinstance(payload, Consent)
    )


def _signed(review: Review, folder: str) -> Iterator[OutFile]:
    """Yield what went out to the speakers, as the organisation signed it."""
    for batch, signed in review.signed.items():
        yield OutFile(f"{folder}/batch-{batch}.json", signed.content)
        if signed.signature:
            yield OutFile(f"{folder}/batch-{batch}.sig", signed.signature)


def _translations(
    office: Office, review: Review, folder: str, *, sealed: bool
) -> Iterator[OutFile]:
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


def _lines(records: Iterator[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records).encode()
