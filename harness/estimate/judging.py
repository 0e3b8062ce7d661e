"""What judges will take for a run's outputs, before there are any: their prompts with the references as outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from corpora.model.entry import Entry
from harness.annotators.judges import JUDGES, make_judge
from harness.core.calls import Price, Usage
from harness.endpoint.keys import no_key
from harness.estimate.earlier import NOTHING, Range, guess_request
from harness.setup.plan import Plan
from scoring.core.inventory import read_by
from scoring.core.translation import Translation

MOST_LOOKED_AT = 200
"""Entries whose prompts are written out; of more, so many spread evenly stand for all."""

WRITTEN = Range(20, 80, 400)
"""Tokens of a judgement."""


@dataclass(frozen=True, slots=True)
class JudgeEstimate:
    """What judges will take; outputs that were judged before cost nothing and are not looked for."""

    model: str
    calls: Range
    cost_usd: Range | None
    """US dollars; None: the price is unknown."""


def estimate_judges(entries: Sequence[Entry], plan: Plan) -> JudgeEstimate | None:
    """Estimate what judging the outputs of these entries takes; None where no judge is asked."""
    scoring = plan.scoring
    asked = [id_ for id_ in JUDGES if read_by(id_, scoring.wanted)]
    if scoring.judge is None or not asked or not entries:
        return None
    step = max(1, ceil(len(entries) / MOST_LOOKED_AT))
    looked = [Translation(each, each.reference or "-") for each in entries[::step]]
    scale = len(entries) / len(looked)
    calls, prompts, price = 0, NOTHING, None
    for id_ in asked:
        judge = make_judge(
            id_, scoring.judge, scoring.judge_model, key=no_key, prices=plan.options.prices
        )
        requests = [request for each in looked for request in judge.requests(each)]
        calls += len(requests)
        for request in requests:
            prompts = prompts + guess_request(request)
            price = request.price
    number = calls * scale
    cost = _cost(price, prompts.times(scale), WRITTEN.times(number))
    return JudgeEstimate(scoring.judge_model or "", Range(0, number, number), cost)


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
