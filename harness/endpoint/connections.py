"""What several runs of one process share on the way out: an event loop, and the connections that live in it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from harness.endpoint.client import EndpointClient

Value = TypeVar("Value")

_LOOKS = 5
"""Rounds of the loop in which it hears of connections that were closed while no run was under way."""


class Connections:
    """An event loop with clients that stay open from one run to the next; runs follow each other.

    Keys travel with each request and nothing else is remembered of one, so clients differ in their limits alone.
    Belongs to one thread; close it at the end.
    """

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._clients: dict[tuple[float, bool], EndpointClient] = {}

    def client(self, *, timeout_seconds: float, offline: bool) -> EndpointClient:
        """Return the client with these limits; its connections stay open until ``close``."""
        limits = timeout_seconds, offline
        if limits not in self._clients:
            self._clients[limits] = EndpointClient(timeout_seconds=timeout_seconds, offline=offline)
        return self._clients[limits]

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Carry out one run's calls and return what they give; nothing that they began goes on afterwards."""
        return self._runner.run(_alone(work))

    def close(self) -> None:
        """Close all connections, and the loop."""
        try:
            for client in self._clients.values():
                self._runner.run(client.close())
        finally:
            self._runner.close()


async def _alone(work: Coroutine[Any, Any, Value]) -> Value:
    """Await work, and break off what a method left behind in the loop, as ``asyncio.run`` does."""
    for _ in range(_LOOKS):
        await asyncio.sleep(0)
    try:
        return await work
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for each in left:
            each.cancel()
        await asyncio.gather(*left, return_exceptions=True)
