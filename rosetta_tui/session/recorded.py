"""A finished run as events, so that it opens in the screen that a running one opens in."""

from __future__ import annotations

import dataclasses
import sqlite3

import numpy as np

from corpora.files.json_types import JsonObject
from harness.card.reading import block, claim_of, interval, number, stated_floors
from harness.compare.rows import values_answered
from harness.run.events import Event, Finished, Progress, Started
from harness.store.annotations import read_asked
from harness.store.corpora.entries import read_dataset
from harness.store.live_runs import elapsed_seconds
from harness.store.mixed_setups import sum_tries
from harness.store.results import read_headlines, read_outcome
from harness.store.runs import find_run
from harness.store.sqlite.openings import Floor, ScoringSoFar
from rosetta_tui.session.picture import LiveRun
from rosetta_tui.show.card_fields import as_stated
from scoring.core.specification import TRANSLATIONS
from scoring.statistics.intervals import RunningSpread


def recorded(connection: sqlite3.Connection, run_id: str) -> list[Event]:
    """Return the events of a run that is over, scores from its card (``seal``); UsageError where there is no such run."""
    run = find_run(connection, run_id)
    outcome = read_outcome(connection, run.id)
    elapsed, tries = elapsed_seconds(connection, run.id), sum_tries(connection, run)
    finished = Finished(run.run_id, run.state, outcome.done, outcome.failed, len(run.positions), elapsed)
    begun = Started.of(run, read_dataset(connection, run.corpus), outcome.done)
    scoring = read_asked(connection, run.id)
    retries, rate_limited = tries
    progress = Progress(
        run_id=run.run_id,
        state=run.state,
        elapsed_seconds=elapsed,
        total=len(run.positions),
        done=outcome.done,
        failed=outcome.failed,
        in_flight=(),
        waiting=(),
        concurrency=0,
        most_concurrency=0,
        rate_limited=rate_limited,
        retries=retries,
        tokens=outcome.tokens,
        tokens_untold=outcome.tokens_untold,
        cost_usd=None,
        budget_usd=run.opening.budget_usd,
        scoring=scoring,
        answered=values_answered(connection, run) if 0 < outcome.failed < outcome.done else {},
    )
    if begun.columns != TRANSLATIONS:
        running = RunningSpread()
        running.add(np.array(read_headlines(connection, run.id), np.float64))
        progress = dataclasses.replace(progress, spread=running.value())
    return [begun, progress, finished]


def seal(live: LiveRun, card: JsonObject) -> None:
    """Copy the numbers of a sealed card into the picture of its run."""
    if live.progress is None or live.started is None:
        return
    scores = block(card, "scores")
    live.progress = _sealed_progress(live.progress, card)
    floors = tuple(
        Floor(name, floor.composite, floor.chrf_plus_plus, floor.inputs, floor.entries, floor.searched)
        for name, floor in stated_floors(card).items()
    )
    live.started = dataclasses.replace(
        live.started,
        floors=floors or live.started.floors,
        missing={name: str(why) for name, why in block(scores, "reasons").items()}
        if "reasons" in scores
        else live.started.missing,
    )
    live.sealed_claim = claim_of(card)
    live.as_stated = as_stated(card)


def _sealed_progress(progress: Progress, card: JsonObject) -> Progress:
    scores, speed = block(card, "scores"), block(card, "speed")
    limited = number(block(card, "retries").get("rate_limited"))
    # the card of a retry counts what the kept entries took, too
    of_its_own = "retry_of" not in card
    tokens = number(block(card, "tokens").get("total_tokens"))
    intervals = {name: interval(scores, name) for name in block(scores, "confidence_intervals")}
    scoring = progress.scoring
    if stated := block(block(card, "cost"), "scoring"):
        asked = block(stated, "by_annotator")
        scoring = ScoringSoFar(
            calls=int(number(stated.get("calls")) or 0),
            cost_usd=number(stated.get("total_cost_usd")),
            known_cost_usd=number(stated.get("known_cost_usd")) or 0.0,
            failed=int(sum(number(block(asked, name).get("judge_failed")) or 0 for name in asked)),
        )
    return dataclasses.replace(
        progress,
        elapsed_seconds=number(speed.get("elapsed_seconds")) or progress.elapsed_seconds,
        rate_limited=int(limited or 0) if of_its_own else progress.rate_limited,
        values={name: number(value) for name, value in scores.items() if (value is None or number(value) is not None)},
        intervals={name: ends for name, ends in intervals.items() if ends is not None},
        quality_tier=str(scores.get("quality_tier", "unscored")),
        cost_usd=number(block(card, "cost").get("total_cost_usd")),
        known_cost_usd=number(block(card, "cost").get("known_cost_usd")) or 0.0,
        spent_usd=number(block(card, "budget").get("spent_usd")) or progress.spent_usd,
        tokens=progress.tokens if tokens is None else int(tokens),
        tokens_untold=progress.tokens_untold if tokens is None else 0,
        per_minute=number(speed.get("entries_per_minute")),
        eta_seconds=None,
        p50_seconds=number(speed.get("median_latency_seconds")),
        p95_seconds=number(speed.get("p95_latency_seconds")),
        scoring=scoring,
        floors=(),
    )
