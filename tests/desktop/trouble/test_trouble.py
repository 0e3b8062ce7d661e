"""What cannot be saved, handed over or opened: it is said, nothing is lost, and another try works."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import keyring
import pytest
from keyring.errors import KeyringLocked
from PySide6.QtWidgets import QTextEdit
from pytestqt.qtbot import QtBot

from harness.core.storage_problems import StorageProblem
from harness.sealed.chain import check_chain
from harness.sealed.forms import FileProblem
from harness.sealed.sealing import AgeIdentity, seal
from review.desktop.item.item_page import ItemPage
from review.desktop.pages.choose_page import ChoosePage
from review.desktop.pages.first_pages import OrganisationPage
from review.desktop.pages.hand_over_page import HandOverPage
from review.log.fold import fold
from review.log.payloads import Comment, Rate
from review.rating import Rating
from review.session.words.troubles import FILES, SAVING, STICKS
from tests.desktop.trouble import causes
from tests.desktop.trouble.causes import Cause
from tests.desktop.visit_scene import Enter, Entry
from tests.keyring_in_memory import MemoryKeyring, memory_keyring
from tests.review.session.scenes import CODE, batch_of, item_id, items_of, write_file
from tests.review.thorough import first

Begin = Callable[..., Entry]


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder for the laptop and the stick; what is mounted in it is taken away."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for each in folder.iterdir():
        while os.path.ismount(each):
            causes.pulled(each)
    shutil.rmtree(folder)


@pytest.fixture
def begin(qtbot: QtBot, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Start the program, and go to the first sentence of a batch on the stick."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    entries: list[Entry] = []
    (folder / "home").mkdir()
    (folder / "stick").mkdir()

    def start(**options: Any) -> Entry:
        file = write_file(batch_of(items_of(4)), folder / "mail")
        options = {"places": [file], "sticks": [folder / "stick"], **options}
        entries.append(Entry(qtbot, folder / "home", **options))
        entry = entries[-1]
        entry.window.resize(1024, 600)
        entry.to_item()
        return entry

    yield start
    for entry in entries:
        entry.close()


class Trouble(NamedTuple):
    begin: Cause
    problem: StorageProblem
    small_disk: bool = False


TROUBLES = {
    "moved": Trouble(causes.moved, StorageProblem.GONE),
    "removed": Trouble(causes.removed, StorageProblem.GONE),
    "disk gone": Trouble(causes.gone, StorageProblem.GONE),
    "read-only": Trouble(causes.read_only, StorageProblem.READ_ONLY),
    "full": Trouble(causes.full, StorageProblem.DISK_FULL, small_disk=True),
}


def started(begin: Begin, folder: Path, trouble: Trouble) -> Entry:
    if trouble.small_disk:
        causes.mounted(folder / "home", 1024)
    entry = begin()
    entry.answer("2")
    shown(entry)
    return entry


def shown(entry: Entry) -> ItemPage:
    """Wait until a sentence is painted, and give its page."""
    page, session = entry.page(ItemPage), entry.visit.flow.session
    assert session is not None
    entry.qtbot.waitUntil(lambda: session.time.runs)
    return page


def box(entry: Entry) -> QTextEdit:
    """Return where one types, once it is in sight."""
    found = entry.page(ItemPage).findChildren(QTextEdit)
    [box] = [each for each in found if not each.isReadOnly()]
    entry.qtbot.waitUntil(lambda: not box.visibleRegion().isEmpty())
    return box


def rated(entry: Entry) -> list[Rate]:
    return [each for each in entry.events(Rate) if isinstance(each, Rate)]


def comments(entry: Entry) -> list[tuple[str, str]]:
    return [(each.item, each.text) for each in entry.events(Comment) if isinstance(each, Comment)]


@pytest.mark.parametrize("name", first(1, TROUBLES))
def test_answers_and_words_that_are_not_saved(begin: Begin, folder: Path, name: str) -> None:
    trouble = TROUBLES[name]
    entry = started(begin, folder, trouble)
    before = shown(entry)
    with trouble.begin(entry.home):
        entry.press("3")
        page = shown(entry)
        assert page is before
        said, detail = entry.trouble
        assert said == SAVING[trouble.problem]
        assert re.fullmatch(r"(SQLITE_|E)[A-Z_]+", detail)
        assert entry.copied() == detail
        assert "Sentence 2 of 4" in page.accessibleName()
        candidate = page.texts.candidate
        assert candidate.toPlainText() == "Candidate 2."
        entry.qtbot.waitUntil(lambda: not candidate.visibleRegion().isEmpty())
    entry.press("3")
    assert entry.trouble == ("", ""), "it is over before the next key, and gone with it"
    assert [each.item for each in rated(entry)] == [item_id(1), item_id(2)]
    assert rated(entry)[-1].rating is Rating.ACCEPTABLE
    assert "Sentence 3 of 4" in shown(entry).accessibleName()
    with trouble.begin(entry.home):
        entry.press("c")
        entry.type("my words, 1 2 3")
        entry.press("\r")
        shown(entry)
        said, detail = entry.trouble
        assert said == SAVING[trouble.problem]
        assert box(entry).toPlainText() == "my words, 1 2 3"
    entry.press("\r")
    assert comments(entry) == [(item_id(3), "my words, 1 2 3")]
    assert entry.trouble == ("", "")


JUMPS = {
    "an hour back": timedelta(hours=-1),
    "to the year 1970": datetime(1970, 1, 1, tzinfo=UTC) - datetime.now(UTC),
    "years ahead": timedelta(days=4000),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", JUMPS)
def test_a_clock_that_was_moved_changes_no_answer(begin: Begin, name: str) -> None:
    entry = begin()
    entry.answer("2")
    shown(entry)
    session = entry.visit.flow.session
    assert session is not None
    author = session._author  # only its clock jumps: Qt and SQLite keep theirs
    now = author._now  # what it asks is wrapped below
    author._now = lambda: now() + JUMPS[name]  # the clock that events are dated by
    entry.press("3")
    shown(entry)
    entry.press("u")
    shown(entry)
    entry.press("4")
    assert entry.trouble == ("", "")
    events = list(entry.laptop.events())
    assert all(chain.whole for chain in check_chain(events).chains)
    judged = fold(events).reviewers["ba" * 8, CODE].judgements
    assert {item: each.rating for item, each in judged.items()} == {
        item_id(1): Rating.GIST,
        item_id(2): Rating.EXCELLENT,
    }


# the password store, and files that cannot be opened


def test_locked_password_store_is_told(begin: Begin, folder: Path) -> None:
    def choose() -> None:
        entry.idle()
        entry.page(HandOverPage).save(folder / "stick")
        entry.idle()

    with memory_keyring() as ring:
        entry = begin()
        entry.answer("2")
        entry.press("x")
        choose()
        assert entry.trouble == ("", "")
        entry.press("\r")

        class Locked(MemoryKeyring):
            def get_password(self, service: str, username: str) -> str | None:
                raise KeyringLocked("words of a backend")

        keyring.set_keyring(Locked())
        entry.answer("3")
        entry.press("x")
        choose()
        said, detail = entry.trouble
        assert "Ask for help." in said
        assert "words of a backend" not in detail
        assert len(entry.events(Rate)) == 2
        keyring.set_keyring(ring)
        choose()
        assert entry.trouble == ("", "")


def test_file_that_is_not_taken_is_told_and_a_good_one_opens(enter: Enter, tmp_path: Path) -> None:
    file = write_file(batch_of(items_of(2)), tmp_path / "stick")
    good = file.read_bytes()
    file.write_bytes(good.replace(b"Candidate 2", b"candidate 2"))
    entry = enter(places=[file])
    entry.page(ChoosePage)
    said, detail = entry.trouble
    assert said == f"{file.name}: {FILES[FileProblem.DAMAGED]}"
    assert detail.startswith(f"{file}: ")
    assert said.partition(": ")[2] not in detail
    assert "andidate" not in detail
    assert entry.copied() == detail
    assert entry.laptop.batches() == ()
    # one of another laptop asks for nothing that helps nobody
    file.write_bytes(seal(good, [AgeIdentity.make().recipient]))
    entry.visit.take(file)
    entry.page(ChoosePage)
    assert entry.trouble[0] == f"{file.name}: {FILES[FileProblem.WRONG_KEY]}"
    # under a file's name a pipe stops nobody
    os.mkfifo(odd := file.with_name("odd.rosetta-batch"))
    entry.visit.take(odd)
    entry.page(ChoosePage)
    assert entry.trouble[0]
    file.write_bytes(good)
    entry.visit.take(file)
    entry.page(OrganisationPage)
    assert entry.trouble == ("", "")


def test_a_stick_that_is_gone_between_list_and_key(enter: Enter, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    write_file(batch_of(items_of(2)), stick)
    entry = enter(sticks=[stick])
    stick.rename(tmp_path / "pocket")
    entry.press("\r")
    entry.page(ChoosePage)
    assert entry.trouble[0] == STICKS[StorageProblem.GONE]
    (tmp_path / "pocket").rename(stick)
    entry.click("Look again")
    entry.press("\r")
    entry.page(OrganisationPage)
