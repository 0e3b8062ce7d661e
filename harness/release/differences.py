"""Telling whether one told run is better than another: inside, by a paired test over the same secret entries."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from corpora.model.entry import Entry
from harness.card.load import load_card
from harness.card.withholding import LEAST
from harness.compare.comparing import MOST_RUNS, compare_runs, require_named_once
from harness.compare.comparison import Comparison
from harness.core.version import VERSION
from harness.release.budget import History, NotReleased, NotYetReleased, set_id
from harness.release.ledger import ReleaseLedger
from harness.release.records import (
    DifferenceTold,
    ReleasedDifference,
    ScoresTold,
    Verdict,
)
from harness.release.releasing import secret_entries, smallest_told
from harness.sealed.signed_archive import signed_record
from harness.store.runs import Run, find_run
from scoring.core.columns import stated_columns
from scoring.statistics.significance import Difference

ONE_SIDED: Final = 0.05


def require_difference_left(runs: Sequence[Run], ledger: ReleaseLedger) -> None:
    """Raise NotReleased where ``release_difference`` would tell nothing of these runs, as far as the ledger shows it without a text.

    Both must have been told, and each submitter has as many differences as answers. UsageError where they are one run.
    """
    require_named_once(runs)
    with ledger.changing() as change:
        for told_card in _told_cards(change.history, runs):
            _require_difference(change.history, told_card)


def release_difference(
    connection: sqlite3.Connection, names: Sequence[str], ledger: ReleaseLedger
) -> bytes:
    """Compare two runs inside, and return whether the second is better by the headline; signed, once the ledger has it.

    Only runs whose own scores were told are compared: a difference from one of them would tell the scores of a run
    that the Ladder kept back. The test is the paired randomisation, one-sided at 5 %, corrected by Holm for all runs of
    these submitters that were told. The same two runs give the same bytes again. Raises NotReleased in words.
    """
    runs = [find_run(connection, name) for name in names]
    require_named_once(runs)
    before = ledger.read()  # the work is done while others may answer
    made = _told_before(before, *runs)
    others = [] if made else _others_told(connection, before, _told_cards(before, runs))
    fields = {} if made else _compared(connection, runs, others, before, ledger)
    with ledger.changing() as change:
        made = _told_before(change.history, *runs)
        if made is None:
            scores_tolds = _told_cards(change.history, runs)
            for scores_told in scores_tolds:
                _require_difference(change.history, scores_told)
            if _others_told(connection, change.history, scores_tolds) != others:
                raise NotYetReleased("Another run was told meanwhile, which this test has to count. Try again.")  # fmt: skip
            made = ReleasedDifference(
                **fields,
                first=runs[0].run_id,
                second=runs[1].run_id,
                submitters=tuple(sorted({each.submitter for each in scores_tolds})),
                corpus=scores_tolds[0].card.corpus,
                rosetta=VERSION,
                issued=change.issued,
                place=change.place,
                by=ledger.identity.public.signing_key,
            )
            change.write(DifferenceTold(card=made))
    return signed_record(made, ledger.identity)


def _compared(
    connection: sqlite3.Connection,
    runs: Sequence[Run],
    others: Sequence[str],
    history: History,
    ledger: ReleaseLedger,
) -> dict[str, Any]:
    """Return what a test of two runs gives, by field of the difference; NotReleased where few entries differ."""
    scores_tolds = _told_cards(history, runs)
    for scores_told in scores_tolds:
        _require_difference(history, scores_told)
    headline = stated_columns(load_card(connection, runs[0].id).as_json().get("scoring")).headline
    entries = _same_entries(connection, runs, scores_tolds, ledger)
    ids = [run.run_id for run in runs]
    comparison = compare_runs(connection, [*ids, *others], metrics=[headline])
    if (apart := _apart(comparison)) < LEAST:
        raise NotReleased(
            f"These runs differ on {apart:,} secret entries only, so their difference would tell of single ones. Differences are told "
            f"where {LEAST} or more entries differ."
        )
    pair = next(pair for pair in comparison.pairs if [pair.first.run_id, pair.second.run_id] == ids)
    verdict = _verdict(pair.by_metric.get(headline), pair.p_adjusted.get(headline))
    least = smallest_told(entries)
    return {"metric": headline, "verdict": verdict, "smallest_difference": least}


def _told_before(history: History, first: Run, second: Run) -> ReleasedDifference | None:
    cards = (act.card for _, act in history.answers if isinstance(act, DifferenceTold))
    ids = (first.run_id, second.run_id)
    return next((card for card in cards if (card.first, card.second) == ids), None)


def _require_difference(history: History, told: ScoresTold) -> None:
    """Raise NotReleased where a submitter had as many differences as answers."""
    names = history.names_of(told.submitter)
    had = sum(
        isinstance(act, DifferenceTold)
        and act.card.corpus.id == told.corpus
        and any(history.names_of(submitter) & names for submitter in act.card.submitters)
        for _, act in history.answers
    )
    if had >= (most := history.policy(told.submitter, told.corpus).count):
        raise NotYetReleased(
            f"{told.submitter!r} had all {most:,} differences about {told.corpus!r}: as many as answers. The custodian can allow more (rosetta vault budget --count)."
        )


def _same_entries(
    connection: sqlite3.Connection, runs: Sequence[Run], told: Sequence[ScoresTold], ledger: ReleaseLedger
) -> list[Entry]:  # fmt: skip
    """Return the secret entries of both runs; NotReleased where these are not the same."""
    both = [secret_entries(connection, run) for run in runs]
    ids = {set_id([ledger.digest(entry.source) for entry in entries]) for entries in both}
    if ids != {scores_told.entries for scores_told in told} or len(ids) > 1:
        raise NotReleased(
            "These runs are not over the same secret entries, so their difference would tell of those that only one has."
        )
    return both[0]


def _others_told(connection: sqlite3.Connection, history: History, told: Sequence[ScoresTold]) -> list[str]:  # fmt: skip
    """Return the other runs of the same submitters that were told over the same entries and are still in the store, the latest first."""
    names = frozenset().union(*(history.names_of(scores_told.submitter) for scores_told in told))
    found = dict.fromkeys(
        act.run
        for _, act in reversed(history.answers)
        if isinstance(act, ScoresTold)
        and act.card.scores_of == act.run
        and act.entries == told[0].entries
        and not names.isdisjoint(history.names_of(act.submitter))
    )
    here = {row[0] for row in connection.execute("SELECT run_id FROM runs")}
    mine = {scores_told.run for scores_told in told}
    return [run for run in found if run in here and run not in mine][: MOST_RUNS - len(mine)]


def _verdict(found: Difference | None, adjusted: float | None) -> Verdict:
    """Return whether the second run is better; ``adjusted`` is two-sided, and half of it of one side."""
    if found is None or adjusted is None or found.ahead is None or adjusted / 2 >= ONE_SIDED:
        return "cannot be told apart"
    return "better" if found.ahead == "second" else "worse"


def _apart(found: Comparison) -> int:
    """Count the secret entries on which the first two runs differ by any statistic."""
    one, other = (side.table.matrix for side in found.sides[:2])
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return int((~same.all(axis=1) & found.entries.secret).sum())


def _told_cards(history: History, runs: Sequence[Run]) -> list[ScoresTold]:
    """Return the answer that told each run's own scores; NotReleased where one has none."""
    own = {
        act.run: act
        for _, act in reversed(history.answers)
        if isinstance(act, ScoresTold) and act.card.scores_of == act.run
    }
    for run in runs:
        if run.run_id not in own:
            raise NotReleased(
                f"The scores of run {run.run_id[:8]} were not told, so how it differs from others is not told either. Release it "
                "first (rosetta runs export RUN --submitter NAME); where it does not beat the best run told so far, it "
                "is compared with nothing."
            )
    return [own[run.run_id] for run in runs]
