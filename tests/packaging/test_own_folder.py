"""A build fills a folder of its own and deletes nothing of anybody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging.parts import part

own_folder = part("own_folder")


def names(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


def test_a_new_and_an_empty_folder_are_filled(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "dist" / "new", tmp_path / "empty"):
        assert names(own_folder.make(folder)) == [own_folder.CHECKSUMS]


def test_an_earlier_build_gives_way(tmp_path: Path) -> None:
    (tmp_path / own_folder.CHECKSUMS).touch()
    (tmp_path / "old.whl").touch()
    assert names(own_folder.make(tmp_path)) == [own_folder.CHECKSUMS]


def test_a_build_that_was_stopped_gives_way(tmp_path: Path) -> None:
    own_folder.make(tmp_path / "dist")
    (tmp_path / "dist" / "half.whl").touch()
    assert names(own_folder.make(tmp_path / "dist")) == [own_folder.CHECKSUMS]


def test_what_somebody_else_put_there_stays(tmp_path: Path) -> None:
    thesis = tmp_path / "thesis.odt"
    thesis.write_text("years of work")
    for folder in (tmp_path, thesis):
        with pytest.raises(SystemExit, match="holds other things"):
            own_folder.make(folder)
    assert thesis.read_text() == "years of work"
