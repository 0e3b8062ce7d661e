"""Of a secret record nothing leaves: neither its texts nor the fields that only its task knows."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.files.problems import CorpusError
from corpora.model.corpus import Corpus
from harness.card.checking.verify import verify_card
from harness.card.exporting import ExportForm, card_bytes, export_run
from harness.card.load import load_card
from harness.core.failures import UsageError
from harness.method.options import MethodOptions
from harness.setup.plan import Plan, RunOptions
from harness.setup.scoring_options import ScoringOptions
from harness.store.file.database import open_store
from harness.store.runs import find_run
from rosetta.stored_run import RunHandle
from tests.corpora.tasks.records import corpus_of
from tests.harness.evaluation import Heard, query, run_corpus
from tests.harness.scripted import Scripted
from tests.harness.sealed.refusals import refuses

CANARY = "KANARIO"
"""Begins every text of the records below, each with a number of its own."""

FIELDS: dict[str, dict[str, Any]] = {
    "qa": {"source": "K1", "evidence": [{"title": "K2", "text": "K3"}], "reference": "K4"},
    "chat": {"turns": [{"user": "K1", "reference": "K2"}, {"user": "K3"}], "category": "K4"},
    "function_call": {
        "source": "K1",
        "tools": [{"name": "K2", "description": "K3", "parameters": {"K4": {}}}],
        "reference_calls": [{"K2": {"K5": ["K6"]}}],
    },
    "multiple_choice": {"source": "K1", "choices": ["K2", "K3"], "reference": "A"},
    "text2sql": {"source": "K1", "database": "K2", "database_schema": "K3", "reference": "K4"},
    "ifeval": {"source": "K1", "instructions": [{"id": "K2", "kwargs": {"K3": "K4"}}]},
    "dialogue_state": {"source": "K1", "reference_state": {"K2": {"K3": "K4"}}},
}


def secret_corpus(name: str, **envelope: Any) -> Corpus:
    rows = [
        json.loads(json.dumps(FIELDS[name]).replace('"K', f'"{CANARY}-{number}-'))
        | ({} if envelope else {"segment": "held_out"})
        for number in range(2)
    ]
    return corpus_of(name, *rows, **envelope)


def asked(path: Path, corpus: Corpus, endpoint: Scripted) -> Heard:
    """Ask a model on this machine that a person answered for."""
    task = corpus.dataset.task
    options = MethodOptions(source_language="en", target_language="crk", task=task, endpoint=endpoint.url, model="m")  # fmt: skip
    scoring = ScoringOptions(metrics=("exact_match_rate",))
    plan = Plan(method="chat", options=options, run=RunOptions(trust_local_server=True), scoring=scoring)  # fmt: skip
    return run_corpus(path, corpus, plan)


LOCAL = {"transmission": "local-only"}
CASES: list[tuple[str, dict[str, str]]] = [*((name, {}) for name in FIELDS), ("qa", LOCAL)]


@pytest.mark.parametrize(("name", "envelope"), CASES)
def test_secret_record_is_not_exported_cached_or_told(
    store_path: Path, endpoint: Scripted, name: str, envelope: dict[str, str]
) -> None:
    heard = asked(store_path, secret_corpus(name, **envelope), endpoint)
    assert heard.finished.state == "complete"
    assert CANARY in json.dumps([each.body for each in endpoint.asked])
    with closing(open_store(store_path)) as connection:
        run = find_run(connection, "last")
        for form in set(ExportForm) - {ExportForm.CARD}:
            refuses(UsageError, "no row of it leaves", export_run, connection, run.id, form)
        refuses(UsageError, "released card", export_run, connection, run.id, ExportForm.CARD)
        card = card_bytes(load_card(connection, run.id))
    assert CANARY.encode() not in card
    assert verify_card(card).ok
    assert query(store_path, "SELECT count(*) FROM replies") == [(0,)]
    rows = RunHandle(run.run_id, store_path).entries()
    assert all(row["withheld"] for row in rows)
    assert CANARY not in json.dumps(rows)


@pytest.mark.parametrize("name", FIELDS)
def test_a_fault_in_a_secret_record_quotes_nothing(name: str) -> None:
    for field in FIELDS[name]:
        spoilt = FIELDS[name] | {field: {CANARY: [{CANARY: CANARY}]}, "segment": "held_out"}
        assert CANARY not in str(refuses(CorpusError, "", corpus_of, name, spoilt))
