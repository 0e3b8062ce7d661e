"""A whole sitting by keys and buttons: every page leads on and back, and nothing is lost on the way."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QClipboard, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel

from review.desktop.frame.page import Page
from review.desktop.item.item_page import ItemPage, TranslationPage
from review.desktop.item.pauses import EndPage, LaterPage
from review.desktop.pages.ending_pages import ErasePage
from review.desktop.pages.first_pages import ConsentPage, OrganisationPage, SharingPage
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.pages.settings_page import HelpPage
from review.desktop.parts.buttons import Button
from review.desktop.parts.choosing import Answers, Tick
from review.files.batch import write_batch
from review.files.ratings import open_ratings
from review.log.payloads import Consent, Rate
from review.rating import Rating
from tests.desktop.conftest import NO_FONTS
from tests.desktop.program.whole_program import COMMENT, DRAFT
from tests.desktop.visit_scene import Enter, Scene, SceneOf, assert_more_is_told
from tests.harness.process import ROOT
from tests.review.session.scenes import CODE, CUSTODIANS, GUIDE, batch_of, items_of, sentences_of, write_file
from tests.review.thorough import first

ENTER, ESC = Qt.Key.Key_Return, Qt.Key.Key_Escape


def ratings(scene: Scene) -> list[Rating]:
    said = [event.payload for event in scene.laptop.events()]
    return [each.rating for each in said if isinstance(each, Rate)]


def source(scene: Scene) -> str:
    return scene.page_of(ItemPage).texts.source.toPlainText()


def rows(scene: Scene) -> list[str]:
    return [each for each in scene.buttons if "Source" in each]


def test_sitting_by_keys_leads_to_the_end_and_back(scene_of: SceneOf) -> None:
    scene = scene_of()
    scene.look_again()
    assert "You have not answered anything yet." in scene.texts()
    scene.press(ESC, "4", "s")
    scene.press("?")
    scene.page_of(HelpPage)
    assert GUIDE in scene.texts()
    assert "Excellent – as a good speaker would say it" in scene.texts()
    scene.press("?")
    assert source(scene) == "Source 3."
    scene.press("2")
    assert scene.page_of(LaterPage).accessibleName() == "2 of 3"
    assert "You left 1 sentence for later. Look at it now?" in scene.texts()
    scene.press(ENTER)
    assert source(scene) == "Source 2."
    scene.press("1")
    scene.page_of(EndPage)
    assert ratings(scene) == [Rating.EXCELLENT, Rating.GIST, Rating.REJECT]
    scene.click("Look at my answers again")
    assert rows(scene)[2] == "3: Gist\nSource 3.\nCandidate 3."
    scene.click("3: Gist")
    assert "Your answer is: Gist." in scene.texts()
    scene.press(ENTER)
    scene.page_of(EndPage)
    assert len(ratings(scene)) == 3
    scene.press("1", "0", "s", "c", Qt.Key.Key_F1)  # only the last means something here
    scene.page_of(HelpPage)
    scene.press(ESC, ENTER)
    scene.page_of(HandOverPage)
    scene.press(ESC)
    assert "Excellent: 1 · Gist: 1 · Reject: 1" in scene.texts()
    assert "You answered 3 of 3." in scene.texts()
    scene.press("u")
    assert "Your answer was: Reject." in scene.texts()
    scene.press("0", "1")
    scene.page_of(EndPage)
    assert "Excellent: 1 · Gist: 1 · Could not judge: 1" in scene.texts()
    scene.press("q")
    assert scene.ended
    assert len(ratings(scene)) == 3


# translations


def test_use_of_translations_is_asked_and_never_assumed(enter: Enter, tmp_path: Path) -> None:
    def shared() -> list[bool]:
        said = [each.payload for each in entry.laptop.events()]
        return [each.share_corrections for each in said if isinstance(each, Consent)]

    def keys(page: Page) -> list[str]:
        buttons = page.findChildren(Answers)[0].findChildren(Button)
        return [each.accessibleDescription() for each in buttons]

    batch = batch_of(sentences_of(1), task="translate")
    entry = enter(places=[write_file(batch, tmp_path / "stick")])
    entry.page(OrganisationPage)
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r")
    assert entry.page(ConsentPage).findChildren(Tick) == []  # it is asked on a page of its own
    assert "1 sentence to write in your language." in entry.read
    entry.press("\r")
    page = entry.page(SharingPage)
    assert "May your translations be used?" in entry.read
    assert keys(page)[0] == "Key 1"
    entry.press("\r")
    assert "Press 1 for yes or 2 for no." in entry.read
    assert shared() == []
    entry.press("\x1b")
    entry.page(ConsentPage)
    entry.press("\r", "2")
    entry.page(TranslationPage)
    assert shared() == [False]
    entry.answer("o")
    entry.type("ne")
    entry.press("\r")
    entry.page(EndPage)
    assert "My translations may not be used." in entry.read
    entry.click("Say whether your translations may be used")
    assert keys(entry.page(SharingPage)) == ["Key 1", "Key 2. Chosen."]
    entry.press("1")
    entry.page(EndPage)
    assert "My translations may be used." in entry.read
    assert "Saved: My translations may be used." in entry.read
    assert shared() == [False, True]


# the clipboard, and every page at its largest


@pytest.mark.parametrize(("secret", "leaves"), first(2, [(True, "by-key"), (True, "by-closing"), (False, "by-key")]))
def test_no_secret_stays_in_the_clipboard(
    scene_of: SceneOf, monkeypatch: pytest.MonkeyPatch, secret: bool, leaves: str
) -> None:
    scene = scene_of(batch=batch_of(items_of(3), secret=secret))
    monkeypatch.setattr(QClipboard, "ownsClipboard", lambda _: True)
    QGuiApplication.clipboard().setText("Candidate 1.")
    scene.press("q") if leaves == "by-key" else scene.window.close()
    assert QGuiApplication.clipboard().text() == ("" if secret else "Candidate 1.")


_FEWEST_LINES, _TABS = 2, 12


def pages(scene: Scene) -> Iterator[tuple[str, Page]]:
    """Go through every page but that of an item."""
    for _ in range(3):
        scene.session.painted(_item(scene))
        scene.session.rate(_item(scene), Rating.GIST)
    scene.start()
    yield "end", scene.here
    yield from _after(scene, "help", "?", ESC)
    scene.look_again()
    yield "answers", scene.here
    scene.press(ESC)
    yield from _after(scene, "withdraw", "w")
    yield from _after(scene, "sure", "2", ESC)
    scene.sticks = []
    yield from _after(scene, "no stick", "x")
    page = scene.page_of(HandOverPage)
    scene.click(scene.desk.words("Another folder …"))
    scene.idle()
    yield "folders", page
    scene.press(ESC)
    page.save(scene.folder / "gone")
    scene.idle()
    yield "not written", page
    page.save(scene.stick)
    scene.idle()
    yield "written", page
    scene.press(ENTER)
    scene.window.erase.emit()
    scene.idle()
    erase = scene.page_of(ErasePage)
    yield "erase", erase
    erase.findChild(Tick).setChecked(True)
    scene.click(scene.desk.words("Delete everything"))
    yield "erased", scene.here


def _assert_focus_is_seen(scene: Scene, page: Page, name: str) -> None:
    """Go round with Tab: what has the focus is seen; what is scrolled away has it no more."""
    viewport, bar = page.reading.viewport(), page.reading.verticalScrollBar()
    scene.window.activateWindow()
    page.setFocus()
    scene.qtbot.waitUntil(lambda: QApplication.focusWidget() is not None)
    begun: set[int] = set()
    for _ in range(_TABS):
        scene.press(Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        if id(focused) in begun:
            break
        begun.add(id(focused))
        if page.reading.widget().isAncestorOf(focused):
            top = focused.mapTo(viewport, QPoint(0, 0)).y()
            whole = top >= 0 and top + focused.height() <= viewport.height()
            assert whole or focused.height() > viewport.height(), (name, focused)
            bar.setValue(0 if bar.value() > bar.maximum() // 2 else bar.maximum())
            kept = QApplication.focusWidget()
            if isinstance(kept, Button) and page.reading.widget().isAncestorOf(kept):
                assert kept.visibleRegion().boundingRect().height() * 2 >= kept.height(), name
    page.setFocus()
    bar.setValue(0)


def _item(scene: Scene) -> str:
    assert scene.session.view.item is not None
    return scene.session.view.item.id


def _after(scene: Scene, name: str, *keys: str | Qt.Key) -> Iterator[tuple[str, Page]]:
    scene.press(keys[0])
    yield name, scene.here
    scene.press(*keys[1:])


@pytest.mark.costly("lays every page out at its largest")
@pytest.mark.parametrize("language", first(1, ["fr", "en"]))
def test_largest_letters_cut_nothing_off_on_any_page(
    scene_of: SceneOf, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own" / "Documents").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "own"))  # whose one folder a page lists
    scene = scene_of(language=language, size=48)
    for name, page in pages(scene):
        QApplication.processEvents()
        assert (page.width(), page.height()) == (1024, 600), name
        assert not page.reading.horizontalScrollBar().isVisible()
        assert page.reading.widget().width() <= page.reading.viewport().width(), name
        lines = page.reading.viewport().height() / page.fontMetrics().lineSpacing()
        assert lines >= _FEWEST_LINES, name
        _assert_focus_is_seen(scene, page, name)
        assert_more_is_told(page, name)
        for button in page.findChildren(Button):
            if button.isVisible():
                assert button.accessibleName().strip(), name
                assert button.width() >= button.minimumSizeHint().width(), (name, button.text())
                assert button.height() >= button.heightForWidth(button.width()), name
        for label in page.findChildren(QLabel):
            if label.isVisible() and label.wordWrap():
                assert label.height() >= label.heightForWidth(label.width()), (name, label.text())


# after a whole sitting in a process of its own: which files there are, who may read them, and what is in them

SECRET = "river stone cloud ember"
PLACES = ("home", "config", "cache", "share", "state", "run", "tmp", "here", "stick")
DATA = "share/rosetta-tui"


def used(folder: Path) -> Path:
    """Start the program as a person's desktop would, judge everything and hand it in; gives the file of ratings."""
    for each in PLACES:
        (folder / each).mkdir(parents=True)
    (folder / "run").chmod(0o700)
    batch = folder / "stick" / "spring.rosetta-batch"
    batch.write_bytes(write_batch(batch_of(items_of(3), secret=True), passphrase=SECRET))
    xdg = ("CONFIG_HOME", "CACHE_HOME", "DATA_HOME", "STATE_HOME", "RUNTIME_DIR")
    names = ("HOME", *(f"XDG_{each}" for each in xdg), "TMPDIR")
    places = {name: str(folder / place) for name, place in zip(names, PLACES, strict=False)}
    program = [sys.executable, "-B", "-m", "tests.desktop.program.whole_program"]
    ended = subprocess.run(
        [*program, str(batch), SECRET], cwd=folder / "here", umask=0o022,
        env={**places, "PATH": os.defpath, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen",
             "FONTCONFIG_FILE": str(NO_FONTS)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert not re.search(r"(Source|Candidate) \d", ended.stdout + ended.stderr)
    [file] = (folder / "stick").glob("*.rosetta-ratings")
    return file


@pytest.mark.costly("the whole program in its own process, from its start to its end")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_nothing_of_a_secret_sitting_lies_open_or_elsewhere(tmp_path: Path) -> None:
    file = used(tmp_path)
    lines = b"".join(open_ratings(file.read_bytes(), CUSTODIANS).lines)
    for rating in (Rating.EXCELLENT, Rating.GIST, Rating.REJECT):
        assert f'"rating":"{rating}"'.encode() in lines
    assert COMMENT.encode() in lines
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    ours = ("review.sqlite", "review.open", "laptop.key", "locks", "locks/laptop-key.lock")
    assert found - {*PLACES} == {
        DATA, *(f"{DATA}/{each}" for each in ours),
        "stick/spring.rosetta-batch", f"stick/{file.name}",
    }  # fmt: skip
    data = tmp_path / DATA
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (data, *data.rglob("*"))}
    assert modes == {path: 0o700 if path.is_dir() else 0o600 for path in modes}
    content = b"\n".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    texts = [text for each in items_of(3) for text in (each.source, each.candidate)]
    secrets = [*texts, SECRET, SECRET.replace(" ", ""), COMMENT, DRAFT]
    assert [each for each in secrets if each.encode() in content] == []
