"""Nothing could be saved, or the clock jumped: it is said, nothing is lost, nobody is hurried."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from PySide6.QtWidgets import QTextEdit, QWidget

from harness.core.storage_problems import StorageProblem
from harness.sealed.chain import check_chain
from review.desktop.item.item_page import ItemPage
from review.desktop.item.sentence_face import Mode
from review.log.fold import fold
from review.log.payloads import Comment, Rate
from review.rating import Rating
from review.session.course import IDLE_SECONDS
from review.session.words.catalogue import Words
from review.session.words.troubles import SAVING
from tests.desktop.trouble import causes
from tests.desktop.trouble.causes import Cause
from tests.desktop.trouble.conftest import Begin
from tests.desktop.trouble.told import copied, told
from tests.desktop.visit_scene import Entry
from tests.review.session.scenes import CODE, item_id
from tests.review.thorough import first


class Trouble(NamedTuple):
    begin: Cause
    problem: StorageProblem
    small_disk: bool = False


TROUBLES = {
    "a second program": Trouble(causes.held, StorageProblem.BUSY),
    "moved": Trouble(causes.moved, StorageProblem.GONE),
    "removed": Trouble(causes.removed, StorageProblem.GONE),
    "disk gone": Trouble(causes.gone, StorageProblem.GONE),
    "read-only": Trouble(causes.read_only, StorageProblem.READ_ONLY),
    "full": Trouble(causes.full, StorageProblem.DISK_FULL, small_disk=True),
}


def started(begin: Begin, folder: Path, trouble: Trouble, language: str = "en") -> Entry:
    (folder / "home").mkdir(exist_ok=True)
    if trouble.small_disk:
        causes.mounted(folder / "home", 1024)
    entry = begin(language=language)
    entry.answer("2")
    shown(entry)
    return entry


def shown(entry: Entry) -> ItemPage:
    """Wait until a sentence is painted, and give its page."""
    page, session = entry.page(ItemPage), entry.visit.flow.session
    assert session is not None
    entry.qtbot.waitUntil(lambda: session.time.runs)
    return page


def seen(entry: Entry, widget: QWidget) -> bool:
    """Tell that a part of it is in sight, once everything has its place."""
    entry.qtbot.waitUntil(lambda: not widget.visibleRegion().isEmpty())
    return widget.isVisible()


def said(entry: Entry, *kinds: type) -> list[object]:
    return [e.payload for e in entry.laptop.events() if isinstance(e.payload, kinds)]


@pytest.mark.parametrize("name", first(3, TROUBLES))
def test_an_answer_that_is_not_saved(begin: Begin, folder: Path, name: str) -> None:
    trouble = TROUBLES[name]
    entry = started(begin, folder, trouble)
    before = shown(entry)
    with trouble.begin(entry.home):
        entry.press("3")
        page = shown(entry)
        assert page is before
        heard = told(entry)
        assert heard is not None
        assert heard.said == SAVING[trouble.problem]
        assert re.fullmatch(r"(SQLITE_|E)[A-Z_]+", heard.detail)
        assert copied(entry) == heard.detail
        assert "Sentence 2 of 4" in page.accessibleName()
        assert page.texts.candidate.toPlainText() == "Candidate 2."
        assert seen(entry, page.texts.candidate)
    entry.press("3")
    assert [each.item for each in said(entry, Rate)] == [item_id(1), item_id(2)]  # type: ignore[attr-defined]
    assert said(entry, Rate)[-1].rating is Rating.ACCEPTABLE  # type: ignore[attr-defined]
    assert "Sentence 3 of 4" in shown(entry).accessibleName()
    assert told(entry) is None


@pytest.mark.parametrize("name", first(3, TROUBLES))
def test_words_that_are_not_saved(begin: Begin, folder: Path, name: str) -> None:
    trouble = TROUBLES[name]
    entry = started(begin, folder, trouble, "fr")
    with trouble.begin(entry.home):
        entry.press("c")
        entry.type("mes mots, 1 2 3")
        entry.press("\r")
        page = shown(entry)
        heard = told(entry)
        assert heard is not None
        assert heard.said == Words.load("fr")(SAVING[trouble.problem])
        [box] = [each for each in page.findChildren(QTextEdit) if not each.isReadOnly()]
        assert seen(entry, box)
        assert box.toPlainText() == "mes mots, 1 2 3"
        assert page.texts.candidate.toPlainText() == "Candidate 2."
    entry.press("\r")
    assert [each.text for each in said(entry, Comment)] == ["mes mots, 1 2 3"]  # type: ignore[attr-defined]
    assert told(entry) is None


@pytest.mark.parametrize("key", ["\r", "3"], ids=["saved", "answered"])
def test_a_full_disk_is_told_once_lets_the_box_be_left_and_loses_nothing(
    begin: Begin, folder: Path, key: str
) -> None:
    entry = started(begin, folder, TROUBLES["full"])
    with causes.full(entry.home):
        entry.press("c")
        entry.type("my words")
        entry.press("\r")
        page = shown(entry)
        assert entry.read.count(SAVING[StorageProblem.DISK_FULL]) == 1
        assert page.mode is Mode.WRITING
        entry.press("\x1b")
        assert page.mode is Mode.ANSWER
        assert entry.read.count(SAVING[StorageProblem.DISK_FULL]) == 1
        assert [each.item for each in page.session.view.unsaved] == [item_id(2)]
        assert said(entry, Comment) == []
    if key == "\r":
        entry.press("c")
        [box] = [each for each in page.findChildren(QTextEdit) if not each.isReadOnly()]
        assert box.toPlainText() == "my words"
    entry.press(key)
    assert [(each.item, each.text) for each in said(entry, Comment)] == [(item_id(2), "my words")]
    assert told(entry) is None


def test_a_trouble_that_is_over_before_the_next_key_is_gone_with_it(
    begin: Begin, folder: Path
) -> None:
    entry = started(begin, folder, TROUBLES["moved"])
    with causes.moved(entry.home):
        entry.press("3", "1", "u")
        assert told(entry) is not None
    entry.press("s")
    assert told(entry) is None
    assert [each.item for each in said(entry, Rate)] == [item_id(1)]  # type: ignore[attr-defined]


def rated(entry: Entry) -> list[Rate]:
    return [e.payload for e in entry.laptop.events() if isinstance(e.payload, Rate)]


def painted(entry: Entry) -> None:
    session = entry.visit.flow.session
    assert session is not None
    entry.page(ItemPage)
    entry.qtbot.waitUntil(lambda: session.time.runs)


JUMPS = {
    "an hour back": timedelta(hours=-1),
    "to the year 1970": datetime(1970, 1, 1, tzinfo=UTC) - datetime.now(UTC),
    "years ahead": timedelta(days=4000),
}


@pytest.mark.parametrize("name", list(JUMPS))
def test_a_clock_that_was_moved_changes_no_answer(begin: Begin, name: str) -> None:
    entry = begin()
    entry.answer("2")
    painted(entry)
    session = entry.visit.flow.session
    assert session is not None
    author = session._author  # only its clock jumps: Qt and SQLite keep theirs
    now = author._now  # what it asks is wrapped below
    author._now = lambda: now() + JUMPS[name]  # the clock that events are dated by
    entry.press("3")
    painted(entry)
    entry.press("u")
    painted(entry)
    entry.press("4")
    assert told(entry) is None
    events = list(entry.laptop.events())
    assert all(chain.whole for chain in check_chain(events).chains)
    judged = fold(events).reviewers["ba" * 8, CODE].judgements
    assert {item: each.rating for item, each in judged.items()} == {
        item_id(1): Rating.GIST,
        item_id(2): Rating.EXCELLENT,
    }


def test_a_night_with_the_lid_closed_is_no_time_spent_on_a_sentence(begin: Begin) -> None:
    entry = begin()
    painted(entry)
    session = entry.visit.flow.session
    assert session is not None
    time = session.time
    clock = time._clock  # what it asks is wrapped below
    time._clock = lambda: clock() + 8 * 3600  # a night passes for this sentence alone
    assert "Sentence 1 of 4" in entry.page(ItemPage).accessibleName()
    entry.press("3")
    [first] = rated(entry)
    assert first.item == item_id(1)
    assert first.active_ms <= (IDLE_SECONDS + 5) * 1000
    painted(entry)
    entry.press("3")
    assert [each.item for each in rated(entry)] == [item_id(1), item_id(2)]
    assert told(entry) is None
