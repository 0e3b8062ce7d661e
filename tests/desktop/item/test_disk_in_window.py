"""The thread that draws touches no disk: a stick that answers slowly must not make the window stand still."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from review.desktop.item.item_page import ItemPage
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.pages.consent_page import ConsentPage
from review.desktop.pages.erase_page import ErasePage
from review.desktop.pages.file_page import FilePage
from review.desktop.pages.folders import Folders
from review.desktop.pages.hand_over_page import HandOverPage
from review.desktop.pages.organisation_page import OrganisationPage
from review.desktop.pages.settings_page import SettingsPage
from review.session.words import catalogue as words
from tests.desktop.visit_scene import Enter, Entry
from tests.review.session.scenes import CODE, batch_of, items_of, write_file

_FILES = [
    *((os, name) for name in ("stat", "lstat", "scandir", "listdir", "open", "unlink", "mkdir")),
    (io, "open"),
]
"""What the standard library reaches a file system by."""


class Disk:
    """Notes what the thread of the test, which is that of the window, does with folders and the laptop's file."""

    def __init__(self, folder: Path) -> None:
        self._places = tuple(str(each) for each in (folder, words.OURS))
        self._thread = threading.get_ident()
        self.touched: list[str] = []

    def watch(self, monkeypatch: pytest.MonkeyPatch, entry: Entry) -> None:
        for module, name in _FILES:
            monkeypatch.setattr(module, name, self._noting(getattr(module, name), name))
        entry.laptop.connection.set_trace_callback(lambda said: self._note("sqlite", said))

    def _noting(self, act: Callable[..., Any], name: str) -> Callable[..., Any]:
        def noted(path: Any = ".", *given: Any, **wishes: Any) -> Any:
            if isinstance(path, str | os.PathLike) and str(path).startswith(self._places):
                self._note(name, str(path))
            return act(path, *given, **wishes)

        return noted

    def _note(self, name: str, what: str) -> None:
        if threading.get_ident() == self._thread:
            self.touched.append(f"{name} {what}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def entry(enter: Enter, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Entry:
    """A file was named, and another person's folder lies beside it on the stick."""
    monkeypatch.setenv("HOME", str(folder))
    file = write_file(batch_of(items_of(2)), folder / "stick" / "deep")
    return enter(places=[file], sticks=[folder / "stick"])


@pytest.fixture
def disk(entry: Entry, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk(folder)
    disk.watch(monkeypatch, entry)
    return disk


def test_from_the_first_page_to_handing_over(entry: Entry, disk: Disk) -> None:
    entry.visit.flow._first = True
    entry.visit.begin()
    entry.page(OrganisationPage)
    entry.press("\r")
    entry.type(CODE)
    entry.press("\r")
    entry.page(ConsentPage)
    entry.press("\r")
    entry.page(ItemPage)
    entry.answer("3")
    entry.press("c")
    entry.type("half a thought")
    entry.press("\x1b", "x")
    entry.page(HandOverPage)
    entry.press("\r", "\r")
    entry.page(ItemPage)
    entry.press("q")
    entry.page(ChoosePage)
    assert disk.touched == []


def test_finding_a_file_and_changing_settings(entry: Entry, disk: Disk, folder: Path) -> None:
    entry.press("\x1b")
    entry.page(ChoosePage)
    entry.click("Choose a file")
    (folders,) = entry.page(FilePage).findChildren(Folders)
    entry.click("deep")
    folders.open(Path(folder.anchor))
    entry.idle()
    entry.press("\x1b")
    entry.window.open_settings()
    entry.click("Français")
    entry.press("\x1b")
    entry.click("English")
    entry.page(ChoosePage)
    entry.window.open_settings()
    entry.page(SettingsPage).erase.emit()
    entry.page(ErasePage)
    entry.press("\x1b")
    entry.page(ChoosePage)
    assert disk.touched == []
