"""Consent that was given: a record with community, person, day and statement, signed; anything else is none."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from corpora.model.corpus import Dataset
from harness.consent.given import (
    ConsentGiven,
    SignedConsent,
    consent_standing,
    newest_day,
    record_consent,
)
from harness.consent.notice import OfKey
from harness.consent.standing import NOTHING, Withdrawals, standing
from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Role, key_phrase
from harness.sealed.signed_archive import signed_record
from tests.harness.consent.made import register
from tests.harness.sealed.refusals import refuses

SAID = {
    "corpus": "words", "source_language": "en", "target_language": "crk",
    "community": "Our nation", "person": "Mary, chair of the council", "date": "2026-11-20",
    "statement": "The sentences may be used to try machines.", "recorded_by": "Language office",
}  # fmt: skip
TODAY = date(2026, 11, 23)


def recorded(**changed: Any) -> tuple[SignedConsent, Identity]:
    identity = Identity.make(Role.ORGANISATION)
    return record_consent(SAID | changed, identity, TODAY), identity


FACTS = {
    "id": "words",
    "language_pair": "EN→CRK",
    "source_language": "en",
    "target_language": "crk",
}


def stands(consent: object, revoked: Withdrawals = NOTHING, **changed: Any) -> tuple[bool, str]:
    """Return whether a corpus with this field has documented consent, and what is said of it."""
    if isinstance(consent, SignedConsent):
        consent = consent.model_dump(mode="json")
    found = consent_standing(
        Dataset.model_validate(FACTS | changed | {"consent": consent}), revoked
    )
    return found.documented, found.note


def test_signed_record_counts_and_is_told() -> None:
    record, identity = recorded()
    documented, note = stands(record)
    assert documented
    assert "Mary, chair of the council, 2026-11-20" in note
    assert key_phrase(identity.public.signing_key) in note


def test_field_that_is_no_record_does_not_count() -> None:
    for truthy in (True, "yes", "council, 2026", {"use_allowed_by": 3}, ["yes"]):
        documented, note = stands(truthy)
        assert (documented, "no signed record" in note) == (False, True)
    for empty in (None, "", dict[str, str](), False):
        assert stands(empty) == (False, "not documented")


@pytest.mark.parametrize("name", [*ConsentGiven.model_fields, "signature"])
def test_record_with_a_changed_field_does_not_count(name: str) -> None:
    told = recorded()[0].model_dump(mode="json")
    other = recorded(person="Somebody else")[0].model_dump(mode="json")
    told[name] = other[name] if other[name] != told[name] else f"{told[name]}x"
    assert not stands(told)[0]


def test_record_of_another_corpus_or_revoked_key_is_none(tmp_path: Path) -> None:
    record, identity = recorded()
    changes: tuple[dict[str, Any], ...] = (
        {"id": "other"},
        {"target_language": "cr"},
        {"source_language": "fr"},
    )
    for changed in changes:
        documented, note = stands(record, **changed)
        assert (documented, "another corpus" in note) == (False, True)
    register(tmp_path).say(OfKey(signing_key=identity.public.signing_key), "stolen", "Us")
    documented, note = stands(record, standing(tmp_path))
    assert (documented, "revoked" in note) == (False, True)


@pytest.mark.parametrize("day", ["2099-99-99", "2026-02-30", "9999-12-31"])
def test_record_of_a_day_that_has_not_begun_does_not_count(day: str) -> None:
    identity = Identity.make(Role.ORGANISATION)
    fields = ConsentGiven(**SAID | {"date": day}, signing_key=identity.public.signing_key)
    record = SignedConsent.model_validate_json(signed_record(fields, identity), strict=True)
    documented, note = stands(record)
    assert (documented, day in note) == (False, True)


def test_day_counts_from_its_beginning_in_the_first_time_zone() -> None:
    """It is Monday in New Zealand while it is Sunday by UTC."""
    sunday = datetime(2026, 11, 22, 10, tzinfo=UTC)
    assert newest_day(sunday) == TODAY
    assert newest_day(sunday - timedelta(seconds=1)) < TODAY
    assert stands(recorded(date=str(TODAY))[0])[0]


@pytest.mark.parametrize(("changed", "words"), [
    ({"date": "2026-02-30"}, "no such day"), ({"date": "23.11.2026"}, "no such day"),
    ({"date": "2026-11-24"}, "still to come"), ({"person": ""}, "person"),
    ({"statement": "x" * 20_001}, "statement"),
])  # fmt: skip
def test_what_cannot_be_recorded_is_said(changed: dict[str, Any], words: str) -> None:
    refuses(UsageError, words, recorded, **changed)
