"""The released card: rounded, signed, without a number of few; told as often as the policy says, whatever is deleted.

A method that gave nothing: a few words leave, signed, and count as an answer; caveats leave as yes or no.
"""

import errno
import json
import math
import os
import random
import re
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from corpora.formats.load import load
from corpora.model.entry import Entry, Segment
from harness.card.checking.signed import UNKNOWN
from harness.card.model import RunCard
from harness.card.rows import load_card
from harness.card.withholding import expected_half, one_two_five, range_of, stepped
from harness.core.failures import UsageError
from harness.leaderboard.official import verify_released
from harness.release.budget import MOMENT, POLICIES, TRUSTED, History, NotReleased, NotYetReleased
from harness.release.ledger import ReleaseLedger
from harness.release.ledger_records import (
    PolicyName,
    ReleasedCard,
    ReleasedDifference,
    ReleasedRefusal,
    Rule,
    ScoresTold,
    Together,
)
from harness.release.releasing import release_run
from harness.sealed.keys import Identity, Role
from harness.sealed.strict_records import FileError
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from rosetta_tui.html.leaderboard_page import released_page
from rosetta_tui.show import released_words
from scoring.card.caveats import CaveatKind
from scoring.card.smallest import FEWEST, by_segment, smallest_difference
from scoring.core.specification import COMPOSITE, Tier
from scoring.statistics.clusters import Z_BOTH
from tests.harness.release.attackers import question
from tests.harness.release.made import CANARY, KEEPER, START, Office, hidden, outputs
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import times

CHRF = "chrf_plus_plus"
SET = hidden(100)
RENAMED = [each.model_copy(update={"id": f"x{each.id}"}) for each in SET]
ODD = SET[1::2]
"""One part of what is told of the whole set."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Office:
    """A store with runs that no test changes."""
    office = Office(tmp_path_factory.mktemp("office"))
    good = outputs(SET, 0.95)
    office.runs["good"] = office.run_lines(good, SET)
    office.metrics = (CHRF, "exact_match_rate")
    for name, right in {"poor": 0.1, "slightly better": 0.12, "better": 0.99}.items():
        office.runs[name] = office.run(right, SET)
    office.runs["few"] = office.run(0.5, hidden(4, public=8, first=500))
    office.runs["mixed"] = office.run(0.5, hidden(15, public=5, first=1000))
    office.runs["of renamed"] = office.run(0.9, RENAMED)
    for count in (4, 5):
        office.runs[f"without {count}"] = office.run(0.9, [e for e in SET if e not in ODD[:count]])
    office.runs["good but for 4"] = office.run_lines(["nenio"] * 4 + good[4:], SET)
    office.runs["cut"] = office.run_lines([e[:4] if n % 3 else e for n, e in enumerate(good)], SET)
    for name, halves in {"first": (0.6, 0.4), "second": (0.4, 0.6)}.items():
        half = [*outputs(SET[:50], halves[0]), *outputs(SET[50:], halves[1])]
        office.runs[f"{name} half better"] = office.run_lines(half, SET)
    office.runs["copied"] = office.run_lines([each.source for each in SET], SET)
    return office


@pytest.fixture
def office(played: Office, tmp_path: Path) -> Office:
    (tmp_path / "rosetta.sqlite").write_bytes(played.store.read_bytes())
    return Office(tmp_path, runs=played.runs)


def numbers(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else ((name, e) for e in value):
            yield from numbers(each, key)
    elif isinstance(value, int | float):
        yield name, value


def with_a_changed_byte(data: bytes, step: int) -> Iterator[tuple[int, bytes]]:
    for place in range(0, len(data), step):
        yield place, data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


# The card


def test_card_has_all_fields_rounded_and_nothing_of_an_entry(office: Office) -> None:
    data, inside = office.release("good"), office.card("good")
    told = json.loads(data)
    assert CANARY.encode() not in data
    assert b"id-" not in data
    steps = {CHRF: 1, "composite": 0.01, "exact_match_rate": 0.05}
    assert {name: each["step"] for name, each in told["scores"].items()} == steps
    for name, each in told["scores"].items():
        exact, ends = inside["scores"][name], inside["scores"]["confidence_intervals"][name]
        assert abs(each["value"] - exact) <= each["step"] / 2 + 1e-9
        if name != "exact_match_rate":
            assert each["lower"] <= min(exact, ends["ci_lower"])
            assert max(exact, ends["ci_upper"]) <= each["upper"]
    assert told["scores"]["exact_match_rate"]["lower"] is None
    assert told["quality_tier"] == inside["scores"]["quality_tier"]
    assert told["claimable_tier"] in set(Tier)
    assert (told["policy"], told["answer"], told["of"]) == ("official", 1, 3)
    assert told["cost_per_entry_usd"] is None  # nobody knows what it cost
    assert told["avg_latency_seconds"] is None
    # three numbers of 101 steps twice, one of 21, five caveats, two tiers of six, a coverage of 21 steps
    assert told["bits"] == math.ceil(6 * math.log2(101) + math.log2(21) + 5 + 2 * math.log2(6) + math.log2(21))
    assert told["coverage"] == pytest.approx(inside["scores"]["composite_coverage"], abs=0.025)
    assert told["caveats"] == dict.fromkeys(CaveatKind, False)
    known = {"value", "lower", "upper", "step", "entries", "beat_by", "answer", "of", "line", "bits", "coverage"}
    known |= {"cost_per_entry_usd", "avg_latency_seconds", "smallest_difference", *CaveatKind}
    assert {name for name, _ in numbers(told)} <= known
    assert set(office.ledger.read().atoms.values()) == {1}  # so nothing tells them apart


@pytest.mark.parametrize(("policy", "scores", "of"), [
    ("strict", {CHRF: 5}, 1),
    ("trusted", {CHRF: 0.1, "composite": 0.001, "exact_match_rate": 0.01}, 10),
])  # fmt: skip
def test_policy_of_the_custodian_decides_what_is_told(
    office: Office, policy: str, scores: dict[str, float], of: int
) -> None:
    office.set(Rule(policy=policy))
    told = office.told("poor")
    assert {name: each["step"] for name, each in told["scores"].items()} == scores
    assert (told["policy"], told["of"]) == (policy, of)
    if policy == "trusted":  # every score is told, better or not
        assert office.told("slightly better")["scores_of"] == office.runs["slightly better"]


def test_blind_policy_tells_nothing_before_its_day(office: Office) -> None:
    office.set(Rule(policy="blind", opens="2026-03-21"))
    refuses(NotReleased, "from 2026-03-21", office.release, "poor")
    office.moments.append(datetime(2026, 3, 14, tzinfo=UTC))
    assert office.told("poor")["policy"] == "blind"


def test_policies_have_these_numbers() -> None:
    numbers = {name: (each.count, each.pause_hours, each.everybody) for name, each in POLICIES.items()}
    week = 168
    assert numbers == {
        "official": (3, week, 20),
        "strict": (1, week, 20),
        "blind": (3, week, 20),
        "trusted": (10, 24, 200),
    }


def with_numbers_at_random(card: RunCard, source: random.Random) -> RunCard:
    """Return a card with scores, intervals and spending at random; an interval need not contain its value."""
    scores, intervals = {}, {}
    for id_ in TRUSTED:
        high, decimals = range_of(id_)[1], source.choice([0, 1, 2, 4, 17])  # also what lies on a border of a step
        low, value, up = sorted(round(source.uniform(0, high), decimals) for _ in "123")
        if source.random() < 0.1:
            low, value, up = source.choice([(value, low, up), (low, up, value), (0, 0, 0), (high, high, high)])
        known = card.scores.confidence_intervals[CHRF]
        scores[id_], intervals[id_] = value, known.model_copy(update={"ci_lower": low, "ci_upper": up})
    spent = [source.choice([None, 0.0, 10 ** source.uniform(-6, 3)]) for _ in "12"]
    return card.model_copy(update={
        "scores": card.scores.model_copy(update=scores | {"confidence_intervals": intervals}),
        "cost": card.cost.model_copy(update={"cost_per_entry_usd": spent[0]}),
        "speed": card.speed.model_copy(update={"avg_latency_seconds": spent[1]}),
    })  # fmt: skip


@pytest.mark.parametrize("policy", ["official", "strict", "trusted"])
def test_told_value_and_interval_contain_the_exact_interval(
    played: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: PolicyName
) -> None:
    """By the function that tells a run's scores, for cards with numbers at random."""
    source, inside = random.Random(policy), list[RunCard]()

    def load(store: sqlite3.Connection, run: int) -> RunCard:
        inside.append(with_numbers_at_random(load_card(store, run), source))
        return inside[-1]

    monkeypatch.setattr("harness.release.releasing.load_card", load)
    for number in range(times(12, 3_334)):
        (tmp_path / f"{number}").mkdir()
        office = Office(tmp_path / f"{number}", runs=played.runs)
        office.set(Rule(policy=policy))
        told = ReleasedCard.model_validate_json(played.release("mixed", ledger=office.ledger))
        exact, steps = inside[-1].scores, POLICIES[policy].metrics
        assert set(told.scores) == set(steps)
        for id_, score in told.scores.items():
            value, step, interval = getattr(exact, id_), steps[id_], exact.confidence_intervals[id_]
            assert score.step == step
            assert abs(score.value - value) <= step / 2 + 1e-9
            assert is_multiple(score.value, step)
            if id_ not in {CHRF, COMPOSITE}:
                assert score.interval is None
                continue
            assert score.lower is not None
            assert score.upper is not None
            low, high = min(value, interval.ci_lower), max(value, interval.ci_upper)
            assert score.lower <= min(low, score.value)
            assert max(high, score.value) <= score.upper
            assert low - score.lower < step + 1e-9
            assert score.upper - high < step + 1e-9
            assert is_multiple(score.lower, step)
            assert is_multiple(score.upper, step)
        money = inside[-1].cost.cost_per_entry_usd, inside[-1].speed.avg_latency_seconds
        stated = told.cost_per_entry_usd, told.avg_latency_seconds
        assert stated == ((None, None) if policy == "strict" else tuple(None if m is None else one_two_five(m) for m in money))  # fmt: skip


def is_multiple(value: float, step: float) -> bool:
    return value / step == pytest.approx(round(value / step), abs=1e-6)


def test_interval_contains_a_value_that_the_exact_one_does_not() -> None:
    told = stepped(50.4, 40, 45, 1, (0, 100))
    assert (told.value, told.lower, told.upper) == (50, 40, 51)
    assert stepped(9, 55, 60, 1, (0, 100)).lower == 9
    assert stepped(63, 60, 63.870000000000005, 0.01, (0, 100)).upper == 63.88  # 63.87 lies below it


@pytest.mark.parametrize(("value", "told"), [(0, 0), (1, 1), (0.0034, 0.005), (0.0031, 0.002), (7.0, 5), (7.2, 10), (1400, 1000)])  # fmt: skip
def test_cost_and_time_are_one_two_or_five(value: float, told: float) -> None:
    assert one_two_five(value) == told


@pytest.mark.parametrize("name", ["poor", "mixed"])
def test_card_with_a_changed_byte_is_found(office: Office, name: str) -> None:
    data = office.release(name)
    assert ReleasedCard.model_validate_json(data).is_signed_by(KEEPER.public.signing_key)
    for _, changed in with_a_changed_byte(data, times(97, 1)):
        try:
            card = ReleasedCard.model_validate_json(changed)
        except ValueError:
            continue
        assert not card.is_signed_by(KEEPER.public.signing_key)


def test_card_of_fewer_than_five_secret_entries_is_not_told(office: Office) -> None:
    refuses(NotReleased, "4 different secret entries", office.release, "few")
    with opened(office.store) as store:
        number, open_texts = find_run(store, office.runs["few"]).id, lambda: pytest.fail("opened")
        kept = refuses(NotReleased, "4 diff", release_run, store, number, "Ann", office.ledger, open_texts)
    assert not isinstance(kept, NotYetReleased)
    refuses(NotReleased, "1 to 200", office.release, "good", " \t")


def test_card_states_a_day_and_no_time(office: Office) -> None:
    told = office.told("good")
    timed = told | {"issued": f"{told['issued']}T09:30:00Z"}
    refuses(ValueError, "issued", ReleasedCard.model_validate, timed)


def test_caveats_leave_as_yes_or_no_and_are_those_of_the_best(office: Office) -> None:
    """A run that repeats the best would else tell four facts of itself at each try."""
    told, data = office.told("cut"), office.release("cut")
    assert told["caveats"] == {"repeated": False, "short": True, "long": False, "untranslated": False, "disordered": False}  # fmt: skip
    assert b"findings" not in data
    with opened(office.store) as store:
        page = released_page(data, "card.json", store)
    assert "less than half as long" in page
    assert "tells chrF++ to 1, composite" in page
    assert "only if chrF++ beats the best one told" in page
    best, worse = office.told("better"), office.told("copied")
    assert set(best["caveats"].values()) == {False}
    assert (worse["scores_of"], worse["caveats"]) == (best["run"], best["caveats"])


# The budget


@pytest.mark.parametrize(("headline", "value", "beaten"), [
    (CHRF, 54.91, True), (CHRF, 54.9, False), ("ter", 47.66, True), ("ter", 47.67, False),
])  # fmt: skip
def test_best_score_is_beaten_by_more_than_the_step_only(headline: str, value: float, beaten: bool) -> None:
    past = History().after(Rule(pause_hours=0), START.strftime(MOMENT))
    for run, score in (("first", 50), ("second", value)):
        asked = question("Ann", run, 100, score)
        asked = asked.model_copy(update={"card": asked.card.model_copy(update={"headline": headline})})
        past = past.after(past.answer(asked, START), START.strftime(MOMENT))
    assert past.told(ScoresTold)[-1].new is beaten


def test_best_score_is_repeated_otherwise(office: Office) -> None:
    first, again, best = (office.told(each) for each in ("poor", "slightly better", "good"))
    runs = office.runs
    assert (first["scores_of"], best["scores_of"]) == (runs["poor"], runs["good"])
    assert (again["run"], again["scores_of"]) == (runs["slightly better"], runs["poor"])
    assert (again["scores"], again["parts"]) == (first["scores"], first["parts"])
    assert [each["answer"] for each in (first, again, best)] == [1, 2, 3]
    assert again["beat_by"] == pytest.approx(4.9)
    assert (first["bits"] > 40, again["bits"]) == (True, 1)
    words = (
        f"The scores are those of run {runs['poor'][:8]}, told before: this run is not better by more than 4.9 chrF++."
    )
    facts = [[*released_words.facts(ReleasedCard.model_validate(each))] for each in (first, again, best)]
    assert [words in each for each in facts] == [False, True, False]
    refuses(NotReleased, "had all 3 answers", office.release, "better")


@pytest.mark.parametrize(("asked", "scores_of"), [
    ([("Ann", 50), ("Ann", 54.8)], [0, 0]),  # 4.9 more are needed
    ([("Ann", 50), ("Ann", 55)], [0, 1]),
    ([("Ann", 50), ("Ann", 54), ("Ann", 55)], [0, 0, 2]),  # the one of 54 was never released
    ([("Ann", 60), ("Ben", 50), "Ann, Ben", ("Ben", 56)], [0, 1, 0]),  # the best of both, not the last
    ([("Ann", 60), "Ann, Ben", "Ben, Cid", ("Cid", 62)], [0, 0]),  # by way of Ben
    ([("Ann", 60), "Ben, Cid", "ann , Ben", ("Cid", 62)], [0, 0]),
])  # fmt: skip
def test_score_is_held_against_the_best_that_was_released(asked: list[Any], scores_of: list[int]) -> None:
    past, when = (History().after(Rule(pause_hours=0), START.strftime(MOMENT)), START.strftime(MOMENT))
    for each in asked:
        if isinstance(each, str):
            past = past.after(Together(names=tuple(each.split(", "))), when)
        else:
            run = f"{len(past.answers)}"
            past = past.after(past.answer(question(each[0], run, 100, each[1]), START), when)
    assert [int(act.card.scores_of) for act in past.told(ScoresTold)] == scores_of


@pytest.mark.parametrize("order", [1, -1])
def test_most_special_rule_holds_and_then_the_latest(order: int) -> None:
    rules = [Rule(count=4), Rule(corpus="c", count=5), Rule(submitter="Ann", count=2), Rule(submitter="Ben", corpus="c", count=7)]  # fmt: skip
    past = History(tuple((START.strftime(MOMENT), rule) for rule in rules[::order]))
    counts = [past.policy(*of).count for of in (("Ann", "c"), ("Ben", "c"), ("Cid", "c"), ("Cid", "d"))]
    assert counts == [2, 7, 5, 4]
    assert past.after(Rule(corpus="c", count=6), "").policy("Cid", "c").count == 6
    assert past.after(Rule(policy="strict"), "").policy("Cid", "d").count == 1  # with all its numbers


@pytest.mark.parametrize(("entries", "half"), [(50, 6.93), (100, 4.9), (150, 4.0)])
def test_later_score_must_beat_half_of_the_set_s_interval(entries: int, half: float) -> None:
    assert expected_half(entries, (0, 100), 0) == pytest.approx(half, abs=0.01)


def test_answers_are_so_many_whatever_is_deleted(office: Office) -> None:
    office.set(Rule(count=2))
    first = office.release("poor")
    assert office.release("poor", "  ann ") == first  # the same run counts once
    assert len(office.ledger.read().answers) == 1
    office.release("slightly better")
    for run in ("poor", "slightly better"):
        office.delete(run)
    refuses(NotReleased, "had all 2 answers", office.release, "good")
    assert office.told("good", "Ben")["answer"] == 1  # two names count as two
    office.set(Together(names=("Ben", "Ann")))
    refuses(NotReleased, "had all 2 answers", office.release, "better", "Ben")
    office.set(Rule(submitter="ANN", count=4))
    assert office.told("better", "Ben")["answer"] == 4


def test_answers_to_everybody_end_too(office: Office) -> None:
    office.set(Rule(everybody=2))
    office.release("poor", "Ann")
    office.refused("good", "Ben")
    refuses(NotReleased, "rosetta vault check-up", office.release, "good", "Cid")


def test_answers_about_another_version_are_counted_alone(office: Office) -> None:
    office.set(Rule(count=1))
    office.release("poor")
    history, now = office.ledger.read(), office.now()
    refuses(NotReleased, "had all", history.require_answers, "Ann", "made", frozenset(), now)
    refuses(NotReleased, "had all", history.require_answers, "Ann", "made", history.sums[0][1], now, version="9")
    assert history.require_answers("Ann", "made", frozenset(), now, version="9") == (1, 1)


def test_answers_have_a_pause_between_them(office: Office) -> None:
    office.hours = 167.9
    office.release("poor")
    refuses(NotReleased, "7 days between two. The next one is given from 2026-03-14T23:54:00Z on", office.release, "good")  # fmt: skip
    office.hours = 0.05
    refuses(NotReleased, "next one is given from", office.refused, "good")
    office.hours = 0.1
    assert office.told("good")["answer"] == 2
    last = office.moments[-1]
    office.moments.append(last - timedelta(hours=office.hours, minutes=4))
    office.set(Rule(count=3))  # a clock that is set right by minutes: the line has the time of the one before
    assert json.loads(office.ledger.path.read_text("utf-8").splitlines()[-1])["when"] == last.strftime(MOMENT)
    office.moments.append(START - timedelta(days=9))  # a clock set back shortens no pause
    refuses(FileError, "Set the clock right", office.release, "better")


def test_clock_that_was_wrong_is_said_in_a_line_and_locks_nobody_out(office: Office) -> None:
    office.moments.append(START + timedelta(days=3650))
    office.release("poor")
    office.moments.append(START)
    refuses(FileError, "--clock-was-wrong", office.release, "good")
    office.moments.append(START)
    office.clock_was_wrong = True
    assert office.told("good")["answer"] == 2
    acts = [json.loads(line)["act"]["what"] for line in office.ledger.path.read_text().splitlines()]
    assert acts == ["begun", "told", "clock corrected", "told"]
    office.clock_was_wrong, office.hours = False, 1
    refuses(NotReleased, "7 days between two", office.release, "better")  # counted from the right time on


def test_answers_count_for_other_corpora_of_the_entries_too(office: Office) -> None:
    office.set(Rule(count=1))
    office.release("poor")
    refuses(NotReleased, "had all 1 answer", office.release, "of renamed")


def test_run_that_lacks_few_told_entries_is_not_told(office: Office) -> None:
    office.release("poor")
    refuses(NotReleased, "fewer than 5 entries", office.release, "without 4", "Ben")
    assert office.told("without 5")["corpus"]["entries"] == 95


# A method that gave nothing


def test_refusal_says_a_few_words_and_is_signed(office: Office) -> None:
    data = office.refused("good")
    told = json.loads(data)
    assert (told["stage"], told["came"]) == ("load", "most")
    assert CANARY.encode() not in data
    assert b"id-" not in data
    assert ReleasedRefusal.model_validate_json(data).is_signed_by(KEEPER.public.signing_key)
    assert {n: v for n, v in told.items() if isinstance(v, int | float)} == {"answer": 1, "of": 3}
    assert verify_released(data, UNKNOWN).ok
    assert not verify_released(data.replace(b'"load"', b'"install"'), UNKNOWN).ok
    with opened(office.store) as store:
        refuses(UsageError, "has no scores", released_page, data, "refusal.json", store)


def test_refusal_counts_as_an_answer_and_the_same_run_once(office: Office) -> None:
    office.set(Rule(count=2))
    assert office.refused("poor") == office.refused("poor")
    assert office.told("good")["answer"] == 2
    refuses(NotReleased, "had all 2 answers", office.refused, "good")
    assert json.loads(office.refused("good", "Bea"))["answer"] == 1


@pytest.mark.parametrize(("came", "word"), [(0, "none"), (1, "some"), (50, "some"), (51, "most")])
def test_refusal_says_how_far_it_came_in_three_words(
    office: Office, monkeypatch: pytest.MonkeyPatch, came: int, word: str
) -> None:
    rows = [SimpleNamespace(output="x" if n < came else None) for n in range(100)]
    monkeypatch.setattr("harness.release.releasing.read_results", lambda *_: rows)
    assert json.loads(office.refused("good"))["came"] == word


def test_what_leaves_has_the_day_alone_and_the_ledger_the_second(office: Office) -> None:
    """Code in the box can choose the second in which its run ends: it would say about ten bits of a text."""
    office.hours = 169.5
    left = [office.told("poor"), office.told("good"), office.compared("poor", "good")]
    left.append(json.loads(office.refused("better")))
    lines = office.ledger.path.read_text("utf-8").splitlines()
    moments = [json.loads(line)["when"] for line in lines if json.loads(line)["act"].get("card")]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", each) for each in moments)
    assert [each["issued"] for each in left] == [each[:10] for each in moments]
    assert not any(re.search(r"\d\d:\d\d", json.dumps(each)) for each in left)


# Differences


def test_difference_of_two_told_runs_is_one_word(office: Office) -> None:
    office.release("poor", "Ann")
    office.release("good", "Ben")
    told, back = office.compared("poor", "good"), office.compared("good", "poor")
    assert (told["verdict"], back["verdict"]) == ("better", "worse")
    assert (told["metric"], told["submitters"]) == (CHRF, ["Ann", "Ben"])
    assert {name for name, _ in numbers(told)} <= {"entries", "line", "smallest_difference"}
    data = json.dumps(told).encode()
    assert ReleasedDifference.model_validate_json(data).is_signed_by(told["by"])
    history = office.ledger.read()
    assert [len(history.told(ScoresTold, n)) for n in ("Ann", "Ben")] == [1, 1]
    assert office.compared("poor", "good") == told  # and counts once
    bits = {use.names: use.bits for use in released_words.uses(history)}
    assert bits == {(act.submitter,): act.card.bits + 2 * 2 for act in history.told(ScoresTold)}  # two words of three
    office.set(Rule(count=2))
    office.release("slightly better", "Cid")
    refuses(NotReleased, "all 2 differences", office.compared, "poor", "slightly better")


def test_runs_that_hardly_differ_cannot_be_told_apart(office: Office) -> None:
    office.release("first half better", "Ann")
    office.release("second half better", "Ben")
    assert office.compared("first half better", "second half better")["verdict"] == "cannot be told apart"


def test_difference_from_a_run_that_was_not_told_is_not_told(office: Office) -> None:
    office.release("poor")
    refuses(NotReleased, "were not told", office.compared, "poor", "good")
    office.release("slightly better")  # the best was repeated
    refuses(NotReleased, "were not told", office.compared, "poor", "slightly better")


def test_difference_on_few_entries_is_not_told(office: Office) -> None:
    office.release("good", "Ann")
    office.release("good but for 4", "Ben")
    refuses(NotReleased, "differ on 4 secret entries only", office.compared, "good", "good but for 4")


@pytest.fixture(scope="module")
def demo() -> list[Entry]:
    return list(load(str(files("corpora.samples").joinpath("eo-demo-v1.json"))).reveal_here())


def test_smallest_difference_halves_with_four_times_the_entries(demo: list[Entry]) -> None:
    assert pytest.approx(2.8016) == Z_BOTH  # 1.959964 + 0.841621, of a normal table
    once, four_times = smallest_difference(demo), smallest_difference(demo * 4)
    assert 5 < once < 12
    assert four_times == pytest.approx(once / 2, rel=0.15)
    assert smallest_difference(demo) == once


def test_smallest_difference_is_said_of_segments_with_enough(demo: list[Entry]) -> None:
    segments = [Segment.GOLD_STANDARD] * 40 + [Segment.HELD_OUT] * (FEWEST - 1)
    segments += [Segment.DEVELOPMENT] * (len(demo) - len(segments))
    entries = [e.model_copy(update={"segment": s}) for e, s in zip(demo, segments, strict=True)]
    found = by_segment(entries)
    assert list(found) == [Segment.GOLD_STANDARD]
    assert found[Segment.GOLD_STANDARD][0] == 40
    assert smallest_difference(entries[: FEWEST - 1]) is None
    assert smallest_difference([e.model_copy(update={"of_task": "qa"}) for e in entries]) is None


# The ledger


def test_ledger_with_a_changed_byte_or_line_is_refused(office: Office) -> None:
    office.release("poor")
    office.set(Rule(count=3))
    whole = office.ledger.path.read_bytes()
    for place, changed in with_a_changed_byte(whole, times(331, 1)):
        if changed.count(b"\n") != whole.count(b"\n") and whole.endswith(b"\n", 0, place + 1):
            continue  # the end of a line: what is behind the last one does not count
        office.ledger.path.write_bytes(changed)
        refuses(FileError, "", office.ledger.read)
    lines = whole.splitlines(keepends=True)
    for wrong in ([lines[0], *lines[2:]], [*lines, lines[-1]], lines[1:]):
        office.ledger.path.write_bytes(b"".join(wrong))
        refuses(FileError, "", office.release, "good")
    office.ledger.path.write_bytes(whole)
    other = ReleaseLedger(office.ledger.folder, Identity.make(Role.KEEPER), office.now)
    refuses(FileError, "begun with other keys", office.release, "good", ledger=other)


def test_ledger_left_half_written_tells_nothing_twice(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("harness.release.releasing.signed_record", killed)
        refuses(KeyboardInterrupt, "", office.release, "poor")
    first = office.release("poor")  # it was counted and not given
    assert (json.loads(first)["answer"], json.loads(first)["place"]["line"]) == (1, 1)
    whole = office.ledger.path.read_bytes()
    office.ledger.path.write_bytes(whole + b'{"act":{"wh')  # power went
    assert len(office.ledger.read().answers) == 1

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        refuses(FileError, "nothing is released", office.release, "good")
    assert office.told("good")["answer"] == 2
    assert office.release("poor") == first


def test_ledger_holds_no_text_and_confirms_no_guess(office: Office) -> None:
    office.release("poor")
    content = office.ledger.path.read_bytes()
    assert CANARY.encode() not in content
    assert office.ledger.digest(SET[0].source).encode() in content
    other = ReleaseLedger(office.folder, Identity.make(Role.KEEPER), office.now)
    assert other.digest(SET[0].source).encode() not in content
