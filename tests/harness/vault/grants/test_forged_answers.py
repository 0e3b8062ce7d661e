"""Answers, requests and lines of the log that strangers or keepers who cheat forge, or with a changed byte."""

import hashlib
import os
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from string import ascii_letters, digits

import pytest

from corpora.model.entry import Segment
from harness.sealed.archive import signed_record
from harness.sealed.keys import Identity
from harness.sealed.sealing import AgeIdentity, SealError
from harness.sealed.strict_records import FileError
from harness.vault import shares as dealing
from harness.vault import vault_records
from harness.vault.folder import VaultState
from harness.vault.grant_log import proved_bytes
from harness.vault.grants import files
from harness.vault.grants.files import open_share, read_answer, read_request, write_answer
from harness.vault.grants.grants import Grants, read_asked
from harness.vault.keepers import keeper_of
from harness.vault.key_shares import OpeningKey, split
from harness.vault.log import read_lines, splits_of
from harness.vault.secret_text import SecretText
from harness.vault.vault import Vault
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.grants import made
from tests.harness.vault.made import refused
from tests.review.thorough import times


def test_who_is_no_keeper_any_more_does_not_count(here: Grants, tmp_path: Path) -> None:
    """Their share is of before the shares were dealt anew, too."""
    data, number = made.asked(here)
    school, library = made.allowed(here, data, made.SCHOOL, made.LIBRARY)
    here.take(school, made.OFFICE)
    here.vault.revoke("Library", "moved away", made.OFFICE, made.opening_key(here))
    refused("somebody who is not, or no longer, a keeper of this vault", here.take, library, made.OFFICE)
    refused("moved or sealed again since", here.open, number, made.OFFICE, made.RUN)
    refused("moved or sealed again since", made.allowed, here, data, made.CHURCH)
    refused("not those of a present keeper of this vault", made.allowed, here, data, made.LIBRARY)
    refused("not those of a present keeper", here.take, school, made.LIBRARY)


def test_answers_end_where_a_new_keeper_got_a_share(here: Grants) -> None:
    data, number = made.asked(here)
    [school] = made.allowed(here, data, made.SCHOOL)
    here.take(school, made.OFFICE)
    key = made.opening_key(here)
    with here.vault.changing(made.OFFICE) as state:  # as earlier versions did, of the same key
        keepers = [*state.keepers.values(), keeper_of(made.STRANGER, "Council")]
        split, files = dealing.deal(key, 2, keepers, splits_of(state.lines))
        act = vault_records.Dealt(keepers=tuple(keepers), split=split, sealed_anew=False, purpose="came")
        here.vault.write(state, dealing.proved(act, state.head.log_head, key), made.OFFICE, files=files)
    refused("keepers got new shares since this was asked for", here.open, number, made.OFFICE, made.RUN)
    refused("keepers got new shares", made.allowed, here, data, made.CHURCH)


def test_answers_of_strangers_and_in_others_names(here: Grants) -> None:
    data, _ = made.asked(here)
    [school] = made.allowed(here, data, made.SCHOOL)
    answer, sealed = read_answer(school)
    plain = vault_records.GrantAnswer.model_validate(answer.model_dump(exclude={"signature"}))
    theirs = plain.model_copy(update={"keeper": made.STRANGER.public.signing_key})
    forged = write_answer(theirs, sealed, made.STRANGER)
    refused("not, or no longer, a keeper of this vault", here.take, forged, made.OFFICE)
    refuses(FileError, "signature does not fit", here.take, write_answer(plain, sealed, made.STRANGER), made.OFFICE)
    refused("not those of a present keeper", here.take, school, made.STRANGER)
    refused("not those of a present keeper", here.answer, data, made.STRANGER, allowed=True)
    refused("not those of a present keeper", here.ask, "greetings", "curious", 14, made.STRANGER)
    assert made.acts(here)[2:] == ["asked"]


def test_share_that_does_not_fit_holds_nothing_up(here: Grants) -> None:
    """A keeper's own program may seal and sign what it likes; the others are enough without them, or they answer again."""
    first, _ = made.asked(here)
    data, number = made.asked(here)
    [real] = made.allowed(here, data, made.LIBRARY)
    request = read_request(data)
    other_key = split(OpeningKey.make(), 2, 4, 7)[0].words
    forged = {
        "answer of Library does not open here, though they signed": read_answer(made.allowed(here, first, made.LIBRARY)[0])[1],
        "What Library sealed is not their share of this vault": files.seal_share(other_key, request),
        "Library sealed is not their share": files.seal_share(SecretText("no words of a share"), request),
    }  # fmt: skip
    for words, sealed in forged.items():
        share = {"share": hashlib.sha256(sealed).hexdigest()}
        plain = vault_records.GrantAnswer.model_validate(read_answer(real)[0].model_dump(exclude={"signature"}) | share)
        refused(words, here.take, write_answer(plain, sealed, made.LIBRARY), made.OFFICE)
    here.take(made.allowed(here, data, made.SCHOOL)[0], made.OFFICE)
    refused(r"Allowed by School\. No answer yet from Office, Library, Church", here.open, number, made.OFFICE, made.RUN)
    here.take(real, made.OFFICE)
    assert len(here.open(number, made.OFFICE, made.RUN)) == 6


def test_whatever_lies_on_the_stick_is_no_answer(here: Grants, tmp_path: Path) -> None:
    """Links without an end, as long as the request they would be taken for; pipes; answers to another request."""
    with pytest.raises(made.StillWaitingError):
        made.awaited(here, tmp_path).allowed(*made.WORK)
    request = tmp_path / "one.rosetta-request"
    [answer] = made.allowed(here, request.read_bytes(), made.SCHOOL)
    length = len(request.read_bytes())
    request.unlink()
    endless = "/dev/zero".rjust(length, "/")
    for name in ("a.rosetta-request", "a.rosetta-answer"):
        (tmp_path / name).symlink_to(endless)
    (tmp_path / "b.rosetta-answer").symlink_to("/dev/ptmx")
    os.mkfifo(tmp_path / "c.rosetta-answer")
    (tmp_path / "d.rosetta-answer").write_bytes(answer)
    (tmp_path / "._d.rosetta-answer").write_bytes(b"of a Mac")
    told: list[str] = []
    other = replace(made.awaited(here, tmp_path), tell=told.extend)
    refuses(made.StillWaitingError, "", other.allowed, "greetings", made.OFFICE, (Segment.DEVELOPMENT,), "another look")
    refusals = [line for line in told if "does not count" in line]
    assert [line[:16] for line in refusals] == [f"{name}.rosetta-answer"[:16] for name in "abcd"]
    assert all("a pipe or a device" in line for line in refusals[:3])
    assert refusals[3] == "d.rosetta-answer answers another request, 'a look', and does not count here."
    assert made.awaited(here, tmp_path).allowed(*made.WORK)
    told.clear()
    with pytest.raises(made.StillWaitingError):
        replace(other, tell=told.extend).allowed("greetings", made.OFFICE, (Segment.DEVELOPMENT,), "another look")
    assert "d.rosetta-answer" not in " ".join(told), "it was imported where it belongs"


def test_answers_to_another_request_and_another_vault(here: Grants, tmp_path: Path) -> None:
    data, _ = made.asked(here)
    [answer] = made.allowed(here, data, made.SCHOOL)
    other = made.founded(tmp_path / "other")
    theirs = Grants(other, here.machine)
    refused("request is for another vault", read_asked, other, data)
    refused("This answer, of School, is for another vault", theirs.take, answer, made.OFFICE)
    refused("does not have the request whose words are", theirs.open, "0" * 64, made.OFFICE)


def test_a_request_of_no_keeper_and_one_beside_the_log(here: Grants, tmp_path: Path) -> None:
    """One keeper asks with a copy of the vault of their own, so that the log of the others never has it."""
    shutil.copytree(here.vault.folder, tmp_path / "own")
    hidden = Grants(Vault(tmp_path / "own", tmp_path / "elsewhere", here.vault.clock), made.OTHER_MACHINE)
    secretly = hidden.ask("greetings", "nothing to see", 14, made.LIBRARY)
    assert here.answer(secretly, made.SCHOOL, allowed=True)  # a copy from before it cannot tell
    made.asked(here)
    refused("log of this vault does not have this request, though", here.answer, secretly, made.SCHOOL, allowed=True)
    request = read_request(secretly)
    fields = request.model_dump(exclude={"signature"}) | {"by": made.STRANGER.public.signing_key}
    forged = files.write_request(vault_records.GrantRequest.model_validate(fields), made.STRANGER)
    refused("Anyone who made this request is not, or no longer", here.answer, forged, made.SCHOOL, allowed=True)


def test_share_needs_both_the_grant_key_and_the_computer(here: Grants) -> None:
    data, number = made.asked(here)
    _, sealed = read_answer(made.allowed(here, data, made.SCHOOL)[0])
    key = here.kept.key(number)
    assert len(open_share(sealed, key, here.machine).reveal().split()) == 33
    for theirs in ((key, made.OTHER_MACHINE), (AgeIdentity.make(), here.machine)):
        refuses(SealError, "sealed for another key", open_share, sealed, *theirs)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("written")
    made.founded(folder)
    grants = made.at(folder)
    data, _ = made.asked(grants)
    refusal = grants.answer(data, made.SCHOOL, allowed=False, reason="not now")
    return {"request": data, "allowed": made.allowed(grants, data, made.SCHOOL)[0], "refused": refusal}


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
    made.founded(folder)
    grants = made.at(folder)
    data, _ = made.asked(grants)
    other, _ = made.asked(grants)
    for each in made.allowed(grants, data, made.SCHOOL, made.LIBRARY):
        grants.take(each, made.OFFICE)
    grants.take(made.allowed(grants, other, made.SCHOOL)[0], made.OFFICE)
    return folder


@pytest.fixture
def there(tmp_path: Path, granted: Path) -> Grants:
    shutil.copytree(granted, tmp_path / "here")
    return made.at(tmp_path / "here", made.later(0.3))


def proved(state: VaultState, act: vault_records.OpenedByGrant, key: OpeningKey) -> vault_records.OpenedByGrant:
    proof = key.sign(proved_bytes(state.head.log_head, act)).hex()
    return act.model_copy(update={"proof": proof})


def used(state: VaultState, place: int = 0) -> vault_records.OpenedByGrant:
    grant = list(state.grants.values())[place]
    assert grant.id == [*state.grants][place]
    fields = grant.request.model_dump(include={"corpus", "entries", "purpose"})
    return vault_records.OpenedByGrant(grant=grant.id, **fields)


def test_use_of_other_things_by_too_few_or_late_is_not_read(there: Grants) -> None:
    state, key = there.vault.read(), made.opening_key(there)
    assert len(read_lines(made.with_line(there, proved(state, used(state), key), made.SCHOOL))) == 8
    other, nobody = "opens other things than were granted", "uses a grant that nobody gave"
    for change, reason in (
        ({"purpose": "another"}, other),
        ({"entries": {Segment.GOLD_STANDARD: 4}}, other),
        ({"grant": "0" * 64}, nobody),
    ):
        made.unread(there, proved(state, used(state).model_copy(update=change), key), reason)
    made.unread(there, proved(state, used(state, 1), key), "fewer than 2 keepers allowed it")
    made.unread(there, used(state), "were not brought together")
    made.unread(there, proved(state, used(state), OpeningKey.make()), "were not brought together")
    late = made.ASKED_AT + timedelta(days=15)
    made.unread(there, proved(state, used(state), key), "was over", when=late)


def test_a_second_use(there: Grants) -> None:
    [number, *_] = there.vault.read().grants
    key = made.opening_key(there)
    there.open(number, made.OFFICE, made.RUN)
    state = there.vault.read()
    act = vault_records.OpenedByGrant.model_validate(state.lines[-1].record.act.model_dump() | {"proof": ""})
    made.unread(there, proved(state, act, key), "uses a grant that nobody gave, or that is used up")


def test_requests_that_cannot_be(there: Grants) -> None:
    state = there.vault.read()
    [grant, *_] = state.grants.values()
    head = {"place": len(state.lines), "prev": state.head.log_head}
    request = grant.request.model_copy(update=head)
    changes: dict[str, dict[str, object]] = {
        "in another's name": {"by": made.SCHOOL.public.signing_key},
        "another place of the log": {"place": 3},
        "for texts that are not there": {"texts": "0" * 64},
        "entries that are not there, or not to be opened": {"entries": {Segment.HELD_OUT: 2}},
        "for what is over already": {"expires": "2026-01-31T00:00:00Z"},
        "for shares that nobody has": {"split": (request.split + 1) % 2**15},
    }
    for reason, change in changes.items():
        made.unread(there, vault_records.GrantAsked(request=request.model_copy(update=change)), reason)
    some = request.model_copy(update={"entries": {Segment.GOLD_STANDARD: 3}})
    made.unread(there, vault_records.GrantAsked(request=some), "entries that are not there")


def answered(answer: vault_records.GrantAnswer, identity: Identity) -> vault_records.Answered:
    signed = vault_records.SignedAnswer.model_validate_json(signed_record(answer, identity))
    return vault_records.Answered(answer=signed)


def test_answers_that_cannot_be(there: Grants) -> None:
    state = there.vault.read()
    one, other = state.grants.values()
    said = one.answers[made.SCHOOL.public.signing_key].model_dump(exclude={"signature"})
    mine = vault_records.GrantAnswer.model_validate(said | {"keeper": made.OFFICE.public.signing_key})

    def change(**more: str) -> vault_records.GrantAnswer:
        return mine.model_copy(update=more)

    theirs = change(keeper=made.LIBRARY.public.signing_key, request=other.id)
    made.unread(there, answered(theirs, made.OFFICE), "not signed by a keeper of that time")
    stranger = change(keeper=made.STRANGER.public.signing_key)
    made.unread(there, answered(stranger, made.STRANGER), "not signed by a keeper of that time")
    made.unread(there, answered(change(request="0" * 64), made.OFFICE), "answers what nobody asked")
    made.unread(there, answered(change(vault="0" * 64), made.OFFICE), "answers what nobody asked")
    made.unread(there, answered(change(share=""), made.OFFICE), "says two things")
    again = change(keeper=made.SCHOOL.public.signing_key, when="2026-02-01T09:00:00Z")
    made.unread(there, answered(again, made.SCHOOL), "answered already")
