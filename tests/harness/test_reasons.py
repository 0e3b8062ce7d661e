"""Findings of a run's stored outputs, with their entries' places."""

from __future__ import annotations

from pathlib import Path

from corpora.model.entry import Segment
from harness.compare.reasons import run_findings
from harness.store.runs import find_run
from scoring.findings.records import FindingCode
from tests.tui.scenes import PAIRS, entries_of, outputs_of, scene


def test_findings_name_the_places_of_their_entries(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=40, stored=30, outputs=outputs_of(30, 3))
    found = run_findings(made.store, find_run(made.store, made.run_id))
    assert found is not None
    assert found.done == 30
    assert found.positions[FindingCode.BEGINNING] == tuple(range(0, 30, 3))
    assert found.of_entry(3) == [FindingCode.BEGINNING]
    assert found.of_entry(1) == []
    first = found.findings[0]
    assert (first.code, first.count, first.of) == (FindingCode.BEGINNING, 10, 30)
    assert first.cost is not None
    assert first.cost > 0
    assert found.of_entry(11) == [FindingCode.EMPTY], "a failed entry has no output"
    made.close()


def test_secret_entries_count_and_are_never_quoted(tmp_path: Path) -> None:
    entries = [entry.model_copy(update={"segment": Segment.GOLD_STANDARD}) for entry in entries_of(PAIRS, 30)]
    made = scene(tmp_path / "s.sqlite", entries=entries, stored=30, outputs=outputs_of(30, 3))
    found = run_findings(made.store, find_run(made.store, made.run_id))
    assert found is not None
    assert found.findings[0].count == 10
    assert not any(one.examples for one in found.findings)
    made.close()
