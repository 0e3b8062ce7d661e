"""Handing over in the window: sticks that come and go, files that are read back, and words for what fails."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication

from corpora.text.visible import readable
from review.desktop.item.item_page import ItemPage
from review.desktop.item.pauses import EndPage
from review.desktop.pages import hand_over_page
from review.desktop.pages.folders import Folders
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.parts.texts import TextPane
from review.files.ratings import open_ratings
from review.session.choice import of_file
from review.session.session import Session
from review.session.waiting import Exported
from tests.desktop.sitting_scene import Scene, SceneOf
from tests.review.session.scenes import CUSTODIANS

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape


@pytest.fixture
def scene(scene_of: SceneOf) -> Scene:
    """At the end, with everything answered."""
    scene = scene_of()
    scene.press("4", "2", "1")
    scene.page_of(EndPage)
    return scene


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def phrase(scene: Scene) -> str:
    scene.qtbot.waitUntil(
        lambda: any(each.isVisible() for each in scene.page.findChildren(TextPane))
    )
    pane = next(each for each in scene.page.findChildren(TextPane) if each.isVisible())
    return pane.toPlainText()


def test_three_keys_hand_over_and_the_file_is_what_the_page_says(scene: Scene) -> None:
    scene.press("x")
    assert "Where is your stick?" in scene.texts()
    scene.press(ENTER)
    assert "Saved and checked. You may pull the stick out." in scene.texts()
    (file,) = files(scene.stick)
    opened = open_ratings(file.read_bytes(), CUSTODIANS)
    assert phrase(scene) == opened.phrase(earlier=True)
    assert str(file) in scene.texts()
    assert b"".join(opened.lines).count(b'"rating":') == 3
    scene.press(ENTER)
    scene.page_of(EndPage)
    assert "Handed over at" in scene.texts()


def test_the_six_words_are_copied_whole(scene: Scene) -> None:
    scene.press("x", ENTER)
    scene.click("Copy the six words")
    assert QGuiApplication.clipboard().text() == phrase(scene)
    assert len(phrase(scene).split()) == 6


def test_settings_never_lie_over_the_six_words(scene: Scene) -> None:
    scene.sticks = [scene.folder / "pulled", scene.stick]
    scene.press("x")
    page = scene.page_of(HandOverPage)
    assert page.offers_settings
    scene.click("pulled")
    assert page.offers_settings, "nothing was written"
    scene.click("stick")
    scene.window.open_settings()
    assert scene.page is page
    assert len(phrase(scene).split()) == 6


def test_a_stick_that_is_put_in_appears_by_itself(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hand_over_page, "LOOK_MILLISECONDS", 10)
    scene.sticks = []
    scene.press("x")
    assert "No stick was found. Put it into this computer." in scene.texts()
    assert "Look again" in scene.buttons()
    scene.sticks = [scene.stick]
    scene.qtbot.waitUntil(lambda: "Where is your stick?" in scene.texts())
    scene.click("stick")
    assert len(files(scene.stick)) == 1


def arrow(key: Qt.Key) -> QKeyEvent:
    return QKeyEvent(QKeyEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier)


def test_every_place_has_a_key_and_the_arrows_go_from_one_to_the_next(scene: Scene) -> None:
    scene.sticks = [scene.folder / "pulled", scene.stick]
    scene.press("x")
    scene.press("3", "0")
    assert not files(scene.stick)
    scene.qtbot.waitUntil(scene.button("stick").isVisible)
    scene.press(Qt.Key.Key_Tab)
    assert scene.page.focusWidget() is scene.button("pulled")
    QApplication.sendEvent(scene.button("pulled"), arrow(Qt.Key.Key_Down))
    assert scene.page.focusWidget() is scene.button("stick")
    QApplication.sendEvent(scene.button("stick"), arrow(Qt.Key.Key_Up))
    assert scene.page.focusWidget() is scene.button("pulled")
    scene.press("2")
    assert "Saved and checked. You may pull the stick out." in scene.texts()
    assert len(files(scene.stick)) == 1
    scene.press("1", "2")
    assert len(files(scene.stick)) == 1


def test_looking_again_is_one_key(scene: Scene) -> None:
    scene.sticks = []
    scene.press("x")
    scene.sticks = [scene.stick]
    scene.press(ENTER)
    assert "Where is your stick?" in scene.texts()


def test_where_nothing_can_be_written_it_is_said_and_another_try_works(scene: Scene) -> None:
    gone = scene.folder / "pulled"
    scene.sticks = [gone, scene.stick]
    scene.press("x")
    scene.click("pulled")
    said = scene.texts()
    assert "It is not there. Put the stick in and try again." in said
    assert "Nothing was written. Choose another place, or try again." in said
    assert scene.session.view.handed_over == ""
    scene.click("stick")
    assert len(files(scene.stick)) == 1
    assert "Nothing was written" not in scene.texts()


@pytest.mark.parametrize("busy", ["", "part"])
def test_a_full_stick_is_said_and_nothing_half_stays(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, busy: str
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("harness.sealed.stick.flush", full)
    if busy:
        (scene.stick / "photographs").write_bytes(b"x")
    scene.press("x", ENTER)
    assert "There is not enough room there." in scene.texts()
    assert [each.name for each in files(scene.stick)] == (["photographs"] if busy else [])


def test_a_click_too_many_writes_one_file(scene: Scene) -> None:
    scene.press("x")
    stick = scene.button("stick")
    stick.click()
    scene.page_of(HandOverPage).save(scene.stick)
    scene.page_of(HandOverPage).save(scene.folder)
    scene.idle()
    assert len(files(scene.stick)) == 1
    assert not list(scene.folder.glob("*.rosetta-ratings"))


def test_while_it_is_written_nobody_leaves(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, export = threading.Event(), Session.export

    def slowly(session: Session, folder: Path) -> Exported:
        slow.wait(5)
        return export(session, folder)

    monkeypatch.setattr(Session, "export", slowly)
    scene.press("x")
    page = scene.page_of(HandOverPage)
    page.save(scene.stick)
    page.back()
    page.enter()
    assert scene.page is page
    assert "If this is a stick, leave it in." in scene.texts()
    assert not {"Back", "Look again", "Another folder …"} & set(scene.buttons())
    slow.set()
    scene.idle()
    assert "You may pull the stick out." in scene.texts()


def test_another_folder_is_found_step_by_step(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = scene.folder / "someone"
    (home / "Docu\u202ements" / "for the council").mkdir(parents=True)
    (home / ".hidden").mkdir()
    (home / os.fsdecode(b"no\xffname")).mkdir()
    (home / "letter.txt").write_text("a file is no folder")
    monkeypatch.setattr(Path, "home", lambda: home)
    heard: list[str] = []
    monkeypatch.setattr(hand_over_page, "announce", lambda _, text: heard.append(text))
    scene.press("x")
    scene.click("Another folder")
    assert len([each for each in scene.buttons() if each.startswith("no")]) == 1
    rows = [each for each in scene.buttons() if "Docu" in each or each.startswith("Up to")]
    assert rows == [f"Up to {scene.folder.name}", readable("Docu\u202ements")]
    assert "\u202e" not in "".join(rows)
    assert "letter.txt" not in scene.texts()
    scene.qtbot.waitUntil(scene.button("Docu").isVisible)
    scene.press(Qt.Key.Key_Tab)
    assert scene.page.focusWidget() is scene.button("Up to"), "folders come first"
    scene.click("Docu")
    scene.click("for the council")
    scene.click("Up to")
    scene.click("for the council")
    assert heard[-1].endswith("for the council")
    assert "\u202e" not in "".join(heard)
    scene.press(ENTER)
    assert "pull the stick out" not in scene.texts()
    assert "in a folder on this computer, not on a stick" in scene.texts()
    assert len(files(home / "Docu\u202ements" / "for the council")) == 1


def test_each_step_begins_at_its_first_line(
    scene_of: SceneOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = scene_of(size=48)
    home = scene.folder / "someone"
    for name in map(str, range(9)):
        (home / name / name).mkdir(parents=True)
    monkeypatch.setattr(Path, "home", lambda: home)
    scene.press("4", "2", "1", "x")
    bar = scene.page_of(HandOverPage).reading.verticalScrollBar()
    for step in ("Another folder", "8"):
        scene.qtbot.waitUntil(lambda: bar.maximum() > 0)
        bar.setValue(bar.maximum())
        assert bar.value() > 0
        scene.click(step)
        assert bar.value() == 0


def test_a_folder_that_cannot_be_listed_is_said_and_the_one_before_stays(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = scene.folder / "someone"
    (home / "inside").mkdir(parents=True)
    monkeypatch.setattr(Path, "home", lambda: home)
    scene.press("x")
    scene.click("Another folder")
    (home / "inside").rmdir()
    scene.click("inside")
    assert "It is not there." in scene.texts()
    (folders,) = scene.page.findChildren(Folders)
    assert folders.here == home
    scene.press(ESC)
    assert "Where is your stick?" in scene.texts()
    scene.press(ESC)
    scene.page_of(EndPage)


def test_handing_over_in_the_middle_leads_back_to_the_sentence(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.press("4", "x", ENTER, ENTER)
    assert scene.page_of(ItemPage).texts.source.toPlainText() == "Source 2."
    (file,) = files(scene.stick)
    assert b'"kind":"rate"' in b"".join(open_ratings(file.read_bytes(), CUSTODIANS).lines)


def test_a_page_that_is_gone_when_the_file_is_written_breaks_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[object] = []
    export = Session.export

    def noting(session: Session, folder: Path) -> object:
        written.append(result := export(session, folder))
        return result

    monkeypatch.setattr(Session, "export", noting)
    scene.press("x")
    scene.page_of(HandOverPage).save(scene.stick)
    scene.start()
    scene.qtbot.waitUntil(lambda: len(written) == 1)
    assert len(files(scene.stick)) == 1


def from_its_folder(scene: Scene) -> None:
    """Let the window know where the file lay: in a folder on this computer's disk."""
    [file] = (scene.folder / "mail").iterdir()
    scene.opening.open(of_file(file))


def test_a_real_stick_comes_before_the_folder_in_which_the_file_lay(scene: Scene) -> None:
    from_its_folder(scene)
    scene.press("x")
    rows = [each.replace("\u200b", "") for each in scene.buttons() if "\n" in each]
    assert rows == [
        f"{scene.stick.name}\n{scene.stick}",
        f"A folder on this computer\n{scene.folder / 'mail'}",
    ]
    scene.press(ENTER)
    assert "You may pull the stick out." in scene.texts()
    assert len(files(scene.stick)) == 1


def test_without_a_stick_enter_saves_in_no_folder(scene: Scene) -> None:
    from_its_folder(scene)
    scene.sticks = []
    scene.press("x")
    assert "No stick was found. Put it into this computer, or choose the folder." in scene.texts()
    scene.press(ENTER)
    assert "No stick was found." in scene.texts()
    scene.click("A folder on this computer")
    assert "pull the stick out" not in scene.texts()
    assert "not on a stick" in scene.texts()
