"""A judge that can be told beforehand, and a metric of the packs that reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.setup.scoring_options import ScoringOptions
from scoring.core.packs import shipped_pack
from scoring.core.specification import specification
from tests.harness.scripted import Answer, Asked, completion, json_answer, translated

SEMANTIC = "lbrag.semantic_score"


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
