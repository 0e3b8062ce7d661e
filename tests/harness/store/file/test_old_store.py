"""A store of an earlier version opens, is brought up to date, and keeps everything it had."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from harness.card.checking.verify import verify_card
from harness.card.load import load_card
from harness.store.deletion import HoldsSecrets, bring_back, trash
from harness.store.file.database import SCHEMA_VERSION, open_store
from harness.store.notes import set_tags
from harness.store.runs import find_run, list_runs
from tests.harness.evaluation import query

OLD = Path(__file__).with_name("version-5.sqlite.gz")
"""Made by the version before notes and tags: a copy of three entries, one of them secret, and a constant."""


@pytest.fixture
def old(store_path: Path) -> Path:
    store_path.parent.mkdir(mode=0o700)
    store_path.write_bytes(gzip.decompress(OLD.read_bytes()))
    return store_path


def test_everything_is_still_there(old: Path) -> None:
    with closing(sqlite3.connect(old)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (5,)
        before = [raw.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall()
                  for name in ("texts", "entries", "results", "stretches")]  # fmt: skip
        heads = raw.execute("SELECT run_id, run_card, plan, opening FROM runs").fetchall()
    with closing(open_store(old)) as store:
        runs = list_runs(store)
        assert [run.method for run in runs] == ["constant", "copy-source"]
        assert [(run.note, run.tags, run.retry_of, run.trashed) for run in runs] == [
            ("", (), "", None)
        ] * 2
        cards = [load_card(store, run.number).as_json() for run in runs]
        assert verify_card(json.dumps(cards[0]).encode()).ok
        assert verify_card(json.dumps(cards[1]).encode(), store).ok
    assert query(old, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert [query(old, f"SELECT * FROM {name} ORDER BY 1, 2")
            for name in ("texts", "entries", "results", "stretches")] == before  # fmt: skip
    assert query(old, "SELECT run_id, run_card, plan, opening FROM runs") == heads
    assert query(old, "PRAGMA integrity_check") == [("ok",)]


def test_old_runs_take_tags_and_can_be_put_away(old: Path) -> None:
    with closing(open_store(old)) as store:
        open_run, secret = find_run(store, "last"), list_runs(store)[1]
        set_tags(store, open_run.id, ["old"])
        trash(store, open_run.id)
        assert [run.run_id for run in list_runs(store)] == [secret.run_id]
        bring_back(store, open_run.id)
        assert list_runs(store)[0].tags == ("old",)
        with pytest.raises(HoldsSecrets):
            trash(store, secret.number)
