"""The council's day of ``docs/custodians.md``: its commands, one after the other, on the office's computer, Ann's and two laptops."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from harness.sealed.keys import Identity, Role
from review.files.batch import open_batch
from review.office.store.store import Office
from review.rating import Rating
from review.verdict.gate.key import ControlKind
from tests.review.office.made import Person
from tests.tui.commands.command_line import ok
from tests.tui.commands.sealed_review import POLICY

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
def test_a_day_from_the_stick_to_the_certificate_at_the_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
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
