"""Telling that a method gave nothing that could be scored: a stage and a coarse share, once the ledger has it.

A refusal is a way out of secret entries as a score is: which texts a method fails at, it may choose. So it says one of a
few words, is signed, and counts as an answer.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Literal

from harness.core.version import VERSION
from harness.release.budget import History
from harness.release.ledger import ReleaseLedger
from harness.release.records import RefusalTold, ReleasedCorpus, ReleasedMethod, ReleasedRefusal
from harness.sealed.signed_archive import signed_record
from harness.store.corpora.entries import read_dataset
from harness.store.results import read_results
from harness.store.runs import Run, read_run

RefusedStage = Literal["install", "load", "translate"]
ShareThatCame = Literal["none", "some", "most"]


def share_that_came(outputs: int, entries: int) -> ShareThatCame:
    """Return in a word which share of the entries has an output."""
    if not outputs:
        return "none"
    return "some" if outputs * 2 <= entries else "most"


def release_refusal(
    connection: sqlite3.Connection, run: int, submitter: str, stage: RefusedStage, ledger: ReleaseLedger
) -> bytes:  # fmt: skip
    """Return what a submitter is told of an unfinished run that their method ended; the ledger has it first.

    The same run gives the same bytes again, and counts once. No text is opened for it, so it counts for its own corpus alone. Raises NotReleased where count or pause keep it back.
    """
    stored = read_run(connection, run)
    facts = _facts(connection, stored, ledger)
    with ledger.changing() as change:
        released_refusal = _refusal_told(change.history, stored.run_id, submitter)
        if released_refusal is None:
            corpus, version = facts["corpus"].id, facts["corpus"].version
            number, count = change.history.require_answers(
                submitter, corpus, frozenset(), change.now, version=version
            )
            released_refusal = ReleasedRefusal(
                **facts,
                submitter=submitter,
                stage=stage,
                answer=number,
                of=count,
                issued=change.issued,
                place=change.place,
            )
            change.write(RefusalTold(card=released_refusal))
    return signed_record(released_refusal, ledger.identity)


def _facts(connection: sqlite3.Connection, run: Run, ledger: ReleaseLedger) -> dict[str, Any]:
    """Return what a refusal says of a run itself, by field. No text is needed for it."""
    dataset, setup = read_dataset(connection, run.corpus), run.setup
    outputs = sum(result.output is not None for result in read_results(connection, run.id))
    return {
        "run": run.run_id,
        "method": ReleasedMethod(
            method=setup.method,
            method_class=setup.method_class,
            method_version=setup.method_version,
            model_slug=setup.model_slug,
            condition=setup.condition,
            setup_hash=run.setup_hash,
        ),
        "corpus": ReleasedCorpus(
            id=dataset.id[:1000],
            version=None if dataset.version is None else str(dataset.version)[:1000],
            language_pair=run.language_pair[:1000],
            entries=len(run.positions),
        ),
        "came": share_that_came(outputs, len(run.positions)),
        "rosetta": VERSION,
        "by": ledger.identity.public.signing_key,
    }


def _refusal_told(found: History, run: str, submitter: str) -> ReleasedRefusal | None:
    """Return what a submitter was told of a run that gave nothing; None where nothing was."""
    names = found.names_of(submitter)
    refusals = (act for _, act in found.answers if isinstance(act, RefusalTold) and act.run == run)
    told = (act.card for act in refusals if found.names_of(act.submitter) == names)
    return next(told, None)
