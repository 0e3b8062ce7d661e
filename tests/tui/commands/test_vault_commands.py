"""``rosetta vault``: from a card to a copy on a stick, as keepers type it; no text of the corpus is ever printed."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sealed.keys import Identity, Role
from harness.sealed.signed_archive import signed_record
from harness.vault.keepers import keeper_of
from harness.vault.records import KeeperCard
from tests import keyring_in_memory
from tests.harness.vault.made import CANARY
from tests.tui.commands.vault_office import Office, faults


@pytest.fixture(autouse=True)
def keyring() -> Iterator[None]:
    with keyring_in_memory.memory_keyring():
        yield


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    """A vault of two keepers and a recovery key, with one corpus."""
    run = Office(tmp_path, monkeypatch)
    run("card School.rosetta-keeper", at="school")
    run("init v --as Office --recovery rec.txt --keeper School.rosetta-keeper --name", "Elders")
    run("add v words.tsv --source-language en --target-language eo --name words")
    return run


def test_the_vault_keeps_which_difference_its_segments_tell(run: Office) -> None:
    """And no message of ``add`` quotes a word of an entry, of open segments neither."""
    rows = [f"m{n}\t{CANARY} {n} said\ta word {n} of {CANARY} {n * n}\t{s}\t{CANARY}{' ' * (n % 2)}{n % 3}" for n, s in enumerate(["gold_standard"] * 40 + ["development"] * 4)]  # fmt: skip
    (run.folder / "more.tsv").write_text("\n".join(["id\tsource\treference\tsegment\tvariety", *rows]) + "\n")  # fmt: skip
    said = run("add v more.tsv --source-language en --target-language eo --name more")
    assert "name one variety in 2 ways: m0" in said
    assert (
        "gold_standard: a released card says next to nothing of its 40 entries; of 48 it says"
        in said
    )
    [points] = [line.partition(" points")[0].rpartition(" ")[2] for line in said.splitlines() if "cannot be told apart by its 40 entries" in line]  # fmt: skip
    run("revoke v School --purpose left")
    run("rotate v more --from gold_standard --to held_out --count 30 --purpose later")
    told = json.loads(run("list v --json"))
    assert faults("vault-list", told) == []
    least = {each["name"]: each["smallest_differences"] for each in told["corpora"]}
    assert least["words"] == {}
    assert least["more"]["gold_standard"] == pytest.approx(
        2 * float(points), abs=0.1
    )  # a quarter of the entries
    assert f"less than {least['more']['gold_standard']:g} points of chrF++ cannot be told apart by its 10 entries" in run("list v")  # fmt: skip


def test_from_the_first_card_to_a_copy_in_the_safe(run: Office) -> None:
    assert "2 entries opened with your keys" in run("open v words --purpose", "a look")
    assert "2 entries opened" in run("open v words --key rec.txt --purpose", "a\n look", at="new")
    assert "The purpose has 0 characters" in run("open v words --purpose", " ")
    moved = run("rotate v words --from held_out --to gold_standard --count 1 --purpose y", at="school")  # fmt: skip
    assert "1 entry moved from held_out to gold_standard. Now: 3 gold_standard." in moved
    assert "opens for: Office, recovery key" in run("revoke v School --purpose left")
    assert "not those of a present keeper" in run("open v words --purpose look", at="school")
    assert "with 7 lines of log" in run("export v stick --purpose safe")
    log = run("log stick")
    assert [line.split("  ")[1] for line in log.splitlines()] == [
        "Office: made the vault 'Elders'; it opens for Office, School, recovery key",
        "Office: put in 'words': 2 gold_standard, 1 held_out",
        "Office: opened 'words': 2 gold_standard (a look)",
        "recovery key: opened 'words': 2 gold_standard (a look)",
        "School: moved 1 entry of 'words' from held_out to gold_standard (y)",
        "Office: took School out and sealed every text anew (left)",
        "Office: made a sealed copy (safe)",
    ]
    told = json.loads(run("list stick --json", at="nobody"))
    assert faults("vault-list", told) == []
    assert told["corpora"][0]["entries"] == {"gold_standard": 3}
    assert [each["name"] for each in told["keepers"]] == ["Office", "recovery key"]
    assert faults("vault-log", json.loads(run("log v --json"))) == []
    sealed = [each for each in run.folder.rglob("*") if each.is_file() and each.name != "words.tsv"]
    assert not [each for each in sealed if CANARY.encode() in each.read_bytes()]


def test_the_way_out_of_held_out_can_be_typed_as_it_is_said(run: Office) -> None:
    (run.folder / "v").rename(run.folder / "our vault")
    said = run("grant request", "our vault", *["words", "x.rosetta-request", "--segment", "held_out", "--purpose", "early"])  # fmt: skip
    words = shlex.split(said.partition("rotate them: rosetta vault ")[2].partition(" N ")[0])
    assert "1 entry moved from held_out" in run(*words, "1", "--purpose", "it is time")


def test_a_keeper_who_comes_later_opens_it_too(run: Office) -> None:
    shown = run("card Library.rosetta-keeper", at="library").rpartition(": ")[2].strip()
    assert "not those of a present keeper" in run("open v words --purpose look", at="library")
    told = run("enrol v Library.rosetta-keeper --purpose new --words", shown.upper())
    assert "Library can open this vault now." in told
    assert "2 entries opened" in run("open v words --purpose look", at="library")
    assert "Office: took Library in as a keeper (new)" in run("log v")
    assert "same name, 'Library'" in run(
        "enrol v Library.rosetta-keeper --purpose new --words", shown
    )


def test_a_card_that_was_swapped_on_its_way_opens_nothing(run: Office) -> None:
    shown = run("card Library.rosetta-keeper", at="library").rpartition(": ")[2].strip()
    (run.folder / "Library.rosetta-keeper").unlink()
    run("card Library.rosetta-keeper", at="thief")
    told = run("enrol v Library.rosetta-keeper --purpose new --words", shown)
    assert "not the six words of this card" in told
    assert "none of the words" in run("enrol v Library.rosetta-keeper --purpose new --words", "x y")
    assert "not those of a present keeper" in run("open v words --purpose look", at="thief")
    assert "took Library in" not in run("log v")


def test_a_card_that_calls_itself_a_recovery_key_is_not_taken(run: Office) -> None:
    """Its six words would not be asked about."""
    thief = Identity.make(Role.KEEPER)
    card = KeeperCard(keeper=keeper_of(thief, "School", recovery=True))
    (run.folder / "School.rosetta-keeper").write_bytes(signed_record(card, thief))
    told = run("init w --name x --as y --recovery r.txt --keeper School.rosetta-keeper")
    assert "calls itself a recovery key" in told
    assert not (run.folder / "w").exists()


def test_a_recovery_key_that_somebody_put_there_is_not_taken(run: Office) -> None:
    (run.folder / "planted.txt").write_text(Identity.make(Role.KEEPER).text())
    told = run("init w --name x --as y --recovery planted.txt")
    assert "planted.txt is there already. Whoever put a key there" in told
    assert not (run.folder / "w").exists()


def test_a_name_counts_from_its_own_line_on(run: Office) -> None:
    """A keeper who is taken out and comes back under another's name did not do what stood there before under it."""
    words = run("card Office2.rosetta-keeper", at="school").rpartition(": ")[2].strip()
    run("open v words --purpose look", at="school")
    run("revoke v School --purpose left")
    run("enrol v Office2.rosetta-keeper --purpose back --words", words)
    run("open v words --purpose look", at="school")
    who = [line.split("  ")[1].split(":")[0] for line in run("log v").splitlines()]
    assert who == ["Office", "Office", "School", "Office", "Office", "Office2"]


def test_no_core_is_dumped_before_keys_and_texts_are_read(
    run: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    monkeypatch.setattr("harness.vault.secret_text.no_core_dumps", lambda: steps.append("no dumps"))
    monkeypatch.setattr("harness.vault.keepers.own_identity", lambda *_: steps.append("keys"))
    monkeypatch.setattr("rosetta_tui.commands.vault.add.read_corpus", stop)
    with pytest.raises(InterruptedError):
        run("add v words.tsv --source-language en --target-language eo --name more")
    assert steps == ["no dumps", "keys"]


def stop(*_: object, **__: object) -> None:
    raise InterruptedError
