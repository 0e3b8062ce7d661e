"""Answers and requests of strangers, in others' names, for another request, vault or computer, or with a changed byte."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from string import ascii_letters, digits

import pytest

from harness.sealed.forms import FileError
from harness.sealed.sealing import AgeIdentity, SealError
from harness.vault.grants.files import (
    open_share,
    read_answer,
    read_request,
    write_answer,
    write_request,
)
from harness.vault.grants.grants import Grants, read_asked
from harness.vault.log import VaultError
from harness.vault.records import GrantAnswer, GrantRequest
from harness.vault.vault import Vault
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.grants.made import (
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
    opening_key,
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


def test_a_share_sealed_for_another_request_or_computer_uses_nothing_up(here: Grants) -> None:
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
def test_neither_the_throw_away_key_nor_that_of_the_computer_opens_a_share(here: Grants, thief: str) -> None:  # fmt: skip
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
