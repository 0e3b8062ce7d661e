"""Where a sentence stands: told beside it, and never of a secret one unless the organisation says so."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from corpora.model.entry import Entry, Segment
from harness.card.entry_ids import card_id
from harness.sealed.keys import Identity, Role
from harness.store.file.database import open_store
from review.files.manifests import Around
from review.office.items.items import stratum
from review.office.items.reviewed_runs import read_runs
from review.office.items.sentences import Carries, surroundings
from review.office.making.creating import ReviewDraft, Size, draft_review
from review.office.making.texts import review_texts
from review.office.store.store import Office
from review.verdict.gate.policy import proposed
from tests.review.office import made


def entries(count: int = 6, *secret: int, document: object = "story") -> list[Entry]:
    return [
        Entry.model_validate(
            {
                "id": n, "source": f"Source {n}.", "reference": f"Reference {n}.",
                "context": f"context {n}", "register": "formal", "document": document,
                "segment": "gold_standard" if n in secret else "development",
            }
        )
        for n in range(count)
    ]  # fmt: skip


def told(of: Sequence[Entry], carries: Carries = Carries.OPEN) -> dict[object, tuple[str, str]]:
    found = surroundings(of, carries).told
    return {id_: (each.before, each.after) for id_, each in found.items()}


def test_a_sentence_has_those_next_to_it_in_its_document() -> None:
    found = surroundings(entries(3), Carries.OPEN)
    assert found.told[1] == Around(
        context="context 1", formality="formal", before="Source 0.", after="Source 2."
    )
    assert (found.told[0].before, found.told[2].after) == ("", "")
    two = [*entries(2), *(e.model_copy(update={"id": 10 + e.id}) for e in entries(2, document=7))]
    assert told(two)[1] == ("Source 0.", "")
    assert told(two)[10] == ("", "Source 1.")


def test_sentences_of_no_document_follow_nothing() -> None:
    assert told(entries(3, document=None))[1] == ("", "")
    assert told(entries(3, document=""))[1] == ("", "")
    bare = [Entry(id=n, source=f"S{n}", reference="R") for n in range(3)]
    assert surroundings(bare, Carries.ALL).told == {}


def test_a_secret_neighbour_is_left_out_and_none_takes_its_place() -> None:
    corpus = entries(5, 1)
    assert told(corpus) == {0: ("", ""), 2: ("", "Source 3."), 3: ("Source 2.", "Source 4."), 4: ("Source 3.", "")}  # fmt: skip
    every = surroundings(corpus, Carries.ALL)
    assert every.told[1].context == "context 1"
    assert every.secret == {0, 2}, "beside these a secret sentence would be shown"
    assert told(corpus, Carries.NONE) == {}
    kept = [e.model_copy(update={"local_only": e.id == 3}) for e in entries(5)]
    assert told(kept)[2] == ("Source 1.", ""), "what may not leave the machine is secret, too"
    gone = [e.model_copy(update={"not_stored": e.id == 3}) for e in entries(5)]
    assert told(gone, Carries.ALL)[2] == ("Source 1.", "")


def test_a_tag_that_is_too_long_and_a_blank_neighbour_are_left_out() -> None:
    corpus = entries(3)
    corpus[0] = corpus[0].model_copy(update={"source": " "})
    corpus[1] = corpus[1].model_copy(update={"context": "x" * 201})
    found = surroundings(corpus, Carries.OPEN).told[1]
    assert (found.context, found.before, found.after) == ("", "", "Source 2.")


SECRET = "zqsecret"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Every second entry is secret, and each secret text and tag has a word of its own."""
    corpus = []
    for place, entry in enumerate(made.demo_entries()):
        said: dict[str, object] = {"document": f"page {place // 12}", "context": f"scene {place}"}
        if place % 2:
            said |= {
                "segment": Segment.GOLD_STANDARD, "source": f"{entry.source} {SECRET}",
                "context": SECRET, "register_": SECRET,
            }  # fmt: skip
        corpus.append(entry.model_copy(update=said))
    outputs = [[made.demo_outputs()[entry.id] for entry in corpus]]
    made.store_runs(tmp_path, corpus, outputs)
    return tmp_path


def drafted(home: Path, carries: Carries, segment: Segment) -> ReviewDraft:
    with closing(open_store(home / "rosetta.sqlite")) as connection:
        runs = read_runs(connection, made.RUNS[:1], [segment])
    policy, _ = proposed()
    size = Size(reviewers=3, items=20)
    return draft_review(runs, policy, size, 7, review_texts("en"), None, carries)


def everything(draft: ReviewDraft) -> str:
    """Everything that stands in a batch, member by member."""
    [batch] = made.made(draft, Identity.make(Role.ORGANISATION)).batches
    archive = zipfile.ZipFile(io.BytesIO(batch.archive))
    return "\n".join(archive.read(name).decode("utf-8", "replace") for name in archive.namelist())


def test_no_member_of_an_open_batch_has_a_word_of_a_secret_entry(home: Path) -> None:
    segment = next(e.segment for e in made.demo_entries()[::2] if e.segment)
    draft = drafted(home, Carries.OPEN, segment)
    assert draft.placed == len(draft.entries)
    assert not draft.secret
    batch = everything(draft)
    assert SECRET not in batch
    assert "scene 0" in batch or "scene 2" in batch
    wished = drafted(home, Carries.ALL, segment)
    assert wished.secret, "with a secret sentence beside an open one the batch has to be sealed"
    assert SECRET in everything(wished)


def test_of_a_secret_review_its_own_sentences_stand_alone(home: Path) -> None:
    draft = drafted(home, Carries.OPEN, Segment.GOLD_STANDARD)
    items = [item for item in draft.items if draft.runs.corpus[item.truth.entry].secret]
    assert items
    assert {item.shown.around for item in items} == {None}
    wished = drafted(home, Carries.ALL, Segment.GOLD_STANDARD)
    assert {bool(item.shown.around) for item in wished.items} == {True}


def test_controls_say_the_same_of_their_sentence_as_real_items(tmp_path: Path) -> None:
    """Else what stands beside a sentence would tell which items are tests; the office keeps it, too."""
    corpus = [
        entry.model_copy(update={"document": stratum(entry), "context": f"scene {place}"})
        for place, entry in enumerate(made.demo_entries())
    ]
    made.store_runs(tmp_path, corpus)
    draft = made.draft(made.reviewed(tmp_path), items=80)
    around: dict[object, set[Around | None]] = {}
    for item in draft.items:
        around.setdefault(item.truth.entry, set()).add(item.shown.around)
    assert {len(each) for each in around.values()} == {1}
    assert around.keys() >= {card_id(entry.id) for entry in draft.entries}
    _, policy = proposed()
    ready = made.made(draft, Identity.make(Role.ORGANISATION))
    with Office.open(tmp_path / "office") as office:
        kept = office.create_review(ready.key, policy, ready.manifests, ready.texts).texts
    assert kept == {item.id: item.shown for item in draft.items}
