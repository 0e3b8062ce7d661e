"""No number of a single secret entry is on a card, nor found from what is on it (DESIGN V3)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.model.entry import Entry, Segment
from harness.card.build import build_card, store_card
from harness.card.canonical import card_hash
from harness.card.checking.verify import verify_card
from harness.card.exporting import ExportForm, export_run
from harness.card.importing import import_card
from harness.card.load import load_card
from harness.card.withholding import LEAST, too_small
from harness.core.failures import UsageError
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.harness.evaluation import corpus_of, run_corpus
from tests.harness.run.constant_runs import constant

OUTPUT = "ENTRY NUMBER 3"


def entries(secret: int, public: int = 0) -> list[Entry]:
    return [
        Entry(id=f"id-{n}", source=f"entry number {n}", reference=f"ENTRY NUMBER {n}",
              segment=Segment.HELD_OUT if n < secret else Segment.DEVELOPMENT,
              difficulty=1 + (n % 7 == 0) + (n % 2))
        for n in range(secret + public)
    ]  # fmt: skip


def played(path: Path, made: list[Entry]) -> sqlite3.Connection:
    run_corpus(path, corpus_of(made), constant())
    return open_store(path)


def card_of(store: sqlite3.Connection) -> dict[str, Any]:
    number = find_run(store, "last").id
    card: dict[str, Any] = json.loads(export_run(store, number, ExportForm.CARD))
    return card


def numbers_in(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from numbers_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers_in(inner)
    else:
        yield value


@pytest.mark.parametrize("public", [0, 20])
def test_a_card_has_no_row_id_or_number_of_an_entry(store_path: Path, public: int) -> None:
    with closing(played(store_path, entries(23, public))) as store:
        card = card_of(store)
    assert card["results"] == []
    assert not any(str(each).startswith("id-") for each in numbers_in(card))
    assert card["withheld"]["secret"] == 23
    assert card["withheld"]["entries"] == card["scores"]["total"] == 23 + public
    assert verify_card(json.dumps(card).encode()).ok


@pytest.mark.parametrize("form", [ExportForm.JSONL, ExportForm.CSV])
def test_rows_are_not_written(store_path: Path, form: ExportForm) -> None:
    with (
        closing(played(store_path, entries(23, 20))) as store,
        pytest.raises(UsageError, match="no row of it leaves"),
    ):
        export_run(store, find_run(store, "last").id, form)


@pytest.mark.parametrize("secret", [1, LEAST - 1, LEAST])
def test_sums_over_too_few_are_not_written(store_path: Path, secret: int) -> None:
    with closing(played(store_path, entries(secret, 30))) as store:
        if secret >= LEAST:
            assert card_of(store)["withheld"]["secret"] == secret
            return
        with pytest.raises(UsageError, match=f"only {secret:,};"):
            card_of(store)


def test_small_parts_are_left_out_and_named(store_path: Path) -> None:
    made = entries(23, 20)
    with closing(played(store_path, made)) as store:
        card = card_of(store)
    counts = {tier: sum(e.secret and e.difficulty == tier for e in made) for tier in (1, 2, 3)}
    assert counts == {1: 10, 2: 11, 3: 2}
    # 3 is too small, and 1 goes with it: else all minus 1 and 2 told of the two
    assert set(card["scores"]["by_difficulty"]) == {"2"}
    assert card["withheld"]["suppressed"]["difficulty"] == ["1", "3"]
    assert set(card["scores"]["by_segment"]) == {"held_out", "development"}


@given(
    st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.integers(0, 12)),
    st.integers(0, 9),
)
def test_what_is_left_out_is_never_found_by_subtraction(
    parts: dict[str, int], untagged: int
) -> None:
    secret = sum(parts.values()) + untagged
    left_out = too_small(parts, secret)
    kept = {tag: count for tag, count in parts.items() if tag not in left_out}
    assert all(count >= LEAST for count in kept.values())
    rest = secret - sum(kept.values())
    assert rest == 0 or rest >= LEAST or not kept
    if not any(0 <= count < LEAST for count in parts.values()) and (
        untagged == 0 or untagged >= LEAST
    ):
        assert left_out == set()


def test_the_store_computes_it_again(store_path: Path) -> None:
    with closing(played(store_path, entries(12))) as store:
        card = card_of(store)
        verdict = verify_card(json.dumps(card).encode(), store)
        assert verdict.ok
        assert any(check.name == "numbers, from the stored rows" for check in verdict.checks)
        card["scores"]["bleu"] = 77.7
        card["run_card_hash"] = card_hash(card)
        found = verify_card(json.dumps(card).encode(), store)
        assert found.first_difference is not None
        assert found.first_difference.path == "$.scores.bleu"
    without = verify_card(json.dumps(card).encode())
    assert "12 of 12 entries are secret" in str(without.checks)


def test_a_run_that_an_older_version_sealed_leaves_without_its_rows(store_path: Path) -> None:
    with closing(played(store_path, entries(12))) as store:
        number = find_run(store, "last").id
        old = build_card(store, number, whole=True)
        store.execute("UPDATE runs SET run_card = NULL WHERE id = ?", (number,))
        store_card(store, number, old.as_json())
        assert len(load_card(store, number).results) == 12
        card = card_of(store)
        assert card["results"] == []
        assert card["sealed_as"] == old.run_card_hash
        assert verify_card(json.dumps(card).encode(), store).ok
        with pytest.raises(UsageError, match="no row"):
            export_run(store, number, ExportForm.CSV)


def test_it_comes_in_elsewhere_with_its_totals(store_path: Path, tmp_path: Path) -> None:
    with closing(played(store_path, entries(12))) as store:
        data = export_run(store, find_run(store, "last").id, ExportForm.CARD)
    with closing(open_store(tmp_path / "there.sqlite")) as there:
        import_card(there, data, "card.json")
        run = find_run(there, "last")
        assert export_run(there, run.id, ExportForm.CARD) == data
        assert load_card(there, run.id).scores.total == 12
