"""Whoever makes something of what people said hears the same people: those who agreed, and whom the key names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from review.log.fold import ReviewerState, State
from review.office.results.community_page import questions, reasons
from review.office.results.rating_rows import rated_items, rating_rows
from review.office.results.translations import corrections
from review.rating import Rating, Reason
from review.verdict.gate.adjudication import queue
from review.verdict.panel.key import AnswerKey, counted
from review.verdict.panel.panel import panel_of
from tests.review.office.page_texts import texts
from tests.review.office.reviewed import BATCH, ITEMS, PEOPLE, RUN, corpus, key, said, state

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


GOOD = person(Rating.EXCELLENT, "Alia.", Reason.GRAMMAR)
BAD = person(Rating.REJECT, "Alia.", Reason.GRAMMAR)
OTHER = person(Rating.GIST, "Neniu.", Reason.MISSING)
UNASKED = person(Rating.GIST, "Neniu.", Reason.MISSING, agreed=False)


@pytest.mark.parametrize("maker", MAKERS.values(), ids=list(MAKERS))
def test_who_does_not_count_changes_nothing(maker: Callable[[AnswerKey, State], Any]) -> None:
    heard = state(GOOD, BAD, GOOD, BAD)
    others = {
        (BATCH, PEOPLE[4]): UNASKED,
        (BATCH, PEOPLE[5]): UNASKED,
        (BATCH, "YYYYYYYY"): OTHER,
        (BATCH, "ZZZZZZZZ"): OTHER,
        ("c" * 16, PEOPLE[3]): OTHER,
    }
    more = replace(heard, reviewers={**others, **heard.reviewers})
    assert maker(key(), more) == maker(key(), heard)
    agreed = {(BATCH, who): OTHER for who in PEOPLE[4:]}
    assert maker(key(), replace(heard, reviewers={**heard.reviewers, **agreed})) != maker(
        key(), heard
    )


def test_people_come_by_code_and_batches_as_the_key_lists_them() -> None:
    two = key().model_copy(update={"batches": ("d" * 16, BATCH)})
    places = [(BATCH, PEOPLE[1]), (BATCH, PEOPLE[0]), ("d" * 16, PEOPLE[1])]
    found = counted(State(dict.fromkeys(places, GOOD), {}, {}, {}), two)
    assert [(who, batch) for who, batch, _ in found] == [
        (PEOPLE[0], BATCH),
        (PEOPLE[1], "d" * 16),
        (PEOPLE[1], BATCH),
    ]
