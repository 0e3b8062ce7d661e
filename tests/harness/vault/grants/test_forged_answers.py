"""Answers, requests and lines of the log that strangers or keepers who cheat forge, or with a changed byte."""

import random
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from string import ascii_letters, digits

import pytest

from corpora.model.entry import Segment
from harness.sealed.forms import FileError
from harness.sealed.keys import Identity
from harness.sealed.sealing import AgeIdentity, SealError
from harness.sealed.signed_archive import signed_record
from harness.vault.folder import VaultState
from harness.vault.grants.files import (
    open_share,
    read_answer,
    read_request,
    write_answer,
    write_request,
)
from harness.vault.grants.grants import Grants, read_asked
from harness.vault.ledger import proved_bytes
from harness.vault.log import VaultError, read_lines
from harness.vault.records import (
    Answered,
    GrantAnswer,
    GrantAsked,
    GrantRequest,
    OpenedByGrant,
    SignedAnswer,
)
from harness.vault.shares.split import OpeningKey
from harness.vault.vault import Vault
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.grants.made import (
    ASKED_AT,
    CHURCH,
    LIBRARY,
    OFFICE,
    OTHER_MACHINE,
    RUN,
    SCHOOL,
    STRANGER,
    acts,
    allowed,
    asked,
    at,
    founded,
    later,
    opening_key,
    unread,
    with_line,
)
from tests.harness.vault.made import refused
from tests.review.thorough import times


def test_who_is_no_keeper_any_more_does_not_count(here: Grants, tmp_path: Path) -> None:
    """Their share is of before the shares were dealt anew, too."""
    data, number = asked(here)
    school, library = allowed(here, data, SCHOOL, LIBRARY)
    here.take(school, OFFICE)
    here.vault.revoke("Library", "moved away", OFFICE, opening_key(here))
    refused("somebody who is not, or no longer, a keeper of this vault", here.take, library, OFFICE)
    refused("keepers got new shares since this was asked for", here.open, number, OFFICE, RUN)
    refused("keepers got new shares", allowed, here, data, CHURCH)
    refused("not those of a present keeper of this vault", allowed, here, data, LIBRARY)
    refused("not those of a present keeper", here.take, school, LIBRARY)


def test_answers_of_strangers_and_in_others_names(here: Grants) -> None:
    data, _ = asked(here)
    [school] = allowed(here, data, SCHOOL)
    answer, sealed = read_answer(school)
    plain = GrantAnswer.model_validate(answer.model_dump(exclude={"signature"}))
    theirs = plain.model_copy(update={"keeper": STRANGER.public.signing_key})
    forged = write_answer(theirs, sealed, STRANGER)
    refused("not, or no longer, a keeper of this vault", here.take, forged, OFFICE)
    refuses(FileError, "signature does not fit", here.take, write_answer(plain, sealed, STRANGER), OFFICE)  # fmt: skip
    refused("not those of a present keeper", here.take, school, STRANGER)
    refused("not those of a present keeper", here.answer, data, STRANGER, allowed=True)
    refused("not those of a present keeper", here.ask, "greetings", "curious", 14, STRANGER)
    assert acts(here)[2:] == ["asked"]


def test_share_for_another_request_or_computer_uses_nothing_up(here: Grants) -> None:
    """A keeper's own program may seal and sign what it likes."""
    first, _ = asked(here)
    data, number = asked(here)
    other, kept = read_answer(allowed(here, first, LIBRARY)[0])
    real, _ = read_answer(allowed(here, data, LIBRARY)[0])
    plain = GrantAnswer.model_validate(real.model_dump(exclude={"signature"}) | {"share": other.share})  # fmt: skip
    here.take(write_answer(plain, kept, LIBRARY), OFFICE)
    here.take(allowed(here, data, SCHOOL)[0], OFFICE)
    refused("answer of Library does not open here, though they signed", here.open, number, OFFICE, RUN)  # fmt: skip
    here.take(allowed(here, data, CHURCH)[0], OFFICE)


def test_answers_to_another_request_and_another_vault(here: Grants, tmp_path: Path) -> None:
    data, _ = asked(here)
    [answer] = allowed(here, data, SCHOOL)
    other = founded(tmp_path / "other")
    theirs = Grants(other, here.machine)
    refused("request is for another vault", read_asked, other, data)
    refused("This answer, of School, is for another vault", theirs.take, answer, OFFICE)
    refused("does not have the request whose words are", theirs.open, "0" * 64, OFFICE)


def test_a_request_of_no_keeper_and_one_beside_the_log(here: Grants, tmp_path: Path) -> None:
    """One keeper asks with a copy of the vault of their own, so that the log of the others never has it."""
    shutil.copytree(here.vault.folder, tmp_path / "own")
    hidden = Grants(Vault(tmp_path / "own", tmp_path / "elsewhere", here.vault.clock), OTHER_MACHINE)  # fmt: skip
    secretly = hidden.ask("greetings", "nothing to see", 14, LIBRARY)
    assert here.answer(secretly, SCHOOL, allowed=True)  # a copy from before it cannot tell
    asked(here)
    refused("log of this vault does not have this request, though", here.answer, secretly, SCHOOL, allowed=True)  # fmt: skip
    request = read_request(secretly)
    fields = request.model_dump(exclude={"signature"}) | {"by": STRANGER.public.signing_key}
    with pytest.raises(
        VaultError, match="Whoever made this request is not, or no longer, a keeper"
    ):
        here.answer(write_request(GrantRequest.model_validate(fields), STRANGER), SCHOOL, allowed=True)  # fmt: skip


@pytest.mark.parametrize("thief", ["key", "machine"])
def test_share_needs_both_the_grant_key_and_the_computer(here: Grants, thief: str) -> None:
    data, number = asked(here)
    _, sealed = read_answer(allowed(here, data, SCHOOL)[0])
    key = here.kept.key(number)
    assert len(open_share(sealed, key, here.machine).reveal().split()) == 33
    theirs = {"key": (key, OTHER_MACHINE), "machine": (AgeIdentity.make(), here.machine)}
    refuses(SealError, "sealed for another key", open_share, sealed, *theirs[thief])


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("written")
    founded(folder)
    grants = at(folder)
    data, _ = asked(grants)
    refusal = grants.answer(data, SCHOOL, allowed=False, reason="not now")
    return {"request": data, "allowed": allowed(grants, data, SCHOOL)[0], "refused": refusal}


@pytest.mark.parametrize("name", ["request", "allowed", "refused"])
def test_every_single_byte_counts(written: dict[str, bytes], name: str) -> None:
    data, draw, words = written[name], random.Random(name), "Ask for the file once more"
    read: Callable[[bytes], object] = read_request if name == "request" else read_answer
    read(data)
    for place in range(0, len(data), times(7, 1)):
        changed = data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1 :]
        for spoilt in (changed, data[:place] + data[place + 1 :], data[: place + 1] + data[place:]):
            refuses(FileError, words, read, spoilt)
        refuses(FileError, "", read, data[:place])
    other = Path(__file__).read_bytes()
    for spoilt in (b"", data + b"\n", data * 20, b"[" * 100_000, b"\xff", other):
        refuses(FileError, "", read, spoilt)


def test_bits_behind_the_end_of_a_share_count(written: dict[str, bytes]) -> None:
    """Base64 has letters whose last bits mean nothing; they are one form only here."""
    data = written["allowed"]
    end = data.index(b'"', data.index(b'"sealed":"') + 10)
    last = data[:end].rstrip(b"=")
    for other in f"{ascii_letters}{digits}+/":
        if ord(other) != last[-1]:
            spoilt = last[:-1] + other.encode() + data[len(last) :]
            refuses(FileError, "Ask for the file once more", read_answer, spoilt)


# A keeper who cheats with a program of their own, and signs the lines that it writes: the log is read no further


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
def there(tmp_path: Path, granted: Path) -> Grants:
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


def test_use_of_other_things_by_too_few_or_late_is_not_read(there: Grants) -> None:
    state, key = there.vault.read(), opening_key(there)
    assert len(read_lines(with_line(there, proved(state, used(state), key), SCHOOL))) == 8
    other, nobody = "opens other things than were granted", "uses a grant that nobody gave"
    for change, reason in (
        ({"purpose": "another"}, other),
        ({"entries": {Segment.GOLD_STANDARD: 4}}, other),
        ({"grant": "0" * 64}, nobody),
    ):
        unread(there, proved(state, used(state).model_copy(update=change), key), reason)
    unread(there, proved(state, used(state, 1), key), "fewer than 2 keepers allowed it")
    unread(there, used(state), "were not brought together")
    unread(there, proved(state, used(state), OpeningKey.make()), "were not brought together")
    late = ASKED_AT + timedelta(days=15)
    unread(there, proved(state, used(state), key), "was over", when=late)


def test_a_second_use(there: Grants) -> None:
    [number, *_] = there.vault.read().grants
    key = opening_key(there)
    there.open(number, OFFICE, RUN)
    state = there.vault.read()
    act = OpenedByGrant.model_validate(state.lines[-1].record.act.model_dump() | {"proof": ""})
    unread(there, proved(state, act, key), "uses a grant that nobody gave, or that is used up")


def test_requests_that_cannot_be(there: Grants) -> None:
    state = there.vault.read()
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
        unread(there, GrantAsked(request=request.model_copy(update=change)), reason)
    some = request.model_copy(update={"entries": {Segment.GOLD_STANDARD: 3}})
    unread(there, GrantAsked(request=some), "entries that are not there")


def answered(answer: GrantAnswer, identity: Identity) -> Answered:
    signed = SignedAnswer.model_validate_json(signed_record(answer, identity))
    return Answered(answer=signed)


def test_answers_that_cannot_be(there: Grants) -> None:
    state = there.vault.read()
    one, other = state.grants.values()
    said = one.answers[SCHOOL.public.signing_key].model_dump(exclude={"signature"})
    mine = GrantAnswer.model_validate(said | {"keeper": OFFICE.public.signing_key})

    def change(**more: str) -> GrantAnswer:
        return mine.model_copy(update=more)

    theirs = change(keeper=LIBRARY.public.signing_key, request=other.id)
    unread(there, answered(theirs, OFFICE), "not signed by a keeper of that time")
    stranger = change(keeper=STRANGER.public.signing_key)
    unread(there, answered(stranger, STRANGER), "not signed by a keeper of that time")
    unread(there, answered(change(request="0" * 64), OFFICE), "answers what nobody asked")
    unread(there, answered(change(vault="0" * 64), OFFICE), "answers what nobody asked")
    unread(there, answered(change(share=""), OFFICE), "says two things")
    again = change(keeper=SCHOOL.public.signing_key, when="2026-02-01T09:00:00Z")
    unread(there, answered(again, SCHOOL), "answered already")
