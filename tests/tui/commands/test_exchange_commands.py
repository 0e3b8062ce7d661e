"""``rosetta exchange``: three computers, one stick, and no network between them, as people type it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from harness.core.failures import HarnessError
from harness.exchange.kinds import kind_of
from harness.sealed.keys import Identity, Role
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.exchange.sharing import every_kind
from tests import keyring_in_memory

SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "exchange-list.schema.json"


@pytest.fixture(autouse=True)
def keyring() -> Iterator[None]:
    with keyring_in_memory.memory_keyring():
        yield


class Computers:
    """Computers with a data folder each, in a folder that they share with a stick."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        monkeypatch.chdir(folder)

    def __call__(self, at: str, line: str, *more: str, fails: bool = False) -> str:
        """Run a command at a computer; gives what it printed, or the words of its failure."""
        self.monkeypatch.setenv("ROSETTA_HOME", str(self.folder / at))
        result = CliRunner().invoke(rosetta, [*line.split(), *more])
        if isinstance(result.exception, HarnessError | click.ClickException):
            assert fails, result.exception
            return f"error: {result.exception}"
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert (result.exit_code != 0) is fails, result.output
        return result.output

    def words(self, at: str) -> str:
        """Return the six words of a computer's key."""
        return Identity.load(self.folder / at, Role.COMPUTER).public.phrase


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Computers:
    return Computers(tmp_path, monkeypatch)


def test_three_computers_and_one_stick(run: Computers) -> None:
    for name in ("School", "Library"):
        run(name.lower(), f"vault card {name}.rosetta-keeper")
    assert "Give this computer a name" in run("school", "exchange out stick", fails=True)
    out = run("school", "exchange out stick School.rosetta-keeper --as School")
    assert "1 new file, 1 file of this computer in all" in out
    assert run.words("school") in out
    run("library", "exchange out stick Library.rosetta-keeper --as Library")
    refused = run(
        "office", "exchange in stick --into inbox --words", run.words("school"), fails=True
    )
    assert "1 new thing, 0 taken before, 1 refused" in refused
    assert "refused: Library: This computer is not known here" in refused
    assert "no name yet, so it left no receipt" in refused
    taken = run(
        "office", "exchange in stick --into inbox --as Office --words", run.words("library")
    )
    assert "from Library. Next: rosetta vault enrol VAULT" in taken
    cards = " ".join(f"--keeper inbox/{each}.rosetta-keeper" for each in ("School", "Library"))
    run("office", f"vault init elders --as Office --recovery rec.txt --name Elders {cards}")
    out = run("office", "exchange out stick --vault elders --purpose", "for keepers")
    assert "with 2 lines of log" in out
    for at in ("school", "library"):
        taken = run(at, "exchange in stick --into got --words", run.words("office"),
                    *("--words", run.words("school"), "--words", run.words("library")))  # fmt: skip
        assert "a sealed copy of a vault, from Office" in taken
    told = json.loads(run("office", "exchange list stick --json"))
    assert [
        each.message
        for each in Draft202012Validator(json.loads(SCHEMA.read_text())).iter_errors(told)
    ] == []
    [mine] = [each for each in told["computers"] if each["own"]]
    assert [each["taken_by"] for each in mine["lying"]] == [["Library", "School"]]
    shown = run("library", "exchange list stick")
    assert f"School (known here), state 2   {run.words('school')}" in shown
    assert "School.rosetta-keeper: the card of a keeper, taken by Library, Office" in shown


def test_what_is_said_to_come_next_can_be_typed(run: Computers) -> None:
    """The folder of a copy has the name of its vault, with its spaces."""
    run("office", "vault init elders --as Office --recovery rec.txt --name", "Words of the elders")
    run("office", "exchange out stick --as Office --vault elders --purpose", "for keepers")
    said = run("library", "exchange in stick --into got --as Library --words", run.words("office"))
    [line] = [each for each in said.splitlines() if "Next: " in each]
    rosetta_, *words = shlex.split(line.partition("Next: ")[2])
    assert rosetta_ == "rosetta"
    assert "Words of the elders: whole and unchanged" in run("library", *words)


def test_a_card_travels_with_its_seal(run: Computers) -> None:
    (run.folder / "words.tsv").write_text("id\tsource\treference\n1\tone\tunu\n")
    run(
        "office",
        "run words.tsv --method copy-source --source-language en --target-language eo --plain",
    )
    run("office", "runs export last -o card.json")
    out = run("office", "exchange out stick card.json --as Office")
    assert "2 new files" in out
    taken = run("school", "exchange in stick --into inbox --as School --words", run.words("office"))
    assert "inbox/card.seal.json: the seal of a card" in taken
    assert "– signature: made" in run("school", "runs verify inbox/card.json")
    assert "0 new files" in run("office", "exchange out stick card.json card.seal.json")


def test_a_copy_of_a_vault_asks_for_its_purpose(run: Computers) -> None:
    said = run("office", "exchange out stick --vault elders", fails=True)
    assert "--vault FOLDER goes with --purpose WORDS" in said


def test_every_kind_that_travels_has_a_reader_and_one_end() -> None:
    ends = [each.suffix for each in every_kind()]
    assert len(set(ends)) == len(ends)
    for each in every_kind():
        assert kind_of(f"x{each.suffix}", every_kind()) is each
        with pytest.raises(HarnessError):
            each.check(b"nothing of ours")
