"""What is done away from the window is told in order, and nothing of the window ends in the other thread."""

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from harness.core.failures import HarnessError
from review.desktop.frame.work import Work


@pytest.fixture
def work(qtbot: QtBot) -> Iterator[Work]:
    work = Work()
    yield work
    work.finish()


def _fail() -> int:
    raise HarnessError("no")


def test_rest_is_told_when_nothing_is_left_even_after_a_fault(work: Work, qtbot: QtBot) -> None:
    told: list[object] = []

    def faulty(_: object) -> None:
        raise ZeroDivisionError

    work.rested.connect(lambda: told.append(work.busy))
    work.do(lambda: 1, told.append, told.append)
    work.do(lambda: 2, told.append, told.append)
    with qtbot.waitSignal(work.rested):
        pass
    assert told == [1, 2, False]
    with qtbot.capture_exceptions() as faults:
        work.do(lambda: 3, faulty, told.append)
        qtbot.waitUntil(lambda: len(told) == 4)
    assert [kind for kind, *_ in faults] == [ZeroDivisionError]
    assert not work.busy


def test_ends_are_told_in_the_windows_thread_and_in_order(work: Work, qtbot: QtBot) -> None:
    told: list[object] = []
    here = threading.current_thread()

    def then(result: object) -> None:
        assert threading.current_thread() is here
        told.append(result)

    work.do(lambda: threading.current_thread() is not here, then, then)
    work.do(_fail, then, lambda error: told.append(str(error)))
    work.do(lambda: 3, then, then)
    assert work.busy
    qtbot.waitUntil(lambda: len(told) == 3)
    assert told == [True, "no", 3]
    assert not work.busy


def test_what_nobody_foresaw_is_told_without_its_words(work: Work, qtbot: QtBot) -> None:
    """A page that waits for an end gets one; the words of the error may hold a text of a secret sentence."""
    told: list[str] = []
    work.do(lambda: int("secret sentence"), lambda _: None, lambda error: told.append(str(error)))
    qtbot.waitUntil(lambda: bool(told))
    assert told[0].startswith("ValueError test_work.py:")
    assert "secret" not in told[0]
    assert not work.busy


def test_rings_of_a_page_are_not_collected_in_the_other_thread(work: Work, qtbot: QtBot) -> None:
    """Python collects in whatever thread makes many things; there a widget's end would end the program."""
    ended_in: list[threading.Thread] = []

    def make_rings() -> None:
        for _ in range(300):
            page = QWidget()
            page.__dict__["itself"] = page
            weakref.finalize(page, lambda: ended_in.append(threading.current_thread()))

    def make_many_things() -> list[list[int]]:
        return [[each] for each in range(200_000)]

    make_rings()
    told: list[int] = []
    work.do(make_many_things, lambda made: told.append(len(made)), lambda _: None)
    qtbot.waitUntil(lambda: bool(told))
    gc.collect()
    assert len(ended_in) == 300
    assert {thread.name for thread in ended_in} == {threading.current_thread().name}


def test_python_collects_by_itself_again_afterwards(qtbot: QtBot) -> None:
    work = Work()
    assert not gc.isenabled()
    work.finish()
    assert gc.isenabled()
