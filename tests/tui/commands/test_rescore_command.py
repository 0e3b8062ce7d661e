"""``rosetta score --rescore``: what does not go with it, and what is said of metrics that cannot be had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.core.failures import HarnessError, UsageError
from harness.run import rescoring
from harness.setup.plan import RunOptions
from rosetta_tui.commands import rosetta
from rosetta_tui.commands.score import score


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    path = tmp_path / "corpus.tsv"
    path.write_text("source\treference\nthe dog\tla hundo\nthe horse\tla cevalo\n", "utf-8")
    (tmp_path / "outputs.txt").write_text("la hundo\nla hundo\n", "utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(score, [str(argument) for argument in arguments])


def scored(corpus: Path, *more: object) -> Result:
    languages = ("--source-language", "en", "--target-language", "tlh")
    return run(corpus, corpus.parent / "outputs.txt", *languages, *more)


IGNORED = (
    "--target-language crk", "--source-language en", "--limit 2", "--entries 1", "--segment development",
    "--sample 1", "--seed 0", "--difficulty 1", "--model m", "--condition c", "--form tsv", "--id x", "--reference x",
)  # fmt: skip


def test_rescore_refuses_what_it_would_ignore() -> None:
    for option in IGNORED:
        result = run("--rescore", "last", *option.split())
        assert isinstance(result.exception, UsageError)
        assert str(result.exception).startswith(f"{option.split()[0]} does not go with --rescore")


@pytest.mark.usefixtures("no_waits")
def test_score_says_which_metric_could_not_be_had(corpus: Path) -> None:
    result = scored(corpus, "--embeddings", "http://localhost:9", "--embeddings-model", "m",
                    "--metrics", "chrf_plus_plus,semantic_score")  # fmt: skip
    assert result.exit_code == 0
    assert "No semantic_score: No connection to localhost:9: start the server" in result.stderr
    assert "comet_score" not in result.stderr


def test_score_is_silent_on_metrics_that_nobody_named(corpus: Path) -> None:
    assert "_score: " not in scored(corpus).stderr
    again = run("--rescore", "last", "--metrics", "comet_score")
    assert isinstance(again.exception, HarnessError)
    assert not isinstance(again.exception, UsageError)
    assert "\ncomet_score: " in str(again.exception)


def test_score_names_an_unknown_metric_by_its_option(corpus: Path) -> None:
    result = scored(corpus, "--metrics", "blue")
    assert "--metrics: there is no metric 'blue'; did you mean bleu?" in str(result.exception)
    result = scored(corpus, "--analyser", corpus.parent / "none.hfstol")
    assert isinstance(result.exception, UsageError)
    assert str(result.exception).startswith("--analyser: Analyser none.hfstol does not exist")


def test_score_call_lasts_as_long_as_was_said(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def note(*_: Any, calls: RunOptions, **__: Any) -> str:
        asked.append(calls.timeout_seconds)
        raise UsageError("enough")

    scored(corpus, "--timeout", 7)
    monkeypatch.setattr(rescoring, "rescore", note)
    for more in ((), ("--timeout", 9.5)):
        run("--rescore", "last", *more)
    assert asked == [7, 9.5]


def test_score_shows_class_and_name_of_the_method(corpus: Path) -> None:
    name = "Our [b]method[/]\x1b[31m"
    told = scored(corpus, "--method-class", "coached-llm", "--method-name", name, "--json")
    assert told.exit_code == 0, told.stderr
    method = json.loads(told.stdout)["method"]
    assert (method["method_class"], method["method_name"]) == ("coached-llm", name)
    for line in ("runs list", "runs show last", "leaderboard"):
        shown = CliRunner().invoke(rosetta, line.split())
        assert shown.exit_code == 0, shown.stderr
        assert "Our [b]method[/]" in shown.stdout
        assert "\x1b" not in shown.stdout
    refused = scored(corpus, "--method-class", "clever")
    assert (refused.exit_code, "'clever' is not one of 'raw-llm'" in refused.stderr) == (2, True)
