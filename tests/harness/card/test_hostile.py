"""Cards that were made to break things: words come out, never a traceback, and nothing half stored."""

from __future__ import annotations

import contextlib
import copy
import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.card.canonical import card_hash
from harness.card.checking.verify import verify_card
from harness.card.exporting import ExportForm, export_run
from harness.card.importing import import_card
from harness.core.failures import HarnessError
from harness.store.deletion import delete_run
from harness.store.runs import find_run, list_runs
from rosetta_tui.report.card import card_text, run_line, table
from tests.harness.card import factory
from tests.harness.card.older_reports import OLDER, report
from tests.harness.card.sealed_cards import sealed

SEEDS = (
    sealed,
    lambda: sealed(secret=True),
    lambda: json.loads(OLDER.read_bytes()),
    report,
)

_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([0, -1, 2**53, 0.5, -1.0, 1e308, -1e308, 5e-324]),
    st.text(max_size=8),
    st.sampled_from(["\x1b[2J", "\ud800", "'; DROP TABLE runs; --", "=1+1", "\x00", "9" * 400]),
    st.just([]),
    st.just({}),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.text(max_size=4), st.integers(0, 3), max_size=3),
)


@st.composite
def forged(draw: st.DrawFn) -> bytes:
    """Return a card in which one to three values were replaced or removed, sealed again where it can be."""
    card = copy.deepcopy(draw(st.sampled_from(SEEDS))())
    for _ in range(draw(st.integers(1, 3))):
        _forge(draw, card)
    try:
        card["run_card_hash"] = card_hash(card)
    except HarnessError:
        card["run_card_hash"] = "0"
    return json.dumps(card).encode()


def _forge(draw: st.DrawFn, card: dict[str, Any]) -> None:
    """Walk down from the top, so that every level is met as often, and change what is there."""
    node: Any = card
    while True:
        key = draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
        if isinstance(node[key], dict | list) and node[key] and draw(st.booleans()):
            node = node[key]
        elif draw(st.integers(0, 3)) == 0:
            del node[key]
            return
        else:
            node[key] = draw(_values)
            return


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    with factory.store(tmp_path_factory.mktemp("hostile")) as connection:
        yield connection


@pytest.mark.thorough
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(forged())
def test_verify_and_import_answer_in_words(one_store: sqlite3.Connection, data: bytes) -> None:
    with contextlib.suppress(HarnessError):
        repr(verify_card(data, one_store))
    try:
        done = import_card(one_store, data, "card.json", unverified=True)
    except HarnessError:
        assert list_runs(one_store) == []
        assert one_store.execute("SELECT count(*) FROM corpora").fetchone() == (0,)
        return
    run = find_run(one_store, done.run_id)
    for form in ExportForm:
        export_run(one_store, run.id, form)
    (summary,) = list_runs(one_store)
    assert summary.card is not None
    list(table([run_line(summary)]))
    card_text(summary.card)
    delete_run(one_store, run.id)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
def test_any_bytes_are_answered_in_words(data: bytes) -> None:
    with pytest.raises(HarnessError):
        verify_card(data)


def test_every_export_of_a_hostile_card_is_as_it_came(connection: sqlite3.Connection) -> None:
    card = copy.deepcopy(sealed())
    card["results"][0]["predicted"] = '=cmd|"/c calc"!A1\r\n\x00\u202e'
    card["run_card_hash"] = card_hash(card)
    data = json.dumps(card).encode()
    done = import_card(connection, data, "card.json")
    run = find_run(connection, done.run_id)
    assert export_run(connection, run.id, ExportForm.CARD) == data
    first = export_run(connection, run.id, ExportForm.JSONL).split(b"\n")[0]
    assert json.loads(first)["predicted"] == card["results"][0]["predicted"]
