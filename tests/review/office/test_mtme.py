"""The layout of the metrics tasks, read back by its own published rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.card.model import RunCard
from harness.core.failures import UsageError
from review.office.results.rating_rows import mtme_files, rating_rows, system_names
from review.rating import Rating
from tests.review.office.reviewed import RUN, key, review, said, state

GIST, GOOD, BAD = Rating.GIST, Rating.EXCELLENT, Rating.REJECT


@pytest.fixture
def card() -> RunCard:
    raw = json.loads((Path(__file__).parents[2] / "data" / "run-card.json").read_text("utf-8"))
    row = raw["results"][0]
    raw["run_id"] = RUN
    raw["results"] = [
        {**row, "entry_id": number, "source": f"S {number}", "reference": f"R\t{number}\n.", "predicted": None if number == 4 else f"P {number}"}
        for number in range(9)
    ]  # fmt: skip
    return RunCard.model_validate(raw)


def test_scores_stand_beside_the_texts_line_by_line(card: RunCard) -> None:
    rows = rating_rows(key(), state(said(GOOD, GIST, None), said(GIST, GIST)), free_text=False)
    files = mtme_files(review(key()), rows, {RUN: card})
    texts = {path: data.decode().splitlines() for path, data in files.items()}
    [sources] = [lines for path, lines in texts.items() if path.startswith("sources/")]
    assert sources == ["S 1", "S 2", "S 3", "S 4"]
    [references] = [lines for path, lines in texts.items() if path.startswith("references/")]
    assert references[0] == "R 1 ."
    [outputs] = [lines for path, lines in texts.items() if path.startswith("system-outputs/")]
    assert outputs == ["P 1", "P 2", "P 3", ""]
    [name] = system_names({RUN: card}).values()
    [scores] = [lines for path, lines in texts.items() if path.endswith(".rosetta.seg.score")]
    assert [line.split() for line in scores] == [
        [name, "2.000000"],
        [name, "1.000000"],
        [name, "None"],
        [name, "None"],
    ]
    [whole] = [lines for path, lines in texts.items() if path.endswith(".rosetta.sys.score")]
    assert whole == [f"{name}\t1.500000"]
    people = sorted(path.split(".")[-3] for path in texts if path.endswith(".seg.score"))
    assert len(people) == 3


def test_names_are_one_word_each_and_differ(card: RunCard) -> None:
    twin = card.model_copy(update={"run_id": "2" * 36, "model_slug": card.model_slug})
    names = system_names({RUN: card, "2" * 36: twin})
    assert len(set(names.values())) == 2
    odd = card.model_copy(update={"model_slug": "a\tb / ../c\n", "condition": "…"})
    assert system_names({RUN: odd}) == {RUN: "a-b-c"}


@pytest.mark.parametrize(
    ("segment", "sealed", "secret"),
    [
        ("development", False, False),
        ("none", False, False),
        ("gold_standard", False, True),
        ("held_out", False, True),
        ("development", True, True),
    ],
)
def test_secret_texts_are_refused(card: RunCard, segment: str, sealed: bool, secret: bool) -> None:
    asked = review(key(segment=segment), sealed=sealed)
    assert asked.secret is secret
    if secret:
        with pytest.raises(UsageError, match="--csv"):
            mtme_files(asked, [], {RUN: card})
    else:
        assert mtme_files(asked, [], {RUN: card})
