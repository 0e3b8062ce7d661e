"""Cards of runs that are no translations: they hold, and no task is a way round floors and claims."""

from __future__ import annotations

import copy
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.card.canonical import canonical_bytes, card_hash
from harness.card.checking.verify import verify_card
from harness.card.load import read_raw
from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.corpora.tasks.records import corpus_of
from tests.harness.evaluation import corpus, run_corpus
from tests.harness.run.constant_runs import constant


def whole_card(path: Path) -> dict[str, Any]:
    with closing(open_store(path)) as connection:
        return copy.deepcopy(dict(read_raw(connection, find_run(connection, "last").id)))


def of_questions(path: Path) -> dict[str, Any]:
    rows = [
        {"source": f"q{n}", "reference": "Anna", "predicted": "Anna" if n else "Bob"}
        for n in range(4)
    ]
    options = MethodOptions(source_language="en", target_language="crk", task="qa")
    run_corpus(path, corpus_of("qa", *rows), Plan(method="replay", options=options))
    return whole_card(path)


def holds(card: dict[str, Any]) -> bool:
    """Seal a card anew, and tell whether what it says holds."""
    card["run_card_hash"] = card_hash(card)
    try:
        return verify_card(canonical_bytes(card)).ok
    except UsageError:
        return False


def test_a_card_of_another_task_holds_without_floors_composite_or_claim(store_path: Path) -> None:
    card = of_questions(store_path)
    assert holds(card)
    assert (card["dataset"]["task"], card["floors"]) == ("qa", [])
    assert card["scores"].get("composite") is None


@pytest.mark.parametrize("task", [None, "math", "translation", 7])
def test_another_name_of_the_task_is_found(store_path: Path, task: Any) -> None:
    card = of_questions(store_path)
    card["dataset"]["task"] = task
    if task is None:
        del card["dataset"]["task"]
    assert not holds(card)


@pytest.mark.parametrize(
    "floors", [[{"name": "empty", "composite": 0.1, "chrf_plus_plus": 1.0, "inputs": []}]]
)
def test_floors_of_another_task_are_found(store_path: Path, floors: list[Any]) -> None:
    assert not holds(of_questions(store_path) | {"floors": floors})


@pytest.mark.parametrize("told", [("dataset",), ("scoring",), ("dataset", "scoring")])
def test_translations_do_not_lose_their_floors_by_being_called_something_else(
    store_path: Path, told: tuple[str, ...]
) -> None:
    run_corpus(store_path, corpus(6), constant())
    card = whole_card(store_path)
    assert holds(copy.deepcopy(card))
    for block in told:
        card[block]["task"] = "qa"
    card["floors"] = []
    assert not holds(card)
