"""Published cards that lie: what a list of them shows, and what it leaves out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.card.checking.refusing import MOST_TEXT
from harness.card.entry_ids import ids_sha256
from harness.card.importing import import_card
from harness.card.seal import card_hash
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.leaderboard.ranking import Board, leaderboards
from harness.publish import outgoing
from harness.publish.database import migrations
from harness.publish.outgoing import MOST_BYTES, OutgoingCard, outgoing_run
from harness.publish.reading import PublishedCards, taken
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.harness.evaluation import corpus_of
from tests.harness.publish.made import WORDS, changed, made_card, several
from tests.harness.ranked import play, ranked_corpus


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder without a store."""
    folder = tmp_path / "home"
    monkeypatch.setenv("ROSETTA_HOME", str(folder))
    return folder


@pytest.fixture
def card(tmp_path: Path) -> OutgoingCard:
    return made_card(tmp_path)


@contextmanager
def listed(*cards: OutgoingCard) -> Iterator[tuple[PublishedCards, list[Board]]]:
    with taken((each.hash, each.data) for each in cards) as found:
        yield found, leaderboards(found.store)


def ranks(boards: list[Board]) -> dict[str, int]:
    """First part of a run's id → its rank."""
    return {id_[:8]: rank for board in boards for id_, rank in board.ranks.items()}


def rows_with(card: OutgoingCard, **fields: Any) -> list[dict[str, Any]]:
    return [{**row, **fields} for row in json.loads(card.data)["results"]]


HELD_BACK = {"withheld": True, "source": None, "reference": None, "predicted": None}


@pytest.mark.parametrize(
    "what", ["no rows", "told as withheld", "told beside rows", "one row", "all rows"]
)
def test_scores_without_outputs_are_in_no_list(home: Path, card: OutgoingCard, what: str) -> None:
    good, bad = several(card, 2)
    told = json.loads(bad.data)
    scores = {**told["scores"], "chrf_plus_plus": 99.0, "composite": 0.99}
    rows = told["results"]
    block = {"entries": 10, "secret": 10, "segments": {"development": 10}, "ids_sha256": ids_sha256(each["entry_id"] for each in rows)}  # fmt: skip
    ways: dict[str, dict[str, Any]] = {
        "no rows": {"results": []},
        "told as withheld": {"results": [], "withheld": block},
        "told beside rows": {"withheld": block},
        "one row": {"results": [{**rows[0], **HELD_BACK}, *rows[1:]]},
        "all rows": {"results": rows_with(bad, **HELD_BACK)},
    }
    with listed(good, changed(bad, scores=scores, **ways[what])) as (found, boards):
        assert ranks(boards) == {"00000000": 1}
        [words] = found.unverified
    assert "without outputs" in words


def test_references_that_are_the_outputs_have_no_rank_where_the_corpus_is_here(
    home: Path, tmp_path: Path
) -> None:
    """Somebody scores bad outputs against themselves, and says that the corpus was the true one."""
    corpus, path = ranked_corpus(10), tmp_path / "rosetta.sqlite"
    honest = made_card(tmp_path, corpus)
    bad = json.loads(made_card(tmp_path, corpus, 2).data)
    false = [each.model_copy(update={"reference": row["predicted"]}) for each, row in zip(corpus.entries, bad["results"], strict=True)]  # fmt: skip
    run = play(path, corpus_of(false), 10, "model-two")
    with closing(open_store(path)) as store:
        lie = outgoing_run(store, find_run(store, run), WORDS)
    lie = changed(lie, dataset=json.loads(honest.data)["dataset"])
    with listed(honest, lie) as (_, boards):
        assert json.loads(lie.data)["run_id"] == boards[0].entrants[0].run.run_id
        assert all(each.run.stated for board in boards for each in board.entrants)
    home.mkdir()
    play(home / "rosetta.sqlite", corpus, 3, "own")
    with listed(honest, lie) as (_, boards):
        by_id = {each.run.run_id: each for board in boards for each in board.entrants}
        assert not by_id[json.loads(honest.data)["run_id"]].run.stated
        assert "corpus" in by_id[json.loads(lie.data)["run_id"]].unranked


def test_a_card_takes_no_place_of_a_run_whose_outputs_it_has_not(
    home: Path, tmp_path: Path
) -> None:
    good, bad = made_card(tmp_path, right=9), made_card(tmp_path, right=3)
    origin = json.loads(good.data)["run_id"]
    claim = {"retry_of": {"run_id": origin}, "timestamp": "2099-01-01T00:00:00+00:00"}
    with listed(good, changed(bad, **claim)) as (_, boards):
        assert ranks(boards)[origin[:8]] == 1
        assert len(ranks(boards)) == 2


def test_a_retry_with_the_same_outputs_stands_in_place_of_the_run(
    home: Path, card: OutgoingCard
) -> None:
    first, second = several(card, 2)
    claim = {"retry_of": {"run_id": json.loads(first.data)["run_id"]}, "timestamp": "2099-01-01T00:00:00+00:00"}  # fmt: skip
    with listed(first, changed(second, **claim)) as (_, boards):
        assert ranks(boards) == {"00000001": 1}


def test_a_retry_that_may_have_no_rank_pushes_nobody_away(home: Path, card: OutgoingCard) -> None:
    first, second = several(card, 2)
    told = json.loads(second.data)
    claim = {"retry_of": {"run_id": json.loads(first.data)["run_id"]}, "timestamp": "2099-01-01T00:00:00+00:00"}  # fmt: skip
    lie = changed(second, scores={**told["scores"], "chrf_plus_plus": 99.0}, **claim)
    with listed(first, lie) as (_, boards):
        assert ranks(boards) == {"00000000": 1}


@pytest.mark.parametrize("what", ["another output", "another set-up"])
def test_a_retry_has_the_set_up_and_the_outputs_of_the_run(
    home: Path, card: OutgoingCard, what: str
) -> None:
    told = json.loads(card.data)
    scores = {**told["scores"], "chrf_plus_plus": 1.0}  # neither may have a rank
    first, second = (changed(each, scores=scores) for each in several(card, 2))
    rows = [{**told["results"][0], "predicted": "alia"}, *told["results"][1:]]
    sealed = {**told["fingerprint"], "setup_hash": "0" * 64}
    ways: dict[str, dict[str, Any]] = {
        "another output": {"results": rows},
        "another set-up": {"fingerprint": sealed},
    }
    claim = {"retry_of": {"run_id": json.loads(first.data)["run_id"]}, "timestamp": "2099-01-01T00:00:00+00:00"}  # fmt: skip
    with listed(first, changed(second, **claim)) as (_, [board]):
        assert len(board.entrants) == 1
    with listed(first, changed(second, **claim, **ways[what])) as (_, [board]):
        assert len(board.entrants) == 2


def test_nobody_can_have_outputs_that_are_not_at_hand(tmp_path: Path, card: OutgoingCard) -> None:
    first, second = (changed(each, results=[{**row, **HELD_BACK} for row in json.loads(each.data)["results"]]) for each in several(card, 2))  # fmt: skip
    claim = {"retry_of": {"run_id": json.loads(first.data)["run_id"]}, "timestamp": "2099-01-01T00:00:00+00:00"}  # fmt: skip
    with closing(open_store(tmp_path / "imported.sqlite")) as store:
        for each in (first, changed(second, **claim)):
            import_card(store, each.data, "card.json")
        [board] = leaderboards(store)
    assert len(board.entrants) == 2


@pytest.mark.parametrize(
    ("block", "field", "value"),
    [
        ("speed", "avg_latency_seconds", -3.0),
        ("speed", "avg_latency_seconds", 1e300),
        ("cost", "cost_per_entry_usd", -0.5),
    ],
)
def test_costs_and_times_that_no_run_has_are_left_out(
    home: Path, card: OutgoingCard, block: str, field: str, value: float
) -> None:
    told = json.loads(card.data)[block]
    with listed(changed(card, **{block: {**told, field: value}})) as (found, boards):
        assert boards == []
        assert f"$.{block}.{field}" in found.unverified[0]


def test_an_entry_that_stands_on_a_card_twice_leaves_it_out(home: Path, card: OutgoingCard) -> None:
    rows = json.loads(card.data)["results"]
    with listed(changed(card, results=[*rows, rows[0]])) as (found, boards):
        assert boards == []
        assert "more than once" in found.unverified[0]


def test_a_text_without_end_leaves_its_card_out(home: Path, card: OutgoingCard) -> None:
    rows = json.loads(card.data)["results"]
    rows[0] = {**rows[0], "predicted": "a" * (MOST_TEXT + 1)}
    with listed(changed(card, results=rows)) as (found, boards):
        assert boards == []
        assert f"{MOST_TEXT + 1:,} characters" in found.unverified[0]


@pytest.mark.parametrize(
    "data",
    [b'{"overall": {}, "entries": []}', b'{"config": {}, "results": []}', b'{"chrf_plus_plus": 99}', b'{"results": "x", "scores": {}, "dataset": {}}', b'{"results": [1], "scores": {}, "dataset": {}}'],
)  # fmt: skip
def test_what_is_no_card_is_counted_once_and_left_out(home: Path, data: bytes) -> None:
    with taken([("0" * 64, data)]) as found:
        assert leaderboards(found.store) == []
        assert found.count == len(found.unverified) == 1


def test_a_broken_seal_on_what_is_no_card_is_counted_once(home: Path, card: OutgoingCard) -> None:
    told = {**json.loads(card.data), "scores": {}}
    with taken([("0" * 64, canonical_bytes(told))]) as found:
        assert found.count == len(found.unverified) == 1


def test_another_card_of_the_run_is_left_out_and_nobody_is_told_to_delete(
    home: Path, card: OutgoingCard
) -> None:
    with listed(card, changed(card, condition="other")) as (found, _):
        [words] = found.unverified
    assert "another card came before" in words
    assert "delete" not in words


def test_cards_beyond_the_limit_are_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outgoing, "MOST_BYTES", 1000)
    with pytest.raises(UsageError, match=r"a published one may have 1,000"):
        made_card(tmp_path)


def test_the_database_has_the_same_limit() -> None:
    assert f"CHECK (octet_length(card_bytes) <= {MOST_BYTES})" in migrations()[1]


def test_without_a_store_none_is_made(home: Path, card: OutgoingCard) -> None:
    with listed(card):
        assert not home.exists()


def test_sealing_is_not_enough(card: OutgoingCard) -> None:
    """The lies of these tests have seals that hold."""
    told = json.loads(changed(card, condition="other").data)
    assert told["run_card_hash"] == card_hash(told)
