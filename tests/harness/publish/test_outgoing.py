"""What may be published: by the terms of a corpus, by who held what back, and by seals."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.model.corpus import Dataset
from harness.card.importing import import_card
from harness.consent.sending import MayNotSend
from harness.core.failures import UsageError
from harness.publish.outgoing import (
    COLUMNS,
    OutgoingCard,
    hash_of_run,
    outgoing_run,
    require_publishing,
)
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.harness.publish.made import changed, made_card

OPEN = "CC-BY-4.0"


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> OutgoingCard:
    return made_card(tmp_path_factory.mktemp("run"))


def dataset(**fields: Any) -> Dataset:
    return Dataset.model_validate(
        {"id": "made", "language_pair": "EN→EO", "source_language": "en", "target_language": "eo"} | fields
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "words", "outcome"),
    [
        ({"transmission": "open"}, None, False),
        ({"license": OPEN}, None, False),
        ({"license": OPEN}, "Ann", False),
        ({}, None, "May everybody read"),
        ({}, "Ann", True),
        ({"transmission": "ask"}, None, "May everybody read"),
        ({"transmission": "open", "training": "not-allowed"}, None, "May everybody read"),
        ({"transmission": "open", "training": "not-allowed"}, "Ann", True),
        ({"transmission": ["https://llm.example.org"]}, "Ann", "https://llm.example.org only"),
        ({"transmission": "local-only"}, "Ann", "stay here"),
        ({"transmission": "nowhere"}, "Ann", "stay here"),
        ({"transmission": {"diagnostic": "open"}}, "Ann", "stay here"),
        ({"transmission": {"development": "open"}}, None, False),
    ],
)
def test_terms_decide(fields: dict[str, Any], words: str | None, outcome: bool | str) -> None:
    terms = dataset(**fields).terms
    if isinstance(outcome, str):
        with pytest.raises(MayNotSend, match=outcome):
            require_publishing(terms, ["development"], "this run", words)
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

    @pytest.mark.parametrize(
        ("stated", "outcome"),
        [
            ({}, "May everybody read"),
            ({"transmission": "open"}, ""),
            ({"transmission": "open", "training": False}, "May everybody read"),
            ({"transmission": "named", "endpoints": ["https://a.example"]}, "https://a.example only"),
            ({"transmission": "local-only"}, "stay here"),
            ({"transmission": "perhaps"}, "stay here"),
        ],
    )  # fmt: skip
    def test_its_own_terms_decide(
        self, tmp_path: Path, card: OutgoingCard, stated: dict[str, Any], outcome: str
    ) -> None:
        data = json.loads(card.data)
        known = ("transmission", "transmission_because", "endpoints", "training")
        kept = {key: each for key, each in data["dataset"].items() if key not in known}
        other = changed(card, dataset=kept | stated).data
        if outcome:
            with pytest.raises(MayNotSend, match=outcome):
                imported(tmp_path, other, None)
        else:
            assert imported(tmp_path, other, None).may_publish is None

    def test_what_its_maker_held_back_is_not_published(
        self, tmp_path: Path, card: OutgoingCard
    ) -> None:
        rows = json.loads(card.data)["results"]
        rows[0] |= {"withheld": True, "source": None, "reference": None, "predicted": None}
        with pytest.raises(UsageError, match="without outputs of its entries"):
            imported(tmp_path, changed(card, results=rows).data)

    def test_a_card_without_a_seal_that_holds_is_not_published(
        self, tmp_path: Path, card: OutgoingCard
    ) -> None:
        told = {**json.loads(card.data), "condition": "other"}
        with pytest.raises(UsageError, match=r"seal of run .* does not hold"):
            imported(tmp_path, json.dumps(told).encode())


def test_what_leaves_is_told_by_field(card: OutgoingCard) -> None:
    told = card.texts
    rows = json.loads(card.data)["results"]
    for name in ("source", "reference", "predicted"):
        size = sum(len(row[name].encode()) for row in rows)
        assert told[f"results[].{name}"] == (10, size)
    assert "run_card_hash" not in told


def test_the_docs_have_every_column_with_its_field() -> None:
    page = Path(__file__).parents[3].joinpath("docs", "publishing.md").read_text("utf-8")
    told = dict(re.findall(r"^\| `(\w+)` \| (?:real|text) \| `([\w.]+)` \|", page, re.MULTILINE))
    assert told == {name: ".".join(place) for name, place in COLUMNS.items()}
