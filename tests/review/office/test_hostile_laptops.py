"""What an enrolled laptop that means ill can do to a review, and who speaks for whom, as the organisation decides."""

import os
from pathlib import Path

import pytest

from harness.core.failures import UsageError
from harness.sealed.chain import check_chain
from harness.sealed.keys import Identity, Role
from harness.sealed.sealing import AgeIdentity
from review.files.identities import printed
from review.log.event import Event
from review.log.merge import heard
from review.log.payloads import AssignLaptop, Comment, LaptopWord, Scope, Withdraw
from review.office.intake import quarantine
from review.office.intake.importing import enrol_laptop, find_ratings
from review.office.intake.quarantine import withdraw
from review.office.intake.speaking import (
    FORGED,
    OTHER_LAPTOPS,
    FileOutcome,
    let_speak,
    note_laptops,
    put_back,
    speaking,
    take_out,
)
from review.office.results.certifying import review_evidence
from review.office.store.database import FILE
from review.office.store.review import KnownLaptop
from review.rating import Rating
from review.verdict.gate.policy import proposed
from rosetta_tui.review.organiser.words.imported import report_lines
from tests.harness.sealed.refusals import refuses
from tests.review.office.laptops import (
    NOW,
    events_of,
    first_of,
    hand_in,
    made,
    next_of,
    person,
    rating,
    ratings,
    take,
    take_file,
)
from tests.review.office.made import WALL, Desk, Person, draft, reviewed
from tests.review.office.made import made as make

__all__ = ["made"]


@pytest.mark.parametrize("bare", [False, True], ids=["content", "head"])
def test_nobody_goes_on_with_the_log_of_another_laptop(made: Desk, bare: bool) -> None:
    victim, forger = person(made, 0), person(made, 1)
    hand_in(made, victim)
    before = ratings(made, victim)
    forged = next_of(events_of(victim)[-1], rating(victim))
    report = take(made, forger.identity, [*events_of(forger), forged.erased() if bare else forged])
    assert [remark.said for remark in report.aside] == [OTHER_LAPTOPS]
    assert (report.added, report.copied, report.gaps) == (4, False, 0)
    assert ratings(made, victim) == before
    events = made.office.events(made.review)
    assert forged.id not in {event.id for event in events}
    victim.rate([Rating.EXCELLENT], start=3)  # the place that the forger wanted is still free
    later = hand_in(made, victim)
    assert (later.added, later.copied, later.aside) == (1, False, ())
    assert check_chain(made.office.events(made.review)).whole


def test_what_is_known_of_another_laptop_may_come_again(made: Desk) -> None:
    first, second = person(made, 0), person(made, 1)
    hand_in(made, first)
    report = take(made, second.identity, [*events_of(first), *events_of(second)])
    assert (report.added, report.already_here, report.aside) == (4, 4, ())
    assert made.office.devices()[first.laptop.device] == first.identity.public.signing_key


def test_a_laptop_that_came_instead_of_another_goes_on_once_somebody_says_so(made: Desk) -> None:
    """A disk was saved, its key was not: what the old laptop never handed in is not lost."""
    someone, stranger = person(made, 0, 2), person(made, 1)
    hand_in(made, someone)
    someone.rate([Rating.GIST, Rating.GIST], start=2)
    rescued, key = events_of(someone), Identity.make(Role.LAPTOP)
    report = take(made, key, rescued)
    assert [remark.said for remark in report.aside] == [OTHER_LAPTOPS] * 2
    enrol_laptop(
        made.office, key.public.signing_key, "new", None, [], NOW, someone.identity.public.signing_key
    )  # fmt: skip
    assert (take(made, key, rescued).added, len(ratings(made, someone))) == (2, 4)
    assert take(made, stranger.identity, [next_of(rescued[-1], rating(someone))]).aside
    assert made.office.devices()[someone.laptop.device] == someone.identity.public.signing_key


@pytest.mark.parametrize("bare", [False, True], ids=["content", "head"])
def test_nobody_writes_in_the_organisations_own_chain(made: Desk, bare: bool) -> None:
    forger = person(made, 1)
    first = first_of(made.office.device, rating(forger))
    forged = first.erased() if bare else first
    report = take(made, forger.identity, [*events_of(forger), forged])
    assert [remark.said for remark in report.aside] == [FORGED]
    assert forged.id not in {event.id for event in made.office.events(made.review)}
    assert made.office.device not in made.office.devices()


def test_a_place_that_no_laptop_comes_to_is_refused_with_its_file(made: Desk) -> None:
    """Its laptop signed for it, so that what is left of the file could not be shown to be the laptop's."""
    forger = person(made, 1)
    far = next_of(events_of(forger)[-1], rating(forger), seq=2**33)
    report = take(made, forger.identity, [*events_of(forger), far])
    assert (report.outcome, report.added) == (FileOutcome.REFUSED, 0)
    assert "what its laptop signed is not what it holds" in report.why
    assert not made.office.connection.execute("SELECT last_seq FROM delivery").fetchall()
    assert hand_in(made, forger).added == 4


def another_review(made: Desk) -> Desk:
    drafted = draft(reviewed(made.folder), seed=9, reviewers=3, items=30)
    ready = make(drafted, made.identity, "other")
    kept = made.office.create_review(ready.key, proposed()[1], ready.manifests, ready.texts)
    return Desk(made.folder, made.office, made.identity, kept, ready.batches[0])


def test_nobody_takes_back_what_a_person_of_another_review_gave(made: Desk) -> None:
    other = another_review(made)
    victim = Person(made.folder.parent / "victim", other.batch, other.codes[0])
    victim.rate([Rating.GIST])
    hand_in(other, victim)
    before, forger = made.office.state(other.review), person(made, 0)
    for scope in Scope:
        for batch in (None, other.batch.manifest.batch):
            said = Withdraw(wall=WALL, reviewer=victim.code, batch=batch, scope=scope)
            forged = next_of(events_of(forger)[-1], said)
            report = take(made, forger.identity, [*events_of(forger), forged])
            assert (len(report.aside), report.withdrawn, report.gaps) == (1, [], 0)
            assert made.office.state(other.review) == before
    assert hand_in(other, victim).already_here == 2


def test_a_withdrawal_that_came_first_with_another_review_is_heard_in_its_own(made: Desk) -> None:
    """One laptop serves two reviews; whoever takes back everything is known in one of them."""
    other = another_review(made)
    someone = person(made, 0)
    guest = Person(someone.laptop.path.parent, other.batch, other.codes[0])
    guest.identity = someone.identity
    guest.rate([Rating.GIST])
    hand_in(other, guest)
    guest.withdraw(Scope.EVERYTHING)
    first = hand_in(made, someone)
    assert (len(first.aside), first.withdrawn) == (1, [])
    assert hand_in(other, guest).withdrawn == [other.card(guest)]
    assert not made.office.state(other.review).reviewers
    again = hand_in(made, someone)
    assert (len(ratings(made, someone)), again.added, again.gaps) == (3, 0, 0)


def test_files_of_strangers_wait_up_to_a_bound(made: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quarantine, "MOST_WAITING", 12_000)
    stranger, known = person(made, 0), person(made, 1)
    outcomes = []
    for count in range(3, 9):
        stranger.rate([Rating.GIST], start=count)
        outcomes.append(take(made, stranger.identity, events_of(stranger), enrol=False))
    assert {each.outcome for each in outcomes} == {FileOutcome.SET_ASIDE, FileOutcome.REFUSED}
    assert "more files of unknown laptops wait already" in outcomes[-1].why
    assert sum(len(each.content) for each in made.office.quarantine()) <= 12_000
    assert hand_in(made, known).added == 4


def test_a_file_that_is_reached_twice_is_found_once(tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    file = stick / "a.rosetta-ratings"
    file.write_bytes(b"x")
    (stick / "here").symlink_to(".")
    (stick / "b.rosetta-ratings").symlink_to(file.name)
    (stick / "c.rosetta-ratings").symlink_to("c.rosetta-ratings")
    os.mkfifo(stick / "d.rosetta-ratings")
    assert len(find_ratings([stick, file, stick]).files) == 1


# Files that wait for somebody to vouch for their laptop hold nothing that was taken back


def waiting(made: Desk) -> list[bytes]:
    return [each.content for each in made.office.quarantine()]


def is_kept(made: Desk, data: bytes) -> bool:
    """Tell whether any part of a sealed file is in a file of the office; a page of SQLite holds 64 bytes in a row."""
    parts = [data[place : place + 64] for place in range(0, len(data) - 64, 64)]
    kept = [path.read_bytes() for path in made.folder.iterdir() if path.name.startswith(FILE)]
    return any(part in content for part in parts for content in kept)


@pytest.mark.parametrize("scope", [Scope.BATCH, Scope.EVERYTHING])
def test_a_withdrawal_at_the_desk_drops_what_waits(made: Desk, scope: Scope) -> None:
    someone, other = person(made, 0, 6), person(made, 1, 6)
    theirs, others = someone.handed_over(), other.handed_over()
    for data in (theirs, others):
        assert take_file(made, data, enrol=False).outcome is FileOutcome.SET_ASIDE
    assert is_kept(made, theirs)
    done = withdraw(made.office, made.review, someone.code, scope, [made.identity.age])
    assert (done.waiting.files, done.waiting.unopened, done.unclean) == (1, 0, False)
    assert waiting(made) == [others]
    assert not is_kept(made, theirs)
    assert is_kept(made, others)
    taken = take_file(made, theirs)
    assert (taken.added, taken.erased) == (0, 7)
    said = "\n".join(report_lines(taken))
    assert "added 0, erased at once 7 (taken back before), already here 0" in said
    assert not made.office.state(made.review).reviewers


def test_what_an_unknown_laptop_brings_of_a_withdrawn_person_is_not_kept(made: Desk) -> None:
    someone = person(made, 0, 6)
    withdraw(made.office, made.review, someone.code, Scope.BATCH, [made.identity.age])
    data = someone.handed_over()
    report = take_file(made, data, enrol=False)
    assert (report.outcome, waiting(made)) == (FileOutcome.REFUSED, [])
    assert "holds what somebody took back" in report.why
    assert not is_kept(made, data)


def test_comments_alone_drop_only_files_with_comments(made: Desk) -> None:
    plain, talker = person(made, 0, 6), person(made, 0, 6, "other0")
    talker.laptop.append(Comment(**talker.place, item=talker.order[0], text="said in private"))
    take_file(made, plain.handed_over(), enrol=False)
    take_file(made, talker.handed_over(), enrol=False)
    done = withdraw(made.office, made.review, plain.code, Scope.COMMENTS, [made.identity.age])
    assert (done.waiting.files, len(waiting(made))) == (1, 1)


def test_a_withdrawal_that_comes_on_a_stick_drops_what_waits(made: Desk) -> None:
    first, second = person(made, 0, 6), person(made, 0, 6, "other0")
    take_file(made, second.handed_over(), enrol=False)
    first.withdraw()
    report = take_file(made, first.handed_over())
    assert (report.withdrawn, report.dropped, waiting(made)) == ([made.card(first)], 1, [])
    assert "DROPPED: 1 file that waited" in "\n".join(report_lines(report))


def test_what_cannot_be_opened_waits_on_and_is_told(made: Desk) -> None:
    someone = person(made, 0, 6)
    take_file(made, someone.handed_over(), enrol=False)
    done = withdraw(made.office, made.review, someone.code, Scope.BATCH, [AgeIdentity.make()])
    assert (done.waiting.files, done.waiting.unopened, len(waiting(made))) == (0, 1, 1)
    again = withdraw(made.office, made.review, someone.code, Scope.BATCH, [made.identity.age])
    assert (again.waiting.files, waiting(made)) == (1, [])


def laptop_of(made: Desk, someone: Person) -> KnownLaptop:
    key = someone.identity.public.signing_key
    return next(each for each in made.office.laptops() if each.signing_key == key)


def clash(made: Desk) -> tuple[Person, Person]:
    first, second = person(made, 0), person(made, 1)
    second.laptop.append(rating(first, value=Rating.EXCELLENT))
    hand_in(made, second)
    report = hand_in(made, first)
    assert [each.waits for each in report.several] == [True]
    return first, second


def words(made: Desk) -> list[Event]:
    return [e for e in made.office.events(made.review) if isinstance(e.payload, LaptopWord | AssignLaptop)]


def in_evidence(made: Desk) -> object:
    evidence = review_evidence(made.office, made.review, made.identity.public.signing_key)
    office, batches = made.office, set(made.review.manifests)
    told = heard(office.events(made.review), office.devices(), office.own_devices, batches)
    assert evidence.voices == told[1]
    assert evidence.state.reviewers.keys() == made.office.state(made.review).reviewers.keys()
    return {place: said.judgements for place, said in evidence.state.reviewers.items()}


def test_nobody_counts_where_two_laptops_speak_until_it_is_decided(made: Desk) -> None:
    first, second = clash(made)
    assert (ratings(made, first), len(ratings(made, second))) == ({}, 3)
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
    assert (len(ratings(made, first)), len(words(made))) == (3, 3)
    in_evidence(made)


def test_only_a_laptop_that_handed_something_over_and_is_heard_speaks(made: Desk) -> None:
    first, second = clash(made)
    stranger = KnownLaptop("ab" * 32, None, "blue", "2026-01-01T00:00:00Z")
    refuses(UsageError, "handed nothing in", let_speak, made.office, made.review, first.code, [stranger])
    take_out(made.office, laptop_of(made, second), "")
    refuses(UsageError, "Put it back first", let_speak, made.office, made.review, first.code, [laptop_of(made, second)])


def test_a_laptop_that_never_spoke_for_a_person_silences_nobody(made: Desk) -> None:
    first, second = person(made, 0), person(made, 1)
    for each in (first, second):
        hand_in(made, each)
    code = printed(made.card(first))
    refused = refuses(UsageError, "", let_speak, made.office, made.review, first.code, [laptop_of(made, second)])
    assert str(refused) == (f"laptop 2 has no answer of {code}; laptop 1 has. Nothing is changed.")
    both = [laptop_of(made, each) for each in (first, second)]
    refuses(UsageError, "Nothing is changed", let_speak, made.office, made.review, first.code, both)
    assert (len(ratings(made, first)), words(made)) == (3, [])
    old, new = (each.identity.public.signing_key for each in (first, second))
    made.office.enrol(new, "new", None, old)
    note_laptops(made.office, made.review)
    let_speak(made.office, made.review, first.code, [laptop_of(made, second)])
    assert len(ratings(made, first)) == 3


def test_a_laptop_is_taken_out_with_all_that_it_said_and_put_back(made: Desk) -> None:
    first, second = clash(made)
    before = in_evidence(made)
    assert take_out(made.office, laptop_of(made, second), "was lost") == ["demo"]
    assert (len(ratings(made, first)), len(ratings(made, second))) == (3, 0)
    told = speaking(made.office, made.review)
    assert ([each.removed for each in told.laptops], told.several) == (["was lost", None], [])
    report = hand_in(made, second)
    assert report.outcome is FileOutcome.REFUSED
    assert "taken out" in report.why
    assert "was lost" in report.why
    refuses(UsageError, "not accepted", enrol_laptop, made.office, second.identity.public.signing_key, "x", None, [])
    refuses(UsageError, "already", take_out, made.office, laptop_of(made, second), "")
    assert put_back(made.office, laptop_of(made, second)) == ["demo"]
    assert in_evidence(made) == before
    refuses(UsageError, "nothing to undo", put_back, made.office, laptop_of(made, second))
    assert hand_in(made, second).outcome is FileOutcome.TAKEN
    assert len(words(made)) == 2


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
