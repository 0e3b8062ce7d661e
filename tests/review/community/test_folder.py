"""The folder of an export: whole or as it was, whatever stops it; every changed byte is found."""

import errno
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Never

import pytest

from harness.core.failures import UsageError
from harness.sealed.forms import FileError
from harness.sealed.keys import Identity, Role
from review.community import folder as export_folder
from review.community.folder import (
    ABOUT,
    FORMAT,
    OutFile,
    new_export,
    put_in_place,
    read_export,
    sign_part,
    write_part,
)
from tests.review.thorough import times

SIGNER, OTHER = Identity.make(Role.COMPUTER), Identity.make(Role.COMPUTER)


def files(words: str) -> list[OutFile]:
    about = {"format": FORMAT, "signing_key": SIGNER.public.signing_key, "words": words}
    return [
        OutFile(ABOUT, json.dumps(about).encode()),
        OutFile("runs/a/card.json", words.encode()),
        OutFile("runs/b/card.json", words.encode() * 2),
    ]


def export(target: Path, locks: Path, words: str) -> None:
    with new_export(target, locks) as made:
        sign_part(made, write_part(made, files(words)), SIGNER)
        put_in_place(made, target)


def words_in(target: Path) -> str:
    checked = read_export(target)
    assert len(checked.sums) == 4
    return str(checked.about["words"])


class Killed(BaseException):
    """Power fails: nothing happens on the disk any more."""


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], list[int]]]:
    """Yield a function that lets the power fail at the n-th step on the disk; its list counts the steps."""
    with monkeypatch.context() as patched:

        def at(step: int) -> list[int]:
            patched.undo()
            counted: list[int] = []

            def dies(act: Callable[..., Any]) -> Callable[..., Any]:
                def done(*given: Any, **named: Any) -> Any:
                    counted.append(1)
                    if len(counted) >= step:
                        raise Killed
                    return act(*given, **named)

                return done

            for place, name in (
                (export_folder, "write_file"),
                (export_folder, "private_folder"),
                (Path, "rename"),
                (shutil, "rmtree"),
            ):
                patched.setattr(place, name, dies(getattr(place, name)))
            return counted

        yield at
        patched.undo()


def test_stopped_export_is_old_or_new(tmp_path: Path, dying: Callable[[int], list[int]]) -> None:
    target, locks = tmp_path / "out", tmp_path / "locks"
    found = set()
    for step in range(1, 30):
        shutil.rmtree(target, ignore_errors=True)
        export(target, locks, "old")
        counted = dying(step)
        try:
            export(target, locks, "new")
        except Killed:
            pass
        else:
            assert len(counted) < step
            break
        finally:
            dying(10**6)
        found.add(words_in(target))
        export(target, locks, "newer")
        assert words_in(target) == "newer"
        assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
    else:
        pytest.fail("it never came to its end")
    assert found == {"old", "new"}


@pytest.mark.parametrize("old", [True, False])
def test_full_disk_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool
) -> None:
    target, locks = tmp_path / "out", tmp_path / "locks"
    if old:
        export(target, locks, "old")

    def full(*_: Any, **__: Any) -> Never:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("harness.core.written_files.tempfile.mkstemp", full)
        with pytest.raises(UsageError, match="No space left"):
            export(target, locks, "new")
    assert {each.name for each in tmp_path.iterdir()} == ({"out", "locks"} if old else {"locks"})
    assert not old or words_in(target) == "old"
    export(target, locks, "new")
    assert words_in(target) == "new"


def test_every_changed_byte_is_found(tmp_path: Path) -> None:
    target = tmp_path / "out"
    export(target, tmp_path / "locks", "words")
    for path in sorted(each for each in target.rglob("*") if each.is_file()):
        original = path.read_bytes()
        for place in range(0, len(original), times(3, 1)):
            changed = original[:place] + bytes([original[place] ^ 1]) + original[place + 1 :]
            path.write_bytes(changed)
            with pytest.raises(FileError):
                read_export(target)
        path.unlink()
        with pytest.raises(FileError, match="missing"):
            read_export(target)
        path.write_bytes(original)
    assert words_in(target) == "words"


def test_what_others_put_there_is_found(tmp_path: Path) -> None:
    target = tmp_path / "out"
    export(target, tmp_path / "locks", "words")
    (target / "notes.txt").write_text("mine")
    with pytest.raises(FileError, match=r"notes\.txt: no export wrote it"):
        read_export(target)
    (target / "notes.txt").unlink()
    (target / "elsewhere").symlink_to(tmp_path)
    with pytest.raises(FileError, match="elsewhere: no export wrote it"):
        read_export(target)
    (target / "elsewhere").unlink()
    card = target / "runs/a/card.json"
    card.rename(tmp_path / "card.json")
    card.symlink_to(tmp_path / "card.json")
    with pytest.raises(FileError, match="a link lies in its place"):
        read_export(target)
    card.unlink()
    (tmp_path / "card.json").rename(card)
    assert words_in(target) == "words"
    signed = OTHER.sign((target / "SHA256SUMS").read_bytes())
    (target / "SHA256SUMS.sig").write_bytes(signed)  # by somebody else
    with pytest.raises(FileError, match=r"SHA256SUMS\.sig"):
        read_export(target)


def test_no_path_leads_out_and_no_link_takes_its_place(tmp_path: Path) -> None:
    for path in ("../out", "a/../../b", "", "a//b", "a\nb", "a\\b", "/etc/x", "a\x7f"):
        with pytest.raises(UsageError, match="no name"):
            write_part(tmp_path, [OutFile(path, b"")])
        assert list(tmp_path.iterdir()) == [], path
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_text("x")
    for name in ("link", "file"):
        with pytest.raises(UsageError, match="is no folder"):
            export(tmp_path / name, tmp_path / "locks", "x")
    assert list((tmp_path / "real").iterdir()) == []
