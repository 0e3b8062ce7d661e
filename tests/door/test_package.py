"""``import rosetta``: what a notebook does, and what it may not be shown."""

from __future__ import annotations

import csv
import doctest
import io
import json
import math
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

import rosetta as ro
from corpora.formats.load import load
from corpora.model.corpus import Corpus
from corpora.samples import DEMO_CORPUS, sample_path
from harness.card.exporting import ExportForm, export_run
from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.run.events import EntryScored, Finished, Progress, Started
from harness.setup.plan import RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.runs import find_run
from harness.store.sqlite.database import opened
from rosetta import functions
from rosetta.functions import RecordFields
from rosetta.options import Choosing, Options
from tests.harness.evaluation import corpus as made_corpus
from tests.harness.scripted import Scripted, price_table
from tests.harness.sealed.refusals import refuses
from tests.review.thorough import first

_DEAR = {"compare", "score"}
EXAMPLES = sorted(functions.__dict__.keys() & {*ro.__all__} - {"RunHandle"}, key=lambda name: (name in _DEAR, name))
EVIDENCE = Path(__file__).parents[1] / "review" / "golden_1" / "golden.rosetta-evidence"


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(scope="session")
def demo() -> Corpus:
    return load(sample_path(DEMO_CORPUS))


def test_importing_it_loads_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import rosetta; rosetta.__all__; dir(rosetta); "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["rosetta"]


@pytest.mark.parametrize("name", first(7, EXAMPLES))
def test_the_examples_in_its_docstrings_hold(name: str, demo: Corpus) -> None:
    known, runner = {**vars(functions), "demo": demo}, doctest.DocTestRunner()
    for each in doctest.DocTestFinder().find(getattr(ro, name), name, globs=known):
        runner.run(each)
    assert runner.summarize(verbose=False).failed == 0
    assert runner.tries or name == "verdict"


@pytest.mark.every_python
async def test_a_notebook_from_a_file_to_a_sentence(tmp_path: Path, endpoint: Scripted) -> None:
    """Each line as in a cell: within an event loop that is running, as Jupyter's is."""
    file = tmp_path / "my.tsv"
    rows = [f"word {n}\tWORD {n}" for n in range(12)]
    file.write_text("\n".join(["source\treference", *rows]) + "\n", "utf-8")
    corpus = ro.load(file, source="en", target="crk")
    run = ro.run(
        corpus, method="chat", endpoint=endpoint.url, model="mock", budget=1, tags=["pilot"],
        max_tokens=20,
        prices=price_table(tmp_path, {"mock": (1.0, 1000.0)}),
    )  # fmt: skip
    assert len(endpoint.asked) == len(corpus.entries)
    assert run.card.scores.chrf_plus_plus == 100.0
    assert run.card.budget.budget_usd == 1
    assert run.tier.words.startswith(run.tier.name)
    table = run.entries()
    assert [row["output"] for row in table] == [entry.reference for entry in corpus.entries]
    assert {row["chrf_plus_plus"] for row in table} == {100.0}
    assert {type(value) for row in table for value in row.values()} <= {
        str, int, float, bool, list, type(None),
    }  # fmt: skip
    with opened(run.store) as store:
        number = find_run(store, run.run_id).id
        lines = export_run(store, number, ExportForm.JSONL).decode().splitlines()
        cells = csv.DictReader(io.StringIO(export_run(store, number, ExportForm.CSV).decode()))
    for row, line, cell in zip(table, map(json.loads, lines), cells, strict=True):
        renamed = {"output": "predicted", "prompt_tokens": "usage", "completion_tokens": "usage"}
        assert {renamed.get(name, name) for name in row} <= set(line)
        scores = {name: value for name, value in row.items() if isinstance(value, float)}
        assert len(scores) > 5
        assert {name: line[name] for name in scores} == scores
        assert {name: float(cell[name]) for name in scores} == scores
    other = ro.score(corpus, outputs=[f"Cree: {entry.reference}" for entry in corpus.entries])
    assert run.findings == ()
    [alike] = other.findings
    assert (alike.code, alike.count, alike.of, alike.examples) == ("beginning", 12, 12, ("Cree:",))
    assert other.card.scores.findings[0].cost == alike.cost == pytest.approx(100.0 - other.card.scores.chrf_plus_plus)
    found = ro.compare(run, other)["chrf_plus_plus"]
    assert found.better == "first"
    assert found.sentence.startswith("A is better than B by ")
    assert ro.compare(run, other)["chrF++"] == found
    card = tmp_path / "card.json"
    card.write_text(json.dumps(run.card.as_json()), "utf-8")
    assert ro.verify(card).ok
    card.write_text(card.read_text("utf-8").replace('"WORD 3"', '"WORD 4"', 1), "utf-8")
    assert not ro.verify(card).ok
    assert (ro.runs("tag:pilot"), ro.runs(), ro.runs("chrf<100")) == ([run], [other, run], [other])
    assert len(other.entries("why:beginning -chrf:100")) == 12
    assert [row["entry_id"] for row in other.entries("id:3 output:CREE")] == [3]
    for broken in (lambda: ro.runs("chrf<"), lambda: run.entries("why:quote")):
        with pytest.raises(ro.HarnessError, match="At character 1: "):
            broken()


def test_a_budget_is_kept_and_said(tmp_path: Path, endpoint: Scripted) -> None:
    corpus, most = made_corpus(40), 0.25
    run = ro.run(
        corpus, "chat", endpoint=endpoint.url, model="mock", budget=most, max_tokens=20,
        concurrency=1, prices=price_table(tmp_path, {"mock": (1.0, 1000.0)}),
    )  # fmt: skip
    assert run.state == "stopped"
    assert run.reason is not None
    assert "budget" in run.reason
    spent = [row["spent_usd"] for row in run.entries()]
    paid = math.fsum(amount for amount in spent if isinstance(amount, float | int))
    assert None not in spent
    assert 0 < paid <= most
    with pytest.raises(ro.HarnessError, match="rosetta resume"):
        _ = run.card


def test_events_come_in_order_and_the_run_is_named_at_once(demo: Corpus) -> None:
    under_way = ro.start(demo, "copy-source", limit=5)
    events = list(under_way)
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert sum(isinstance(each, EntryScored) for each in events) == 5
    assert under_way.result().run_id == under_way.run.run_id == events[0].run_id


@pytest.mark.parametrize("begun", ["run", "score"])
def test_no_text_or_number_of_a_secret_entry_is_given(begun: str) -> None:
    public, secret = (made_corpus(4, segment=name, register=f"of {name}") for name in ("development", "gold_standard"))
    texts = [entry.model_copy(update={"id": f"s{entry.id}"}) for entry in secret.reveal_here()]
    corpus = made_corpus(0).__class__(public.dataset, (*public.entries, *texts), "0" * 64, public.form)
    if begun == "run":
        under_way = ro.start(corpus, "copy-source")
        events = list(under_way)
        results = [each.result for each in events if isinstance(each, EntryScored)][4:]
        assert "entry number" not in repr(results)
        told = {(each.statistics, each.headline, each.exact, each.latency_seconds) for each in results}
        assert told == {(b"", None, False, None)}
        assert not any(each.values for each in events if isinstance(each, Progress))
        run = under_way.result()
    else:
        run = ro.score(corpus, {entry.id: entry.source for entry in corpus.reveal_here()})
    table = run.entries()
    assert [row["withheld"] for row in table] == [False] * 4 + [True] * 4
    assert table[4:] == [{"entry_id": f"s{n}", "withheld": True} for n in range(4)]
    for where in ("len>0", "id:s1", "-source:zzz", "state:done", "chrf>=0"):
        found = run.entries(where)
        assert found == [row for row in found if not row["withheld"]], "a filter would tell of secret entries"
    assert (ro.runs("chrf>=0"), ro.runs("failed>=0"), ro.runs("chrf:none")) == ([], [], [run])
    for read in (lambda: run.card, lambda: run.tier, lambda: run.findings, lambda: ro.compare(run, run)):
        refuses(UsageError, "but as a released card", read)


def test_a_metric_gives_what_others_compute() -> None:
    outputs = ["the cat sat on the mat", "a dog barked at night", "nothing of this is right"]
    references = ["the cat sat on a mat", "the dog barked all night", "every word differs here"]
    chrf = sacrebleu.corpus_chrf(outputs, [references], word_order=2).score
    bleu = sacrebleu.corpus_bleu(outputs, [references]).score
    assert ro.metric("chrf++").corpus(outputs, references) == pytest.approx(chrf)
    assert ro.metric("BLEU").corpus(outputs, references) == pytest.approx(bleu)
    assert ro.metric("exact").sentence("a", ["b", "a"]) == 0.0
    assert ro.metric("equivalent").sentence("a", ["b", "a"]) == 1.0


WEATHER: RecordFields = {
    "tools": [{"name": "weather", "parameters": {"properties": {"city": {"type": "string"}}}}],
    "reference_calls": [{"weather": {"city": ["Riga"]}}],
}
FOUND: RecordFields = {"evidence": ({"text": "…", "token_count": 4},), "baseline": "kato"}


def test_a_metric_of_a_pack_reads_the_fields_of_records() -> None:
    record: Any
    for name, output, reference, record, value in [
        ("au.bfcl_match_score", '[{"weather": {"city": "Riga"}}]', None, WEATHER, 1.0),
        ("au.bfcl_match_score", '[{"weather": {"city": "Rome"}}]', None, WEATHER, 0.0),
        ("au.multiple_choice_accuracy", "(B)", "B", {"choices": ["a", "b"]}, 1.0),
        ("lbrag.cost", "kato", "kato", FOUND, 4.0),
        ("au.wer", "one too", "one two", None, 0.5),
        ("nest.coverage", "rain falls", None, {"source": "Write about autumn"}, 0.0),
    ]:  # fmt: skip
        assert ro.metric(name).sentence(output, reference, record=record) == pytest.approx(value)


def test_queries_run_on_the_databases_of_a_folder(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as shop:
        shop.executescript("CREATE TABLE item (name); INSERT INTO item VALUES ('a'), ('b');")
    asked = ro.metric("au.text2sql_score", folder=tmp_path)
    records: list[RecordFields] = [{"database": "shop.sqlite"}] * 2
    outputs, wanted = ["SELECT name FROM item", "DROP TABLE item"], ["SELECT name FROM item"] * 2
    assert asked.corpus(outputs, wanted, records=records) == 0.5
    with pytest.raises(ro.HarnessError, match="leaves the folder"):
        asked.sentence(outputs[0], wanted[0], record={"database": "../shop.sqlite"})


def test_wrong_records_and_metrics_that_cannot_be_had_say_why() -> None:
    given: Any
    for given, words in [
        ({"records": [{"tools": []}]}, "Record 1, field 'reference_calls': It is missing"),
        ({"records": [WEATHER, WEATHER]}, "1 outputs, 2 records"),
        ({"records": [{**WEATHER, "category": float("nan")}]}, "Record 1 is no JSON object"),
        ({}, "neither references nor records"),
        ({"references": []}, "1 outputs, 0 references"),
    ]:
        with pytest.raises(ro.HarnessError, match=words):
            ro.metric("au.bfcl_match_score").corpus(["[]"], **given)
    for name, words in [
        ("chfr", "did you mean chrf"),
        ("composite", "made of other metrics"),
        ("comet", "No comet_score: "),
    ]:
        with pytest.raises(ro.HarnessError, match=words):
            ro.metric(name).corpus(["a"], ["b"])


def test_wrong_requests_name_what_is_wrong_and_store_nothing(demo: Corpus) -> None:
    wrong = [
        ({"method": "copy-source", "modle": "x"}, "no option 'modle'"),
        ({"method": "copy-source", "segment": ["secret"]}, "segment"),
        ({"method": "copy-source", "budget": -1}, "budget"),
        ({"method": "copy-source", "body": {"api_key": "x"}}, "looks like a key"),
        ({"method": "chat", "metrics": ["blue"]}, "did you mean bleu"),
    ]
    for options, words in wrong:
        with pytest.raises(UsageError, match=words):
            ro.run(demo, **options)  # type: ignore[arg-type]
    refuses(UsageError, "1 outputs for 96 entries", ro.score, demo, ["one"])
    refuses(UsageError, "no entry 'x'", ro.score, demo, {"x": "one"})
    assert ro.runs() == []
    first = ro.run(demo, "copy-source", limit=3)
    other = ro.run(made_corpus(3), "copy-source")
    refuses(UsageError, "do not compare", ro.compare, first, other)


def test_a_verdict_is_computed_again() -> None:
    done = ro.verdict(EVIDENCE)
    assert done.certificate.outcome in {"go", "no_go", "discuss", "insufficient"}
    assert not done.broken


def test_every_option_of_a_run_can_be_given_and_no_other() -> None:
    models = (MethodOptions, RunOptions, ScoringOptions)
    fields = {name for model in models for name in model.model_fields}
    fields -= {"source_language", "target_language", "task", "file_lines", "service"}
    renamed = {
        "budget_usd": "budget", "timeout_seconds": "timeout", "most_attempts": "attempts", "use_cache": "no_cache",
    }  # fmt: skip
    wanted = {renamed.get(name, name) for name in fields} | {"note", "tags"}
    assert set(Options.__annotations__) == wanted | set(Choosing.__annotations__)


def test_records_that_bring_their_outputs_are_scored_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "qa.jsonl"
    record = {"id": 1, "source": "Who?", "reference": "Anna", "predicted": "Anna"}
    file.write_text(json.dumps(record), encoding="utf-8")
    corpus = ro.load(file, source="en", target="eo", task="qa")
    done = ro.score(corpus, metrics=("exact_match_rate",))
    assert (corpus.dataset.task, done.card.scores.exact_match_rate) == ("qa", 1.0)
    file.write_text(json.dumps({**record, "predicted": None}), encoding="utf-8")
    refuses(ro.HarnessError, "--outputs", ro.score, ro.load(file, source="en", target="eo", task="qa"))
