"""The page, the tables and the printed forms of the shipped packs."""

from __future__ import annotations

import json
import re
import statistics
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.packs import SHIPPED, read_pack, shipped_pack
from scoring.core.specification import specification
from scoring.packs.judge_replies import CONTRACTS, parse_reply
from scoring.packs.views import (
    MetricTotals,
    figure_lines,
    figures,
    half_up,
    lbrag_line,
    lbrag_metrics,
    lbrag_summary,
    pack_view,
)
from tests.review.thorough import examples
from tests.scoring.packs import au
from tests.scoring.packs.pack_cases import entry_values, metric, record

PAGE = (Path(__file__).parents[3] / "docs" / "internals" / "packs.md").read_text("utf-8")
ROWS = re.findall(
    r"^\| `((?:lbrag|nest|au)\.\w+|judge_\w+)` \| `(.+?)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|$",
    PAGE, re.MULTILINE,
)  # fmt: skip


def value(name: str, told: Any) -> float | None:
    if name in CONTRACTS:
        return parse_reply(CONTRACTS[name], told).score
    if name.startswith("au."):
        return au.entry_value(au.metric(name.removeprefix("au.")), au.golden(told))
    return entry_values(metric(name, told.get("language", "en")), [record(told)])[0]


def test_every_difference_is_as_the_page_says() -> None:
    parts = [name.partition(".")[0].partition("_")[0] for name, *_ in ROWS]
    assert (set(parts), parts.count("au")) == ({"lbrag", "nest", "judge", "au"}, 19)
    assert len(ROWS) > 48
    for name, told, published, here in ROWS:
        found = value(name, json.loads(told))
        digits = len(here.partition(".")[2])
        shown = None if found is None else half_up(found, digits)
        assert shown == (None if here == "null" else Decimal(here)), name
        assert published != here


def test_examples_that_do_not_follow_are_worked_out() -> None:
    mixed = record({"predicted": "答案是 4429 meters", "language": "zh"})
    years = record({"predicted": "大约11年左右", "reference": "11.0 年份", "language": "zh"})
    one_of_ten, eight_of_ten = [1] + [0] * 9, [1] * 8 + [0] * 2
    follows = [
        entry_values(metric("lbrag.rlc"), [mixed])[0], entry_values(metric("lbrag.f1"), [years])[0],
        statistics.stdev(one_of_ten), statistics.stdev(eight_of_ten),
    ]  # fmt: skip
    printed = [f"{half_up(float(each or 0), 3).normalize():f}" for each in follows]
    assert printed == ["0.333", "0.5", "0.316", "0.422"]
    assert all(f"| {each} |" in PAGE.replace("±0.316", "0.316") for each in printed)
    assert statistics.pvariance([4, 40]) == 324
    assert f"{statistics.stdev(one_of_ten * 10):.3f}" == "0.302"


def test_every_row_has_code_and_its_needs_are_explained() -> None:
    packs = [shipped_pack(name) for name in SHIPPED]
    for pack in packs:
        for id_, row in pack.rows.items():
            assert set(row.needs) <= {*pack.needs, *specification().needs}, id_
            assert id_ in import_module(str(row.module)).METRICS
            assert len(row.what) < 120
            assert row.what.endswith(".")
        names = [name for row in pack.rows.values() for name in (row.info.title, *row.also)]
        assert len(set(names)) == len(names)
    tasks = [task for pack in packs for task in pack.tasks]
    assert len(set(tasks)) == len(tasks) == 12
    assert shipped_pack("lbrag").rows["lbrag.cnbe"].scale == "−∞–∞"


PRINTED = """\
direct   | EM=0.100±0.302 | F1=0.218±0.322 | RLC=0.921±0.188 | Cost=0.0±0.0 | CNBE=0.00000±0.00000 | Sem=0.350±0.444
multi    | EM=0.000±0.000 | F1=0.263±0.301 | RLC=0.772±0.316 | Cost=0.0±0.0 | CNBE=0.00000±0.00000 | Sem=0.680±0.407
cross    | EM=0.000±0.000 | F1=0.271±0.321 | RLC=0.765±0.313 | Cost=306.3±75.4 | CNBE=0.00017±0.00087 | Sem=0.680±0.407
lbrag    | EM=0.000±0.000 | F1=0.289±0.341 | RLC=0.759±0.317 | Cost=29.8±18.2 | CNBE=0.00237±0.01157 | Sem=0.700±0.422
"""
"""crosslingual-rag-metrics, “控制台输出”."""

FILE = """
{"metrics": {"lbrag": {
  "em": 0.0, "em_std": 0.0, "f1": 0.289, "f1_std": 0.341, "rlc": 0.759, "rlc_std": 0.317,
  "rlc_ok": 0.8, "rlc_ok_std": 0.4, "cost": 29.8, "cost_std": 18.2, "cnbe": 0.00237, "cnbe_std": 0.01157,
  "semantic_score": 0.7, "semantic_score_std": 0.422, "n": 10.0}}}
"""
"""The same, “JSON输出”."""

REPORTED = """
average_sample_wer overall_wer avg_sample_wder overall_wder avg_sample_cpwer overall_cpwer
avg_speaker_count_absolute_error llm_judge_binary llm_judge_detailed llm_judge_big_bench_audio
llm_judge_redteaming mt_bench_llm_judge bleu bertscore comet meteor bfcl_match_score text2sql_score
final multiple_choice_accuracy gsm8k_exact_match joint_goal_accuracy slot_accuracy slot_f1
"""
"""au-harness-metrics, the last column of its table."""

HEADINGS = {"EM": "em", "F1": "f1", "RLC": "rlc", "Cost": "cost", "CNBE": "cnbe", "Sem": "semantic_score"}


def totals(mean: float | None, std: float | None = 0.0, n: int = 10) -> MetricTotals:
    return MetricTotals(mean, std, mean, n)


def read_line(line: str) -> tuple[str, dict[str, MetricTotals]]:
    """Read a printed line back."""
    system, *parts = (part.strip() for part in line.split("|"))
    found = {}
    for part in parts:
        name, both = part.split("=")
        mean, std = map(float, both.split("±"))
        found[f"lbrag.{HEADINGS[name]}"] = totals(mean, std)
    return system, found


def test_systems_are_summed_up_as_the_seed_prints_them() -> None:
    for line in PRINTED.splitlines():
        system, found = read_line(line)
        assert lbrag_line(system, found) == line
    lines = lbrag_summary(dict(map(read_line, PRINTED.splitlines())))
    assert lines[3:-1] == PRINTED.splitlines()
    assert [lines[0], lines[2], lines[-1]] == ["=" * 80] * 3
    assert lines[1] == "Experiment Results Summary"


def test_the_file_of_metrics_has_the_layout_of_the_seed() -> None:
    expected = json.loads(FILE)
    stated = expected["metrics"]["lbrag"]
    names = [name for name in stated if f"{name}_std" in stated]
    found = {f"lbrag.{name}": totals(stated[name], stated[f"{name}_std"]) for name in names}
    made = lbrag_metrics({"lbrag": found})
    assert json.dumps(made) == json.dumps(expected)


def test_numbers_of_fewer_entries_say_so() -> None:
    found = {
        "lbrag.em": totals(0.5, 0.5, 10), "lbrag.f1": totals(0.5, None, 10),
        "lbrag.cost": totals(None, None, 0), "lbrag.semantic_score": totals(0.7, 0.1, 8),
    }  # fmt: skip
    printed = "a        | EM=0.500±0.500 | F1=– | Cost=– | Sem=0.700±0.100 (n=8 of 10)"
    assert lbrag_line("a", found) == printed
    written = lbrag_metrics({"a": found})["metrics"]["a"]
    assert (written["n"], written["semantic_score_n"], written["cost_n"]) == (10.0, 8.0, 0.0)
    assert written["cost"] is None
    assert "em_n" not in written
    assert lbrag_metrics({"a": {}}) == {"metrics": {"a": {"n": 0.0}}}


def test_values_are_printed_from_0_to_100_with_two_decimals() -> None:
    for id_, mean, corpus, shown in [
        ("llm_judge_detailed", 7 / 15, 7 / 15, [("46.67", False)]),  # rounded once
        ("llm_judge_binary", 0.12345, 0.12345, [("12.35", False)]),  # half up
        ("llm_judge_binary", 1.0, 1.0, [("100.00", False)]),  # all
        ("mt_bench_llm_judge", 0.7, 0.7, [("70.00", False)]),  # rating
        ("llm_judge_binary", None, None, [("–", False)]),  # nothing
    ]:
        found = figures(shipped_pack("au"), {f"au.{id_}": MetricTotals(mean, 0.0, corpus, 3)})
        assert [(each.text, each.cut) for each in found] == shown
        assert {each.arrow for each in found} == {"↑"}


TABLE = """
[pack]
version = "2.1"
title = "Errors"
document = "a paper"
tasks = []
[view]
rounding = "half up"
digits = 2
full = 100
columns = [
  {metric = "errors", name = "average_errors"},
  {metric = "errors", name = "overall_errors", of = "corpus"},
  {metric = "percent", name = "percent"},
  {metric = "absent", name = "absent"},
]
[metrics.errors]
title = "Errors"
category = "surface"
section = "§1"
low = 0
better = "lower"
level = "both"
what = "Errors a word."
status = "implemented"
needs = []
library = "own code"
interval = true
[metrics.percent]
title = "Percent"
category = "surface"
section = "§2"
low = 0
high = 100
better = "neither"
level = "both"
what = "A percentage."
status = "implemented"
needs = []
library = "own code"
interval = true
"""


def test_scale_is_cut_rounding_named_and_scorecard_printed() -> None:
    pack = read_pack("demo", TABLE)
    row = pack.rows["demo.errors"]
    assert (pack.version, row.info.source, row.info.high) == ("2.1", "a paper §1", float("inf"))
    with pytest.raises(KeyError, match="library"):
        read_pack("demo", TABLE.replace('library = "own code"', ""))
    found = {"demo.errors": MetricTotals(2, 0, 0.4, 3), "demo.percent": MetricTotals(36.865, 0, 1, 3)}
    assert figure_lines(figures(pack, found)) == [
        "average_errors ↓ 100.00 (cut)",
        "overall_errors ↓ 40.00",
        "percent          36.87",
    ]
    with pytest.raises(ValueError, match="no rounding 'up'; there is half up, half even"):
        pack_view(read_pack("demo", TABLE.replace("half up", "up")))
    found = {"nest.overall": totals(0.3565), "nest.reading_time": totals(14.666)}
    assert figure_lines(figures(shipped_pack("nest"), found)) == [
        "overall              ↑ 0.357",
        "reading_time_seconds   14.7",
    ]


def test_reported_names_and_metrics_are_those_of_the_documents() -> None:
    names = {}
    for name in ("lbrag", "au", "nest"):
        pack = shipped_pack(name)
        columns = pack_view(pack).columns
        names[name] = [column.name for column in columns]
        printed = {column.metric for column in columns}
        assert set(pack.rows) - printed == ({"au.sql_set_match"} if name == "au" else set())
        assert printed <= set(pack.rows)
    assert names["au"] == REPORTED.split()
    stated = json.loads(FILE)["metrics"]["lbrag"]
    assert names["lbrag"] == [name for name in stated if name in names["lbrag"]]
    assert names["nest"][-1] == "reading_time_seconds"


@examples(15, 100)
@given(st.floats(0, 1), st.floats(0, 1))
def test_more_never_prints_as_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    pack = shipped_pack("au")
    both = [figures(pack, {"au.llm_judge_binary": totals(each)})[0].text for each in (low, high)]
    shown = list(map(float, both))
    assert 0 <= shown[0] <= shown[1] <= 100
    assert abs(shown[0] - low * 100) <= 0.00501
