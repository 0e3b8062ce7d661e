"""What somebody may have done to a stick on its way: each is refused in words, and the rest is taken all the same."""

import hashlib
import io
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness.core.canonical import canonical_bytes
from harness.exchange.folder import MOST_MANIFESTS, NAME
from harness.exchange.putting_out import VaultToCopy
from harness.sealed.forms import FileError
from harness.sealed.keys import Identity, Role
from harness.vault.vault import Vault
from tests.harness.exchange.computers import Computer, files_on
from tests.harness.exchange.conftest import Three
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import KEEPERS, MINE, ticking

pytestmark = pytest.mark.filterwarnings("error")


def card_on(stick: Path, office: Computer, name: str = "Ana") -> Path:
    """Where a card of the office lies on the stick."""
    wanted = office.card(name).read_bytes()
    [found] = [each for each in files_on(stick) if each.read_bytes() == wanted]
    return found


def why(school: Computer, stick: Path) -> str:
    """Return why one thing on the stick was refused."""
    [(_, words)] = school.take(stick).refused
    return words


def put_back(kept: Path, place: Path) -> None:
    shutil.rmtree(place)
    shutil.copytree(kept, place)


def sign_again(computer: Computer, stick: Path, key: str, by: Identity | None = None, **change: Any) -> None:  # fmt: skip
    """Change a file in a computer's list and sign it with its own keys, as a computer that cheats would."""
    path = computer.list_on(stick)
    fields = json.loads(path.read_bytes())
    fields.pop("signature")
    fields["files"][key] = fields["files"].get(key, {}) | change
    signature = (by or computer.identity).sign(canonical_bytes(fields)).hex()
    path.write_bytes(canonical_bytes({**fields, "signature": signature}))


Harm = Callable[[Path, Path], object]


def planted(make: Callable[[Path], object]) -> Harm:
    def harm(path: Path, _: Path) -> None:
        path.unlink()
        make(path)

    return harm


def as_link(path: Path, elsewhere: Path) -> None:
    shutil.move(path, elsewhere / "a secret of the other computer")
    path.symlink_to(elsewhere / "a secret of the other computer")


def as_endless(path: Path, _: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(2**40)


def changed(path: Path, _: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:10] + bytes([data[10] ^ 1]) + data[11:])


NOT_SIGNED = "not those that were signed for"
HARMS: list[tuple[Harm, str, str | None]] = [
    (as_link, "lies a link", "lies a link"),
    (planted(lambda path: path.symlink_to("/dev/zero")), "lies a link", "lies a link"),
    (planted(os.mkfifo), "lies a pipe", "lies a pipe"),
    (planted(Path.mkdir), "lies a folder", None),
    (as_endless, NOT_SIGNED, "larger than any file"),
    (lambda path, _: path.write_bytes(path.read_bytes()[:-1]), NOT_SIGNED, "no list of an exchange folder"),
    (changed, NOT_SIGNED, ""),
    (lambda path, _: path.unlink(), "missing on the stick", None),
    (lambda path, _: shutil.copy(path, path.with_name(path.name.upper())), "differ in small and capital letters only", None),
]  # fmt: skip
"""What somebody did, what is said of a file that they did it to, and of a list; None: of a list nothing."""


@pytest.mark.parametrize(("harm", "words", "_"), HARMS)
def test_changed_file_is_refused_and_the_other_taken(
    made: Three, tmp_path: Path, harm: Harm, words: str, _: str | None
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
def test_changed_list_counts_for_nothing(
    made: Three, tmp_path: Path, harm: Harm, words: str
) -> None:
    office, school, stick = made
    harm(office.list_on(stick), tmp_path)
    taken = school.take(stick)
    assert [words in why for _, why in taken.refused] == [True]
    assert school.has() == []


def test_disk_that_made_capitals_of_the_names_is_read(made: Three) -> None:
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
    made: Three, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    office, school, stick = made
    key = hashlib.sha256(office.card("Ana").read_bytes()).hexdigest()
    sign_again(office, stick, key, **change)
    taken = school.take(stick)
    assert [words in why for _, why in taken.refused] == [True], taken.refused
    assert [each.name for each in tmp_path.rglob("escaped*")] == []


def test_zip_bomb_of_a_known_computer_is_not_unpacked(made: Three) -> None:
    office, school, stick = made
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", bytes(10_000_000))  # small, and unpacks to so many zeros
    data = packed.getvalue()
    path = office.home / "x.rosetta-archive"
    path.write_bytes(data)
    refuses(FileError, "packed again by another program", office.out, stick, path)
    key = hashlib.sha256(data).hexdigest()
    (stick / NAME / "files" / f"{key}.rosetta-archive").write_bytes(data)
    sign_again(office, stick, key, name=path.name, size=len(data))
    [(name, why)] = school.take(stick).refused
    assert (name, "packed again by another program" in why) == (path.name, True)
    assert school.has() == ["Ana.rosetta-keeper", "Bo.rosetta-keeper"]


def test_stranger_is_not_believed_until_six_words_were_compared(made: Three) -> None:
    _, school, stick = made
    [(name, why)] = school.take(stick, known=False).refused
    assert (name, "Nothing was taken from it" in why) == ("Office", True)
    assert school.has() == []
    assert len(school.take(stick).new) == 2
    assert len(school.take(stick, known=False).refused) == 0, "it is known from now on"


def test_list_of_another_name_or_stick_is_refused(made: Three, tmp_path: Path) -> None:
    office, school, stick = made
    thief = Computer(tmp_path / "thief", "Office")
    other = tmp_path / "other"
    thief.out(other, thief.card("Eve"))
    school.take(stick)
    list_of_thief = thief.list_on(other).read_bytes()
    office.list_on(stick).write_bytes(list_of_thief)
    assert "signed by another computer" in why(school, stick)
    office.list_on(stick).unlink()
    thief.list_on(stick).write_bytes(list_of_thief)
    assert "written for another stick" in why(school, stick)
    assert "Eve.rosetta-keeper" not in school.has()


def test_an_older_state_of_the_stick_is_known_and_refused(made: Three, tmp_path: Path) -> None:
    office, school, stick = made
    shutil.copytree(stick, tmp_path / "earlier")
    office.out(stick, office.card("Cee"))
    school.take(stick)
    put_back(tmp_path / "earlier", stick)
    [(name, why)] = school.take(stick).refused
    assert name == "Office"
    assert "older state of this list than this computer saw on it: state 1 after 2" in why
    done = office.out(stick, office.card("Dee"))  # its own record goes on from where it was
    assert (done.state, done.lost) == (3, ("Cee.rosetta-keeper",))
    taken = school.take(stick)
    assert ([each.name for each in taken.new], taken.refused) == (["Dee.rosetta-keeper"], [])


def test_two_lists_under_one_number_are_told(made: Three, tmp_path: Path) -> None:
    """The data folder of the office is copied, and both go on."""
    office, school, stick = made
    shutil.copytree(stick, tmp_path / "earlier")
    other = Computer(tmp_path / "copied", "Office")
    shutil.copytree(office.home, other.home)
    office.out(stick, office.card("Cee"))
    school.take(stick)
    other.out(tmp_path / "earlier", office.card("Dee"))
    shutil.copy(other.list_on(tmp_path / "earlier"), office.list_on(stick))
    assert "says something else under the same number (2)" in why(school, stick)


def test_record_that_was_put_back_goes_on_from_the_stick(made: Three, tmp_path: Path) -> None:
    office, school, stick = made
    shutil.copytree(office.home / "exchange", tmp_path / "backup")
    office.out(stick, office.card("Cee"))
    school.take(stick)
    put_back(tmp_path / "backup", office.home / "exchange")
    done = office.out(stick, office.card("Dee"))
    assert (done.state, len(done.files)) == (3, 4)
    assert [each.name for each in school.take(stick).new] == ["Dee.rosetta-keeper"]


@pytest.mark.parametrize("folder", ["", "files", "vaults"])
def test_folder_that_is_a_link_is_left_alone(made: Three, tmp_path: Path, folder: str) -> None:
    office, school, stick = made
    place = stick / NAME / folder
    shutil.move(place, tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    before = sorted((tmp_path / "elsewhere").rglob("*"))
    for act in (lambda: school.take(stick), lambda: office.out(stick, office.card("Cee"))):
        refuses(FileError, "lies a link", act)
    assert sorted((tmp_path / "elsewhere").rglob("*")) == before


def test_link_where_a_file_is_to_be_written_is_not_followed(made: Three, tmp_path: Path) -> None:
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


def test_what_is_planted_beside_the_lists_is_left_alone(made: Three) -> None:
    office, school, stick = made
    planted = stick / NAME / "files" / "planted.rosetta-keeper"
    planted.write_bytes(office.card("Eve").read_bytes())
    assert school.look(stick).unnamed == 1
    school.take(stick)
    assert planted.name not in school.has()
    for number in range(MOST_MANIFESTS):
        (stick / NAME / f"{number:032x}.rosetta-exchange").write_text("")
    refuses(FileError, "are read at most", school.take, stick)
    (stick / NAME / "exchange.json").write_text('{"format": "rosetta-exchange-folder/9"}')
    for act in (lambda: school.take(stick), lambda: office.out(stick, office.card("Cee"))):
        refuses(FileError, "does not say which exchange folder this is", act)


def test_vault_that_is_not_the_one_signed_for_is_refused(made: Three, tmp_path: Path) -> None:
    office, school, stick = made
    vault = Vault(tmp_path / "elders", office.memory, ticking())
    vault.found("Words", KEEPERS, MINE)
    office.out(stick, vault=VaultToCopy(vault, "first", MINE))
    [place] = (stick / NAME / "vaults").iterdir()
    shutil.copytree(place, tmp_path / "older")
    office.out(stick, vault=VaultToCopy(vault, "second", MINE))
    shutil.copytree(place, tmp_path / "newer")
    put_back(tmp_path / "older", place)
    [(name, words)] = school.take(stick).refused
    assert name.startswith("the vault ")
    assert "not the one that was signed for, or an older copy" in words
    shutil.rmtree(place)
    assert "is no vault" in why(school, stick)
    fork = Vault(tmp_path / "older", tmp_path / "a keeper's memory", ticking())
    fork.export(tmp_path / "thrown away", "a way of its own", MINE)
    shutil.copytree(tmp_path / "older", place)
    assert "not the one that was signed for" in why(school, stick)
    put_back(tmp_path / "newer", place)
    (place / "log.jsonl").unlink()
    (place / "log.jsonl").symlink_to(tmp_path / "newer" / "log.jsonl")
    assert "a link lies in its place" in why(school, stick)
    (place / "log.jsonl").unlink()
    shutil.copy(tmp_path / "newer" / "log.jsonl", place / "log.jsonl")
    [arrived] = school.take(stick).new
    assert len(Vault(arrived.place, school.memory, lambda: datetime.now(UTC)).read().lines) == 3


def test_a_damaged_record_is_said_with_its_mend(made: Three) -> None:
    _, school, stick = made
    school.take(stick)
    record = school.home / "exchange" / "record.json"
    record.write_text("{")
    refuses(Exception, "Put back a copy of it, or delete it", school.take, stick)
    record.unlink()
    again = school.take(stick)
    assert (len(again.new), again.refused) == (2, []), "found again in its place"


def test_keys_of_others_sign_nothing(made: Three) -> None:
    office, school, stick = made
    key = hashlib.sha256(office.card("Ana").read_bytes()).hexdigest()
    sign_again(office, stick, key, Identity.make(Role.COMPUTER))
    assert "changed after it was signed" in why(school, stick)
