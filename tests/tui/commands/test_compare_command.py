"""``rosetta compare`` on runs that ``rosetta score`` made: sentences, JSON, refusals, secret and hostile texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.core.failures import HarnessError, UsageError
from harness.store.file.database import open_store
from harness.store.run_list import list_runs
from rosetta_tui.commands.compare import compare
from rosetta_tui.commands.score import score
from tests.tui.scenes import HOSTILE

METRICS = "exact_match_rate,chrf_plus_plus,ter,bleu"

Make = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Score outputs that are right on the first entries; gives the beginning of the run's id."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))

    def made(
        right: int, *, segment: str = "development", size: int = 30, wrong: Sequence[str] = ("NO",)
    ) -> str:
        entries: list[dict[str, Any]] = [
            {"id": n, "source": f"private source {n}", "reference": f"referenco {n}",
             "segment": segment, "difficulty": n % 5 + 1}
            for n in range(size)
        ]  # fmt: skip
        envelope = {
            "dataset": {"id": f"{segment}-{size}", "language_pair": "EN→EO",
                        "source_language": "en", "target_language": "eo", "version": "1"},
            "entries": entries,
        }  # fmt: skip
        corpus, outputs = tmp_path / f"{segment}-{size}.json", tmp_path / "outputs.jsonl"
        corpus.write_text(json.dumps(envelope), "utf-8")
        lines = [
            {"id": n, "output": f"referenco {n}" if n < right else wrong[n % len(wrong)] + f" {n}"}
            for n in range(size)
        ]
        outputs.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        done = CliRunner().invoke(score, [str(corpus), str(outputs), "--metrics", METRICS])
        assert done.exit_code == 0, done.output or done.exception
        with closing(open_store()) as store:
            return list_runs(store)[0].run_id[:8]

    return made


def run(*arguments: object) -> Result:
    return CliRunner().invoke(compare, [str(argument) for argument in arguments])


def test_the_sentence_says_who_is_better_by_how_much_and_how_sure(make: Make) -> None:
    weak, strong = make(6), make(25)
    shown = run(weak, "last")
    assert shown.exit_code == 0, shown.exception
    assert f"A  {weak}" in shown.output
    assert f"B  {strong}" in shown.output
    assert re.search(
        r"^  B is better than A by \d\d\.\d chrF\+\+ points; chance alone would show this in fewer than "
        r"1 of 1,000 cases\.$",
        shown.output, re.MULTILINE,
    )  # fmt: skip
    assert "B is better than A by 0." in shown.output
    assert re.search(r"^  exact .* 19 +0 +11 +B$", shown.output, re.MULTILINE)
    assert "difficulty  entries  chrF++ A  chrF++ B  difference" in shown.output
    assert "private source" not in shown.output


def test_what_may_be_chance_is_said_to_be(make: Make) -> None:
    shown = run(make(6), make(7), "--metric", "chrf_plus_plus").output
    assert "A and B cannot be told apart by chrF++: B is ahead by " in shown
    assert "but chance alone would show this in 1,000 of 1,000 cases" in shown
    assert "composite; chance" not in shown


def test_a_run_beside_itself_scored_twice_is_the_same(make: Make) -> None:
    assert "A and B have the same chrF++." in run(make(6), make(6)).output


def test_json_has_the_same_numbers_and_sentences(make: Make) -> None:
    weak, strong = make(6), make(25)
    told = json.loads(run(weak, strong, "--json", "--entries", 2).output)
    [pair] = told["pairs"]
    found = pair["metrics"]["chrf_plus_plus"]
    assert found["sentence"] in run(weak, strong).output
    assert found["better"] == told["runs"][1]["run_id"] == pair["second"]
    assert found["ci_lower"] < found["difference"] < found["ci_upper"]
    assert found["difference"] == pytest.approx(found["second"] - found["first"])
    assert told["entries"] == 30
    assert (told["seed"], told["draws"], told["trials"]) == (12345, 1000, 10_000)
    assert set(told["breakdowns"]["difficulty"]) == set("12345")
    [first, _] = told["biggest_differences"]["entries"]
    assert first["outputs"]["B"] == first["reference"]


def test_seed_and_draws_are_what_was_asked_for(make: Make) -> None:
    names = make(6), make(9)
    one, same, other = (
        json.loads(run(*names, "--json", "--seed", seed, "--draws", 200).output)["pairs"]
        for seed in (1, 1, 2)
    )
    assert one == same != other
    assert "2,000 shuffles" in run(*names, "--draws", 200).output


def test_three_runs_and_a_baseline(make: Make) -> None:
    names = [make(count) for count in (3, 9, 28)]
    shown = run(*names).output
    assert shown.count(" against ") == 3
    assert "with all 3 comparisons counted" in shown
    assert "p (Holm)" in shown
    based = json.loads(run(*names, "--baseline", names[2], "--json").output)
    assert len(based["pairs"]) == 2
    assert {pair["first"][:8] for pair in based["pairs"]} == {names[2]}


def test_a_run_that_does_not_compare_is_named_and_the_others_are_compared(make: Make) -> None:
    names = make(3), make(9, size=31), make(9)
    shown = run(*names)
    assert shown.exit_code == 2
    assert shown.stdout.startswith("2 runs on 30 entries of development-30")
    assert f"not compared: run {names[1]}: its corpus is another: development-31" in shown.stderr


def test_two_runs_that_do_not_compare_are_bad_input(make: Make) -> None:
    shown = run(make(3), make(9, size=31))
    assert isinstance(shown.exception, UsageError)
    assert "These runs do not compare.\nrun " in str(shown.exception)
    assert "`rosetta leaderboard` lists the runs of each corpus" in str(shown.exception)
    assert "its corpus is another" in str(shown.exception)


def test_a_metric_that_neither_has_is_bad_input(make: Make) -> None:
    shown = run(make(3), make(9), "--metric", "comet_score")
    assert isinstance(shown.exception, UsageError)
    assert "comet_score: run" in str(shown.exception)
    unknown = run(make(3), "last", "--metric", "\x1b[31mblue")
    assert isinstance(unknown.exception, UsageError)


def test_entries_by_a_metric_of_a_whole_corpus_are_refused(make: Make) -> None:
    shown = run(make(3), make(9), "--metric", "bleu", "--entries", 3)
    assert isinstance(shown.exception, HarnessError)
    assert "--metric chrf_plus_plus" in str(shown.exception)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_texts_of_secret_entries_are_never_printed(make: Make, form: tuple[str, ...]) -> None:
    names = make(3, segment="gold_standard"), make(28, segment="gold_standard")
    shown = run(*names, "--entries", 40, *form)
    if form:
        assert isinstance(shown.exception, UsageError)
        assert "rosetta vault compare" in str(shown.exception)
        return
    assert shown.exit_code == 0, shown.exception
    assert "B is better than A" in shown.output
    for secret in ("private source", "referenco", "NO "):
        assert secret not in shown.output + shown.stderr
    assert "the entry is secret" in shown.output


def test_hostile_texts_stay_harmless(make: Make) -> None:
    names = make(0, wrong=HOSTILE), make(30)
    shown = run(*names, "--entries", 30).output
    assert not [c for c in shown if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2066\u200b")]  # fmt: skip
    assert "[/foo] text" in shown


def test_a_run_under_way_is_told_by_what_holds_at_any_time(make: Make) -> None:
    weak, strong = make(100, size=400), make(400, size=400)
    with closing(open_store()) as store:
        store.execute(
            "UPDATE runs SET run_card = NULL, state = 'stopped' WHERE run_id LIKE ?",
            (f"{strong}%",),
        )
        store.execute(
            "DELETE FROM results WHERE position >= 350 AND run = (SELECT max(id) FROM runs)"
        )
    shown = run(weak, strong).output
    assert "B is not complete: 350 of 400 entries are there" in shown
    assert "so far B is better than A by " in shown
    assert "this may be said however often one looks" in shown
    assert "p bootstrap" not in shown
    assert "p: approximate randomisation" not in shown
    told = json.loads(run(weak, strong, "--json").output)["pairs"][0]
    assert told["under_way"]
    assert told["so_far"]["chrf_plus_plus"]["better"].startswith(strong)
    with closing(open_store()) as store:
        store.execute(
            "DELETE FROM results WHERE position >= 8 AND run = (SELECT max(id) FROM runs)"
        )
    shown = run(weak, strong).output
    assert "so far nothing is decided: B minus A lies between" in shown


@pytest.mark.parametrize("name", ["chrF++", "chrf", "chrf_plus_plus", "chrf plus-plus"])
def test_a_metric_is_known_by_the_name_that_is_shown(make: Make, name: str) -> None:
    weak, strong = make(6), make(25)
    shown = run(weak, strong, "--metric", name, "--metric", "ter", "--metric", "Bleu")
    assert shown.exit_code == 0, shown.exception
    assert "better than A by" in shown.output
    assert "comp.  " not in shown.output.split("metric ")[1].split("where")[0]


def test_the_composite_is_known_by_the_head_of_its_column(make: Make) -> None:
    weak, strong = make(6), make(25)
    head = run(weak, strong).output.splitlines()[1].split()[3]
    assert (
        run(weak, strong, "--metric", head).output
        == run(weak, strong, "--metric", "composite").output
    )


@pytest.mark.parametrize("name", ["chrF+", "", "+"])
def test_another_metric_of_the_field_is_not_taken_for_one_of_ours(make: Make, name: str) -> None:
    shown = run(make(6), make(25), "--metric", name)
    assert isinstance(shown.exception, UsageError)
    assert f"--metric: there is no metric {name!r}; " in str(shown.exception)


def test_runs_are_listed_with_the_metric_that_was_asked_for(make: Make) -> None:
    shown = run(make(3), make(9), "--metric", "bleu").output.splitlines()
    assert " BLEU " in shown[1]
    assert "chrF++" not in shown[1]
    assert " – " not in shown[2].partition(")")[0]


def test_the_least_that_outputs_cost_is_told(make: Make) -> None:
    weak, strong = make(6), make(25)
    with closing(open_store()) as store:
        number = list_runs(store)[0].number
        store.execute("UPDATE results SET cost_usd = 0.25 WHERE run = ? AND position < 3", [number])
    shown = run(weak, strong).output
    assert re.search(rf"B  {strong} .* at least \$0\.75", shown)
    assert re.search(rf"A  {weak} .* –", shown)
    told = json.loads(run(weak, strong, "--json").output)["runs"][1]
    assert (told["cost_usd"], told["known_cost_usd"]) == (None, 0.75)


def test_an_analyser_that_is_not_there_is_bad_input(make: Make, tmp_path: Path) -> None:
    make(3)
    files = [str(tmp_path / "development-30.json"), str(tmp_path / "outputs.jsonl")]
    done = CliRunner().invoke(score, [*files, "--analyser", str(tmp_path / "none.hfstol")])
    assert isinstance(done.exception, UsageError)  # exit code 2
    assert str(done.exception).startswith("--analyser: Analyser none.hfstol does not exist")
