"""What a run will take, before it is begun: calls, tokens, money and time, each with its bounds.

Own earlier runs know best. Where there are none, tokens are guessed from the very prompts that would be
sent, money follows from the price table, and time is a rough guess that says so. An unknown price stays
unknown (DESIGN M5).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import ceil, sqrt

from corpora.files.json_types import JsonObject
from corpora.model.entry import Entry
from harness.core.calls import Price
from harness.core.failures import UsageError
from harness.endpoint.budget import most_cost, too_dear
from harness.endpoint.endpoints import is_loopback
from harness.estimate.earlier import (
    NOTHING,
    Earlier,
    JudgeEstimate,
    Range,
    first_request,
    groups,
    guess,
    guess_request,
    look_back,
    priced,
    shows_requests,
    stored_reply,
)
from harness.method.method import Method
from harness.setup.plan import Plan
from harness.shipped_methods.pipeline import MOST_ROUNDS

MOST_GROUPS = 1000
"""Calls whose prompts are written out; of more, that many spread evenly stand for all."""

OFTEN = 1.645  # Standard deviations within which nine of ten runs end

NEVER_EXACT = 0.03
"""Share that stays open even where the same was run before: models do not answer the same twice."""

OTHER_SETUP = 0.3
"""Share that stays open where only method and model were run before, with other prompts or options."""


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What a run will take; each range holds in about nine of ten runs where earlier runs speak for it."""

    entries: int
    answered: int
    """Entries whose answer is in the store already: they cost neither money nor time."""
    calls: Range
    prompt_tokens: Range | None
    """None where nothing tells: a plug-in that was never run."""
    completion_tokens: Range | None
    cost_usd: Range | None
    """US dollars to be spent; None: the price is unknown."""
    seconds: Range | None
    from_what: tuple[str, ...] = field(default=())
    """Sentences: where tokens, money and time come from."""
    budget: str = ""
    """Why not a single call can go out under the run's budget; empty where one can."""
    judges: JudgeEstimate | None = None
    """What judges will take beside all of that; None where none is asked."""

    def as_json(self) -> JsonObject:
        """Return all of it as JSON values."""
        return asdict(self) | {"from_what": list(self.from_what)}


def estimate(connection: sqlite3.Connection, entries: Sequence[Entry], method: Method, plan: Plan) -> RunEstimate:
    """Estimate a run of a method over entries; nothing is sent, and ``method`` needs no key."""
    earlier = look_back(connection, method)
    if method.endpoint is None:
        return _without_calls(len(entries), earlier)
    if not shows_requests(method):
        return _of_plugin(len(entries), earlier, plan)
    ahead = _Ahead(connection, entries, method, plan)
    tokens, tokens_from = _tokens(ahead, earlier)
    cost, cost_from = _cost(ahead, tokens, earlier, plan)
    count = len(ahead.open) * ahead.scale
    calls = _tries(ahead.method).times(round(count))
    if earlier is not None and earlier.calls:
        rate = sum(earlier.calls) / len(earlier.calls)
        expected = rate * ahead.entries if count else 0.0
        most = max(max(earlier.calls) * ahead.entries, expected)
        calls = Range(min(round(count), expected), expected, most)
    seconds, seconds_from = _seconds(ahead, calls, tokens, earlier, plan)
    known = f"{ahead.answered:,} answers are in the store already" if ahead.answered else ""
    basis = [tokens_from, cost_from, seconds_from, known]
    return RunEstimate(
        entries=len(entries),
        answered=ahead.answered,
        calls=calls,
        prompt_tokens=None if ahead.by_characters else tokens[0],
        completion_tokens=None if ahead.by_characters else tokens[1],
        cost_usd=cost,
        seconds=seconds,
        from_what=tuple(filter(None, basis)),
        budget=_too_small(ahead, plan.run.budget_usd),
    )


def _too_small(ahead: _Ahead, budget: float | None) -> str:
    """Return why a budget lets not a single open call through; a run sets aside what each can cost at most."""
    if budget is None or not ahead.open:
        return ""
    try:
        cheapest = min((request for request, _ in ahead.open), key=most_cost)
    except UsageError as error:
        return str(error)
    least = most_cost(cheapest)
    if least <= budget:
        return ""
    return f"No call can go out. {too_dear(least, cheapest.most_completion_tokens, budget)}"


class _Ahead:
    """The calls of a planned run as far as they can be seen, and those of them that are still open."""

    def __init__(self, connection: sqlite3.Connection, entries: Sequence[Entry], method: Method, plan: Plan) -> None:
        self.method = method
        every = groups(entries, method.setup.batch_size)
        step = max(1, ceil(len(every) / MOST_GROUPS))
        looked = every[::step]
        requests = [first_request(method, group) for group in looked]
        seen = [(r, g) for r, g in zip(requests, looked, strict=True) if r is not None]
        use = plan.run.use_cache
        name = method.setup.method
        self.open = [(r, g) for r, g in seen if not (use and stored_reply(connection, r, g, name))]
        whole = sum(map(len, looked)) or 1
        self.scale = len(entries) / whole
        """How many entries each one that was examined stands for."""
        self.entries = round(self.scale * sum(len(g) for _, g in self.open))
        self.answered = len(entries) - self.entries if seen else 0

    @property
    def price(self) -> Price | None:
        """The price of a call, the same for all."""
        return self.open[0][0].price if self.open else None

    @property
    def by_characters(self) -> bool:
        """True where the endpoint is a service that counts characters instead of tokens."""
        return bool(self.open) and self.open[0][0].characters > 0


# Tokens


def _tokens(ahead: _Ahead, earlier: Earlier | None) -> tuple[tuple[Range, Range], str]:
    prompts = [guess_request(request) for request, _ in ahead.open]
    answers = [guess(entry.reference) for _, group in ahead.open for entry in group]
    seen = earlier.entries if earlier else []
    if earlier is None or not seen:
        guessed = "tokens guessed from the prompts; no earlier run to go by"
        basis = "" if ahead.by_characters else guessed
        often = _tries(ahead.method)
        read, written = (sum(part, NOTHING).times(ahead.scale) for part in (prompts, answers))
        return (read.by(often), written.by(Range(0.8, 1.15, 1.6)).by(often)), basis
    read_before = [(past.prompt, past.guessed_prompt) for past in seen]
    written_before = [(past.completion, past.guessed_completion) for past in seen]
    prompt = _projected(read_before, prompts, ahead, earlier)
    answer = _projected(written_before, answers, ahead, earlier)
    return (prompt, answer), f"tokens as in {_runs(earlier)}" if ahead.entries else ""


def _projected(
    pairs: Sequence[tuple[float, float]], guessed: Sequence[Range], ahead: _Ahead, earlier: Earlier
) -> Range:
    """Carry what was measured over to other texts, in the proportion of what is guessed of both.

    The bounds come from how far single entries strayed from that proportion (the variance of a sum of new
    entries, plus that of the proportion itself).
    """
    # Guessed 100 and 200 tokens, measured 120 and 260: the proportion is 380 / 300 = 1.27. Entries to come that are
    # guessed at 3,000 tokens are expected to take 3,800, give or take what the two strayed from 1.27.
    base = sum(guess_ for _, guess_ in pairs)
    if not base:
        return Range(*(sum(m for m, _ in pairs) / len(pairs) * ahead.entries,) * 3)
    ratio = sum(m for m, _ in pairs) / base
    expected = ratio * sum(range_.expected for range_ in guessed) * ahead.scale
    strayed = sum((m - ratio * g) ** 2 for m, g in pairs) / max(1, len(pairs) - 1)
    spread = OFTEN * sqrt(strayed * ahead.entries * (1 + ahead.entries / len(pairs)))
    open_ = expected * (NEVER_EXACT if earlier.same else OTHER_SETUP)
    return _around(expected, spread + open_)


def _tries(method: Method) -> Range:
    """Guess how often a method asks for each entry: a pipeline asks again, and lets words be looked up."""
    setup = method.setup
    if setup.method != "pipeline":
        return Range(1, 1, 1)
    again = 1 + setup.max_retries
    rounds = Range(1, 2, 1 + MOST_ROUNDS) if setup.tools_enabled else Range(1, 1, 1)
    return Range(1, min(1.4, again), again).by(rounds)


# Money


def _cost(ahead: _Ahead, tokens: tuple[Range, Range], earlier: Earlier | None, plan: Plan) -> tuple[Range | None, str]:
    if not ahead.open:
        return NOTHING, ""
    price = ahead.price
    if price is not None and not (price.input_per_million or price.output_per_million or price.per_million_characters):
        return NOTHING, price.source
    seen = [s for s in earlier.entries if s.cost is not None] if earlier else []
    paid = sum(s.cost or 0.0 for s in seen)
    used = sum(s.prompt + s.completion for s in seen)
    if earlier and paid and used and plan.options.prices is None:
        return (tokens[0] + tokens[1]).times(paid / used), f"money as paid in {_runs(earlier)}"
    if price is None:
        name = f"{ahead.method.setup.provider} {ahead.method.setup.model_slug}"
        return None, f"the price of {name} is unknown: --prices FILE would tell it"
    characters = round(sum(request.characters for request, _ in ahead.open) * ahead.scale)
    return priced(price, *tokens, characters), f"prices: {price.source}"


# Time


def _seconds(
    ahead: _Ahead, calls: Range, tokens: tuple[Range, Range], earlier: Earlier | None, plan: Plan
) -> tuple[Range, str]:
    if not ahead.open:
        return NOTHING, ""
    at_once = min(plan.run.concurrency, max(1, len(ahead.open)))
    if earlier is not None and earlier.paces:
        return _pace(earlier, at_once).times(ahead.entries), f"time as in {_runs(earlier)}"
    local = is_loopback(ahead.method.endpoint or "")
    first, per_call = (0.5, 0.04) if local else (0.7, 0.012)
    written = NOTHING if ahead.by_characters else tokens[1]
    busy = 1 if local else at_once
    guessed = (calls.expected * first + written.expected * per_call) / busy
    return Range(guessed / 4, guessed, guessed * 4), "time is a guess: this model was never run here"


def _pace(earlier: Earlier, at_once: int) -> Range:
    """Return the seconds an entry; where more or fewer calls go at once, as many times faster or slower.

    What a run takes beside the answers is mostly its beginning, which a longer one does not take again: the
    least is what the endpoint alone would take.
    """
    paces = [pace.seconds * pace.at_once / at_once for pace in earlier.paces]
    known = earlier.same and all(pace.at_once == at_once for pace in earlier.paces)
    steady = _steady(paces, earlier, 0.2 if known else 0.6)
    alone = min(pace.answering for pace in earlier.paces) / at_once
    return Range(min(steady.low, 0.8 * alone), (steady.expected + alone) / 2, steady.high)


def _steady(paces: Sequence[float], earlier: Earlier, open_: float) -> Range:
    """Return the mean pace; short runs tell little of how fast a long one will be."""
    expected = sum(paces) / len(paces)
    spread = expected * (open_ + 1 / sqrt(sum(pace.entries for pace in earlier.paces)))
    return Range(max(0.0, min(*paces, expected - spread)), expected, max(*paces, expected + spread))


def _without_calls(count: int, earlier: Earlier | None) -> RunEstimate:
    """Estimate a method that asks nobody: only scoring takes time."""
    if earlier is not None and earlier.paces:
        pace = _steady([pace.seconds for pace in earlier.paces], earlier, 0.4)
        basis = f"time as in {_runs(earlier)}"
    else:
        pace, basis = Range(0.0005, 0.002, 0.02), "time is a guess: this method was never run here"
    return RunEstimate(
        entries=count,
        answered=0,
        calls=NOTHING,
        prompt_tokens=NOTHING,
        completion_tokens=NOTHING,
        cost_usd=NOTHING,
        seconds=pace.times(count),
        from_what=("nothing is asked of anyone, so nothing is charged", basis),
    )


def _of_plugin(count: int, earlier: Earlier | None, plan: Plan) -> RunEstimate:
    """Estimate a plug-in that calls an endpoint: only earlier runs tell anything of it."""
    unknown = "a plug-in's calls cannot be seen ahead"
    nothing = RunEstimate(count, 0, Range(0, count, count * 10), None, None, None, None, (unknown,))
    if earlier is None or not earlier.entries:
        return nothing
    seen = earlier.entries
    open_ = NEVER_EXACT if earlier.same else OTHER_SETUP
    costs = [past_entry.cost for past_entry in seen]
    known = [cost for cost in costs if cost is not None]

    def total(values: Sequence[float]) -> Range:
        mean = sum(values) / len(values)
        strayed = sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)
        spread = OFTEN * sqrt(strayed * count * (1 + count / len(values)))
        return _around(mean * count, spread + open_ * mean * count)

    pace = _pace(earlier, min(plan.run.concurrency, count)) if earlier.paces else None
    rate = sum(earlier.calls) / len(earlier.calls) if earlier.calls else 1.0
    return RunEstimate(
        entries=count,
        answered=0,
        calls=Range(count, rate * count, max([*earlier.calls, rate]) * count),
        prompt_tokens=total([past_entry.prompt for past_entry in seen]),
        completion_tokens=total([past_entry.completion for past_entry in seen]),
        cost_usd=total(known) if len(known) == len(costs) else None,
        seconds=None if pace is None else pace.times(count),
        from_what=(f"everything as in {_runs(earlier)}",),
    )


# Words and ranges


def _runs(earlier: Earlier) -> str:
    runs = "1 earlier run" if earlier.runs == 1 else f"{earlier.runs} earlier runs"
    return runs if earlier.same else f"{runs} with this model and other prompts or options"


def _around(expected: float, spread: float) -> Range:
    return Range(max(0.0, expected - spread), expected, expected + spread)
