"""Each judge through the command line: a run that its budget stops, goes on, is shown, scored again, judged by another."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.annotators.judges import JUDGES
from scoring.core.metric_rows import row_of
from tests.harness.annotators.judged import is_judge
from tests.harness.scripted import (
    Answer,
    Asked,
    Scripted,
    completion,
    json_answer,
    price_table,
    serving,
)
from tests.review.thorough import first
from tests.tui.commands.command_line import Program

SIZE = 12
BROKEN = 3
"""The entry whose first judgement keeps to no contract."""
TURNS = [{"user": "Again?"}, {"user": "And more?", "reference": "No."}]


@dataclass(frozen=True)
class Case:
    """A metric of a judge, what it judges, and what the judge says first and later."""

    metric: str
    task: str
    reply: str
    value: float
    other_reply: str
    other_value: float
    calls: int = 1
    """For each entry."""


def scored(score: float) -> str:
    return json.dumps({"score": score, "explanation": "So it is."})


CASES = [
    Case("lbrag.semantic_score", "qa", scored(0.5), 0.5, scored(0.25), 0.25),
    Case("au.llm_judge_binary", "judged", scored(1), 1.0, scored(0), 0.0),
    Case("au.llm_judge_detailed", "judged", scored(4), 0.8, scored(2), 0.4),
    Case("au.llm_judge_redteaming", "judged", scored(1), 1.0, scored(0), 0.0),
    Case("au.llm_judge_big_bench_audio", "judged", "CORRECT", 1.0, "INCORRECT", 0.0),
    Case("au.mt_bench_llm_judge", "chat", "Fine. [[7]]", 0.7, "[[2]]", 0.2, calls=2),
]


def test_every_judge_has_a_case() -> None:
    asked = [row_of(case.metric) for case in CASES]
    assert sorted(JUDGES) == sorted(id_ for row in asked if row for id_ in row.annotators)


class Place:
    """A corpus, prices, a data folder and the command line."""

    def __init__(self, folder: Path, program: Program) -> None:
        self.folder, self.program = folder, program

    def corpus(self, case: Case, **more: Any) -> list[str]:
        rows: list[dict[str, Any]] = [
            {"id": n, "source": f"Question {n}?", "reference": f"answer {n}", **more}
            for n in range(SIZE)
        ]
        for row in rows if case.task == "chat" else ():
            row["turns"] = [{"user": row.pop("source")}, *TURNS[1:]]
        file = self.folder / f"{case.task}.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        languages = ["--source-language", "en", "--target-language", "en", "--id", "made"]
        return [str(file), *languages, "--task", case.task, "--metrics", case.metric]

    def __call__(self, *arguments: str, code: int = 0) -> str:
        ended, out, problems = self.program(*arguments)
        assert ended == code, out + problems
        return out + problems

    @property
    def newest(self) -> str:
        run: str = json.loads(self("runs", "list", "--json"))[0]["run_id"]
        return run

    def card(self) -> dict[str, Any]:
        file = self.folder / f"card-{self.newest}.json"
        self("runs", "export", self.newest, "-o", str(file))
        found: dict[str, Any] = json.loads(file.read_text("utf-8"))
        return found


@pytest.fixture
def rosetta(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Program) -> Place:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    return Place(tmp_path, program)


def answering(case: Case, broken: set[str]) -> Any:
    def answer(asked: Asked) -> Answer:
        if not is_judge(asked):
            return json_answer(completion("an answer"))
        if f"Question {BROKEN}?" in asked.source and broken:
            return json_answer(completion("I would rather not say."))
        first = asked.body["model"] == "judge-a"
        return json_answer(completion(case.reply if first else case.other_reply))

    return answer


def judged(endpoint: Scripted) -> list[str]:
    return [asked.source for asked in endpoint.asked if is_judge(asked)]


@pytest.mark.parametrize("case", first(2, CASES[::-1]), ids=lambda case: case.metric)
def test_judge_in_a_whole_run(rosetta: Place, case: Case) -> None:
    broken = {"yes"}
    with serving(answering(case, broken)) as endpoint:
        judge = ["--judge", endpoint.url, "--judge-model", "judge-a"]
        method = ["--method", "chat", "--model", "m", "--endpoint", endpoint.url, "--plain"]
        table = price_table(rosetta.folder, {"judge-a": (100.0, 100_000.0)})
        prices = ["--prices", str(table)]
        cap = 4096 * 0.1 + 4.0  # one judgement at its most, and some that are made
        told = rosetta(
            *("run", *rosetta.corpus(case), *method, *judge, *prices),
            *("--budget", str(cap), "--concurrency", "2"),
            code=1,
        )
        assert "left of the budget" in told
        stopped = judged(endpoint)
        assert 0 < len(stopped) < SIZE * case.calls
        run = rosetta.newest
        rosetta("resume", run, "--budget", "1000", "--plain")
        assert len(judged(endpoint)) == SIZE * case.calls
        assert len(set(judged(endpoint))) == SIZE * case.calls
        shown, card = rosetta("runs", "show", run), rosetta.card()
        assert card["scores"][case.metric] == pytest.approx(case.value)
        assert card["scores"][f"{case.metric}_judge_failed"] == 1
        [asked] = card["cost"]["scoring"]["by_annotator"].values()
        each = (20 * 100 + 10 * 100_000) / 1e6
        assert asked["total_cost_usd"] == pytest.approx(SIZE * case.calls * each)
        assert (asked["judged"], asked["judge_failed"]) == (SIZE - 1, 1)
        assert "1 entry without a judgement: the judge failed" in shown
        assert f"{SIZE * case.calls} calls · not counted above" in shown
        assert "judge-a · 127.0.0.1" in shown

        assert f"rosetta score --rescore {run[:8]}" in rosetta("retry", run, code=2)
        broken.clear()
        before = len(judged(endpoint))
        rosetta("score", "--rescore", run)
        once_more = case.calls if case.task == "chat" else 1
        assert len(judged(endpoint)) - before <= once_more  # what failed, and nothing else
        assert rosetta.card()["scores"][f"{case.metric}_judge_failed"] == 0
        before = len(judged(endpoint))
        assert "Nothing new comes of it" in rosetta("score", "--rescore", rosetta.newest, code=1)
        assert len(judged(endpoint)) == before

        rosetta("score", "--rescore", run, *judge[:3], "judge-b")
        other = rosetta.card()
        assert len(judged(endpoint)) == before + SIZE * case.calls
        assert other["scores"][case.metric] == pytest.approx(case.other_value)
        assert "model:judge-b" in other["scores"]["signatures"][case.metric]
        assert "chrf_plus_plus" not in other["scores"]["signatures"]


def test_judge_elsewhere_gets_no_secret_text(rosetta: Place) -> None:
    for case in CASES:
        secret = rosetta.corpus(case, segment="held_out", predicted="an answer")
        for where in ("openai", "https://judge.example.org/v1"):  # no key is asked for
            told = rosetta("score", *secret, "--judge", where, "--judge-model", "x", code=2)
            assert "the judge is on another machine" in told
            assert "answer 1" not in told


def test_judge_of_which_no_reply_counts_was_asked(rosetta: Place) -> None:
    with serving(lambda _: json_answer(completion("no"))) as endpoint:
        corpus = rosetta.corpus(CASES[1], predicted="an answer")
        told = rosetta("score", *corpus, "--judge", endpoint.url, "--judge-model", "judge-a")
    assert "the judge gave no score that counts" in told
    assert f"{SIZE} entries without a judgement: the judge failed" in told
    assert "no judge was asked" not in told


def test_score_refuses_an_option_that_no_metric_needs(rosetta: Place) -> None:
    (rosetta.folder / "scores.txt").write_text("0.5\n" * SIZE, "utf-8")
    corpus = rosetta.corpus(Case("ter", "translation", "", 0, "", 0), predicted="answer 1")
    judge = ("--judge", "http://127.0.0.1:9/v1", "--judge-model", "x")
    scores = ("--bertscore", str(rosetta.folder / "scores.txt"))
    for option, metric in ((judge, "au.llm_judge_binary"), (scores, "au.bertscore")):
        told = rosetta("score", *corpus, *option, code=2)
        assert f"{option[0]} would do nothing" in told
        assert metric in told
    assert rosetta("runs", "list", "--json").strip() == "[]"
    rosetta("score", *corpus)
    assert "would do nothing" in rosetta("score", "--rescore", "last", *judge, code=2)
    rosetta("score", "--rescore", "last", *scores, "--metrics", "au.bertscore")
    card = rosetta.card()
    assert card["scores"]["au.bertscore"] == 0.5
    assert "from:file|value:F1" in card["scores"]["signatures"]["au.bertscore"]
