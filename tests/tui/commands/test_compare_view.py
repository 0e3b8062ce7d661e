"""``rosetta compare --view``: the numbers of runs as the document of a pack prints them."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, stdev

import pytest
from click.testing import CliRunner, Result

from harness.core.failures import UsageError
from rosetta_tui.commands.compare import compare
from rosetta_tui.commands.score import score

ANSWERS = {"direct": ("red", "green", "two dogs"), "lbrag": ("red house", "blue sky", "dogs")}
DIRECT, LBRAG = (2 / 3, 0.0, 1.0), (1.0, 2 / 3, 2 / 3)
"""F1 of the answers, by hand."""
COSTS = (10, 0, 20)
BRIDGING = [(ours - base) / cost if cost else 0.0
            for ours, base, cost in zip(LBRAG, DIRECT, COSTS, strict=True)]  # fmt: skip


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A direct answer and one by translated evidence, scored; the second is the last run."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    references = ("red house", "blue", "two dogs")
    entries = [
        {"id": n, "source": f"question {n}", "reference": each, "evidence": [{"token_count": cost}]}
        for n, (each, cost) in enumerate(zip(references, COSTS, strict=True))
    ]
    dataset = {"id": "qa", "task": "qa", "language_pair": "EN→EN",
               "source_language": "en", "target_language": "en"}  # fmt: skip
    corpus = tmp_path / "qa.json"
    corpus.write_text(json.dumps({"dataset": dataset, "entries": entries}), "utf-8")
    for name, answers in ANSWERS.items():
        lines = [json.dumps({"id": n, "output": each}) for n, each in enumerate(answers)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")
        done = CliRunner().invoke(score, [str(corpus), str(tmp_path / f"{name}.jsonl")])
        assert done.exit_code == 0, done.output or done.exception


def run(*arguments: str) -> Result:
    return CliRunner().invoke(compare, arguments)


def test_lbrag_prints_a_line_for_each_system_held_against_the_baseline() -> None:
    shown = run("last", "--baseline", "last~1", "--view", "lbrag")
    assert shown.exit_code == 0, shown.exception
    direct, lbrag = shown.output.splitlines()[3:5]
    assert direct.startswith(
        f"direct   | EM=0.333±0.577 | F1={mean(DIRECT):.3f}±{stdev(DIRECT):.3f} | "
    )
    assert lbrag.startswith(
        f"lbrag    | EM=0.333±0.577 | F1={mean(LBRAG):.3f}±{stdev(LBRAG):.3f} | "
    )
    assert "Cost=10.0±10.0 | CNBE=0.00000±0.00000 | " in direct
    assert f"Cost=10.0±10.0 | CNBE={mean(BRIDGING):.5f}±{stdev(BRIDGING):.5f} | " in lbrag


def test_its_file_has_every_number_in_full() -> None:
    shown = run("last", "--baseline", "last~1", "--form", "lbrag-metrics")
    told = json.loads(shown.output)["metrics"]
    assert list(told) == ["direct", "lbrag"]
    assert told["lbrag"]["cnbe"] == pytest.approx(mean(BRIDGING), abs=1e-12)
    assert told["lbrag"]["cnbe_std"] == pytest.approx(stdev(BRIDGING), abs=1e-12)
    assert told["lbrag"]["f1"] == pytest.approx(mean(LBRAG), abs=1e-12)
    assert told["lbrag"]["n"] == 3


def test_one_run_without_a_baseline_has_no_efficiency() -> None:
    assert "CNBE=0.00000±0.00000 (n=1 of 3)" in run("last", "--view", "lbrag").output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--view", "au"], "has no metric of au"),
        (["--view", "x"], "there is no view 'x'; there are lbrag, au, nest"),
        (["--view", "au", "--form", "lbrag-metrics"], "goes with --view lbrag"),
        (["--view", "lbrag", "--metric", "chrf"], "--baseline and --form only"),
        (["--view", "lbrag", "--baseline", "nobody"], "nobody"),
    ],
)
def test_what_cannot_be_printed_is_said(arguments: list[str], words: str) -> None:
    refused = run("last", *arguments)
    assert isinstance(refused.exception, UsageError)
    assert words in str(refused.exception)
