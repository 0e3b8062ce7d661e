"""Findings of a run's stored outputs, with their entries' places."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import ValidationError

from corpora.model.entry import Segment
from harness.card.reading import block
from harness.compare.parts import run_findings
from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.shipped_methods.registry import build
from harness.store.results import read_results
from harness.store.runs import find_run, read_card
from harness.store.sqlite.database import open_store
from scoring.findings.finding import FindingCode
from tests.harness.evaluation import FEW, LANGUAGES, corpus, run_corpus
from tests.tui.scenes import PAIRS, PREAMBLE, entries_of, outputs_of, scene, values_of


def test_findings_name_the_places_of_their_entries(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=40, stored=30, outputs=outputs_of(30, 3))
    found = run_findings(made.store, find_run(made.store, made.run_id))
    assert found is not None
    assert found.done == 30
    assert [*found.positions[FindingCode.BEGINNING]] == [*range(0, 30, 3)]
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


def test_gain_of_stripping_is_what_scoring_the_stripped_outputs_gives(tmp_path: Path) -> None:
    made = scene(tmp_path / "s.sqlite", total=16, stored=11, outputs=outputs_of(11, 2))
    examined = run_findings(made.store, find_run(made.store, made.run_id))
    clean = scene(
        tmp_path / "clean.sqlite", total=16, stored=11, outputs=[o.removeprefix(PREAMBLE) for o in outputs_of(11, 2)]
    )
    assert examined is not None
    before, after = (values_of(one.entries, one.results)["chrf_plus_plus"] for one in (made, clean))
    assert before is not None
    assert after is not None
    assert examined.fixes[FindingCode.BEGINNING] == pytest.approx(after - before)


def test_run_that_strips_says_so_on_its_card_and_keeps_the_answers(tmp_path: Path) -> None:
    corpus_ = corpus(4)
    file = tmp_path / "outputs.jsonl"
    outputs = [f"{PREAMBLE}{entry.reference}" for entry in corpus_.entries]
    lines = [{"id": entry.id, "output": output} for entry, output in zip(corpus_.entries, outputs, strict=True)]
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    scores, hashes = [], []
    for steps in ((), ("prose",)):
        options = MethodOptions(**LANGUAGES, outputs=file, strip=steps)
        plan = Plan(method="replay", options=options, run=RunOptions(offline=True), scoring=ScoringOptions(metrics=FEW))
        run_id = run_corpus(tmp_path / "runs.sqlite", corpus_, plan).finished.run_id
        with closing(open_store(tmp_path / "runs.sqlite")) as store:
            run = find_run(store, run_id)
            card = read_card(store, run.id)
            [first, *_] = read_results(store, run.id)
        assert card is not None
        assert run.setup.options.get("strip", []) == list(steps)
        assert ("strip" in json.dumps(card)) is bool(steps), "who gets the card can see it"
        scores.append(block(card, "scores")["exact_match_rate"])
        hashes.append(block(card, "fingerprint")["setup_hash"])
    assert scores == [0.0, 1.0]
    assert hashes[0] != hashes[1], "they are two set-ups"
    assert (first.output, first.raw) == (corpus_.entries[0].reference, outputs[0])


def test_method_that_answers_nothing_cannot_strip() -> None:
    with pytest.raises(UsageError, match="--strip does not apply"):
        build("constant", MethodOptions(**LANGUAGES, text="x", strip=("prose",)))
    with pytest.raises(ValidationError):
        MethodOptions.model_validate({**LANGUAGES, "strip": ["everything"]})


def test_run_examined_in_parts_has_the_findings_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = scene(tmp_path / "s.sqlite", total=120, stored=120, outputs=outputs_of(120, 3))
    run = find_run(made.store, made.run_id)
    whole = run_findings(made.store, run)
    monkeypatch.setattr("harness.compare.parts.EXAMINED_AT_ONCE", 60)
    parts = run_findings(made.store, run)
    assert whole is not None
    assert parts is not None
    assert parts.done == 120
    first, other = parts.findings[0], whole.findings[0]
    assert (first.code, first.count, first.of, first.entries) == (FindingCode.BEGINNING, 40, 120, other.entries)
    assert [*parts.positions[first.code]] == [*whole.positions[first.code]]
    assert first.cost == pytest.approx(other.cost, rel=0.4)
    assert parts.fixes[first.code] == pytest.approx(whole.fixes[first.code], rel=0.4)
    assert FindingCode.EMPTY in parts.of_entry(11)
    made.close()
