"""What judges will take for a run's outputs: their prompts with the outputs that are known, else with the references."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from corpora.model.entry import Entry
from harness.annotators.judges import JUDGES, make_judge
from harness.core.calls import Price, Request, Usage
from harness.endpoint.keys import no_key
from harness.estimate.earlier import (
    NOTHING,
    Range,
    groups,
    guess_request,
    outputs_ahead,
    stored_reply,
)
from harness.method.method import Method, Output
from harness.setup.plan import Plan
from scoring.core.inventory import read_by
from scoring.core.translation import Translation

MOST_LOOKED_AT = 200
"""Entries whose prompts are written out; of more, that many spread evenly stand for all."""

WRITTEN = Range(20, 80, 400)
"""Tokens of a judgement."""


@dataclass(frozen=True, slots=True)
class JudgeEstimate:
    """What judges will take; what was judged before costs nothing."""

    model: str
    calls: Range
    cost_usd: Range | None
    """US dollars; None: the price is unknown."""
    judged: int = 0
    """Judgements that are in the store already and are not asked for again."""


def estimate_judges(
    connection: sqlite3.Connection, entries: Sequence[Entry], method: Method, plan: Plan
) -> JudgeEstimate | None:
    """Estimate what judging the outputs of these entries takes; None where no judge is asked.

    Of an output that is not known yet a judgement may be there already, or not be asked for: its calls are the most
    that there can be.
    """
    scoring = plan.scoring
    asked = [id_ for id_ in JUDGES if read_by(id_, scoring.wanted)]
    if scoring.judge is None or not asked or not entries:
        return None
    looked = list(_looked_at(connection, entries, method, use_cache=plan.run.use_cache))
    scale = len(entries) / len(looked)
    sure: list[Request] = []
    perhaps: list[Request] = []
    judged = 0
    for id_ in asked:
        judge = make_judge(
            id_, scoring.judge, scoring.judge_model, key=no_key, prices=plan.options.prices
        )
        for translation, known in looked:
            for request in judge.requests(translation):
                if not known:
                    perhaps.append(request)
                elif plan.run.use_cache and stored_reply(
                    connection, request, [translation.entry], id_
                ):
                    judged += 1
                else:
                    sure.append(request)
    every = [*sure, *perhaps]
    read = Range(_guessed(sure).low, _guessed(every).expected, _guessed(every).high).times(scale)
    calls = Range(len(sure) * scale, len(every) * scale, len(every) * scale)
    cost = _cost(every[0].price, read, WRITTEN.by(calls)) if every else NOTHING
    return JudgeEstimate(scoring.judge_model or "", calls, cost, round(judged * scale))


def _looked_at(
    connection: sqlite3.Connection, entries: Sequence[Entry], method: Method, *, use_cache: bool
) -> Iterator[tuple[Translation, bool]]:
    """Yield outputs of entries spread evenly, and whether each is known; in place of others stand references."""
    every = groups(entries, method.setup.batch_size)
    for group in every[:: max(1, ceil(len(entries) / MOST_LOOKED_AT))]:
        outputs = (
            outputs_ahead(connection, method, group) if use_cache or not method.endpoint else None
        )
        nothing: list[Output | None] = [None] * len(group)
        for entry, output in zip(group, outputs or nothing, strict=True):
            text = (entry.reference or "-") if output is None else (output.text or "")
            yield Translation(entry, text), output is not None


def _guessed(requests: Sequence[Request]) -> Range:
    total = NOTHING
    for request in requests:
        total = total + guess_request(request)
    return total


def _cost(price: Price | None, read: Range, written: Range) -> Range | None:
    if price is None:
        return None
    low, expected, high = (
        price.cost(Usage(round(prompt), round(answer)))
        for prompt, answer in (
            (read.low, written.low),
            (read.expected, written.expected),
            (read.high, written.high),
        )
    )
    return Range(low, expected, high)
