"""Sticks that fill up, are locked or are pulled while the answers are written: nothing is lost, another try works."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.core.storage_problems import StorageProblem
from harness.sealed import stick as writing
from review.desktop.item.item_page import ItemPage
from review.desktop.pages.hand_over_page import HandOverPage
from review.log.payloads import Export, Rate
from review.session.words.troubles import STICKS
from tests.desktop.trouble import causes
from tests.desktop.trouble.conftest import Begin
from tests.desktop.trouble.told import copied, told
from tests.desktop.visit_scene import Entry


@pytest.fixture
def entry(begin: Begin) -> Entry:
    """Somebody who rated a sentence and wants to hand it over."""
    entry = begin()
    entry.answer("2")
    entry.page(ItemPage)
    entry.press("x")
    entry.page(HandOverPage)
    return entry


@pytest.fixture
def stick(folder: Path) -> Path:
    return folder / "stick"


def choose(entry: Entry, stick: Path) -> None:
    """Choose the stick of the test, and nothing else that is plugged in or is an origin."""
    page = entry.page(HandOverPage)
    entry.idle()
    page.save(stick)
    entry.idle()


def files_on(stick: Path) -> list[str]:
    return [each.name for each in stick.iterdir() if "rosetta-ratings" in each.name]


def said(entry: Entry, *kinds: type) -> list[object]:
    return [e.payload for e in entry.laptop.events() if isinstance(e.payload, kinds)]


@contextmanager
def locked(stick: Path) -> Iterator[None]:
    """The little switch at its side is pushed."""
    causes.mounted(stick, 256)
    subprocess.run(["mount", "-o", "remount,ro", str(stick)], check=True)
    yield
    subprocess.run(["mount", "-o", "remount,rw", str(stick)], check=True)


@contextmanager
def crammed(stick: Path) -> Iterator[None]:
    causes.mounted(stick, 256)
    with causes.full(stick):
        yield


@contextmanager
def in_a_pocket(stick: Path) -> Iterator[None]:
    stick.rename(stick.with_name("pocket"))
    yield
    stick.with_name("pocket").rename(stick)


TROUBLES = {
    "full": (crammed, StorageProblem.DISK_FULL),
    "locked": (locked, StorageProblem.READ_ONLY),
    "gone": (in_a_pocket, StorageProblem.GONE),
}


@pytest.mark.parametrize("name", list(TROUBLES))
def test_a_stick_that_takes_nothing(entry: Entry, stick: Path, name: str) -> None:
    cause, problem = TROUBLES[name]
    with cause(stick):
        choose(entry, stick)
        heard = told(entry)
        assert heard is not None
        assert heard.said == STICKS[problem]
        assert "Candidate" not in heard.detail
        assert copied(entry) == heard.detail != ""
        entry.qtbot.waitUntil(lambda: "Nothing was written." in entry.read)
        assert not stick.exists() or files_on(stick) == []
        assert said(entry, Export) == []
    choose(entry, stick)
    assert told(entry) is None
    assert len(files_on(stick)) == 1
    assert len(said(entry, Export)) == 1
    assert len(said(entry, Rate)) == 1


def test_a_stick_that_is_pulled_while_it_is_written(
    entry: Entry, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    causes.mounted(stick, 256)
    flush = writing.flush
    pulls: list[int] = []

    def pulling(descriptor: int) -> None:
        flush(descriptor)
        if not pulls:
            pulls.append(descriptor)
            causes.pulled(stick)

    monkeypatch.setattr(writing, "flush", pulling)
    choose(entry, stick)
    assert pulls, "nothing was written at all"
    heard = told(entry)
    assert heard is not None
    assert heard.said == STICKS[StorageProblem.GONE]
    assert "may pull" not in entry.read
    assert said(entry, Export) == []
    causes.mounted(stick, 256)
    choose(entry, stick)
    assert told(entry) is None
    entry.qtbot.waitUntil(lambda: "You may pull the stick out." in entry.read)
    assert len(files_on(stick)) == 1


def test_a_stick_that_keeps_something_else_is_not_trusted(
    entry: Entry, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = writing.flush

    def spoiling(descriptor: int) -> None:
        os.pwrite(descriptor, b"\0\0\0\0", 40)
        flush(descriptor)

    with monkeypatch.context() as bad:
        bad.setattr(writing, "flush", spoiling)
        choose(entry, stick)
    heard = told(entry)
    assert heard is not None
    assert heard.said == STICKS[StorageProblem.CHANGED]
    assert files_on(stick) == []
    choose(entry, stick)
    assert len(files_on(stick)) == 1


def test_without_a_password_store_the_keys_lie_in_a_private_file(entry: Entry, stick: Path) -> None:
    choose(entry, stick)
    assert told(entry) is None
    files = [each for each in entry.home.rglob("*") if each.is_file()]
    [keys] = [each for each in files if b"AGE-SECRET" in each.read_bytes()]
    assert keys.stat().st_mode & 0o077 == 0


def test_a_password_store_that_stays_locked_is_told_and_the_sentence_waits(
    begin: Begin, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import keyring
    from keyring.errors import KeyringLocked

    from tests.keyring_in_memory import MemoryKeyring, memory_keyring

    with memory_keyring() as ring:
        entry = begin()
        entry.answer("2")
        entry.press("x")
        choose(entry, stick)
        assert told(entry) is None
        entry.press("\r")

        class Locked(MemoryKeyring):
            def get_password(self, service: str, username: str) -> str | None:
                raise KeyringLocked("words of a backend")

        keyring.set_keyring(Locked())
        entry.answer("3")
        entry.press("x")
        choose(entry, stick)
        heard = told(entry)
        assert heard is not None
        assert "Ask for help." in heard.said
        assert "words of a backend" not in heard.detail
        assert len(said(entry, Rate)) == 2
        keyring.set_keyring(ring)
        choose(entry, stick)
        assert told(entry) is None
