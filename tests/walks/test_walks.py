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
from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from review.files.batch import open_batch
from review.office.store.store import Office
from review.rating import Rating
from review.verdict.gate.key import ControlKind
from tests.review.office.made import Person
from tests.tui.commands.command_line import ok
from tests.tui.commands.sealed_review import POLICY
from tests.walks.shell import Terminal

PAGE = Path(__file__).parents[2] / "docs" / "custodians.md"
END = "zyxsecret"
SPEAKERS = ("blue", "red")


def _secret(path: Path) -> None:
    read = json.loads(sample_path(DEMO_CORPUS).read_text("utf-8"))
    read["dataset"]["id"] = "greetings"
    for each in read["entries"]:
        each |= {"segment": "gold_standard", "source": f"{each['source']} {END}"}
    path.write_text(json.dumps(read), "utf-8")


def _rule(path: Path) -> None:
    """Make the rule that was written that of a small panel."""
    rule = path.read_text("utf-8")
    for old, new in (*POLICY, ("community_reviewers = 3", "community_reviewers = 2"), ("reviewers = 3", "reviewers = 2"), ("share = 0.40", "share = 0.05"), ("most = 0.30", "most = 0.95")):  # fmt: skip
        rule = rule.replace(old, new)
    path.write_text(rule, "utf-8")


def _meant(word: str) -> list[str]:
    """Return what a shell makes of a word."""
    return [str(each) for each in Path().glob(word)] if "*" in word else [word]


def _speakers_judge() -> None:
    """Have each speaker open the stick on their laptop, judge, and hand over."""
    with Office.open(Path("homes/office")) as office:
        key = office.review("last").key
    [batch] = (each.read_bytes() for each in Path("stick").glob("*.rosetta-batch"))
    for name, code in zip(SPEAKERS, key.orders, strict=True):
        identity = Identity.load(Path("homes", name), Role.LAPTOP)
        opened = open_batch(batch, [identity.age])
        assert all(END in each.source for each in opened.items if each.source)
        person = Person(Path("homes", name), opened, code)
        person.identity = identity
        spoilt = [key.items[item].control is ControlKind.BAD for item in person.order]
        person.rate([Rating.REJECT if each else Rating.EXCELLENT for each in spoilt])
        Path("stick", f"{name}.rosetta-ratings").write_bytes(person.handed_over())
        person.laptop.close()


@pytest.mark.thorough
def test_a_day_from_the_stick_to_the_certificate_at_the_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("COLUMNS", "120")
    _secret(tmp_path / "greetings.json")
    calls = re.findall(r"^rosetta (.*?) +# (\w+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(calls) == 21
    said = {}
    for call, whose in calls:
        words = [each for word in shlex.split(call) for each in _meant(word)]
        if words[:2] == ["submission", "run"] and "--vault" in words:
            words += ["--despite-network", "the computer of this test has one"]
        if words[:2] == ["review", "import"]:
            _speakers_judge()
            (tmp_path / "greetings.json").unlink()
        said[call] = ok(shlex.join(words), tmp_path / "homes" / whose)
        if words[:2] == ["review", "plan"]:
            _rule(tmp_path / "our-rule.toml")
    told = json.loads((tmp_path / "ann.json").read_text("utf-8"))
    assert told["corpus"]["id"] == "greetings"
    log = ok("vault log elders", tmp_path / "homes/office")
    assert "ann.rosetta-submission, allowed once" in log
    assert "sealing for speakers' laptops" in log.splitlines()[-1]
    assert "told" in said["submission list"]
    shown = said["runs show last"]
    assert "community-validated" in shown
    assert "✓ gate: go by panel of 2" in shown
    way = said["submission show ann.rosetta-submission"]
    assert "The way is at its end" in way
    assert "rosetta community propose" not in way, "its composite is below the line of §8.3"
    [certificate] = (tmp_path / "certificate").glob("*.certificate.json")
    named = json.loads(certificate.read_text("utf-8"))["run"]
    assert named["run_card_hash"] == told["run_card_hash"]
    every = (each for each in tmp_path.rglob("*") if each.is_file())
    assert [each for each in every if END.encode() in each.read_bytes()] == []


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
