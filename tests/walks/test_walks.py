"""The council's day of ``docs/custodians.md``, and the developer from nothing to two runs of their own compared."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from harness.sealed.keys import Identity, Role
from harness.store.run_list import list_runs
from harness.store.sqlite.database import open_store
from review.files.batch import open_batch
from review.office.store.store import Office
from review.rating import Rating
from review.verdict.gate.key import ControlKind
from rosetta_tui.request import vault as vault_options
from tests.review.office.made import Person
from tests.tui.commands.command_line import ok
from tests.walks.shell import Terminal

PAGE = Path(__file__).parents[2] / "docs" / "custodians.md"
END = "zyxsecret"
SPEAKERS = ("blue", "red")


def _secret(path: Path) -> None:
    """Write 50 sentences that are scored, and 50 that are kept for later."""
    read = json.loads(sample_path(DEMO_CORPUS).read_text("utf-8"))
    read["dataset"]["id"] = "greetings"
    entries = read["entries"][:50]
    read["entries"] = [
        entry | {"id": f"{entry['id']}-{segment}", "segment": segment, "source": f"{entry['source']} {segment} {END}"}
        for segment in ("gold_standard", "held_out")
        for entry in entries
    ]
    path.write_text(json.dumps(read), "utf-8")


def _speakers_judge(stick: Path) -> None:
    """Have each speaker open the stick on their laptop, judge, and hand in."""
    with Office.open(Path("homes/office")) as office:
        key = office.review("last").key
    [batch] = (path.read_bytes() for path in stick.glob("*.rosetta-batch"))
    for name, code in zip(SPEAKERS, key.orders, strict=True):
        identity = Identity.load(Path("homes", name), Role.LAPTOP)
        opened = open_batch(batch, [identity.age])
        assert all(END in item.source for item in opened.items if item.source)
        person = Person(Path("homes", name), opened, code)
        person.identity = identity
        spoilt = [key.items[item].control is ControlKind.BAD for item in person.order]
        person.rate([Rating.REJECT if is_spoilt else Rating.EXCELLENT for is_spoilt in spoilt])
        (stick / f"{name}.rosetta-ratings").write_bytes(person.handed_over())
        person.laptop.close()


def _ben_packs() -> None:
    """Have another developer bring a method of their own on the stick."""
    ok("submission demo stick/ben --lane data", Path("homes/ben"))
    sheet = Path("stick/ben/submission.toml")
    sheet.write_text(sheet.read_text("utf-8").replace("A newcomer", "Ben"), "utf-8")
    ok("submission pack stick/ben --accept-terms stick/ben-terms.txt --overwrite", Path("homes/ben"))


class Day:
    """The commands of the page, typed one after the other, each on its computer."""

    def __init__(self, text: str) -> None:
        self.calls = re.findall(r"^rosetta (.*?) +# (\w+)$", text, re.MULTILINE)
        self.said: dict[str, str] = {}

    def count(self, *others: str) -> int:
        """Count the commands that are not typed by these."""
        return sum(whose not in others for _, whose in self.calls)

    def go(self, _request: Path = PAGE) -> None:
        """Type the next command; while one waits for the keepers, this is what they do."""
        call, whose = self.calls.pop(0)
        words = shlex.split(call)
        if words[:2] == ["submission", "run"] and "--vault" in words:
            words += ["--despite-network", "the computer of this test has one"]
        if words[:2] == ["review", "import"]:
            _speakers_judge(Path(words[2]))
        self.said[call] = ok(shlex.join(words), Path("homes", whose).absolute(), "y\n")

    def through(self) -> None:
        while self.calls:
            self.go()


@pytest.mark.thorough
def test_a_day_of_three_keepers_from_the_ceremony_to_a_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("COLUMNS", "120")
    first, _, further = PAGE.read_text("utf-8").partition("## A further method")
    day, later, office = Day(first), Day(further), tmp_path / "homes" / "office"
    assert day.count("ann") == 15
    assert later.count() == 8
    _secret(tmp_path / "greetings.json")
    (tmp_path / "stick").mkdir()
    monkeypatch.setattr(vault_options, "wait", day.go)
    day.through()
    (tmp_path / "greetings.json").unlink()
    for page in ("school.html", "library.html"):
        (tmp_path / page).unlink()
    asked = next(said for call, said in day.said.items() if "first time" in call)
    assert asked.index("2 keepers must allow it: Office, and 1 more of School, Library") < asked.index(
        "School allows it"
    )
    planned = next(said for call, said in day.said.items() if call.startswith("review create"))
    assert "derived: 2 people and 20 sentences are enough" in planned
    told = json.loads((tmp_path / "ann.json").read_text("utf-8"))
    assert told["corpus"]["id"] == "greetings"
    assert "sealing for speakers' laptops" in ok("vault log elders", office)
    shown = ok("runs show last", office)
    decided = next(said for call, said in day.said.items() if call.startswith("review gate"))
    assert ": go. What may be claimed is no longer capped" in decided
    assert "gate: it was a panel of 2, the policy asks for 5" in shown
    assert "The way is at its end" in ok("submission show stick/ann.rosetta-submission", office)
    [certificate] = (tmp_path / "certificate").glob("*.certificate.json")
    named = json.loads(certificate.read_text("utf-8"))["run"]
    assert named["run_card_hash"] == told["run_card_hash"]
    _ben_packs()
    monkeypatch.setattr(vault_options, "wait", later.go)
    later.through()
    assert json.loads((tmp_path / "ben.json").read_text("utf-8"))["confirmation"] == "confirmed"
    assert len([*(tmp_path / "certificate").glob("*.certificate.json")]) == 2
    assert "The way is at its end" in ok("submission show stick/ben.rosetta-submission", office)
    assert ok("council", office).startswith("Nothing is to be done")
    files = (path for path in tmp_path.rglob("*") if path.is_file())
    assert [path for path in files if END.encode() in path.read_bytes()] == []


METHOD = """
import asyncio
import pathlib

from harness.method.method import MethodClass, Output, Setup

HERE = pathlib.Path(__file__).parent


class Mine:
    endpoint = None

    def __init__(self, options):
        self.setup = Setup(
            method="mine", method_class=MethodClass.CUSTOM_PLUGIN, method_version="1",
            model_slug="mine", condition="x",
        )
        self.asked = 0

    async def translate(self, entries, calls):
        self.asked += 1
        while self.asked > 3 and not (HERE / "go").exists():
            await asyncio.sleep(0.01)
        return [Output(entry.source) for entry in entries]
"""
"""Answers three entries, and the others when the file ``go`` lies beside it."""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with closing(Terminal(tmp_path)) as opened:
        yield opened


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_from_an_empty_home_to_two_runs_of_ones_own_corpus_compared(terminal: Terminal, tmp_path: Path) -> None:
    home, corpus, method = tmp_path / "home", tmp_path / "mine.tsv", tmp_path / "method.py"
    rows = (f"{n}\tThe dog number {n} sleeps.\tLa hundo {n} dormas." for n in range(1, 13))
    corpus.write_text("\n".join(["id\tsource\treference", *rows, ""]), "utf-8")
    method.write_text(METHOD, "utf-8")
    terminal.wait_for("D  Run the demo")
    terminal.press("D")
    terminal.wait_for("chrF++", "complete")
    terminal.press("q")
    terminal.wait_for("› Home   1 run")
    terminal.press("Down", "Enter")  # the cursor is on the run
    terminal.wait_for("eo-demo-v1", "complete")
    terminal.press("q")
    terminal.wait_for("› Home   1 run")

    terminal.press("n")  # all that follows is typed ahead, with no look at the screen
    for typed, tabs in ((corpus, 1), ("en", 1), ("eo", 3), (f"{method}:Mine", 0)):
        terminal.type(str(typed))
        terminal.press(*["Tab"] * tabs)
    terminal.press("C-s")
    terminal.wait_for("mine · EN→EO", "running", "3 done")
    with closing(Terminal(tmp_path, "watch")) as second:
        second.wait_for("mine · EN→EO", "3 done")
        terminal.press("d")
        second.wait_for("draining")
        (tmp_path / "go").touch()
        second.wait_for("stopped", "11 done", "1 waiting")
        terminal.wait_for("stopped", "R continues here")
        terminal.press("R")
        terminal.wait_for("complete", "12 done")
        second.wait_for("complete", "12 done")
        second.press("q")
        second.wait_until_gone()
    terminal.press("q")
    terminal.wait_for("› Home   2 runs")
    terminal.press("N")
    terminal.wait_for("New run", "12 of 12 entries")
    terminal.press("C-s")
    terminal.wait_for("mine · EN→EO", "complete", "12 done")
    terminal.press("q")
    terminal.wait_for("› Home   3 runs")
    terminal.press("c")
    terminal.wait_for("› Compare", "12")
    terminal.press("q")
    terminal.wait_for("› Home")
    terminal.press("q")
    terminal.wait_until_gone()
    with closing(open_store(home / "rosetta.sqlite")) as store:
        assert [run.state for run in list_runs(store)] == ["complete"] * 3
    assert "chrF++" in ok("compare last last~1", home)


@pytest.mark.every_python
@pytest.mark.costly("two runs of the demo, from the empty folder to their comparison")
def test_commands_from_an_empty_home_to_two_runs_compared(tmp_path: Path) -> None:
    for _ in range(2):
        ok("demo --plain", tmp_path)
    with closing(open_store(tmp_path / "rosetta.sqlite")) as store:
        assert [run.state for run in list_runs(store)] == ["complete"] * 2
    assert "chrF++" in ok("compare last last~1", tmp_path)
