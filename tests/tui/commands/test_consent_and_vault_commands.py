"""``rosetta community`` and ``vault``: what is withdrawn is closed at once, wherever the notice is carried."""

from __future__ import annotations

import json
import os
import re
import shlex
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from harness.core.failures import HarnessError, StoreError
from harness.exchange.manifest import kind_of
from harness.sealed.archive import signed_record
from harness.sealed.keys import Identity, Role
from harness.store.sqlite.database import mark_of
from harness.vault.keepers import keeper_of
from harness.vault.shares import lost_for_good
from harness.vault.vault_records import KeeperCard
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.community.exchange import every_kind
from tests.harness.vault.made import CANARY
from tests.tui.commands.command_line import Computers, CopyOf
from tests.tui.commands.vault_office import Office, faults

SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"
WORDS = """\
# source_language: en
# target_language: eo
id\tsource\treference\tspeaker
1\tGood morning!\tBonan matenon!\tAna
2\tThank you!\tDankon!\tBen
3\tGood night!\tBonan nokton!\tAna
4\tI see a dog.\tMi vidas hundon.\tBen
"""
REASON = ("--reason", "as asked", "--by", "Council")


def runs(on: Computers, at: str = "office") -> int:
    return len(json.loads(on("runs list --json", at=at)))


def with_a_run(folder: Path, patch: pytest.MonkeyPatch) -> None:
    (folder / "words.tsv").write_text(WORDS)
    made = Computers(folder, patch)
    made("run words.tsv --method copy-source --plain")
    made("runs export last -o card.json")


@pytest.fixture
def on(copy_of: CopyOf, monkeypatch: pytest.MonkeyPatch) -> Computers:
    """Two computers, one with a run over a file, whose card went out."""
    return Computers(copy_of("run", with_a_run), monkeypatch)


def test_consent_withdrawn_corpus_is_gone_from_everything(on: Computers) -> None:
    run = json.loads(on("runs list --json"))[0]["run_id"]
    assert "consent" not in on("runs verify card.json")
    assert "1 run can no longer be used" in on("community withdraw --corpus words.tsv", *REASON)
    assert runs(on) == 0
    for command in (
        "run words.tsv --method copy-source --plain", "corpus show words.tsv", f"runs show {run}",
        "corpus convert words.tsv --to csv -o out.csv", f"runs export {run} -o again.json",
        f"compare {run} {run}", f"score --rescore {run}", "run --estimate words.tsv --method copy-source",
        "runs show last", f"retry {run}", "runs import card.json",
    ):  # fmt: skip
        told = on(command)
        assert told.startswith("error:"), command
        assert "as asked" in told, command
    assert not [each for each in on.folder.iterdir() if each.name in {"out.csv", "again.json"}]
    assert "✗ consent: withdrawn for the corpus words" in on("runs verify card.json")
    assert "No run can be used" in on("runs list")
    assert "nothing to rank: 1 run left out: consent was withdrawn" in on("leaderboard")
    on(f"runs delete --now --yes {run}")  # what is withdrawn can be erased
    assert "There are no runs yet" in on("runs list")


def test_consent_entries_of_one_person_are_left_out(on: Computers) -> None:
    told = on("community withdraw --corpus words.tsv --given-by speaker=Ana", *REASON)
    assert "2 entries that one person gave" in told
    assert "Ana" not in told
    assert b"Ana" not in (on.folder / "office" / "consent.jsonl").read_bytes()
    assert runs(on) == 0
    assert "✗ consent" in on("runs verify card.json")
    assert json.loads(on("corpus show words.tsv --json"))["statistics"]["source"]["longest"] == 12
    assert "2 entries are left out" in on("run words.tsv --method copy-source --plain")
    assert runs(on) == 1
    on("runs export last -o without.json")
    rows = json.loads((on.folder / "without.json").read_text())["results"]
    assert [row["entry_id"] for row in rows] == [2, 4]
    assert "consent" not in on("runs verify without.json")
    assert "No entry has the id" in on("run words.tsv --method copy-source --entries 1")


def test_consent_proof_of_a_withdrawn_row_says_so(on: Computers) -> None:
    for entry in "12":
        on(f"runs export last --row {entry} -o row{entry}.json")
    (on.folder / "away").mkdir()
    (on.folder / "away" / "row1.json").write_bytes((on.folder / "row1.json").read_bytes())
    on("community withdraw --corpus words.tsv --given-by speaker=Ana -o a.rosetta-notice", *REASON)
    for command in ("row1.json", "row1.json --card card.json"):
        told = on(f"runs verify {command}")
        assert told.startswith("error:")
        assert "✗ consent: withdrawn for 2 entries that one person gave" in told
        assert "✓ row: entry 1 is row 1" in told
    assert "consent" not in on("runs verify row2.json --card card.json")
    on("community take a.rosetta-notice --words", on.words_of(), at="there")
    assert "– consent: the proof names neither" in on("runs verify away/row1.json", at="there")
    assert "✗ consent" in on("runs verify away/row1.json --card card.json", at="there")


def test_consent_seal_of_a_revoked_key_says_so(on: Computers) -> None:
    key = json.loads((on.folder / "card.seal.json").read_text())["seal"]["by"]
    on(f"community withdraw --signing-key {key}", *REASON)
    assert "✗ consent: withdrawn for the key" in on("runs verify card.json")
    assert "✗ consent: withdrawn for the key" in on("runs verify last")


def test_consent_older_export_says_what_was_withdrawn(on: Computers) -> None:
    on("run words.tsv --method constant --text x --plain")
    on("community export out --corpus words.tsv")
    assert "consent" not in on("verify out")
    said = {"--method last": "the method with", "--corpus words.tsv": "the corpus words"}
    for number, (about, words) in enumerate(said.items(), start=1):
        on(f"community withdraw {about} -o {number}.rosetta-notice", *REASON)
        assert "consent" not in on("verify out", at=f"there-{number}")
        on(f"community take {number}.rosetta-notice --words", on.words_of(), at=f"there-{number}")
        told = on("verify out", at=f"there-{number}")
        assert told.startswith("error:")
        assert f"✗ consent: withdrawn for {words}" in told
    on("community lift", on("community notices").split()[0], *REASON)
    assert on("verify out").count("✓ consent") == 1


def test_consent_withdrawn_method_runs_no_more(on: Computers) -> None:
    on("run words.tsv --method constant --text x --plain")
    on("run words.tsv --method copy-source --plain")
    assert runs(on) == 3
    assert "copy-source" in on("community withdraw --method last", *REASON)
    assert runs(on) == 1
    told = on("run words.tsv --method copy-source --plain")
    assert told.startswith("error: Method copy-source: consent was withdrawn")
    assert "✗ consent: withdrawn for the method" in on("runs verify card.json")


def test_consent_notice_holds_where_it_is_believed(on: Computers) -> None:
    on("runs import card.json", at="there")
    on("community withdraw --corpus words.tsv -o words.rosetta-notice", *REASON)
    refused = on("community take words.rosetta-notice", at="there")
    assert "NOT imported" in refused
    assert runs(on, "there") == 1
    assert "consent" not in on("runs verify card.json", at="there")
    took = on("community take words.rosetta-notice --words", on.words_of(), at="there")
    assert "Imported: the corpus words" in took
    assert runs(on, "there") == 0
    assert "six words of its key were compared here" in on("runs verify card.json", at="there")
    assert "nothing changed" in on("community take words.rosetta-notice", at="there")
    number = json.loads(on("community notices --json"))["notices"][0]["notice"]
    on(f"community lift {number[:12]}", *REASON)
    on("community notices -o out")
    names = [str(each) for each in sorted((on.folder / "out").iterdir())]
    assert len(names) == 2
    on("community take", *names, at="there")
    assert runs(on, "there") == 1
    assert "✓ consent: withdrawn for the corpus words" in on("runs verify card.json", at="there")
    listed = on("community notices", at="there")
    assert "LIFTED: Council" in listed
    shown = json.loads(on("community notices --json", at="there"))
    schema = json.loads((SCHEMAS / "consent-list.schema.json").read_text())
    assert [each.message for each in Draft202012Validator(schema).iter_errors(shown)] == []


def test_consent_damaged_record_opens_nothing(on: Computers) -> None:
    on("community withdraw --method last", *REASON)
    path = on.folder / "office" / "consent.jsonl"
    path.write_bytes(path.read_bytes().replace(b"as asked", b"as other"))
    for command in ("runs list", "run words.tsv --method constant --text x", "runs verify card.json"):
        assert "consent.jsonl: line 1: it was changed" in on(command)


NOT_ONE_THING = {
    "": "one of --corpus",
    "--corpus words.tsv --method last": "one of --corpus",
    "--corpus words.tsv --entries 9": "No entry has the id",
    "--corpus words.tsv --given-by speaker=Carla": "no entry",
    "--corpus words.tsv --given-by speaker": "FIELD=NAME",
    "--method last --vault v --purpose p": "--vault goes with --corpus",
    "--corpus words.tsv --purpose p": "--purpose goes with --vault",
    "--signing-key abc": "64 hexadecimal",
}


def test_consent_refuses_what_is_not_one_thing(on: Computers) -> None:
    for line, said in NOT_ONE_THING.items():
        assert said in on(f"community withdraw {line}", *REASON), line
    assert not (on.folder / "office" / "consent.jsonl").exists()


def test_corpus_terms_are_written_and_obeyed(on: Computers) -> None:
    assert "names no licence and no other term" in on("corpus terms words.tsv")
    run = "run words.tsv --method chat --model m --plain --endpoint https://a.example.evil.net/v1"
    assert "Rule: nobody has said" in on(run)
    on("corpus terms words.tsv --transmission https://a.example/v1 --training no")
    assert "is another address, however much alike they look" in on(f"{run} --may-send", "Council")
    assert "is there already" in on("corpus terms words.tsv --transmission open")
    assert "not a word that is known" in on("corpus terms words.tsv --overwrite --transmission maybe")


def test_consent_withdrawal_changes_the_store_mark(on: Computers) -> None:
    """A screen reads the list again where the store's mark is another; a withdrawal writes beside the store."""
    store = on.folder / "office" / "rosetta.sqlite"
    for file in store.parent.iterdir():
        os.utime(file, (1, 1))
    before = mark_of(store)
    assert mark_of(store) == before
    on("community withdraw --method last", *REASON)
    assert mark_of(store) != before


SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "exchange-list.schema.json"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> Computers:
    return Computers(tmp_path, monkeypatch)


def key_of(run: Computers, at: str = "office") -> str:
    return run.words_of(at, Role.COMPUTER)


def test_exchange_between_two_computers(run: Computers) -> None:
    run("vault card School.rosetta-keeper", at="school")
    assert "Give this computer a name" in run("community out stick", at="school")
    out = run("community out stick School.rosetta-keeper --as School", at="school")
    assert "1 new file, 1 file of this computer in all" in out
    assert "not known here" in run("community in stick --into inbox --as Office")
    taken = run("community in stick --into inbox --words", key_of(run, "school"))
    assert "from School. Next: rosetta vault enrol VAULT" in taken
    run("vault init elders --as Office --recovery rec.txt --name", "Words of the elders")
    assert "2 lines of log" in run("community out stick --vault elders --purpose", "for keepers")
    taken = run("community in stick --into got --words", key_of(run), at="school")
    rosetta_, *words = shlex.split(taken.partition("Next: ")[2].splitlines()[0])
    assert rosetta_ == "rosetta"
    assert "Words of the elders: whole and unchanged" in run(*words, at="school")
    told = json.loads(run("community stick stick --json"))
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(told)
    [mine] = [each for each in told["computers"] if each["own"]]
    assert [each["taken_by"] for each in mine["lying"]] == [["School"]]


def test_exchange_vault_asks_for_its_purpose(run: Computers) -> None:
    said = run("community out stick --vault elders")
    assert "--vault FOLDER goes with --purpose WORDS" in said


def test_exchange_kinds_have_a_reader_and_one_end() -> None:
    ends = [each.suffix for each in every_kind()]
    assert len(set(ends)) == len(ends)
    for each in every_kind():
        assert kind_of(f"x{each.suffix}", every_kind()) is each
        with pytest.raises(HarnessError):
            each.check(b"nothing of ours")


@pytest.fixture
def elders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> Office:
    """A vault of two keepers and a recovery key, with one corpus."""
    elders = Office(tmp_path, monkeypatch)
    elders("card School.rosetta-keeper", at="school")
    elders("init v --as Office --recovery rec.txt --keeper School.rosetta-keeper --name", "Elders")
    elders("add v words.tsv --source-language en --target-language eo --name words")
    return elders


def test_vault_from_first_card_to_a_copy(elders: Office) -> None:
    assert "2 entries opened with your keys" in elders("open v words --purpose", "a look")
    assert "2 entries" in elders("open v words --key rec.txt --purpose", "a\n look", at="new")
    assert "The purpose has 0 characters" in elders("open v words --purpose", " ")
    moved = elders("check-up v words --do rotate --count 1 --purpose y", at="school")
    assert "1 entry moved from held_out to gold_standard. Now: 3 gold_standard." in moved
    assert "opens for: Office, recovery key" in elders("revoke v School --purpose left")
    assert "not those of a present keeper" in elders("open v words --purpose look", at="school")
    assert "with 7 lines of log" in elders("export v stick --purpose safe")
    log = elders("log stick")
    assert [line.split("  ")[1] for line in log.splitlines()] == [
        "Office: made the vault 'Elders'; it opens for Office, School, recovery key",
        "Office: put in 'words': 2 gold_standard, 1 held_out",
        "Office: opened 'words': 2 gold_standard (a look)",
        "recovery key: opened 'words': 2 gold_standard (a look)",
        "School: moved 1 entry of 'words' from held_out to gold_standard (y)",
        "Office: took School out and sealed every text again (left)",
        "Office: made a sealed copy (safe)",
    ]
    told = json.loads(elders("list stick --json", at="nobody"))
    assert faults("vault-list", told) == []
    assert told["corpora"][0]["entries"] == {"gold_standard": 3}
    assert [each["name"] for each in told["keepers"]] == ["Office", "recovery key"]
    assert faults("vault-log", json.loads(elders("log v --json"))) == []
    sealed = [e for e in elders.folder.rglob("*") if e.is_file() and e.name != "words.tsv"]
    assert not [each for each in sealed if CANARY.encode() in each.read_bytes()]


def test_vault_swapped_card_opens_nothing(elders: Office) -> None:
    shown = elders("card Library.rosetta-keeper", at="library").rpartition(": ")[2].strip()
    (elders.folder / "Library.rosetta-keeper").unlink()
    elders("card Library.rosetta-keeper", at="thief")
    told = elders("enrol v Library.rosetta-keeper --purpose new --words", shown)
    assert "not the six words of this card" in told
    assert "none of the" in elders("enrol v Library.rosetta-keeper --purpose new --words", "x y")
    assert "not those of a present keeper" in elders("open v words --purpose look", at="thief")
    assert "took Library in" not in elders("log v")


def test_vault_takes_no_recovery_key_of_others(elders: Office) -> None:
    """The six words of a card that calls itself one would not be asked about."""
    thief = Identity.make(Role.KEEPER)
    card = KeeperCard(keeper=keeper_of(thief, "School", recovery=True))
    (elders.folder / "School.rosetta-keeper").write_bytes(signed_record(card, thief))
    told = elders("init w --name x --as y --recovery r.txt --keeper School.rosetta-keeper")
    assert "calls itself a recovery key" in told
    (elders.folder / "planted.txt").write_text(thief.text())
    told = elders("init w --name x --as y --recovery planted.txt")
    assert "planted.txt is there already. Anyone who put a key there" in told
    assert not (elders.folder / "w").exists()


PAGE = Path(__file__).parents[3] / "docs" / "vault.md"


def typing(elders: Office, words: str, line: list[str], at: str) -> str:
    """Run a command and type words where it asks for them; gives all that it printed."""
    elders.monkeypatch.setenv("ROSETTA_HOME", str(elders.folder / at))
    done = CliRunner().invoke(rosetta, ["vault", *line], input=words)
    assert CANARY not in done.output
    failed = done.exception is not None and not isinstance(done.exception, SystemExit)
    return f"{done.output}error: {done.exception}" if failed else done.output


def test_vault_page_can_be_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> None:
    """Every command of "Several keepers together", each on the computer that the page names."""
    elders = Office(tmp_path, monkeypatch)
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
    assert len(steps) >= 17
    six, words = "", ""
    for line, at in steps:
        parts = shlex.split(line)
        typed = {"enrol": six, "open": words}.get(parts[0], words if "--check" in parts else "")
        said = typing(elders, f"{typed}\n", parts, at)
        assert "rror: " not in said, (line, said)
        if at == "council" and parts[0] == "card":
            six = said.rpartition(": ")[2].strip()
        if parts[-1] == "library.txt":
            page = (tmp_path / parts[-1]).read_text().split("\n\n")[2]
            found = {int(n): w for n, w in re.findall(r"(\d+) ([a-z]+)", page)}
            words = " ".join(found[n] for n in range(1, 34))
        if parts[:1] == ["check-up"] and "--do" not in parts:
            assert "✓ tried: All 4 tried their share within a year." in said
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
    assert CANARY.encode() not in b"".join(e.read_bytes() for e in (tmp_path / "elders").iterdir())


def test_vault_page_has_the_numbers_of_the_program() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for keys, together in ((3, 2), (4, 2), (5, 3), (7, 4)):
        lost = lost_for_good(keys, together)
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
        assert "NOT imported" in at("community take school.rosetta-notice", at=place)
        at("community take school.rosetta-notice --words", words, at=place)
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
    at("community withdraw --signing-key", key, "--reason", "stolen", "--by", "Library")
    words = at.words_of("library", Role.KEEPER)
    told = at("vault enrol v Library.rosetta-keeper --purpose new --words", words)
    assert "The card of Library: consent was withdrawn for the key" in told


def test_vault_enrol_says_what_a_full_disk_left_undone(at: Computers, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> tuple[int, int]:
        raise StoreError("the disk is full. Free 20 MB or more on it, then try again.")

    at("vault card Library.rosetta-keeper", at="library")
    monkeypatch.setattr("harness.store.sqlite.sealing.seal_for_keepers", full)
    told = at("vault enrol v Library.rosetta-keeper --purpose new --words", at.words_of("library", Role.KEEPER))
    assert "it opens for Office, recovery key, Library now" in told
    assert "is not sealed for them yet: the disk is full" in told
    assert "Do not repeat the change" in told
    assert "Library" in at("vault list v")


def test_vault_corpus_is_withdrawn_without_opening_it(at: Computers) -> None:
    ran = f"store:{sha256((at.folder / 'people.tsv').read_bytes()).hexdigest()[:12]}"
    lines = len((at.folder / "v" / "log.jsonl").read_text().splitlines())
    told = at(f"community withdraw --corpus {ran} --given-by speaker=Ana", *WITHDRAWN)
    assert "sealed. Name its vault (--vault FOLDER" in told
    assert "1 entry of" in at(f"community withdraw --corpus {ran} --entries 2", *WITHDRAWN)
    assert "No run can be used" in at("runs list")
    assert "Withdrawn: the corpus people" in at(f"community withdraw --corpus {ran}", *WITHDRAWN)
    assert len((at.folder / "v" / "log.jsonl").read_text().splitlines()) == lines
    assert "consent was withdrawn" in at("corpus check people", *OPENED)
    assert "WITHDRAWN: the corpus people" in at("vault list v")
    shown = at("vault open v people --purpose look")  # trying the keys says so
    assert "None of it is opened for a run: consent was withdrawn for the corpus" in shown


def test_vault_withdrawn_corpus_is_not_opened_again(at: Computers) -> None:
    """No run was made over it, so the store does not know it."""
    log = at.folder / "v" / "log.jsonl"
    assert "the corpus words" in at("community withdraw --corpus words", *OPENED, *WITHDRAWN)
    lines = len(log.read_text().splitlines())
    for work in ("corpus check words", "run words --method copy-source --despite-network test"):
        assert "consent was withdrawn for the corpus words" in at(work, *OPENED)
    assert len(log.read_text().splitlines()) == lines
    assert "WITHDRAWN: the corpus words" in at("vault list v")
    (at.folder / "office" / "vault-corpora.json").write_text("damaged")
    assert "Consent for 'words' was withdrawn" in at("corpus check words", *OPENED)
    assert len(log.read_text().splitlines()) == lines


def test_vault_withdrawn_corpus_is_refused_on_other_computers(at: Computers) -> None:
    """They took in no notice: the log of the vault is enough, until the same keeper says that consent was given again."""
    key = ("--with", "rec.txt")
    looks = [
        ("vault open v words --purpose look --key rec.txt",),
        ("corpus check words", *OPENED, *key),
        ("run words --method copy-source --plain --despite-network test", *OPENED, *key),
    ]
    said = at("community withdraw --corpus words", *OPENED, *WITHDRAWN)
    assert "no keeper's computer opens words any more" in said
    for look in looks:
        told = at(*look, at="library")
        assert "Consent for 'words' was withdrawn by Council on" in told
        assert "(as asked): no keeper opens it" in told
    assert "Office: withdrew consent for 'words', as Council decided" in at("vault log v", at="library")
    assert "WITHDRAWN: Consent for 'words'" in at("vault list v", at="library")
    assert faults("vault-list", json.loads(at("vault list v --json", at="library"))) == []
    assert faults("vault-log", json.loads(at("vault log v --json", at="library"))) == []
    *_, number = [each["notice"] for each in json.loads(at("community notices --json"))["notices"]]
    at(f"community lift {number} --vault v", *WITHDRAWN)
    for look in looks:
        assert "Consent for 'words'" not in at(*look, at="library")


def test_vault_entries_of_one_person_are_withdrawn(at: Computers) -> None:
    command = "community withdraw --corpus people --given-by speaker=Ana -o ana.rosetta-notice"
    told = at(command, *OPENED, *WITHDRAWN)
    assert "Withdrawn: 1 entry that one person gave of the corpus people" in told
    assert "1 entry of held_out stayed closed" in told
    assert at.words_of() in told
    assert "No run can be used" in at("runs list")
    done = at("community export out --corpus people --open-secrets", *OPENED)
    assert "vault, corpus 'people': 1 entries for which consent was withdrawn" in done
    told = "".join(each.read_text() for each in (at.folder / "out" / "corpora").glob("vault-*"))
    assert "Ana" not in told
    assert "Ben" in told
