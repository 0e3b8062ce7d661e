"""What is made of what people said: tables for researchers, variants, and always of the same people."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.card.model import RunCard
from harness.core.failures import UsageError
from review.log.fold import ReviewerState, State
from review.office.results.community_page import questions, reasons
from review.office.results.rating_rows import (
    mean_ranks,
    mtme_files,
    people,
    rated_items,
    rating_rows,
    ratings_csv,
    system_names,
)
from review.office.results.translations import Correction, corrections, next_version, with_variants
from review.rating import Rating, Reason
from review.verdict.gate.adjudication import queue
from review.verdict.panel.key import AnswerKey, counted
from review.verdict.panel.panel import panel_of
from tests.review.office.reviewed import (
    BAD,
    BATCH,
    ITEMS,
    PEOPLE,
    RUN,
    corpus,
    judged,
    key,
    review,
    said,
    state,
    texts,
)

GIST, GOOD = Rating.GIST, Rating.EXCELLENT


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
    values = ["2.000000", "1.000000", "None", "None"]
    assert [line.split() for line in scores] == [[name, value] for value in values]
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


def test_no_cell_is_a_formula_or_commands_a_terminal() -> None:
    act = ("a\x1b[2J\x00\x9b31m\r\nb\tc\r=1", "a\ufffd[2J\ufffd\ufffd31m\nb\tc\ufffd=1")
    formulas = ((text, f"'{text}") for text in ("=1+1", "+cmd", "-2", "@x", "\tx"))
    for text, shown in (act, *formulas):
        rows = rating_rows(key(), state(said(GIST, comments={ITEMS[0]: text})), free_text=True)
        [read] = csv.DictReader(io.StringIO(ratings_csv(rows).decode(), newline=""))
        assert read["comment"] == shown


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


# Who is counted


MAKERS: dict[str, Callable[[AnswerKey, State], Any]] = {
    "panel": lambda key, state: panel_of(state, key, RUN, 1),
    "adjudication": lambda key, state: queue(state, key),
    "rated items": lambda key, state: rated_items(
        SimpleNamespace(state=lambda _: state),  # type: ignore[arg-type]
        SimpleNamespace(key=key),  # type: ignore[arg-type]
    ),
    "corrections": lambda key, state: corrections(key, state, corpus()),
    "table": lambda key, state: rating_rows(key, state, free_text=True),
    "page, questions": lambda key, state: questions(key, state, texts(), RUN),
    "page, reasons": lambda key, state: reasons(key, state, RUN),
}


def person(rating: Rating, words: str, reason: Reason, *, agreed: bool = True) -> ReviewerState:
    """One person who says everything that can be said: rating, wording, flag and reason."""
    one = said(
        *[rating] * 4,
        suggestions={ITEMS[0]: words},
        harmful=frozenset({ITEMS[0]}),
        reasons=dict.fromkeys(ITEMS, (reason,)),
    )
    return replace(one, consented=agreed)


LIKES = person(Rating.EXCELLENT, "Alia.", Reason.GRAMMAR)
DISLIKES = person(Rating.REJECT, "Alia.", Reason.GRAMMAR)
OTHER = person(Rating.GIST, "Neniu.", Reason.MISSING)
UNASKED = person(Rating.GIST, "Neniu.", Reason.MISSING, agreed=False)


def test_who_does_not_count_changes_nothing() -> None:
    heard = state(LIKES, DISLIKES, LIKES, DISLIKES)
    others = {
        (BATCH, PEOPLE[4]): UNASKED,
        (BATCH, PEOPLE[5]): UNASKED,
        (BATCH, "YYYYYYYY"): OTHER,
        (BATCH, "ZZZZZZZZ"): OTHER,
        ("c" * 16, PEOPLE[3]): OTHER,
    }
    more = replace(heard, reviewers={**others, **heard.reviewers})
    agreed = {(BATCH, who): OTHER for who in PEOPLE[4:]}
    another = replace(heard, reviewers={**heard.reviewers, **agreed})
    for name, maker in MAKERS.items():
        assert maker(key(), more) == maker(key(), heard), name
        assert maker(key(), another) != maker(key(), heard), name


def test_people_come_by_code_and_batches_as_the_key_lists_them() -> None:
    two = key().model_copy(update={"batches": ("d" * 16, BATCH)})
    places = [(BATCH, PEOPLE[1]), (BATCH, PEOPLE[0]), ("d" * 16, PEOPLE[1])]
    found = counted(State(dict.fromkeys(places, LIKES), {}, {}, {}), two)
    told = [(who, batch) for who, batch, _ in found]
    assert told == [(PEOPLE[0], BATCH), (PEOPLE[1], "d" * 16), (PEOPLE[1], BATCH)]


# Wordings that become variants, with consent and a yes, and never twice


def test_only_wordings_of_people_who_agreed_are_offered() -> None:
    open_: dict[str, Any] = {"suggestions": {ITEMS[0]: "Alia frazo."}}
    closed: dict[str, Any] = {"suggestions": {ITEMS[1]: "Mia."}}
    found = corrections(
        key(), state(said(GIST, **open_), said(GIST, share=False, **closed)), corpus()
    )
    assert found == [Correction(1, "Alia frazo.", 1)]


def test_what_the_corpus_has_is_not_offered_again() -> None:
    same = {ITEMS[0]: "  Frazo 1. ", ITEMS[1]: "", ITEMS[2]: "   "}
    assert corrections(key(), state(said(GIST, suggestions=same)), corpus()) == []


def test_the_wording_of_most_people_comes_first() -> None:
    rare, common = (
        said(GIST, suggestions={ITEMS[0]: "A."}),
        said(GIST, suggestions={ITEMS[0]: "B."}),
    )
    found = corrections(key(), state(rare, common, common), corpus())
    assert [(each.wording, each.people) for each in found] == [("B.", 2), ("A.", 1)]


def test_accepted_wordings_are_variants_of_a_new_version() -> None:
    before = corpus()
    after = with_variants(before, [Correction(2, "Nova.", 1), Correction(2, "Alia.", 1)])
    assert after.entries[1].variants == ("Nova.", "Alia.")
    assert after.dataset.version == "1.3.0"
    assert before.entries[1].variants == ()
    assert [entry.reference for entry in after.entries] == [e.reference for e in before.entries]
    assert corrections(key(), state(said(GIST, suggestions={ITEMS[1]: "Nova."})), after) == []


def test_versions_grow() -> None:
    assert [next_version(each) for each in ("1.2.3", "1", "0", "2.9")] == ["1.3.0", "1.1.0", "0.1.0", "2.10.0"]  # fmt: skip
    assert next_version("spring") == "spring+variants"
