"""Consent that was given: a record with community, person, day and statement, signed; anything else is none."""

from __future__ import annotations

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
from harness.consent.standing import NOTHING, standing
from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Role, key_phrase
from harness.sealed.signed_archive import signed_record
from tests.harness.consent.made import register

SAID = {
    "corpus": "words", "source_language": "en", "target_language": "crk",
    "community": "Our nation", "person": "Mary, chair of the council", "date": "2026-11-20",
    "statement": "The sentences may be used to try machines.", "recorded_by": "Language office",
}  # fmt: skip
TODAY = date(2026, 11, 23)


def recorded(**changed: Any) -> tuple[SignedConsent, Identity]:
    identity = Identity.make(Role.ORGANISATION)
    return record_consent(SAID | changed, identity, TODAY), identity


def dataset(consent: object, **changed: Any) -> Dataset:
    facts = {
        "id": "words",
        "language_pair": "EN→CRK",
        "source_language": "en",
        "target_language": "crk",
    }
    return Dataset.model_validate(facts | changed | {"consent": consent})


def test_a_signed_record_counts_and_is_told() -> None:
    record, identity = recorded()
    standing = consent_standing(dataset(record.model_dump(mode="json")), NOTHING)
    assert standing.documented
    assert "Mary, chair of the council, 2026-11-20" in standing.note
    assert key_phrase(identity.public.signing_key) in standing.note


@pytest.mark.parametrize("truthy", [True, "yes", "council, 2026", {"use_allowed_by": 3}, ["yes"]])
def test_a_truthy_field_is_no_record(truthy: object) -> None:
    standing = consent_standing(dataset(truthy), NOTHING)
    assert not standing.documented
    assert "no signed record" in standing.note


@pytest.mark.parametrize("empty", [None, "", {}, False])
def test_nothing_is_nothing(empty: object) -> None:
    standing = consent_standing(dataset(empty), NOTHING)
    assert (standing.documented, standing.note) == (False, "not documented")


@pytest.mark.parametrize("name", [*ConsentGiven.model_fields, "signature"])
def test_a_record_of_which_anything_was_changed_does_not_count(name: str) -> None:
    record, _ = recorded()
    told = record.model_dump(mode="json")
    other = recorded(person="Somebody else")[0].model_dump(mode="json")
    told[name] = other[name] if other[name] != told[name] else f"{told[name]}x"
    assert not consent_standing(dataset(told), NOTHING).documented


def test_a_record_about_another_corpus_does_not_count() -> None:
    record, _ = recorded()
    told = record.model_dump(mode="json")
    for changed in ({"id": "other"}, {"target_language": "cr"}, {"source_language": "fr"}):
        standing = consent_standing(dataset(told, **changed), NOTHING)
        assert (standing.documented, "another corpus" in standing.note) == (False, True)


@pytest.mark.parametrize("day", ["2099-99-99", "2026-02-30", "9999-12-31"])
def test_a_record_of_a_day_that_has_not_begun_does_not_count(day: str) -> None:
    identity = Identity.make(Role.ORGANISATION)
    fields = ConsentGiven(**SAID | {"date": day}, signing_key=identity.public.signing_key)
    record = SignedConsent.model_validate_json(signed_record(fields, identity), strict=True)
    found = consent_standing(dataset(record.model_dump(mode="json")), NOTHING)
    assert (found.documented, day in found.note) == (False, True)


def test_a_day_counts_from_its_beginning_in_the_first_time_zone() -> None:
    """It is Monday in New Zealand while it is Sunday by UTC."""
    record, _ = recorded(date=str(TODAY))
    sunday = datetime(2026, 11, 22, 10, tzinfo=UTC)
    assert newest_day(sunday) == TODAY
    assert newest_day(sunday - timedelta(seconds=1)) < TODAY
    assert consent_standing(dataset(record.model_dump(mode="json")), NOTHING).documented


def test_a_record_whose_key_was_revoked_does_not_count(tmp_path: Path) -> None:
    record, identity = recorded()
    told = dataset(record.model_dump(mode="json"))
    register(tmp_path).say(OfKey(signing_key=identity.public.signing_key), "stolen", "Us")
    found = consent_standing(told, standing(tmp_path))
    assert (found.documented, "revoked" in found.note) == (False, True)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"date": "2026-02-30"}, "no such day"), ({"date": "23.11.2026"}, "no such day"),
        ({"date": "2026-11-24"}, "still to come"), ({"person": ""}, "person"),
        ({"statement": "x" * 20_001}, "statement"),
    ],
)  # fmt: skip
def test_what_cannot_be_recorded_is_said(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        recorded(**changed)
