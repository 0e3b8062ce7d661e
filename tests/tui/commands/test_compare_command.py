"""``rosetta compare`` on runs that ``rosetta score`` made: sentences, JSON, views, refusals, secret and hostile texts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from harness.core.failures import HarnessError, UsageError
from harness.store.file.database import opened
from harness.store.run_list import list_runs
from tests.tui.commands.command_line import ok, said
from tests.tui.commands.made_once import CopyOf, made_once
from tests.tui.scenes import HOSTILE

METRICS = "exact_match_rate,chrf_plus_plus,ter,bleu"
ANSWERS = {"direct": ("red", "green", "two dogs"), "lbrag": ("red house", "blue sky", "dogs")}
DIRECT, LBRAG = (2 / 3, 0.0, 1.0), (1.0, 2 / 3, 2 / 3)
"""F1 of the answers, by hand."""
COSTS = (10, 0, 20)
BRIDGING = [(ours - base) / cost if cost else 0.0
            for ours, base, cost in zip(LBRAG, DIRECT, COSTS, strict=True)]  # fmt: skip


def score_right(
    right: int, *, segment: str = "development", size: int = 30, wrong: Sequence[str] = ("NO",)
) -> str:
    """Score outputs that are right on the first entries; gives the beginning of the run's id."""
    entries: list[dict[str, Any]] = [
        {"id": n, "source": f"private source {segment} {n}", "reference": f"referenco {n}",
         "segment": segment, "difficulty": n % 5 + 1}
        for n in range(size)
    ]  # fmt: skip
    pair = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}
    dataset = {"id": f"{segment}-{size}", "version": "1", **pair}
    corpus = Path(f"{segment}-{size}.json")
    corpus.write_text(json.dumps({"dataset": dataset, "entries": entries}), "utf-8")
    lines = [
        {"id": n, "output": f"referenco {n}" if n < right else wrong[n % len(wrong)] + f" {n}"}
        for n in range(size)
    ]
    Path("outputs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    ok(f"score {corpus} outputs.jsonl --metrics {METRICS}")
    return newest()


def newest() -> str:
    with opened() as store:
        return list_runs(store)[0].run_id[:8]


def scored(folder: Path, patch: pytest.MonkeyPatch) -> dict[str, str]:
    """Runs that are right on so many of 30 entries by that number, and some others by name."""
    patch.setenv("ROSETTA_HOME", str(folder / "home"))
    patch.chdir(folder)
    made = {str(n): score_right(n) for n in (3, 6, 7, 9, 25)}
    made["again"] = score_right(6)
    made["other corpus"] = score_right(9, size=31)
    made |= {f"secret {n}": score_right(n, segment="gold_standard") for n in (3, 28)}
    made["hostile"] = score_right(0, wrong=HOSTILE)
    references = ("red house", "blue", "two dogs")
    entries = [
        {"id": n, "source": f"question {n}", "reference": each, "evidence": [{"token_count": cost}]}
        for n, (each, cost) in enumerate(zip(references, COSTS, strict=True))
    ]
    dataset = {"id": "qa", "task": "qa", "language_pair": "EN→EN",
               "source_language": "en", "target_language": "en"}  # fmt: skip
    Path("qa.json").write_text(json.dumps({"dataset": dataset, "entries": entries}), "utf-8")
    for name, answers in ANSWERS.items():
        lines = [json.dumps({"id": n, "output": each}) for n, each in enumerate(answers)]
        Path(f"{name}.jsonl").write_text("\n".join(lines), "utf-8")
        ok(f"score qa.json {name}.jsonl")
        made[name] = newest()
    return made


@pytest.fixture
def runs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:  # fmt: skip
    folder, made = made_once(tmp_path_factory, "compared", scored)
    monkeypatch.setenv("ROSETTA_HOME", str(folder / "home"))
    return made


@pytest.fixture
def own(runs: dict[str, str], copy_of: CopyOf) -> dict[str, str]:
    """Runs in a store that may be changed."""
    copy_of("compared", scored)
    return runs


def wrong(line: str, kind: type[HarnessError] = UsageError) -> str:
    failed = said(f"compare {line}").exception
    assert isinstance(failed, kind), failed
    return str(failed)


def test_compare_says_who_is_better_and_how_sure(runs: dict[str, str]) -> None:
    weak, strong = runs["6"], runs["25"]
    shown = ok(f"compare {weak} {strong}")
    assert f"A  {weak}" in shown
    assert f"B  {strong}" in shown
    assert re.search(
        r"^  B is better than A by \d\d\.\d chrF\+\+ points; chance alone would show this in fewer than "
        r"1 of 1,000 cases\.$",
        shown, re.MULTILINE,
    )  # fmt: skip
    assert "B is better than A by 0." in shown
    assert re.search(r"^  exact .* 19 +0 +11 +B$", shown, re.MULTILINE)
    assert "difficulty  entries  chrF++ A  chrF++ B  difference" in shown
    assert "private source" not in shown
    chance = ok(f"compare {weak} {runs['7']} --metric chrf_plus_plus")
    assert "A and B cannot be told apart by chrF++: B is ahead by " in chance
    assert "but chance alone would show this in 1,000 of 1,000 cases" in chance
    assert "composite; chance" not in chance
    assert "A and B have the same chrF++." in ok(f"compare {weak} {runs['again']}")


def test_compare_json_has_the_numbers_of_the_sentences(runs: dict[str, str]) -> None:
    weak, strong = runs["6"], runs["25"]
    told = json.loads(ok(f"compare {weak} {strong} --json --entries 2"))
    [pair] = told["pairs"]
    found = pair["metrics"]["chrf_plus_plus"]
    assert found["sentence"] in ok(f"compare {weak} {strong}")
    assert found["better"] == told["runs"][1]["run_id"] == pair["second"]
    assert found["ci_lower"] < found["difference"] < found["ci_upper"]
    assert found["difference"] == pytest.approx(found["second"] - found["first"])
    assert told["entries"] == 30
    assert (told["seed"], told["draws"], told["trials"]) == (12345, 1000, 10_000)
    assert set(told["breakdowns"]["difficulty"]) == set("12345")
    [first, _] = told["biggest_differences"]["entries"]
    assert first["outputs"]["B"] == first["reference"]
    one, same, other = (
        json.loads(ok(f"compare {weak} {strong} --json --seed {seed} --draws 200"))["pairs"]
        for seed in (1, 1, 2)
    )
    assert one == same != other


def test_compare_three_runs_counts_all_comparisons(runs: dict[str, str]) -> None:
    names = f"{runs['3']} {runs['9']} {runs['25']}"
    shown = ok(f"compare {names}")
    assert shown.count(" against ") == 3
    assert "with all 3 comparisons counted" in shown
    assert "p (Holm)" in shown
    based = json.loads(ok(f"compare {names} --baseline {runs['25']} --json"))
    assert {pair["first"][:8] for pair in based["pairs"]} == {runs["25"]}


def test_compare_names_runs_that_do_not_compare(runs: dict[str, str]) -> None:
    shown = said(f"compare {runs['3']} {runs['other corpus']} {runs['9']}")
    assert shown.exit_code == 2
    assert shown.stdout.startswith("2 runs on 30 entries of development-30")
    assert f"not compared: run {runs['other corpus']}: its corpus is another" in shown.stderr
    assert "its corpus is another" in wrong(f"{runs['3']} {runs['other corpus']}")


def test_compare_refuses_wrong_metrics(runs: dict[str, str]) -> None:
    pair = f"{runs['3']} {runs['9']}"
    assert "comet_score: run" in wrong(f"{pair} --metric comet_score")
    for name in ("chrF+", "", "+"):  # another one of the field is not taken for one of ours
        assert f"--metric: there is no metric {name!r}; " in wrong(f"{pair} --metric '{name}'")
    assert wrong(f"{pair} --metric '\x1b[31mblue'").isprintable()
    assert "--metric chrf_plus_plus" in wrong(f"{pair} --metric bleu --entries 3", HarnessError)


def test_compare_knows_a_metric_by_its_shown_name(runs: dict[str, str]) -> None:
    pair = f"{runs['6']} {runs['25']}"
    for name in ("chrF++", "chrf", "chrf_plus_plus", "chrf plus-plus"):
        shown = ok(f"compare {pair} --metric '{name}' --metric ter --metric Bleu")
        assert "better than A by" in shown
        assert "comp.  " not in shown.split("metric ")[1].split("where")[0]
    head = ok(f"compare {pair}").splitlines()[1].split()[3]
    assert ok(f"compare {pair} --metric {head}") == ok(f"compare {pair} --metric composite")
    lines = ok(f"compare {pair} --metric bleu").splitlines()
    assert " BLEU " in lines[1]
    assert "chrF++" not in lines[1]
    assert " – " not in lines[2].partition(")")[0]


def test_compare_never_prints_secret_texts(runs: dict[str, str]) -> None:
    pair = f"{runs['secret 3']} {runs['secret 28']} --entries 40"
    assert "rosetta vault compare" in wrong(f"{pair} --json")
    shown = ok(f"compare {pair}")
    assert "B is better than A" in shown
    assert not [each for each in ("private source", "referenco", "NO ") if each in shown]
    assert "the entry is secret" in shown


def test_compare_shows_hostile_texts_harmless(runs: dict[str, str]) -> None:
    shown = ok(f"compare {runs['hostile']} {runs['25']} --entries 30")
    assert not [c for c in shown if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2066\u200b")]  # fmt: skip
    assert "[/foo] text" in shown


def test_compare_run_under_way_says_what_holds(own: dict[str, str]) -> None:
    weak, strong = own["3"], own["25"]
    with opened() as store:
        store.execute("UPDATE runs SET run_card = NULL, state = 'stopped' WHERE run_id LIKE ?", [f"{strong}%"])  # fmt: skip
        run = "(SELECT id FROM runs WHERE state = 'stopped')"
        store.execute(f"DELETE FROM results WHERE position >= 27 AND run = {run}")
    shown = ok(f"compare {weak} {strong}")
    assert "B is not complete: 27 of 30 entries are there" in shown
    assert "so far " in shown
    assert "p bootstrap" not in shown
    assert "p: approximate randomisation" not in shown
    assert json.loads(ok(f"compare {weak} {strong} --json"))["pairs"][0]["under_way"]
    with opened() as store:
        store.execute(f"DELETE FROM results WHERE position >= 8 AND run = {run}")
    assert "so far nothing is decided: B minus A" in ok(f"compare {weak} {strong}")


def test_compare_tells_the_least_that_outputs_cost(own: dict[str, str]) -> None:
    weak, strong = own["6"], own["25"]
    with opened() as store:
        [number] = [each.number for each in list_runs(store) if each.run_id.startswith(strong)]
        store.execute("UPDATE results SET cost_usd = 0.25 WHERE run = ? AND position < 3", [number])
    shown = ok(f"compare {weak} {strong}")
    assert re.search(rf"B  {strong} .* at least \$0\.75", shown)
    assert re.search(rf"A  {weak} .* –", shown)
    told = json.loads(ok(f"compare {weak} {strong} --json"))["runs"][1]
    assert (told["cost_usd"], told["known_cost_usd"]) == (None, 0.75)


def test_compare_view_prints_the_document_of_a_pack(runs: dict[str, str]) -> None:
    last = f"compare {runs['lbrag']}"
    against = f"{last} --baseline {runs['direct']}"
    direct, lbrag = ok(f"{against} --view lbrag").splitlines()[3:5]
    for line, name, f1 in ((direct, "direct", DIRECT), (lbrag, "lbrag ", LBRAG)):
        assert line.startswith(f"{name}   | EM=0.333±0.577 | F1={mean(f1):.3f}±{stdev(f1):.3f} | ")
    assert "Cost=10.0±10.0 | CNBE=0.00000±0.00000 | " in direct
    assert f"Cost=10.0±10.0 | CNBE={mean(BRIDGING):.5f}±{stdev(BRIDGING):.5f} | " in lbrag
    told = json.loads(ok(f"{against} --form lbrag-metrics"))["metrics"]
    assert list(told) == ["direct", "lbrag"]
    assert told["lbrag"]["cnbe"] == pytest.approx(mean(BRIDGING), abs=1e-12)
    assert told["lbrag"]["cnbe_std"] == pytest.approx(stdev(BRIDGING), abs=1e-12)
    assert told["lbrag"]["f1"] == pytest.approx(mean(LBRAG), abs=1e-12)
    assert told["lbrag"]["n"] == 3
    assert "CNBE=0.00000±0.00000 (n=1 of 3)" in ok(f"{last} --view lbrag")
    for options, words in (
        ("--view au", "has no metric of au"),
        ("--view x", "there is no view 'x'; there are lbrag, au, nest"),
        ("--view au --form lbrag-metrics", "goes with --view lbrag"),
        ("--view lbrag --metric chrf", "--baseline and --form only"),
        ("--view lbrag --baseline nobody", "nobody"),
    ):
        assert words in wrong(f"{runs['lbrag']} {options}")
