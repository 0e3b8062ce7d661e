"""Ratings come back: in any order, any number of times, whole or not at all."""

from __future__ import annotations

import itertools
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.sealed.chain import check_chain
from harness.sealed.keys import Identity, Role
from review.log.payloads import Adjudicate, Comment, Kind, Scope
from review.office.intake.file_report import FileOutcome
from review.office.intake.importing import enrol_laptop, find_ratings, import_files
from review.office.intake.quarantine import withdraw
from review.office.results.progress import progress, waiting
from review.office.results.rating_rows import rated_items
from review.office.store.store import Office
from review.rating import Rating
from rosetta_tui.review.organiser.words.letters import not_shown_words
from tests.review.office.laptops import (
    NOW,
    events_of,
    hand_in,
    made,
    next_of,
    person,
    rating,
    take,
    take_file,
)
from tests.review.office.made import (
    WALL,
    Desk,
    Person,
    desk,
    draft,
    random_ratings,
    reviewed,
    take_vouched,
    vouch_for,
)
from tests.review.office.made import made as make
from tests.review.thorough import times

__all__ = ["made"]


def told(made: Desk) -> object:
    """Return everything that the office knows of what was said."""
    return made.office.state(made.review)


def ids(made: Desk) -> list[str]:
    return [event.id for event in made.office.events(made.review)]


def test_ratings_arrive(made: Desk) -> None:
    someone = person(made, 0, 10)
    report = hand_in(made, someone)
    assert (report.outcome, report.added, report.already_here) == (FileOutcome.TAKEN, 11, 0)
    assert [*report.aside, *report.clocks, bool(report.damaged)] == [False]
    shown = progress(made.office, made.review)
    [line] = [each for each in shown.reviewers if each.reviewer == made.card(someone)]
    assert (line.consented, line.rated, line.cannot_judge) == (True, 10, 0)
    assert (shown.done, shown.imports) == (10, 1)
    assert line.last_import


def test_every_order_and_any_repetition_gives_one_state(made: Desk) -> None:
    people = [person(made, place, 0) for place in range(3)]
    files = []
    for someone in people:
        someone.rate(random_ratings(6, 1))
        files.append(someone.handed_over())
        someone.rate(random_ratings(6, 2), start=6)
        files.append(someone.handed_over())
    people[2].withdraw(Scope.COMMENTS)
    files.append(people[2].handed_over())
    empty = shutil.copytree(made.folder, made.folder.parent / "empty")
    seen = []
    orders = list(itertools.permutations(range(len(files))))
    for number, order in enumerate(Random(1).sample(orders, times(2, 60))):
        folder = shutil.copytree(empty, made.folder.parent / f"order{number}")
        with Office.open(folder) as office:
            review = office.review("demo")
            for place in (*order, *order[::2], order[0]):
                take_vouched(office, made.identity, files[place], now=NOW)
            events = office.events(review)
            seen.append((office.state(review), [event.line() for event in events]))
    assert all(each == seen[0] for each in seen)
    assert len(seen[0][1]) == 3 * 13 + 1


def test_a_second_import_takes_nothing_twice(made: Desk) -> None:
    data = person(made, 0, 5).handed_over()
    take_file(made, data)
    before = (told(made), ids(made))
    report = take_file(made, data)
    assert (report.added, report.already_here) == (0, 6)
    assert (told(made), ids(made)) == before


def test_an_unknown_laptop_waits_for_somebody_to_vouch(made: Desk) -> None:
    someone = person(made, 0, 5)
    report = take_file(made, someone.handed_over(), enrol=False)
    assert report.outcome is FileOutcome.SET_ASIDE
    assert report.laptop_phrase == someone.identity.public.phrase
    assert not ids(made)
    someone.rate(random_ratings(5, 1), start=5)
    take_file(made, someone.handed_over(), enrol=False)
    [laptop] = waiting(made.office)
    assert (laptop.files, laptop.phrase) == (2, someone.identity.public.phrase)
    key = someone.identity.public.signing_key
    reports = enrol_laptop(made.office, key, "blue", None, [made.identity.age], NOW)
    assert [each.outcome for each in reports] == [FileOutcome.TAKEN] * 2
    assert not waiting(made.office)
    assert len(ids(made)) == 11
    assert [laptop.name for laptop in made.office.laptops()] == ["blue"]


def test_a_secret_key_of_somebody_else_opens_nothing(made: Desk) -> None:
    data = person(made, 0, 1).handed_over()
    other = Identity.make(Role.ORGANISATION)
    report = take_vouched(made.office, other, data)
    assert report.outcome is FileOutcome.REFUSED
    assert "another key" in report.why


def test_ratings_of_another_review_are_refused(made: Desk, tmp_path: Path) -> None:
    other = desk(tmp_path / "other", reviewers=2, items=20)
    with other.office:
        data = Person(tmp_path / "theirs", other.batch, other.codes[0]).handed_over()
        report = take_vouched(made.office, other.identity, data)
    assert report.outcome is FileOutcome.REFUSED
    assert "was not made here" in report.why


def test_what_a_laptop_may_not_say_is_set_aside_and_the_rest_is_taken(made: Desk) -> None:
    someone = person(made, 0, 3)
    batch = someone.batch.manifest.batch
    item = someone.order[0]
    for wrong in (
        rating(someone, item="f" * 16),
        rating(someone, reviewer="00000000"),
        Adjudicate(wall=WALL, batch=batch, item=item, harmful=False, note=""),
    ):
        someone.laptop.append(wrong)
    report = hand_in(made, someone)
    assert (report.added, len(report.aside)) == (4, 3)
    assert {remark.said for remark in report.aside} == {
        "is about an item that this reviewer was not asked",
        "is of a reviewer whom this batch does not know",
        "decides what only the organisation decides",
    }
    assert not made.office.state(made.review).adjudications
    assert report.gaps == 0  # their heads are kept, so the chain is whole


def test_a_copied_laptop_is_noticed_and_both_are_kept(made: Desk) -> None:
    someone = person(made, 0, 3)
    before = events_of(someone)
    someone.rate([Rating.GIST], start=3)
    hand_in(made, someone)
    twin = next_of(before[-1], rating(someone, 3, Rating.EXCELLENT))
    report = take(made, someone.identity, [*before, twin])
    assert (report.copied, report.added, len(ids(made))) == (True, 1, 6)


def test_a_wild_clock_is_told(made: Desk) -> None:
    someone = person(made, 0, 1)
    someone.laptop.append(rating(someone, wall="2999-06-01T00:00:00Z"))
    report = hand_in(made, someone)
    assert [clock.said for clock in report.clocks if "ahead" in clock.said]
    assert report.added == 3


def test_a_withdrawal_erases_here_and_in_every_later_file(made: Desk) -> None:
    someone = person(made, 0, 4)
    text = "a secret thought about boats"
    said = someone.laptop.append(Comment(**someone.place, item=someone.order[0], text=text))
    early = someone.handed_over()
    take_file(made, early)
    made.office.add_certificate(made.review, "run", b"{}", b"s")
    assert said.salt is not None
    traces = [text.encode(), said.salt, canonical_bytes(said.payload.model_dump(mode="json"))]
    assert all(found(made.folder, trace) for trace in traces)
    someone.withdraw()
    report = hand_in(made, someone)
    assert (report.withdrawn, report.recompute) == ([made.card(someone)], 1)
    assert not any(found(made.folder, trace) for trace in traces)
    again = take_file(made, early)
    assert again.added == 0
    assert not any(found(made.folder, trace) for trace in traces)
    state = made.office.state(made.review)
    assert not any(person.judgements for person in state.reviewers.values())
    assert [each.recompute for each in made.office.certificates(made.review)] == [True]
    assert check_chain(made.office.events(made.review)).whole


@pytest.mark.parametrize("at_the_office", [False, True], ids=["laptop", "office"])
def test_whoever_takes_back_comments_alone_leaves_certificates_as_they_are(
    made: Desk, at_the_office: bool
) -> None:
    someone, own = person(made, 0, 4), [made.identity.age]
    hand_in(made, someone)
    made.office.add_certificate(made.review, "run", b"{}", b"s")
    if at_the_office:
        done = withdraw(made.office, made.review, someone.code, Scope.COMMENTS, own)
        assert done.recompute == 0
    else:
        someone.withdraw(Scope.COMMENTS)
        report = hand_in(made, someone)
        assert (report.withdrawn, report.recompute) == ([made.card(someone)], 0)
    assert [each.recompute for each in made.office.certificates(made.review)] == [False]
    done = withdraw(made.office, made.review, someone.code, Scope.EVERYTHING, own)
    assert done.recompute == 1


def found(folder: Path, trace: bytes) -> bool:
    return any(trace in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_the_office_takes_back_for_a_person(made: Desk) -> None:
    first, second = person(made, 0, 4), person(made, 1, 12)
    data = first.handed_over()
    take_file(made, data)
    hand_in(made, second)
    done = withdraw(made.office, made.review, first.code, Scope.BATCH, [made.identity.age])
    assert done.erased == 5
    take_file(made, data)
    lines = {each.reviewer: each for each in progress(made.office, made.review).reviewers}
    assert lines[made.card(first)].done == 0
    assert lines[made.card(first)].withdrawn == {Scope.BATCH}
    assert lines[made.card(second)].done == 12
    assert {row.reviewer for row in rated_items(made.office, made.review)} == {second.code}
    with pytest.raises(UsageError, match="no reviewer"):
        withdraw(made.office, made.review, "00000000", Scope.BATCH, [made.identity.age])


def test_ratings_by_item_leave_controls_out(made: Desk) -> None:
    someone = person(made, 0, 0)
    someone.rate(random_ratings(len(someone.order), 3))
    hand_in(made, someone)
    rows = rated_items(made.office, made.review)
    key = made.review.key
    real = [item for item in someone.order if key.items[item].control is None]
    assert len(rows) == len(real) == 30
    assert {row.entry_id for row in rows} == {key.items[item].entry for item in real}
    assert {row.run_id for row in rows} == {key.runs[0].run_id}
    given = dict(zip(someone.order, random_ratings(len(someone.order), 3), strict=True))
    by_entry = {key.items[item].entry: given[item].rank for item in real}
    assert {row.entry_id: row.rating for row in rows} == by_entry


def test_other_reviews_of_the_same_laptop_change_nothing(made: Desk) -> None:
    """A laptop serves two reviews; what it later says of one leaves the other's set of events as it was."""
    drafted = draft(reviewed(made.folder), reviewers=2, items=20)
    ready = make(drafted, made.identity, "second")
    second = made.office.create_review(ready.key, b"", ready.manifests, ready.texts)
    someone = person(made, 0, 3)
    hand_in(made, someone)
    before = ids(made)
    there = Person.__new__(Person)
    there.laptop, there.identity, there.batch = someone.laptop, someone.identity, ready.batches[0]
    there.code, there.order = next(iter(second.key.orders.items()))
    there.place = someone.place | {"reviewer": there.code, "batch": there.batch.manifest.batch}
    there.rate(random_ratings(5, 1))
    hand_in(made, there)
    assert ids(made) == before
    theirs = made.office.events(second)
    assert sum(event.payload is not None for event in theirs) == 5
    assert len(theirs) == len(before) + 5
    assert {event.kind for event in theirs if event.payload is None} == {Kind.CONSENT, Kind.RATE}


_KILLED = """
import sys
from pathlib import Path
from harness.sealed.sealing import AgeIdentity
from review.office.intake.importing import import_bytes
from review.office.store.store import Office

folder, data, secret = Path(sys.argv[1]), Path(sys.argv[2]).read_bytes(), sys.argv[3]
with Office.open(folder) as office:
    print("go", flush=True)
    import_bytes(office, [AgeIdentity.read(secret)], data, "x")
    print("done", flush=True)
"""


@pytest.mark.thorough
def test_an_import_that_is_killed_is_whole_or_not_there(made: Desk) -> None:
    someone = person(made, 0, 0)
    someone.rate(random_ratings(len(someone.order), 1))
    for _ in range(3):
        someone.rate(random_ratings(len(someone.order), 2))
    made.office.enrol(someone.identity.public.signing_key, "blue")
    made.office.close()
    file = made.folder.parent / "x.rosetta-ratings"
    file.write_bytes(someone.handed_over())
    whole = 1 + 4 * len(someone.order)
    seen = set()
    chance = Random(2)
    tries = times(4, 200)
    for number in range(tries):
        folder = shutil.copytree(made.folder, made.folder.parent / f"killed{number}")
        process = subprocess.Popen(
            [sys.executable, "-c", _KILLED, str(folder), str(file), made.identity.age.secret],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        try:
            process.wait(chance.uniform(0, 0.5))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        told_done = b"done" in process.communicate()[0]
        with Office.open(folder) as office:
            count = len(office.events(office.review("demo")))
            imports = len(office.imports())
        assert count in {0, whole}
        assert imports == (count > 0)
        assert count == whole or not told_done
        seen.add(count)
        shutil.rmtree(folder)
    assert seen if tries < 200 else seen == {0, whole}
    made.office = Office.open(made.folder)


def test_damaged_files_are_refused_in_words_and_stop_no_other(made: Desk, tmp_path: Path) -> None:
    good = person(made, 0, 2).handed_over()
    stick = tmp_path / "stick"
    (stick / "inside").mkdir(parents=True)
    (stick / "a.rosetta-ratings").write_bytes(good[: len(good) // 2])
    (stick / "b.rosetta-ratings").write_bytes(b"PK\x03\x04 no")
    (stick / "inside" / "c.rosetta-ratings").write_bytes(good)
    (stick / "note.txt").write_bytes(b"x")
    files = find_ratings([stick, stick / "gone.rosetta-ratings"])
    assert [path.name[0] for path in files] == ["a", "b", "c", "g"]
    vouch_for(made.office, made.identity, good)
    reports = list(import_files(made.office, [made.identity.age], files, now=NOW))
    refused = [report.outcome is FileOutcome.REFUSED for report in reports]
    assert refused == [bool(report.why) for report in reports] == [True, True, False, True]


def test_what_a_laptop_could_not_show_is_named_by_its_entry(made: Desk) -> None:
    first, second = person(made, 0, 0), person(made, 1, 0)
    first.leave_out(3)
    for place in (3, 4):
        second.leave_out(second.order.index(first.order[place]))
    hand_in(made, first)
    hand_in(made, second)
    found = progress(made.office, made.review)
    both, one = (made.review.key.items[first.order[place]].entry for place in (3, 4))
    assert found.not_shown == {both: 2, one: 1}
    assert found.done == 3
    (said,) = not_shown_words(found)
    assert said.startswith("NOT SHOWN: 2 sentences could not be shown on a laptop")
    assert f"(3 times in all): entries {both}, {one}." in said
