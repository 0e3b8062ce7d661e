"""A bundle for Linux without its program, and people whose folders have names of all kinds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.packaging.parts import REVIEWER


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """A bundle as a person unpacks it; instead of the program a script that notes what it was given."""
    folder = tmp_path / "Téléchargements" / "rosetta-review"
    share = folder / "share"
    share.mkdir(parents=True)
    for path in (REVIEWER / "linux").iterdir():
        shutil.copy(path, folder if path.suffix == ".sh" else share)
    shutil.copy(REVIEWER / "icon.svg", share / "rosetta-review.svg")
    for size in (32, 48, 64, 128, 256):
        (share / f"rosetta-review-{size}.png").write_bytes(b"png")
    (folder / "_internal").mkdir()
    (folder / "_internal" / "libQt6Core.so.6").symlink_to("elsewhere")
    program = folder / "rosetta-review"
    program.write_text(
        '#!/bin/sh\nprintf "%s\\n" "$@" >"$HOME/given.part"\nmv "$HOME/given.part" "$HOME/given"\n'
    )
    program.chmod(0o755)
    return folder


@pytest.fixture(params=["ana", 'Ana $HOME "the 2nd" `é` \\ &'], ids=["plain", "hostile"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / str(request.param)
    folder.mkdir()
    return folder
