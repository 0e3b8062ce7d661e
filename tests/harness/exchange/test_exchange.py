"""Handing files over by a stick: once, twice, in any order, after a pull, and on disks that know little."""

import errno
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.card.model import card_hash
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.exchange.folder import MOST_MANIFESTS, NAME, VaultToCopy, found_at
from harness.exchange.import_ import ImportResult
from harness.exchange.manifest import KINDS, MOST_NAME, kind_of, tidy_name
from harness.sealed.keys import Identity, Role
from harness.sealed.stick import StickError
from harness.sealed.strict_records import FileError
from harness.vault.vault import Vault
from tests.harness.exchange.computers import Computer, computers, files_on
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import KEEPERS, MINE, corpus, ticking
from tests.review.files.conftest import memory_keyring
from tests.review.thorough import examples, times

__all__ = ["memory_keyring"]

Three = tuple[Computer, Computer, Path]


@pytest.fixture
def three(tmp_path: Path) -> Three:
    """The office, the school and a stick."""
    return computers(tmp_path)


@pytest.fixture
def made(three: Three) -> Three:
    """Two computers, and a stick with two cards of the office."""
    office, school, stick = three
    office.out(stick, office.card("Ana"), office.card("Bo"))
    return office, school, stick


ANA, BO, CEE = (f"{each}.rosetta-keeper" for each in ("Ana", "Bo", "Cee"))


def names(taken: ImportResult) -> list[str]:
    return sorted(each.name for each in taken.new)


def test_what_one_puts_out_the_other_takes_in_once_and_says_so(made: Three) -> None:
    office, school, stick = made
    taken = school.take(stick)
    assert {(each.name, each.machine) for each in taken.new} == {(ANA, "Office"), (BO, "Office")}
    assert school.has() == [ANA, BO]
    assert (school.inbox / ANA).read_bytes() == office.card("Ana").read_bytes()
    assert (taken.refused, taken.receipt) == ([], True)
    again = school.take(stick)
    assert (again.new, again.before, again.refused) == ([], 2, [])
    [mine, theirs] = sorted(office.look(stick).machines, key=lambda each: not each.own)
    assert [each.taken_by for each in mine.lying] == [("School",), ("School",)]
    assert (theirs.name, theirs.known, theirs.lying) == ("School", False, ())
    school.out(stick, school.card("Dee"))  # both ways on one stick
    assert names(office.take(stick)) == office.has() == ["Dee.rosetta-keeper"]
    assert school.take(stick).refused == []


def test_same_again_changes_no_byte_and_more_is_added(three: Three) -> None:
    office, school, stick = three
    done = office.out(stick, office.card("Ana"))
    assert (done.state, [*done.new]) == (1, [ANA])
    before = {path: path.read_bytes() for path in stick.rglob("*") if path.is_file()}
    assert office.out(stick, office.card("Ana")).new == ()
    assert {path: path.read_bytes() for path in stick.rglob("*") if path.is_file()} == before
    school.take(stick)
    assert office.out(stick, office.card("Bo")).state == 2
    assert names(school.take(stick)) == [BO]
    assert found_at(stick).id == found_at(stick / NAME).id  # the folder itself may be named
    office.out(stick / NAME, office.card("Cee"))
    assert names(school.take(stick / NAME)) == [CEE]
    assert len(files_on(stick)) == 3


def test_sticks_come_in_any_order_and_nothing_is_taken_twice(three: Three) -> None:
    office, school, stick = three
    other = stick.with_name("other")
    office.out(stick, office.card("Ana"))
    office.out(other, office.card("Ana"), office.card("Bo"))
    office.out(stick, office.card("Cee"))
    assert len(school.take(other).new) == 2
    late = school.take(stick)
    assert (names(late), late.before) == ([CEE], 1)
    assert school.take(other).before == 2
    assert kind_of("Ana.ROSETTA-KEEPER", KINDS).what == "the card of a keeper"
    assert kind_of(".rosetta-keeper", KINDS) is None
    assert kind_of("x.txt", KINDS) is None
    same = ("Ana.rosetta-keeper", "ᓀᐦᐃᔭᐍᐏᐣ.rosetta-keeper")
    told = {"../../.bashrc": "-.-.bashrc", "C:\\con.json": "C--con.json", "nul.json": "-nul.json"}
    for name, tidy in {**dict(zip(same, same, strict=True)), **told, "a\u202egnp": "a-gnp"}.items():
        assert tidy_name(name) == tidy


def test_name_is_asked_for_and_what_is_no_file_of_ours_is_said(three: Three) -> None:
    office, _, stick = three
    nameless = Computer(stick.with_name("new"), "")
    refuses(UsageError, "1 to 200 characters", nameless.out, stick, nameless.card("Ana"))
    refuses(UsageError, "There is no exchange folder", nameless.take, office.home)
    notes, wrong = office.home / "notes.txt", office.home / "x.rosetta-keeper"
    notes.write_text("x")
    wrong.write_text("{}")
    words = r"notes\.txt: this is not a file that computers pass"
    refuses(UsageError, words, office.out, stick, notes)
    words = r"x\.rosetta-keeper: This is not the card of a keeper"
    refuses(UsageError, words, office.out, stick, office.card("Ana"), wrong)
    assert list(stick.iterdir()) == [], "nothing was written before all of it was examined"


def test_what_is_in_the_way_here_is_left_alone(made: Three) -> None:
    office, school, stick = made
    school.inbox.mkdir()
    (school.inbox / ANA).write_text("mine")
    (school.inbox / BO).write_bytes(office.card("Bo").read_bytes())
    taken = school.take(stick)
    [(name, why)] = taken.refused
    assert (name, "is something else" in why) == (ANA, True)
    assert names(taken) == [BO]
    assert (school.inbox / ANA).read_text() == "mine"
    (school.inbox / ANA).unlink()
    assert names(school.take(stick)) == [ANA]


@pytest.mark.costly("kills two computers at places on the disk")
def test_stick_pulled_at_any_step_is_gone_on_with(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.harness.exchange.killed", tmp_path / "kills", str(times(40, 1))],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"},
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert set(told["kills"]) == {"out", "in"}
    assert min(told["kills"].values()) >= times(1, 40), told


def test_stick_pulled_while_read_keeps_all(made: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    office, school, stick = made
    office.out(stick, office.card("Cee"))
    plain, reads = os.open, [0]

    def fails(path: str | Path, *rest: int, **more: int) -> int:
        reads[0] += "files" in Path(path).parts
        if reads[0] > 1 and "files" in Path(path).parts:
            raise OSError(errno.EIO, "Input/output error")
        return plain(path, *rest, **more)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", fails)
        refuses(StickError, "put the stick back", school.take, stick)
    assert len(school.has()) == 1
    after = school.take(stick)
    assert (len(after.new), after.before) == (2, 1)


def test_read_only_stick_is_taken_from(made: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    _, school, stick = made
    plain = os.open

    def locked(path: str | Path, flags: int, *rest: int, **more: int) -> int:
        if flags & os.O_CREAT and stick in Path(path).parents:
            raise OSError(errno.EROFS, "Read-only file system")
        return plain(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", locked)
    taken = school.take(stick)
    assert (len(taken.new), taken.receipt) == (2, False)
    assert "write protection" in "".join(taken.notes)


def test_names_on_the_stick_suit_fat(three: Three, monkeypatch: pytest.MonkeyPatch) -> None:
    """FAT has no links, few characters, one case, and times of two seconds."""

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    office, school, stick = three
    copy = vault_of(office)
    office.out(stick, office.card("Ana: çé"), office.card("ana- ÇÉ"), vault=copy)
    for path in stick.rglob("*"):
        os.utime(path, (2, 2))
    taken = school.take(stick)
    assert (len(taken.new), taken.refused) == (3, [])
    written = [str(path.relative_to(stick)) for path in stick.rglob("*")]
    assert len({name.lower() for name in written}) == len(written)
    assert [name for name in written if not re.fullmatch(r"[A-Za-z0-9./_-]+", name)] == []


def vault_of(office: Computer) -> VaultToCopy:
    """Make a vault on a computer, and return what asks for a copy of it."""
    vault = Vault(office.home.with_name("elders"), office.memory, ticking())
    vault.found("Words: of the elders", KEEPERS, MINE)
    vault.add(corpus(), "greetings", MINE)
    return VaultToCopy(vault, "for the school", MINE)


def test_vault_travels_with_its_log_and_every_later_state(three: Three) -> None:
    office, school, stick = three
    copy = vault_of(office)
    office.out(stick, vault=copy)
    [arrived] = school.take(stick).new
    assert arrived.what == "a sealed copy of a vault"
    here = Vault(arrived.place, school.memory, lambda: datetime.now(UTC))
    assert [each.record.act.what for each in here.read().lines] == ["founded", "added", "exported"]
    assert school.take(stick).before == 1
    copy.vault.open("greetings", "a look", MINE)
    office.out(stick, vault=copy)
    assert len(school.take(stick).new) == 1
    assert len(here.read().lines) == 5


def test_results_carry_how_far_the_log_was_seen(three: Three) -> None:
    """Whoever shortens the log of their vault is noticed by whom they hand a file to, or take one from."""
    office, school, stick = three
    copy = vault_of(office)
    office.out(stick, vault=copy)
    [arrived] = school.take(stick).new
    here = Vault(arrived.place, school.memory, lambda: datetime.now(UTC))
    copy.vault.open("greetings", "a look that is not to be seen", MINE)
    office.out(stick, office.card("Ana"))
    [note] = [each for each in school.take(stick).notes if "log" in each]
    assert "'Office' saw 4 lines of the log of vault" in note
    assert "this computer 3" in note
    for words in ("'Office' saw ANOTHER log", "line 4 differs"):  # two ways of one log
        here.open("greetings", "another way", MINE)
        office.out(stick, office.card(words[-3:]))
        [note] = [each for each in school.take(stick).notes if "log" in each]
        assert words in note


@examples(50, 200)
@given(
    st.text(max_size=150) | st.from_regex(r"(?i)(con|prn|aux|nul|conin\$|(com|lpt)[1-9¹²³]) ?(\..*)?", fullmatch=True)
)
def test_every_name_becomes_one_that_every_disk_takes(name: str) -> None:
    tidy = tidy_name(name)
    assert tidy_name(tidy) == tidy
    assert 0 < len(tidy) <= MOST_NAME
    assert not re.search(r'[\\/:*?"<>|\x00-\x1f\x7f]|\.\.|^[. ]|[. ]$', tidy)
    assert unicodedata.is_normalized("NFC", tidy)
    assert not re.match(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³]) *(\.|$)", tidy)


def sealed_card(**more: object) -> bytes:
    """Return a card over open entries with a seal that holds, and other fields where they are told."""
    read = json.loads((Path(__file__).parents[2] / "data" / "run-card.json").read_bytes())
    rows = [row for row in read["results"] if not row.get("withheld")]
    told = {**read, "results": rows, **more}
    return json.dumps({**told, "run_card_hash": card_hash(told)}).encode()


def test_card_travels_as_it_was_sealed_and_no_other_json_does(three: Three) -> None:
    office, school, stick = three
    card = office.home / "run.json"
    whole = sealed_card()
    card.write_bytes(whole)
    office.out(stick, card)
    assert names(school.take(stick)) == ["run.json"]
    for other, words in (
        (whole.replace(b'"run_id": "', b'"run_id": "0'), "seal of this card is broken"),
        (b'{"dataset": {}, "entries": []}', "neither a card of a run, nor the proof"),
        (b'{"format": "rosetta-released-card/1"}', "not as it was signed"),
        (sealed_card(withheld={"entries": 9, "secret": 9}), "--submitter NAME"),
    ):
        card.write_bytes(other)
        refuses(UsageError, words, office.out, stick, card)


def card_on(stick: Path, office: Computer, name: str = "Ana") -> Path:
    """Where a card of the office lies on the stick."""
    wanted = office.card(name).read_bytes()
    [found] = [each for each in files_on(stick) if each.read_bytes() == wanted]
    return found


def why(school: Computer, stick: Path, *, known: bool = True) -> str:
    """Return why one thing on the stick was refused."""
    [(_, words)] = school.take(stick, known=known).refused
    return words


def put_back(kept: Path, place: Path) -> None:
    shutil.rmtree(place)
    shutil.copytree(kept, place)


def sign_again(computer: Computer, stick: Path, key: str, by: Identity | None = None, **change: Any) -> None:
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


@pytest.mark.parametrize(("harm", "words", "of_list"), HARMS)
def test_changed_file_or_list_counts_for_nothing(
    made: Three, tmp_path: Path, harm: Harm, words: str, of_list: str | None
) -> None:
    office, school, stick = made
    shutil.copytree(stick, tmp_path / "whole")
    harm(card_on(stick, office), tmp_path)
    [(name, said)] = school.take(stick).refused
    assert (name, words in said) == ("Ana.rosetta-keeper", True)
    assert school.has() == ["Bo.rosetta-keeper"]
    if of_list is not None:
        put_back(tmp_path / "whole", stick)
        harm(office.list_on(stick), tmp_path)
        assert of_list in why(school, stick)
        assert school.has() == ["Bo.rosetta-keeper"]


def test_disk_that_made_capitals_of_the_names_is_read(made: Three) -> None:
    _, school, stick = made
    for path in files_on(stick):
        path.rename(path.with_name(path.name.upper()))
    assert (len(school.take(stick).new), school.look(stick).unnamed) == (2, 0)


NAMES = ("../../escaped", "/etc/x", "con", "a\x1b[2J", "a\\b")


@pytest.mark.parametrize(("change", "words"), [
    *(({"name": f"{name}.rosetta-keeper"}, "a name that no file may") for name in NAMES),
    ({"name": "x.exe"}, "not a kind of file that this version can pass on"),
    ({"name": "x.json"}, "missing on the stick"),  # another kind's file lies there
    ({"size": 2**50}, "4,096 at most"),
    ({"size": 7}, "not those that were signed for"),
])  # fmt: skip
def test_cheat_gets_no_further(made: Three, tmp_path: Path, change: Any, words: str) -> None:
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
    assert "packed again by another program" in why(school, stick)
    assert school.has() == ["Ana.rosetta-keeper", "Bo.rosetta-keeper"]


def test_stranger_is_not_believed_and_no_link_followed(made: Three, tmp_path: Path) -> None:
    office, school, stick = made
    assert "Nothing was taken from it" in why(school, stick, known=False)
    assert school.has() == []
    assert len(school.take(stick).new) == 2
    assert len(school.take(stick, known=False).refused) == 0, "it is known from now on"
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
    assert len(school.take(stick).new) == 1


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
    assert "older state of this list than this computer saw on it: state 1" in why(school, stick)
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
    assert "another one than the signature names, or an older copy" in words
    shutil.rmtree(place)
    assert "is no vault" in why(school, stick)
    fork = Vault(tmp_path / "older", tmp_path / "a keeper's memory", ticking())
    fork.export(tmp_path / "thrown away", "its own way", MINE)
    shutil.copytree(tmp_path / "older", place)
    assert "another one than the signature names" in why(school, stick)
    put_back(tmp_path / "newer", place)
    (place / "log.jsonl").unlink()
    (place / "log.jsonl").symlink_to(tmp_path / "newer" / "log.jsonl")
    assert "a link is in its place" in why(school, stick)
    (place / "log.jsonl").unlink()
    shutil.copy(tmp_path / "newer" / "log.jsonl", place / "log.jsonl")
    [arrived] = school.take(stick).new
    assert len(Vault(arrived.place, school.memory, lambda: datetime.now(UTC)).read().lines) == 3


def test_damaged_record_is_said_and_keys_of_others_sign_nothing(made: Three) -> None:
    office, school, stick = made
    school.take(stick)
    record = school.home / "exchange" / "record.json"
    record.write_text("{")
    refuses(Exception, "Put back a copy of it, or delete it", school.take, stick)
    record.unlink()
    again = school.take(stick)
    assert (len(again.new), again.refused) == (2, []), "found again in its place"
    key = hashlib.sha256(office.card("Ana").read_bytes()).hexdigest()
    sign_again(office, stick, key, Identity.make(Role.COMPUTER))
    assert "changed after it was signed" in why(school, stick)
