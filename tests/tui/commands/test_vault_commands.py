"""``rosetta vault``: from a card to a copy on a stick, as keepers type it; no text of the corpus is ever printed."""

from __future__ import annotations

import json
import re
import shlex
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.sealed.keys import Identity, Role
from harness.sealed.signed_archive import signed_record
from harness.vault.keepers import keeper_of
from harness.vault.records import KeeperCard
from harness.vault.shares.paper import lost_for_good
from rosetta_tui.commands import rosetta
from tests.harness.vault.made import CANARY
from tests.tui.commands.command_line import Computers
from tests.tui.commands.made_once import CopyOf
from tests.tui.commands.vault_office import Office, faults


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> Office:
    """A vault of two keepers and a recovery key, with one corpus."""
    run = Office(tmp_path, monkeypatch)
    run("card School.rosetta-keeper", at="school")
    run("init v --as Office --recovery rec.txt --keeper School.rosetta-keeper --name", "Elders")
    run("add v words.tsv --source-language en --target-language eo --name words")
    return run


def test_vault_keeps_which_difference_its_segments_tell(run: Office) -> None:
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


def test_vault_from_first_card_to_a_copy(run: Office) -> None:
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


def test_vault_way_out_of_held_out_can_be_typed(run: Office) -> None:
    (run.folder / "v").rename(run.folder / "our vault")
    said = run("grant request", "our vault", *["words", "x.rosetta-request", "--segment", "held_out", "--purpose", "early"])  # fmt: skip
    words = shlex.split(said.partition("rotate them: rosetta vault ")[2].partition(" N ")[0])
    assert "1 entry moved from held_out" in run(*words, "1", "--purpose", "it is time")


def test_vault_swapped_card_opens_nothing(run: Office) -> None:
    shown = run("card Library.rosetta-keeper", at="library").rpartition(": ")[2].strip()
    (run.folder / "Library.rosetta-keeper").unlink()
    run("card Library.rosetta-keeper", at="thief")
    told = run("enrol v Library.rosetta-keeper --purpose new --words", shown)
    assert "not the six words of this card" in told
    assert "none of the words" in run("enrol v Library.rosetta-keeper --purpose new --words", "x y")
    assert "not those of a present keeper" in run("open v words --purpose look", at="thief")
    assert "took Library in" not in run("log v")


def test_vault_takes_no_recovery_key_of_others(run: Office) -> None:
    """The six words of a card that calls itself one would not be asked about."""
    thief = Identity.make(Role.KEEPER)
    card = KeeperCard(keeper=keeper_of(thief, "School", recovery=True))
    (run.folder / "School.rosetta-keeper").write_bytes(signed_record(card, thief))
    told = run("init w --name x --as y --recovery r.txt --keeper School.rosetta-keeper")
    assert "calls itself a recovery key" in told
    (run.folder / "planted.txt").write_text(thief.text())
    told = run("init w --name x --as y --recovery planted.txt")
    assert "planted.txt is there already. Whoever put a key there" in told
    assert not (run.folder / "w").exists()


def test_vault_name_counts_from_its_own_line(run: Office) -> None:
    """A keeper who is taken out and comes back under another's name did not do what stood there before under it."""
    words = run("card Office2.rosetta-keeper", at="school").rpartition(": ")[2].strip()
    run("open v words --purpose look", at="school")
    run("revoke v School --purpose left")
    run("enrol v Office2.rosetta-keeper --purpose back --words", words)
    run("open v words --purpose look", at="school")
    who = [line.split("  ")[1].split(":")[0] for line in run("log v").splitlines()]
    assert who == ["Office", "Office", "School", "Office", "Office", "Office2"]


def test_vault_dumps_no_core_before_keys_are_read(
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


PAGE = Path(__file__).parents[3] / "docs" / "vault.md"


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
def keepers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> Keepers:
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


def test_vault_two_keepers_open_and_none_alone(keepers: Keepers) -> None:
    alone = keepers("open v words --purpose look")
    assert "opens for 2 of its 4 keepers together" in alone
    assert "--with FILE" in alone
    assert "1 of 2 shares are here (recovery key)" in keepers("open v words --key rec.txt --with rec.txt --purpose look")  # fmt: skip
    assert "2 entries opened" in keepers("open v words --with rec.txt --purpose look")
    school = keepers.printed("school")
    library = keepers.printed("library")
    said = keepers.typing(f"{school}\n", "open v words --cards --purpose look")
    assert "School: right. 2 of 2 are here." in said
    assert "2 entries opened" in said
    wrong = school.split()
    wrong[4] = "academic" if wrong[4] != "academic" else "acid"
    said = keepers.typing(f"{' '.join(wrong)}\n{library}\n", "open v words --cards --purpose look")
    assert f"Not taken: Word 5, {wrong[4]!r}, is a different one on the card." in said
    assert "2 entries opened" in said
    assert "Aborted" in keepers.typing("", "open v words --cards --purpose look")
    assert school.split()[20] not in said.split()
    told = json.loads(keepers("list v --json"))
    assert told["threshold"] == 2
    assert faults("vault-list", told) == []
    assert "It opens for any 2 together of:" in keepers("list v", at="nobody")
    assert "the share of School, as it is now" in keepers.typing(f"{school}\n", "share v --check", at="nobody")  # fmt: skip
    assert "The share of Library is here and right: 2 of the 4" in keepers("share v", at="library")


def test_vault_options_for_several_keepers_say_so(keepers: Keepers) -> None:
    keepers("init w --as Office --recovery r2.txt --name", "Alone")
    assert "Each keeper opens this vault alone" in keepers(
        "open w words --with r2.txt --purpose look"
    )
    assert "Each keeper opens this vault alone" in keepers("share w")
    assert "no number of keepers" in keepers("init x --as Office --recovery r3.txt --threshold 3 --name", "x")  # fmt: skip
    assert not (keepers.folder / "x").exists()
    assert not (keepers.folder / "r3.txt").exists()


def test_vault_page_can_be_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> None:  # fmt: skip
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
def test_vault_page_has_the_numbers_of_the_program(row: tuple[int, int]) -> None:
    keys, together = row
    lost = lost_for_good(keys, together)
    page = PAGE.read_text(encoding="utf-8")
    assert f"| {keys} | {together} | open nothing | {lost - 1} | {lost} |" in page


PEOPLE = """\
id\tsource\treference\tsegment\tspeaker
1\tfirst\tunu\tgold_standard\tAna
2\ttwo\tdu\tgold_standard\tBen
3\tthree\ttri\theld_out\tAna
"""
OPENED = ("--vault", "v", "--purpose", "the council's wish")
WITHDRAWN = ("--reason", "as asked", "--by", "Council")


def two_keepers(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """A vault of two keepers, and a copy of it on a stick from before the one was taken out, with a notice of that."""
    at = Computers(folder, patch)
    rows = ["id\tsource\treference\tsegment", "1\tone\tunu\tgold_standard"]
    (folder / "words.tsv").write_text("\n".join(rows) + "\n")
    (folder / "people.tsv").write_text(PEOPLE)
    at("vault card School.rosetta-keeper", at="school")
    at("vault init v --as Office --recovery rec.txt --keeper School.rosetta-keeper --name x")
    at("vault add v words.tsv --source-language en --target-language eo --name words")
    at("vault export v stick --purpose copy")
    at("vault revoke v School --purpose left --notice school.rosetta-notice")
    at("vault add v people.tsv --source-language en --target-language eo --name people")
    at("run people --method copy-source --plain --despite-network test", *OPENED)


@pytest.fixture
def at(copy_of: CopyOf, monkeypatch: pytest.MonkeyPatch) -> Computers:
    return Computers(copy_of("keepers", two_keepers), monkeypatch)


def test_vault_older_copy_says_who_was_taken_out(at: Computers) -> None:
    assert "OLDER COPY" not in at("vault list stick", at="library")
    assert "opened with your keys" in at("vault open stick words --purpose look", at="school")
    words = at.words_of()
    for place in ("library", "school"):
        assert "NOT taken in" in at("consent take school.rosetta-notice", at=place)
        at("consent take school.rosetta-notice --words", words, at=place)
    shown = at("vault list stick", at="library")
    assert "OLDER COPY: School is no keeper any more, by a notice" in shown
    key = json.loads(at("vault list stick --json", at="library"))["taken_out_since"]
    assert key == [Identity.load(at.folder / "school", Role.KEEPER).public.signing_key]
    refused = at("vault open stick words --purpose look", at="school")
    assert "These keys: consent was withdrawn for School as a keeper" in refused
    for work in ("run words --method copy-source", "score words words.tsv", "corpus check words"):
        asked = f"{work} --vault stick --purpose look"
        assert "These keys: consent was withdrawn" in at(asked, at="school")
        assert "These keys: consent was withdrawn" not in at(asked, at="library")
    assert "opened with your keys" in at("vault open v words --purpose look")
    assert "OLDER COPY" not in at("vault list v")


def test_vault_enrols_no_revoked_key(at: Computers) -> None:
    at("vault card Library.rosetta-keeper", at="library")
    key = Identity.load(at.folder / "library", Role.KEEPER).public.signing_key
    at("consent withdraw --signing-key", key, "--reason", "stolen", "--by", "Library")
    told = at(
        "vault enrol v Library.rosetta-keeper --purpose new --words",
        at.words_of("library", Role.KEEPER),
    )
    assert "The card of Library: consent was withdrawn for the key" in told


def stored(at: Computers) -> str:
    """Return the name in the store of the corpus with which a run was made."""
    return f"store:{sha256((at.folder / 'people.tsv').read_bytes()).hexdigest()[:12]}"


def test_vault_corpus_is_withdrawn_without_opening_it(at: Computers) -> None:
    ran = stored(at)
    lines = len((at.folder / "v" / "log.jsonl").read_text().splitlines())
    told = at(f"consent withdraw --corpus {ran} --given-by speaker=Ana", *WITHDRAWN)
    assert "sealed. Name its vault (--vault FOLDER" in told
    assert "1 entry of" in at(f"consent withdraw --corpus {ran} --entries 2", *WITHDRAWN)
    assert "No run can be used" in at("runs list")
    assert "Withdrawn: the corpus people" in at(f"consent withdraw --corpus {ran}", *WITHDRAWN)
    assert len((at.folder / "v" / "log.jsonl").read_text().splitlines()) == lines
    assert "consent was withdrawn" in at("corpus check people", *OPENED)
    assert "WITHDRAWN: the corpus people" in at("vault list v")
    shown = at("vault open v people --purpose look")  # trying the keys says so
    assert "None of it is opened for a run: consent was withdrawn for the corpus" in shown


def test_vault_withdrawn_corpus_is_not_opened_again(at: Computers) -> None:
    """No run was made over it, so the store does not know it."""
    log = at.folder / "v" / "log.jsonl"
    assert "Withdrawn: the corpus words" in at(
        "consent withdraw --corpus words", *OPENED, *WITHDRAWN
    )
    lines = len(log.read_text().splitlines())
    for work in ("corpus check words", "run words --method copy-source --despite-network test"):
        assert "consent was withdrawn for the corpus words" in at(work, *OPENED)
    assert len(log.read_text().splitlines()) == lines
    assert "WITHDRAWN: the corpus words" in at("vault list v")
    (at.folder / "office" / "vault-corpora.json").write_text("damaged")
    assert "consent was withdrawn" in at("corpus check words", *OPENED)
    assert len(log.read_text().splitlines()) == lines + 1, "what is damaged is learned once more"
    assert "consent was withdrawn" in at("corpus check words", *OPENED)
    assert len(log.read_text().splitlines()) == lines + 1


def test_vault_entries_of_one_person_are_withdrawn(at: Computers) -> None:
    command = "consent withdraw --corpus people --given-by speaker=Ana -o ana.rosetta-notice"
    told = at(command, *OPENED, *WITHDRAWN)
    assert "Withdrawn: 1 entry that one person gave of the corpus people" in told
    assert "1 entry of held_out stayed closed" in told
    assert at.words_of() in told
    assert "No run can be used" in at("runs list")
    done = at("community export out --corpus people --open-secrets", *OPENED)
    assert "it lies in a vault" in done
    assert "vault, corpus 'people': 1 entries for which consent was withdrawn" in done
    assert done.count("Left out: run ") == 1
    told = "".join(each.read_text() for each in (at.folder / "out" / "corpora").glob("vault-*"))
    assert "Ana" not in told
    assert "Ben" in told


def test_vault_runs_go_into_a_community_export(at: Computers) -> None:
    """As its page has the command: by the corpus's name, sealed, and openly on explicit wish."""
    assert "out holds" in at("community export out --corpus people --vault v")
    assert not (at.folder / "out" / "runs").exists()
    at("community export open --corpus people --open-secrets", *OPENED)
    (rows,) = (at.folder / "open" / "runs").rglob("secret-rows.jsonl")
    assert [json.loads(row)["reference"] for row in rows.read_text().splitlines()] == ["unu", "du"]
