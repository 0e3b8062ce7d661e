"""A judge that can be told beforehand, and a metric of the packs that reads it."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.model.terms import Clearance
from harness.annotators.annotator import AskingAnnotator
from harness.endpoint.budget import Spending
from harness.endpoint.limiter import RetryPolicy
from harness.privacy import NO_CORPUS
from harness.run.asking import Asking
from harness.run.events import Progress
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.runs import find_run, read_card
from harness.store.sqlite.database import open_store
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.session.recorded import recorded, seal
from scoring.core.packs import shipped_pack
from scoring.core.setup import Translation
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
    return ScoringOptions(metrics=("chrf_plus_plus", SEMANTIC), judge=url, judge_model=f"judge-{model}")


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


class Kept(dict[str, bytes]):
    """A memo of one maker in memory."""

    def recall(self, maker: str, keys: Sequence[str] | None = None) -> dict[str, bytes]:
        return {key: value for key in (keys or ()) if (value := self.get(f"{maker} {key}")) is not None}

    def keep(self, maker: str, found: Mapping[str, bytes]) -> None:
        self.update({f"{maker} {key}": value for key, value in found.items()})


class Blocking:
    """An annotator whose calls are carried without a run."""

    def __init__(self, annotator: AskingAnnotator, policy: RetryPolicy | None = None) -> None:
        self.annotator = annotator
        self.asking = Asking(RunOptions(), Spending(None), NO_CORPUS)
        self.asking.policy = policy or self.asking.policy

    def annotate(self, translations: Sequence[Translation]) -> list[Any]:
        secret = any(each.entry.secret for each in translations)
        self.asking.clearance = Clearance(frozenset({-1})) if secret else NO_CORPUS  # they have no places
        return self.asking(self.annotator, translations)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.annotator, name)


def vector(text: str, size: int = 4) -> list[float]:
    """Letters counted into a few numbers: equal texts are near, different ones less so."""
    counts = [0.5] * size
    for letter in text:
        counts[ord(letter) % size] += 1
    return counts


def embedded(asked: Asked, of: Callable[[str], list[float]] = vector) -> Answer:
    items = [{"index": at, "embedding": of(text)} for at, text in enumerate(asked.body["input"])]
    return json_answer({"data": items[::-1], "model": "m", "usage": {"prompt_tokens": 3}})
