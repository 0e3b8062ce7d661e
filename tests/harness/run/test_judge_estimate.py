"""What judges will take, said before a run: with outputs and judgements that are known already."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from harness.endpoint.keys import no_key
from harness.estimate.earlier import NOTHING, Range
from harness.estimate.judging import JudgeEstimate, estimate_judges
from harness.method.options import MethodOptions
from harness.methods.registry import build
from harness.setup.plan import Plan
from harness.store.file.database import open_store
from tests.harness.annotators.judged import (
    COST,
    PRICES,
    answering,
    judged_by,
    judged_plan,
    know_packs,
    says,
)
from tests.harness.evaluation import chat_plan, corpus, run_corpus
from tests.harness.scripted import Scripted, price_table


@pytest.fixture(autouse=True)
def _packs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    know_packs(monkeypatch)
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    return price_table(tmp_path, PRICES)


def ahead(path: Path, entries: int, plan: Plan) -> JudgeEstimate | None:
    given = corpus(entries).entries
    method = build(plan.method, plan.options, given, no_key)
    with closing(open_store(path)) as connection:
        return estimate_judges(connection, given, method, plan)


def test_an_estimate_tells_the_share_of_the_judges(
    endpoint: Scripted, store_path: Path, prices: Path
) -> None:
    plan = judged_plan(endpoint.url, prices=prices, max_tokens=40)
    found = ahead(store_path, 400, plan)
    assert found is not None
    assert (found.model, found.calls, found.judged) == ("judge-mock", Range(0, 400, 400), 0)
    assert found.cost_usd is not None
    assert found.cost_usd.low < 400 * COST * 4 < 4 * found.cost_usd.high
    free = ahead(store_path, 3, judged_plan(endpoint.url))
    assert free is not None
    assert free.cost_usd == NOTHING
    far = plan.model_copy(update={"scoring": judged_by("https://judge.example.org/v1")})
    unknown = ahead(store_path, 3, far)
    assert unknown is not None
    assert unknown.cost_usd is None
    assert ahead(store_path, 3, chat_plan(endpoint.url)) is None
    assert endpoint.asked == []


def test_an_estimate_leaves_out_what_was_judged_before(
    endpoint: Scripted, store_path: Path, tmp_path: Path
) -> None:
    endpoint.answer = answering(lambda _: says(0.5))
    plan = judged_plan(endpoint.url)
    run_corpus(store_path, corpus(5), plan)
    asked = len(endpoint.asked)
    longer = ahead(store_path, 8, plan)
    assert longer is not None
    assert (longer.judged, longer.calls) == (5, Range(0, 3, 3))
    outputs = tmp_path / "outputs.jsonl"
    texts = ["", *(f"ENTRY NUMBER {n}" for n in range(1, 8))]
    outputs.write_text(
        "\n".join(json.dumps({"id": n, "output": text}) for n, text in enumerate(texts)), "utf-8"
    )
    options = MethodOptions(source_language="en", target_language="eo", outputs=outputs)
    made = Plan(method="replay", options=options, scoring=plan.scoring)
    elsewhere = ahead(store_path, 8, made)
    assert elsewhere is not None
    assert (elsewhere.judged, elsewhere.calls) == (4, Range(3, 3, 3)), (
        "an empty output is not judged"
    )
    afresh = ahead(store_path, 8, judged_plan(endpoint.url, run={"use_cache": False}))
    assert afresh is not None
    assert (afresh.judged, afresh.calls) == (0, Range(0, 8, 8))
    assert len(endpoint.asked) == asked, "nothing is sent"
    run_corpus(store_path, corpus(8), made)
    assert len(endpoint.asked) == asked + elsewhere.calls.expected
    again_ = ahead(store_path, 8, made)
    assert again_ is not None
    assert (again_.judged, again_.calls, again_.cost_usd) == (7, NOTHING, NOTHING)
