"""Telling the scores of a run over secret entries: a signed card, rounded, once the ledger has it."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, log2
from typing import Any, Final

from corpora.model.entry import Entry
from corpora.text.visible import plain
from harness.card.checking.claimed import claim_of, stated_caveats
from harness.card.load import load_card
from harness.card.material import stored_material
from harness.card.reading import block, number
from harness.core.version import VERSION
from harness.release.budget import (
    History,
    NotReleased,
    Part,
    ScoreQuestion,
    set_id,
    too_few_words,
)
from harness.release.confirmation import shortfall, stated_as
from harness.release.ledger import LedgerChange, ReleaseLedger
from harness.release.policy import LEAST_PART, PARTS_FROM, Policy
from harness.release.records import (
    ReleasedCard,
    ReleasedCorpus,
    ReleasedMethod,
    ReleasedRun,
    ReleasedScore,
    ReleasedScores,
    Scores,
    ScoresTold,
)
from harness.release.rounding import Range, bits, expected_half, one_two_five, stepped
from harness.sealed.signed_archive import signed_record
from harness.setup.plan import told_of
from harness.store.corpora.entries import read_dataset
from harness.store.corpora.listing import count_secret
from harness.store.runs import Run, read_run
from harness.vault.records import tenth_upward
from scoring.card.caveats import CaveatKind
from scoring.card.smallest import smallest_difference
from scoring.core.columns import stated_columns
from scoring.core.metric_rows import row_of
from scoring.core.specification import COMPOSITE, Tier, stated_weighing
from scoring.statistics.breakdown import DIMENSIONS

_MONEY_BITS: Final = log2(28)
"""Of 1, 2 or 5 times a power of ten from a millionth to a thousand."""


def release_run(
    connection: sqlite3.Connection, run: int, submitter: str, ledger: ReleaseLedger
) -> bytes:
    """Return the released card of a sealed run with secret entries, for one submitter; the ledger has it first.

    The same run gives the same submitter the same bytes again, and counts once. Raises NotReleased in words where
    nothing is told.
    """
    name, found = _submitter(submitter), read_run(connection, run)
    before = ledger.read()  # the work is done while others may answer
    known = before.told_of(found.run_id, name) is not None
    asked = None if known else _question(connection, found, name, ledger, before)
    with ledger.changing() as change:
        scores_told = change.history.told_of(found.run_id, name)
        if scores_told is None:
            assert asked is not None  # noqa: S101  no line is ever taken out of a ledger
            scores_told = _told(asked, change)
            change.write(scores_told)
    return signed_record(scores_told.card, ledger.identity)


def _told(asked: ScoreQuestion, change: LedgerChange) -> ScoresTold:
    """Return the line that answers a question; NotReleased where nothing is told."""
    answer = change.history.answer(asked, change.now)
    confirmation, why = stated_as(shortfall(change.history, asked))
    card = ReleasedCard(
        **dict(asked.facts),
        **dict(answer.scores),
        scores_of=answer.scores_of,
        beat_by=answer.beat_by,
        confirmation=confirmation,
        shortfall=why,
        answer=answer.number,
        of=answer.of,
        rosetta=VERSION,
        issued=change.issued,
        place=change.place,
        by=change.ledger.identity.public.signing_key,
    )
    return ScoresTold(
        entries=set_id(asked.entries),
        atoms=None if answer.atoms is None else dict(answer.atoms),
        value=asked.value,
        rotations=asked.rotations,
        card=card,
    )


def require_answer_left(
    connection: sqlite3.Connection, run: int, submitter: str, ledger: ReleaseLedger
) -> None:
    """Raise NotReleased where count, pause or too few entries keep back the answer of ``release_run``; no text is needed for it.

    So a grant to open the texts is not used up in vain. Answers about other corpora that share entries with this one are
    known by texts alone: they count in ``release_run``.
    """
    name, found = _submitter(submitter), read_run(connection, run)
    if words := too_few_words(count_secret(connection, found.corpus, found.positions)):
        raise NotReleased(words)
    corpus = _corpus(block(load_card(connection, run).as_json(), "dataset"), 0)
    with ledger.changing() as change:
        if change.history.told_of(found.run_id, name) is None:
            change.history.require_answers(
                name, corpus.id, frozenset(), change.now, version=corpus.version
            )


def _submitter(name: str) -> str:
    said = " ".join(name.split())
    if not 0 < len(said) <= 200:
        raise NotReleased("Name the submitter in 1 to 200 characters.")
    return said


def _question(
    connection: sqlite3.Connection, run: Run, submitter: str, ledger: ReleaseLedger, history: History
) -> ScoreQuestion:  # fmt: skip
    card = load_card(connection, run.id).as_json()
    scores, dataset = block(card, "scores"), block(card, "dataset")
    entries = secret_entries(connection, run)
    known = [ledger.digest(entry.source) for entry in entries]
    headline = stated_columns(card.get("scoring")).headline
    corpus = _corpus(dataset, int(number(scores.get("total")) or 0))
    value, policy = number(scores.get(headline)), history.policy(submitter, corpus.id)
    released_scores, members = _scores_in_steps(card, scores, headline, policy, entries, known)
    if value is None or headline not in released_scores.scores:
        raise NotReleased(
            f"Run {run.run_id[:8]} has no {headline} with an interval, by which runs are told to be better. Nothing is told of it."
        )
    facts = ReleasedRun(
        policy=policy.name,
        run=run.run_id,
        run_card_hash=str(card.get("run_card_hash")),
        submitter=submitter,
        method=_method(card, run),
        corpus=corpus,
        headline=headline,
        signatures={
            id_: str(each)[:1000]
            for id_, each in _signatures(card, scores)
            if id_ in released_scores.scores
        },
        smallest_difference=smallest_told(entries),
    )
    came = read_dataset(connection, run.corpus).opened_from
    return ScoreQuestion(
        facts=facts,
        scores=released_scores,
        entries=frozenset(known),
        value=value,
        expected_half=expected_half(len(entries), _range(headline), value),
        entries_of={name: frozenset(member) for name, member in members.items()},
        rotations=None if came is None else int(came.rpartition("/")[2]),
    )


def _scores_in_steps(
    card: Mapping[str, Any],
    scores: Mapping[str, Any],
    headline: str,
    policy: Policy,
    entries: Sequence[Entry],
    known: Sequence[str],
) -> tuple[ReleasedScores, dict[Part, set[str]]]:
    """Return all that may be told of a run, in the steps of its policy, and the entries of each part that may."""
    steps = policy.steps(headline)
    whole = {
        id_: score
        for id_, step in steps.items()
        if (score := _score(scores, id_, step, between=id_ in {headline, COMPOSITE})) is not None
    }
    parts: dict[str, dict[str, Scores]] = {}
    members, lacking = dict[Part, set[str]](), set[str]()
    if policy.whole and len(entries) >= PARTS_FROM:
        for (dimension, tag), inside in _members(entries, known).items():
            released_score = _score(block(scores, f"by_{dimension}").get(tag) or {}, headline, steps[headline], between=True)  # fmt: skip
            if released_score is not None and len(inside) >= LEAST_PART:
                parts.setdefault(dimension, {})[tag] = {headline: released_score}
                members[dimension, tag] = inside
            elif f"by_{dimension}" in scores:
                lacking.add(dimension)
    cost, latency = (
        None if (found := number(block(card, name).get(field))) is None or not policy.whole else one_two_five(found)
        for name, field in (("cost", "cost_per_entry_usd"), ("speed", "avg_latency_seconds"))
    )  # fmt: skip
    caveats = _caveats(card)
    all_told = [whole, *(tag for tags in parts.values() for tag in tags.values())]
    most = sum(bits(each, _range(id_)) for group in all_told for id_, each in group.items())
    most += _MONEY_BITS * sum(each is not None for each in (cost, latency))
    most += len(caveats or ()) + 2 * log2(len(Tier))
    released = ReleasedScores(
        scores=whole,
        parts=parts,
        parts_left_out=tuple(sorted(lacking)),
        quality_tier=str(scores.get("quality_tier") or ""),
        claimable_tier=claim_of(card).tier().value,
        cost_per_entry_usd=cost,
        avg_latency_seconds=latency,
        caveats=caveats,
        bits=ceil(most),
    )
    return released, members


def _members(entries: Sequence[Entry], known: Sequence[str]) -> Mapping[Part, set[str]]:
    """Return the entries of each part of a breakdown."""
    members: dict[Part, set[str]] = defaultdict(set)
    for dimension, field in DIMENSIONS.items():
        for entry, key in zip(entries, known, strict=True):
            if (tag := entry.open_tag(field)) is not None:
                members[dimension, str(tag)].add(key)
    return members


def _score(scores: Mapping[str, Any], id_: str, step: float, *, between: bool) -> ReleasedScore | None:  # fmt: skip
    """Return a metric in steps; None where it has no value, or no interval though one is told (``between``)."""
    value, lower, upper = number(scores.get(id_)), None, None
    if between:
        interval = block(block(scores, "confidence_intervals"), id_)
        lower, upper = number(interval.get("ci_lower")), number(interval.get("ci_upper"))
    if value is None or (between and None in (lower, upper)):
        return None
    return stepped(value, lower, upper, step, _range(id_))


def _caveats(card: Mapping[str, Any]) -> dict[Any, bool] | None:
    """Return which caveats hold; None where the card's task has none, or it comes from before they were looked for."""
    claim = block(card, "scores").get("claim")
    if not isinstance(claim, Mapping) or block(card, "dataset").get("task") is not None:
        return None
    caveat_kinds = {stated_caveat.kind for stated_caveat in stated_caveats(claim)}
    return {kind.value: kind in caveat_kinds for kind in CaveatKind}


def _signatures(card: Mapping[str, Any], scores: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield by what each value depends; of the composite by whose weights, where they are not the specification's."""
    yield from block(scores, "signatures").items()
    if (weighing := stated_weighing(card.get("scoring"))) is not None:
        yield COMPOSITE, f"calibration:{weighing.calibration}"


def _range(id_: str) -> Range:
    """Return the lowest and highest value of a metric; those of the composite where no table has it."""
    row = row_of(id_)
    return (0.0, 1.0) if row is None else (row.info.low, row.info.high)


def _method(card: Mapping[str, Any], run: Run) -> ReleasedMethod:
    """Return which method it was. Its name is what a person asked for with the run: what code calls itself is no name here."""
    method = block(card, "method")
    version = method.get("method_version")
    return ReleasedMethod(
        method=str(method.get("method"))[:1000],
        method_class=str(method.get("method_class"))[:1000],
        method_version=None if version is None else str(version)[:1000],
        model_slug=str(card.get("model_slug"))[:1000],
        condition=str(card.get("condition"))[:1000],
        setup_hash=str(block(card, "fingerprint").get("setup_hash"))[:1000],
        method_name=plain(" ".join((told_of(run).method_name or "").split()))[:100] or None,
    )


def _corpus(dataset: Mapping[str, Any], entries: int) -> ReleasedCorpus:
    version = dataset.get("version")
    return ReleasedCorpus(
        id=str(dataset.get("id"))[:1000],
        version=None if version is None else str(version)[:1000],
        language_pair=str(dataset.get("language_pair"))[:1000],
        entries=entries,
    )


def secret_entries(connection: sqlite3.Connection, run: Run) -> list[Entry]:
    """Return the secret entries of a run, opened."""
    return [each for each in stored_material(connection, run.id).entries if each.secret]


def smallest_told(entries: Sequence[Entry]) -> float | None:
    """Return the smallest difference that these entries show, to a tenth of a point and upward."""
    least = smallest_difference(entries)
    return None if least is None else tenth_upward(least)
