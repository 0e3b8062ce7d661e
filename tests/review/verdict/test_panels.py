"""From events to a panel: who counts, for what, and what became of flags."""

from random import Random
from typing import Any

import pytest

from harness.core.failures import UsageError
from review.log.event import Event
from review.log.payloads import Adjudicate, Consent, Face, HarmFlag, NotJudged, Rate, Undo
from review.rating import CannotJudge, Rating
from review.verdict.gate.adjudication import Case, queue
from review.verdict.panel.key import AnswerKey, ControlKind, KeyItem, KeyRun
from review.verdict.panel.panel import Harm, Panel, not_shown, panel_of
from tests.review.thorough import times
from tests.review.verdict import histories
from tests.review.verdict.histories import ORGANISATION, WALL, Chain, evidence_of

BATCH = "b" * 16
A, B, STRANGER = "AAAAAAAA", "BBBBBBBB", "ZZZZZZZZ"
ONE, TWO, OTHER, BAD, AGAIN = (f"{n:016x}" for n in range(5))


def key(**more: Any) -> AnswerKey:
    items = {
        ONE: KeyItem(run_id="r1", entry=1, stratum=1),
        TWO: KeyItem(run_id="r1", entry=2, stratum=2),
        OTHER: KeyItem(run_id="r2", entry=1, stratum=1),
        BAD: KeyItem(run_id=None, entry=1, stratum=1, control=ControlKind.BAD, partner=ONE),
        AGAIN: KeyItem(run_id="r1", entry=2, stratum=2, control=ControlKind.REPEAT, partner=OTHER),
    }
    facts = {"dataset_id": "d", "language_pair": "EN→EO", "segments": {"gold_standard": 2}}
    card = {"run_card_hash": "1" * 64, "strata": {1: 30, 2: 10}}
    told = {
        "review": "demo", "batches": (BATCH,), "batch_sha256": {BATCH: "0" * 64}, "items": items,
        "runs": [KeyRun(run_id=run, **card, **facts) for run in ("r1", "r2")],
        "core": (ONE, OTHER), "orders": {A: tuple(items), B: tuple(items)}, "seed": 1, "panel": "",
    }  # fmt: skip
    return AnswerKey.model_validate(told | more)


class Laptop(Chain):
    """A chain on which people say things in few words."""

    def __init__(self, device: str | None = None) -> None:
        super().__init__(Random(1), device)

    def agree(self, who: str) -> None:
        self.write(
            Consent(
                wall=WALL, reviewer=who, batch=BATCH, consent_sha256="c" * 64, language="en",
                share_corrections=False,
            )
        )  # fmt: skip

    def rate(self, who: str, item: str, rating: Rating, ms: int = 1000) -> Event:
        return self.write(Rate(rating=rating, **self._judged(who, item, ms)))

    def cannot(self, who: str, item: str, why: CannotJudge = CannotJudge.UNSAID) -> None:
        self.write(NotJudged(why=why, **self._judged(who, item, 1)))

    def flag(self, who: str, item: str, harmful: bool = True) -> None:
        self.write(HarmFlag(wall=WALL, reviewer=who, batch=BATCH, item=item, harmful=harmful))

    def decide(self, item: str, harmful: bool | None) -> None:
        self.write(Adjudicate(wall=WALL, batch=BATCH, item=item, harmful=harmful, note=""))

    def _judged(self, who: str, item: str, ms: int) -> dict[str, Any]:
        return {
            "wall": WALL, "reviewer": who, "batch": BATCH, "item": item, "position": 0,
            "active_ms": ms, "face": Face.LINES, "version": "0",
        }  # fmt: skip


def panel(*chains: Laptop, run: str = "r1", look: int = 1) -> Panel:
    events = [event for chain in chains for event in chain.events]
    evidence = evidence_of(key(), events)
    return panel_of(evidence.state, evidence.key, run, look)


def cases(laptop: Laptop) -> list[Case]:
    evidence = evidence_of(key(), laptop.events)
    return queue(evidence.state, evidence.key)


def test_only_real_items_of_the_run_are_its_ratings() -> None:
    laptop = Laptop()
    laptop.agree(A)
    for place, item in enumerate((BAD, ONE, OTHER, AGAIN, TWO)):
        laptop.rate(A, item, Rating.GIST if item == BAD else Rating.EXCELLENT, 100 * place)
    found = panel(laptop)
    assert found.strata == {ONE: 1, TWO: 2}
    assert found.weights == {1: 0.75, 2: 0.25}
    assert found.ratings == {A: {ONE: 3, TWO: 3}}
    assert found.core == {ONE}
    assert found.control_ratings == {A: {BAD: 1, AGAIN: 3}}
    assert found.partner_ratings == {A: {ONE: 3, OTHER: 3}}
    assert found.sequences == {A: (1, 3, 3, 3, 3)}
    assert found.times_ms == {A: (0, 100, 200, 300, 400)}
    assert panel(laptop, run="r2").ratings == {A: {OTHER: 3}}
    with pytest.raises(UsageError, match="no run 'r9'"):
        panel(Laptop(), run="r9")


def test_who_did_not_agree_or_was_not_asked_does_not_count() -> None:
    laptop = Laptop()
    laptop.agree(STRANGER)
    for who in (A, STRANGER):
        laptop.rate(who, ONE, Rating.EXCELLENT)
        laptop.flag(who, ONE)
    found = panel(laptop)
    assert (found.ratings, found.harm, found.sequences) == ({}, {}, {})
    laptop = Laptop()
    laptop.agree(A)
    laptop.cannot(A, TWO)  # which is no rating
    found = panel(laptop)
    assert (found.ratings, found.cannot_judge) == ({}, {A: frozenset({TWO})})


def test_what_no_laptop_could_show_is_told_of_its_run_alone() -> None:
    laptop = Laptop()
    for who in (A, B, STRANGER):
        laptop.agree(who)
    for item in (ONE, OTHER, BAD, AGAIN):
        laptop.cannot(A, item, CannotJudge.NOT_SHOWN)
    laptop.cannot(STRANGER, TWO, CannotJudge.NOT_SHOWN)
    laptop.cannot(B, TWO)
    evidence = evidence_of(key(), laptop.events)
    assert not_shown(evidence.state, evidence.key, "r1") == {ONE: False}
    laptop.rate(B, ONE, Rating.REJECT)
    evidence = evidence_of(key(), laptop.events)
    assert not_shown(evidence.state, evidence.key, "r1") == {ONE: True}
    laptop.rate(A, ONE, Rating.REJECT)  # on another laptop it could be seen
    evidence = evidence_of(key(), laptop.events)
    assert not_shown(evidence.state, evidence.key, "r1") == {}


def test_an_undone_rating_gives_way_to_the_one_before() -> None:
    laptop = Laptop()
    laptop.agree(A)
    laptop.rate(A, ONE, Rating.REJECT)
    last = laptop.rate(A, ONE, Rating.EXCELLENT)
    laptop.write(Undo(wall=WALL, reviewer=A, batch=BATCH, target=last.id))
    assert panel(laptop).ratings == {A: {ONE: 0}}


@pytest.mark.parametrize(
    ("said", "become"),
    [((), Harm.FLAGGED), ((True,), Harm.UPHELD), ((True, False), Harm.CLEARED), ((None,), Harm.FLAGGED)],
    ids=["open", "upheld", "last word", "only a note"],
)  # fmt: skip
def test_what_became_of_a_flag(said: tuple[bool | None, ...], become: Harm) -> None:
    laptop, office = Laptop(), Laptop(ORGANISATION)
    laptop.agree(A)
    laptop.flag(A, ONE)
    laptop.flag(A, BAD)
    for harmful in said:
        office.decide(ONE, harmful)
    assert panel(laptop, office).harm == {ONE: become}


def test_a_flag_on_a_second_showing_is_one_on_the_first() -> None:
    laptop, office = Laptop(), Laptop(ORGANISATION)
    laptop.agree(A)
    laptop.agree(B)
    laptop.flag(A, AGAIN)  # a second showing of an item of the other run
    laptop.flag(A, BAD)
    assert panel(laptop).harm == {}
    found = panel(laptop, run="r2")
    assert found.harm == {OTHER: Harm.FLAGGED}
    assert found.flagged_controls == {BAD}
    laptop.flag(A, OTHER)
    [case] = cases(laptop)
    assert (case.item, case.flags) == (OTHER, 1)  # once, and by one person
    laptop.flag(B, AGAIN)
    assert [case.flags for case in cases(laptop)] == [2]
    office.decide(OTHER, False)
    assert panel(laptop, office, run="r2").harm == {OTHER: Harm.CLEARED}


def test_a_flag_taken_back_is_none_but_what_was_upheld_stays() -> None:
    laptop, office = Laptop(), Laptop(ORGANISATION)
    laptop.agree(A)
    for item in (ONE, TWO):
        laptop.flag(A, item)
        laptop.flag(A, item, harmful=False)
    laptop.flag(A, ONE)
    laptop.decide(ONE, False)  # only the organisation decides
    assert panel(laptop).harm == {ONE: Harm.FLAGGED}
    laptop.flag(A, ONE, harmful=False)
    office.decide(TWO, True)
    assert panel(laptop, office).harm == {TWO: Harm.UPHELD}


def test_the_order_of_arrival_changes_nothing() -> None:
    for seed in range(times(1, 5)):
        rng = Random(seed)
        shape = histories.random_shape(rng)
        made = histories.make_key(rng, shape)
        events = histories.make_events(rng, shape, made)
        panels = []
        for _ in range(3):
            rng.shuffle(events)
            state = evidence_of(made, [*events, *events[:9]]).state
            panels.append(panel_of(state, made, histories.RUN, 1))
        assert panels[0] == panels[1] == panels[2]
