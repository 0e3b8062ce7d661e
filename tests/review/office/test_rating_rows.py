"""Tables for researchers: every judgement once, nobody's pseudonym; the layout of the metrics tasks."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from harness.card.model import RunCard
from harness.core.failures import UsageError
from review.office.results.rating_rows import (
    mean_ranks,
    mtme_files,
    people,
    rating_rows,
    ratings_csv,
    system_names,
)
from review.rating import Rating, Reason
from tests.review.office.reviewed import BAD, ITEMS, PEOPLE, RUN, judged, key, review, said, state

PARTLY, EXCELLENT, REJECTED = Rating.GIST, Rating.EXCELLENT, Rating.REJECT


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
    rows = rating_rows(
        key(), state(said(EXCELLENT, PARTLY, None), said(PARTLY, PARTLY)), free_text=False
    )
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


GIST, GOOD = Rating.GIST, Rating.EXCELLENT


def test_every_judgement_is_one_row() -> None:
    rows = rating_rows(key(), state(said(GOOD, GIST), said(None, GIST)), free_text=False)
    assert len(rows) == 4
    assert {(row.item, row.rating, row.rank) for row in rows} == {
        (ITEMS[0], "excellent", 3),
        (ITEMS[1], "gist", 1),
        (ITEMS[0], "", None),
    }
    [unsure] = [row for row in rows if row.cannot_judge]
    assert unsure.cannot_judge == "other_dialect"


def test_no_pseudonym_is_in_the_table_and_letters_do_not_follow_the_codes() -> None:
    table = ratings_csv(rating_rows(key(), state(*[said(GOOD)] * 6), free_text=True)).decode()
    assert not any(code in table for code in PEOPLE)
    seeds = [key().model_copy(update={"seed": seed}) for seed in range(40)]
    orders = {tuple(letter for _, letter in sorted(people(each).items())) for each in seeds}
    assert len(orders) > 5
    assert all(sorted(each) == list("ABCDEF") for each in orders)


def test_many_people_get_letters_of_two() -> None:
    codes = [f"{number:08d}" for number in range(60)]
    letters = people(key().model_copy(update={"orders": dict.fromkeys(codes, ())}))
    assert len(set(letters.values())) == 60
    assert "AA" in letters.values()


def test_what_people_wrote_is_left_out_unless_asked_for() -> None:
    one = said(GIST, comments={ITEMS[0]: "hm"}, suggestions={ITEMS[0]: "Bone."}, reasons={ITEMS[0]: (Reason.GRAMMAR, Reason.MISSING)})  # fmt: skip
    [silent] = rating_rows(key(), state(one), free_text=False)
    [loud] = rating_rows(key(), state(one), free_text=True)
    assert (silent.comment, silent.suggestion) == ("", "")
    assert (loud.comment, loud.suggestion) == ("hm", "Bone.")
    assert silent.reasons == "grammar missing"


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-2", "@x", "\tx"], ids=list("abcde"))
def test_no_cell_is_a_formula(text: str) -> None:
    rows = rating_rows(key(), state(said(GIST, comments={ITEMS[0]: text})), free_text=True)
    [read] = csv.DictReader(io.StringIO(ratings_csv(rows).decode(), newline=""))
    assert read["comment"] == f"'{text}"


def test_no_cell_commands_a_terminal() -> None:
    text = "a\x1b[2J\x00\x9b31m\r\nb\tc\r=1"
    rows = rating_rows(key(), state(said(GIST, comments={ITEMS[0]: text})), free_text=True)
    [read] = csv.DictReader(io.StringIO(ratings_csv(rows).decode(), newline=""))
    assert read["comment"] == "a\ufffd[2J\ufffd\ufffd31m\nb\tc\ufffd=1"


def test_controls_do_not_count_for_a_system() -> None:
    one = said(GOOD, GIST)
    with_control = replace(one, judgements={**one.judgements, BAD: judged(Rating.REJECT, 9)})
    rows = rating_rows(key(), state(with_control, said(GIST, None)), free_text=False)
    assert [row.control for row in rows].count("bad") == 1
    assert mean_ranks(rows) == {(RUN, 1): 2.0, (RUN, 2): 1.0}


def test_the_rows_do_not_depend_on_the_order_of_the_state() -> None:
    one = state(said(GOOD, GIST), said(None, GIST), said(GIST))
    shuffled = list(one.reviewers.items())
    random.Random(1).shuffle(shuffled)
    again = replace(one, reviewers=dict(shuffled))
    assert rating_rows(key(), one, free_text=True) == rating_rows(key(), again, free_text=True)
