"""What successive certificates of one run tell together, by a second account that knows no atoms."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from harness.release.budget import MOMENT, History, NotReleased, set_id, uses
from harness.release.certified import (
    STRATUM,
    CertificateQuestion,
    certificate_answer,
    certificate_question,
    last_certificate,
)
from harness.release.records import CertificateTold, Rule

START = datetime(2026, 3, 1, tzinfo=UTC)
Rated = dict[str, dict[str, int]]


def question(rated: Rated, strata: dict[str, int] | None = None) -> CertificateQuestion:
    """Ask for a certificate of items, each with its ratings by person."""
    people = {who for said in rated.values() for who in said}
    ratings = {who: {i: said[who] for i, said in rated.items() if who in said} for who in people}
    of = strata or dict.fromkeys(rated, 1)
    return certificate_question("run", "corpus", ratings, of, digest)


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]


def told(history: History, asked: CertificateQuestion, when: datetime) -> History:
    answer = certificate_answer(history, asked, when)
    act = CertificateTold(
        submitter=asked.submitter,
        run=asked.run,
        corpus=asked.corpus,
        entries=set_id(asked.entries),
        atoms=None if answer.atoms is None else dict(answer.atoms),
        certificate=f"{answer.number}",
        signature="0" * 128,
    )
    return history.after(act, when.strftime(MOMENT))


def ratings(items: int, people: int = 3) -> Rated:
    return {f"i{n}": {f"p{who}": (n + who) % 4 for who in range(people)} for n in range(items)}


@pytest.mark.parametrize(("changed", "allowed"), [(0, True), (1, False), (4, False), (5, True), (20, True), (16, False)])  # fmt: skip
def test_a_second_certificate_is_told_where_five_entries_have_other_ratings_or_none(
    changed: int, allowed: bool
) -> None:
    """Of 20: 16 changed leave 4 that did not."""
    before = told(History(), question(ratings(20)), START)
    after = ratings(20)
    for item in list(after)[:changed]:
        after[item] = after[item] | {"p0": (after[item]["p0"] + 1) % 4}
    later = START + timedelta(days=2)
    if allowed:
        assert last_certificate(told(before, question(after), later), "run") is not None
    else:
        with pytest.raises(NotReleased, match="fewer than 5 entries: too little is new"):
            told(before, question(after), later)


def test_a_difficulty_of_few_items_is_left_out_with_another_one() -> None:
    strata = {f"i{n}": 1 if n < 10 else 2 if n < 20 else 3 for n in range(23)}
    answer = certificate_answer(History(), question(ratings(23), strata), START)
    assert answer.parts == {(STRATUM, "1")}


def test_an_item_is_another_one_where_its_difficulty_weighs_otherwise() -> None:
    """The share of all is weighed by difficulties: one more item changes what each of its difficulty adds to it."""
    strata = {f"i{n}": 1 if n < 10 else 2 for n in range(20)} | {"i20": 1}
    before, after = question(ratings(20), strata), question(ratings(21), strata)
    assert before.entries & after.entries == before.entries_of[STRATUM, "2"]


def test_each_certificate_counts_for_its_run_with_a_pause_after_it() -> None:
    history = told(History(), question(ratings(20)), START)
    with pytest.raises(NotReleased, match="The next one is given from 2026-03-02T00:00:00Z on"):
        certificate_answer(history, question(ratings(20, 4)), START + timedelta(hours=23))
    answer = certificate_answer(history, question(ratings(20, 4)), START + timedelta(hours=24))
    assert (answer.number, answer.of, answer.supersedes) == (2, 10, sha256(b"1").hexdigest())
    spent = history.after(Rule(count=1), MOMENT)
    with pytest.raises(NotReleased, match="had all 1 answers"):
        certificate_answer(spent, question(ratings(20, 4)), START + timedelta(days=9))
    [use] = uses(history)
    assert (use.names, use.answers) == (("certificates of run run",), 1)


def test_another_run_and_the_scores_have_a_budget_of_their_own() -> None:
    history = told(History(), question(ratings(20)), START)
    assert history.given("Ann", "corpus", frozenset()) == []
    assert last_certificate(history, "other") is None
