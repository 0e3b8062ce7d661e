"""Who speaks for whom: told by name, decided by the organisation, and the same in its evidence."""

from __future__ import annotations

import pytest

from harness.core.failures import UsageError
from review.files.reviewer_codes import printed
from review.log.event import Event, make_event
from review.log.payloads import LaptopWord, Speaks
from review.log.voices import heard
from review.office.intake.file_report import FileOutcome
from review.office.intake.importing import enrol_laptop
from review.office.intake.speaking import let_speak, note_laptops, put_back, speaking, take_out
from review.office.results.certifying import review_evidence
from review.office.store.review import KnownLaptop
from review.rating import Rating
from tests.review.office.laptops import (
    events_of,
    hand_in,
    made,
    person,
    rating,
    ratings,
    take,
)
from tests.review.office.made import Desk, Person

__all__ = ["made"]


def laptop_of(made: Desk, someone: Person) -> KnownLaptop:
    key = someone.identity.public.signing_key
    return next(each for each in made.office.laptops() if each.signing_key == key)


def clash(made: Desk) -> tuple[Person, Person]:
    """Let a second laptop speak for the first person."""
    first, second = person(made, 0), person(made, 1)
    second.laptop.append(rating(first, value=Rating.EXCELLENT))
    hand_in(made, second)
    report = hand_in(made, first)
    assert [each.waits for each in report.several] == [True]
    return first, second


def words(made: Desk) -> list[Event]:
    return [
        e for e in made.office.events(made.review) if isinstance(e.payload, LaptopWord | Speaks)
    ]


def in_evidence(made: Desk) -> object:
    evidence = review_evidence(made.office, made.review, made.identity.public.signing_key)
    office, batches = made.office, set(made.review.manifests)
    told = heard(office.events(made.review), office.devices(), office.own_devices, batches)
    assert evidence.voices == told[1]
    assert evidence.state.reviewers.keys() == made.office.state(made.review).reviewers.keys()
    return {place: said.judgements for place, said in evidence.state.reviewers.items()}


def test_one_laptop_that_speaks_for_several_is_told_each_time(made: Desk) -> None:
    shared = person(made, 0)
    codes = sorted([made.card(shared), made.review.code(made.codes[1])])
    assert hand_in(made, shared).speaks_for == ()
    other = Person(shared.laptop.path.parent, made.batch, made.codes[1])
    other.rate([Rating.GIST])
    for _ in range(2):
        report = hand_in(made, shared)
        assert (list(report.speaks_for), report.several) == (codes, ())
    [told] = speaking(made.office, made.review).shared
    assert (told.name, list(told.people)) == ("laptop 1", codes)
    assert len(ratings(made, shared)) == 3
    assert len(ratings(made, other)) == 1


def test_nobody_counts_where_two_laptops_speak_until_it_is_decided(made: Desk) -> None:
    first, second = clash(made)
    assert ratings(made, first) == {}
    assert len(ratings(made, second)) == 3
    [told] = speaking(made.office, made.review).several
    laptops = ["laptop 1", "laptop 2"]
    assert (told.code, told.laptops, told.waits) == (made.card(first), laptops, True)
    in_evidence(made)
    let_speak(made.office, made.review, first.code, [laptop_of(made, first)])
    assert len(ratings(made, first)) == 3
    [told] = speaking(made.office, made.review).several
    assert (told.counted, told.waits) == (["laptop 2"], False)
    let_speak(made.office, made.review, first.code, [laptop_of(made, second)])
    assert list(ratings(made, first).values()) == [Rating.EXCELLENT]
    both = [laptop_of(made, each) for each in (first, second)]
    let_speak(made.office, made.review, first.code, both)
    assert len(ratings(made, first)) == 3
    assert len(words(made)) == 3
    in_evidence(made)


def test_only_a_laptop_that_handed_something_over_and_is_heard_speaks(made: Desk) -> None:
    first, second = clash(made)
    stranger = KnownLaptop("ab" * 32, None, "blue", "2026-01-01T00:00:00Z")
    with pytest.raises(UsageError, match="handed nothing over"):
        let_speak(made.office, made.review, first.code, [stranger])
    take_out(made.office, laptop_of(made, second), "")
    with pytest.raises(UsageError, match="Put it back first"):
        let_speak(made.office, made.review, first.code, [laptop_of(made, second)])


def test_a_laptop_that_never_spoke_for_a_person_silences_nobody(made: Desk) -> None:
    first, second = person(made, 0), person(made, 1)
    for each in (first, second):
        hand_in(made, each)
    code = printed(made.card(first))
    with pytest.raises(UsageError) as refused:
        let_speak(made.office, made.review, first.code, [laptop_of(made, second)])
    assert str(refused.value) == (
        f"laptop 2 has no answer of {code}; laptop 1 has. Nothing is changed."
    )
    both = [laptop_of(made, each) for each in (first, second)]
    with pytest.raises(UsageError, match="Nothing is changed"):
        let_speak(made.office, made.review, first.code, both)
    assert len(ratings(made, first)) == 3
    assert words(made) == []
    old, new = (each.identity.public.signing_key for each in (first, second))
    made.office.enrol(new, "new", None, old)
    note_laptops(made.office, made.review)
    let_speak(made.office, made.review, first.code, [laptop_of(made, second)])
    assert len(ratings(made, first)) == 3


def test_a_laptop_is_taken_out_with_all_that_it_said_and_put_back(made: Desk) -> None:
    first, second = clash(made)
    before = in_evidence(made)
    assert take_out(made.office, laptop_of(made, second), "was lost") == ["demo"]
    assert (len(ratings(made, first)), len(ratings_or_none(made, second))) == (3, 0)
    told = speaking(made.office, made.review)
    assert [each.removed for each in told.laptops] == ["was lost", None]
    assert told.several == []
    report = hand_in(made, second)
    assert report.outcome is FileOutcome.REFUSED
    assert "taken out" in report.why
    assert "was lost" in report.why
    with pytest.raises(UsageError, match="not accepted"):
        enrol_laptop(made.office, second.identity.public.signing_key, "x", None, [])
    with pytest.raises(UsageError, match="already"):
        take_out(made.office, laptop_of(made, second), "")
    assert put_back(made.office, laptop_of(made, second)) == ["demo"]
    assert in_evidence(made) == before
    with pytest.raises(UsageError, match="nothing to undo"):
        put_back(made.office, laptop_of(made, second))
    assert hand_in(made, second).outcome is FileOutcome.TAKEN
    assert len(words(made)) == 2


def ratings_or_none(made: Desk, someone: Person) -> dict[str, Rating | None]:
    place = someone.batch.manifest.batch, someone.code
    return ratings(made, someone) if place in made.office.state(made.review).reviewers else {}


def test_what_is_known_of_laptops_is_written_into_the_log_once(made: Desk) -> None:
    """Also where it was known before logs said so: of a laptop that came instead of another."""
    first, second = clash(made)
    old, new = (each.identity.public.signing_key for each in (first, second))
    made.office.enrol(new, "new", None, old)
    assert [each.waits for each in speaking(made.office, made.review).several] == [True]
    assert note_laptops(made.office, made.review) == 1
    assert note_laptops(made.office, made.review) == 0
    assert not speaking(made.office, made.review).several
    assert len(ratings(made, first)) == 3
    in_evidence(made)


def test_a_time_beyond_all_others_is_told(made: Desk) -> None:
    forger, honest = person(made, 1), person(made, 0)
    last = events_of(forger)[-1]
    far = make_event(
        rating(forger, 5), device=last.device, seq=last.seq + 1, lamport=2**32 - 2, prev=last.id,
        salt=bytes(16),
    )  # fmt: skip
    report = take(made, forger.identity, [*events_of(forger), far])
    assert (report.outcome, report.far_ahead) == (FileOutcome.TAKEN, True)
    assert [each.far_ahead for each in speaking(made.office, made.review).laptops] == [True]
    assert not hand_in(made, honest).far_ahead
