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
    RunTold,
    ScoreAnswer,
    ScoreQuestion,
    set_id,
    too_few_words,
)
from harness.release.ledger import ReleaseLedger
from harness.release.policy import LEAST_PART, PARTS_FROM, Policy
from harness.release.records import (
    InLedger,
    ReleasedCard,
    ReleasedCorpus,
    ReleasedMethod,
    ReleasedScore,
    Scores,
    ScoresTold,
)
from harness.release.rounding import Range, bits, expected_half, one_two_five, stepped
from harness.release.smallest import smallest_told
from harness.sealed.signed_archive import signed_record
from harness.setup.plan import told_of
from harness.store.corpora.listing import count_secret
from harness.store.runs import Run, read_run
from scoring.card.caveats import CaveatKind
from scoring.core.columns import stated_columns
from scoring.core.metric_rows import direction, row_of
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
        told = change.history.told_of(found.run_id, name)
        if told is None:
            assert asked is not None  # noqa: S101  no line is ever taken out of a ledger
            answer = change.history.answer(asked, change.now)
            issued = change.now.date().isoformat()

            def act(place: InLedger, asked: ScoreQuestion = asked) -> ScoresTold:
                return ScoresTold(
                    submitter=name,
                    run=asked.run,
                    corpus=asked.corpus.id,
                    entries=set_id(asked.entries),
                    atoms=None if answer.atoms is None else dict(answer.atoms),
                    value=asked.value,
                    card=_card(asked, answer, place, issued, ledger),
                )

            change.write(act)
            told = change.history.told_of(asked.run, name)
            assert told is not None  # noqa: S101  it was written just now
    return signed_record(told.card, ledger.identity)


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
    scores = block(card, "scores")
    entries = secret_entries(connection, run)
    known = [ledger.digest(each.source) for each in entries]
    count = int(number(scores.get("total")) or 0)
    headline, corpus = stated_columns(card.get("scoring")).headline, _corpus(block(card, "dataset"), count)  # fmt: skip
    value, policy = number(scores.get(headline)), history.policy(submitter, corpus.id)
    told, entries_of = _told(card, scores, headline, policy, entries, known)
    if value is None or headline not in told.scores:
        raise NotReleased(
            f"Run {run.run_id[:8]} has no {headline} with an interval, by which runs are told to be better. Nothing is told of it."
        )
    return ScoreQuestion(
        submitter=submitter,
        run=run.run_id,
        run_card_hash=str(card.get("run_card_hash")),
        method=_method(card, run),
        corpus=corpus,
        entries=frozenset(known),
        headline=headline,
        higher=direction(headline) == "higher",
        value=value,
        expected_half=expected_half(len(entries), _range(headline), value),
        policy=policy,
        told=told,
        entries_of=entries_of,
        smallest_difference=smallest_told(entries),
        signatures={
            id_: str(each)[:1000] for id_, each in _signatures(card, scores) if id_ in told.scores
        },
    )


def _told(
    card: Mapping[str, Any],
    scores: Mapping[str, Any],
    headline: str,
    policy: Policy,
    entries: Sequence[Entry],
    known: Sequence[str],
) -> tuple[RunTold, dict[Part, frozenset[str]]]:
    """Return all that may be told of a run, in the steps of its policy, and the entries of each part."""
    steps = policy.steps(headline)
    whole = {
        id_: score
        for id_, step in steps.items()
        if (score := _score(scores, id_, step, between=id_ in {headline, COMPOSITE})) is not None
    }
    parts, members = _parts(scores, headline, steps[headline], policy, entries, known)
    told_at_all = policy.whole and len(entries) >= PARTS_FROM
    lacking = {
        name for name, _ in members.keys() - parts.keys() if told_at_all and f"by_{name}" in scores
    }
    cost, latency = (
        None if (found := number(block(card, name).get(field))) is None or not policy.whole else one_two_five(found)
        for name, field in (("cost", "cost_per_entry_usd"), ("speed", "avg_latency_seconds"))
    )  # fmt: skip
    caveats = _caveats(card)
    all_told = [(id_, each) for group in (whole, *parts.values()) for id_, each in group.items()]
    most = sum(bits(each, _range(id_)) for id_, each in all_told)
    most += _MONEY_BITS * sum(each is not None for each in (cost, latency))
    most += len(caveats or ()) + 2 * log2(len(Tier))
    told = RunTold(
        scores=whole,
        parts=parts,
        left_out=frozenset(lacking),
        quality_tier=str(scores.get("quality_tier") or ""),
        claimable_tier=claim_of(card).tier().value,
        cost_per_entry_usd=cost,
        avg_latency_seconds=latency,
        caveats=caveats,
        bits=ceil(most),
    )
    return told, {name: frozenset(members[name]) for name in parts}


def _score(scores: Mapping[str, Any], id_: str, step: float, *, between: bool) -> ReleasedScore | None:  # fmt: skip
    """Return a metric in steps; None where it has no value, or no interval though one is told (``between``)."""
    value, lower, upper = number(scores.get(id_)), None, None
    if between:
        interval = block(block(scores, "confidence_intervals"), id_)
        lower, upper = number(interval.get("ci_lower")), number(interval.get("ci_upper"))
    if value is None or (between and None in (lower, upper)):
        return None
    return stepped(value, lower, upper, step, _range(id_))


def _parts(
    scores: Mapping[str, Any],
    headline: str,
    step: float,
    policy: Policy,
    entries: Sequence[Entry],
    known: Sequence[str],
) -> tuple[dict[Part, Scores], Mapping[Part, set[str]]]:
    """Return the headline of the parts that could be told, and the entries of each part that there is."""
    parts: dict[Part, Scores] = {}
    members: dict[Part, set[str]] = defaultdict(set)
    for dimension, field in DIMENSIONS.items():
        for entry, key in zip(entries, known, strict=True):
            if (tag := entry.open_tag(field)) is not None:
                members[dimension, str(tag)].add(key)
        for tag, group in block(scores, f"by_{dimension}").items():
            told = _score(group, headline, step, between=True)
            large = len(members[dimension, tag]) >= LEAST_PART and len(entries) >= PARTS_FROM
            if told is not None and large and policy.whole:
                parts[dimension, tag] = {headline: told}
    return parts, members


def _caveats(card: Mapping[str, Any]) -> dict[Any, bool] | None:
    """Return which caveats hold; None where the card's task has none, or it comes from before they were looked for."""
    claim = block(card, "scores").get("claim")
    if not isinstance(claim, Mapping) or block(card, "dataset").get("task") is not None:
        return None
    found = {each.kind for each in stated_caveats(claim)}
    return {kind.value: kind in found for kind in CaveatKind}


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
    told = plain(" ".join((told_of(run).method_name or "").split()))[:100]
    named = {"method_name": told} if told else {}
    version = method.get("method_version")
    return ReleasedMethod(
        method=str(method.get("method"))[:1000],
        method_class=str(method.get("method_class"))[:1000],
        method_version=None if version is None else str(version)[:1000],
        model_slug=str(card.get("model_slug"))[:1000],
        condition=str(card.get("condition"))[:1000],
        setup_hash=str(block(card, "fingerprint").get("setup_hash"))[:1000],
        **named,
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


def _card(
    asked: ScoreQuestion, answer: ScoreAnswer, place: InLedger, issued: str, ledger: ReleaseLedger
) -> ReleasedCard:
    told = answer.told
    parts: dict[str, dict[str, Scores]] = {}
    for (dimension, tag), scores in sorted(told.parts.items()):
        parts.setdefault(dimension, {})[tag] = scores
    return ReleasedCard(
        policy=asked.policy.name,
        run=asked.run,
        run_card_hash=asked.run_card_hash,
        scores_of=answer.scores_of,
        submitter=asked.submitter,
        method=asked.method,
        corpus=asked.corpus,
        headline=asked.headline,
        beat_by=answer.beat_by,
        scores=told.scores,
        quality_tier=told.quality_tier,
        claimable_tier=told.claimable_tier,
        cost_per_entry_usd=told.cost_per_entry_usd,
        avg_latency_seconds=told.avg_latency_seconds,
        parts=parts,
        parts_left_out=tuple(sorted(told.left_out)),
        signatures=dict(asked.signatures),
        smallest_difference=asked.smallest_difference,
        caveats=told.caveats,
        bits=told.bits,
        answer=answer.number,
        of=answer.of,
        rosetta=VERSION,
        issued=issued,
        place=place,
        by=ledger.identity.public.signing_key,
    )
