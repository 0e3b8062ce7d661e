"""Keepers who open a vault together, as they type it: three computers, a recovery key, printed words and a drill."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.vault.shares.paper import lost_for_good
from rosetta_tui.commands import rosetta
from tests import keyring_in_memory
from tests.harness.vault.made import CANARY
from tests.tui.commands.vault_office import Office, faults

PAGE = Path(__file__).parents[3] / "docs" / "vault.md"


@pytest.fixture(autouse=True)
def keyring() -> Iterator[None]:
    with keyring_in_memory.memory_keyring():
        yield


class Keepers(Office):
    """Four keys, of which two open: Office, School and Library on their own computers, and the recovery key."""

    def typing(self, words: str, line: str, *more: str, at: str = "office") -> str:
        """Run a command and type words where it asks for them; gives all that it printed."""
        self.monkeypatch.setenv("ROSETTA_HOME", str(self.folder / at))
        done = CliRunner().invoke(rosetta, ["vault", *line.split(), *more], input=words)
        assert CANARY not in done.output
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            return f"{done.output}error: {done.exception}"
        return done.output

    def printed(self, at: str, *more: str) -> str:
        """Print a share and give its words, as they stand on the page."""
        said = self(f"share v --print {at}.txt", *more, at=at)
        assert "then delete the file" in said, said
        page = (self.folder / f"{at}.txt").read_text()
        assert ((self.folder / f"{at}.txt").stat().st_mode & 0o077) == 0
        (self.folder / f"{at}.txt").unlink()
        numbered = {int(n): w for n, w in re.findall(r"(\d+) ([a-z]+)", page.split("\n\n")[2])}
        return " ".join(numbered[n] for n in range(1, 34))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keepers:
    run = Keepers(tmp_path, monkeypatch)
    for name in ("School", "Library"):
        run(f"card {name}.rosetta-keeper", at=name.lower())
    said = run(
        "init v --as Office --recovery rec.txt --threshold 2"
        " --keeper School.rosetta-keeper --keeper Library.rosetta-keeper --name", "Elders",
    )  # fmt: skip
    assert "4 keys open it, any 2 of them together and none alone" in said
    assert "If 3 of the 4 shares are lost, nobody can ever open the texts again; 2 may be" in said
    assert "The recovery key is one share like the others" in said
    run("add v words.tsv --source-language en --target-language eo --name words")
    return run


def test_two_keepers_open_and_none_alone(run: Keepers) -> None:
    alone = run("open v words --purpose look")
    assert "opens for 2 of its 4 keepers together" in alone
    assert "--with FILE" in alone
    assert "1 of 2 shares are here (recovery key)" in run("open v words --key rec.txt --with rec.txt --purpose look")  # fmt: skip
    assert "2 entries opened" in run("open v words --with rec.txt --purpose look")
    school = run.printed("school")
    library = run.printed("library")
    said = run.typing(f"{school}\n", "open v words --cards --purpose look")
    assert "School: right. 2 of 2 are here." in said
    assert "2 entries opened" in said
    wrong = school.split()
    wrong[4] = "academic" if wrong[4] != "academic" else "acid"
    said = run.typing(f"{' '.join(wrong)}\n{library}\n", "open v words --cards --purpose look")
    assert f"Not taken: Word 5, {wrong[4]!r}, is a different one on the card." in said
    assert "2 entries opened" in said
    assert "Aborted" in run.typing("", "open v words --cards --purpose look")
    assert school.split()[20] not in said.split()
    told = json.loads(run("list v --json"))
    assert told["threshold"] == 2
    assert faults("vault-list", told) == []
    assert "It opens for any 2 together of:" in run("list v", at="nobody")
    assert "the share of School, as it is now" in run.typing(f"{school}\n", "share v --check", at="nobody")  # fmt: skip
    assert "The share of Library is here and right: 2 of the 4" in run("share v", at="library")


def test_words_on_paper_are_enough_where_every_key_is_lost(run: Keepers) -> None:
    school, library = run.printed("school"), run.printed("library")
    said = run.typing(f"{school}\n{library}\n", "open v words --cards --purpose rescue", at="new")
    assert "2 entries opened" in said
    assert "the keepers together: opened 'words': 2 gold_standard (rescue)" in run("log v")
    six = run("card New.rosetta-keeper", at="new").rpartition(": ")[2].strip()
    typed = f"{school}\n{library}\n"
    said = run.typing(typed, "enrol v New.rosetta-keeper --cards --purpose rescue --words", six, at="new")  # fmt: skip
    assert "Any 2 together open the vault: Office, School, Library, recovery key, New." in said
    assert "2 entries opened" in run("open v words --with rec.txt --purpose look", at="new")


def test_keepers_come_and_leave_together(run: Keepers) -> None:
    old = run.printed("school")
    six = run("card Council.rosetta-keeper", at="council").rpartition(": ")[2].strip()
    alone = run("enrol v Council.rosetta-keeper --purpose came --words", six)
    assert "opens for 2 of its 4 keepers together" in alone
    said = run("enrol v Council.rosetta-keeper --with rec.txt --threshold 3 --purpose came --words", six)  # fmt: skip
    assert "Any 3 together open the vault: Office, School, Library, recovery key, Council." in said
    assert "If 3 of the 5 shares are lost" in said
    assert "enough earlier shares, brought together, still open the vault" in said
    assert "before the keepers got new ones" in run.typing(f"{old}\n", "share v --check")
    typed = f"{run.printed('school')}\n"
    said = run.typing(typed, "revoke v Council --with rec.txt --cards --anew --purpose left")
    assert "Council has no share of this vault any more." in said
    assert "All texts are sealed again." in said
    for name in ("School", "Library"):
        few = run.typing("", f"revoke v {name} --with rec.txt --purpose left --threshold 9")
        assert "2 of 3 shares are here" in few
    assert "no share for them" in run("share v", at="council")
    assert "1 of 3 shares" not in run.typing(typed, "share v --check")
    typed = f"{run.printed('library')}\n"
    said = run.typing(typed, "refresh v --with rec.txt --cards --threshold 2 --purpose seen")
    assert "The texts were not sealed again" in said
    log = [line.split("  ")[1] for line in run("log v").splitlines()]
    assert log == [
        "Office: made the vault 'Elders'; it opens for 2 together of Office, School, Library, recovery key",
        "Office: put in 'words': 2 gold_standard, 1 held_out",
        "Office: gave the keepers new shares; it opens for 3 together of Office, School, Library, recovery key, Council (came)",
        "Office: gave the keepers new shares; it opens for 3 together of Office, School, Library, recovery key, and sealed every text anew (left)",
        "Office: gave the keepers new shares; it opens for 2 together of Office, School, Library, recovery key (seen)",
    ]
    assert faults("vault-log", json.loads(run("log v --json"))) == []
    assert "2 entries opened" in run("open v words --with rec.txt --purpose look", at="library")
    sealed = [each for each in run.folder.rglob("*") if each.is_file() and each.name != "words.tsv"]
    assert not [each for each in sealed if CANARY.encode() in each.read_bytes()]


def test_a_drill_goes_from_computer_to_computer(run: Keepers) -> None:
    assert "Each keeper, on their own computer: rosetta vault drill answer stick" in run("drill start v stick")  # fmt: skip
    assert "your answer is in the folder" in run("drill answer stick", at="school")
    said = run("drill report v stick")
    assert "1 of 4 keepers gave their share back" in said
    assert "the vault would NOT open" in said
    assert "your answer is in the folder" in run("drill answer stick --key rec.txt", at="office")
    said = run("drill report v stick")
    assert "could: School" in said
    assert "could: recovery key" in said
    assert "no answer yet: Library" in said
    assert "the vault would open, but nobody else could be absent" in said
    assert "2 entries opened" in run("open v words --with rec.txt --purpose look")


def test_options_for_several_say_where_each_opens_alone(run: Keepers) -> None:
    run("init w --as Office --recovery r2.txt --name", "Alone")
    assert "Each keeper opens this vault alone" in run("open w words --with r2.txt --purpose look")
    assert "Each keeper opens this vault alone" in run("share w")
    assert "no number of keepers" in run("init x --as Office --recovery r3.txt --threshold 3 --name", "x")  # fmt: skip
    assert not (run.folder / "x").exists()
    assert not (run.folder / "r3.txt").exists()


def test_the_page_can_be_walked_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command of "Several keepers together", each on the computer that the page names."""
    run = Keepers(tmp_path, monkeypatch)
    (tmp_path / "stick").mkdir()
    entries = [
        {"id": f"{n}", "source": f"{CANARY} {n}", "reference": f"{CANARY} r{n}", "segment": s}
        for n, s in enumerate(("gold_standard", "gold_standard", "held_out"))
    ]
    dataset = {
        "id": "greetings", "version": "1", "language_pair": "EN→EO", "source_language": "en",
        "target_language": "eo", "created": "2026-01-02",
    }  # fmt: skip
    (tmp_path / "greetings.json").write_text(json.dumps({"dataset": dataset, "entries": entries}))
    page = PAGE.read_text(encoding="utf-8")
    section = page.partition("\n## Several keepers together\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^rosetta vault (.*?)\s+# (\w+)$", section, re.MULTILINE)
    assert len(steps) == section.count("\nrosetta vault ")
    assert len(steps) >= 18
    six: dict[str, str] = {}
    words: dict[str, str] = {}
    for line, at in steps:
        parts = shlex.split(line)
        typed = ""
        if parts[0] == "enrol":
            typed = f"{six['council']}\n"
        if "--check" in parts:
            typed = f"{words['library']}\n"
        if "--cards" in parts:
            typed = f"{words['library']}\n"
        said = run.typing(typed, parts[0], *parts[1:], at=at)
        assert "rror: " not in said, (line, said)
        if parts[0] == "card":
            six[at] = said.rpartition(": ")[2].strip()
        if parts[-1] == "library.txt":
            found = re.findall(
                r"(\d+) ([a-z]+)", (tmp_path / parts[-1]).read_text().split("\n\n")[2]
            )
            words[at] = " ".join({int(n): w for n, w in found}[n] for n in range(1, 34))
        if parts[:2] == ["drill", "report"]:
            assert "3 of 4 keepers gave their share back" in said
            assert "the vault would open, and 1 more could be absent" in said
        if parts[0] == "open":
            assert "2 entries opened" in said
    assert [each.split(": ")[1].split(";")[0].split(" (")[0] for each in said.splitlines()] == [
        "made the vault 'Words of the elders'",
        "put in 'greetings'",
        "opened 'greetings'",
        "opened 'greetings'",
        "gave the keepers new shares",
        "gave the keepers new shares",
        "gave the keepers new shares",
    ]
    assert CANARY.encode() not in b"".join(
        each.read_bytes() for each in (tmp_path / "elders").iterdir()
    )


@pytest.mark.parametrize("row", [(3, 2), (4, 2), (5, 3), (7, 4)])
def test_the_numbers_of_the_page_are_those_of_the_program(row: tuple[int, int]) -> None:
    keys, together = row
    lost = lost_for_good(keys, together)
    page = PAGE.read_text(encoding="utf-8")
    assert f"| {keys} | {together} | open nothing | {lost - 1} | {lost} |" in page
