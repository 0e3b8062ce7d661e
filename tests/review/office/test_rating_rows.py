"""Tables for researchers: every judgement once, nobody's pseudonym, nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import random
from dataclasses import replace

import pytest

from review.office.results.rating_rows import mean_ranks, people, rating_rows, ratings_csv
from review.rating import Rating, Reason
from tests.review.office.reviewed import BAD, ITEMS, PEOPLE, RUN, judged, key, said, state

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
