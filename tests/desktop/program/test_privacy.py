"""After a whole sitting in a process of its own: which files there are, who may read them, and what is in them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from review.files.batch import write_batch
from review.files.ratings import open_ratings
from review.rating import Rating
from tests.desktop.conftest import NO_FONTS
from tests.desktop.program.whole_program import COMMENT, DRAFT
from tests.review.session.scenes import CUSTODIANS, batch_of, items_of

SECRET = "river stone cloud ember"
BATCH = batch_of(items_of(3), secret=True)
TEXTS = [text.encode() for item in BATCH.items for text in (item.source, item.candidate)]
PLACES = ("home", "config", "cache", "share", "state", "run", "tmp", "here", "stick")
REPOSITORY = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")


@dataclass
class Computer:
    """Folders of a person's own, and a stick."""

    folder: Path

    def __post_init__(self) -> None:
        for each in PLACES:
            (self.folder / each).mkdir(parents=True)
        (self.folder / "run").chmod(0o700)
        self.file = self.folder / "stick" / "spring.rosetta-batch"
        self.file.write_bytes(write_batch(BATCH, passphrase=SECRET))

    @property
    def data(self) -> Path:
        return self.folder / "share" / "rosetta-tui"

    def run(self) -> None:
        """Start the program as a person's desktop would, and use it to the end."""
        xdg = ("CONFIG_HOME", "CACHE_HOME", "DATA_HOME", "STATE_HOME", "RUNTIME_DIR")
        names = ("HOME", *(f"XDG_{each}" for each in xdg), "TMPDIR")
        places = dict(zip(names, PLACES, strict=False))
        program = [sys.executable, "-B", "-m", "tests.desktop.program.whole_program"]
        ended = subprocess.run(
            [*program, str(self.file), SECRET],
            cwd=self.folder / "here",
            env={name: str(self.folder / place) for name, place in places.items()}
            | {
                "PATH": os.defpath,
                "PYTHONPATH": str(REPOSITORY),
                "QT_QPA_PLATFORM": "offscreen",
                "FONTCONFIG_FILE": str(NO_FONTS),
            },
            umask=0o022,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert not any(text.decode() in ended.stdout + ended.stderr for text in TEXTS)

    def files(self) -> set[str]:
        """Name every file of the person's folders, and every folder that was made in them."""
        found = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}
        return found - set(PLACES)

    def every_byte(self, *places: str) -> bytes:
        paths = [path for place in places for path in (self.folder / place).rglob("*")]
        return b"\n".join(path.read_bytes() for path in paths if path.is_file())


@pytest.fixture(scope="module")
def computer(tmp_path_factory: pytest.TempPathFactory) -> Computer:
    """On which everything was judged and handed over."""
    computer = Computer(tmp_path_factory.mktemp("computer"))
    computer.run()
    return computer


def ratings_file(computer: Computer) -> Path:
    (file,) = (computer.folder / "stick").glob("*.rosetta-ratings")
    return file


def test_the_sitting_took_place(computer: Computer) -> None:
    opened = open_ratings(ratings_file(computer).read_bytes(), CUSTODIANS)
    lines = b"".join(opened.lines)
    for rating in (Rating.EXCELLENT, Rating.GIST, Rating.REJECT):
        assert f'"rating":"{rating}"'.encode() in lines
    assert COMMENT.encode() in lines


def test_files_lie_in_the_data_folder_and_on_the_stick(computer: Computer) -> None:
    data = "share/rosetta-tui"
    assert computer.files() == {
        data,
        f"{data}/review.sqlite",
        f"{data}/review.open",
        f"{data}/laptop.key",
        f"{data}/locks",
        f"{data}/locks/laptop-key.lock",
        "stick/spring.rosetta-batch",
        f"stick/{ratings_file(computer).name}",
    }


def test_nobody_else_may_read_any_of_it(computer: Computer) -> None:
    modes = {
        path: stat.S_IMODE(path.stat().st_mode)
        for path in (computer.data, *computer.data.rglob("*"))
    }
    wanted = {path: 0o700 if path.is_dir() else 0o600 for path in modes}
    assert modes == wanted


def test_no_secret_text_and_no_secret_words_lie_open_anywhere(computer: Computer) -> None:
    found = computer.every_byte(*PLACES)
    assert [text for text in TEXTS if text in found] == []
    assert SECRET.encode() not in found
    assert SECRET.replace(" ", "").encode() not in found

    assert not any(each.encode() in found for each in (COMMENT, DRAFT))
