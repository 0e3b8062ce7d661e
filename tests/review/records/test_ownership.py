"""The record of ownership by itself: what follows from what was said, in any order, and what nobody can make of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations
from random import Random
from typing import Any

import pytest

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.forms import FileError
from harness.sealed.keys import Identity
from review.records.ownership import (
    Deed,
    OwnershipRecord,
    OwnershipState,
    OwnershipTerms,
    merged,
    propose,
    read_ownership,
    say,
)
from tests.review.records.made import ANN, MALLORY, US, terms


@pytest.fixture(scope="module")
def proposed() -> OwnershipRecord:
    return propose(terms(), US)


@pytest.fixture(scope="module")
def agreed(proposed: OwnershipRecord) -> OwnershipRecord:
    return say(say(proposed, Deed.SIGNED, US), Deed.SIGNED, ANN)


def test_states_follow_from_what_was_said(
    proposed: OwnershipRecord, agreed: OwnershipRecord
) -> None:
    assert proposed.state is OwnershipState.PROPOSED
    assert say(proposed, Deed.SIGNED, US).state is OwnershipState.BY_ORGANISATION
    assert say(proposed, Deed.SIGNED, ANN).state is OwnershipState.BY_DEVELOPER
    assert agreed.state is OwnershipState.BY_BOTH
    assert say(proposed, Deed.REFUSED, ANN, "no").state is OwnershipState.REFUSED
    for side in (US, ANN):
        assert say(agreed, Deed.REVOKED, side, "no more").state is OwnershipState.REVOKED


def test_the_terms_are_those_of_the_specification_unless_both_agree_otherwise(
    proposed: OwnershipRecord,
) -> None:
    said = proposed.terms
    assert (said.organisation_share, said.developer_share) == (90, 10)
    assert len(said.developer_keeps) == 3
    assert len(said.organisation_gains) == 3
    assert terms(organisation_share=60).developer_share == 40
    with pytest.raises(UsageError, match="organisation_share"):
        terms(organisation_share=101)


def test_copies_that_come_back_in_any_order_say_the_same(
    proposed: OwnershipRecord, agreed: OwnershipRecord
) -> None:
    copies = [
        proposed,
        say(proposed, Deed.SIGNED, ANN),
        say(proposed, Deed.REFUSED, US, "the code is missing"),
        say(agreed, Deed.REVOKED, ANN, "it is misused"),
    ]
    found = set()
    for order in permutations(copies):
        one = order[0]
        for each in order[1:]:
            one = merged(one, each)
        found.add(one.data())
    assert len(found) == 1
    assert read_ownership(found.pop()).state is OwnershipState.REVOKED


def test_an_old_copy_takes_nothing_back(agreed: OwnershipRecord, proposed: OwnershipRecord) -> None:
    revoked = say(agreed, Deed.REVOKED, US, "misused")
    for older in (proposed, agreed):
        assert merged(older, revoked).state is OwnershipState.REVOKED


@pytest.mark.parametrize(
    ("what", "who", "words"),
    [
        (Deed.SIGNED, MALLORY, "neither side"),
        (Deed.SIGNED, US, "already"),
        (Deed.REFUSED, US, "ownership revoke"),
    ],
)
def test_a_side_says_only_what_it_can(
    agreed: OwnershipRecord, what: Deed, who: Identity, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        say(agreed, what, who, "because")


def test_what_was_refused_is_not_signed_any_more(proposed: OwnershipRecord) -> None:
    refused = say(proposed, Deed.REFUSED, ANN, "no")
    with pytest.raises(UsageError, match="refused"):
        say(refused, Deed.SIGNED, US)
    with pytest.raises(UsageError, match="did not sign"):
        say(refused, Deed.REVOKED, US, "no")
    with pytest.raises(UsageError, match="reason"):
        say(proposed, Deed.REFUSED, ANN, "  ")


def test_nobody_agrees_with_themselves() -> None:
    with pytest.raises(UsageError, match="nobody agrees with themselves"):
        propose(terms(developer=US), US)
    with pytest.raises(UsageError, match="Only the organisation"):
        propose(terms(), ANN)


def _act(record: OwnershipRecord, what: str, by: Identity, **changed: str) -> dict[str, Any]:
    """Sign whatever somebody likes as a word of a record."""
    fields = {
        "format": "rosetta-ownership-act/1",
        "terms": record.terms.id,
        "what": what,
        "by": by.public.signing_key,
        "when": "2026-11-23T00:00:00Z",
        "reason": "",
    } | changed
    return fields | {"signature": by.sign(canonical_bytes(fields)).hex()}


Change = Callable[[dict[str, Any], OwnershipRecord], None]


def _developer_signs_for_the_organisation(raw: dict[str, Any], record: OwnershipRecord) -> None:
    forged = _act(record, "signed", ANN)
    raw["acts"].append(forged | {"by": US.public.signing_key})


def _organisation_alters_the_share(raw: dict[str, Any], record: OwnershipRecord) -> None:
    raw["terms"]["organisation_share"] = 100


def _organisation_alters_and_signs_anew(raw: dict[str, Any], record: OwnershipRecord) -> None:
    raw["terms"]["more"] = "and all later methods"
    changed = OwnershipTerms.model_validate(raw["terms"])
    mine = {"terms": changed.id}
    ours = [_act(record, what, US, **mine) for what in ("proposed", "signed")]
    raw["acts"] = [
        ours[0],
        ours[1],
        *(each for each in raw["acts"] if each["by"] == ANN.public.signing_key),
    ]


def _a_stranger_signs(raw: dict[str, Any], record: OwnershipRecord) -> None:
    raw["acts"].append(_act(record, "signed", MALLORY))


def _of_another_card(raw: dict[str, Any], record: OwnershipRecord) -> None:
    raw["terms"]["card"] = "ef" * 32


def _one_key_for_both(raw: dict[str, Any], record: OwnershipRecord) -> None:
    raw["terms"]["developer"]["signing_key"] = US.public.signing_key
    changed = OwnershipTerms.model_validate(raw["terms"])
    raw["acts"] = [_act(record, what, US, terms=changed.id) for what in ("proposed", "signed")]


def _developer_proposes(raw: dict[str, Any], record: OwnershipRecord) -> None:
    raw["acts"] = [_act(record, "proposed", ANN)]


def _revoked_unsigned(raw: dict[str, Any], record: OwnershipRecord) -> None:
    raw["acts"] = [raw["acts"][0], _act(record, "revoked", ANN, reason="no")]


def _twice(raw: dict[str, Any], record: OwnershipRecord) -> None:
    raw["acts"] = [*raw["acts"][:2], raw["acts"][1], raw["acts"][2]]


def _in_another_order(raw: dict[str, Any], record: OwnershipRecord) -> None:
    raw["acts"].reverse()


def _without_its_proposal(raw: dict[str, Any], record: OwnershipRecord) -> None:
    raw["acts"] = raw["acts"][1:]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_developer_signs_for_the_organisation, "changed after it was signed"),
        (_organisation_alters_the_share, "about other terms"),
        (_organisation_alters_and_signs_anew, "about other terms"),
        (_a_stranger_signs, "neither side"),
        (_of_another_card, "about other terms"),
        (_one_key_for_both, "one key"),
        (_developer_proposes, "It was not the organisation that proposed"),
        (_revoked_unsigned, "never gave"),
        (_twice, "the same twice"),
        (_in_another_order, "order"),
        (_without_its_proposal, "It was not the organisation that proposed"),
    ],
)
def test_what_somebody_made_of_a_record_is_refused(
    agreed: OwnershipRecord, change: Change, words: str
) -> None:
    raw = json.loads(agreed.data())
    change(raw, agreed)
    with pytest.raises(FileError, match=words):
        read_ownership(canonical_bytes(raw) + b"\n")


def test_every_changed_byte_is_found(agreed: OwnershipRecord) -> None:
    data, rng = agreed.data(), Random(7)
    for place in rng.sample(range(len(data)), 150):
        changed = bytearray(data)
        changed[place] ^= 1 << rng.randrange(8)
        with pytest.raises(FileError):
            read_ownership(bytes(changed))
    for end in (0, 1, len(data) // 2, len(data) - 1):
        with pytest.raises(FileError):
            read_ownership(data[:end])
    with pytest.raises(FileError):
        read_ownership(data + b" " * 70_000)


def test_records_of_different_terms_are_not_joined(proposed: OwnershipRecord) -> None:
    with pytest.raises(UsageError, match="other terms"):
        merged(proposed, propose(terms(), US))
