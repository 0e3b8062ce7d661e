"""Cards of runs that are no translations: they hold, and no task is a way round floors and claims."""

from __future__ import annotations

import copy
import statistics
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Entry
from harness.card.checking.verify import verify_card
from harness.card.load import read_raw
from harness.card.seal import card_hash
from harness.card.withholding import withheld_part
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.corpora.tasks.records import corpus_of
from tests.harness.card.sealed_cards import checks
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
    scoring = ScoringOptions().said_by("qa")
    plan = Plan(method="replay", options=options, scoring=scoring)
    run_corpus(path, corpus_of("qa", *rows), plan)
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
    assert not card["scores"].keys() & OF_A_PROFILE
    assert checks(verify_card(canonical_bytes(card)))["no tier and no floors"] is True


OF_A_PROFILE = {"composite_profile", "composite_profile_reason", "composite_missing"}


@pytest.mark.parametrize(("profile", "holding"), [("B", True), ("A", False)])
def test_words_of_a_composite_on_earlier_cards_of_other_tasks(
    store_path: Path, profile: str, holding: bool
) -> None:
    card = of_questions(store_path)
    card["scores"] |= {
        "composite_profile": profile,
        "composite_profile_reason": "FST acceptance has no value: it was not computed",
        "composite_missing": {"chrf_plus_plus": "no value"},
    }
    assert holds(card) is holding


def test_mean_and_deviation_of_its_values_are_computed_again(store_path: Path) -> None:
    card = of_questions(store_path)
    told = card["scores"]["spread"]["lbrag.em"]
    assert told == {"mean": 0.75, "std": statistics.stdev([0, 1, 1, 1]), "n": 4}
    told["std"] += 1e-6
    assert not holds(card)
    del card["scores"]["spread"]  # as earlier versions sealed it
    assert holds(card)


@pytest.mark.parametrize(("secret", "told"), [(1, False), (4, False), (5, True)])
def test_no_deviation_leaves_of_fewer_secret_entries_than_may_be_told(
    secret: int, told: bool
) -> None:
    entries = [
        Entry(id=n, source="a", reference="b", segment="held_out" if n < secret else None)
        for n in range(9)
    ]
    card = {"scores": {"spread": {"lbrag.em": {"mean": 0.5, "std": 0.5, "n": 9}}}}
    assert ("spread" in withheld_part(card, entries)["scores"]) is told


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
