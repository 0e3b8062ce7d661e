"""What somebody may have done to a stick on its way: each is refused in words, and the rest is taken all the same."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.core.canonical import canonical_bytes
from harness.exchange.folder import MOST_MANIFESTS, NAME
from harness.sealed.forms import FileError
from harness.sealed.keys import Identity, Role
from tests import keyring_in_memory
from tests.harness.exchange.computers import Computer, computers, files_on

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(autouse=True)
def keyring() -> Iterator[None]:
    with keyring_in_memory.memory_keyring():
        yield


@pytest.fixture
def made(tmp_path: Path) -> tuple[Computer, Computer, Path]:
    """Two computers, and a stick with two cards of the office."""
    office, school, stick = computers(tmp_path)
    office.out(stick, office.card("Ana"), office.card("Bo"))
    return office, school, stick


def card_on(stick: Path, office: Computer, name: str = "Ana") -> Path:
    """Where a card of the office lies on the stick."""
    wanted = office.card(name).read_bytes()
    [found] = [each for each in files_on(stick) if each.read_bytes() == wanted]
    return found


def sign_again(computer: Computer, stick: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a computer's list and sign it with its own keys, as a computer that cheats would."""
    path = computer.list_on(stick)
    fields = json.loads(path.read_bytes())
    fields.pop("signature")
    change(fields)
    signature = computer.identity.sign(canonical_bytes(fields)).hex()
    path.write_bytes(canonical_bytes({**fields, "signature": signature}))


Harm = Callable[[Path, Path], None]


def as_link(path: Path, elsewhere: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    (elsewhere / "a secret of the other computer").write_bytes(data)
    path.symlink_to(elsewhere / "a secret of the other computer")


def as_pipe(path: Path, _: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def as_folder(path: Path, _: Path) -> None:
    path.unlink()
    path.mkdir()


def as_endless(path: Path, _: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(2**40)


def as_device(path: Path, _: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def cut(path: Path, _: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def changed(path: Path, _: Path) -> None:
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(bytes(data))


def gone(path: Path, _: Path) -> None:
    path.unlink()


def twice(path: Path, _: Path) -> None:
    shutil.copy(path, path.with_name(path.name.upper()))


NOT_SIGNED = "not those that were signed for"
HARMS: list[tuple[Harm, str, str | None]] = [
    (as_link, "lies a link", "lies a link"),
    (as_device, "lies a link", "lies a link"),
    (as_pipe, "lies a pipe", "lies a pipe"),
    (as_folder, "lies a folder", None),
    (as_endless, NOT_SIGNED, "larger than any file"),
    (cut, NOT_SIGNED, "no list of an exchange folder"),
    (changed, NOT_SIGNED, ""),
    (gone, "missing on the stick", None),
    (twice, "differ in small and capital letters only", None),
]
"""What somebody did, what is said of a file that they did it to, and of a list; None: of a list nothing."""


@pytest.mark.parametrize(("harm", "words", "_"), HARMS)
def test_a_file_that_somebody_changed_is_refused_and_the_other_taken(
    made: tuple[Computer, Computer, Path], tmp_path: Path, harm: Harm, words: str, _: str | None
) -> None:
    office, school, stick = made
    harm(card_on(stick, office), tmp_path)
    taken = school.take(stick)
    [(name, why)] = taken.refused
    assert name == "Ana.rosetta-keeper"
    assert words in why
    assert school.has() == ["Bo.rosetta-keeper"]


@pytest.mark.parametrize(
    ("harm", "words"), [(harm, words) for harm, _, words in HARMS if words is not None]
)
def test_a_list_that_somebody_changed_counts_for_nothing(
    made: tuple[Computer, Computer, Path], tmp_path: Path, harm: Harm, words: str
) -> None:
    office, school, stick = made
    harm(office.list_on(stick), tmp_path)
    taken = school.take(stick)
    assert [words in why for _, why in taken.refused] == [True]
    assert school.has() == []


def test_a_disk_that_made_capitals_of_the_names_is_read(
    made: tuple[Computer, Computer, Path],
) -> None:
    _, school, stick = made
    for path in files_on(stick):
        path.rename(path.with_name(path.name.upper()))
    assert (len(school.take(stick).new), school.look(stick).unnamed) == (2, 0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "../../escaped.rosetta-keeper"}, "a name that no file may"),
        ({"name": "/etc/x.rosetta-keeper"}, "a name that no file may"),
        ({"name": "con.rosetta-keeper"}, "a name that no file may"),
        ({"name": "a\x1b[2J.rosetta-keeper"}, "a name that no file may"),
        ({"name": "a\\b.rosetta-keeper"}, "a name that no file may"),
        ({"name": "x.exe"}, "not a kind of file that this version can pass on"),
        ({"name": "x.json"}, "missing on the stick"),  # another kind's file lies there
        ({"size": 2**50}, "4,096 at most"),
        ({"size": 7}, "not those that were signed for"),
    ],
)
def test_a_known_computer_that_cheats_gets_no_further(
    made: tuple[Computer, Computer, Path], tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    office, school, stick = made
    key = hashlib.sha256(office.card("Ana").read_bytes()).hexdigest()

    def cheat(fields: dict[str, Any]) -> None:
        fields["files"][key] |= change

    sign_again(office, stick, cheat)
    taken = school.take(stick)
    assert [words in why for _, why in taken.refused] == [True], taken.refused
    assert not (tmp_path / "escaped.rosetta-keeper").exists()
    assert [each.name for each in tmp_path.rglob("escaped*")] == []


def bomb() -> bytes:
    """Write a zip that is small and unpacks to a hundred million zeros."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", bytes(100_000_000))
    return packed.getvalue()


def test_a_zip_bomb_of_a_known_computer_is_not_unpacked(
    made: tuple[Computer, Computer, Path],
) -> None:
    office, school, stick = made
    data = bomb()
    path = office.home / "x.rosetta-archive"
    path.write_bytes(data)
    with pytest.raises(FileError, match="packed again by another program"):
        office.out(stick, path)
    key = hashlib.sha256(data).hexdigest()
    (stick / NAME / "files" / f"{key}.rosetta-archive").write_bytes(data)

    def cheat(fields: dict[str, Any]) -> None:
        fields["files"][key] = {"name": path.name, "size": len(data)}

    sign_again(office, stick, cheat)
    [(name, why)] = school.take(stick).refused
    assert (name, "packed again by another program" in why) == (path.name, True)
    assert school.has() == ["Ana.rosetta-keeper", "Bo.rosetta-keeper"]


def test_a_stranger_is_not_believed_until_six_words_were_compared(
    made: tuple[Computer, Computer, Path],
) -> None:
    _, school, stick = made
    [(name, why)] = school.take(stick, known=False).refused
    assert (name, "Nothing was taken from it" in why) == ("Office", True)
    assert school.has() == []
    assert len(school.take(stick).new) == 2
    assert len(school.take(stick, known=False).refused) == 0, "it is known from now on"


def test_a_list_under_anothers_name_or_from_another_stick_is_refused(
    made: tuple[Computer, Computer, Path], tmp_path: Path
) -> None:
    office, school, stick = made
    thief = Computer(tmp_path / "thief", "Office")
    other = tmp_path / "other"
    thief.out(other, thief.card("Eve"))
    school.take(stick)
    list_of_thief = thief.list_on(other).read_bytes()
    office.list_on(stick).write_bytes(list_of_thief)
    [(_, why)] = school.take(stick).refused
    assert "signed by another computer" in why
    office.list_on(stick).unlink()
    thief.list_on(stick).write_bytes(list_of_thief)
    [(_, why)] = school.take(stick).refused
    assert "written for another stick" in why
    assert "Eve.rosetta-keeper" not in school.has()


def test_an_older_state_of_the_stick_is_known_and_refused(
    made: tuple[Computer, Computer, Path], tmp_path: Path
) -> None:
    office, school, stick = made
    shutil.copytree(stick, tmp_path / "earlier")
    office.out(stick, office.card("Cee"))
    school.take(stick)
    shutil.rmtree(stick)
    shutil.copytree(tmp_path / "earlier", stick)
    [(name, why)] = school.take(stick).refused
    assert name == "Office"
    assert "older state of this list than this computer saw on it: state 1 after 2" in why
    done = office.out(stick, office.card("Dee"))  # its own record goes on from where it was
    assert (done.state, done.lost) == (3, ("Cee.rosetta-keeper",))
    taken = school.take(stick)
    assert ([each.name for each in taken.new], taken.refused) == (["Dee.rosetta-keeper"], [])


def test_two_lists_under_one_number_are_told(
    made: tuple[Computer, Computer, Path], tmp_path: Path
) -> None:
    """The data folder of the office is copied, and both go on."""
    office, school, stick = made
    shutil.copytree(stick, tmp_path / "earlier")
    other = Computer(tmp_path / "copied", "Office")
    shutil.copytree(office.home, other.home)
    office.out(stick, office.card("Cee"))
    school.take(stick)
    other.out(tmp_path / "earlier", office.card("Dee"))
    shutil.copy(other.list_on(tmp_path / "earlier"), office.list_on(stick))
    [(_, why)] = school.take(stick).refused
    assert "says something else under the same number (2)" in why


def test_a_record_that_was_put_back_goes_on_from_what_the_stick_has(
    made: tuple[Computer, Computer, Path], tmp_path: Path
) -> None:
    office, school, stick = made
    shutil.copytree(office.home / "exchange", tmp_path / "backup")
    office.out(stick, office.card("Cee"))
    school.take(stick)
    shutil.rmtree(office.home / "exchange")
    shutil.copytree(tmp_path / "backup", office.home / "exchange")
    done = office.out(stick, office.card("Dee"))
    assert (done.state, len(done.files)) == (3, 4)
    assert [each.name for each in school.take(stick).new] == ["Dee.rosetta-keeper"]


@pytest.mark.parametrize("folder", ["", "files", "vaults"])
def test_a_folder_that_is_a_link_is_neither_read_nor_written(
    made: tuple[Computer, Computer, Path], tmp_path: Path, folder: str
) -> None:
    office, school, stick = made
    place = stick / NAME / folder
    shutil.move(place, tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    before = sorted((tmp_path / "elsewhere").rglob("*"))
    for act in (lambda: school.take(stick), lambda: office.out(stick, office.card("Cee"))):
        with pytest.raises(FileError, match="lies a link"):
            act()
    assert sorted((tmp_path / "elsewhere").rglob("*")) == before


def test_a_link_where_a_file_is_to_be_written_is_not_written_through(
    made: tuple[Computer, Computer, Path], tmp_path: Path
) -> None:
    office, school, stick = made
    own = tmp_path / "a file of mine"
    own.write_text("mine")
    card = office.card("Cee")
    name = f"{hashlib.sha256(card.read_bytes()).hexdigest()}.rosetta-keeper"
    for path in (stick / NAME / "files" / name, stick / NAME / "files" / f".{name}.part"):
        path.symlink_to(own)
    office.list_on(stick).unlink()
    office.list_on(stick).symlink_to(own)
    office.out(stick, card)
    assert own.read_text() == "mine"
    assert len(school.take(stick).new) == 3


def test_a_head_that_is_another_programs_is_left_alone(
    made: tuple[Computer, Computer, Path],
) -> None:
    office, school, stick = made
    (stick / NAME / "exchange.json").write_text('{"format": "rosetta-exchange-folder/9"}')
    for act in (lambda: school.take(stick), lambda: office.out(stick, office.card("Cee"))):
        with pytest.raises(FileError, match="does not say which exchange folder this is"):
            act()


def test_a_stick_that_is_full_of_lists_is_refused_whole(
    made: tuple[Computer, Computer, Path],
) -> None:
    _, school, stick = made
    for number in range(MOST_MANIFESTS):
        (stick / NAME / f"{number:032x}.rosetta-exchange").write_text("")
    with pytest.raises(FileError, match="are read at most"):
        school.take(stick)


def test_what_no_list_names_is_counted_and_left(made: tuple[Computer, Computer, Path]) -> None:
    office, school, stick = made
    planted = stick / NAME / "files" / "planted.rosetta-keeper"
    planted.write_bytes(office.card("Eve").read_bytes())
    assert school.look(stick).unnamed == 1
    school.take(stick)
    assert "planted.rosetta-keeper" not in school.has()


def test_a_vault_that_is_not_the_one_that_was_signed_for_is_refused(
    made: tuple[Computer, Computer, Path], tmp_path: Path
) -> None:
    from datetime import UTC, datetime

    from harness.exchange.putting_out import VaultToCopy
    from harness.vault.vault import Vault
    from tests.harness.vault.made import KEEPERS, MINE, ticking

    office, school, stick = made
    vault = Vault(tmp_path / "elders", office.memory, ticking())
    vault.found("Words", KEEPERS, MINE)
    office.out(stick, vault=VaultToCopy(vault, "first", MINE))
    [place] = (stick / NAME / "vaults").iterdir()
    shutil.copytree(place, tmp_path / "older")
    office.out(stick, vault=VaultToCopy(vault, "second", MINE))
    shutil.copytree(place, tmp_path / "newer")
    for other, words in (
        ("older", "not the one that was signed for, or an older copy"),
        ("", "is no vault"),
    ):
        shutil.rmtree(place)
        if other:
            shutil.copytree(tmp_path / other, place)
        [(name, why)] = school.take(stick).refused
        assert name.startswith("the vault ")
        assert words in why
    fork = Vault(tmp_path / "older", tmp_path / "a keeper's memory", ticking())
    fork.export(tmp_path / "thrown away", "a way of its own", MINE)
    shutil.copytree(tmp_path / "older", place)
    [(_, why)] = school.take(stick).refused
    assert "not the one that was signed for" in why
    shutil.rmtree(place)
    shutil.copytree(tmp_path / "newer", place)
    (place / "log.jsonl").unlink()
    (place / "log.jsonl").symlink_to(tmp_path / "newer" / "log.jsonl")
    [(_, why)] = school.take(stick).refused
    assert "a link lies in its place" in why
    (place / "log.jsonl").unlink()
    shutil.copy(tmp_path / "newer" / "log.jsonl", place / "log.jsonl")
    [arrived] = school.take(stick).new
    assert len(Vault(arrived.place, school.memory, lambda: datetime.now(UTC)).read().lines) == 3


def test_a_damaged_record_is_said_with_its_mend(made: tuple[Computer, Computer, Path]) -> None:
    _, school, stick = made
    school.take(stick)
    record = school.home / "exchange" / "record.json"
    record.write_text("{")
    with pytest.raises(Exception, match="Put back a copy of it, or delete it"):
        school.take(stick)
    record.unlink()
    again = school.take(stick)
    assert (len(again.new), again.refused) == (2, []), "found again in its place"


def test_keys_of_others_sign_nothing(made: tuple[Computer, Computer, Path]) -> None:
    office, school, stick = made
    stranger = Identity.make(Role.COMPUTER)
    path = office.list_on(stick)
    fields = json.loads(path.read_bytes())
    fields.pop("signature")
    signature = stranger.sign(canonical_bytes(fields)).hex()
    path.write_bytes(canonical_bytes({**fields, "signature": signature}))
    [(_, why)] = school.take(stick).refused
    assert "changed after it was signed" in why
