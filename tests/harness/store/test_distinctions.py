"""Runs of one name are told apart in every list by what they differ in."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.store import distinctions as module
from harness.store.distinctions import distinctions
from harness.store.file.database import opened
from harness.store.runs import list_runs
from rosetta_tui.report.card import run_line
from rosetta_tui.runs.table import RunRows, run_cells
from tests.harness.ranked import play, ranked_corpus


def test_runs_of_two_files_are_called_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, corpus = tmp_path / "s.sqlite", ranked_corpus(6)
    one = play(path, corpus, 6, "small")
    with opened(path) as store:
        [alone] = list_runs(store)
    assert alone.distinction == ""
    play(path, corpus, 3, "small")
    play(path, corpus, 3, "large")
    with opened(path) as store:
        found = list_runs(store)
        read: list[str | None] = []
        real = module.setup_facts
        monkeypatch.setattr(
            module,
            "setup_facts",
            lambda *each: read.append(each[1]) or real(*each),  # type: ignore[func-returns-value]
        )
        [asked] = list_runs(store, run_id=one)
    words = [run_cells(run)[5].text for run in found]
    assert words == [
        "replay · large · made",
        "small-3-6.jsonl · replay · small · made",
        "small-6-6.jsonl · replay · small · made",
    ]
    assert [run_line(run)[3] for run in found] == words
    assert asked.distinction == "small-6-6.jsonl"
    assert len(read) == 2, "that of another model needs no look"
    assert RunRows([alone]).key(0) != RunRows([found[2]]).key(0), (
        "a row that is drawn already changes"
    )


def test_a_fault_of_the_program_is_no_damage_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(path := tmp_path / "s.sqlite", ranked_corpus(6), 6, "small")
    play(path, ranked_corpus(6), 3, "small")
    monkeypatch.setattr("harness.store.distinctions.setup_facts", lambda *_: {}["a fault"])
    with pytest.raises(KeyError, match="a fault"), opened(path) as store:
        list_runs(store)


def test_the_first_fact_that_parts_is_told() -> None:
    names = ["chat", "chat", "chat", "other"]
    facts = [("", "0", "x"), ("", "0.7", "y"), ("", "0.7", "z"), ("f", "0", "x")]
    assert distinctions(names, facts) == ["0", "0.7 · y", "0.7 · z", ""]
