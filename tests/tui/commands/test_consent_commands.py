"""``rosetta consent``: what is opened, listed, exported and claimed changes at once, here and where the notice is carried."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from corpora.samples import DEMO_CORPUS, sample_path
from harness.core.failures import HarnessError
from harness.exchange.kinds import kind_of
from harness.sealed.keys import Role
from harness.store.file.database import mark_of, opened
from rosetta_tui.commands.exchange.sharing import every_kind
from tests.tui.commands.command_line import Computers
from tests.tui.commands.made_once import CopyOf

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


def test_consent_withdrawn_demo_is_refused(on: Computers) -> None:
    on("demo --plain --fast")
    [demo, _] = json.loads(on("runs list --json"))
    corpus = str(sample_path(DEMO_CORPUS))
    assert "left out" not in on("leaderboard")
    on(f"consent withdraw --corpus {corpus}", *REASON)
    told = on("demo --plain --fast")
    assert told.startswith("error: Corpus ")
    assert "consent was withdrawn" in told
    assert "1 run left out: consent was withdrawn" in on("leaderboard")
    assert "1 run left out: consent was withdrawn" in on("leaderboard --json")
    assert "left out" not in on("leaderboard --dataset words")
    with opened(on.folder / "office" / "rosetta.sqlite") as store:
        assert store.execute("SELECT count(*) FROM runs").fetchone() == (2,)
    on("consent withdraw --corpus words.tsv", *REASON)
    assert "There is nothing to rank: 2 runs left out: consent was withdrawn" in on("leaderboard")
    assert "1 run left out: consent was withdrawn" in on("leaderboard --dataset words")
    assert demo["run_id"][:8] not in on("leaderboard")


def test_consent_withdrawn_corpus_is_gone_from_everything(on: Computers) -> None:
    run = json.loads(on("runs list --json"))[0]["run_id"]
    assert "consent" not in on("runs verify card.json")
    assert "1 run can no longer be used" in on("consent withdraw --corpus words.tsv", *REASON)
    assert runs(on) == 0
    for command in (
        "run words.tsv --method copy-source --plain", "corpus show words.tsv", f"runs show {run}",
        "corpus convert words.tsv --to csv -o out.csv", f"runs export {run} -o again.json",
        f"compare {run} {run}", f"score --rescore {run}", "estimate words.tsv --method copy-source",
        "runs show last", f"retry {run}", "runs import card.json",
    ):  # fmt: skip
        told = on(command)
        assert told.startswith("error:"), command
        assert "as asked" in told, command
    assert not [each for each in on.folder.iterdir() if each.name in {"out.csv", "again.json"}]
    assert "✗ consent: withdrawn for the corpus words" in on("runs verify card.json")
    assert "No run can be used" in on("runs list")
    on(f"runs delete --now --yes {run}")  # what is withdrawn can be erased
    assert "There are no runs yet" in on("runs list")


def test_consent_entries_of_one_person_are_left_out(on: Computers) -> None:
    told = on("consent withdraw --corpus words.tsv --given-by speaker=Ana", *REASON)
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
        on(f"runs proof last {entry} -o row{entry}.json")
    (on.folder / "away").mkdir()
    (on.folder / "away" / "row1.json").write_bytes((on.folder / "row1.json").read_bytes())
    on("consent withdraw --corpus words.tsv --given-by speaker=Ana -o a.rosetta-notice", *REASON)
    for command in ("row1.json", "row1.json --card card.json"):
        told = on(f"runs verify {command}")
        assert told.startswith("error:")
        assert "✗ consent: withdrawn for 2 entries that one person gave" in told
        assert "✓ row: entry 1 is row 1" in told
    assert "consent" not in on("runs verify row2.json --card card.json")
    on("consent take a.rosetta-notice --words", on.words_of(), at="there")
    assert "– consent: the proof names neither corpus" in on(
        "runs verify away/row1.json", at="there"
    )
    assert "✗ consent" in on("runs verify away/row1.json --card card.json", at="there")


def test_consent_seal_of_a_revoked_key_says_so(on: Computers) -> None:
    key = json.loads((on.folder / "card.seal.json").read_text())["seal"]["by"]
    on(f"consent withdraw --signing-key {key}", *REASON)
    assert "✗ consent: withdrawn for the key" in on("runs verify card.json")
    assert "✗ consent: withdrawn for the key" in on("runs verify last")


def test_consent_older_export_says_what_was_withdrawn(on: Computers) -> None:
    on("run words.tsv --method constant --text x --plain")
    on("community export out --corpus words.tsv")
    assert "consent" not in on("community verify out")
    said = {
        "--corpus words.tsv --entries 2": "1 entry of the corpus words",
        "--method last": "the method with",
        "--corpus words.tsv": "the corpus words",
    }
    for number, (about, words) in enumerate(said.items(), start=1):
        on(f"consent withdraw {about} -o {number}.rosetta-notice", *REASON)
        assert "consent" not in on("community verify out", at=f"there-{number}")
        on(f"consent take {number}.rosetta-notice --words", on.words_of(), at=f"there-{number}")
        told = on("community verify out", at=f"there-{number}")
        assert told.startswith("error:")
        assert told.count("✗ consent: withdrawn for") == 1
        assert f"✗ consent: withdrawn for {words}" in told
    on("consent lift", *json_number(on), *REASON)
    assert on("community verify out").count("✓ consent") == 1


def json_number(on: Computers) -> list[str]:
    """Return the number of the first notice."""
    return [on("consent list").split()[0]]


def test_consent_withdrawn_method_runs_no_more(on: Computers) -> None:
    on("run words.tsv --method constant --text x --plain")
    on("run words.tsv --method copy-source --plain")
    assert runs(on) == 3
    assert "copy-source" in on("consent withdraw --method last", *REASON)
    assert runs(on) == 1
    told = on("run words.tsv --method copy-source --plain")
    assert told.startswith("error: Method copy-source: consent was withdrawn")
    assert "✗ consent: withdrawn for the method" in on("runs verify card.json")


def test_consent_notice_holds_where_it_is_believed(on: Computers) -> None:
    on("runs import card.json", at="there")
    on("consent withdraw --corpus words.tsv -o words.rosetta-notice", *REASON)
    refused = on("consent take words.rosetta-notice", at="there")
    assert "NOT taken in" in refused
    assert runs(on, "there") == 1
    assert "consent" not in on("runs verify card.json", at="there")
    took = on("consent take words.rosetta-notice --words", on.words_of(), at="there")
    assert "Taken in: the corpus words" in took
    assert runs(on, "there") == 0
    assert "six words of its key were compared here" in on("runs verify card.json", at="there")
    assert "nothing changed" in on("consent take words.rosetta-notice", at="there")
    number = json.loads(on("consent list --json"))["notices"][0]["notice"]
    on(f"consent lift {number[:12]}", *REASON)
    on("consent export out")
    names = [str(each) for each in sorted((on.folder / "out").iterdir())]
    assert len(names) == 2
    on("consent take", *names, at="there")
    assert runs(on, "there") == 1
    assert "✓ consent: withdrawn for the corpus words" in on("runs verify card.json", at="there")
    listed = on("consent list", at="there")
    assert "LIFTED: Council" in listed
    shown = json.loads(on("consent list --json", at="there"))
    schema = json.loads((SCHEMAS / "consent-list.schema.json").read_text())
    assert [each.message for each in Draft202012Validator(schema).iter_errors(shown)] == []


def test_consent_damaged_record_opens_nothing(on: Computers) -> None:
    on("consent withdraw --method last", *REASON)
    path = on.folder / "office" / "consent.jsonl"
    path.write_bytes(path.read_bytes().replace(b"as asked", b"as other"))
    for command in ("runs list", "run words.tsv --method constant --text x", "runs verify card.json"):  # fmt: skip
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
        assert said in on(f"consent withdraw {line}", *REASON), line
    assert not (on.folder / "office" / "consent.jsonl").exists()


def test_corpus_terms_are_written_and_obeyed(on: Computers) -> None:
    assert "names no licence and no other term" in on("corpus terms words.tsv")
    run = "run words.tsv --method chat --model m --plain --endpoint https://a.example.evil.net/v1"
    assert "Rule: nobody has said" in on(run)
    told = on("corpus terms words.tsv --transmission https://a.example/v1 --training no")
    assert "open texts may be sent to https://a.example/v1 only" in told
    refused = on(f"{run} --may-send", "Council")
    assert "is another address, however much alike they look" in refused
    assert "words.tsv.champollion.json: transmission" in refused
    assert "is there already" in on("corpus terms words.tsv --transmission open")
    assert "no word that is known" in on("corpus terms words.tsv --overwrite --transmission maybe")
    assert "is not understood" in on("corpus terms words.tsv --overwrite --license LicenseRef-X")
    on("corpus terms words.tsv --overwrite --license CC-BY-ND-4.0")
    assert "a translation is a derivative" in on("corpus terms words.tsv")


def test_run_card_has_who_allowed_sending(on: Computers) -> None:
    on("run words.tsv --method copy-source --plain --may-send", "Council, 3 May")
    on("runs export last -o said.json")
    dataset = json.loads((on.folder / "said.json").read_text())["dataset"]
    assert dataset["may_send"] == "Council, 3 May"
    assert dataset["licence_class"] == "unknown"
    assert dataset["transmission_rule"].startswith("nobody has said")
    assert "sent, because" in on("runs show last")
    assert on("runs verify said.json")[0] == "✓"


def test_consent_withdrawal_changes_the_store_mark(on: Computers) -> None:
    """A screen reads the list again where the store's mark is another; a withdrawal writes beside the store."""
    store = on.folder / "office" / "rosetta.sqlite"
    for file in store.parent.iterdir():
        os.utime(file, (1, 1))
    before = mark_of(store)
    assert mark_of(store) == before
    on("consent withdraw --method last", *REASON)
    assert mark_of(store) != before


SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "exchange-list.schema.json"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_keyring: None) -> Computers:
    return Computers(tmp_path, monkeypatch)


def key_of(run: Computers, at: str = "office") -> str:
    return run.words_of(at, Role.COMPUTER)


def test_exchange_between_three_computers(run: Computers) -> None:
    for name in ("School", "Library"):
        run(f"vault card {name}.rosetta-keeper", at=name.lower())
    assert "Give this computer a name" in run("exchange out stick", at="school")
    out = run("exchange out stick School.rosetta-keeper --as School", at="school")
    assert "1 new file, 1 file of this computer in all" in out
    assert key_of(run, "school") in out
    run("exchange out stick Library.rosetta-keeper --as Library", at="library")
    refused = run("exchange in stick --into inbox --words", key_of(run, "school"))
    assert "1 new thing, 0 taken before, 1 refused" in refused
    assert "refused: Library: This computer is not known here" in refused
    assert "no name yet, so it left no receipt" in refused
    taken = run("exchange in stick --into inbox --as Office --words", key_of(run, "library"))
    assert "from Library. Next: rosetta vault enrol VAULT" in taken
    cards = " ".join(f"--keeper inbox/{each}.rosetta-keeper" for each in ("School", "Library"))
    run(f"vault init elders --as Office --recovery rec.txt --name Elders {cards}")
    out = run("exchange out stick --vault elders --purpose", "for keepers")
    assert "with 2 lines of log" in out
    for at in ("school", "library"):
        taken = run(
            "exchange in stick --into got --words",
            key_of(run),
            "--words",
            key_of(run, "school"),
            "--words",
            key_of(run, "library"),
            at=at,
        )
        assert "a sealed copy of a vault, from Office" in taken
    told = json.loads(run("exchange list stick --json"))
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(told)
    [mine] = [each for each in told["computers"] if each["own"]]
    assert [each["taken_by"] for each in mine["lying"]] == [["Library", "School"]]
    shown = run("exchange list stick", at="library")
    assert f"School (known here), state 2   {key_of(run, 'school')}" in shown
    assert "School.rosetta-keeper: the card of a keeper, taken by Library, Office" in shown


def test_exchange_next_step_can_be_typed(run: Computers) -> None:
    """The folder of a copy has the name of its vault, with its spaces."""
    run("vault init elders --as Office --recovery rec.txt --name", "Words of the elders")
    run("exchange out stick --as Office --vault elders --purpose", "for keepers")
    said = run("exchange in stick --into got --as Library --words", key_of(run), at="library")
    [line] = [each for each in said.splitlines() if "Next: " in each]
    rosetta_, *words = shlex.split(line.partition("Next: ")[2])
    assert rosetta_ == "rosetta"
    assert "Words of the elders: whole and unchanged" in run(*words, at="library")


def test_exchange_card_travels_with_its_seal(run: Computers) -> None:
    (run.folder / "words.tsv").write_text("id\tsource\treference\n1\tone\tunu\n")
    run("run words.tsv --method copy-source --source-language en --target-language eo --plain")
    run("runs export last -o card.json")
    out = run("exchange out stick card.json --as Office")
    assert "2 new files" in out
    taken = run("exchange in stick --into inbox --as School --words", key_of(run), at="school")
    assert "inbox/card.seal.json: the seal of a card" in taken
    assert "– signature: made" in run("runs verify inbox/card.json", at="school")
    assert "0 new files" in run("exchange out stick card.json card.seal.json")


def test_exchange_vault_asks_for_its_purpose(run: Computers) -> None:
    said = run("exchange out stick --vault elders")
    assert "--vault FOLDER goes with --purpose WORDS" in said


def test_exchange_kinds_have_a_reader_and_one_end() -> None:
    ends = [each.suffix for each in every_kind()]
    assert len(set(ends)) == len(ends)
    for each in every_kind():
        assert kind_of(f"x{each.suffix}", every_kind()) is each
        with pytest.raises(HarnessError):
            each.check(b"nothing of ours")
