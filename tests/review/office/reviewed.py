"""A small review with its answer key and what six people may say, for tests of what is made from it."""

from corpora.model.corpus import Corpus, Dataset, Form
from corpora.model.entry import Entry
from review.files.identities import place_of
from review.files.manifests import BatchItem, BatchManifest, Organisation
from review.log.fold import Judgement, ReviewerState, State
from review.log.payloads import Face
from review.office.store.store import Review
from review.rating import CannotJudge, Rating, Reason
from review.verdict.gate.key import AnswerKey, ControlKind, KeyItem, KeyRun

BATCH = "b" * 16
RUN = "11111111-1111-4111-8111-111111111111"
PEOPLE = tuple(letter * 8 for letter in "ABCDEF")
ITEMS = tuple(f"{number:016x}" for number in range(4))
BAD = "f" * 16


def key(*, segment: str = "development") -> AnswerKey:
    """Four real items of entries 1–4 and one bad control."""
    items = {item: KeyItem(run_id=RUN, entry=place + 1, stratum=1 + place // 2) for place, item in enumerate(ITEMS)}
    items[BAD] = KeyItem(run_id=None, entry=5, stratum=1, control=ControlKind.BAD)
    run = KeyRun(
        run_id=RUN, run_card_hash="1" * 64, dataset_id="demo", language_pair="EN→EO",
        strata={1: 2, 2: 2}, segments={segment: 4},
    )  # fmt: skip
    return AnswerKey(
        review="demo", batches=(BATCH,), batch_sha256={BATCH: "0" * 64}, runs=(run,), items=items,
        core=ITEMS, orders=dict.fromkeys(PEOPLE, (*ITEMS, BAD)), seed=7, panel="Everyone who came.",
    )  # fmt: skip


def review(key: AnswerKey, *, sealed: bool = False) -> Review:
    """That review as an office has it, with batches that were handed out sealed or open."""
    manifest = BatchManifest(
        batch=BATCH, review=key.review, title="", created="2026-03-04T05:06:07Z",
        source_language="en", target_language="eo",
        organisation=Organisation(name="", signing_key="2" * 64, recipients=("age1a", "age1b")),
        policy_sha256="3" * 64, consent="", guide="", language="en", secret=sealed,
        orders={place_of(who): order for who, order in key.orders.items()}, members={},
    )  # fmt: skip
    manifests = {BATCH: manifest.model_dump_json().encode()}
    return Review(1, key.review, manifest.created, key, b"", manifests, dict)


def texts(**more: str) -> dict[str, BatchItem]:
    items = {
        item: BatchItem(id=item, source=f"Source {place}", candidate=f"Frazo {place}")
        for place, item in enumerate(ITEMS)
    }
    return items | {item: BatchItem(id=item, source=t, candidate=t) for item, t in more.items()}


def judged(rating: Rating | None, position: int = 0) -> Judgement:
    """One judgement; without a rating the person could not judge."""
    why = None if rating else CannotJudge.OTHER_DIALECT
    return Judgement("e" * 64, rating, why, position, 4200, Face.LINES, False)


def said(*ratings: Rating | None, share: bool = True, **more: object) -> ReviewerState:
    judgements = {item: judged(rating, place) for place, (item, rating) in enumerate(zip(ITEMS, ratings, strict=False))}
    return ReviewerState(
        consented=True,
        share_corrections=share,
        judgements=judgements,
        **more,  # type: ignore[arg-type]  # fields of the state by name
    )


def state(*people: ReviewerState) -> State:
    return State({(BATCH, PEOPLE[place]): each for place, each in enumerate(people)}, {}, {}, {})


def corpus(version: str = "1.2.0") -> Corpus:
    entries = tuple(
        Entry(id=number, source=f"Source {number}.", reference=f"Frazo {number}.") for number in range(1, 6)
    )
    dataset = Dataset(
        id="demo", version=version, language_pair="EN→EO", source_language="en",
        target_language="eo",
    )  # fmt: skip
    return Corpus(dataset, entries, "0" * 64, Form.SPECIFICATION)


__all__ = [
    "BAD", "BATCH", "ITEMS", "PEOPLE", "RUN", "Rating", "Reason", "corpus", "key", "review",
    "said", "state", "texts",
]  # fmt: skip
