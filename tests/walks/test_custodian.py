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
from review.verdict.panel.key import ControlKind
from tests.tui.commands.sealed_review import POLICY
from tests.walks.shell import Speaker, rosetta

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


def _spoilt(folder: Path) -> set[str]:
    """The translations on the stick that were made wrong on purpose."""
    blue = Identity.load(folder / "homes/blue", Role.LAPTOP)
    [batch] = (each.read_bytes() for each in (folder / "stick").glob("*.rosetta-batch"))
    with Office.open(folder / "homes/office") as office:
        truth = office.review("last").key.items
    shown = {each.id: each.candidate for each in open_batch(batch, [blue.age]).items}
    return {shown[id_] for id_, each in truth.items() if each.control is ControlKind.BAD}


def _speakers_judge(folder: Path) -> None:
    """Have each speaker open the stick on their laptop, judge, and hand over."""
    spoilt = {" ".join(each.split()) for each in _spoilt(folder)}
    [told] = (folder / "homes/office/review-cards").glob("*-cards.txt")
    codes = re.findall(r"Your code: +(\S+)", told.read_text("utf-8"))
    for name, code in zip(SPEAKERS, codes, strict=True):
        speaker = Speaker(folder / "homes" / name, folder / "stick", code)
        with speaker.sitting() as say:
            speaker.rates(
                say, speaker.begins(say), lambda _, shown: "1" if shown in spoilt else "4"
            )
            speaker.hands_over(say)
        assert END in speaker.heard


def test_a_day_from_the_stick_to_the_certificate_at_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _secret(tmp_path / "greetings.json")
    calls = re.findall(r"^(rosetta .*?) +# (\w+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(calls) == 21
    said = {}
    for call, whose in calls:
        words = [each for word in shlex.split(call)[1:] for each in _meant(word)]
        if words[:2] == ["submission", "run"] and "--vault" in words:
            words += ["--despite-network", "the computer of this test has one"]
        if words[:2] == ["review", "import"]:
            _speakers_judge(tmp_path)
            (tmp_path / "greetings.json").unlink()
        said[call] = rosetta(tmp_path / "homes" / whose, *words)
        if words[:2] == ["review", "plan"]:
            _rule(tmp_path / "our-rule.toml")
    told = json.loads((tmp_path / "ann.json").read_text("utf-8"))
    assert told["corpus"]["id"] == "greetings"
    log = rosetta(tmp_path / "homes/office", "vault", "log", "elders")
    assert "ann.rosetta-submission, allowed once" in log
    assert "sealing for speakers' laptops" in log.splitlines()[-1]
    assert "told" in said["rosetta submission list"]
    shown = said["rosetta runs show last"]
    assert "community-validated" in shown
    assert "✓ gate: go by panel of 2" in shown
    way = said["rosetta submission show ann.rosetta-submission"]
    assert "The way is at its end" in way
    assert "rosetta organisation used" in way, "its composite is below the line of §8.3"
    [certificate] = (tmp_path / "certificate").glob("*.certificate.json")
    named = json.loads(certificate.read_text("utf-8"))["run"]
    assert named["run_card_hash"] == told["run_card_hash"]
    every = (each for each in tmp_path.rglob("*") if each.is_file())
    assert [each for each in every if END.encode() in each.read_bytes()] == []
