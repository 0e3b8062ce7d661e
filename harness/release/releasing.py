"""Releasing what comes of runs over secret entries: scores, refusals and differences, signed, once the ledger has them.

The same question gets the same bytes again, and counts once. NotReleased says why nothing may leave.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from math import ceil, log2
from typing import Final, TypeVar

import numpy as np

from corpora.text.visible import plain
from harness.card.material import stored_material
from harness.card.reading import claim_of, has_caveats, number
from harness.card.rows import load_card
from harness.card.withholding import LEAST, bits, one_two_five, range_of, rounded, set_id, stepped
from harness.compare import MOST_RUNS
from harness.compare.comparing import compare_runs, require_named_once
from harness.release import ledger_records
from harness.release.budget import History, NotReleased, NotYetReleased
from harness.release.ledger import LedgerChange, ReleaseLedger
from harness.release.ledger_records import DifferenceTold, RefusalTold, ReleasedSweep, ScoresTold
from harness.sealed.archive import signed_record
from harness.setup.plan import told_of
from harness.store.corpora.entries import read_dataset
from harness.store.corpora.listing import count_secret
from harness.store.results import read_results
from harness.store.runs import Run, find_run, read_run
from harness.store.sweeps import sweep_that_made
from harness.vault.vault_records import tenth_upward
from scoring.card.smallest import smallest_difference
from scoring.core.specification import COMPOSITE, Tier, stated_columns, stated_weighing

_Told = TypeVar("_Told", ScoresTold, RefusalTold, DifferenceTold)
_COVERAGE_STEP: Final = 0.05
_MONEY_BITS: Final = log2(28)  # of 1, 2 or 5 times a power of ten from a millionth to a thousand


# Scores


def signed_file(
    ledger: ReleaseLedger, given: Callable[[History], Sequence[_Told]], made: Callable[[LedgerChange], _Told],
    open_texts: Callable[[], object] | None = None, check: Callable[[LedgerChange], object] | None = None,
) -> bytes:  # fmt: skip
    """Return the file that was given before, else the one that is made; ``check`` refuses what it can before texts are opened."""
    if open_texts is not None:
        with ledger.changing() as change:  # which refuses a clock that is wrong
            if acts := given(change.history):  # the same bytes again: no text is opened for them
                return signed_record(acts[0].card, ledger.identity)
            if check is not None:
                check(change)
        open_texts()
    with ledger.changing() as change:
        acts = given(change.history) or [change.write(made(change))]
    return signed_record(acts[0].card, ledger.identity)


def release_run(
    connection: sqlite3.Connection, run: int, submitter: str, ledger: ReleaseLedger, open_texts: Callable[[], object] | None = None
) -> bytes:  # fmt: skip
    """Return the released card of a run over secret entries, for one submitter.

    ``open_texts`` opens sealed texts; what can be refused without them is refused before, so that no grant is used up in vain.
    """
    name, stored = submitter_name(submitter), read_run(connection, run)

    def check(change: LedgerChange) -> None:
        require_room(connection, stored, name, change)
        if (sweep := sweep_that_made(connection, stored.run_id)) is not None:
            raise NotReleased(
                f"Run {stored.run_id[:8]} is one of the sweep {sweep.name!r}, which is released as a whole, in one answer: rosetta sweep compare "
                f"{sweep.id} --submitter NAME -o FILE."
            )

    def made(change: LedgerChange) -> ScoresTold:
        check(change)
        return change.history.answer(draft_scores(connection, stored, name, change), change.now)

    return signed_file(ledger, lambda past: past.told(ScoresTold, name, stored.run_id), made, open_texts, check)


def require_room(connection: sqlite3.Connection, run: Run, submitter: str, change: LedgerChange) -> None:
    """Raise NotReleased for what is known without the texts: too few entries, or no answer left now."""
    _require_enough(count_secret(connection, run.corpus, run.positions))
    corpus = _corpus(connection, run)
    change.history.require_answers(submitter, corpus.id, (), change.now, version=corpus.version)


def submitter_name(name: str) -> str:
    """Return a name with single spaces; NotReleased where it is empty or longer than 200 characters."""
    if not 0 < len(name := " ".join(name.split())) <= 200:
        raise NotReleased("Name the submitter in 1 to 200 characters.")
    return name


def _require_enough(entries: int) -> None:
    if entries < LEAST:
        raise NotReleased(f"This run has {entries:,} different secret entries; its scores would reveal single ones. Scores are released from {LEAST} entries on.")  # fmt: skip


def draft_scores(
    connection: sqlite3.Connection, run: Run, submitter: str, change: LedgerChange, sweep: ReleasedSweep | None = None
) -> ScoresTold:
    """Return what may be released of a run, in the steps of its policy; ``sweep``: of which it is the one answer."""
    card, corpus = load_card(connection, run.id), _corpus(connection, run)
    scores, headline = card.scores, stated_columns(card.scoring).headline
    policy = change.history.policy(submitter, corpus.id)
    entries = [entry for entry in stored_material(connection, run.id).entries if entry.secret]
    digests = [change.ledger.digest(entry.source) for entry in entries]
    _require_enough(len(set(digests)))
    released: ledger_records.Scores = {}
    for id_, step in policy.steps(headline).items():
        between = id_ in {headline, COMPOSITE}  # these two have an interval, or are left out
        interval = scores.confidence_intervals.get(id_) if between else None
        lower, upper = (interval.ci_lower, interval.ci_upper) if interval else (None, None)
        if (value := number(getattr(scores, id_, None))) is not None and not (between and None in {lower, upper}):
            released[id_] = stepped(value, lower, upper, step, range_of(id_))
    if (value := number(getattr(scores, headline, None))) is None or headline not in released:
        raise NotReleased(f"Run {run.run_id[:8]} has no {headline} with an interval, by which runs are called better. Nothing is released of it.")  # fmt: skip
    money = card.cost.cost_per_entry_usd, card.speed.avg_latency_seconds
    cost, latency = (one_two_five(spent) if spent is not None and policy.whole else None for spent in money)
    signatures = {**getattr(scores, "signatures", {})}
    if (weighing := stated_weighing(card.scoring)) is not None:
        signatures[COMPOSITE] = f"calibration:{weighing.calibration}"
    claim, least = getattr(scores, "claim", None), smallest_difference(entries)
    caveats = None if claim is None or card.dataset.task is not None else has_caveats(claim)
    mixed = number(getattr(scores, COMPOSITE, None)) is not None
    covered = number(getattr(scores, "composite_coverage", None)) if mixed else None
    most = sum(bits(score, range_of(id_)) for id_, score in released.items())
    most += _MONEY_BITS * (2 - [cost, latency].count(None)) + len(caveats or ()) + 2 * log2(len(Tier))
    most += log2(1 / _COVERAGE_STEP + 1)
    if sweep is not None:  # which of the set-ups, or none
        most += log2(sweep.setups + 1)
    draft = ledger_records.ReleasedCard(
        **dict(change.stated), policy=policy.name, run=run.run_id, run_card_hash=card.run_card_hash,
        submitter=submitter, method=_method(run), corpus=corpus, headline=headline,
        signatures={id_: str(signature) for id_, signature in signatures.items() if id_ in released},
        smallest_difference=least and tenth_upward(least), scores=released, quality_tier=scores.quality_tier,
        claimable_tier=claim_of(card.as_json()).tier().value, coverage=covered and rounded(covered, _COVERAGE_STEP), cost_per_entry_usd=cost, avg_latency_seconds=latency, caveats=caveats,
        bits=ceil(most), scores_of=run.run_id, beat_by=0.0, answer=1, of=1, sweep=sweep,
    )  # fmt: skip
    came, atoms = read_dataset(connection, run.corpus).opened_from, dict.fromkeys(digests, 1)
    rotations = None if came is None else int(came.rpartition("/")[2])
    return ScoresTold(entries=set_id(atoms), atoms=atoms, value=value, rotations=rotations, card=draft)


def _method(run: Run) -> ledger_records.ReleasedMethod:
    """Return which method it was. Its name is what a person asked for with the run: what code calls itself is no name here."""
    setup, name = run.setup, plain(" ".join((told_of(run).method_name or "").split()))[:100]
    return ledger_records.ReleasedMethod(
        method=setup.method, method_class=setup.method_class, method_version=setup.method_version, model_slug=setup.model_slug,
        condition=setup.condition, setup_hash=run.setup_hash, method_name=name or None,
    )  # fmt: skip


def _corpus(connection: sqlite3.Connection, run: Run) -> ledger_records.ReleasedCorpus:
    dataset = read_dataset(connection, run.corpus)
    return ledger_records.ReleasedCorpus(id=dataset.id, version=dataset.version, language_pair=run.language_pair, entries=len(run.positions))  # fmt: skip


# Refusals


def release_refusal(connection: sqlite3.Connection, run: int, submitter: str, stage: ledger_records.RefusedStage, ledger: ReleaseLedger) -> bytes:  # fmt: skip
    """Return the few words about an unfinished run that its method ended; no text is opened, so it counts for its own corpus alone."""
    name, stored = submitter_name(submitter), read_run(connection, run)

    def made(change: LedgerChange) -> RefusalTold:
        corpus = _corpus(connection, stored)
        answer, of = change.history.require_answers(name, corpus.id, (), change.now, version=corpus.version)
        outputs = sum(row.output is not None for row in read_results(connection, run))
        return RefusalTold(card=ledger_records.ReleasedRefusal(
            **dict(change.stated), run=stored.run_id, submitter=name, method=_method(stored), corpus=corpus, answer=answer, of=of,
            stage=stage, came="none" if not outputs else "some" if outputs * 2 <= len(stored.positions) else "most",
        ))  # fmt: skip

    return signed_file(ledger, lambda past: past.told(RefusalTold, name, stored.run_id), made)


# Differences


def release_difference(
    connection: sqlite3.Connection, names: Sequence[str], ledger: ReleaseLedger, open_texts: Callable[[], object] | None = None
) -> bytes:  # fmt: skip
    """Return whether the second of two runs is better by the headline; ``open_texts`` as in ``release_run``.

    Both runs' own scores must be released, or a difference would reveal those that the Ladder kept back. Paired
    randomisation, one-sided at 5 %, corrected by Holm for all released runs of these submitters.
    """
    runs = [find_run(connection, name) for name in names]
    require_named_once(runs)
    ids = [run.run_id for run in runs]

    def given(past: History) -> list[DifferenceTold]:
        return [act for act in past.of(DifferenceTold) if [act.card.first, act.card.second] == ids]

    return signed_file(
        ledger, given, lambda change: _difference(connection, runs, change), open_texts,
        lambda change: _own_answers(change.history, ids),
    )  # fmt: skip


def _difference(connection: sqlite3.Connection, runs: Sequence[Run], change: LedgerChange) -> DifferenceTold:
    ids = [run.run_id for run in runs]
    acts = _own_answers(change.history, ids)
    both = [stored_material(connection, run.id).entries for run in runs]
    sets = {set_id([change.ledger.digest(entry.source) for entry in entries if entry.secret]) for entries in both}
    if sets != {act.entries for act in acts} or len(sets) > 1:
        raise NotReleased("These runs are not over the same secret entries, so their difference would reveal those that only one has.")  # fmt: skip
    headline = acts[0].card.headline
    names = frozenset[str]().union(*(change.history.names_of(act.submitter) for act in acts))
    # the other runs of these submitters, as Holm has it, the latest first
    here = {row[0] for row in connection.execute("SELECT run_id FROM runs")} - {*ids}
    others = dict.fromkeys(
        act.run
        for act in reversed(change.history.told(ScoresTold))
        if act.new and act.entries in sets and act.run in here and change.history.names_of(act.submitter) & names
    )
    compared = compare_runs(connection, [*ids, *others][:MOST_RUNS], metrics=[headline])
    one, other = (side.table.matrix for side in compared.sides[:2])
    apart = ~((one == other) | (np.isnan(one) & np.isnan(other))).all(axis=1)
    if (differing := int((apart & compared.entries.secret).sum())) < LEAST:
        raise NotReleased(f"These runs differ on {differing:,} secret entries only, so their difference would reveal single ones. It takes {LEAST} or more.")  # fmt: skip
    pair = next(pair for pair in compared.pairs if [pair.first.run_id, pair.second.run_id] == ids)
    by, adjusted, verdict = pair.by_metric.get(headline), pair.p_adjusted.get(headline), "cannot be told apart"
    if by is not None and by.ahead is not None and adjusted is not None and adjusted / 2 < 0.05:
        verdict = "better" if by.ahead == "second" else "worse"
    return DifferenceTold(card=ledger_records.ReleasedDifference(
        **dict(change.stated), first=ids[0], second=ids[1], submitters=tuple(sorted({act.submitter for act in acts})),
        corpus=acts[0].card.corpus, metric=headline, verdict=verdict, smallest_difference=acts[0].card.smallest_difference,
    ))  # fmt: skip


def _own_answers(history: History, ids: Sequence[str]) -> list[ScoresTold]:
    """Return the answer that has each run's own scores; NotReleased where one has none, or its submitter no difference left."""
    own = {act.run: act for act in reversed(history.told(ScoresTold)) if act.new}
    cards = [act.card for act in history.of(DifferenceTold)]
    for run in ids:
        if run not in own:
            raise NotReleased(
                f"The scores of run {run[:8]} were not told, so how it differs from others is not told either. Release it first (rosetta runs "
                "export RUN --submitter NAME); where it does not beat the best run told so far, it is compared with nothing."
            )
        submitter, corpus = own[run].submitter, own[run].corpus
        names, most = history.names_of(submitter), history.policy(submitter, corpus).count
        had = sum(card.corpus.id == corpus and any(history.names_of(name) & names for name in card.submitters) for card in cards)  # fmt: skip
        if had >= most:
            raise NotYetReleased(f"{submitter!r} had all {most:,} differences about {corpus!r}: as many as answers. The custodian can allow more (rosetta vault budget --count).")  # fmt: skip
    return [own[run] for run in ids]
