"""Batches are found on sticks, newest first, without wandering off."""

import os
import sys
from pathlib import Path

import pytest

from review.files import finding
from review.files.finding import find_batches, mounted_sticks


def put(path: Path, modified: int = 1_000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    os.utime(path, (modified, modified))
    return path


def found(*places: Path, **options: object) -> list[Path]:
    return [each.path for each in find_batches(places, **options)]  # type: ignore[arg-type]


def test_newest_first_in_folders_below(tmp_path: Path) -> None:
    old = put(tmp_path / "a" / "old.rosetta-batch", 1_000)
    new = put(tmp_path / "a" / "b" / "c" / "NEW.ROSETTA-BATCH", 3_000)
    middle = put(tmp_path / "middle.rosetta-batch", 2_000)
    put(tmp_path / "a" / "b" / "c" / "d" / "deep.rosetta-batch")
    put(tmp_path / "other.zip")
    put(tmp_path / ".half.rosetta-batch")
    put(tmp_path / ".Trash" / "gone.rosetta-batch")
    assert found(tmp_path) == [new, middle, old]
    assert [each.size for each in find_batches([tmp_path])] == [1, 1, 1]


def test_ratings_are_found_the_same_way(tmp_path: Path) -> None:
    ratings = put(tmp_path / "a.rosetta-ratings")
    assert found(tmp_path, suffix=".rosetta-ratings") == [ratings]


def test_links_are_never_followed(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere" / "a.rosetta-batch")
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "link.rosetta-batch").symlink_to(tmp_path / "elsewhere" / "a.rosetta-batch")
    (stick / "folder").symlink_to(tmp_path / "elsewhere")
    (stick / "loop").symlink_to(stick)
    assert found(stick) == []


def test_one_file_in_two_places_is_one(tmp_path: Path) -> None:
    file = put(tmp_path / "a" / "x.rosetta-batch")
    assert found(tmp_path / "a", tmp_path, tmp_path / "a") == [file]


def test_what_is_no_file_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "folder.rosetta-batch").mkdir()
    os.mkfifo(tmp_path / "pipe.rosetta-batch")
    assert found(tmp_path, tmp_path / "not there") == []


def test_a_huge_place_is_left_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = put(tmp_path / "a.rosetta-batch")
    for number in range(300):
        put(tmp_path / "many" / f"{number}.jpg")
    monkeypatch.setattr(finding, "_MOST_ENTRIES", 100)
    assert found(tmp_path) == [first]
    assert found(tmp_path, seconds=0.0) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems show sticks elsewhere")
def test_sticks_are_what_is_mounted_below_the_usual_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    media = tmp_path / "media"
    sticks = [media / "STICK", media / "user" / "RED STICK"]
    for folder in (*sticks, media / "user" / "left over"):
        folder.mkdir(parents=True)
    monkeypatch.setattr(finding, "_MOUNT_POINTS", (media, tmp_path / "not there"))
    monkeypatch.setattr(Path, "is_mount", lambda path: path in sticks)
    assert sorted(mounted_sticks()) == sorted(sticks)
