"""Handing files over by a stick: once, twice, in any order, after a pull, and on disks that know little."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.card.seal import card_hash
from harness.core.failures import UsageError
from harness.exchange.folder import NAME, found_at
from harness.exchange.kinds import KINDS, MOST_NAME, kind_of, tidy_name
from harness.exchange.putting_out import VaultToCopy
from harness.sealed.stick import StickError
from harness.vault.vault import Vault
from tests import keyring_in_memory
from tests.harness.exchange.computers import Computer, computers, files_on
from tests.harness.vault.made import KEEPERS, MINE, corpus, ticking
from tests.review.thorough import times


@pytest.fixture(autouse=True)
def keyring() -> Iterator[None]:
    with keyring_in_memory.memory_keyring():
        yield


def test_what_one_puts_out_the_other_takes_in_once_and_says_so(tmp_path: Path) -> None:
    office, school, stick = computers(tmp_path)
    done = office.out(stick, office.card("Ana"), office.card("Bo"))
    assert (done.state, sorted(done.new)) == (1, ["Ana.rosetta-keeper", "Bo.rosetta-keeper"])
    taken = school.take(stick)
    assert [(each.name, each.machine) for each in taken.new] == [
        ("Ana.rosetta-keeper", "Office"), ("Bo.rosetta-keeper", "Office"),
    ] or school.has() == ["Ana.rosetta-keeper", "Bo.rosetta-keeper"]  # fmt: skip
    assert (school.inbox / "Ana.rosetta-keeper").read_bytes() == office.card("Ana").read_bytes()
    assert (taken.refused, taken.receipt) == ([], True)
    again = school.take(stick)
    assert (again.new, again.before, again.refused) == ([], 2, [])
    [mine, theirs] = sorted(office.look(stick).machines, key=lambda each: not each.own)
    assert [each.taken_by for each in mine.lying] == [("School",), ("School",)]
    assert (theirs.name, theirs.known, theirs.lying) == ("School", False, ())


def test_the_same_again_changes_no_byte_and_more_is_added(tmp_path: Path) -> None:
    office, school, stick = computers(tmp_path)
    office.out(stick, office.card("Ana"))
    before = {path: path.read_bytes() for path in stick.rglob("*") if path.is_file()}
    assert office.out(stick, office.card("Ana")).new == ()
    assert {path: path.read_bytes() for path in stick.rglob("*") if path.is_file()} == before
    school.take(stick)
    assert office.out(stick, office.card("Bo")).state == 2
    assert [each.name for each in school.take(stick).new] == ["Bo.rosetta-keeper"]


def test_sticks_come_in_any_order_and_what_came_by_one_is_not_taken_from_another(
    tmp_path: Path,
) -> None:
    office, school, stick = computers(tmp_path)
    other = tmp_path / "other"
    office.out(stick, office.card("Ana"))
    office.out(other, office.card("Ana"), office.card("Bo"))
    office.out(stick, office.card("Cee"))
    assert len(school.take(other).new) == 2
    late = school.take(stick)
    assert ([each.name for each in late.new], late.before) == (["Cee.rosetta-keeper"], 1)
    assert school.take(other).before == 2


def test_both_ways_on_one_stick(tmp_path: Path) -> None:
    office, school, stick = computers(tmp_path)
    office.out(stick, office.card("Ana"))
    school.take(stick)
    school.out(stick, school.card("Bo"))
    assert [each.name for each in office.take(stick).new] == ["Bo.rosetta-keeper"]
    assert office.has() == ["Bo.rosetta-keeper"]
    assert school.take(stick).refused == []


def test_a_name_is_asked_for_and_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    nameless = Computer(tmp_path / "new", "")
    with pytest.raises(UsageError, match="1 to 200 characters"):
        nameless.out(tmp_path / "stick", nameless.card("Ana"))
    with pytest.raises(UsageError, match="There is no exchange folder"):
        nameless.take(tmp_path)
    office, *_, stick = computers(tmp_path)
    (office.home / "notes.txt").write_text("x")
    with pytest.raises(UsageError, match=r"notes\.txt: this is not a file that computers pass"):
        office.out(stick, office.home / "notes.txt")
    wrong = office.home / "x.rosetta-keeper"
    wrong.write_text("{}")
    with pytest.raises(UsageError, match=r"x\.rosetta-keeper: This is not the card of a keeper"):
        office.out(stick, office.card("Ana"), wrong)
    assert list(stick.iterdir()) == [], "nothing was written before all of it was looked at"


def test_what_is_in_the_way_here_is_left_alone(tmp_path: Path) -> None:
    office, school, stick = computers(tmp_path)
    office.out(stick, office.card("Ana"), office.card("Bo"))
    school.inbox.mkdir()
    (school.inbox / "Ana.rosetta-keeper").write_text("mine")
    (school.inbox / "Bo.rosetta-keeper").write_bytes(office.card("Bo").read_bytes())
    taken = school.take(stick)
    [(name, why)] = taken.refused
    assert (name, "is something else" in why) == ("Ana.rosetta-keeper", True)
    assert [each.name for each in taken.new] == ["Bo.rosetta-keeper"]
    assert (school.inbox / "Ana.rosetta-keeper").read_text() == "mine"
    (school.inbox / "Ana.rosetta-keeper").unlink()
    assert [each.name for each in school.take(stick).new] == ["Ana.rosetta-keeper"]


def test_a_stick_pulled_at_any_step_is_gone_on_with(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.harness.exchange.killed", tmp_path / "kills", str(times(9, 1))],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"},
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert set(told["kills"]) == {"out", "in"}
    assert min(told["kills"].values()) >= times(4, 40), told


def test_a_stick_that_is_pulled_while_it_is_read_keeps_what_was_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office, school, stick = computers(tmp_path)
    office.out(stick, *(office.card(each) for each in ("Ana", "Bo", "Cee")))
    plain, reads = os.open, [0]

    def fails(path: str | Path, *rest: int, **more: int) -> int:
        if "files" in Path(path).parts:
            reads[0] += 1
            if reads[0] > 1:
                raise OSError(errno.EIO, "Input/output error")
        return plain(path, *rest, **more)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", fails)
        with pytest.raises(StickError, match="put the stick back"):
            school.take(stick)
    assert len(school.has()) == 1
    after = school.take(stick)
    assert (len(after.new), after.before) == (2, 1)


def test_a_stick_that_cannot_be_written_is_taken_from_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office, school, stick = computers(tmp_path)
    office.out(stick, office.card("Ana"))
    plain = os.open

    def locked(path: str | Path, flags: int, *rest: int, **more: int) -> int:
        if flags & os.O_CREAT and stick in Path(path).parents:
            raise OSError(errno.EROFS, "Read-only file system")
        return plain(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", locked)
    taken = school.take(stick)
    assert (len(taken.new), taken.receipt) == (1, False)
    assert "write protection" in "".join(taken.notes)


def test_names_on_the_stick_are_ones_that_fat_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAT has no links, few characters, one case, and times of two seconds."""

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    office, school, stick = computers(tmp_path)
    copy = vault_of(office, tmp_path)
    office.out(stick, office.card("Ana: çé"), office.card("ana- ÇÉ"), vault=copy)
    for path in stick.rglob("*"):
        os.utime(path, (2, 2))
    taken = school.take(stick)
    assert (len(taken.new), taken.refused) == (3, [])
    names = [str(path.relative_to(stick)) for path in stick.rglob("*")]
    assert len({name.lower() for name in names}) == len(names)
    assert [name for name in names if not re.fullmatch(r"[A-Za-z0-9./_-]+", name)] == []


def vault_of(office: Computer, folder: Path) -> VaultToCopy:
    """Make a vault on a computer, and return what asks for a copy of it."""
    vault = Vault(folder / "elders", office.memory, ticking())
    vault.found("Words: of the elders", KEEPERS, MINE)
    vault.add(corpus(), "greetings", MINE)
    return VaultToCopy(vault, "for the school", MINE)


def test_a_vault_travels_with_its_log_and_every_later_state(tmp_path: Path) -> None:
    office, school, stick = computers(tmp_path)
    copy = vault_of(office, tmp_path)
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


def test_results_carry_how_far_the_log_was_seen(tmp_path: Path) -> None:
    """Whoever shortens the log of their vault is noticed by whom they hand a file to, or take one from."""
    office, school, stick = computers(tmp_path)
    copy = vault_of(office, tmp_path)
    office.out(stick, vault=copy)
    school.take(stick)
    copy.vault.open("greetings", "a look that is not to be seen", MINE)
    office.out(stick, office.card("Ana"))
    [note] = [each for each in school.take(stick).notes if "log" in each]
    assert "'Office' saw 4 lines of the log of vault" in note
    assert "this computer 3" in note


def test_two_ways_of_one_log_are_told_as_such(tmp_path: Path) -> None:
    office, school, stick = computers(tmp_path)
    copy = vault_of(office, tmp_path)
    office.out(stick, vault=copy)
    [arrived] = school.take(stick).new
    copy.vault.open("greetings", "one way", MINE)
    Vault(arrived.place, school.memory, lambda: datetime.now(UTC)).open("greetings", "two", MINE)
    office.out(stick, office.card("Ana"))
    [note] = [each for each in school.take(stick).notes if "log" in each]
    assert "'Office' saw ANOTHER log" in note
    Vault(arrived.place, school.memory, lambda: datetime.now(UTC)).open("greetings", "more", MINE)
    [note] = [each for each in school.take(stick).notes if "log" in each]
    assert "line 4 differs" in note


@given(st.text(max_size=150))
def test_every_name_becomes_one_that_every_disk_takes(name: str) -> None:
    tidy = tidy_name(name)
    assert tidy_name(tidy) == tidy
    assert 0 < len(tidy) <= MOST_NAME
    assert not re.search(r'[\\/:*?"<>|\x00-\x1f\x7f]|\.\.|^[. ]|[. ]$', tidy)
    assert unicodedata.is_normalized("NFC", tidy)
    assert not re.match(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)", tidy)


@pytest.mark.parametrize(
    ("name", "tidy"),
    [
        ("Ana.rosetta-keeper", "Ana.rosetta-keeper"),
        ("ᓀᐦᐃᔭᐍᐏᐣ.rosetta-keeper", "ᓀᐦᐃᔭᐍᐏᐣ.rosetta-keeper"),
        ("../../.bashrc", "-.-.bashrc"),
        ("C:\\con.json", "C--con.json"),
        ("nul.json", "-nul.json"),
        ("a\u202egnp.json", "a-gnp.json"),
    ],
)
def test_names_keep_what_they_may(name: str, tidy: str) -> None:
    assert tidy_name(name) == tidy


def test_the_longest_end_says_the_kind() -> None:
    kind = kind_of("Ana.ROSETTA-KEEPER", KINDS)
    assert kind is not None
    assert kind.what == "the card of a keeper"
    assert kind_of(".rosetta-keeper", KINDS) is None
    assert kind_of("x.txt", KINDS) is None


def test_the_folder_itself_may_be_named(tmp_path: Path) -> None:
    office, school, stick = computers(tmp_path)
    office.out(stick / NAME, office.card("Ana"))
    assert found_at(stick).id == found_at(stick / NAME).id
    assert len(school.take(stick / NAME).new) == 1
    assert len(files_on(stick)) == 1


def sealed_card(**more: object) -> bytes:
    """Return a card over open entries with a seal that holds, and other fields where they are told."""
    read = json.loads((Path(__file__).parents[2] / "data" / "run-card.json").read_bytes())
    rows = [row for row in read["results"] if not row.get("withheld")]
    told = {**read, "results": rows, **more}
    return json.dumps({**told, "run_card_hash": card_hash(told)}).encode()


def test_a_card_travels_as_it_was_sealed_and_no_other_json_does(tmp_path: Path) -> None:
    office, school, stick = computers(tmp_path)
    card = office.home / "run.json"
    whole = sealed_card()
    card.write_bytes(whole)
    office.out(stick, card)
    assert [each.name for each in school.take(stick).new] == ["run.json"]
    for other, words in (
        (whole.replace(b'"run_id": "', b'"run_id": "0'), "seal of this card is broken"),
        (b'{"dataset": {}, "entries": []}', "neither a card of a run, nor the proof"),
        (b'{"format": "rosetta-released-card/1"}', "not as it was signed"),
        (sealed_card(withheld={"entries": 9, "secret": 9}), "--submitter NAME"),
    ):
        card.write_bytes(other)
        with pytest.raises(UsageError, match=words):
            office.out(stick, card)
