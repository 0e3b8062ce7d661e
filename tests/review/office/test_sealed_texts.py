"""Sentences of a secret review lie sealed in the office's file, and open on its computer only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.core.failures import StoreError
from harness.sealed.keys import Identity, Role
from harness.store.file.sealing import forget_keys
from review.files.manifests import BatchItem
from review.office.store.database import FILE
from review.office.store.store import Office
from review.verdict.gate.policy import proposed
from tests.review.office import made
from tests.review.office.secret_entries import secret_entries


@pytest.fixture(autouse=True)
def no_keys() -> Iterator[None]:
    forget_keys()
    yield
    forget_keys()


def filled(folder: Path) -> dict[str, BatchItem]:
    """Make a review of which half the sentences are secret; gives its items."""
    made.store_runs(folder, secret_entries())
    ready = made.made(
        made.draft(made.reviewed(folder), reviewers=2, items=20), Identity.make(Role.ORGANISATION)
    )
    with Office.open(folder) as office:
        office.create_review(ready.key, proposed()[1], ready.manifests, ready.texts, ready.codes)
    return {each.id: each for each in ready.texts}


def readable(folder: Path, items: dict[str, BatchItem]) -> list[str]:
    """Return the sentences that can be read in any file of the office."""
    data = b"".join(each.read_bytes() for each in folder.glob(f"{FILE}*"))
    said = {text for each in items.values() for text in (each.source, each.candidate)}
    return [text for text in said if text and text.encode() in data]


def texts(folder: Path) -> dict[str, BatchItem]:
    with Office.open(folder) as office:
        return dict(office.review("last").texts)


def test_a_secret_review_is_sealed_and_an_open_one_is_not(tmp_path: Path) -> None:
    items = filled(tmp_path / "secret")
    assert readable(tmp_path / "secret", items) == []
    assert texts(tmp_path / "secret") == items
    with made.desk(tmp_path / "open", reviewers=2, items=20).office as office:
        assert readable(tmp_path / "open", dict(office.review("last").texts))


def test_a_file_from_before_is_sealed_and_nothing_of_it_is_left(tmp_path: Path) -> None:
    items = filled(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as raw:
        raw.execute("DROP TABLE sealed_texts")
        raw.execute("DROP TABLE unsealed")
        raw.execute("DROP TABLE words_key")
        raw.execute("DROP TABLE vault_texts")
        raw.executemany(
            "INSERT INTO item (item, review, source, candidate, around) VALUES (?, 1, ?, ?, ?)",
            [
                (each.id, each.source, each.candidate, each.around.model_dump_json() if each.around else "")
                for each in items.values()
            ],
        )  # fmt: skip
        raw.execute("PRAGMA user_version = 8")
        raw.commit()
    assert readable(tmp_path, items)
    assert texts(tmp_path) == items
    assert readable(tmp_path, items) == []
    assert texts(tmp_path) == items


def test_on_another_computer_they_do_not_open_and_all_else_is_there(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "computer.key").unlink()
    forget_keys()
    with Office.open(tmp_path) as office:
        review = office.review("last")
        assert review.codes
        with pytest.raises(StoreError, match="no key of this computer opens them"):
            _ = review.texts
    assert not (tmp_path / "computer.key").exists()


def test_a_changed_byte_is_called_damage_and_not_a_lack_of_keys(tmp_path: Path) -> None:
    filled(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as raw:
        [content] = raw.execute("SELECT content FROM sealed_texts").fetchone()
        changed = content[:-1] + bytes([content[-1] ^ 1])
        raw.execute("UPDATE sealed_texts SET content = ?", (changed,))
        raw.commit()
    with Office.open(tmp_path) as office, pytest.raises(StoreError, match="damaged"):
        _ = office.review("last").texts
