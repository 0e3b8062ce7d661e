"""``rosetta score``, ``compare`` and ``calibrate``: judges, sentences, JSON, refusals, secret and hostile texts."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from math import nextafter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from harness.annotators.judges import JUDGES
from harness.card.exporting import card_bytes
from harness.card.rows import load_card
from harness.core.canonical import canonical_sha256
from harness.core.failures import HarnessError, UsageError
from harness.store.run_list import list_runs
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from rosetta_tui.commands.compare import calibrate
from rosetta_tui.commands.run import score
from rosetta_tui.commands.runs import runs as runs_command
from scoring.core.inventory import row_of
from tests.harness.annotators.judged import is_judge
from tests.harness.scripted import Answer, Asked, Scripted, completion, json_answer, price_table, serving
from tests.review.calibration.planted import write_case
from tests.review.thorough import first
from tests.tui.commands.certified_gold import TwoSides
from tests.tui.commands.command_line import Program, made_once, ok, said
from tests.tui.scenes import HOSTILE

SIZE = 12
BROKEN = 3
"""The entry whose first judgement keeps to no contract."""
TURNS = [{"user": "Again?"}, {"user": "And more?", "reference": "No."}]


@dataclass(frozen=True)
class Case:
    """A metric of a judge, what it judges, what the judge says and its value, and how often it is asked of an entry."""

    metric: str
    task: str
    reply: str
    value: float
    calls: int = 1


def scored(score: float) -> str:
    return json.dumps({"score": score, "explanation": "So it is."})


CASES = [
    Case("lbrag.semantic_score", "qa", scored(0.5), 0.5),
    Case("au.llm_judge_binary", "judged", scored(1), 1.0),
    Case("au.llm_judge_detailed", "judged", scored(4), 0.8),
    Case("au.llm_judge_redteaming", "judged", scored(1), 1.0),
    Case("au.llm_judge_big_bench_audio", "judged", "CORRECT", 1.0),
    Case("au.mt_bench_llm_judge", "chat", "Fine. [[7]]", 0.7, calls=2),
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
            {"id": n, "source": f"Question {n}?", "reference": f"answer {n}", **more} for n in range(SIZE)
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
        return json_answer(completion(case.reply))

    return answer


def judged(endpoint: Scripted) -> list[str]:
    return [asked.source for asked in endpoint.asked if is_judge(asked)]


@pytest.mark.parametrize("case", first(1, CASES[::-1]), ids=lambda case: case.metric)
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
        assert f"{SIZE * case.calls} calls · not counted above" in shown
        assert f"rosetta score --rescore {run[:8]}" in rosetta("retry", run, code=2)
        broken.clear()
        before = len(judged(endpoint))
        rosetta("score", "--rescore", run)
        once_more = case.calls if case.task == "chat" else 1
        assert len(judged(endpoint)) - before <= once_more  # what failed, and nothing else
        assert rosetta.card()["scores"][f"{case.metric}_judge_failed"] == 0


def test_judge_elsewhere_gets_no_secret_text(rosetta: Place) -> None:
    for case in CASES:
        secret = rosetta.corpus(case, segment="gold_standard", predicted="an answer")
        for where in ("openai", "https://judge.example.org/v1"):  # no key is asked for
            told = rosetta("score", *secret, "--judge", where, "--judge-model", "x", code=2)
            assert "the judge is on another machine" in told
            assert "answer 1" not in told


def test_score_refuses_an_option_that_no_metric_needs(rosetta: Place) -> None:
    (rosetta.folder / "scores.txt").write_text("0.5\n" * SIZE, "utf-8")
    corpus = rosetta.corpus(Case("ter", "translation", "", 0), predicted="answer 1")
    judge = ("--judge", "http://127.0.0.1:9/v1", "--judge-model", "x")
    scores = ("--bertscore", str(rosetta.folder / "scores.txt"))
    for option, metric in ((judge, "au.llm_judge_binary"), (scores, "au.bertscore")):
        told = rosetta("score", *corpus, *option, code=2)
        assert f"{option[0]} would do nothing" in told
        assert metric in told
    assert rosetta("runs", "list", "--json").strip() == "[]"
    rosetta("score", *corpus)
    assert "would do nothing" in rosetta("score", "--rescore", "last", *judge, code=2)


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    path = tmp_path / "corpus.tsv"
    path.write_text("source\treference\nthe dog\tla hundo\nthe horse\tla cevalo\n", "utf-8")
    (tmp_path / "outputs.txt").write_text("la hundo\nla hundo\n", "utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(score, [str(argument) for argument in arguments])


def of_outputs(corpus: Path, *more: object) -> Result:
    languages = ("--source-language", "en", "--target-language", "tlh")
    return run(corpus, corpus.parent / "outputs.txt", *languages, *more)


IGNORED = (
    "--target-language crk", "--source-language en", "--limit 2", "--entries 1", "--segment development",
    "--sample 1", "--seed 0", "--difficulty 1", "--model m", "--condition c", "--form tsv", "--id x", "--reference x",
)  # fmt: skip


@pytest.mark.usefixtures("corpus")
def test_rescore_refuses_what_it_would_ignore() -> None:
    for option in IGNORED:
        result = run("--rescore", "last", *option.split())
        assert isinstance(result.exception, UsageError)
        assert str(result.exception).startswith(f"{option.split()[0]} does not go with --rescore")


@pytest.mark.usefixtures("no_waits")
def test_score_says_which_metric_could_not_be_had(corpus: Path) -> None:
    result = of_outputs(corpus, "--embeddings", "http://localhost:9", "--embeddings-model", "m",
                    "--metrics", "chrf_plus_plus,semantic_score")  # fmt: skip
    assert result.exit_code == 0
    assert "No semantic_score: No connection to localhost:9: start the server" in result.stderr
    assert "comet_score" not in result.stderr


def test_score_is_silent_on_metrics_that_nobody_named(corpus: Path) -> None:
    assert "_score: " not in of_outputs(corpus).stderr
    again = run("--rescore", "last", "--metrics", "comet_score")
    assert isinstance(again.exception, HarnessError)
    assert not isinstance(again.exception, UsageError)
    assert "\ncomet_score: " in str(again.exception)


def test_score_names_an_unknown_metric_by_its_option(corpus: Path) -> None:
    result = of_outputs(corpus, "--metrics", "blue")
    assert "--metrics: there is no metric 'blue'; did you mean bleu?" in str(result.exception)
    result = of_outputs(corpus, "--analyser", corpus.parent / "none.hfstol")
    assert isinstance(result.exception, UsageError)
    assert str(result.exception).startswith("--analyser: Analyser none.hfstol does not exist")


METRICS = "exact_match_rate,chrf_plus_plus,ter,bleu"
ENTRIES = 30


def score_right(right: int, segment: str = "development", wrong: Sequence[str] = ("NO",)) -> str:
    """Score outputs that are right on the first entries; gives the beginning of the run's id."""
    entries: list[dict[str, Any]] = [
        {"id": n, "source": f"private source {segment} {n}", "reference": f"referenco {n}",
         "segment": segment, "difficulty": n % 5 + 1}
        for n in range(ENTRIES)
    ]  # fmt: skip
    pair = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}
    dataset = {"id": f"{segment}-{ENTRIES}", "version": "1", **pair}
    corpus = Path(f"{segment}-{ENTRIES}.json")
    corpus.write_text(json.dumps({"dataset": dataset, "entries": entries}), "utf-8")
    lines = [
        {"id": n, "output": f"referenco {n}" if n < right else wrong[n % len(wrong)] + f" {n}"} for n in range(ENTRIES)
    ]
    Path("outputs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    ok(f"score {corpus} outputs.jsonl --metrics {METRICS}")
    return newest()


def newest() -> str:
    with opened() as store:
        return list_runs(store)[0].run_id[:8]


def compared(folder: Path, patch: pytest.MonkeyPatch) -> dict[str, str]:
    """Runs that are right on so many of 30 entries by that number, and some others by name."""
    patch.setenv("ROSETTA_HOME", str(folder / "home"))
    patch.chdir(folder)
    made = {str(n): score_right(n) for n in (6, 7, 25)}
    made["again"] = score_right(6)
    made |= {f"secret {n}": score_right(n, "gold_standard") for n in (3, 28)}
    made["hostile"] = score_right(0, wrong=HOSTILE)
    return made


@pytest.fixture
def runs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    folder, made = made_once(tmp_path_factory, "compared", compared)
    monkeypatch.setenv("ROSETTA_HOME", str(folder / "home"))
    return made


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
    assert re.search(r"^  exact .* 19 +0 +11 +B$", shown, re.MULTILINE)
    assert "difficulty  entries  chrF++ A  chrF++ B  difference" in shown
    assert "private source" not in shown
    chance = ok(f"compare {weak} {runs['7']} --metric chrf_plus_plus")
    assert "A and B cannot be told apart by chrF++: B is ahead by " in chance
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
        json.loads(ok(f"compare {weak} {strong} --json --seed {seed} --draws 200"))["pairs"] for seed in (1, 1, 2)
    )
    assert one == same != other


def test_compare_refuses_wrong_metrics(runs: dict[str, str]) -> None:
    pair = f"{runs['6']} {runs['7']}"
    assert "comet_score: run" in wrong(f"{pair} --metric comet_score")
    for name in ("chrF+", "", "+"):  # another one of the field is not taken for one of ours
        assert f"--metric: there is no metric {name!r}; " in wrong(f"{pair} --metric '{name}'")
    assert wrong(f"{pair} --metric '\x1b[31mblue'").isprintable()
    assert "--metric chrf_plus_plus" in wrong(f"{pair} --metric bleu --entries 3", HarnessError)


def test_compare_never_prints_secret_texts(runs: dict[str, str]) -> None:
    pair = f"{runs['secret 3']} {runs['secret 28']} --entries 40"
    assert "rosetta vault compare" in wrong(f"{pair} --json")
    shown = ok(f"compare {pair}")
    assert "B is better than A" in shown
    assert not [each for each in ("private source", "referenco", "NO ") if each in shown]
    assert "the entry is secret" in shown


def test_compare_shows_hostile_texts_harmless(runs: dict[str, str]) -> None:
    shown = ok(f"compare {runs['hostile']} {runs['25']} --entries 30")
    assert not [c for c in shown if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2066\u200b")]
    assert "[/foo] text" in shown


def test_compare_view_prints_the_document_of_a_pack(tmp_path: Path) -> None:
    record = {"id": 1, "source": "Who?", "reference": "Anna", "predicted": "Anna"}
    (tmp_path / "qa.jsonl").write_text(json.dumps(record), "utf-8")
    languages = "--source-language en --target-language en"
    ok(f"score {tmp_path}/qa.jsonl --task qa {languages} --model mine")
    assert "EM=1.000±" in ok("compare last --view lbrag")
    [told] = json.loads(ok("compare last --form lbrag-metrics"))["metrics"].values()
    assert (told["em"], told["n"]) == (1.0, 1.0)
    assert "has no metric of au" in wrong("last --view au")
    assert "goes with --view lbrag" in wrong("last --view au --form lbrag-metrics")


def test_compare_can_fail_where_a_run_is_worse(runs: dict[str, str]) -> None:
    weak, near, strong = runs["6"], runs["7"], runs["25"]
    codes = {
        pair: said(f"compare {pair} --fail-if-worse").exit_code
        for pair in (f"{strong} {weak}", f"{weak} {strong}", f"{near} {weak}", f"{weak} --baseline {strong}")
    }
    assert list(codes.values()) == [1, 0, 0, 1]


def gated(line: str) -> tuple[int, str]:
    """Return the exit code of ``rosetta gate``, and the sign of each rule."""
    done = said(f"gate {line}")
    assert isinstance(done.exception, SystemExit | None), done.exception
    return done.exit_code, "".join(row[0] for row in done.output.splitlines() if row[0] in "✓✗")


def test_gate_decides_by_the_end_of_the_interval(runs: dict[str, str]) -> None:
    scores = json.loads(ok(f"runs show {runs['25']} --json"))["scores"]
    for option, metric, end, past in (
        ("--min", "chrf_plus_plus", "ci_lower", 100.0), ("--max", "ter", "ci_upper", 0.0),
    ):  # fmt: skip
        limit = scores["confidence_intervals"][metric][end]
        assert gated(f"{runs['25']} {option} {metric}={limit!r}")[1][1] == "✓"
        assert gated(f"{runs['25']} {option} {metric}={nextafter(limit, past)!r}") == (1, "✗✗")
    assert "reached, but not beyond chance" in said(f"gate {runs['25']} --min chrf={scores['chrf_plus_plus']}").output


def test_gate_knows_that_no_rate_is_sure(runs: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    score_right(ENTRIES)  # 30 of 30: Wilson's bound is 30 / (30 + 1.96²) = 0.8865, the bootstrap's is 1
    assert [gated(f"last --min exact={least}")[1][-1] for least in ("0.8864", "0.8866")] == ["✓", "✗"]


def test_gate_never_passes_what_worthless_outputs_reach(runs: dict[str, str]) -> None:
    assert gated(f"{runs['25']} --min chrf=0") == (1, "✗✓")


def test_gate_counts_failed_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corpus.tsv").write_text("".join(f"source {n}\treference {n}\n" for n in range(20)), "utf-8")
    Path("outputs.txt").write_text("".join(f"reference {n}\n" if n else "\n" for n in range(20)), "utf-8")
    ok("score corpus.tsv outputs.txt --source-language en --target-language eo")
    assert [gated(f"last --max-failed {share}")[0] for share in ("5%", "0.05", "4.9%", "0")] == [0, 0, 1, 1]


def test_gate_compares_with_a_run(runs: dict[str, str]) -> None:
    weak, near, strong = runs["6"], runs["7"], runs["25"]
    assert gated(f"{weak} --not-worse-than {strong} --min chrf=0 --min exact=0")[1][-2:] == "✗✗"
    assert gated(f"{strong} --not-worse-than {weak} --min chrf=0")[1][-1] == "✓"
    assert gated(f"{weak} --not-worse-than {near} --min chrf=0")[1][-1] == "✓"  # a little worse, as chance may be


def test_gate_writes_what_a_ci_shows(runs: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = said(f"gate {runs['25']} --min exact=0.99 --min chrf=10 --junit gate.xml --markdown gate.md --json")
    result = json.loads(done.output[: done.output.index("\n}") + 2])
    assert [(check["metric"], check["passed"]) for check in result["checks"][1:]] == [
        ("exact_match_rate", False), ("chrf_plus_plus", True),
    ]  # fmt: skip
    [suite] = ET.parse("gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert [len(case) for case in suite] == [1, 1, 0]
    assert Path("gate.md").read_text("utf-8").count("\n| ✗ |") == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "There is no rule."), ("--min chrf=high", "write METRIC=VALUE"), ("--min blue=1", "no metric 'blue'"),
        ("--min composite=45", "lies between 0 and 1"), ("--min ter=4", "Use --max"), ("--max chrf=4", "Use --min"),
        ("--min chrf=nan", "lies between 0 and 100"), ("--max-failed 5", "such as 1%"), ("--max-failed %", "such as 1%"),
    ],
)  # fmt: skip
def test_gate_names_a_wrong_rule(runs: dict[str, str], line: str, words: str) -> None:
    failed = said(f"gate {runs['6']} {line}").exception
    assert isinstance(failed, UsageError)
    assert words in str(failed)


def test_gate_refuses_secret_runs(runs: dict[str, str]) -> None:
    for line in (f"{runs['secret 3']} --min chrf=1", f"{runs['6']} --not-worse-than {runs['secret 3']}"):
        assert "has secret entries" in str(said(f"gate {line}").exception)


PLANTED = 60
"""Entries of the planted case."""


def call(command: Any, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def done(result: Result) -> Result:
    assert result.exception is None, result.exception
    return result


def in_store(folder: Path, entries: int, systems: int = 1, secret: bool = False) -> list[str]:
    """Score planted outputs; gives the ids of the runs."""
    files = write_case(folder, entries, systems=systems)
    if secret:
        rows = map(json.loads, (folder / "corpus.jsonl").read_text("utf-8").splitlines())
        lines = [json.dumps({**row, "segment": "gold_standard"}) for row in rows]
        (folder / "corpus.jsonl").write_text("\n".join(lines), "utf-8")
    runs = []
    for file in files:
        done(
            call(score, folder / "corpus.jsonl", file, "--source-language", "en",
                 "--target-language", "eo", "--model", file.stem)
        )  # fmt: skip
        with opened() as connection:
            runs.append(find_run(connection, "last").run_id)
    return runs


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("planted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROSETTA_HOME", str(folder / "home"))
        return folder, in_store(folder, PLANTED, systems=2)


@pytest.fixture
def case(planted: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[str]]:
    monkeypatch.setenv("ROSETTA_HOME", str(planted[0] / "home"))
    return planted


def test_calibrate_json_has_its_evidence(case: tuple[Path, list[str]]) -> None:
    folder, runs = case
    told = json.loads(done(call(calibrate, *runs, "--ratings", folder / "ratings.jsonl", "--json")).stdout)
    assert (told["evidence"]["raters"], told["evidence"]["outputs"]) == (3, 2 * PLANTED)
    assert [run["run_id"] for run in told["evidence"]["runs"]] == runs
    assert told["measures"][-1]["metric"] == "length_only"
    decided = told["decisions"]
    assert sum(decided[k] for k in ("both", "score_only", "people_only", "neither")) == 2 * PLANTED


@pytest.mark.thorough
def test_calibrate_150_items_makes_a_sealed_proposal(tmp_path: Path) -> None:
    runs, out = in_store(tmp_path, 150, systems=2), tmp_path / "one.toml"
    result = done(call(calibrate, *runs, "--ratings", tmp_path / "ratings.csv", "-o", out))
    assert "Weights: a PROPOSAL for profile A" in result.stdout
    made = tomllib.loads(out.read_text("utf-8"))
    assert made.pop("proposal_sha256") == canonical_sha256(made)
    assert made["status"] == "proposal"


def test_calibrate_80_items_proposes_nothing(tmp_path: Path) -> None:
    in_store(tmp_path, 80)
    out = tmp_path / "proposal.toml"
    result = done(call(calibrate, "last", "--ratings", tmp_path / "ratings.csv", "-o", out))
    assert "because 80 rated items are too few: 150 are needed" in result.stdout
    assert "none is proposed, because 80 rated items with a composite" in result.stdout
    assert not out.exists()
    assert "Nothing is proposed, so proposal.toml was not written." in result.stderr


REFUSED: list[tuple[str, str, str]] = [
    ("entry_id,rating,run\ne1,gist,replay\n", "0 1", "line 2: field 'run' fits more than one"),
    ("entry_id,rating,run\ne1,gist,system-0\n", "", "line 2: field 'run' is not a run's id."),
    ("entry_id,rating\ne1,gist\n", "0 1", "which of the 2 runs was rated?"),
    ("entry_id,rating\ne1,gist\n", "", "Name the run that was rated"),
    ("entry_id,rating\nx,gist\n", "0", "None of the ratings is of an entry of these runs"),
]
"""Ratings, the runs that are named, and what is said."""


def test_calibrate_refuses_ratings_of_no_run(case: tuple[Path, list[str]], tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    for text, named, words in REFUSED:
        path.write_text(text, "utf-8")
        result = call(calibrate, *(case[1][int(n)] for n in named.split()), "--ratings", path)
        assert isinstance(result.exception, HarnessError)
        assert words in str(result.exception)


def test_calibrate_refuses_wrong_options(case: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, runs = case
    ratings = ("--ratings", folder / "ratings.csv")
    for options, words in (
        ((*runs, *ratings, "--review", "x"), "either --ratings FILE or --review NAME"),
        (("--review", "x", "--scale", "0:1"), "a review has its own"),
        (("--review", "autumn"), "There is no review 'autumn'"),
        *(((*runs, *ratings, "--level", level), "between 0 and 1") for level in ("1", "0", "nan")),
        ((*runs, *ratings, "-o", folder / "ratings.csv"), "ratings.csv is there already"),
    ):
        assert words in str(call(calibrate, *options).exception), options
    monkeypatch.setattr("scoring.calibration.calibration.MOST_OUTPUTS", 100)
    told = str(call(calibrate, *runs, *ratings).exception)
    assert f"{2 * PLANTED} rated outputs are more than" in told


def test_calibrate_says_numbers_alone_of_secret_entries(tmp_path: Path) -> None:
    in_store(tmp_path, 30, secret=True)
    arguments = ("last", "--ratings", tmp_path / "ratings.csv")
    whole = done(call(calibrate, *arguments)).output
    assert "30" in whole
    for more in (("-o", tmp_path / "proposal.toml"), ("--json",)):
        refused = call(calibrate, *arguments, *more)
        assert "leave in no file, pipe or copy" in str(refused.exception)
        whole += refused.output + str(refused.exception)
    assert not (tmp_path / "proposal.toml").exists()
    words = {"hundo", "ĉevalon", "house", "green", "tablo", "vento", "e17"}
    assert not [word for word in words if re.search(rf"\b{word}\b", whole)]


def test_calibrate_needs_the_scores_of_secret_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_store(tmp_path, 5, secret=True)
    card = tmp_path / "card.json"
    with opened() as connection:  # as older versions exported it
        card.write_bytes(card_bytes(load_card(connection, find_run(connection, "last").id)))
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "elsewhere"))
    done(call(runs_command, "import", card))
    result = call(calibrate, "last", "--ratings", tmp_path / "ratings.csv")
    assert "the card was imported without their scores" in str(result.exception)


def test_calibrate_takes_the_ratings_of_a_review(sides: TwoSides) -> None:
    told = done(call(calibrate, "--review", "spring")).stdout
    assert re.search(r"\d+ ratings by \d people", told), told
    assert "length" in told
