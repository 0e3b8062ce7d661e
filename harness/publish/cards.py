"""What is published: the card of a run over open entries, or a released card; and what of it leaves.

The card of a run over secret entries never goes out, whatever the request (DESIGN V3): ``harness.release`` releases its coarse scores. What the
terms of a corpus say of sending its texts holds for publishing them too, where everybody may take them: a term that names addresses
names no place for everybody, and what no term settles a person answers for, with words that are next to the card. That texts may be
sent to an endpoint says nothing of that.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from corpora.files.json_types import Json, JsonObject
from corpora.model.terms import Terms
from corpora.model.vocabularies import UNKNOWN, Transmission
from harness.card.checking.recompute import pinned_corpus
from harness.card.checking.signed import UNKNOWN as NO_SIGNER
from harness.card.exporting import ExportForm, export_run
from harness.card.foreign_cards import ForeignLayout, layout
from harness.card.importing import Corpora, DifferentCard, import_parsed
from harness.card.model import HASH_FIELD, SealForm, seal_form
from harness.card.reading import block, inside_words, must_be_released, objects, parse_object, read_card_bytes
from harness.core.canonical import canonical_bytes
from harness.core.failures import UsageError
from harness.leaderboard.official import checked_card, verify_released
from harness.privacy import MayNotSend
from harness.release.ledger_records import ReleasedCard
from harness.store.corpora.entries import read_dataset
from harness.store.runs import Run, read_card
from harness.store.sqlite.database import default_path, opened
from harness.store.sqlite.schema import CARD_FIELDS

RELEASED: Final = "rosetta-released-card/"  # How the field `format` of a released card begins

_OF_RELEASED: Final[Mapping[str, tuple[str, ...]]] = {
    "model_slug": ("method", "model_slug"),
    "condition": ("method", "condition"),
    "dataset_id": ("corpus", "id"),
    "language_pair": ("corpus", "language_pair"),
}
"""Where a released card has them; its scores stand one level deeper, with their steps."""

MOST_BYTES: Final = 2**27
"""Of one card that is published; the database refuses larger ones, too. One of 100,000 entries has about half of it."""

OPTION: Final = "--may-publish"
_TEXTS: Final = frozenset({"source", "reference", "variants", "predicted", "context"})


@dataclass(frozen=True)
class OutgoingCard:
    """One card as it leaves: in the bytes that its seal is over; one of an older form as it came, a released one as it was signed."""

    data: bytes
    may_publish: str | None = None
    """On whose word its texts are published, where no term settles it."""

    @cached_property
    def hash(self) -> str:
        """Return the hash by which it is known where it is published (``published_hash``)."""
        return published_hash(self.data, self.card)

    @cached_property
    def card(self) -> JsonObject:
        return parse_object(self.data, "this card")

    @property
    def run_id(self) -> str:
        """Return the run that it is of."""
        return str(self.card.get("run" if is_released(self.card) else "run_id"))

    @property
    def texts(self) -> Mapping[str, tuple[int, int]]:
        """Return the fields with text, each with how many values and UTF-8 bytes: ``results[].source``, ``method.prompt``, ``scores`` …

        Those are the fields of entries' texts, and all in which a value has a blank. Inside of rows and of the method each field is named
        for itself, elsewhere each block of the card.
        """
        by_field: dict[str, list[str]] = {}
        for path, text in _strings(self.card, ""):
            name = path if path.startswith(("results[]", "method.")) else path.partition(".")[0]
            by_field.setdefault(name.removesuffix("[]"), []).append(text)
        return {
            name: (len(texts), sum(len(text.encode()) for text in texts))
            for name, texts in by_field.items()
            if name.rpartition(".")[2] in _TEXTS or any(" " in text.strip() for text in texts)
        }


def is_released(card: JsonObject) -> bool:
    """Return whether it is a released card, which has coarse scores and no entry."""
    return str(card.get("format", "")).startswith(RELEASED)


def published_hash(data: bytes, card: JsonObject) -> str:
    """Return by which hash a card is published: its seal, where that is over these very bytes, else SHA-256 of them.

    Nobody can publish other bytes under the seal of a card, and so keep it out: a database works this out again.
    """
    stated = str(card.get(HASH_FIELD))
    before = data.replace(f'"{HASH_FIELD}":"{stated}"'.encode(), f'"{HASH_FIELD}":""'.encode())
    sealed = not is_released(card) and sha256(before).hexdigest() == stated
    return stated if sealed else sha256(data).hexdigest()


def columns(card: JsonObject) -> dict[str, Json]:
    """Return the columns (``harness.store.sqlite.schema``) of a card or released card, in full precision."""
    released = is_released(card)
    places = {**CARD_FIELDS, **(_OF_RELEASED if released else {})}
    values = {}
    for name, place in places.items():
        value: Json = card
        for step in place:
            value = value.get(step) if isinstance(value, Mapping) else None
        values[name] = value
    plain_values: dict[str, Json] = {name: value for name, value in values.items() if not isinstance(value, Mapping)}
    if released:
        plain_values |= {name: value.get("value") for name, value in values.items() if isinstance(value, Mapping)}
    return {name: plain_values.get(name) for name in CARD_FIELDS}


def outgoing_run(connection: sqlite3.Connection, run: Run, may_publish: str | None = None) -> OutgoingCard:
    """Return the card of a finished run as it leaves.

    ``may_publish``: a person's words that its texts may be published, where no term settles it. Raises UsageError where the run has secret
    entries, MayNotSend where its terms forbid it, HarnessError where it is not finished.
    """
    if must_be_released(connection, run):
        raise UsageError(f"{inside_words(run.run_id)} That file can be published: rosetta publish FILE.")
    exported = export_run(connection, run.id, ExportForm.CARD)
    card = parse_object(exported, run.run_id)
    form = seal_form(card)
    made = OutgoingCard(canonical_bytes(card) if form is SealForm.JCS else exported)
    if lacks_outputs(card):
        raise UsageError(
            f"Run {run.run_id[:8]} was imported, and its card came without outputs of its entries, so nobody could score it again. Only a released "
            "card of it may be published, by its maker."
        )
    if form is None:
        raise UsageError(
            f"The seal of run {run.run_id[:8]} does not hold, so nobody could believe its card. It is not published."
        )
    if len(made.data) > MOST_BYTES:
        raise UsageError(
            f"The card of run {run.run_id[:8]} has {len(made.data):,} bytes; a published one may have {MOST_BYTES:,}."
        )
    terms = _stated(card) if run.imported else read_dataset(connection, run.corpus).terms
    named = [row.get("segment") for row in objects(card, "results")]
    segments = [segment if isinstance(segment, str) else None for segment in named]
    asked = require_publishing(terms, segments, f"run {run.run_id[:8]}", may_publish)
    return OutgoingCard(made.data, may_publish) if asked else made


def hash_of_run(connection: sqlite3.Connection, run: Run) -> str:
    """Return the hash under which a run's card is published, without making the card where it was made here; empty where there is none."""
    if not run.imported:
        return str((read_card(connection, run.id) or {}).get(HASH_FIELD, ""))
    exported = export_run(connection, run.id, ExportForm.CARD)
    card = parse_object(exported, run.run_id)
    sealed = seal_form(card) is SealForm.JCS
    return str(card[HASH_FIELD]) if sealed else sha256(exported).hexdigest()


def outgoing_file(connection: sqlite3.Connection, path: Path) -> OutgoingCard:
    """Return a released card out of its file; UsageError for any other file, and for one that is not as it was signed."""
    data = read_card_bytes(path)
    if not is_released(parse_object(data, path.name)):
        raise UsageError(
            f"{path.name} is no released card. Other cards are published out of the store: rosetta runs import {path.name}, then name the run."
        )
    checked_card(data, path.name, connection)
    return OutgoingCard(data)


def require_publishing(terms: Terms, segments: Iterable[str | None], name: str, may_publish: str | None) -> bool:
    """Return whether a person's words were needed for texts of these segments to be published.

    Raises MayNotSend where a term forbids it, and where words are needed and none were given; ``name`` of the run goes into the message.
    """
    asks = False
    for segment in sorted({segment or "" for segment in segments}):
        sending = terms.sending(segment or None)
        if sending.transmission not in (Transmission.OPEN, Transmission.ASK):
            only = f"go to {', '.join(sending.endpoints)} only" if sending.endpoints else "stay here"
            raise MayNotSend(
                f"{name} may not be published: its card has texts that {only}. Term: {terms.because}. Rule: {terms.rule}. "
                "Ask the owner of the texts for another term."
            )
        asks |= sending.transmission is Transmission.ASK or terms.training is False
    if asks and may_publish is None:
        raise MayNotSend(
            f"May everybody read the texts on the card of {name}? No term of the corpus says so. Anyone who may decide says it, and on whose "
            f'word: rosetta publish RUN {OPTION} "WORDS"; the words are next to the card. To settle it for good, write '
            '"transmission": "open" into the corpus.'
        )
    return asks


def _stated(card: JsonObject) -> Terms:
    """Return the terms that a card from elsewhere states of its corpus; what it does not say is asked."""
    dataset = block(card, "dataset")
    stated = str(dataset.get("transmission") or Transmission.ASK.value)
    try:
        transmission = Transmission(stated)
    except ValueError:
        transmission = Transmission.LOCAL_ONLY
    endpoints = dataset.get("endpoints")
    return Terms(
        transmission,
        str(dataset.get("transmission_because", "")),
        endpoints=tuple(map(str, endpoints if isinstance(endpoints, list | tuple) else ())),
        licence_class=str(dataset.get("licence_class") or UNKNOWN),
        training=False if dataset.get("training") is False else None,
    )


def lacks_outputs(card: JsonObject) -> bool:
    """Return whether a card came without outputs of its entries, so that its scores are only stated."""
    rows = card.get("results")
    if "withheld" in card or not isinstance(rows, list) or not rows:
        return True
    return any(row.get("withheld") for row in objects(card, "results"))


def released_holds(data: bytes) -> bool:
    """Return whether a released card is as it was signed."""
    verdict = verify_released(data, NO_SIGNER)
    return verdict is not None and verdict.ok


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a card with the way to it; places in lists are left out."""
    if isinstance(value, str):
        if value:
            yield path, value
    elif isinstance(value, Mapping):
        for name, value_inside in value.items():
            yield from _strings(value_inside, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, f"{path}[]")


# ---- Published cards read again: each is verified and scored again, and put into its own store,
# in which lists are made as of any runs.


@dataclass
class PublishedCards:
    """What was found where cards are published."""

    store: sqlite3.Connection
    """The cards whose entries are open, as imported runs; those that did not verify are marked."""
    count: int = 0
    unverified: list[str] = field(default_factory=list)
    """In words, what does not verify, and what is left out."""
    released: list[ReleasedCard] = field(default_factory=list)
    """Cards over secret entries whose signature holds, the first published first."""


@contextmanager
def taken(found: Iterable[tuple[str, bytes]]) -> Iterator[PublishedCards]:
    """Import cards, each with the hash under which it was published, into a store that is gone after the block.

    The first published comes first: a later one under the same run's id is left out, and said. Texts are held against
    the corpora of this computer's store.
    """
    with (
        TemporaryDirectory(prefix="rosetta-published-") as folder,
        opened(Path(folder) / "published.sqlite") as store,
        _corpora_here() as at_hand,
    ):
        cards = PublishedCards(store)
        for name, data in found:
            cards.count += 1
            try:
                wrong = _take(cards, name, data, at_hand)
            except UsageError as error:
                wrong = f"left out: {error}"
            if wrong is not None:
                cards.unverified.append(wrong)
        yield cards


@contextmanager
def _corpora_here() -> Iterator[Corpora]:
    """Yield what gives the corpora of this computer's store, each read once; none where there is no store yet."""
    if not default_path().is_file():
        yield lambda _: None
        return
    with opened() as store:
        yield cache(partial(pinned_corpus, store))


def _take(cards: PublishedCards, name: str, data: bytes, at_hand: Corpora) -> str | None:
    """Import a card and return what is wrong with it, if anything; raises UsageError where it is omitted."""
    short = f"card {name[:12]}"
    card = parse_object(data, short)
    released = is_released(card)
    sound = released_holds(data) if released else _imported(cards.store, card, data, short, at_hand)
    if not sound:
        return f"{short} does not verify: it was changed after it was sealed, or never was. It has no rank."
    if released:
        cards.released.append(ReleasedCard.model_validate_json(data, strict=True))
    if published_hash(data, card) != name:
        return f"{short} is another card than the one that was published under this hash, though its own seal holds."
    return None


def _imported(store: sqlite3.Connection, card: dict[str, Json], data: bytes, short: str, at_hand: Corpora) -> bool:
    """Store a card and tell whether its seal holds; UsageError where it is none that could be published."""
    if layout(card, short) is not ForeignLayout.CARD:
        raise UsageError(f"{short} is not a run card.")
    if lacks_outputs(card):
        raise UsageError(f"{short} came without outputs of its entries, so nobody can score it again.")
    try:
        imported = import_parsed(store, card, data, short, unverified=True, at_hand=at_hand)
    except DifferentCard:
        raise UsageError(f"another card came before {short} under the id of its run.") from None
    return imported.unverified is None
