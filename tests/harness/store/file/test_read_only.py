"""A store on a protected stick or in an archive: read as it is, never written, and said to be so."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from corpora.samples import DEMO_CORPUS, sample_path
from harness.core.failures import StoreError
from harness.store.file.database import is_read_only, open_store, opened
from harness.store.runs import find_run, list_runs
from rosetta_tui.commands import rosetta
from tests.desktop.trouble.causes import mounted, pulled

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


@pytest.fixture(params=["closed", "cut off"])
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


def test_it_is_listed_shown_compared_exported_and_verified(stick: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in stick.iterdir()}
    card = tmp_path / "card.json"
    last, first = (run.run_id for run in list_runs_of(stick))
    for words, said in (
        (("runs", "list"), "constant"),
        (("runs", "show", "last"), "chrF++"),
        (("runs", "show", "last", "--json"), "noted last"),
        (("runs", "export", "last", "-o", str(card)), ""),
        (("runs", "verify", "last"), ""),
        (("compare", last, first), "chrF++"),
        (("leaderboard",), "constant"),
        (("watch", "last", "--plain"), "8"),
    ):
        done = called(*words)
        assert done.exit_code == 0, (words, done.output, done.exception)
        assert said in done.output
    assert card.exists()
    assert {path.name: path.read_bytes() for path in stick.iterdir()} == before


def list_runs_of(stick: Path) -> list:  # type: ignore[type-arg]
    with opened(stick / "rosetta.sqlite") as store:
        assert is_read_only(store)
        return list_runs(store)


def test_what_would_write_is_refused_in_words(stick: Path) -> None:
    for words in (
        ("runs", "note", "last", "x"),
        ("runs", "delete", "last", "--yes"),
        ("run", CORPUS, "--method", "copy-source", "--plain"),
    ):
        done = called(*words)
        assert done.exit_code != 0
        assert isinstance(done.exception, StoreError), (words, done.output)
        assert "it can only be read here, so nothing was changed" in str(done.exception)
    assert [run.note for run in list_runs_of(stick)] == ["noted last", ""]
