"""``import rosetta``: what a notebook does, and what it may not be shown."""

from __future__ import annotations

import doctest
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
import sacrebleu

import rosetta as ro
from corpora.model.corpus import Corpus
from harness.core.failures import UsageError
from harness.events.kinds import EntryScored, Finished, Started
from harness.method.options import MethodOptions
from harness.setup.plan import RunOptions
from harness.setup.scoring_options import ScoringOptions
from rosetta import functions
from rosetta.options import Choosing, Options
from tests.harness.evaluation import corpus as made_corpus
from tests.harness.scripted import Scripted

EVIDENCE = Path(__file__).parents[1] / "review" / "golden_1" / "golden.rosetta-evidence"


def test_importing_it_loads_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import rosetta; rosetta.__all__; dir(rosetta); "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["rosetta"]


@pytest.mark.parametrize(
    "name", sorted(functions.__dict__.keys() & set(ro.__all__) - {"RunHandle"})
)
def test_the_examples_in_its_docstrings_hold(name: str, demo: Corpus) -> None:
    found = doctest.DocTestFinder().find(
        getattr(ro, name), name, globs={**vars(functions), "demo": demo}
    )
    runner = doctest.DocTestRunner()
    for each in found:
        runner.run(each)
    assert runner.summarize(verbose=False).failed == 0
    assert runner.tries or name == "verdict"


async def test_a_notebook_from_a_file_to_a_sentence(tmp_path: Path, endpoint: Scripted) -> None:
    """Each line as in a cell: within an event loop that is running, as Jupyter's is."""
    file = tmp_path / "my.tsv"
    rows = [f"word {n}\tWORD {n}" for n in range(12)]
    file.write_text("\n".join(["source\treference", *rows]) + "\n", "utf-8")
    corpus = ro.load(file, source="en", target="crk")
    run = ro.run(
        corpus, method="chat", endpoint=endpoint.url, model="mock", budget=1, tags=["pilot"],
        max_tokens=20,
        prices=_prices(tmp_path),
    )  # fmt: skip
    assert len(endpoint.asked) == len(corpus.entries)
    assert run.card.scores.chrf_plus_plus == 100.0
    assert run.card.budget is not None
    assert run.card.budget.budget_usd == 1
    assert run.tier.words.startswith(run.tier.name)
    table = run.entries()
    assert [row["output"] for row in table] == [entry.reference for entry in corpus.entries]
    assert {row["chrf_plus_plus"] for row in table} == {100.0}
    assert {type(value) for row in table for value in row.values()} <= {
        str, int, float, bool, list, type(None),
    }  # fmt: skip
    other = ro.score(corpus, outputs=[entry.source for entry in corpus.entries])
    found = ro.compare(run, other)["chrf_plus_plus"]
    assert found.better == "first"
    assert found.sentence.startswith("A is better than B by ")
    assert ro.compare(run, other)["chrF++"] == found
    card = tmp_path / "card.json"
    card.write_text(json.dumps(run.card.as_json()), "utf-8")
    assert ro.verify(card).ok
    card.write_text(card.read_text("utf-8").replace('"WORD 3"', '"WORD 4"', 1), "utf-8")
    assert not ro.verify(card).ok
    assert ro.runs(tag="pilot") == [run]
    assert ro.runs() == [other, run]


def _prices(folder: Path) -> Path:
    path = folder / "prices.toml"
    path.write_text(
        'source = "made for this test"\n[[price]]\nprovider = "127.0.0.1"\nmodel = "mock"\n'
        "as_of = 2026-01-01\ninput_per_million = 1.0\noutput_per_million = 1000.0\n",
        "utf-8",
    )
    return path


def test_a_budget_is_kept_and_said(tmp_path: Path, endpoint: Scripted) -> None:
    corpus, most = made_corpus(40), 0.25
    run = ro.run(
        corpus, "chat", endpoint=endpoint.url, model="mock", budget=most, max_tokens=20,
        concurrency=1, prices=_prices(tmp_path),
    )  # fmt: skip
    assert run.state == "stopped"
    assert run.reason is not None
    assert "budget" in run.reason
    paid = math.fsum(row["spent_usd"] for row in run.entries())
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
    public, secret = (
        made_corpus(4, segment=name, register=f"of {name}")
        for name in ("development", "gold_standard")
    )
    texts = [entry.model_copy(update={"id": f"s{entry.id}"}) for entry in secret.entries]
    corpus = made_corpus(0).__class__(
        public.dataset, (*public.entries, *texts), "0" * 64, public.form
    )
    if begun == "run":
        under_way = ro.start(corpus, "copy-source")
        told = repr([each for each in under_way if isinstance(each, EntryScored)][4:])
        assert "entry number" not in told
        assert told.count("statistics=b''") == 4
        run = under_way.result()
    else:
        run = ro.score(corpus, {entry.id: entry.source for entry in corpus.entries})
    table = run.entries()
    assert [row["withheld"] for row in table] == [False] * 4 + [True] * 4
    assert table[4:] == [{"entry_id": f"s{n}", "withheld": True} for n in range(4)]
    assert run.card.results == []


def test_a_metric_gives_what_others_compute() -> None:
    outputs = ["the cat sat on the mat", "a dog barked at night", "nothing of this is right"]
    references = ["the cat sat on a mat", "the dog barked all night", "every word differs here"]
    chrf = sacrebleu.corpus_chrf(outputs, [references], word_order=2).score
    bleu = sacrebleu.corpus_bleu(outputs, [references]).score
    assert ro.metric("chrf++").corpus(outputs, references) == pytest.approx(chrf)
    assert ro.metric("BLEU").corpus(outputs, references) == pytest.approx(bleu)
    assert ro.metric("exact").sentence("a", ["b", "a"]) == 0.0
    assert ro.metric("equivalent").sentence("a", ["b", "a"]) == 1.0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("chfr", "did you mean chrf"),
        ("composite", "made of other metrics"),
        ("comet", "No comet_score: "),
    ],
)
def test_a_metric_that_cannot_be_had_says_why(name: str, words: str) -> None:
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
    with pytest.raises(UsageError, match="1 outputs for 96 entries"):
        ro.score(demo, ["one"])
    with pytest.raises(UsageError, match="no entry 'x'"):
        ro.score(demo, {"x": "one"})
    assert ro.runs() == []


def test_runs_that_do_not_compare_say_why(demo: Corpus) -> None:
    first = ro.run(demo, "copy-source", limit=3)
    other = ro.run(made_corpus(3), "copy-source")
    with pytest.raises(UsageError, match="do not compare"):
        ro.compare(first, other)


def test_a_verdict_is_computed_again() -> None:
    done = ro.verdict(EVIDENCE)
    assert done.certificate.outcome in {"go", "no_go", "discuss", "insufficient"}
    assert not done.broken


def test_every_option_of_a_run_can_be_given_and_no_other() -> None:
    models = (MethodOptions, RunOptions, ScoringOptions)
    fields = {name for model in models for name in model.model_fields}
    fields -= {"source_language", "target_language", "task", "file_lines"}
    renamed = {"budget_usd": "budget", "timeout_seconds": "timeout", "most_attempts": "attempts"}
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
    with pytest.raises(ro.HarnessError, match="--outputs"):
        ro.score(ro.load(file, source="en", target="eo", task="qa"))
