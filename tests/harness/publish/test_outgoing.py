"""What may be published, and published cards that lie: what a list of them leaves out."""

import json
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from corpora.model.corpus import Dataset
from harness.card.checking.recompute import MOST_TEXT
from harness.card.comparability import ids_sha256
from harness.card.importing import import_card
from harness.card.model import card_hash
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.leaderboard.ranking import Board, leaderboards
from harness.privacy import MayNotSend
from harness.publish import cards as outgoing
from harness.publish.cards import (
    MOST_BYTES,
    OutgoingCard,
    PublishedCards,
    hash_of_run,
    outgoing_run,
    require_publishing,
    taken,
)
from harness.publish.database import migrations
from harness.store.runs import find_run
from harness.store.sqlite.database import open_store
from harness.store.sqlite.schema import CARD_FIELDS, METRICS
from tests.harness.evaluation import corpus_of
from tests.harness.publish.conftest import WORDS, changed, made_card, several
from tests.harness.ranked import play, ranked_corpus
from tests.harness.sealed.refusals import refuses

OPEN = "CC-BY-4.0"


def dataset(**fields: Any) -> Dataset:
    return Dataset.model_validate(
        {"id": "made", "language_pair": "EN→EO", "source_language": "en", "target_language": "eo"} | fields
    )  # fmt: skip


def test_terms_decide() -> None:
    fields: Any
    for fields, words, outcome in [
        ({"transmission": "open"}, None, False), ({"license": OPEN}, None, False),
        ({"license": OPEN}, "Ann", False), ({}, None, "May everybody read"), ({}, "Ann", True),
        ({"transmission": "ask"}, None, "May everybody read"),
        ({"transmission": "open", "training": "not-allowed"}, None, "May everybody read"),
        ({"transmission": "open", "training": "not-allowed"}, "Ann", True),
        ({"transmission": ["https://llm.example.org"]}, "Ann", "https://llm.example.org only"),
        ({"transmission": "local-only"}, "Ann", "stay here"),
        ({"transmission": "nowhere"}, "Ann", "stay here"),
        ({"transmission": {"diagnostic": "open"}}, "Ann", "stay here"),
        ({"transmission": {"development": "open"}}, None, False),
    ]:  # fmt: skip
        terms = dataset(**fields).terms
        if isinstance(outcome, str):
            refuses(MayNotSend, outcome, require_publishing, terms, ["development"], "this run", words)
        else:
            assert require_publishing(terms, ["development"], "this run", words) is outcome


def imported(folder: Path, data: bytes, words: str | None = "Ann") -> OutgoingCard:
    """Publish a card that came from elsewhere."""
    with closing(open_store(folder / "rosetta.sqlite")) as store:
        import_card(store, data, "card.json", unverified=True)
        run = find_run(store, "last")
        made = outgoing_run(store, run, words)
        assert hash_of_run(store, run) == made.hash
        return made


class TestFromElsewhere:
    def test_a_card_is_published_as_it_was_sealed(self, tmp_path: Path, card: OutgoingCard) -> None:
        pretty = json.dumps(json.loads(card.data), indent=4).encode()
        again = imported(tmp_path, pretty)
        assert (again.data, again.hash, again.may_publish) == (card.data, card.hash, "Ann")

    def test_its_own_terms_decide(self, tmp_path: Path, card: OutgoingCard) -> None:
        stated: Any
        for place, (stated, outcome) in enumerate([
            ({}, "May everybody read"),
            ({"transmission": "open"}, ""),
            ({"transmission": "open", "training": False}, "May everybody read"),
            ({"transmission": "named", "endpoints": ["https://a.example"]}, "https://a.example only"),
            ({"transmission": "local-only"}, "stay here"),
            ({"transmission": "perhaps"}, "stay here"),
        ]):  # fmt: skip
            folder, data = tmp_path / str(place), json.loads(card.data)
            known = ("transmission", "transmission_because", "endpoints", "training")
            kept = {key: each for key, each in data["dataset"].items() if key not in known}
            other = changed(card, dataset=kept | stated).data
            if outcome:
                refuses(MayNotSend, outcome, imported, folder, other, None)
            else:
                assert imported(folder, other, None).may_publish is None

    def test_held_back_card_is_not_published(self, tmp_path: Path, card: OutgoingCard) -> None:
        rows = json.loads(card.data)["results"]
        rows[0] |= {"withheld": True, "source": None, "reference": None, "predicted": None}
        refuses(UsageError, "without outputs of its entries", imported, tmp_path, changed(card, results=rows).data)
        told = {**json.loads(card.data), "condition": "other"}
        refuses(UsageError, r"seal of run .* does not hold", imported, tmp_path / "broken", json.dumps(told).encode())


def test_what_leaves_is_told_by_field(card: OutgoingCard) -> None:
    told = card.texts
    rows = json.loads(card.data)["results"]
    for name in ("source", "reference", "predicted"):
        size = sum(len(row[name].encode()) for row in rows)
        assert told[f"results[].{name}"] == (10, size)
    assert "run_card_hash" not in told
    page = Path(__file__).parents[3].joinpath("docs", "publishing.md").read_text("utf-8")
    listed = dict(re.findall(r"^\| `(\w+)` \| (?:real|text) \| `([\w.]+)` \|", page, re.MULTILINE))
    metrics = {id_.replace(".", "_") for id_ in METRICS}
    assert listed == {name: ".".join(place) for name, place in CARD_FIELDS.items() if name not in metrics}


pytestmark = pytest.mark.usefixtures("home")


def retry_of(card: OutgoingCard) -> dict[str, Any]:
    """What a card says that claims to be a later retry of another."""
    return {"retry_of": {"run_id": json.loads(card.data)["run_id"]}, "timestamp": "2099-01-01T00:00:00+00:00"}


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


def test_scores_without_outputs_are_in_no_list(card: OutgoingCard) -> None:
    good, bad = several(card, 2)
    told = json.loads(bad.data)
    scores = {**told["scores"], "chrf_plus_plus": 99.0, "composite": 0.99}
    rows = told["results"]
    block = {"entries": 10, "secret": 10, "segments": {"development": 10}, "ids_sha256": ids_sha256(each["entry_id"] for each in rows)}  # fmt: skip
    ways: tuple[dict[str, Any], ...] = (
        {"results": []}, {"results": [], "withheld": block}, {"withheld": block},
        {"results": [{**rows[0], **HELD_BACK}, *rows[1:]]},
        {"results": rows_with(bad, **HELD_BACK)},
    )  # fmt: skip
    for way in ways:
        with listed(good, changed(bad, scores=scores, **way)) as (found, boards):
            assert ranks(boards) == {"00000000": 1}
            [words] = found.unverified
        assert "without outputs" in words


def test_references_that_are_the_outputs_have_no_rank(home: Path, tmp_path: Path) -> None:
    """Somebody scores bad outputs against themselves, and says that the corpus was the true one."""
    corpus, path = ranked_corpus(10), tmp_path / "rosetta.sqlite"
    honest = made_card(tmp_path, corpus)
    bad = json.loads(made_card(tmp_path, corpus, 2).data)
    false = [each.model_copy(update={"reference": row["predicted"]}) for each, row in zip(corpus.reveal_here(), bad["results"], strict=True)]  # fmt: skip
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


def test_retry_replaces_the_same_outputs_alone(tmp_path: Path, card: OutgoingCard) -> None:
    good, bad = made_card(tmp_path, right=9), made_card(tmp_path, right=3)
    origin = json.loads(good.data)["run_id"]
    with listed(good, changed(bad, **retry_of(good))) as (_, boards):
        assert (ranks(boards)[origin[:8]], len(ranks(boards))) == (1, 2)
    first, second = several(card, 2)
    with listed(first, changed(second, **retry_of(first))) as (_, boards):
        assert ranks(boards) == {"00000001": 1}
    scores = {**json.loads(second.data)["scores"], "chrf_plus_plus": 99.0}
    with listed(first, changed(second, scores=scores, **retry_of(first))) as (_, boards):
        assert ranks(boards) == {"00000000": 1}
    told = json.loads(card.data)
    scores = {**told["scores"], "chrf_plus_plus": 1.0}  # neither may have a rank
    first, second = (changed(each, scores=scores) for each in several(card, 2))
    rows = [{**told["results"][0], "predicted": "alia"}, *told["results"][1:]]
    sealed = {**told["fingerprint"], "setup_hash": "0" * 64}
    for way, entrants in (({}, 1), ({"results": rows}, 2), ({"fingerprint": sealed}, 2)):
        with listed(first, changed(second, **retry_of(first), **way)) as (_, [board]):
            assert len(board.entrants) == entrants
    both = several(card, 2)
    first, second = (changed(each, results=rows_with(each, **HELD_BACK)) for each in both)
    with closing(open_store(tmp_path / "imported.sqlite")) as store:
        for each in (first, changed(second, **retry_of(first))):
            import_card(store, each.data, "card.json")
        [board] = leaderboards(store)
    assert len(board.entrants) == 2


def test_card_with_impossible_values_is_left_out(card: OutgoingCard, home: Path) -> None:
    told = json.loads(card.data)
    rows, speed, cost = told["results"], told["speed"], told["cost"]
    endless = {**rows[0], "predicted": "a" * (MOST_TEXT + 1)}
    for fields, words in (
        ({"speed": {**speed, "avg_latency_seconds": -3.0}}, "$.speed.avg_latency_seconds"),
        ({"speed": {**speed, "avg_latency_seconds": 1e300}}, "$.speed.avg_latency_seconds"),
        ({"cost": {**cost, "cost_per_entry_usd": -0.5}}, "$.cost.cost_per_entry_usd"),
        ({"results": [*rows, rows[0]]}, "more than once"),
        ({"results": [endless, *rows[1:]]}, f"{MOST_TEXT + 1:,} characters"),
    ):
        with listed(changed(card, **fields)) as (found, boards):
            assert boards == []
            assert words in found.unverified[0]
    other = changed(card, condition="other")
    told = json.loads(other.data)
    assert told["run_card_hash"] == card_hash(told)
    with listed(card, other) as (found, _):
        [words] = found.unverified
        assert not home.exists()
    assert ("another card came before" in words, "delete" in words) == (True, False)
    for data in (
        b'{"overall": {}, "entries": []}', b'{"config": {}, "results": []}', b'{"chrf_plus_plus": 99}',
        b'{"results": "x", "scores": {}, "dataset": {}}', b'{"results": [1], "scores": {}, "dataset": {}}',
        canonical_bytes({**json.loads(card.data), "scores": {}}),
    ):  # fmt: skip
        with taken([("0" * 64, data)]) as found:
            assert leaderboards(found.store) == []
            assert found.count == len(found.unverified) == 1


def test_cards_beyond_limits_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "MOST_BYTES", 1000)
    refuses(UsageError, r"a published one may have 1,000", made_card, tmp_path)
    assert f"CHECK (octet_length(card_bytes) <= {MOST_BYTES})" in migrations()[1]
