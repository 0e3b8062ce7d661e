"""What does not work is said in the reviewer's language, and nothing advances."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from harness.core.failures import HarnessError
from harness.core.storage_problems import StorageProblem
from review.files.reviewer_codes import CodeError, CodeProblem
from review.files.stick import StickError
from review.log.laptop import Laptop
from review.log.payloads import Rate, Scope
from review.log.saving import NotSaved
from review.rating import Rating
from review.sealed.problem import FileError, FileProblem
from review.session.view import Phase, TextField
from review.session.words.catalogue import Words
from review.session.words.troubles import OtherReviewerError, trouble
from tests.review.session.scenes import Sitting

ERRORS = [
    *(NotSaved(problem, Path("x"), "SQLITE_X") for problem in StorageProblem),
    *(FileError(problem, "English") for problem in FileProblem),
    *(StickError(Path("x"), problem) for problem in StorageProblem),
    *(CodeError(problem, "English") for problem in CodeProblem),
    OtherReviewerError("English"),
    HarnessError("English"),
]


@pytest.mark.parametrize(
    "error", ERRORS, ids=lambda e: f"{type(e).__name__}-{getattr(e, 'problem', '')}"
)
def test_every_problem_has_words_in_both_languages(error: HarnessError) -> None:
    english, french = (trouble(Words.load(tag), error) for tag in ("en", "fr"))
    assert english.said
    assert french.said != english.said
    assert english.detail == french.detail
    said_all = isinstance(error, CodeError | OtherReviewerError) or (
        isinstance(error, FileError)
        and error.problem in {FileProblem.LOCKED, FileProblem.WRONG_KEY}
    )
    assert bool(english.detail) is not said_all  # what only says the same once more is not copied


def test_another_program_that_holds_the_file_stops_nothing_but_the_key(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, words=Words.load("fr"))
    sitting.rate()
    item = sitting.see()
    with closing(sqlite3.connect(tmp_path / "review.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        view = sitting.session.rate(item, Rating.GIST)
        assert view.item is not None
        assert (view.item.id, view.done, view.said) == (item, 1, "")
        assert "autre fenêtre" in view.trouble
        assert view.detail == "SQLITE_BUSY"
        view = sitting.session.save_text(item, TextField.COMMENT, "kept")
        assert view.trouble
    view = sitting.session.rate(item, Rating.GIST)
    assert (view.done, view.trouble) == (2, "")
    assert sum(isinstance(e.payload, Rate) for e in sitting.laptop.events()) == 2


def test_a_file_that_was_moved_takes_no_rating_and_says_so(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    item = sitting.see()
    (tmp_path / "review.sqlite").rename(tmp_path / "elsewhere")
    view = sitting.session.rate(item, Rating.GIST)
    assert "moved" in view.trouble
    assert view.item is not None
    assert view.item.id == item
    (tmp_path / "elsewhere").rename(tmp_path / "review.sqlite")
    assert sitting.session.rate(item, Rating.GIST).done == 1


def test_a_full_disk_takes_no_rating_and_the_same_key_works_later(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    connection = sitting.laptop.connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    view = sitting.session.view
    while not view.trouble:
        view = sitting.session.save_text(sitting.see(), TextField.COMMENT, "a" * 3000)
    assert "disk is full" in view.trouble
    done, item = view.done, sitting.see()
    connection.execute("PRAGMA max_page_count = 100000")
    assert sitting.session.rate(item, Rating.GIST).done == done + 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_laptop_that_may_not_be_written_is_told_at_opening(tmp_path: Path) -> None:
    Laptop.open(tmp_path).close()
    (tmp_path / "review.sqlite").chmod(0o400)
    with pytest.raises(NotSaved) as caught:
        Laptop.open(tmp_path)
    assert caught.value.problem is StorageProblem.READ_ONLY


def test_what_was_taken_back_in_another_window_is_said_and_nothing_breaks(tmp_path: Path) -> None:
    first = Sitting(tmp_path)
    second = Sitting(tmp_path, agreed=False)
    second.session.withdraw(Scope.EVERYTHING)
    item = first.see()
    view = first.session.rate(item, Rating.GIST)
    assert view.trouble
    assert "withdrew" in view.detail
    first.restart()
    assert first.session.view.phase is Phase.WITHDRAWN
