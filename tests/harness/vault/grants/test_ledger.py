"""A keeper who cheats with a program of their own, and signs the lines that it writes: the log is read no further."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from corpora.model.entry import Segment
from harness.sealed.keys import Identity
from harness.sealed.signed_archive import signed_record
from harness.vault.folder import VaultState
from harness.vault.grants.grants import Grants
from harness.vault.ledger import proved_bytes
from harness.vault.log import read_lines
from harness.vault.records import (
    Answered,
    GrantAnswer,
    GrantAsked,
    OpenedByGrant,
    SignedAnswer,
)
from harness.vault.shares.split import OpeningKey
from tests.harness.vault.grants.made import (
    ASKED_AT,
    LIBRARY,
    OFFICE,
    RUN,
    SCHOOL,
    STRANGER,
    allowed,
    asked,
    at,
    founded,
    later,
    opening_key,
    unread,
    with_line,
)


@pytest.fixture(scope="module")
def granted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of which one request has two who allow it, and another one; never changed by a test."""
    folder = tmp_path_factory.mktemp("granted")
    founded(folder)
    grants = at(folder)
    data, _ = asked(grants)
    other, _ = asked(grants)
    for each in allowed(grants, data, SCHOOL, LIBRARY):
        grants.take(each, OFFICE)
    grants.take(allowed(grants, other, SCHOOL)[0], OFFICE)
    return folder


@pytest.fixture
def here(tmp_path: Path, granted: Path) -> Grants:
    shutil.copytree(granted, tmp_path / "here")
    return at(tmp_path / "here", later(0.3))


def proved(state: VaultState, act: OpenedByGrant, key: OpeningKey) -> OpenedByGrant:
    proof = key.sign(proved_bytes(state.head.log_head, act)).hex()
    return act.model_copy(update={"proof": proof})


def used(state: VaultState, place: int = 0) -> OpenedByGrant:
    grant = list(state.grants.values())[place]
    assert grant.id == [*state.grants][place]
    fields = grant.request.model_dump(include={"corpus", "entries", "purpose"})
    return OpenedByGrant(grant=grant.id, **fields)


def test_use_of_other_things_with_too_few_or_too_late_is_not_read(here: Grants) -> None:
    state, key = here.vault.read(), opening_key(here)
    assert len(read_lines(with_line(here, proved(state, used(state), key), SCHOOL))) == 8
    other, nobody = "opens other things than were granted", "uses a grant that nobody gave"
    for change, reason in (
        ({"purpose": "another"}, other),
        ({"entries": {Segment.GOLD_STANDARD: 4}}, other),
        ({"grant": "0" * 64}, nobody),
    ):
        unread(here, proved(state, used(state).model_copy(update=change), key), reason)
    unread(here, proved(state, used(state, 1), key), "fewer than 2 keepers allowed it")
    unread(here, used(state), "were not brought together")
    unread(here, proved(state, used(state), OpeningKey.make()), "were not brought together")
    late = ASKED_AT + timedelta(days=15)
    unread(here, proved(state, used(state), key), "was over", when=late)


def test_a_second_use(here: Grants) -> None:
    [number, *_] = here.vault.read().grants
    key = opening_key(here)
    here.open(number, OFFICE, RUN)
    state = here.vault.read()
    act = OpenedByGrant.model_validate(state.lines[-1].record.act.model_dump() | {"proof": ""})
    unread(here, proved(state, act, key), "uses a grant that nobody gave, or that is used up")


def test_requests_that_cannot_be(here: Grants) -> None:
    state = here.vault.read()
    [grant, *_] = state.grants.values()
    head = {"place": len(state.lines), "prev": state.head.log_head}
    request = grant.request.model_copy(update=head)
    changes: dict[str, dict[str, object]] = {
        "in another's name": {"by": SCHOOL.public.signing_key},
        "another place of the log": {"place": 3},
        "for texts that are not there": {"texts": "0" * 64},
        "entries that are not there, or not to be opened": {"entries": {Segment.HELD_OUT: 2}},
        "for what is over already": {"expires": "2026-01-31T00:00:00Z"},
        "for shares that nobody has": {"split": (request.split + 1) % 2**15},
    }
    for reason, change in changes.items():
        unread(here, GrantAsked(request=request.model_copy(update=change)), reason)
    some = request.model_copy(update={"entries": {Segment.GOLD_STANDARD: 3}})
    unread(here, GrantAsked(request=some), "entries that are not there")


def answered(answer: GrantAnswer, identity: Identity) -> Answered:
    signed = SignedAnswer.model_validate_json(signed_record(answer, identity))
    return Answered(answer=signed)


def test_answers_that_cannot_be(here: Grants) -> None:
    state = here.vault.read()
    one, other = state.grants.values()
    said = one.answers[SCHOOL.public.signing_key].model_dump(exclude={"signature"})
    mine = GrantAnswer.model_validate(said | {"keeper": OFFICE.public.signing_key})

    def change(**more: str) -> GrantAnswer:
        return mine.model_copy(update=more)

    theirs = change(keeper=LIBRARY.public.signing_key, request=other.id)
    unread(here, answered(theirs, OFFICE), "not signed by a keeper of that time")
    stranger = change(keeper=STRANGER.public.signing_key)
    unread(here, answered(stranger, STRANGER), "not signed by a keeper of that time")
    unread(here, answered(change(request="0" * 64), OFFICE), "answers what nobody asked")
    unread(here, answered(change(vault="0" * 64), OFFICE), "answers what nobody asked")
    unread(here, answered(change(share=""), OFFICE), "says two things")
    again = change(keeper=SCHOOL.public.signing_key, when="2026-02-01T09:00:00Z")
    unread(here, answered(again, SCHOOL), "answered already")
