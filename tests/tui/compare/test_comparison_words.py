"""The sentences of a comparison, case by case."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.compare.pairs import Pair, RunningDifference
from harness.method.method import MethodClass, Setup
from rosetta_tui.compare.sentences import (
    amount,
    cached_words,
    cases,
    number,
    reproduction_words,
    sentence,
    told_apart,
)
from scoring.statistics.reproducibility import verdict
from scoring.statistics.significance import Difference

A, B = (
    cast("Any", SimpleNamespace(letter=letter, complete=True, cached=cached, run_id=letter * 8))
    for letter, cached in (("A", 0), ("B", 12))
)

BETTER = Difference(
    first=58.9, second=61.0, difference=2.1, lower=0.4, upper=3.8, p_bootstrap=0.004,
    p_randomisation=0.003, effect_size=0.2, wins=30, losses=12, ties=58, direction="higher",
)  # fmt: skip


def pair(metric: str, found: Difference, **more: Any) -> Pair:
    told = {"p_adjusted": {metric: found.p_randomisation}, **more}
    return Pair(A, B, {metric: found}, {}, **told)


def changed(**changes: Any) -> Difference:
    return replace(BETTER, **changes)


SMALL = changed(first=0.5, second=0.54, difference=0.04, lower=0.01, upper=0.07)
HIGHER = changed(direction="neither", first=0.9, second=1.1, difference=0.2)
DISAGREE = ", and the two tests disagree: p {:.3f} by shuffling, {:.3f} by bootstrap"
SENTENCES: list[tuple[str, Difference, dict[str, Any], str]] = [
    ("chrf_plus_plus", BETTER, {}, "B is better than A by 2.1 chrF++ points; chance alone would show this in 3 of 1,000 cases"),
    ("ter", changed(direction="lower"), {}, "A is better than B by 2.1 TER points (lower is better); chance…"),
    ("composite", SMALL, {}, "B is better than A by 0.04 in the composite; …"),
    ("bleu", BETTER, {"p_adjusted": {"bleu": 0.009}, "pairs": 3}, "…in 9 of 1,000 cases, with all 3 comparisons counted"),
    ("bleu", BETTER, {"p_adjusted": {"bleu": 0.06}, "pairs": 10}, "A and B cannot be told apart by BLEU: B is ahead by 2.1 BLEU points, but chance…"),
    ("bleu", changed(lower=-0.1), {}, "…in 3 of 1,000 cases, and the interval of the difference (−0.1 … +3.8) holds zero"),
    ("bleu", changed(p_randomisation=0.003, p_bootstrap=0.06), {}, "…" + DISAGREE.format(0.003, 0.06)),
    ("bleu", changed(p_randomisation=0.06, p_bootstrap=0.003), {}, "…" + DISAGREE.format(0.06, 0.003)),
    ("length_ratio", HIGHER, {}, "the Length Ratio of B is higher than that of A by 0.20; chance…"),
    ("length_ratio", replace(HIGHER, p_randomisation=0.3), {}, "…by 0.20, which may be chance; chance…"),
    ("bleu", changed(difference=0.0), {}, "A and B have the same BLEU"),
]  # fmt: skip
"""Metric, what was found, what else the pair knows, and the sentence; where it begins or ends with …, a part of it."""


@pytest.mark.parametrize(("metric", "found", "more", "words"), SENTENCES)
def test_sentence_says_the_finding(metric: str, found: Difference, more: Any, words: str) -> None:
    said = sentence(pair(metric, found, **more), metric)
    if words.startswith("…") and words.endswith("…"):
        assert words.strip("…") in said
    elif words.startswith("…"):
        assert said.endswith(words[1:])
    elif words.endswith("…"):
        assert said.startswith(words[:-1])
    else:
        assert said == words


def test_amounts_and_pairs_that_do_not_compare() -> None:
    assert amount("exact_match_rate", 0.0004) == "0.0004 in Exact Match"
    left = Pair(A, B, {}, {"ter": "scored otherwise"})
    assert sentence(left, "ter") == "A and B do not compare by TER: scored otherwise"
    assert number("bleu", -0.0, sign=True) == "0.0", "no zero has a sign"
    assert number("bleu", -0.04, sign=True) == "−0.04"


def test_while_a_run_is_under_way_only_what_holds_at_any_time_is_said() -> None:
    going = cast("Any", SimpleNamespace(letter="B", complete=False, run_id="B" * 8))

    def told(lower: float, metric: str = "chrf_plus_plus") -> str:
        found = RunningDifference(2.1, lower, 3.8, 300, 0.95, "higher")
        running = {"chrf_plus_plus": found}
        return sentence(Pair(A, going, {metric: BETTER}, {}, running=running), metric)

    assert told(0.4).startswith(
        "so far B is better than A by 2.1 in the mean chrF++ of single entries (+0.4 … +3.8)"
    )
    assert told(-0.4).startswith("so far nothing is decided: B minus A lies between −0.4 and +3.8")
    assert told(0.4, "bleu") == "BLEU says nothing before both runs are complete"


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (0.0001, "fewer than 1 of 1,000 cases"), (0.001, "1 of 1,000 cases"), (0.0034, "3 of 1,000 cases"),
        (0.41, "410 of 1,000 cases"), (1.0, "1,000 of 1,000 cases"),
    ],
)  # fmt: skip
def test_probabilities_are_cases_of_a_thousand(p: float, words: str) -> None:
    assert cases(p) == words


def test_repetitions() -> None:
    good = verdict({"composite": 0.5, "bleu": 20.0}, {"composite": 0.505, "bleu": 21.0})
    assert list(reproduction_words(good)) == [
        "same set-up: reproduced, composite and chrF++ are within ±2 %",
        "  BLEU: 20.0 became 21.0 (+5.0 %)",
    ]
    bad = verdict({"composite": 0.5}, {"composite": 0.6})
    assert next(iter(reproduction_words(bad))).startswith("same set-up: NOT reproduced")
    assert next(iter(reproduction_words(verdict({}, {})))).startswith("same set-up: neither has")
    assert cached_words(A) == ""
    assert cached_words(B) == "12 outputs of B came from the cache: nothing was repeated there"


def test_runs_of_one_method_are_told_apart() -> None:
    def run(run_id: str, file: str, condition: str = "demo", temperature: float = 0.0) -> Any:
        setup = Setup(
            method="replay", method_class=MethodClass.HUMAN, method_version="1", model_slug="replay",
            condition=condition, temperature=temperature,
        )  # fmt: skip
        return SimpleNamespace(run_id=run_id, file=file, setup=setup)

    one, two = run("11111111-a", "verda.jsonl"), run("22222222-b", "griza.jsonl")
    assert told_apart([one, two]) == ["verda.jsonl · replay · demo", "griza.jsonl · replay · demo"]
    assert told_apart([one, run("3", "x", "other")]) == ["replay · demo", "replay · other"]
    same = [run("11111111-a", "verda.jsonl"), run("22222222-b", "verda.jsonl")]
    assert told_apart(same) == ["11111111 · replay · demo", "22222222 · replay · demo"]
    assert told_apart(same, by_id=False) == ["replay · demo"] * 2
    warmer = [run("11111111-a", ""), run("22222222-b", "", temperature=0.7)]
    assert told_apart(warmer) == [
        "temperature 0 · replay · demo",
        "temperature 0.7 · replay · demo",
    ]
