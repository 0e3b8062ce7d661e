"""Files that wait for somebody to vouch for their laptop hold nothing that was taken back."""

from __future__ import annotations

import pytest

from harness.sealed.sealing import AgeIdentity
from review.log.payloads import Comment, Scope
from review.office.intake.file_report import FileOutcome
from review.office.intake.quarantine import withdraw
from review.office.store.database import FILE
from rosetta_tui.review.organiser.words.imported import report_lines
from tests.review.office.laptops import made, person, take_file
from tests.review.office.made import WALL, Desk

__all__ = ["made"]


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
    assert (
        take_file(made, theirs, enrol=False).outcome
        is take_file(made, others, enrol=False).outcome
        is FileOutcome.SET_ASIDE
    )
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
    place = {"wall": WALL, "reviewer": talker.code, "batch": talker.batch.manifest.batch}
    talker.laptop.append(Comment(**place, item=talker.order[0], text="said in private"))
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
