"""Deleting everything: no byte is left, nothing of others is touched, and what stays is told by name."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

from harness.core.storage_problems import StorageProblem
from harness.sealed.keys import Identity, Role
from review.files.batch import write_batch
from review.log.laptop import FILE_NAME, Laptop
from review.log.own_file import Presence
from review.log.table import NotSaved
from review.session.erasing import (
    BEGUN,
    erase_everything,
    finish_erasing,
    open_laptop,
    why_not_erased,
)
from review.session.view import TextField
from review.session.words.catalogue import Words
from tests import keyring_in_memory
from tests.keyring_in_memory import MemoryKeyring
from tests.review.session.scenes import CODE, Sitting
from tests.review.thorough import times

OURS = b"organisation's own"


@pytest.fixture(autouse=True)
def ring() -> Iterator[MemoryKeyring]:
    with keyring_in_memory.memory_keyring() as ring:
        yield ring


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    """A laptop on which much was said."""
    sitting = Sitting(tmp_path / "home")
    batch = sitting.batch
    sitting.laptop.add_batch(batch.manifest_bytes, write_batch(batch), secret=False)
    sitting.laptop.set_setting("reviewer", CODE)
    sitting.session.save_text(sitting.see(), TextField.COMMENT, "my secret comment")
    sitting.rate()
    sitting.session.keep_draft(sitting.see(), TextField.SUGGESTION, "a half-typed wording")
    return sitting


def every_byte(folder: Path) -> bytes:
    """Read all files and their names."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return b"\n".join(path.name.encode() + b"\n" + path.read_bytes() for path in paths)


def traces(sitting: Sitting) -> list[bytes]:
    """Return what must not be left: words, texts, codes, ids."""
    texts = [
        text.encode() for item in sitting.batch.items for text in (item.source, item.candidate)
    ]
    said = [b"my secret comment", b"a half-typed wording", CODE.encode(), b'"rate"']
    return [*texts, *said, sitting.laptop.device.encode(), sitting.batch.manifest.batch.encode()]


@pytest.mark.parametrize("in_keyring", [True, False])
def test_erasing_leaves_nothing(sitting: Sitting, ring: MemoryKeyring, in_keyring: bool) -> None:
    if not in_keyring:
        keyring.set_keyring(NoKeyring())
    sitting.session.export(stick := sitting.folder.parent)
    assert bool(ring.kept) is in_keyring
    assert not [each for each in traces(sitting) if each not in every_byte(sitting.folder)]
    (linked := stick / "the same bytes of the disk").hardlink_to(sitting.folder / FILE_NAME)
    assert linked.stat().st_size
    assert erase_everything(sitting.laptop) == ()
    assert linked.read_bytes() == b"", "overwritten before it is deleted"
    assert not sitting.folder.exists()
    assert not ring.kept
    assert {path.suffix for path in stick.iterdir()} == {"", ".rosetta-ratings"}


def test_what_others_keep_in_the_folder_stays(sitting: Sitting, ring: MemoryKeyring) -> None:
    folder = sitting.folder
    organisation = Identity.load(folder, Role.ORGANISATION)
    Identity.load(folder, Role.LAPTOP)
    others = [folder / "rosetta.sqlite", folder / "office.sqlite", folder / "review-words" / "crk"]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(OURS)
    assert erase_everything(sitting.laptop) == ()
    assert [path.read_bytes() for path in others] == [OURS] * 3
    assert Identity.load(folder, Role.ORGANISATION) == organisation
    assert len(ring.kept) == 1
    left = {path.name for path in folder.iterdir()}
    assert left == {"rosetta.sqlite", "office.sqlite", "review-words", "organisation.keyring", "locks"}  # fmt: skip
    assert not [each for each in traces(sitting) if each in every_byte(folder)]


def test_another_window_prevents_it_and_nothing_is_changed(sitting: Sitting) -> None:
    before = every_byte(sitting.folder)
    other = Laptop.open(sitting.folder)
    with pytest.raises(NotSaved) as refused:
        erase_everything(sitting.laptop)
    assert refused.value.problem is StorageProblem.BUSY
    assert "another window" in why_not_erased(Words.load("en"), refused.value).said
    assert every_byte(sitting.folder) == before
    sitting.rate()
    other.close()
    assert erase_everything(sitting.laptop) == ()


class Stubborn(MemoryKeyring):
    """Keeps what it is told to delete."""

    def delete_password(self, service: str, username: str) -> None:
        raise RuntimeError("locked")


def test_what_the_keyring_keeps_is_deleted_at_the_next_start(sitting: Sitting) -> None:
    keyring.set_keyring(stubborn := Stubborn())
    Identity.load(sitting.folder, Role.LAPTOP)
    (told,) = erase_everything(sitting.laptop)
    assert (told.name, told.in_keyring) == ("rosetta-review", True)
    assert not [each for each in traces(sitting) if each in every_byte(sitting.folder)]
    kinder = MemoryKeyring()
    kinder.kept = stubborn.kept
    keyring.set_keyring(kinder)
    assert finish_erasing(sitting.folder) == ()
    assert not kinder.kept
    assert not sitting.folder.exists()


def test_deletion_never_reaches_what_came_after(sitting: Sitting) -> None:
    keyring.set_keyring(Stubborn())
    Identity.load(sitting.folder, Role.LAPTOP)
    assert erase_everything(sitting.laptop)
    with Laptop.open(sitting.folder) as laptop:
        laptop.set_setting("reviewer", CODE)
    assert finish_erasing(sitting.folder) == ()
    assert not (sitting.folder / BEGUN).exists()
    with Laptop.open(sitting.folder) as laptop:
        assert laptop.setting("reviewer") == CODE


def test_a_file_that_was_moved_away_is_told(sitting: Sitting) -> None:
    (sitting.folder / FILE_NAME).rename(sitting.folder.parent / "moved")
    (told,) = erase_everything(sitting.laptop)
    assert told.name.endswith(FILE_NAME)
    assert "moved" in told.detail


@pytest.fixture
def as_another() -> Iterator[None]:
    """Be somebody who may not look into the folders of this test."""
    if sys.platform == "win32" or os.geteuid() != 0:
        pytest.skip("only the system's administrator can give rights up and take them back")
    os.seteuid(65534)
    yield
    os.seteuid(0)


def test_who_may_not_look_there_deletes_nothing(sitting: Sitting, as_another: None) -> None:
    for begin in (finish_erasing, open_laptop):
        with pytest.raises(NotSaved) as refused:
            begin(sitting.folder)
        assert refused.value.problem is StorageProblem.READ_ONLY
    with pytest.raises(NotSaved):
        erase_everything(sitting.laptop)
    os.seteuid(0)
    sitting.rate()


def test_what_may_not_be_looked_at_any_more_is_told_by_name(
    sitting: Sitting, as_another: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(laptop: Laptop) -> Presence:
        os.seteuid(0)
        presence = close_alone(laptop)
        os.seteuid(65534)
        return presence

    close_alone = Laptop.close_alone
    monkeypatch.setattr(Laptop, "close_alone", closed)
    told = erase_everything(sitting.laptop)
    assert str(sitting.folder / FILE_NAME) in {each.name for each in told}


_ERASE = """
import os, signal, sys
from pathlib import Path
from review.log.laptop import Laptop
from review.session import erasing
calls = 0
def dying(act):
    def acts(*arguments, **wishes):
        global calls
        calls += 1
        if calls == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return act(*arguments, **wishes)
    return acts
Path.unlink, Path.rmdir, os.fsync = dying(Path.unlink), dying(Path.rmdir), dying(os.fsync)
erasing.erase_everything(Laptop.open(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("step", range(1, 22, times(11, 1)))
def test_deletion_killed_at_any_step_is_finished_at_next_start(sitting: Sitting, step: int) -> None:
    keyring.set_keyring(NoKeyring())
    Identity.load(sitting.folder, Role.LAPTOP)
    sitting.laptop.close()
    program = [sys.executable, "-c", _ERASE, str(sitting.folder), str(step)]
    assert subprocess.run(program, check=False).returncode == -signal.SIGKILL
    open_laptop(sitting.folder).close()
    assert not [each for each in traces(sitting) if each in every_byte(sitting.folder)]
    assert not (sitting.folder / "laptop.key").exists()


def test_where_nothing_was_begun_nothing_is_finished(sitting: Sitting) -> None:
    before = every_byte(sitting.folder)
    assert finish_erasing(sitting.folder) == ()
    assert finish_erasing(sitting.folder / "nowhere") == ()
    assert every_byte(sitting.folder) == before
