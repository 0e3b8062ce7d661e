"""What commands say of files that cannot be read or written: the file, the mend, and an exit code that tells input from failure."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.core.failures import StoreError, UsageError
from harness.core.written_files import write_file
from harness.sealed.sealing import seal_with_passphrase
from rosetta_tui import cli
from tests.tui.commands.certified_gold import said


def program(*words: str, home: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from rosetta_tui.cli import main; main()", *words],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"ROSETTA_HOME": str(home)},
        check=False,
        timeout=100,
    )
    return done.returncode, done.stderr


def test_a_data_folder_that_is_none_is_wrong_usage(tmp_path: Path) -> None:
    """Exit code 1 of verify says that a file does not hold, and nobody looked at it."""
    (tmp_path / "file").write_text("x")
    for words in (["verify", str(tmp_path / "file")], ["demo", "--plain"], ["runs", "list"]):
        code, told = program(*words, home=tmp_path / "file")
        assert code == 2, told
        assert f"The data folder {tmp_path / 'file'} cannot be written" in told
        assert "Name another folder in ROSETTA_HOME" in told


def test_a_store_that_fails_keeps_verify_from_looking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    (tmp_path / "rosetta.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert isinstance(said("runs list").exception, StoreError)
    done = said(f"verify {tmp_path}/x")
    assert isinstance(done.exception, UsageError)
    assert "cannot be used as a store" in str(done.exception)


@pytest.mark.parametrize(
    ("number", "name", "code", "mend"),
    [
        (errno.EACCES, "f.txt", 2, "Allow it, or name another place."),
        (errno.EROFS, b"f.txt", 2, "Allow it, or name another place."),
        (errno.ENOENT, "f.txt", 2, "Correct the path"),
        (errno.EISDIR, "f.txt", 2, "Name a file in it."),
        (errno.ENOSPC, "f.txt", 1, "Make room there"),
        (errno.EIO, "f.txt", 1, "See whether the disk is still there"),
        (errno.EACCES, None, 1, "Allow it"),
        (errno.EMFILE, 3, 1, "do it again"),
    ],
)
def test_what_the_system_refuses_is_said_with_its_mend(
    number: int, name: str | None, code: int, mend: str, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = os.dup(1)
    try:
        ended = cli._unwritten(OSError(number, os.strerror(number), name))  # the last place of all
        assert ended == code
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    told = capfd.readouterr().err
    assert told.startswith("error: f.txt: " if code == 2 else "error: ")
    assert mend in told


def test_a_folder_given_as_the_target_is_named(tmp_path: Path) -> None:
    code, told = program("corpus", "sources", str(tmp_path / "none"), "x.txt", home=tmp_path)
    assert (code, "none" in told) == (2, True)
    for overwrite in (True, False):
        with pytest.raises(UsageError, match=f"{tmp_path} is a folder. Name a file in it."):
            write_file(tmp_path, b"x", overwrite=overwrite)


def test_the_option_that_was_wrong_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    done = said(f"ownership propose last --developer Ann --key abc -o {tmp_path}/x")
    assert str(done.exception).startswith("--key: ")


@pytest.mark.parametrize(
    "command", ["ownership show", "ownership sign", "ownership take", "organisation take"]
)
def test_records_that_cannot_be_read_are_named(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path))
    path = tmp_path / "m.rosetta-ownership"
    path.write_text("{}")
    done = said(f"{command} {path}")
    assert isinstance(done.exception, UsageError)
    assert str(path) in str(done.exception)


def test_what_is_cut_is_said_to_be_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    cut = tmp_path / "cut.json"
    cut.write_text('{"format":"rosetta-profile/1","name":"U')
    done = said(f"verify {cut}")
    assert done.exit_code == 1
    assert "the profile of an organisation" in done.output
    assert "cut short or not whole" in done.output
    for content in ('{\n  "cost": 1,\n  "run_id": "a', '{"a": 1, "b"'):
        cut.write_text(content)
        assert "cut short or not whole" in str(said(f"verify {cut}").exception)
    for content in ("{}", '{"a": 1}'):
        cut.write_text(content)
        told = str(said(f"verify {cut}").exception)
        assert "no file that" in told
        assert "a notice of consent, " in told


def test_a_batch_behind_a_passphrase_is_named_with_a_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    path = tmp_path / "b.rosetta-batch"
    path.write_bytes(seal_with_passphrase(b"PK", "one two three four five six"))
    told = str(said(f"verify {path}").exception)
    assert "b.rosetta-batch" in told
    assert "rosetta review verify CERTIFICATE --batch FILE" in told
