"""Handing files over by a stick: once, twice, in any order, after a pull, and on disks that know little."""

import errno
import json
import os
import re
import subprocess
import sys
import unicodedata
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
from harness.exchange.taking_in import TakenIn
from harness.sealed.stick import StickError
from harness.vault.vault import Vault
from tests.harness.exchange.computers import Computer, files_on
from tests.harness.exchange.conftest import Three
from tests.harness.sealed.refusals import refuses
from tests.harness.vault.made import KEEPERS, MINE, corpus, ticking
from tests.review.thorough import examples, times

ANA, BO, CEE = (f"{each}.rosetta-keeper" for each in ("Ana", "Bo", "Cee"))


def names(taken: TakenIn) -> list[str]:
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
    assert list(stick.iterdir()) == [], "nothing was written before all of it was looked at"


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
        [sys.executable, "-m", "tests.harness.exchange.killed", tmp_path / "kills", str(times(20, 1))],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"},
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert set(told["kills"]) == {"out", "in"}
    assert min(told["kills"].values()) >= times(2, 40), told


def test_stick_pulled_while_read_keeps_the_rest(
    made: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_read_only_stick_is_taken_from_all_the_same(
    made: Three, monkeypatch: pytest.MonkeyPatch
) -> None:
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
@given(st.text(max_size=150))
def test_every_name_becomes_one_that_every_disk_takes(name: str) -> None:
    tidy = tidy_name(name)
    assert tidy_name(tidy) == tidy
    assert 0 < len(tidy) <= MOST_NAME
    assert not re.search(r'[\\/:*?"<>|\x00-\x1f\x7f]|\.\.|^[. ]|[. ]$', tidy)
    assert unicodedata.is_normalized("NFC", tidy)
    assert not re.match(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)", tidy)


@pytest.mark.parametrize(("name", "tidy"), [
    ("Ana.rosetta-keeper", "Ana.rosetta-keeper"),
    ("ᓀᐦᐃᔭᐍᐏᐣ.rosetta-keeper", "ᓀᐦᐃᔭᐍᐏᐣ.rosetta-keeper"), ("../../.bashrc", "-.-.bashrc"),
    ("C:\\con.json", "C--con.json"), ("nul.json", "-nul.json"), ("a\u202egnp.json", "a-gnp.json"),
])  # fmt: skip
def test_names_keep_what_they_may(name: str, tidy: str) -> None:
    assert tidy_name(name) == tidy


def test_longest_end_says_the_kind() -> None:
    assert kind_of("Ana.ROSETTA-KEEPER", KINDS).what == "the card of a keeper"
    assert kind_of(".rosetta-keeper", KINDS) is None
    assert kind_of("x.txt", KINDS) is None


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
