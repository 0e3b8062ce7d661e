"""Answers and requests of strangers, in others' names, or made for another request, vault or computer."""

import shutil
from pathlib import Path

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
    founded,
    opening_key,
)


def test_who_is_no_keeper_any_more_does_not_count(here: Grants, tmp_path: Path) -> None:
    """Their share is of before the shares were dealt anew, too."""
    data, number = asked(here)
    school, library = allowed(here, data, SCHOOL, LIBRARY)
    here.take(school, OFFICE)
    here.vault.revoke("Library", "moved away", OFFICE, opening_key(here))
    with pytest.raises(
        VaultError, match="somebody who is not, or no longer, a keeper of this vault"
    ):
        here.take(library, OFFICE)
    with pytest.raises(VaultError, match="keepers got new shares since this was asked for"):
        here.open(number, OFFICE, RUN)
    with pytest.raises(VaultError, match="keepers got new shares"):
        allowed(here, data, CHURCH)
    with pytest.raises(VaultError, match="not those of a present keeper of this vault"):
        allowed(here, data, LIBRARY)
    with pytest.raises(VaultError, match="not those of a present keeper"):
        here.take(school, LIBRARY)


def test_answers_of_strangers_and_in_others_names(here: Grants) -> None:
    data, _ = asked(here)
    [school] = allowed(here, data, SCHOOL)
    answer, sealed = read_answer(school)
    plain = GrantAnswer.model_validate(answer.model_dump(exclude={"signature"}))
    forged = write_answer(plain.model_copy(update={"keeper": STRANGER.public.signing_key}), sealed, STRANGER)  # fmt: skip
    with pytest.raises(VaultError, match="not, or no longer, a keeper of this vault"):
        here.take(forged, OFFICE)
    with pytest.raises(FileError, match="signature does not fit"):
        here.take(write_answer(plain, sealed, STRANGER), OFFICE)
    with pytest.raises(VaultError, match="not those of a present keeper"):
        here.take(school, STRANGER)
    with pytest.raises(VaultError, match="not those of a present keeper"):
        here.answer(data, STRANGER, allowed=True)
    with pytest.raises(VaultError, match="not those of a present keeper"):
        here.ask("greetings", "curious", 14, STRANGER)
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
    with pytest.raises(
        VaultError, match="answer of Library does not open here, though they signed"
    ):
        here.open(number, OFFICE, RUN)
    here.take(allowed(here, data, CHURCH)[0], OFFICE)


def test_answers_to_another_request_and_another_vault(here: Grants, tmp_path: Path) -> None:
    data, _ = asked(here)
    [answer] = allowed(here, data, SCHOOL)
    other = founded(tmp_path / "other")
    theirs = Grants(other, here.machine)
    with pytest.raises(VaultError, match="request is for another vault"):
        read_asked(other, data)
    with pytest.raises(VaultError, match="This answer, of School, is for another vault"):
        theirs.take(answer, OFFICE)
    with pytest.raises(VaultError, match="does not have the request whose words are"):
        theirs.open("0" * 64, OFFICE)


def test_a_request_of_no_keeper_and_one_beside_the_log(here: Grants, tmp_path: Path) -> None:
    """One keeper asks with a copy of the vault of their own, so that the log of the others never has it."""
    shutil.copytree(here.vault.folder, tmp_path / "own")
    hidden = Grants(Vault(tmp_path / "own", tmp_path / "elsewhere", here.vault.clock), OTHER_MACHINE)  # fmt: skip
    secretly = hidden.ask("greetings", "nothing to see", 14, LIBRARY)
    assert here.answer(secretly, SCHOOL, allowed=True)  # a copy from before it cannot tell
    asked(here)
    with pytest.raises(VaultError, match="log of this vault does not have this request, though"):
        here.answer(secretly, SCHOOL, allowed=True)
    request = read_request(secretly)
    fields = request.model_dump(exclude={"signature"}) | {"by": STRANGER.public.signing_key}
    with pytest.raises(
        VaultError, match="Whoever made this request is not, or no longer, a keeper"
    ):
        here.answer(write_request(GrantRequest.model_validate(fields), STRANGER), SCHOOL, allowed=True)  # fmt: skip


@pytest.mark.parametrize("thief", ["key", "machine"])
def test_neither_the_throw_away_key_nor_that_of_the_computer_opens_a_share(
    here: Grants, thief: str
) -> None:
    data, number = asked(here)
    _, sealed = read_answer(allowed(here, data, SCHOOL)[0])
    key = here.kept.key(number)
    assert len(open_share(sealed, key, here.machine).reveal().split()) == 33
    theirs = {"key": (key, OTHER_MACHINE), "machine": (AgeIdentity.make(), here.machine)}
    with pytest.raises(SealError, match="sealed for another key"):
        open_share(sealed, *theirs[thief])
