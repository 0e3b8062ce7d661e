"""Cards of runs that are no translations: they hold, and no task is a way round floors and claims."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from corpora.model.entry import Entry
from harness.card.checking.verify import verify_card
from harness.card.seal import card_hash
from harness.card.withholding import withheld_part
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from tests.corpora.tasks.records import corpus_of
from tests.harness.card.sealed_cards import checks
from tests.harness.evaluation import run_corpus, whole_card


@pytest.fixture(scope="module")
def of_questions(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The card of a run that answered questions."""
    rows = [
        {"source": f"q{n}", "reference": "Anna", "predicted": "Anna" if n else "Bob"}
        for n in range(4)
    ]
    options = MethodOptions(source_language="en", target_language="crk", task="qa")
    plan = Plan(method="replay", options=options, scoring=ScoringOptions().said_by("qa"))
    path = tmp_path_factory.mktemp("questions") / "rosetta.sqlite"
    run_corpus(path, corpus_of("qa", *rows), plan)
    return json.dumps(whole_card(path))


@pytest.fixture
def card(of_questions: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(of_questions)
    return read


def holds(card: dict[str, Any]) -> bool:
    """Seal a card anew, and tell whether what it says holds."""
    card["run_card_hash"] = card_hash(card)
    try:
        return verify_card(canonical_bytes(card)).ok
    except UsageError:
        return False


def test_card_of_another_task_holds_without_floors(card: dict[str, Any]) -> None:
    assert holds(card)
    scores = card["scores"]
    assert (card["dataset"]["task"], card["floors"]) == ("qa", [])
    assert scores.get("composite") is None
    assert not scores.keys() & {
        "composite_profile",
        "composite_profile_reason",
        "composite_missing",
    }
    assert checks(verify_card(canonical_bytes(card)))["no tier and no floors"] is True
    scores |= {
        "composite_profile_reason": "FST acceptance has no value: it was not computed",
        "composite_missing": {"chrf_plus_plus": "no value"},
    }
    for profile, holding in (("B", True), ("A", False)):  # words on earlier cards
        scores["composite_profile"] = profile
        assert holds(card) is holding


def test_mean_and_deviation_are_computed_again(card: dict[str, Any]) -> None:
    told = card["scores"]["spread"]["lbrag.em"]
    assert told == {"mean": 0.75, "std": statistics.stdev([0, 1, 1, 1]), "n": 4}
    told["std"] += 1e-6
    assert not holds(card)
    del card["scores"]["spread"]  # as earlier versions sealed it
    assert holds(card)


@pytest.mark.parametrize(("secret", "told"), [(1, False), (4, False), (5, True)])
def test_no_deviation_of_few_secret_entries_leaves(secret: int, told: bool) -> None:
    entries = [
        Entry(id=n, source="a", reference="b", segment="held_out" if n < secret else None)
        for n in range(9)
    ]
    card = {"scores": {"spread": {"lbrag.em": {"mean": 0.5, "std": 0.5, "n": 9}}}}
    assert ("spread" in withheld_part(card, entries)["scores"]) is told


def test_other_task_or_floors_are_found(card: dict[str, Any]) -> None:
    for task in ("math", "translation", 7):
        card["dataset"]["task"] = task
        assert not holds(card)
    del card["dataset"]["task"]
    assert not holds(card)
    card["dataset"]["task"] = "qa"
    assert holds(card)
    floor = {"name": "empty", "composite": 0.1, "chrf_plus_plus": 1.0, "inputs": []}
    assert not holds(card | {"floors": [floor]})


def test_translations_keep_floors_whatever_they_are_called(finished_store: Path) -> None:
    text = json.dumps(whole_card(finished_store))
    assert holds(json.loads(text))
    for blocks in (("dataset",), ("scoring",), ("dataset", "scoring")):
        card = json.loads(text)
        for block in blocks:
            card[block]["task"] = "qa"
        card["floors"] = []
        assert not holds(card)
