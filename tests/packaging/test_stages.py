"""A build that broke off goes on where it was, and a folder that is handed on is whole or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging.parts import part

own_folder, stages = part("own_folder"), part("stages")


def test_a_stage_is_done_while_its_inputs_and_what_it_made_are_there(tmp_path: Path) -> None:
    made = tmp_path / "made"
    done = stages.Stages(tmp_path / "out")
    assert not done.is_done("program", "a" * 64, made)
    made.mkdir()
    done.note("program", "a" * 64)
    done.note("archives", "b" * 64)
    again = stages.Stages(tmp_path / "out")
    assert again.is_done("program", "a" * 64, made)
    assert not again.is_done("program", "b" * 64, made)
    made.rmdir()
    assert not again.is_done("program", "a" * 64, made)
    assert again.is_done("archives", "b" * 64)


@pytest.mark.parametrize("damage", ["", "{", "[]"])
def test_a_list_of_stages_that_is_damaged_counts_for_nothing(tmp_path: Path, damage: str) -> None:
    (tmp_path / "stages.json").write_text(damage)
    done = stages.Stages(tmp_path)
    assert not done.is_done("program", "a")
    done.note("program", "a")
    assert done.is_done("program", "a")


def test_the_hash_of_inputs_sees_every_name_and_byte(tmp_path: Path) -> None:
    folder = tmp_path / "review"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "one.py").write_text("1")
    seen = {stages.hash_of([folder])}
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "one.pyc").write_bytes(b"cache")
    assert stages.hash_of([folder]) in seen
    for act in (
        lambda: (folder / "deep" / "one.py").write_text("2"),
        lambda: (folder / "deep" / "one.py").rename(folder / "one.py"),
        lambda: (folder / "link").symlink_to("one.py"),
    ):
        act()
        found = stages.hash_of([folder])
        assert found not in seen
        seen.add(found)
    assert stages.hash_of([folder], "Python 3.13") not in seen


def test_a_folder_that_broke_off_leaves_what_was_there(tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    with own_folder.filling(stick) as folder:
        (folder / "START-HERE.html").write_text("first")
    with pytest.raises(FileNotFoundError), own_folder.filling(stick) as folder:  # noqa: PT012
        (folder / "Review-Linux.tar.xz").write_bytes(b"half")
        (folder / "no such folder" / "START-HERE.html").write_text("half")
    assert (stick / "START-HERE.html").read_text() == "first"
    assert not (stick / "Review-Linux.tar.xz").exists()
    with own_folder.filling(stick) as folder:
        (folder / "START-HERE.html").write_text("second")
    assert (stick / "START-HERE.html").read_text() == "second"
    assert [each.name for each in tmp_path.iterdir()] == ["stick"]
