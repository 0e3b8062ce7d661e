"""COMET scores from a file, in a whole run: what the card says of the model that gave them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.method.options import MethodOptions
from harness.setup.plan import Plan
from harness.setup.scoring_options import ScoringOptions
from tests.harness.evaluation import LANGUAGES, corpus, run_corpus, sealed_card


def scored(store: Path, scores: str) -> dict[str, Any]:
    """Score four entries with a file of COMET scores; gives the card."""
    file = store.parent / "comet_given.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(scores, "utf-8")
    plan = Plan(
        method="constant",
        options=MethodOptions(**LANGUAGES, text="ENTRY NUMBER 3"),
        scoring=ScoringOptions(comet=file),
    )
    run_corpus(store, corpus(4), plan)
    return sealed_card(store)


@pytest.mark.parametrize("lines", [3, 5])
def test_a_file_of_the_wrong_length_leaves_no_name_on_the_card(
    store_path: Path, lines: int
) -> None:
    card = scored(store_path, "0.5\n" * lines)
    scores = card["scores"]
    assert scores["comet_score"] is None
    assert "4" in scores["reasons"]["comet_score"]
    assert (scores["comet_model"], card["scoring"]["comet"]) == ("", None)
    said = {**card, "scores": {**scores, "reasons": {}}, "scoring": {**card["scoring"], "off": {}}}
    assert "comet_given" not in str(said)


def test_a_file_that_fits_is_named(store_path: Path) -> None:
    card = scored(store_path, "0.5\n" * 4)
    assert card["scores"]["comet_score"] == pytest.approx(0.5)
    assert "comet_given" in card["scores"]["comet_model"]
