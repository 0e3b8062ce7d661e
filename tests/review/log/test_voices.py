"""Whose events count where several laptops speak for one person, and where one was taken out."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from review.log.event import Event
from review.log.fold import ReviewerState, State, fold
from review.log.merge import FAR, AssignedLaptops, far_ahead, heard
from review.log.payloads import AnyPayload, AssignLaptop, Consent, HarmFlag, LaptopWord, Scope
from review.rating import Rating
from tests.review.log.material import (
    ANN,
    BATCH,
    BEN,
    ITEMS,
    OTHER_BATCH,
    WALL,
    Device,
    chain,
    comment,
    rate,
    undo,
    who,
    withdraw,
)

OFFICE, FIRST, SECOND, THIRD = (letter * 16 for letter in "0123")
KEYS = {device: device[:1] * 64 for device in (OFFICE, FIRST, SECOND, THIRD)}
PLACE = (BATCH, ANN)


def agreed(reviewer: str = ANN) -> Consent:
    return Consent(**who(reviewer), consent_sha256="c" * 64, language="en", share_corrections=True)


def flag(harmful: bool = True) -> HarmFlag:
    return HarmFlag(**who(), item=ITEMS[0], harmful=harmful)


def speaks(*devices: str, person: str = ANN) -> AssignLaptop:
    laptops = tuple(KEYS[device] for device in devices)
    return AssignLaptop(wall=WALL, batch=BATCH, reviewer=person, laptops=laptops)


def word(device: str, *, counts: bool = True, before: str | None = None) -> LaptopWord:
    return LaptopWord(
        wall=WALL, batch=BATCH, laptop=KEYS[device], heard=counts, reason="not ours",
        instead_of=KEYS[before] if before else None,
    )  # fmt: skip


def said(*chains: Iterable[Event], batches: Iterable[str] = (BATCH,)) -> tuple[State, AssignedLaptops]:
    """Weigh and fold, in several orders of arrival, which must not matter."""
    events = [event for each in chains for event in each]
    found = []
    for seed in range(4):
        Random(seed).shuffle(events)
        counted, voices = heard(events, KEYS, {OFFICE}, set(batches))
        found.append((fold(counted, set(batches)), voices))
    assert all(each == found[0] for each in found)
    return found[0]


def ann(state: State) -> ReviewerState:
    return state.reviewers.get(PLACE, ReviewerState())


def ratings(state: State) -> dict[int, Rating | None]:
    return {ITEMS.index(item): said.rating for item, said in ann(state).judgements.items()}


HONEST = chain(agreed(), rate(0, Rating.REJECT), rate(1, Rating.GIST), name=FIRST)
OTHER = chain(agreed(), rate(0, Rating.EXCELLENT), comment(0, "mine"), name=SECOND)


def office(*words: AnyPayload) -> list[Event]:
    return chain(*words, name=OFFICE)


def test_of_two_laptops_neither_counts_until_decided() -> None:
    state, voices = said(HONEST, OTHER)
    assert (ann(state).consented, ratings(state), ann(state).comments) == (True, {}, {})
    assert voices.several == {PLACE: ()}
    assert voices.waiting == (PLACE,)
    assert voices.speakers == {PLACE: (KEYS[FIRST], KEYS[SECOND])}


def test_laptops_that_are_named_speak() -> None:
    for devices, expected in (
        ((FIRST,), {0: Rating.REJECT, 1: Rating.GIST}),
        ((SECOND,), {0: Rating.EXCELLENT}),
        ((THIRD,), {}),
        ((FIRST, SECOND), {0: Rating.EXCELLENT, 1: Rating.GIST}),
    ):
        state, voices = said(HONEST, OTHER, office(speaks(*devices)))
        assert ratings(state) == expected
        assert voices.several == {PLACE: tuple(KEYS[device] for device in devices)}
        assert not voices.waiting


def test_last_decision_of_the_organisation_alone_counts() -> None:
    later = office(speaks(SECOND), speaks(FIRST))
    assert ratings(said(HONEST, OTHER, later)[0]) == {0: Rating.REJECT, 1: Rating.GIST}
    forged = chain(speaks(SECOND), word(FIRST, counts=False), name=SECOND)
    state, voices = said(HONEST, forged, OTHER[:0])
    assert ratings(state) == {0: Rating.REJECT, 1: Rating.GIST}
    assert not voices.removed
    there = [*HONEST, *chain(agreed(), rate(0, Rating.GIST, batch=OTHER_BATCH), name=SECOND)]
    state, voices = said(there, batches=(BATCH, OTHER_BATCH))
    assert not voices.several
    assert ratings(state) == {0: Rating.REJECT, 1: Rating.GIST}


def test_shared_computer_or_a_word_beside_is_no_clash() -> None:
    third = chain(agreed(), rate(0, Rating.GIST), name=THIRD)  # comes after the decision
    state, voices = said(HONEST, third, office(speaks(FIRST)))
    assert ratings(state) == {0: Rating.REJECT, 1: Rating.GIST}
    assert voices.several == {PLACE: (KEYS[FIRST],)}
    bens = (agreed(BEN), rate(0, Rating.REJECT, reviewer=BEN))
    state, voices = said(chain(agreed(), rate(0, Rating.GIST), *bens, name=FIRST))
    assert (ratings(state), set(voices.speakers)) == ({0: Rating.GIST}, {PLACE, (BATCH, BEN)})
    assert not voices.several
    moved = {**KEYS, SECOND: KEYS[FIRST]}
    counted, voices = heard([*HONEST, *OTHER], moved, {OFFICE}, {BATCH})
    assert not voices.several
    assert len(counted) == len(HONEST) + len(OTHER)
    other = chain(agreed(), comment(0, "well"), name=SECOND)
    state, voices = said(HONEST, other)
    assert ratings(state) == {0: Rating.REJECT, 1: Rating.GIST}
    assert not voices.several


def test_a_laptop_that_came_instead_of_another_is_the_same() -> None:
    for words in ([(SECOND, FIRST)], [(THIRD, FIRST), (SECOND, THIRD)]):
        told = office(*(word(new, before=old) for new, old in words))
        state, voices = said(HONEST, OTHER, told)
        assert ratings(state) == {0: Rating.EXCELLENT, 1: Rating.GIST}
        assert not voices.several
        named = office(*(word(new, before=old) for new, old in words), speaks(FIRST))
        assert ratings(said(HONEST, OTHER, named)[0]) == {0: Rating.EXCELLENT, 1: Rating.GIST}


@pytest.mark.parametrize(
    "acts",
    [lambda target: [undo(target)], lambda target: [flag()], lambda target: [rate(3, Rating.GIST)]],
    ids=["undo", "harm", "an item that nobody rated"],
)
def test_whatever_decides_something_is_a_clash(acts: Any) -> None:
    other = chain(*acts(HONEST[1]), name=SECOND)
    state, voices = said(HONEST, other)
    assert (ratings(state), voices.waiting) == ({}, (PLACE,))


def test_call_of_harm_is_heard_through_a_clash() -> None:
    warned = chain(*(event.payload for event in HONEST), flag(), name=FIRST)  # type: ignore[arg-type]
    silencer = chain(agreed(), rate(0, Rating.EXCELLENT), flag(harmful=False), name=SECOND)
    assert ann(said(warned, silencer)[0]).harmful == {ITEMS[0]}
    decided = said(warned, silencer, office(speaks(SECOND)))[0]
    assert ann(decided).harmful == frozenset()


def test_laptop_taken_out_is_not_heard_until_put_back() -> None:
    out = word(SECOND, counts=False)
    state, voices = said(HONEST, OTHER, office(out))
    assert ratings(state) == {0: Rating.REJECT, 1: Rating.GIST}
    assert voices.removed == {KEYS[SECOND]: "not ours"}
    assert not voices.several
    state, voices = said(HONEST, OTHER, office(out, word(SECOND)))
    assert (ratings(state), voices.removed, voices.waiting) == ({}, {}, (PLACE,))


def test_what_was_taken_back_stays_so_and_ends_a_clash() -> None:
    back = chain(withdraw(Scope.BATCH), name=SECOND)
    state, voices = said(HONEST, back, office(word(SECOND, counts=False)))
    assert ratings(state) == {}
    assert not voices.speakers
    erased = [event.erased() for event in HONEST]
    assert said(erased, back, office(word(SECOND, counts=False))) == (state, voices)
    back = chain(*(event.payload for event in OTHER), withdraw(Scope.BATCH), name=SECOND)  # type: ignore[arg-type]
    state, voices = said(HONEST, back, office(speaks(FIRST)))
    assert (ratings(state), voices.several) == ({}, {})


def test_time_that_no_laptop_comes_to_is_found_though_two_agree() -> None:
    def at(name: str, lamport: int) -> Event:
        return replace(chain(rate(0, Rating.GIST), name=name)[0], lamport=lamport)

    wild = [at(SECOND, 2**32 - 2), at(THIRD, 2**32 - 3)]
    assert far_ahead([*HONEST, *wild], {OFFICE}) == {SECOND: 2**32 - 2, THIRD: 2**32 - 3}
    assert far_ahead([*HONEST, at(OFFICE, 2**32)], {OFFICE}) == {}
    edge = len(HONEST) + 1 + FAR
    assert far_ahead([*HONEST, at(SECOND, edge)], {OFFICE}) == {}
    assert far_ahead([*HONEST, at(SECOND, edge + 1)], {OFFICE}) == {SECOND: edge + 1}
    laptop = Device(FIRST)  # an honest one never counts further than what it hands in
    for number in range(20):
        laptop.say(rate(number % 6, Rating.GIST))
        assert max(event.lamport for event in laptop.events) <= len(laptop.events)
