"""Carries the calls of a run: from the cache where it may, within the budget, at the endpoint's pace,
again where it failed, and with a record of every try.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_bytes

from corpora.model.terms import Clearance
from harness.core.calls import Reply, Request, Usage
from harness.core.failures import (
    BudgetReached,
    CallError,
    ErrorClass,
    HarnessError,
    NoCredit,
    NoServer,
    RateLimited,
    Refused,
    UsageError,
)
from harness.core.storage import storable
from harness.endpoint.budget import Spending, most_cost
from harness.endpoint.client import EndpointClient
from harness.endpoint.endpoints import is_loopback, presets
from harness.endpoint.limiter import Limiter, PauseNotice, RetryPolicy, Slot
from harness.method.method import Attempt, Boxed, Method
from harness.run.events import InFlight, Pending
from harness.store.replies import StoredReply, request_key


@dataclass(frozen=True, slots=True)
class RunCalls:
    """What all calls of a run share."""

    method: str
    client: EndpointClient
    clearance: Clearance
    """Of the texts that are asked about."""
    limiter: Limiter
    spending: Spending
    policy: RetryPolicy
    flight: InFlight
    find: Callable[[bytes], StoredReply | None]
    """Looks a reply up that may be used again; gives None where the cache is off."""
    keep: Callable[[StoredReply], None]
    """Takes a reply to be stored."""
    reuse: bool = True
    """False: replies are kept for the entry screen, but never found again."""
    asked: set[bytes] = field(default_factory=set)
    """Keys of the replies kept by this run."""
    answering: set[str] = field(default_factory=set)
    """URLs at which something has answered, well or badly."""
    let_in: set[str] = field(default_factory=set)
    """URLs that gave a good reply, and so take the key."""
    earlier: bool = False
    """True where an earlier stretch of the run has outputs: its key was taken."""
    draw: Callable[[], float] = random.random


def limiter_for(method: Method, most: int, shared: Path | None = None) -> Limiter:
    """Return a limiter that lets at most that many calls go at once: an endpoint is tried with fewer first, a box with one.

    ``shared``: the folder in which processes that ask the same endpoint tell each other of its 429s.
    """
    if isinstance(method, Boxed):
        return Limiter(1)
    if not method.endpoint:
        return Limiter(most)
    notice = None if shared is None else PauseNotice(shared, method.endpoint)
    return Limiter(most, start=max(4, most // 4), notice=notice)


@dataclass(slots=True)
class CallRunner:
    """Carries the calls for one entry (or one batch of entries) and remembers what they took."""

    shared: RunCalls
    positions: Sequence[int]
    slot: Slot
    holds_slot: bool = True
    attempts: list[Attempt] = field(default_factory=list)
    usage: Usage | None = None
    cost_usd: float | None = 0.0
    spent_usd: float = 0.0
    latency_seconds: float | None = None
    end: HarnessError | None = None
    """Why no further call of the run can be made, None where it can."""
    asked: int = 0
    """Calls answered by the endpoint."""
    reused: int = 0
    """Calls answered from the cache."""
    _waited: float = 0.0

    @property
    def secret(self) -> bool:
        """True where an entry is secret: nothing of its calls is kept, nor any message about them."""
        return not self.shared.clearance.secret.isdisjoint(self.positions)

    async def send(self, request: Request) -> Reply:
        """Carry one call; raises CallError when it finally failed, BudgetReached when money ran out."""
        key = request_key(request, self.shared.method)
        stored = self.shared.find(key) if self._kept(request) else None
        if stored is not None and request.accept(stored.reply):
            self.reused += 1
            self._count(stored.reply.usage, stored.cost_usd)
            self.attempts.append(Attempt(key, None, stored.latency_seconds, cached=True))
            return stored.reply
        attempt = 1
        while True:
            try:
                return await self._ask(key, request)
            except CallError as failure:
                wait = self.shared.policy.seconds_before_retry(failure, attempt, self.shared.draw)
                if isinstance(failure, NoServer) and request.url not in self.shared.answering:
                    wait = None  # it never answered: most likely nothing runs there, so waiting is for nothing
                if wait is None:
                    self.end = self.end or self._hopeless(request, failure)
                    raise
                # Wait with the slot given back, so that other entries continue meanwhile.
                flight = self.shared.flight
                flight.retries += 1
                reason = str(failure.status or failure.error_class.replace("_", " "))
                pending = Pending(attempt + 1, self.shared.policy.most_attempts, flight.clock() + wait, reason)
                flight.pending.update(dict.fromkeys(self.positions, pending))
                self.give_slot_back()
                self._waited = wait
                try:
                    await asyncio.sleep(wait)
                    self.slot = await self.shared.limiter.acquire()
                    self.holds_slot = True
                finally:
                    for position in self.positions:
                        flight.pending.pop(position, None)
            attempt += 1

    async def _ask(self, key: bytes, request: Request) -> Reply:
        spending = self.shared.spending
        reserved = await self._reserve(request)
        charged = reserved  # kept whole unless we learn better: a broken call may have been charged
        bill: Reply | None = None
        self.shared.limiter.begins(self.slot)
        started = time.perf_counter()
        try:
            bill, status = await self.shared.client.send(request)
            latency = time.perf_counter() - started
            cost = _cost(request, bill)
            charged = reserved if cost is None else cost
        except CallError as failure:
            if self.secret:  # the endpoint may quote the entry
                failure.said = ""
            bill = failure.bill
            if failure.status is not None:
                self.shared.answering.add(request.url)
            charged = self._charge(request, failure, reserved)
            self._note_failure(failure, time.perf_counter() - started)
            raise
        finally:
            listed = None if bill is None else _listed(request, bill)
            spending.settle(reserved, charged, billed=bill is not None, listed=listed)
            self.spent_usd += charged
        self.shared.answering.add(request.url)
        self.shared.let_in.add(request.url)
        self.shared.limiter.succeeded(self.slot)
        stored = StoredReply(bill, latency, cost)
        self.asked += 1
        self._count(stored.reply.usage, stored.cost_usd)
        self.latency_seconds = (self.latency_seconds or 0.0) + stored.latency_seconds
        kept = self._keep(key, request, stored) if self._kept(request) else None
        waited = self._take_waited()
        self.attempts.append(Attempt(kept, status, stored.latency_seconds, waited))
        return bill

    def _charge(self, request: Request, failure: CallError, reserved: float) -> float:
        """Return what a failed call is charged: as its reply says, else all that it can cost, where it can.

        Where nobody knows whether money was taken, the entry's cost is unknown from then on (M5).
        """
        if failure.bill is None:
            lost = failure.status is None and failure.error_class is not ErrorClass.CONNECTION
            taken = failure.taken or (lost and not isinstance(failure, Refused))
            if isinstance(failure, RateLimited) or not taken:
                return 0.0
            if not (request.price is not None and request.price.cost(Usage(1, 1), 1) == 0):
                self._count(None, None)
            return reserved
        cost = _cost(request, failure.bill)
        self._count(failure.bill.usage, cost)
        return reserved if cost is None else cost

    async def _reserve(self, request: Request) -> float:
        """Set aside the most that the call can cost; what keeps it from going out ends the run."""
        spending = self.shared.spending
        try:
            amount = 0.0 if spending.cap is None else most_cost(request)
            return await spending.reserve(amount, request.most_completion_tokens)
        except (BudgetReached, UsageError) as end:
            self.end = end
            raise

    def _kept(self, request: Request) -> bool:
        return request.cacheable and not self.secret

    def _keep(self, key: bytes, request: Request, stored: StoredReply) -> bytes:
        """Store a reply; under a key that nobody looks for where it must not be found again."""
        shared = self.shared
        reusable = shared.reuse and key not in shared.asked and request.accept(stored.reply)
        if reusable:
            shared.asked.add(key)
        else:
            key = token_bytes(len(key))
        shared.keep(replace(stored, key=key, body=request.body))
        return key

    def _note_failure(self, failure: CallError, seconds: float) -> None:
        if isinstance(failure, RateLimited):
            self.shared.flight.rate_limited += 1
            self.shared.limiter.rate_limited(self.slot, failure.retry_after)
        kind = failure.error_class
        self.attempts.append(
            Attempt(
                status=failure.status,
                latency_seconds=seconds,
                waited_seconds=self._take_waited(),
                error_class=kind,
                error=f"The call failed ({kind})." if self.secret else storable(str(failure)),
            )
        )

    def _count(self, usage: Usage | None, cost: float | None) -> None:
        if usage is not None:
            self.usage = usage + (self.usage or Usage())
        known = self.cost_usd is not None and cost is not None
        self.cost_usd = (self.cost_usd or 0.0) + (cost or 0.0) if known else None

    def _hopeless(self, request: Request, failure: CallError) -> HarnessError | None:
        """Return why no entry of the run could fare better, so that none is stored as failed; None where one could.

        A 403 may be about one text alone, where others were let in before; a 401 never is.
        """
        if isinstance(failure, NoServer):
            return not_there(request, failure)
        if not isinstance(failure, Refused):
            return None
        if failure.error_class in {ErrorClass.CONNECTION, ErrorClass.OFFLINE}:
            return HarnessError(str(failure))
        if isinstance(failure, NoCredit):
            return HarnessError(
                f"The account at {request.provider} has no credit left: {self._in_words(request, failure)}. "
                "Pay in there, or use another provider."
            )
        known = request.url in self.shared.let_in or self.shared.earlier
        if failure.error_class is not ErrorClass.AUTH or (known and failure.status != 401):
            return None
        return HarnessError(
            f"The key is refused, or none is given: {self._in_words(request, failure)}. "
            f"Look at the key: `rosetta key set {request.provider}`."
        )

    def _in_words(self, request: Request, failure: CallError) -> str:
        """Return what the endpoint said, without a full stop; for secret entries, which it may quote, the kind alone."""
        if request.cacheable and not self.secret:
            return str(failure).removesuffix(".")
        kind = f"The call failed ({failure.error_class})"
        return f"HTTP {failure.status}" if failure.status else kind

    def _take_waited(self) -> float:
        waited, self._waited = self._waited, 0.0
        return waited

    def give_slot_back(self) -> None:
        """Release the slot; a no-op if it is not held."""
        if self.holds_slot:
            self.holds_slot = False
            self.shared.limiter.release(self.slot)


def _cost(request: Request, reply: Reply) -> float | None:
    """Return the call's cost: as the provider reports it, else by the price table, else unknown (M5)."""
    reported = reply.reported_cost_usd
    return _listed(request, reply) if reported is None else reported


def _listed(request: Request, reply: Reply) -> float | None:
    """Return what a call costs by the price table; None where price or usage is unknown."""
    if request.price is None:
        return None
    by_tokens = request.price.input_per_million or request.price.output_per_million
    if by_tokens and reply.usage is None:
        return None
    return request.price.cost(reply.usage or Usage(), request.characters)


def not_there(request: Request, failure: NoServer) -> HarnessError:
    """Return the error of a server that is not there, with how one of this machine is started if its name is known."""
    if not is_loopback(request.url):
        return HarnessError(str(failure))
    preset = presets("chat").get(request.provider)
    note = f" {preset.note}." if preset is not None and preset.note else ""
    return HarnessError(f"{failure} Nothing listens there: is the server running?{note}")
