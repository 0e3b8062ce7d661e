"""A judge that can be told beforehand, and a metric of the packs that reads it."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.events.kinds import Progress
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.store.runs import find_run, read_card
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.session.recorded import recorded, seal
from scoring.core.packs import shipped_pack
from scoring.core.specification import specification
from tests.harness.evaluation import chat_plan
from tests.harness.scripted import Answer, Asked, completion, json_answer, translated

SEMANTIC = "lbrag.semantic_score"
PRICES = {"mock": (0.0, 0.0), "judge-mock": (100.0, 1000.0)}
"""US dollars a million tokens, read and written."""
COST = (20 * 100 + 10 * 1000) / 1e6
"""US dollars of a judgement at this price."""


def know_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs name the metric, whether the inventory knows packs or not."""
    monkeypatch.setitem(specification().metrics, SEMANTIC, shipped_pack("lbrag").rows[SEMANTIC])


def judged_by(url: str, model: str = "mock") -> ScoringOptions:
    """Score by one surface metric and the judge."""
    return ScoringOptions(
        metrics=("chrf_plus_plus", SEMANTIC), judge=url, judge_model=f"judge-{model}"
    )


def is_judge(asked: Asked) -> bool:
    return str(asked.body["model"]).startswith("judge-")


def shown(asked: Asked) -> dict[str, Any]:
    """Return what the judge is shown."""
    found: dict[str, Any] = json.loads(asked.source)
    return found


def says(score: Any, explanation: str = "It fits.", **more: Any) -> Answer:
    text = json.dumps({"score": score, "explanation": explanation})
    return json_answer(completion(text, **more))


def answering(judge: Callable[[Asked], Answer]) -> Callable[[Asked], Answer]:
    """Translate into capitals, and judge as told."""
    return lambda asked: judge(asked) if is_judge(asked) else translated(asked)


def shown_again(path: Path) -> Progress:
    """Return the figures of the last run as its screen shows them when it is opened later."""
    live = LiveRun()
    with closing(open_store(path)) as connection:
        run = find_run(connection, "last")
        live.fold(recorded(connection, run.run_id))
        card = read_card(connection, run.id)
    if card is not None:
        seal(live, card)
    assert live.progress is not None
    return live.progress


def asked_so_far(progress: Progress) -> tuple[float, ...]:
    """Return calls, cost, the part of it that is known, and judgements that failed."""
    found = progress.scoring
    assert found.cost_usd is not None
    return (found.calls, found.cost_usd, found.known_cost_usd, found.failed)


def judged_plan(url: str, *, run: dict[str, Any] | None = None, **options: Any) -> Plan:
    plan = chat_plan(url, run=run, **options)
    return plan.model_copy(update={"scoring": judged_by(url)})
