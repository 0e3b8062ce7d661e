"""Taking cards from elsewhere into the store, so that screens and comparisons work with them."""

from __future__ import annotations

import json
import re
import sqlite3
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TypeAlias

from corpora.files.json_types import Json, JsonObject
from corpora.model.corpus import Corpus, Dataset
from corpora.model.entry import Entry
from harness.card.assembling import assemble, store_card
from harness.card.checking.recompute import (
    card_floors,
    card_material,
    card_scorer,
    card_setup,
    pinned_corpus,
    recount,
    refuse_impossible,
    refuse_secrets,
    refuse_withdrawn,
    row_numbers,
)
from harness.card.checking.verify_card import verify_card
from harness.card.exporting import card_bytes
from harness.card.foreign_cards import ForeignLayout, adopt, layout, unwrapped
from harness.card.foreign_logs import (
    card_of_published,
    read_report,
    reasons_told,
    refuse_unclear_marks,
    report_dataset,
    report_of_log,
    report_rows,
    report_setup,
    told_of_scores,
)
from harness.card.material import Material, fingerprint, iso_time
from harness.card.model import HASH_FIELD, DatasetBlock, EntryResult, Retries, RunCard, seal_form
from harness.card.reading import block, parse_object
from harness.card.rows import raw_card, row_entry, row_result
from harness.core.canonical import canonical_sha256
from harness.core.failures import HarnessError, UsageError
from harness.core.version import VERSION
from harness.setup.scoring_tools import EARLIER, floor_fields
from harness.store.attachments import Recount, keep_recount
from harness.store.corpora.entries import insert_corpus
from harness.store.deletion import bring_back
from harness.store.results import add_results
from harness.store.runs import Run, create_run, find_by_id
from harness.store.sqlite.openings import RunOpening
from harness.store.sqlite.trouble import transaction
from scoring.core.setup import Translation
from scoring.metrics.inventory import make_scorer, surface_setup
from scoring.words.source_words import Resources

Corpora: TypeAlias = Callable[[str], Sequence[Entry] | None]
"""Gives by its SHA-256 the entries of a corpus; None where it is not available."""


class DifferentCard(UsageError):  # noqa: N818  it says what is there
    """The store has a different card of the same run."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a card."""

    run_id: str
    """Under which the store has it: the card's own where that is a UUID."""
    known: bool
    """True where the same card was there already, and nothing was stored."""
    back: bool = False
    """True where that one had been deleted: its deletion was undone."""
    unverified: str | None = None
    """Why its numbers cannot be trusted, None where its seal holds."""
    note: str | None = None
    """What else its owner should know."""
    recount: Recount | None = None
    """What scoring its outputs again gave; None where it carries none."""


def import_card(
    connection: sqlite3.Connection, data: bytes, name: str, *, unverified: bool = False, corpus: Corpus | None = None
) -> Imported:
    """Store a card or a test report; the same one twice is stored once.

    Its outputs are scored again, and its texts held against ``corpus``, else against the store's corpus of this hash.
    Raises UsageError for what is no card, for a seal that is absent or broken (unless ``unverified``,
    which marks the run), for texts of a secret segment, and DifferentCard for a different card with the same run id.
    """
    parsed = parse_object(data, name)
    return import_parsed(connection, parsed, data, name, unverified=unverified, corpus=corpus)


def import_parsed(
    connection: sqlite3.Connection,
    outer: dict[str, Json],
    data: bytes,
    name: str,
    *,
    unverified: bool = False,
    corpus: Corpus | None = None,
    at_hand: Corpora | None = None,
) -> Imported:
    """Import a card that ``parse_object`` read out of its bytes, as ``import_card`` does.

    ``at_hand`` gives the corpora that texts are held against where ``corpus`` is None; None: those of the store.
    """
    raw = unwrapped(outer)
    if raw is not outer:
        data = json.dumps(raw, ensure_ascii=False).encode()
    match layout(raw, name):
        case ForeignLayout.ROW:
            raise UsageError(f"{name} is a leaderboard row: it has no entries to import. Import its run card.")
        case ForeignLayout.REPORT:
            return _import_report(connection, raw, name)
        case ForeignLayout.LOG:
            return _import_report(connection, report_of_log(raw, name), name)
        case ForeignLayout.PUBLISHED:
            # the aggregates of a run of which only the scores are known
            card = card_of_published(raw, name)
            doubt = "A published row has neither outputs nor a seal, so its scores cannot be checked."
            if not unverified:
                raise UsageError(f"{name}: {doubt} `--unverified` imports them all the same, marked.")
            data = json.dumps(card, ensure_ascii=False).encode()
            stored = _store(connection, card, data, name, doubt)
            return replace(stored, note="Only its scores are known; there are no entries to look at.")
        case ForeignLayout.CARD:
            broken = _doubt(raw)
            if broken is not None and not unverified:
                raise UsageError(f"{name}: {broken} `--unverified` imports it all the same, marked.")
            if corpus is not None and corpus.sha256 != block(raw, "dataset").get("sha256"):
                raise UsageError(f"{name} is on another corpus than --corpus: its hash is another.")
            entries = None if corpus is None else corpus.reveal_here()
            known = at_hand if entries is None else lambda _: entries
            return _store(connection, raw, data, name, broken, known)


def _doubt(raw: JsonObject) -> str | None:
    if not raw.get(HASH_FIELD):
        return "The card has no seal (run_card_hash), so nobody can tell whether it was changed."
    if seal_form(raw) is None:
        return "The seal is broken: the card was changed after it was sealed."
    return None


def _store(
    connection: sqlite3.Connection,
    raw: JsonObject,
    data: bytes,
    name: str,
    doubt: str | None,
    at_hand: Corpora | None = None,
) -> Imported:
    card = adopt(raw, name)
    refuse_secrets(card, name)
    refuse_impossible(card, name)
    refuse_withdrawn(raw, card, name)
    run_id = store_id(card.run_id)
    known = _same_card(connection, run_id, raw, name)
    if known is not None:
        recount = _recounted(connection, known.id, card, data, at_hand) if known.imported else None
        if back := known.trashed is not None:
            bring_back(connection, known.id)
        return Imported(run_id, known=True, back=back, recount=recount)
    try:
        with transaction(connection):
            number = _create(connection, card, run_id, data)
            material = card_material(card)
            # Store the rows with statistics taken from their texts; what a row states stays as it is.
            scorer = material.scorer
            values = scorer.entries_values(material.statistics)
            finished = _moment(card.timestamp).timestamp()
            results = []
            for place, row in enumerate(card.results):
                packed = scorer.pack(material.statistics[place])
                result = row_result(row, place, packed, finished, scorer.columns)
                headline, _, second, _ = scorer.columns.kept(values[place].values, values[place].composite)
                if not row.withheld and result.headline is None:
                    result = replace(result, headline=headline)
                if not row.withheld and result.second is None:
                    result = replace(result, second=second)
                results.append(result)
            add_results(connection, number, results)
            head = card.as_json()
            store_card(connection, number, head if doubt is None else {**head, "unverified": doubt})
            recount = _recounted(connection, number, card, data, at_hand, material)
    except (OverflowError, UnicodeEncodeError) as error:
        raise UsageError(f"{name} holds a number or a text that cannot be stored ({type(error).__name__}).") from error
    return Imported(run_id, known=False, unverified=doubt, recount=recount)


def _recounted(
    connection: sqlite3.Connection,
    run: int,
    card: RunCard,
    data: bytes,
    at_hand: Corpora | None,
    material: Material | None = None,
) -> Recount | None:
    """Score a card's outputs again and keep what that gave; None where it carries none.

    With its corpus available all that ``runs verify`` computes is, intervals, floors and tiers among it.
    """
    known = at_hand or partial(pinned_corpus, connection)
    entries = known(card.dataset.sha256)
    recounted = recount(card, entries, material)
    if recounted is None:
        return None
    if recounted.pinned and not recounted.differences:
        checks = (check for check in verify_card(data).checks if check.name != "seal")
        wrong = tuple(f"{check.name}: {check.words}" for check in checks if check.ok is False)
        recounted = recounted._replace(differences=wrong)
    keep_recount(connection, run, pinned=recounted.pinned, differences=recounted.differences)
    return recounted


def store_id(run_id: str) -> str:
    """Return the id under which a card is stored: its own where it is a UUID, else one made from it."""
    try:
        return str(uuid.UUID(run_id))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"run-card:{run_id}"))


def _same_card(connection: sqlite3.Connection, run_id: str, raw: JsonObject, name: str) -> Run | None:
    """Return the run of the store that has this very card, deleted or not; None where its id is new."""
    run = find_by_id(connection, run_id)
    if run is None:
        return None
    try:
        stored = raw_card(connection, run)
    except HarnessError:
        stored = {}
    if stored == raw:
        return run
    raise DifferentCard(
        f"{name}: the store has a different card of run {run_id[:8]}. "
        f"`rosetta runs delete --now {run_id[:8]}` makes room for this one."
    )


def _create(connection: sqlite3.Connection, card: RunCard, run_id: str, data: bytes) -> int:
    setup = card_setup(card)
    again = fingerprint(setup, card.dataset.sha256, card.harness_version)
    dataset = Dataset(
        id=card.dataset.id,
        version=card.dataset.version or "0",
        language_pair=card.dataset.language_pair,
        source_language=card.dataset.source_language or "und",
        target_language=card.dataset.target_language or "und",
        **({} if card.dataset.task is None else {"task": card.dataset.task}),
    )
    entries = [row_entry(row) for row in card.results]
    scorer = card_scorer(card, card.results)
    corpus = insert_corpus(connection, card.dataset.sha256, dataset, entries, partial=True)
    version = card.floors_version or EARLIER
    floors = {**floor_fields(card_floors(card)), "floors_version": version}
    return create_run(
        connection,
        run_id=run_id,
        corpus=corpus,
        positions=range(len(entries)),
        setup=setup,
        setup_hash=card.fingerprint.setup_hash or again.setup_hash,
        fingerprint_hash=card.fingerprint.hash or again.hash,
        plan={},
        opening=RunOpening(**floors, scoring=card.scoring, packed=tuple(scorer.packed)),
        dataset_id=card.dataset.id,
        language_pair=card.dataset.language_pair,
        harness_version=card.harness_version,
        created=_moment(card.timestamp).timestamp(),
        imported=data,
    )


EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)
"""Times outside have no date somewhere in the world; lists sort a card with such a time at this end."""


def _moment(timestamp: str) -> datetime:
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return datetime.now(UTC)
    return max(EARLIEST, min(LATEST, moment if moment.tzinfo else moment.replace(tzinfo=UTC)))


_REPORT_TIME = re.compile(r"run_(\d{8})_(\d{6})_")


def _import_report(connection: sqlite3.Connection, raw: JsonObject, name: str) -> Imported:
    card = report_card(raw, name)
    sealed = card_bytes(card)
    stored = _store(connection, card.as_json(), sealed, name, None)
    note = (
        "It has no set-up, prompt, tokens or seal; it was scored again and sealed here. "
        "Its own numbers are kept in `source_report`."
    )
    return replace(stored, note=note)


def report_card(raw: JsonObject, name: str) -> RunCard:
    """Make a card of a test report: its texts, scored as any run's; what it does not tell is null."""
    report = read_report(raw, name)
    refuse_unclear_marks(raw, name)
    rows = report_rows(report)
    entries = [row_entry(row) for row in rows]
    outputs = [row.predicted or "" for row in rows]
    envelope = report_dataset(report)
    setup = surface_setup("und", envelope.target_language, entries)
    stated_reasons = reasons_told(raw, teller="the report")
    off = {metric: why for metric, why in stated_reasons.items() if metric not in setup.metrics}
    scorer = make_scorer(Resources(setup.model_copy(update={"off": off})))
    statistics = scorer.statistics([Translation(entry, output) for entry, output in zip(entries, outputs, strict=True)])
    material = Material(
        run_id=store_id(report.run_id),
        harness_version=VERSION,
        timestamp=_report_time(report.run_id),
        setup=report_setup(report),
        dataset=_report_data(envelope, rows),
        model_id=None,
        stretches=(),
        budget_usd=None,
        retries=Retries(attempts=len(rows), retried_entries=0, rate_limited=0, waited_seconds=0.0),
        entries=entries,
        outputs=outputs,
        rows=[
            row.model_copy(update=row_numbers(values, scorer))
            for row, values in zip(rows, scorer.entries_values(statistics), strict=True)
        ],
        scoring=None,
        scorer=scorer,
        statistics=statistics,
    )
    source: JsonObject = {"run_id": report.run_id, "overall": report.overall, **told_of_scores(raw)}
    return assemble(material, {"source_report": source})


def _report_data(envelope: Dataset, rows: list[EntryResult]) -> DatasetBlock:
    """Describe the data of a report; the hash is over its ids, sources and references."""
    pinned = [[row.entry_id, row.source, row.reference] for row in rows]
    return DatasetBlock(
        id=envelope.id,
        version=None,
        language_pair=envelope.language_pair,
        sha256=canonical_sha256(pinned),
        entry_count=len(rows),
        corpus_entry_count=None,
        source_language=envelope.source_language,
        target_language=envelope.target_language,
    )


def _report_time(run_id: str) -> str:
    """Read the time that the reference implementation writes into its run ids; "" where there is none."""
    match = _REPORT_TIME.match(run_id)
    if match is None:
        return ""
    try:
        moment = datetime.strptime(f"{match[1]}{match[2]}+0000", "%Y%m%d%H%M%S%z")
    except ValueError:
        return ""
    return iso_time(moment.timestamp())
