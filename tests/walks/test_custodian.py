"""The council's day of ``docs/custodians.md``: its commands, one after the other, on two computers with one stick."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from corpora.samples import DEMO_CORPUS, sample_path
from tests.walks.shell import rosetta

PAGE = Path(__file__).parents[2] / "docs" / "custodians.md"


def _secret(path: Path, name: str, end: str) -> None:
    read = json.loads(sample_path(DEMO_CORPUS).read_text("utf-8"))
    read["dataset"]["id"] = name
    for each in read["entries"]:
        each |= {"segment": "gold_standard", "source": f"{each['source']} {end}"}
    path.write_text(json.dumps(read), "utf-8")


def test_a_day_from_the_stick_to_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _secret(tmp_path / "greetings.json", "greetings", "one")
    _secret(tmp_path / "for-speakers.json", "for-speakers", "two")
    calls = re.findall(r"^(rosetta .*?) +# (\w+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(calls) == 12
    said = {}
    for call, whose in calls:
        words = shlex.split(call)[1:]
        if "--vault" in words:
            words += ["--despite-network", "the computer of this test has one"]
        said[call] = rosetta(tmp_path / "homes" / whose, *words)
    told = json.loads((tmp_path / "ann.json").read_text("utf-8"))
    assert told["corpus"]["id"] == "greetings"
    log = next(text for call, text in said.items() if call.startswith("rosetta vault log"))
    assert "ann.rosetta-submission, allowed once" in log
    assert "told" in said["rosetta submission list"]
    shown = rosetta(tmp_path / "homes" / "office", "submission", "show", "ann.rosetta-submission")
    assert "run over secret texts" in shown
    assert "Next: rosetta review create" in shown
