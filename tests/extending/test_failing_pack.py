"""Packs whose code fails in a run, and runs whose answers are SQL."""

from __future__ import annotations

import json
import sqlite3
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
from tests.review.thorough import first

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


@pytest.mark.costly("runs a failing pack through card, screens of text, doctor and explainer")
def test_failed_entry_is_counted(
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
    findings = [each for each in examine(tmp_path / "data") if each.area == "Metric packs"]
    [found] = [each for each in findings if "failed" in each.words]
    assert found.health is Health.BROKEN
    assert "demo.vowels failed at 2 entries of run " + run[:8] in found.words
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
    first(
        2,
        ["(float('nan'), 1)", "(1,)", "('a', 2)", "7", "(1e300, 1e300)", "[[1], [2]]", "(None, 1)"],
    ),
)
def test_bad_statistics_end_no_run(
    place: Place, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    place.install(code=NAN.replace("WHAT", given))
    scores = json.loads(said(capsys, "runs", "show", played(capsys, "demo"), "--json"))["scores"]
    assert (scores["demo.vowels"], scores["demo.vowels_raised"]) == (None, 12)
    assert "failed at 12 entries" in scores["reasons"]["demo.vowels"]


@pytest.mark.parametrize(
    ("more", "value"),
    first(
        3,
        [
            ("    def values(self, totals):\n        raise ValueError\n", None),
            (
                "    def further(self, total):\n        return {'composite': 1.0, 'seal': 'x'}\n",
                0.0,
            ),
            ("    def stats_many(self, translations):\n        raise MemoryError\n", 0.0),
            ("    def values(self, totals):\n        return [[1.0]] * len(totals)\n", None),
            ("    def further(self, total):\n        raise ValueError\n", 0.0),
            ("    def stats_many(self, translations):\n        return []\n", 0.0),
        ],
    ),
)
def test_failing_parts_end_no_run(
    place: Place, capsys: pytest.CaptureFixture[str], more: str, value: float | None
) -> None:
    place.install(code=CODE.replace("\n\nMETRICS", "\n" + more + "\n\nMETRICS"))
    card = json.loads(said(capsys, "runs", "show", played(capsys, "demo", "!"), "--json"))
    assert (card["scores"]["demo.vowels"], card["scores"]["composite"]) == (value, None)


def test_failing_signature_turns_metric_off(
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


def test_failing_corpus_metric_has_no_value(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    table = TABLE.replace('level = "both"', 'level = "corpus"')
    place.install(table=table, code=CODE.replace("METRICS", WHOLE, 1))
    card = json.loads(said(capsys, "runs", "show", played(capsys, "chrf,demo"), "--json"))
    assert card["scores"]["demo.vowels"] is None
    assert card["scores"]["chrf_plus_plus"] > 0


METRIC = "au.text2sql_score"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus with a database beside it, one right and one wrong answer, and a store of its own."""
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir(mode=0o700)
    found = tmp_path / "corpus"
    found.mkdir()
    connection = sqlite3.connect(found / "shop.sqlite")
    connection.executescript("CREATE TABLE item (name); INSERT INTO item VALUES ('a'), ('b');")
    connection.close()
    _corpus(found, "shop.sqlite")
    outputs = [{"id": 1, "output": "SELECT name FROM item"}, {"id": 2, "output": "DROP TABLE item"}]
    (found / "outputs.jsonl").write_text("\n".join(map(json.dumps, outputs)), "utf-8")
    return found


def _corpus(folder: Path, database: str) -> None:
    record = {"source": "Which items?", "reference": "SELECT name FROM item", "database": database}
    rows = [json.dumps({"id": number, **record}) for number in (1, 2)]
    (folder / "shop.jsonl").write_text("\n".join(rows), "utf-8")


def _score(folder: Path) -> list[str]:
    files = [str(folder / "shop.jsonl"), str(folder / "outputs.jsonl")]
    languages = ["--source-language", "en", "--target-language", "sql", "--id", "shop"]
    return ["score", *files, *languages, "--metrics", METRIC]


def test_queries_run_beside_their_corpus(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, *_score(folder))
    (run,) = json.loads(said(capsys, "runs", "list", "--json"))
    file = folder / "card.json"
    said(capsys, "runs", "export", run["run_id"], "-o", str(file))
    card = json.loads(file.read_text("utf-8"))
    assert card["scores"][METRIC] == 0.5
    assert card["scoring"]["annotators"]["sql"]["databases"] == 1
    assert str(folder) not in file.read_text("utf-8")
    again = ("score", "--rescore", run["run_id"], "--metrics", METRIC)
    assert "with the same values" in said(capsys, *again, code=1)
    (folder / "shop.sqlite").write_text("gone")
    assert "Entry 1: `database` is no SQLite file" in said(capsys, *again, code=2)
    _corpus(folder, "../elsewhere.sqlite")
    told = said(capsys, *_score(folder), code=2)
    assert "Entry 1: `database` lies outside the corpus's folder" in told
    assert len(json.loads(said(capsys, "runs", "list", "--json"))) == 1
