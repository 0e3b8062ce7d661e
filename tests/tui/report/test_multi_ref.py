"""``--multi-ref`` on the command line and in the words of a card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from corpora.samples import DEMO_CORPUS, DEMO_WEAK, sample_path
from rosetta_tui.commands.run import run
from rosetta_tui.commands.runs import runs
from rosetta_tui.commands.score import score
from rosetta_tui.report.card import card_text

OUTPUTS = [str(sample_path(DEMO_CORPUS)), str(sample_path(DEMO_WEAK))]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))


def card(command: Any, *arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(command, [*arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def numbers_of_references(found: dict[str, Any]) -> set[str]:
    signatures = found["scores"]["signatures"]
    return {signatures[id_].split("|")[0] for id_ in ("chrf_plus_plus", "bleu", "ter")}


def test_score_takes_variants_as_references_only_where_asked() -> None:
    one = card(score, *OUTPUTS, "--json")
    several = card(score, *OUTPUTS, "--multi-ref", "--json")
    assert numbers_of_references(one) == {"nrefs:1"}
    assert numbers_of_references(several) == {"nrefs:var"}
    assert several["scores"]["ter"] < one["scores"]["ter"]


def test_rescore_goes_over_to_several_and_back() -> None:
    few = ("--metrics", "exact_match_rate,chrf_plus_plus,bleu,ter")
    one = card(score, *OUTPUTS, *few, "--json")
    several = card(score, "--rescore", "last", "--multi-ref", *few, "--json")
    kept = card(score, "--rescore", "last", "--metrics", "length_ratio", "--json")
    back = card(score, "--rescore", "last", "--one-ref", *few, "--json")
    assert [numbers_of_references(each) for each in (several, kept, back)] == [
        {"nrefs:var"},
        {"nrefs:var"},
        {"nrefs:1"},
    ]
    assert back["scores"]["composite"] == one["scores"]["composite"]


def test_run_takes_it_and_says_so_and_the_card_verifies() -> None:
    arguments = [OUTPUTS[0], "-m", "replay", "--outputs", OUTPUTS[1], "--multi-ref", "--plain"]
    said = CliRunner().invoke(run, arguments, catch_exceptions=False)
    assert said.exit_code == 0
    assert any("chrF++" in line and "nrefs:var" in line for line in said.stdout.splitlines())
    verified = CliRunner().invoke(runs, ["verify", "last"], catch_exceptions=False)
    assert verified.exit_code == 0, verified.output


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        ({}, "one for each entry"),
        ({"multi_ref": "yes"}, "one for each entry"),
        (
            {"multi_ref": True, "has_variants": True},
            "several for chrF++, BLEU and TER: also the variants",
        ),
        (
            {"multi_ref": True, "has_variants": False},
            "several for chrF++, BLEU and TER: also the variants; no entry has any",
        ),
    ],
)
def test_a_card_says_how_many_references_there_were(scoring: dict[str, Any], words: str) -> None:
    lines = card_text({"scoring": {"script": "Latn", **scoring}}).splitlines()
    (line,) = [line for line in lines if line.startswith("  references")]
    assert line.split("references")[1].strip() == words
