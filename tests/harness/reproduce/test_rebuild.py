"""What of a card's set-up is at hand, what is missing, and what a rebuilt run is told."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corpora.model.corpus import Corpus
from harness import api
from harness.card.model import RunCard
from harness.core.failures import UsageError
from harness.endpoint.endpoints import no_key
from harness.method.method import Setup
from harness.reproduce import Rebuilt, rebuild
from harness.shipped_methods.registry import build
from harness.store.sqlite.database import opened
from tests.harness.card.factory import sealed
from tests.harness.shipped_methods.conftest import PLUGIN

ROWS = [{"id": n, "source": f"word {n}", "reference": f"vorto {n}"} for n in range(3)]
PAIR = {"language_pair": "EN→EO", "source_language": "en", "target_language": "eo"}
URL = "http://127.0.0.1:9/v1"


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    monkeypatch.setenv("ROSETTA_HOME", str(tmp_path / "home"))
    file = tmp_path / "corpus.json"
    file.write_text(json.dumps({"dataset": {"id": "three", **PAIR}, "entries": ROWS}), "utf-8")
    return api.open_corpus(api.CorpusRequest(file))


@pytest.fixture
def store(corpus: Corpus) -> Iterator[sqlite3.Connection]:
    with opened() as connection:
        yield connection


def card_of(corpus: Corpus, method: str, told: dict[str, Any]) -> RunCard:
    """Return a card whose set-up is that of a method, over all entries of the corpus."""
    plan = api.ask(corpus, method, told).plan
    setup = build(plan.method, plan.options, corpus.reveal_here(), no_key).setup
    return stated(corpus, setup)


def stated(corpus: Corpus, setup: Setup) -> RunCard:
    card = json.loads(json.dumps(sealed()))
    card["method"] = setup.model_dump(mode="json")
    card["dataset"] |= {"sha256": corpus.sha256, "id": "three"}
    card["scoring"] = None
    row = card["results"][0]
    card["results"] = [{**row, "entry_id": r["id"], "source": r["source"]} for r in ROWS]
    return RunCard.model_validate(card)


def refused(store: sqlite3.Connection, card: RunCard, corpus: Corpus, **told: Any) -> str:
    with pytest.raises(UsageError) as error:
        rebuild(store, card, corpus, told)
    return str(error.value)


def test_chat_is_rebuilt(store: sqlite3.Connection, corpus: Corpus, tmp_path: Path) -> None:
    notes = tmp_path / "notes.json"
    notes.write_text('{"notes": ["Plurals end in -j."]}', "utf-8")
    told = {"model": "m", "endpoint": URL, "temperature": 0.7, "coaching": notes, "replicate": 2}
    card = card_of(corpus, "chat", {**told, "body": {"top_p": 0.9}, "batch_size": 3})
    words = refused(store, card, corpus)
    assert f"the coaching data: the card has SHA-256 {card.method.coaching_data_sha256}" in words
    assert "Give --coaching FILE." in words
    assert "the endpoint: the card has 127.0.0.1. Give --endpoint URL." in words
    assert words.startswith("This card cannot be run again yet: 2 things are missing or other.")

    found: Rebuilt = rebuild(store, card, corpus, {"coaching": notes, "endpoint": URL})
    assert found.setup == Setup.model_validate(card.method.model_dump())
    assert found.request.positions == (0, 1, 2)
    assert found.request.plan.run.use_cache is False

    other = tmp_path / "other.json"
    other.write_text('{"notes": ["Plurals end in -oj."]}', "utf-8")
    words = refused(store, card, corpus, coaching=other, endpoint=URL)
    assert "the coaching data: the card has SHA-256 " in words
    assert ", and here it is " in words
    assert "system_prompt_sha256" in words
    prompt = tmp_path / "mine.txt"
    prompt.write_text("Translate into {target_language}.", "utf-8")
    card = card_of(corpus, "chat", {"model": "m", "endpoint": URL, "prompt": str(prompt)})
    words = refused(store, card, corpus, endpoint=URL)
    assert f"the version 'mine' (as sent: SHA-256 {card.method.system_prompt_sha256})" in words
    assert "--prompt FILE" in words
    rebuild(store, card, corpus, {"endpoint": URL, "prompt": str(prompt)})


def test_plug_in_is_known_by_sha(store: sqlite3.Connection, corpus: Corpus, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PLUGIN, "utf-8")
    card = card_of(corpus, f"{file}:M", {"settings": {"beam": 4}})
    words = refused(store, card, corpus)
    assert f"the plug-in's code: the card has SHA-256 {card.method.method_sha256}" in words
    found = rebuild(store, card, corpus, {"method": f"{file}:M"})
    assert found.setup.options == {"settings": {"beam": 4}}

    file.write_text(PLUGIN + "\n# changed\n", "utf-8")
    words = refused(store, card, corpus, method=f"{file}:M")
    assert "the plug-in's code: the card has SHA-256 " in words
    assert ", and here it is " in words


def test_other_version_or_odd_entries_refused(store: sqlite3.Connection, corpus: Corpus) -> None:
    card = card_of(corpus, "copy-source", {})
    strange = card.results[0].model_copy(update={"entry_id": 77})
    found = card.model_copy(update={"results": [*card.results, strange]})
    assert "1 entries that its corpus has not, first '77'" in refused(store, found, corpus)
    twice = card.model_copy(update={"results": [*card.results, card.results[0]]})
    assert "an entry twice" in refused(store, twice, corpus)
    part = card.model_copy(update={"results": card.results[1:]})
    assert rebuild(store, part, corpus, {}).request.positions == (1, 2)
    card = card_of(corpus, "constant", {"text": "Ĉu?"})
    assert rebuild(store, card, corpus, {}).setup.options == {"text": "Ĉu?"}
    older = card.method.model_copy(update={"method_version": "0"})
    words = refused(store, card.model_copy(update={"method": older}), corpus)
    assert "method_version: the card has 0, and here it is 1" in words
