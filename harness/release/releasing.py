"""Releasing what comes of runs over secret entries: scores, refusals and differences, signed, once the ledger has them.

Each is computed while the ledger is locked, so what was released before cannot change meanwhile. The same question
gets the same bytes again, and counts once. All raise NotReleased in words where nothing may leave.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import ceil, log2
from typing import Any, Final, Literal

import numpy as np

from corpora.model.entry import Entry
from corpora.text.visible import plain
from harness.card.checking.claimed import claim_of, stated_caveats
from harness.card.load import load_card
from harness.card.material import stored_material
from harness.card.reading import block, number
from harness.card.withholding import LEAST
from harness.compare.comparing import MOST_RUNS, compare_runs, require_named_once
from harness.release.budget import (
    History,
    NotReleased,
    NotYetReleased,
    Part,
    ScoreQuestion,
    set_id,
    too_few_words,
)
from harness.release.ledger import LedgerChange, ReleaseLedger
from harness.release.policy import (
    LEAST_PART,
    PARTS_FROM,
    Policy,
    ReleasedScore,
    bits,
    one_two_five,
    range_of,
    stepped,
)
from harness.release.records import (
    DifferenceTold,
    RefusalTold,
    ReleasedCard,
    ReleasedCorpus,
    ReleasedDifference,
    ReleasedMethod,
    ReleasedRefusal,
    Scores,
    ScoresTold,
)
from harness.sealed.signed_archive import signed_record
from harness.setup.plan import told_of
from harness.store.corpora.entries import read_dataset
from harness.store.corpora.listing import count_secret
from harness.store.results import read_results
from harness.store.runs import Run, find_run, read_run
from harness.vault.records import tenth_upward
from scoring.card.caveats import CaveatKind
from scoring.card.smallest import smallest_difference
from scoring.core.columns import stated_columns
from scoring.core.specification import COMPOSITE, Tier, stated_weighing
from scoring.statistics.breakdown import DIMENSIONS

RefusedStage = Literal["install", "load", "translate"]
_MONEY_BITS: Final = log2(28)
"""Of 1, 2 or 5 times a power of ten from a millionth to a thousand."""
_ONE_SIDED: Final = 0.05


# Scores


def release_run(
    connection: sqlite3.Connection, run: int, submitter: str, ledger: ReleaseLedger
) -> bytes:
    """Return the released card of a sealed run with secret entries, for one submitter."""
    name, stored = _submitter(submitter), read_run(connection, run)
    with ledger.changing() as change:
        before = change.history.told(ScoresTold, name, stored.run_id)
        if not before:
            asked = _question(connection, stored, name, change)
            before = [change.history.answer(asked, change.now)]
            change.write(before[0])
    return signed_record(before[0].card, ledger.identity)


def require_answer_left(
    connection: sqlite3.Connection, run: int, submitter: str, ledger: ReleaseLedger
) -> None:
    """Raise NotReleased where count, pause or too few entries keep back the answer of ``release_run``; no text is needed for it.

    So a grant to open the texts is not used up in vain. Answers about other corpora that share entries with this one are
    known by texts alone: they count in ``release_run``.
    """
    name, stored = _submitter(submitter), read_run(connection, run)
    if words := too_few_words(count_secret(connection, stored.corpus, stored.positions)):
        raise NotReleased(words)
    corpus = _corpus(connection, stored)
    with ledger.changing() as change:
        if not change.history.told(ScoresTold, name, stored.run_id):
            change.history.require_answers(name, corpus.id, (), change.now, version=corpus.version)


def _submitter(name: str) -> str:
    if not 0 < len(name := " ".join(name.split())) <= 200:
        raise NotReleased("Name the submitter in 1 to 200 characters.")
    return name


def _question(connection: sqlite3.Connection, run: Run, submitter: str, change: LedgerChange) -> ScoreQuestion:  # fmt: skip
    card, corpus = load_card(connection, run.id).as_json(), _corpus(connection, run)
    scores, entries = block(card, "scores"), _secret_entries(connection, run)
    digests = [change.ledger.digest(entry.source) for entry in entries]
    headline = stated_columns(card.get("scoring")).headline
    policy, value = change.history.policy(submitter, corpus.id), number(scores.get(headline))
    members = _members(entries, digests)
    rounded = _in_steps(card, headline, policy, members if len(entries) >= PARTS_FROM else {})
    if value is None or headline not in rounded["scores"]:
        raise NotReleased(f"Run {run.run_id[:8]} has no {headline} with an interval, by which runs are told to be better. Nothing is told of it.")  # fmt: skip
    signatures = dict(block(scores, "signatures"))
    if (weighing := stated_weighing(card.get("scoring"))) is not None:
        signatures[COMPOSITE] = f"calibration:{weighing.calibration}"
    draft = ReleasedCard(
        **rounded,
        **dict(change.stated),
        policy=policy.name,
        run=run.run_id,
        run_card_hash=str(card.get("run_card_hash")),
        submitter=submitter,
        method=_method(run),
        corpus=corpus,
        headline=headline,
        signatures={id_: _text(signatures[id_]) for id_ in signatures if id_ in rounded["scores"]},
        smallest_difference=_smallest(entries),
        scores_of=run.run_id, beat_by=0.0, answer=1, of=1,
    )  # fmt: skip
    came = read_dataset(connection, run.corpus).opened_from
    rotations = None if came is None else int(came.rpartition("/")[2])
    entries_of = {(name, tag): members[name, tag] for name, tags in draft.parts.items() for tag in tags}  # fmt: skip
    return ScoreQuestion(draft, frozenset(digests), value, entries_of, rotations)


def _in_steps(card: Mapping[str, Any], headline: str, policy: Policy, members: Mapping[Part, frozenset[str]]) -> dict[str, Any]:  # fmt: skip
    """Return the fields of a card that may be released of a run in the steps of its policy, with the parts whose entries are in ``members``."""
    scores, steps = block(card, "scores"), policy.steps(headline)
    whole = {
        id_: score
        for id_, step in steps.items()
        if (score := _score(scores, id_, step, between=id_ in {headline, COMPOSITE})) is not None
    }
    parts: dict[str, dict[str, Scores]] = defaultdict(dict)
    lacking = set[str]()
    for (dimension, tag), inside in members.items() if policy.whole else ():
        group = block(scores, f"by_{dimension}").get(tag) or {}
        score = _score(group, headline, steps[headline], between=True)
        if score is not None and len(inside) >= LEAST_PART:
            parts[dimension][tag] = {headline: score}
        elif f"by_{dimension}" in scores:
            lacking.add(dimension)
    money = [number(block(card, "cost").get("cost_per_entry_usd")), number(block(card, "speed").get("avg_latency_seconds"))]  # fmt: skip
    cost, latency = (one_two_five(spent) if spent is not None and policy.whole else None for spent in money)  # fmt: skip
    caveats = _caveats(card)
    groups = [whole, *(part for tags in parts.values() for part in tags.values())]
    most = sum(bits(score, range_of(id_)) for group in groups for id_, score in group.items())
    most += _MONEY_BITS * sum(spent is not None for spent in (cost, latency))
    most += len(caveats or ()) + 2 * log2(len(Tier))
    return {
        "scores": whole,
        "parts": parts,
        "parts_left_out": tuple(sorted(lacking)),
        "quality_tier": str(scores.get("quality_tier") or ""),
        "claimable_tier": claim_of(card).tier().value,
        "cost_per_entry_usd": cost,
        "avg_latency_seconds": latency,
        "caveats": caveats,
        "bits": ceil(most),
    }


def _members(entries: Sequence[Entry], digests: Sequence[str]) -> Mapping[Part, frozenset[str]]:
    """Return the entries of each part of a breakdown."""
    members: dict[Part, set[str]] = defaultdict(set)
    for dimension, field in DIMENSIONS.items():
        for entry, digest in zip(entries, digests, strict=True):
            if (tag := entry.open_tag(field)) is not None:
                members[dimension, str(tag)].add(digest)
    return {part: frozenset(inside) for part, inside in members.items()}


def _score(scores: Mapping[str, Any], id_: str, step: float, *, between: bool) -> ReleasedScore | None:  # fmt: skip
    """Return a metric in steps; None where it has no value, or no interval though it needs one (``between``)."""
    value, lower, upper = number(scores.get(id_)), None, None
    if between:
        interval = block(block(scores, "confidence_intervals"), id_)
        lower, upper = number(interval.get("ci_lower")), number(interval.get("ci_upper"))
    if value is None or (between and None in (lower, upper)):
        return None
    return stepped(value, lower, upper, step, range_of(id_))


def _caveats(card: Mapping[str, Any]) -> dict[Any, bool] | None:
    """Return which caveats hold; None where the card's task has none, or it comes from before they were looked for."""
    claim = block(card, "scores").get("claim")
    if not isinstance(claim, Mapping) or block(card, "dataset").get("task") is not None:
        return None
    held = {caveat.kind for caveat in stated_caveats(claim)}
    return {kind.value: kind in held for kind in CaveatKind}


def _method(run: Run) -> ReleasedMethod:
    """Return which method it was. Its name is what a person asked for with the run: what code calls itself is no name here."""
    setup = run.setup
    return ReleasedMethod(
        method=_text(setup.method),
        method_class=_text(setup.method_class),
        method_version=None if setup.method_version is None else _text(setup.method_version),
        model_slug=_text(setup.model_slug),
        condition=_text(setup.condition),
        setup_hash=run.setup_hash,
        method_name=plain(" ".join((told_of(run).method_name or "").split()))[:100] or None,
    )


def _corpus(connection: sqlite3.Connection, run: Run) -> ReleasedCorpus:
    dataset = read_dataset(connection, run.corpus)
    version = None if dataset.version is None else _text(dataset.version)
    return ReleasedCorpus(id=_text(dataset.id), version=version, language_pair=_text(run.language_pair), entries=len(run.positions))  # fmt: skip


def _text(value: object) -> str:
    return str(value)[:1000]


def _secret_entries(connection: sqlite3.Connection, run: Run) -> list[Entry]:
    """Return the secret entries of a run, opened."""
    return [entry for entry in stored_material(connection, run.id).entries if entry.secret]


def _smallest(entries: Sequence[Entry]) -> float | None:
    """Return the smallest difference that these entries show, to a tenth of a point and upward."""
    least = smallest_difference(entries)
    return None if least is None else tenth_upward(least)


# Refusals


def share_that_came(outputs: int, entries: int) -> Literal["none", "some", "most"]:
    """Return in a word which share of the entries has an output."""
    if not outputs:
        return "none"
    return "some" if outputs * 2 <= entries else "most"


def release_refusal(
    connection: sqlite3.Connection, run: int, submitter: str, stage: RefusedStage, ledger: ReleaseLedger
) -> bytes:  # fmt: skip
    """Return the answer about an unfinished run that its method ended: a few words only, as a method may choose the texts it fails at.

    No text is opened for it, so it counts for its own corpus alone.
    """
    stored = read_run(connection, run)
    with ledger.changing() as change:
        before = change.history.told(RefusalTold, submitter, stored.run_id)
        if not before:
            corpus = _corpus(connection, stored)
            answer, of = change.history.require_answers(submitter, corpus.id, (), change.now, version=corpus.version)  # fmt: skip
            outputs = sum(row.output is not None for row in read_results(connection, run))
            card = ReleasedRefusal(
                **dict(change.stated), run=stored.run_id, submitter=submitter, method=_method(stored), corpus=corpus, stage=stage,
                came=share_that_came(outputs, len(stored.positions)), answer=answer, of=of,
            )  # fmt: skip
            before = [RefusalTold(card=card)]
            change.write(before[0])
    return signed_record(before[0].card, ledger.identity)


# Differences


def require_difference_left(runs: Sequence[Run], ledger: ReleaseLedger) -> None:
    """Raise NotReleased where ``release_difference`` would release nothing of these runs, as far as the ledger shows it without a text.

    The scores of both must have been released, and each submitter has as many differences as answers. UsageError where they are one run.
    """
    require_named_once(runs)
    with ledger.changing() as change:  # which refuses a clock that is wrong
        _own_answers(change.history, [run.run_id for run in runs])


def release_difference(
    connection: sqlite3.Connection, names: Sequence[str], ledger: ReleaseLedger
) -> bytes:
    """Compare two runs inside, and return whether the second is better by the headline.

    Only runs whose own scores were released are compared: a difference from one of them would reveal the scores of a run
    that the Ladder kept back. The test is the paired randomisation, one-sided at 5 %, corrected by Holm for all released
    runs of these submitters.
    """
    runs = [find_run(connection, name) for name in names]
    require_named_once(runs)
    ids = [run.run_id for run in runs]
    with ledger.changing() as change:
        cards = (act.card for _, act in change.history.answers if isinstance(act, DifferenceTold))
        card = next((card for card in cards if [card.first, card.second] == ids), None)
        if card is None:
            card = _difference(connection, runs, change)
            change.write(DifferenceTold(card=card))
    return signed_record(card, ledger.identity)


def _difference(connection: sqlite3.Connection, runs: Sequence[Run], change: LedgerChange) -> ReleasedDifference:  # fmt: skip
    ids = [run.run_id for run in runs]
    acts = _own_answers(change.history, ids)
    both = [_secret_entries(connection, run) for run in runs]
    sets = {set_id([change.ledger.digest(entry.source) for entry in entries]) for entries in both}
    if sets != {act.entries for act in acts} or len(sets) > 1:
        raise NotReleased("These runs are not over the same secret entries, so their difference would tell of those that only one has.")  # fmt: skip
    headline = stated_columns(load_card(connection, runs[0].id).as_json().get("scoring")).headline
    others = _others_told(connection, change.history, acts)
    compared = compare_runs(connection, [*ids, *others], metrics=[headline])
    one, other = (side.table.matrix for side in compared.sides[:2])
    apart = ~((one == other) | (np.isnan(one) & np.isnan(other))).all(axis=1)
    if (differing := int((apart & compared.entries.secret).sum())) < LEAST:
        raise NotReleased(
            f"These runs differ on {differing:,} secret entries only, so their difference would tell of single ones. Differences are told "
            f"where {LEAST} or more entries differ."
        )
    pair = next(pair for pair in compared.pairs if [pair.first.run_id, pair.second.run_id] == ids)
    by, adjusted, verdict = pair.by_metric.get(headline), pair.p_adjusted.get(headline), "cannot be told apart"  # fmt: skip
    if by is not None and by.ahead is not None and adjusted is not None and adjusted / 2 < _ONE_SIDED:  # fmt: skip
        verdict = "better" if by.ahead == "second" else "worse"
    return ReleasedDifference(
        **dict(change.stated), first=ids[0], second=ids[1], submitters=tuple(sorted({act.submitter for act in acts})),
        corpus=acts[0].card.corpus, metric=headline, verdict=verdict, smallest_difference=_smallest(both[0]),
    )  # fmt: skip


def _own_answers(history: History, ids: Sequence[str]) -> list[ScoresTold]:
    """Return the answer that has each run's own scores; NotReleased where one has none, or its submitter no difference left."""
    own = {act.run: act for act in reversed(history.told(ScoresTold)) if act.new}
    for run in ids:
        if run not in own:
            raise NotReleased(
                f"The scores of run {run[:8]} were not told, so how it differs from others is not told either. Release it "
                "first (rosetta runs export RUN --submitter NAME); where it does not beat the best run told so far, it "
                "is compared with nothing."
            )
        submitter, corpus = own[run].submitter, own[run].corpus
        cards = [act.card for _, act in history.answers if isinstance(act, DifferenceTold)]
        names = history.names_of(submitter)
        had = sum(card.corpus.id == corpus and any(history.names_of(name) & names for name in card.submitters) for card in cards)  # fmt: skip
        if had >= (most := history.policy(submitter, corpus).count):
            raise NotYetReleased(f"{submitter!r} had all {most:,} differences about {corpus!r}: as many as answers. The custodian can allow more (rosetta vault budget --count).")  # fmt: skip
    return [own[run] for run in ids]


def _others_told(connection: sqlite3.Connection, history: History, own: Sequence[ScoresTold]) -> list[str]:  # fmt: skip
    """Return the other runs of the same submitters that were released over the same entries and are still in the store, the latest first."""
    here = {row[0] for row in connection.execute("SELECT run_id FROM runs")}
    mine = {act.run for act in own}
    names = frozenset[str]().union(*(history.names_of(act.submitter) for act in own))
    others = dict.fromkeys(
        act.run
        for act in reversed(history.told(ScoresTold))
        if act.new and act.entries == own[0].entries and history.names_of(act.submitter) & names
    )
    return [run for run in others if run in here - mine][: MOST_RUNS - len(mine)]
