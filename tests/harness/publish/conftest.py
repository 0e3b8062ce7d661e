"""Cards that are ready to be published: a run that is really made, and others like it, sealed anew."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from corpora.model.corpus import Corpus
from harness.card.seal import card_hash
from harness.core.canonical import canonical_bytes
from harness.publish.outgoing import OutgoingCard, outgoing_run
from harness.store.file.database import open_store
from harness.store.runs import find_run
from tests.harness.ranked import play, ranked_corpus

WORDS = "the test's own sentences"


def made_card(folder: Path, corpus: Corpus | None = None, right: int = 6) -> OutgoingCard:
    """The card of a run over open entries."""
    path = folder / "rosetta.sqlite"
    run = play(path, corpus or ranked_corpus(10), right, "model-one", cost=0.001)
    with closing(open_store(path)) as store:
        return outgoing_run(store, find_run(store, run), WORDS)


def changed(card: OutgoingCard, **fields: Any) -> OutgoingCard:
    """A card with other fields, sealed anew."""
    told = {**json.loads(card.data), **fields}
    told["run_card_hash"] = card_hash(told)
    return OutgoingCard(canonical_bytes(told), card.may_publish)


def several(card: OutgoingCard, count: int) -> list[OutgoingCard]:
    """Cards that differ in their run's id."""
    return [changed(card, run_id=f"{n:08d}-0000-4000-8000-000000000000") for n in range(count)]


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> OutgoingCard:
    return made_card(tmp_path_factory.mktemp("run"))
