"""The code of a pack from outside that fails in the middle of a run: entries without a value, never the run's end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import rosetta
from harness.doctor.examination import examine
from harness.doctor.finding import Health
from harness.run.rescoring import Explainer
from harness.store.corpora.entries import read_entries
from harness.store.file.database import open_store
from harness.store.results import read_results
from harness.store.runs import find_run
from tests.extending.demo_pack import CODE, CORPUS, TABLE, Place, played, said

FAILING = CODE.replace(
    "        there = sum",
    "        if translation.entry.id in FAILS:\n"
    "            raise KeyError(translation.entry.reference)\n"
    "        there = sum",
).replace(
    "    def stats(self",
    "    def compared(self, translation):\n"
    "        return [('entry', FAILS.index(translation.entry.id), None, 1)]\n\n"
    "    def stats(self",
)
NAN = CODE.replace("return (min(kept, there), there)", "return WHAT")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "data"))
    found = Place(tmp_path / "installed", monkeypatch)
    yield found
    found.uninstall()


def test_an_entry_at_which_it_fails_has_no_value_and_is_counted(
    place: Place, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    place.install()
    whole = played(capsys, "rosetta,demo")
    entries = rosetta.load(CORPUS).entries[:12]
    place.install(code=FAILING + f"\nFAILS = {[each.id for each in entries[3:5]]}\n")
    run = played(capsys, "rosetta,demo")
    shown = said(capsys, "runs", "show", run)
    card = json.loads(said(capsys, "runs", "show", run, "--json"))
    assert card["scores"]["demo.vowels_raised"] == 2
    rows = card["results"]
    assert [row["statistics"]["demo.vowels"] for row in rows[3:5]] == [[], []]
    sound = json.loads(said(capsys, "runs", "show", whole, "--json"))
    counts = [row["statistics"]["demo.vowels"] for row in sound["results"]]
    there = [two for place_, two in enumerate(counts) if place_ not in (3, 4)]
    expected = sum(kept for kept, _ in there) / sum(of for _, of in there)
    assert card["scores"]["demo.vowels"] == pytest.approx(expected, abs=1e-12)
    assert card["scores"]["chrf_plus_plus"] == sound["scores"]["chrf_plus_plus"]
    assert "demo_raised" not in sound["scores"]
    assert "2 entries without a value: the code of its pack failed" in " ".join(shown.split())
    assert all(each.reference not in shown for each in entries[3:5])
    assert "✗" not in said(capsys, "runs", "verify", run)
    assert "Vowels" in said(capsys, "compare", whole, run, "--metric", "demo.vowels")
    file = tmp_path / "card.json"
    said(capsys, "runs", "export", run, "-o", str(file))
    assert "✗" not in said(capsys, "runs", "verify", str(file))
    found = [
        each
        for each in examine(tmp_path / "data")
        if each.area == "Metric packs" and "failed" in each.words
    ]
    assert [each.health for each in found] == [Health.BROKEN]
    assert "demo.vowels failed at 2 entries of run " + run[:8] in found[0].words
    with closing(open_store()) as store:
        stored = find_run(store, run)
        corpus = read_entries(store, stored.corpus, stored.positions)
        explainer = Explainer(store, stored)
        results = list(read_results(store, stored.id))
        found_of = [explainer.explain(corpus[each.position], each) for each in results[3:6]]
        explainer.close()
    words = ("The code of its pack fails at this entry (KeyError), so it has no value.",)
    assert [each.sentences.get("demo.vowels") for each in found_of] == [words, words, None]
    beside = [row for each in found_of for row in each.compared]
    assert beside == [("entry", "0", "None", True), ("entry", "1", "None", True)]


@pytest.mark.parametrize(
    "given",
    ["(float('nan'), 1)", "(1,)", "('a', 2)", "7", "(1e300, 1e300)", "[[1], [2]]", "(None, 1)"],
)
def test_what_is_no_statistics_ends_no_run(
    place: Place, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    place.install(code=NAN.replace("WHAT", given))
    card = json.loads(said(capsys, "runs", "show", played(capsys, "demo"), "--json"))
    scores = card["scores"]
    assert scores["demo.vowels"] is None
    assert scores["demo.vowels_raised"] == 12
    assert "failed at 12 entries" in scores["reasons"]["demo.vowels"]


@pytest.mark.parametrize(
    ("more", "value"),
    [
        ("    def values(self, totals):\n        raise ValueError\n", None),
        ("    def values(self, totals):\n        return [[1.0]] * len(totals)\n", None),
        ("    def further(self, total):\n        return {'composite': 1.0, 'seal': 'x'}\n", 0.0),
        ("    def further(self, total):\n        raise ValueError\n", 0.0),
        ("    def stats_many(self, translations):\n        raise MemoryError\n", 0.0),
        ("    def stats_many(self, translations):\n        return []\n", 0.0),
    ],
)
def test_its_other_parts_end_no_run_and_write_nothing_of_ours(
    place: Place, capsys: pytest.CaptureFixture[str], more: str, value: float | None
) -> None:
    place.install(code=CODE.replace("\n\nMETRICS", "\n" + more + "\n\nMETRICS"))
    card = json.loads(said(capsys, "runs", "show", played(capsys, "demo", "!"), "--json"))
    assert card["scores"]["demo.vowels"] == value
    assert card["scores"]["composite"] is None


def test_a_signature_that_fails_turns_the_metric_off_before_the_run(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.install(code=CODE.replace('signature = "vowels:aeiou"', "signature = property(len)"))
    card = json.loads(said(capsys, "runs", "show", played(capsys, "chrf,demo"), "--json"))
    assert "does not make it: TypeError" in card["scores"]["reasons"]["demo.vowels"]


WHOLE = """
from scoring.core.metric import CorpusMetric
class Vowels(CorpusMetric):
    info = pack_metric("demo.vowels")
    signature = why_missing = "vowels"
    def corpus_value(self, translations):
        raise RecursionError("no end")
METRICS"""


def test_a_metric_of_a_whole_corpus_that_fails_has_no_value(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    table = TABLE.replace('level = "both"', 'level = "corpus"')
    place.install(table=table, code=CODE.replace("METRICS", WHOLE, 1))
    card = json.loads(said(capsys, "runs", "show", played(capsys, "chrf,demo"), "--json"))
    assert card["scores"]["demo.vowels"] is None
    assert card["scores"]["chrf_plus_plus"] > 0
