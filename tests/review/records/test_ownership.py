"""The record of ownership by itself: what follows from what was said, in any order, and what nobody can make of it."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileError
from harness.store.attachments import signed_file
from harness.store.sqlite.database import open_store
from harness.vault.opening import MEMORY
from harness.vault.vault import Vault
from review.records import agreeing
from review.records.ownership import (
    OwnershipAction,
    OwnershipState,
    OwnershipTerms,
    Party,
    merged,
    new_terms,
    propose,
    read_ownership,
    say,
)
from review.records.ownership import OwnershipRecord as Record
from review.records.profile import seen
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.grants.made import KEEPERS, OFFICE
from tests.harness.vault.made import ticking
from tests.review.thorough import times

US, ANN, MALLORY = (Identity.make(Role.ORGANISATION) for _ in range(3))


def terms(developer: Identity = ANN, organisation: Identity = US, **changed: object) -> OwnershipTerms:
    fields: dict[str, object] = {
        "run_id": "r1", "card": "ab" * 32, "certificate": "cd" * 32, "composite_at_least": "0.70",
        "method": "chat", "language_pair": "EN→EO",
        "organisation": Party(name="Us", signing_key=organisation.public.signing_key),
        "developer": Party(name="Ann", signing_key=developer.public.signing_key),
    }  # fmt: skip
    return new_terms(**fields | changed)


@pytest.fixture(scope="module")
def proposed() -> Record:
    return propose(terms(), US)


@pytest.fixture(scope="module")
def agreed(proposed: Record) -> Record:
    return say(say(proposed, OwnershipAction.SIGNED, US), OwnershipAction.SIGNED, ANN)


def test_states_follow_from_acts_and_terms(proposed: Record, agreed: Record) -> None:
    assert proposed.state is OwnershipState.PROPOSED
    assert say(proposed, OwnershipAction.SIGNED, US).state is OwnershipState.BY_ORGANISATION
    assert say(proposed, OwnershipAction.SIGNED, ANN).state is OwnershipState.BY_DEVELOPER
    assert agreed.state is OwnershipState.BY_BOTH
    assert say(proposed, OwnershipAction.REFUSED, ANN, "no").state is OwnershipState.REFUSED
    for side in (US, ANN):
        assert say(agreed, OwnershipAction.REVOKED, side, "no more").state is OwnershipState.REVOKED
    said = proposed.terms
    assert (said.organisation_share, said.developer_share) == (90, 10)
    assert (len(said.developer_keeps), len(said.organisation_gains)) == (3, 3)
    assert terms(organisation_share=60).developer_share == 40
    refuses(UsageError, "organisation_share", terms, organisation_share=101)


def test_copies_say_the_same_in_any_order(proposed: Record, agreed: Record) -> None:
    copies = [
        proposed,
        say(proposed, OwnershipAction.SIGNED, ANN),
        say(proposed, OwnershipAction.REFUSED, US, "the code is missing"),
        say(agreed, OwnershipAction.REVOKED, ANN, "it is misused"),
    ]
    found = set()
    for order in permutations(copies):
        one = order[0]
        for each in order[1:]:
            one = merged(one, each)
        found.add(one.data())
    assert len(found) == 1
    assert read_ownership(found.pop()).state is OwnershipState.REVOKED
    for older in (proposed, agreed):  # an old copy takes nothing back
        assert merged(older, copies[-1]).state is OwnershipState.REVOKED
    refuses(UsageError, "other terms", merged, proposed, propose(terms(), US))


def test_side_says_only_what_it_can_and_once(agreed: Record, proposed: Record) -> None:
    for what, who, words in (
        (OwnershipAction.SIGNED, MALLORY, "neither side"), (OwnershipAction.SIGNED, US, "already"),
        (OwnershipAction.REFUSED, US, "answer --revoke"),
    ):  # fmt: skip
        refuses(UsageError, words, say, agreed, what, who, "because")
    refused = say(proposed, OwnershipAction.REFUSED, ANN, "no")
    refuses(UsageError, "refused", say, refused, OwnershipAction.SIGNED, US)
    refuses(UsageError, "did not sign", say, refused, OwnershipAction.REVOKED, US, "no")
    refuses(UsageError, "reason", say, proposed, OwnershipAction.REFUSED, ANN, "  ")
    refuses(UsageError, "nobody agrees with themselves", propose, terms(developer=US), US)
    refuses(UsageError, "Only the organisation", propose, terms(), ANN)


def _act(record: Record, what: str, by: Identity, **changed: str) -> dict[str, Any]:
    fields = {
        "format": "rosetta-ownership-act/1",
        "terms": record.terms.id,
        "what": what,
        "by": by.public.signing_key,
        "when": "2026-11-23T00:00:00Z",
        "reason": "",
    } | changed
    return fields | {"signature": by.sign(canonical_bytes(fields)).hex()}


Change = Callable[[dict[str, Any], Record], object]


def _altered(raw: dict[str, Any], record: Record, *words: tuple[str, Identity]) -> None:
    anew = OwnershipTerms.model_validate(raw["terms"]).id
    raw["acts"] = [_act(record, what, by, terms=anew) for what, by in words]


def _organisation_alters_and_signs_anew(raw: dict[str, Any], record: Record) -> None:
    raw["terms"]["more"] = "and all later methods"
    theirs = [each for each in raw["acts"] if each["by"] == ANN.public.signing_key]
    _altered(raw, record, ("proposed", US), ("signed", US))
    raw["acts"] += theirs


def _one_key_for_both(raw: dict[str, Any], record: Record) -> None:
    raw["terms"]["developer"]["signing_key"] = US.public.signing_key
    _altered(raw, record, ("proposed", US), ("signed", US))


CHANGES: dict[str, tuple[Change, str]] = {
    "developer signs for the organisation": (lambda raw, r: raw["acts"].append(_act(r, "signed", ANN) | {"by": US.public.signing_key}), "changed after it was signed"),
    "organisation alters the share": (lambda raw, _: raw["terms"].update(organisation_share=100), "about other terms"),
    "organisation alters and signs again": (_organisation_alters_and_signs_anew, "about other terms"),
    "a stranger signs": (lambda raw, r: raw["acts"].append(_act(r, "signed", MALLORY)), "neither side"),
    "of another card": (lambda raw, _: raw["terms"].update(card="ef" * 32), "about other terms"),
    "one key for both": (_one_key_for_both, "one key"),
    "developer proposes": (lambda raw, r: raw.update(acts=[_act(r, "proposed", ANN)]), "It was not the organisation that proposed"),
    "revoked unsigned": (lambda raw, r: raw.update(acts=[raw["acts"][0], _act(r, "revoked", ANN, reason="no")]), "never gave"),
    "twice": (lambda raw, _: raw["acts"].insert(1, raw["acts"][1]), "the same twice"),
    "in another order": (lambda raw, _: raw["acts"].reverse(), "order"),
    "without its proposal": (lambda raw, _: raw["acts"].pop(0), "It was not the organisation that proposed"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_somebody_made_of_a_record_is_refused(agreed: Record, name: str) -> None:
    change, words = CHANGES[name]
    raw = json.loads(agreed.data())
    change(raw, agreed)
    refuses(FileError, words, read_ownership, canonical_bytes(raw) + b"\n")


def test_every_changed_byte_is_found(agreed: Record) -> None:
    data, rng = agreed.data(), Random(7)
    for place in rng.sample(range(len(data)), times(40, 150)):
        changed = bytearray(data)
        changed[place] ^= 1 << rng.randrange(8)
        refuses(FileError, "", read_ownership, bytes(changed))
    for end in (0, 1, len(data) // 2, len(data) - 1):
        refuses(FileError, "", read_ownership, data[:end])
    refuses(FileError, "", read_ownership, data + b" " * 70_000)


# keeping what both sides said: two programs at once, and a word whose file could not be written


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_store(tmp_path / "rosetta.sqlite")) as connection:
        yield connection


def kept(store: sqlite3.Connection, record: Record) -> Record:
    data = signed_file(store, record.terms.id)
    assert data is not None
    return read_ownership(data)


@pytest.mark.parametrize("answers", [True, False])
def test_revocation_kept_in_between_is_not_lost(
    store: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    """Another program keeps a revocation just after this one read what is kept: it has to wait, and its word stays."""
    mine = Identity.load(tmp_path, Role.COMPUTER)
    proposed = propose(terms(mine), US)
    revoked = say(say(proposed, OwnershipAction.SIGNED, US), OwnershipAction.REVOKED, US, "misused")
    agreeing.keep(store, proposed)
    with_kept = agreeing.with_kept
    waits: list[bool] = []

    def another_writes(store: sqlite3.Connection, record: Record) -> Record:
        found, path = with_kept(store, record), tmp_path / "rosetta.sqlite"
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as two:
            try:
                agreeing.keep(two, revoked)
            except sqlite3.OperationalError:
                waits.append(True)
        return found

    monkeypatch.setattr(agreeing, "with_kept", another_writes)
    if answers:
        agreeing.answer(store, proposed.data(), OwnershipAction.SIGNED, tmp_path)
    else:
        agreeing.take(store, proposed.data(), tmp_path, US.public.signing_key)
    monkeypatch.undo()
    if waits:
        agreeing.take(store, revoked.data(), tmp_path, US.public.signing_key)
    assert kept(store, proposed).state is OwnershipState.REVOKED


def test_unwritten_word_is_given_again(store: sqlite3.Connection, tmp_path: Path) -> None:
    mine = Identity.load(tmp_path, Role.COMPUTER)
    proposed = propose(terms(mine), US)
    first = agreeing.answer(store, proposed.data(), OwnershipAction.SIGNED, tmp_path)
    again = agreeing.answer(store, proposed.data(), OwnershipAction.SIGNED, tmp_path)
    assert again.data() == first.data() == kept(store, proposed).data()
    refuses(UsageError, "already", agreeing.answer, store, first.data(), OwnershipAction.SIGNED, tmp_path)
    with pytest.raises(UsageError, match="No key of this computer"):
        agreeing.answer(store, propose(terms(ANN), US).data(), OwnershipAction.SIGNED, tmp_path)


def test_the_rows_of_several_vaults_are_told_apart_and_name_none(tmp_path: Path) -> None:
    told = []
    for name in ("a", "b"):
        vault = Vault(tmp_path / name, tmp_path / MEMORY, ticking())
        vault.found(f"Words of {name}", KEEPERS, OFFICE, threshold=2)
        vault.read()
        with closing(open_store(tmp_path / "rosetta.sqlite")) as store:
            told.append(seen(store, tmp_path))
    one, two = told
    assert not any("vault 1 of" in words for rows in one.values() for words in rows)
    for item, rows in two.items():
        assert len(set(rows)) == len(rows), item
    assert [words.partition(":")[0] for words in two["authority"]] == ["vault 1 of 2", "vault 2 of 2"]
    assert not any("Words of" in words for rows in two.values() for words in rows)
