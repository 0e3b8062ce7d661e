"""A store on a stick that cannot be written."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from corpora.samples import DEMO_CORPUS, sample_path
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from rosetta_tui.commands import rosetta
from tests.desktop.trouble.causes import mounted, pulled
from tests.review.thorough import first

CORPUS = str(sample_path(DEMO_CORPUS))


def called(*words: str) -> Result:
    return CliRunner().invoke(rosetta, list(words))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with two sealed runs."""
    home = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROSETTA_HOME", str(home))
        for method in (["copy-source"], ["constant", "--text", "Mi vidas la hundon."]):
            few = ["--limit", "8", "--metrics", "chrf_plus_plus", "--plain"]
            done = called("run", CORPUS, "--method", *method, *few)
            assert done.exit_code == 0, done.output
    return home


@pytest.fixture(params=first(1, ["closed", "cut off"]))
def stick(
    request: pytest.FixtureRequest, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """The same on a disk that cannot be written; cut off: the last note lies in the journal only."""
    home = tmp_path / "stick"
    home.mkdir()
    mounted(home, 20_000)
    copied = tmp_path / "copied"
    shutil.copytree(made, copied)
    with closing(open_store(copied / "rosetta.sqlite")) as store:
        run = find_run(store, "last").id
        store.execute("INSERT INTO notes (run, words) VALUES (?, 'noted last')", (run,))
        names = ["rosetta.sqlite"]
        if request.param == "cut off":
            names.append("rosetta.sqlite-wal")
        else:
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for name in names:
            shutil.copyfile(copied / name, home / name)
    subprocess.run(["mount", "-o", "remount,ro", str(home)], check=True)
    monkeypatch.setenv("ROSETTA_HOME", str(home))
    try:
        yield home
    finally:
        pulled(home)
