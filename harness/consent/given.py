"""Consent that was given: which community, by which person, on which day, to what; signed by who recorded it.

The record stands whole in the envelope of the corpus (``dataset.consent``), so it travels with the texts. Its signature says that
the organisation with this key wrote it down and nobody changed it since; whether the person said so, people know.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Final, Literal

from pydantic import Field, ValidationError

from corpora.checks.requirements import ConsentStanding
from corpora.files.json_types import JsonObject
from corpora.model.corpus import Corpus, Dataset
from harness.consent.notice import Words
from harness.consent.withdrawals_in_force import Withdrawals
from harness.core.failures import UsageError
from harness.core.storage import usage_errors
from harness.sealed.archive import SignedRecord, signed_record
from harness.sealed.keys import Identity, key_phrase
from harness.sealed.strict_records import Hex64, Short, StrictRecord

FORMAT: Final = "rosetta-consent-given/1"
MOST_STATEMENT: Final = 20_000
"""Characters of what was agreed to."""

_UNSIGNED = "dataset.consent is no signed record with a person and a date"


class ConsentGiven(StrictRecord):
    """What was agreed to, by whom and when."""

    format: Literal["rosetta-consent-given/1"] = FORMAT
    corpus: Short
    """Id of the corpus."""
    source_language: Short
    target_language: Short
    community: Words
    """Whose language and knowledge it is, in their own words."""
    person: Words
    """Who said it for the community, with the office that they hold."""
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    """The day on which it was said."""
    statement: Annotated[str, Field(min_length=1, max_length=MOST_STATEMENT)]
    """What was agreed to, word by word."""
    paper_sha256: Hex64 | Literal[""] = ""
    """Of a scan of what the person signed by hand; empty where there is none."""
    recorded_by: Words
    """The organisation that wrote it down."""
    signing_key: Hex64
    """Its public key."""


class SignedConsent(ConsentGiven, SignedRecord):
    """The record with its signature."""


def newest_day(now: datetime | None = None) -> date:
    """Return the newest day that has begun in any time zone, the first of which is UTC+14; ``now``: by this computer's clock."""
    return ((now or datetime.now(UTC)) + timedelta(hours=14)).date()


def record_consent(said: JsonObject, identity: Identity, today: date) -> SignedConsent:
    """Sign a record of an agreement; UsageError for a date that is invalid or in the future, and words that are too long."""
    date_text = str(said.get("date", ""))
    try:
        day = date.fromisoformat(date_text)
    except ValueError:
        raise UsageError(f"--date {date_text[:40]!r}: no such day. Write it as 2026-11-23.") from None
    if day > today:
        raise UsageError(f"--date {date_text}: that day is still to come. Write the day on which it was said.")
    with usage_errors("This cannot be in a record of consent"):
        record = ConsentGiven(**said, signing_key=identity.public.signing_key)
    return SignedConsent.model_validate_json(signed_record(record, identity), strict=True)


def consent_of(corpus: Corpus, now: Withdrawals) -> ConsentStanding:
    """Return whether a corpus has a record of consent, as ``consent_standing`` does; one from a vault has it in its sealed envelope."""
    if corpus.vault is None:
        return consent_standing(corpus.dataset, now)
    return _standing(corpus.vault.consent, corpus.dataset, now)


def consent_standing(dataset: Dataset, now: Withdrawals) -> ConsentStanding:
    """Return whether an envelope has a record of consent that counts, in words for people.

    It does where it is signed, unchanged, about this corpus and of a day that has begun. ``now``: what was taken back, which
    may be the key that signed it.
    """
    return _standing((dataset.model_extra or {}).get("consent"), dataset, now)


def _standing(told: object, dataset: Dataset, now: Withdrawals) -> ConsentStanding:
    if not told:
        return ConsentStanding(documented=False, note="not documented")
    try:
        signed_consent = SignedConsent.model_validate(told)
    except ValidationError:
        return ConsentStanding(documented=False, note=_UNSIGNED)
    if wrong := _wrong(signed_consent, dataset, now):
        return ConsentStanding(documented=False, note=wrong)
    statement = f"{signed_consent.person}, {signed_consent.date}; recorded by {signed_consent.recorded_by} ({key_phrase(signed_consent.signing_key)})"
    return ConsentStanding(documented=True, note=statement)


def _wrong(found: SignedConsent, dataset: Dataset, now: Withdrawals) -> str:
    """Return why a record does not count; nothing where it does."""
    about = found.corpus, found.source_language, found.target_language
    if not found.is_signed_by(found.signing_key):
        return "the record in dataset.consent was changed after it was signed"
    if about != (dataset.id, dataset.source_language, dataset.target_language):
        return "the record in dataset.consent is about another corpus"
    try:
        begun = date.fromisoformat(found.date) <= newest_day()
    except ValueError:
        begun = False
    if not begun:
        return f"the record in dataset.consent is of {found.date}, no day that has begun by this computer's clock"
    if now.of_key(found.signing_key) is not None:
        return "the key that signed the record in dataset.consent was revoked"
    return ""
