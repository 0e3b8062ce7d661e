"""A new annotator is one file and one row: runs ask it, cards tell of it, doctor looks for its package."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from harness.core.installation import installed
from harness.setup.annotator_table import ANNOTATORS, AnnotatorRow
from rosetta_tui.cli import main
from scoring.core.specification import specification, table_row
from tests.harness.ranked import play, ranked_corpus

FILE = """
from pydantic import BaseModel

from harness.annotators.annotator import Find
from harness.core.failures import HarnessError
from scoring.core.metric import Statistics
from scoring.core.metric import RateMetric
from scoring.core.specification import metric_info
from scoring.metrics.maker import Maker


class Facts(BaseModel):
    version: str = "1"
    language: str


class Hearing:
    id = "hearing"
    slow = True

    def __init__(self, step):
        self._step = step
        self.facts = Facts(language="eo")

    def annotate(self, translations):
        self._step(1, len(translations))
        if BROKEN:
            raise HarnessError("the ear is deaf")
        return [len(each.output.split()) for each in translations]

    def close(self):
        pass


BROKEN = False


def find(search):
    if search.resources.setup.target_language != "eo":
        return None
    made = Hearing(search.step)
    return Find(made, made.facts)


class Heard(RateMetric):
    info = metric_info("words_heard")
    signature = "ear:1"
    why_missing = "nothing is heard"

    def stats(self, translation):
        heard = translation.annotations.get("hearing")
        return None if heard is None else (min(heard, 4), 4)


METRICS = {"words_heard": Maker(lambda _: Heard())}
"""

ROW = """
title = "Words Heard"
short = "heard"
module = "annotator_from_outside"
annotators = ["hearing"]
category = "semantic"
section = "§2.3"
low = 0.0
high = 1.0
better = "higher"
level = "both"
what = "Share of four words that are heard."
status = "implemented"
needs = ["nothing"]
library = "own code"
interval = true
excluded = "It is made for a test."
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of its own, with the annotator in its table and a metric that asks it."""
    (tmp_path / "annotator_from_outside.py").write_text(FILE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(
        specification().metrics, "words_heard", table_row("words_heard", tomllib.loads(ROW))
    )
    row = AnnotatorRow(
        "annotator_from_outside", progress="texts heard", package="click", use="hears words"
    )
    monkeypatch.setitem(ANNOTATORS, "hearing", row)
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))
    (tmp_path / "data").mkdir(mode=0o700)
    return tmp_path / "data" / "rosetta.sqlite"


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit):
        main(arguments)
    return capsys.readouterr().out


def test_one_file_and_one_row_are_enough(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = play(path, ranked_corpus(20), 20, "alpha")
    card = path.with_name("card.json")
    said(capsys, "runs", "export", run, "-o", str(card))
    told = json.loads(card.read_text("utf-8"))
    assert told["scoring"]["annotators"] == {"hearing": {"version": "1", "language": "eo"}}
    assert told["scores"]["words_heard"] == 1.0
    assert told["scores"]["signatures"]["words_heard"] == "ear:1"
    assert "Words Heard" in said(capsys, "runs", "show", run)
    assert f"hearing: click {installed('click')}: hears words" in said(capsys, "doctor")

    monkeypatch.setattr("annotator_from_outside.BROKEN", True)
    deaf = play(path, ranked_corpus(19), 19, "beta")
    card = path.with_name("deaf.json")
    said(capsys, "runs", "export", deaf, "-o", str(card))
    told = json.loads(card.read_text("utf-8"))
    assert told["scores"]["words_heard"] is None
    assert told["scores"]["reasons"]["words_heard"] == "the ear is deaf"
    assert "annotators" not in told["scoring"]
