"""Finding a review: the list, other folders, files let go over the window."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget

from review.desktop.item.item_page import ItemPage
from review.desktop.pages.choose_page import ChoosePage, FilePage
from review.desktop.pages.first_pages import ConsentPage, OrganisationPage
from tests.desktop.visit_scene import PLAIN, Enter, Entry
from tests.review.session.scenes import CODE, batch_of, write_file


def _let_go(entry: Entry, *files: str) -> bool:
    """Drag files over the window and let them go; tells whether the window took them."""
    data = QMimeData()
    data.setUrls([QUrl(each) for each in files])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    entered = QDragEnterEvent(QPoint(5, 5), copy, data, left, PLAIN)
    entered.ignore()
    QApplication.sendEvent(entry.window, entered)
    if entered.isAccepted():
        QApplication.sendEvent(entry.window, QDropEvent(QPointF(5, 5), copy, data, left, PLAIN))
    entry.idle()
    return entered.isAccepted()


def test_file_is_found_in_any_folder(
    enter: Enter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    write_file(batch_of(), tmp_path / "person" / "Documents" / "From Mary")
    (tmp_path / "person" / "Documents" / "letter.txt").touch()
    entry = enter()
    entry.click("Choose a file")
    entry.page(FilePage)
    entry.click("Documents")
    assert "letter.txt" not in entry.buttons
    entry.click("From Mary")
    entry.click("Spring sentences.rosetta-batch")
    entry.page(OrganisationPage)


def test_choosing_a_file_begins_at_the_stick_and_leads_back(enter: Enter, tmp_path: Path) -> None:
    stick = tmp_path / "STICK"
    (stick / "deep").mkdir(parents=True)
    entry = enter(sticks=[stick])
    entry.click("Choose a file")
    assert "deep" in entry.buttons
    entry.press("\x1b")
    entry.page(ChoosePage)


def test_name_of_a_stick_turns_nothing_around(enter: Enter, tmp_path: Path) -> None:
    stick = tmp_path / "USB\u202egnp.exe\u0007"
    stick.mkdir()
    entry = enter(sticks=[stick])
    entry.click("Choose a file")
    names = "".join([*entry.buttons, *(each.accessibleName() for each in _named(entry))])
    assert "USB" in names
    assert not {"\u202e", "\u0007"} & set(names)


def _named(entry: Entry) -> list[QWidget]:
    return entry.page(FilePage).findChildren(QWidget)


def test_file_that_is_no_review_is_told_on_the_list(enter: Enter, tmp_path: Path) -> None:
    stick = tmp_path / "STICK"
    stick.mkdir()
    (stick / "x.rosetta-batch").write_bytes(b"MZ" + bytes(200))
    entry = enter(sticks=[stick])
    entry.click("Choose a file")
    entry.click("x.rosetta-batch")
    entry.page(ChoosePage)
    assert "This is not a file with sentences for you." in entry.read


def test_folder_that_is_gone_is_told_and_the_page_stays(enter: Enter, tmp_path: Path) -> None:
    stick = tmp_path / "STICK"
    (stick / "deep").mkdir(parents=True)
    entry = enter(sticks=[stick])
    entry.click("Choose a file")
    (stick / "deep").rmdir()
    entry.click("deep")
    entry.page(FilePage)
    assert "It is not there." in entry.read


def test_file_that_is_let_go_over_the_window_is_opened(enter: Enter, tmp_path: Path) -> None:
    file = write_file(batch_of(), tmp_path / "stick")
    entry = enter()
    assert _let_go(entry, QUrl.fromLocalFile(str(file)).toString())
    entry.page(OrganisationPage)


@pytest.mark.parametrize(
    "names",
    [
        ("https://example.org/x.rosetta-batch",),
        ("file:///tmp/picture.png",),
        ("file:///a.rosetta-batch", "file:///b.rosetta-batch"),
        (),
    ],
    ids=["web", "picture", "two", "none"],
)
def test_anything_else_that_is_dragged_is_not_taken(enter: Enter, names: tuple[str, ...]) -> None:
    entry = enter()
    assert not _let_go(entry, *names)
    entry.page(ChoosePage)


def test_no_file_is_taken_over_a_sentence(enter: Enter, tmp_path: Path) -> None:
    file = write_file(batch_of(), tmp_path / "stick")
    entry = enter(places=[file])
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r")
    entry.page(ConsentPage)
    entry.press("\r")
    page = entry.page(ItemPage)
    assert not _let_go(entry, QUrl.fromLocalFile(str(file)).toString())
    assert entry.page(ItemPage) is page


def test_newest_comes_first_and_those_kept_here_follow(enter: Enter, tmp_path: Path) -> None:
    kept = write_file(batch_of(batch="cd" * 8, title="Kept"), tmp_path / "kept")
    entry = enter(places=[kept])
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r", "\r")
    entry.answer("1")
    entry.close()
    stick = tmp_path / "stick"
    old = write_file(batch_of(batch="ab" * 8, title="Old"), stick)
    write_file(batch_of(title="New"), stick)
    os.utime(old, (1, 1))
    again = enter(sticks=[stick])
    titles = [each.split("\n")[0] for each in again.buttons if "\n" in each]
    assert titles == ["New", "Old", "Kept"]
    assert "Kept\nLanguage Council · 1 of 4 done" in again.buttons
