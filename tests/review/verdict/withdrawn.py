"""A certificate after a withdrawal."""

from __future__ import annotations

from random import Random

from review.log.event import Event
from review.log.payloads import Scope, Withdraw
from review.verdict.certificate.evidence import Evidence
from tests.review.verdict.histories import (
    ORGANISATION,
    WALL,
    Chain,
)


def withdrawn(evidence: Evidence, scope: Scope = Scope.EVERYTHING) -> list[Event]:
    """Let the first reviewer take back what they gave, on a laptop of the review."""
    who, batch = next(iter(evidence.key.orders)), evidence.key.batches[0]
    device = next(e.device for e in evidence.events if e.device != ORGANISATION)
    chain = Chain(Random(1), device)
    chain.events = [e for e in evidence.events if e.device == device]
    chain.lamport = 10**6
    chain.write(Withdraw(wall=WALL, reviewer=who, batch=batch, scope=scope))
    return [*(e for e in evidence.events if e.device != device), *chain.events]
