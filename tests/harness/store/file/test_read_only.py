"""A store on a protected stick or in an archive: read as it is, never written, and said to be so."""

from __future__ import annotations

from pathlib import Path

from harness.core.failures import StoreError
from harness.store.file.database import is_read_only, opened
from harness.store.runs import list_runs
from tests.harness.store.file.locked_stick import CORPUS, called, made, stick

__all__ = ["made", "stick"]


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
