"""Whoever has all certificates of a run, its released card and how it differs from others: what that tells of one rating.

The gate, its policy, the ledger's rules and the steps are the real ones; reviews are drawn by chance, and ratings come in
between two certificates: one, some, or all of a person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.card.withholding import set_id
from harness.core.failures import HarnessError
from harness.release.budget import MOMENT, History, NotReleased
from harness.release.ledger_records import CertificateTold, Rule, ScoresTold
from review.office.results.disclosure import (
    STRATUM,
    CertificateQuestion,
    certificate_answer,
    certificate_question,
    last_certificate,
    require_scores_told,
)
from review.verdict.certificate.certify import without_names
from review.verdict.certificate.coarse import CoarseVerdict, coarse_verdict, in_steps, step_for
from review.verdict.certificate.evidence import Evidence
from review.verdict.gate.gate import decide_gate
from review.verdict.gate.panel import Panel
from review.verdict.gate.policy import proposed
from review.verdict.gate.verdict import GateOutcome
from rosetta_tui.show.released_words import uses
from tests.harness.release.attackers import START, Board
from tests.harness.sealed.refusals import refuses
from tests.review.attacks.ground import verified
from tests.review.thorough import times
from tests.review.verdict.certified import GO, asked_alone, issue, packed, review_of

TRIES = times(10, 3_400)
POLICY = proposed()[0]
ACCEPTABLE = 2
Ratings = dict[str, dict[str, int]]


@dataclass
class World:
    random: Random
    guarded: bool = True
    """Whether the ledger is asked."""
    ratings: Ratings = field(default_factory=dict)
    strata: dict[str, int] = field(default_factory=dict)
    quality: dict[str, float] = field(default_factory=dict)
    """Item → chance of each rating to be acceptable; automatic scores follow it too."""
    history: History = field(default_factory=History)
    told: list[CoarseVerdict] = field(default_factory=list)
    sums: list[dict[str, float]] = field(default_factory=list)
    """Of each share that was told, exactly: an item with its ratings → its weight."""
    outcomes: list[str] = field(default_factory=list)

    @classmethod
    def drawn(cls, seed: int, *, guarded: bool = True) -> World:
        random = Random(seed)
        made = cls(random, guarded)
        level, difficulties = random.uniform(0.4, 0.95), random.choice((1, 2, 3))
        for n in range(random.randint(50, 70)):
            made.strata[f"i{n}"] = 1 + n % difficulties
            made.quality[f"i{n}"] = min(1.0, max(0.0, random.gauss(level, 0.2)))
        for who in range(random.randint(3, 5)):
            made.rate(f"p{who}", list(made.strata))
        return made

    def rate(self, who: str, items: list[str]) -> None:
        said = self.ratings.setdefault(who, {})
        for item in items:
            good = self.random.random() < self.quality[item]
            said[item] = (2 if good else 0) + self.random.randint(0, 1)

    def panel(self) -> Panel:
        counts = {h: list(self.strata.values()).count(h) for h in set(self.strata.values())}
        weights = {h: count / len(self.strata) for h, count in counts.items()}
        return Panel(self.strata, weights, self.ratings, core=frozenset(self.strata))

    def certify(self, day: int) -> CoarseVerdict | None:
        """Ask for a certificate; None where nothing leaves."""
        panel = self.panel()
        verdict = decide_gate(panel, POLICY)
        if verdict.outcome is GateOutcome.INSUFFICIENT:
            return None
        counted = {who: self.ratings[who] for who in verdict.numbers.reviewers}
        if not self.guarded:
            self._note(counted, panel.weights, set(map(str, panel.weights)))
            return None
        asked = certificate_question("run", "corpus", counted, self.strata, digest)
        when = START + timedelta(days=day)
        try:
            answer = certificate_answer(self.history, asked, when)
        except NotReleased:
            return None
        act = CertificateTold(
            submitter=asked.submitter, run="run", corpus="corpus", entries=set_id(asked.entries),
            atoms=None if answer.atoms is None else dict(answer.atoms), certificate="", signature="0" * 128,
        )  # fmt: skip
        self.history = self.history.after(act, when.strftime(MOMENT))
        chosen = {tag for name, tag in answer.parts if name == STRATUM}
        self.told.append(coarse_verdict(without_names(verdict), chosen))
        self._note(counted, panel.weights, chosen)
        return self.told[-1]

    def _note(self, counted: Ratings, weights: Mapping[int, float], chosen: set[str]) -> None:
        """Keep what each share that was told is a sum of, with its weights."""
        items = {item for said in counted.values() for item in said}
        of = {h: [item for item in items if self.strata[item] == h] for h in weights}
        names = {
            item: f"{item} {sorted((who, said[item]) for who, said in counted.items() if item in said)}"
            for item in items
        }
        total = sum(weights[h] for h in of if of[h])
        self.sums.append({names[i]: weights[h] / total / len(of[h]) for h in of for i in of[h]})
        self.sums += [{names[i]: 1 / len(of[int(h)]) for i in of[int(h)]} for h in chosen]


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]


def grow(world: World) -> None:
    """Let ratings come in: one, a few, many, a whole person's, or somebody takes all back."""
    people, items = sorted(world.ratings), sorted(world.strata)
    match world.random.randrange(5):
        case 0:
            world.rate(world.random.choice(people), [world.random.choice(items)])
        case 1:
            world.rate(world.random.choice(people), world.random.sample(items, 4))
        case 2:
            world.rate(world.random.choice(people), world.random.sample(items, 30))
        case 3:
            world.rate(f"q{world.random.random()}", items)
        case _ if len(people) > 3:
            del world.ratings[world.random.choice(people)]


def found_out(sums: list[dict[str, float]]) -> list[list[str]]:
    """Return the groups of fewer than five items of which some combination of sums tells alone.

    Items are of one group where each sum has both with one weight and the same ratings as in each other sum, or neither.
    Without their columns such a combination is nothing, so the sums have a lower rank then.
    """
    names = sorted({name for each in sums for name in each})
    matrix = np.array([[each.get(name, 0.0) for name in names] for each in sums])
    columns: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        columns.setdefault(name.partition(" ")[0], []).append(place)
    alike: dict[Any, list[str]] = {}
    for item, places in columns.items():
        pattern = sorted(tuple(np.round(matrix[:, place], 9)) for place in places)
        alike.setdefault(tuple(pattern), []).append(item)
    rank = np.linalg.matrix_rank(matrix)
    return [
        items
        for items in alike.values()
        if len(items) < 5
        and np.linalg.matrix_rank(np.delete(matrix, [place for item in items for place in columns[item]], axis=1))
        < rank
    ]


def test_no_combination_of_certificates_is_about_few_items() -> None:
    told, fewer, alone = 0, 0, 0
    for seed in range(TRIES):
        world, open_world = certified(seed, guarded=True), certified(seed, guarded=False)
        if world.sums:
            assert found_out(world.sums) == [], seed
        told += len(world.told)
        fewer += len(world.told) < 4
        alone += bool(open_world.sums) and bool(found_out(open_world.sums))
    assert told > TRIES  # more than one of a run, or nothing could be subtracted
    assert fewer > TRIES / 4
    assert alone > TRIES / 4  # and if each were told, they would give single ratings away


def certified(seed: int, *, guarded: bool) -> World:
    world = World.drawn(seed, guarded=guarded)
    for day in range(4):
        world.certify(day * 2)
        grow(world)
    return world


def guess(seed: int, *, exact: bool) -> tuple[bool | None, bool]:
    """Guess whether a rating that came late is acceptable, from all that was told; gives the guess and the truth.

    Told are a certificate before and one after, and the released cards of the run and of one that fails on the item.
    None where nothing that is told differs.
    """
    world = World.drawn(seed)
    item, who = world.random.choice(sorted(world.strata)), "p0"
    before_rating = world.ratings[who].pop(item)
    before, first = world.certify(0), shares(world)
    others = world.random.choice((0, 0, 5, 30))
    world.rate(who, world.random.sample(sorted(set(world.strata) - {item}), others))
    world.ratings[who][item] = before_rating
    after, second = world.certify(2), shares(world)
    truth = before_rating >= ACCEPTABLE
    if exact:
        rise = second - first
    elif before is None or after is None:
        rise = 0.0
    else:
        rise = float(after.share.value) - float(before.share.value)
    scores = np.array([100 * quality for quality in world.quality.values()])
    failed = scores.copy()
    failed[sorted(world.quality).index(item)] = 0
    board = Board(len(scores), exact=False)
    cards = [board.told("Ann", name, each) for name, each in (("failed", failed), ("whole", scores))]
    if rise:
        return rise > 0, truth
    return (None if None in cards or cards[0] == cards[1] else True), truth


def shares(world: World) -> float:
    share: Any = decide_gate(world.panel(), POLICY).numbers.share
    return float(share or 0)


def test_late_rating_is_guessed_no_better_by_certificates() -> None:
    """Against as many guesses about ratings of other reviews, so that what is common counts nothing."""
    mine = [guess(seed, exact=False) for seed in range(TRIES)]
    hits = sum(said is truth for said, truth in mine if said is not None)
    guesses = [said for said, _ in mine if said is not None]
    good = sum(truth for _, truth in mine) / len(mine)
    chance = sum(good if said else 1 - good for said in guesses)
    assert abs(hits - chance) <= 3 * np.sqrt(len(guesses) / 4 + 1)


def test_one_rating_alone_brings_no_new_certificate() -> None:
    exact = 0
    for seed in range(TRIES):
        world = World.drawn(seed)
        first, known = world.certify(0), shares(world)
        item = world.random.choice(sorted(world.strata))
        world.ratings["p0"][item] = 0 if world.ratings["p0"][item] >= ACCEPTABLE else 3
        exact += shares(world) != known
        assert first is None or world.certify(2) is None
    assert exact > TRIES * 0.9


# Which certificates of one run are told, by rule

Rated = dict[str, dict[str, int]]


def question(rated: Rated, strata: dict[str, int] | None = None) -> CertificateQuestion:
    """Ask for a certificate of items, each with its ratings by person."""
    people = {who for said in rated.values() for who in said}
    ratings = {who: {i: said[who] for i, said in rated.items() if who in said} for who in people}
    of = strata or dict.fromkeys(rated, 1)
    return certificate_question("run", "corpus", ratings, of, digest)


def told_after(history: History, asked: CertificateQuestion, when: datetime) -> History:
    answer = certificate_answer(history, asked, when)
    act = CertificateTold(
        submitter=asked.submitter, run=asked.run, corpus=asked.corpus, entries=set_id(asked.entries),
        atoms=None if answer.atoms is None else dict(answer.atoms), certificate=f"{answer.number}", signature="0" * 128,
    )  # fmt: skip
    return history.after(act, when.strftime(MOMENT))


def ratings(items: int, people: int = 3) -> Rated:
    return {f"i{n}": {f"p{who}": (n + who) % 4 for who in range(people)} for n in range(items)}


@pytest.mark.parametrize(("changed", "allowed"), [(0, True), (1, False), (4, False), (5, True), (20, True), (16, False)])  # fmt: skip
def test_second_certificate_has_five_changed_entries_or_none(changed: int, allowed: bool) -> None:
    """Of 20: 16 changed leave 4 that did not."""
    before = told_after(History(), question(ratings(20)), START)
    after = ratings(20)
    for item in list(after)[:changed]:
        after[item] = after[item] | {"p0": (after[item]["p0"] + 1) % 4}
    later = START + timedelta(days=2)
    if allowed:
        assert last_certificate(told_after(before, question(after), later), "run") is not None
    else:
        refuses(NotReleased, "fewer than 5 entries", told_after, before, question(after), later)


def test_a_difficulty_of_few_items_is_left_out_with_another_one() -> None:
    strata = {f"i{n}": 1 if n < 10 else 2 if n < 20 else 3 for n in range(23)}
    answer = certificate_answer(History(), question(ratings(23), strata), START)
    assert answer.parts == {(STRATUM, "1")}


def test_item_is_another_where_its_difficulty_weighs_otherwise() -> None:
    """The share of all is weighed by difficulties: one more item changes what each of its difficulty adds to it."""
    strata = {f"i{n}": 1 if n < 10 else 2 for n in range(20)} | {"i20": 1}
    before, after = question(ratings(20), strata), question(ratings(21), strata)
    assert before.entries & after.entries == before.entries_of[STRATUM, "2"]


def test_certificate_counts_for_its_run_with_a_pause() -> None:
    history = told_after(History(), question(ratings(20)), START)
    more, soon = question(ratings(20, 4)), START + timedelta(hours=23)
    refuses(NotReleased, "from 2026-01-02T00:00:00Z on", certificate_answer, history, more, soon)
    answer = certificate_answer(history, more, START + timedelta(hours=24))
    assert (answer.number, answer.of, answer.supersedes) == (2, 10, sha256(b"1").hexdigest())
    spent = history.after(Rule(count=1), MOMENT)
    late = START + timedelta(days=9)
    refuses(NotReleased, "had all 1 answer", certificate_answer, spent, more, late)
    [use] = uses(history)
    assert (use.names, use.answers) == (("certificates of run run",), 1)
    # another run, and the scores, have a budget of their own
    assert history.told(ScoresTold, "Ann") == []
    assert last_certificate(history, "other") is None


# Steps


@pytest.mark.parametrize(("half", "step"), [
    (0.1, 0.1), (0.10001, 0.2), (0.049, 0.05), (0.051, 0.1), (0.02, 0.025), (0.009, 0.0125), (0.03, 0.05), (0.1001, 0.2),
])  # fmt: skip
def test_step_is_not_below_half_of_the_interval(half: float, step: float) -> None:
    assert step_for(half) == pytest.approx(step)


@given(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6))
def test_step_is_a_multiple_of_any_smaller_one(half: float, other: float) -> None:
    steps = sorted([step_for(half), step_for(other)])
    assert steps[1] / steps[0] == pytest.approx(round(steps[1] / steps[0]))
    assert half * (1 - 1e-6) <= step_for(half) < half * 2 * (1 + 1e-6)


def test_share_is_no_finer_than_its_items_support() -> None:
    assert in_steps(0.5, 0.499, 0.501, 96) == (0.5, 0.4, 0.6, 0.1)  # 1.96 * 0.25 / sqrt(96) = 0.05001
    assert in_steps(0.83, 0.70, 0.91, 60) == (0.8, 0.6, 1.0, 0.2)
    assert in_steps(0.75, 0.6, 0.8, 60) == (0.8, 0.6, 1.0, 0.2)  # 0.6 / 0.2 is 2.9999999999999996 in binary
    for value in (0.0, 1.0):  # a rate of none or all is not told as such
        _, lower, upper, step = in_steps(value, value, value, 60)
        assert upper - lower == pytest.approx(step)


def test_certificate_is_told_after_the_scores_only() -> None:
    refuses(NotReleased, "rosetta runs export", require_scores_told, History(), "run")


def tampered(evidence: Evidence, rng: Random) -> Evidence:
    """Return evidence in which something that others signed, or that a signature covers, is changed at random."""
    laptops, events = list(evidence.handed_over), list(evidence.events)
    place = rng.randrange(len(laptops))
    match rng.randrange(9):
        case 0:
            del laptops[place]
        case 1:
            signature = bytearray(laptops[place].signature)
            signature[rng.randrange(64)] ^= 1
            laptops[place] = replace(laptops[place], signature=bytes(signature))
        case 2:
            laptops[place] = laptops[rng.randrange(len(laptops))]
        case 3:
            del events[rng.randrange(len(events))]
        case 4:
            rated = rng.choice([at for at, event in enumerate(events) if event.kind == "rate"])
            events[rated] = events[rated].erased()
        case 5:
            laptops.append(rng.choice(list(evidence.batches.values())))
        case 6:
            kind = rng.choice(("consent", "undo", "harm"))
            events = [event for event in events if event.kind != kind]
        case 7:
            laptops.reverse()  # their order has no meaning
        case _:
            key = evidence.key.model_copy(update={"seed": rng.randrange(7)})
            return replace(evidence, key=key)
    return replace(evidence, handed_over=tuple(laptops), events=tuple(events))


@pytest.mark.usefixtures("honest_part")
def test_both_programs_agree_on_random_tampering(tmp_path: Path) -> None:
    """The organiser certifies the changed evidence, so that all the rest fits."""
    path, outcomes = tmp_path / "x.rosetta-evidence", Counter[bool]()
    for seed in range(times(12, 400)):
        rng = Random(seed)
        shape = replace(GO, mischief=float(seed % 4 == 1), apart=bool(seed % 2))
        evidence = tampered(review_of(1, shape), rng)
        try:
            file = issue(evidence)
        except HarnessError:
            continue  # too little is left to certify
        holds = verified(file).ok
        assert (asked_alone(packed(file, path))[0] == 0) is holds, seed
        outcomes[holds] += 1
    assert outcomes[True]
    assert outcomes[False] > outcomes.total() / 2
