"""The one way out to endpoints: one request out, one decoded reply or a named failure back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import wait
from contextlib import suppress
from contextvars import ContextVar, copy_context
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from corpora.model.terms import Clearance
from corpora.model.vocabularies import Sending
from harness.core.calls import Reply, Request
from harness.core.failures import (  # fmt: skip
    CallError,
    ErrorClass,
    HarnessError,
    NoCredit,
    RateLimited,
    Refused,
    Transient,
)
from harness.core.storage import storable
from harness.endpoint import offline
from harness.endpoint.endpoints import NEWER_LIMIT, is_loopback
from harness.endpoint.limiter import retry_after
from harness.endpoint.reply import error_words, reported_cost, sound_reply, usage

if TYPE_CHECKING:
    from harness.endpoint.transport import HttpAnswer, Transport

MOST_SAID = 200
"""Characters of an endpoint's own words that are kept."""

_LOOKS = 5
"""Rounds of the loop in which it hears of connections that were closed while no run was under way."""

ALIVE_SECONDS = 1.0
"""How often a run looks whether what carries its calls is alive."""

Value = TypeVar("Value")


class EndpointClient:
    """Sends requests where a clearance allows it, and judges replies. Belongs to one event loop."""

    def __init__(self, clearance: Clearance, *, timeout_seconds: float) -> None:
        self._timeout = timeout_seconds
        self._clearance = clearance
        self._opened: Transport | None = None
        self._renamed: set[tuple[str, str]] = set()
        """URL and model of those that take ``max_completion_tokens`` alone."""

    async def send(self, request: Request) -> tuple[Reply, int]:
        """Carry one request; gives the reply and the HTTP status.

        Raises CallError: RateLimited, Transient or Refused.
        """
        local = False
        with suppress(ValueError):  # no address at all
            local = is_loopback(request.url)
        if (self._clearance.kept_here or offline.why()) and not local:
            raise Refused(
                ErrorClass.OFFLINE,
                f"{offline.why() or offline.OFFLINE}, and the endpoint is on another one. Name an endpoint on this machine.",
            )
        if not self._clearance.allows(request.url, local=local):
            raise Refused(ErrorClass.OFFLINE, "The terms of the corpus do not let its texts be sent to this address.")
        answer = await self._exchange(request)
        if not answer.is_success:
            raise _failure(request, answer)
        return _read(request, answer.body), answer.status

    async def _exchange(self, request: Request) -> HttpAnswer:
        """Send a request, with its output limit under the name that the model takes.

        Some models refuse ``max_tokens`` and say so; that is remembered once a request under the other name was
        not refused. What is counted, stored and looked up is the request as it was made.
        """
        body = request.body
        asked = request.url, str(body.get("model")) if isinstance(body, Mapping) else ""
        if asked in self._renamed and (renamed := _with_other_limit(request)):
            return await self._transport().exchange(renamed)
        answer = await self._transport().exchange(request)
        if not _refuses_limit(answer) or not (renamed := _with_other_limit(request)):
            return answer
        if _failure(request, answer).bill is not None:
            return answer
        again = await self._transport().exchange(renamed)
        if not _refuses_limit(again):
            self._renamed.add(asked)
        return again

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()

    def _transport(self) -> Transport:
        if self._opened is None:
            from harness.endpoint.transport import Transport

            self._opened = Transport(self._timeout, offline=self._clearance.kept_here)
        return self._opened


class Connections:
    """Shared by the runs of one process on the way out: an event loop, and clients that stay open from one to the next.

    Runs follow each other. Keys travel with each request and nothing else is remembered of one, so clients differ in their limits alone.
    Belongs to one thread; close it at the end.
    """

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._clients: dict[tuple[float, Sending], EndpointClient] = {}

    def client(self, clearance: Clearance, *, timeout_seconds: float) -> EndpointClient:
        """Return the client with these limits; its connections stay open until ``close``."""
        limits = timeout_seconds, clearance.sending
        if limits not in self._clients:
            self._clients[limits] = EndpointClient(clearance, timeout_seconds=timeout_seconds)
        return self._clients[limits]

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Carry out one run's calls and return what they give; nothing that they began continues afterwards."""
        return self._runner.run(_alone(work, asyncio.all_tasks))

    def close(self) -> None:
        try:
            for client in self._clients.values():
                self._runner.run(client.close())
        finally:
            self._runner.close()


_run: ContextVar[object] = ContextVar("run")
"""Which of the runs that share a loop a task belongs to; what a task begins inherits it."""


class OverlappingConnections(Connections):
    """The same for runs of which one may begin before another has ended: ``run`` may be called from any thread."""

    def __init__(self) -> None:
        super().__init__()
        self._over = asyncio.Event()
        self._begun: dict[object, WeakSet[asyncio.Task[Any]]] = {}
        self._loop = self._runner.get_loop()
        self._loop.set_task_factory(self._task)
        self._thread = Thread(target=self._carry, name="calls")
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Run the work (see ``Connections``); blocks while the calls of other runs continue."""
        mark = object()
        begun = self._begun[mark] = WeakSet()
        given = copy_context()
        given.run(_run.set, mark)
        try:
            whole = _alone(work, lambda: {task for task in begun if not task.done()})
            future = given.run(asyncio.run_coroutine_threadsafe, whole, self._loop)
            while not wait([future], ALIVE_SECONDS).done:
                if not self._thread.is_alive():
                    raise HarnessError("The calls broke off: a method has ended what carries them.")
            return future.result()
        finally:
            del self._begun[mark]

    def close(self) -> None:
        """Close the connections; every run has come to its end."""
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()
        super().close()

    def _carry(self) -> None:
        with suppress(BaseException):  # who waits for an answer hears of it
            self._runner.run(self._over.wait())

    def _task(self, loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(work, loop=loop, **more)
        if (begun := self._begun.get(_run.get(None))) is not None:
            begun.add(task)
        return task


async def _alone(work: Coroutine[Any, Any, Value], begun: Callable[[], set[asyncio.Task[Any]]]) -> Value:
    """Await work, and break off what a method left behind in the loop, as ``asyncio.run`` does.

    ``begun`` gives the tasks of the run that have not come to their end.
    """
    for _ in range(_LOOKS):
        await asyncio.sleep(0)
    try:
        return await work
    finally:
        left = begun() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def _with_other_limit(request: Request) -> Request | None:
    """Return the request with its output limit under the newer name, None if it has no limit under the older."""
    body = request.body
    if not isinstance(body, Mapping) or "max_tokens" not in body or "model" not in body:
        return None
    if NEWER_LIMIT in body:
        return None
    names = {"max_tokens": NEWER_LIMIT}
    return replace(request, body={names.get(name, name): value for name, value in body.items()})


def _refuses_limit(answer: HttpAnswer) -> bool:
    """Return whether a reply refuses the request and names the newer field of the output limit."""
    return answer.status in {400, 422} and NEWER_LIMIT.encode() in answer.body


def _read(request: Request, body: bytes) -> Reply:
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError) as error:
        failure = Transient(ErrorClass.MALFORMED, "The reply is not JSON.")
        failure.taken = True
        raise failure from error
    try:
        try:
            reply = request.read(decoded)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            words = "The reply has not the expected shape."
            raise Transient(ErrorClass.MALFORMED, words) from error
        return sound_reply(reply)
    except CallError as failure:
        failure.bill, failure.taken = _bill(decoded), True
        quoted = _fit(request, failure.said) if request.cacheable else ""
        failure.said = ""
        failure.args, failure.said = (_fit(request, str(failure)),), quoted
        raise


def _failure(request: Request, answer: HttpAnswer) -> CallError:
    """Return what a reply of another status than 2xx stands for, with the usage and cost that it states."""
    try:
        decoded: Any = json.loads(answer.body)
        words = error_words(decoded)
    except (ValueError, RecursionError):
        decoded, words = None, answer.body.decode("utf-8", "replace")
    failure = _named(answer, decoded, f"HTTP {answer.status}")
    if request.cacheable and (detail := _fit(request, words)):
        failure.said = f": {detail}"
    failure.bill, failure.taken = _bill(decoded), answer.status == 408 or answer.status >= 500
    return failure


_BILLS_DEPTH = 4
"""Levels of a failed reply in which its bill is looked for: ``error.metadata.response.usage``."""


def _bill(decoded: Any, depth: int = _BILLS_DEPTH) -> Reply | None:
    """Return the usage and cost that a failed reply states at any of its levels, the outermost first; else None."""
    if isinstance(decoded, str) and decoded.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            decoded = json.loads(decoded)  # a gateway hands on the reply behind it as text
    bill = Reply("", usage(decoded), reported_cost_usd=reported_cost(decoded))
    if bill.usage is not None or bill.reported_cost_usd is not None:
        return bill
    inner: list[Any] = decoded if isinstance(decoded, list) else []
    if isinstance(decoded, dict):  # what a model wrote states no bill
        inner = [value for name, value in decoded.items() if name != "choices"]
    return next(filter(None, (_bill(part, depth - 1) for part in inner)), None) if depth else None


def _named(answer: HttpAnswer, decoded: Any, message: str) -> CallError:
    status, _, body = answer
    hint = retry_after(answer.retry_after)
    if status == 402 or (status == 429 and b"insufficient_quota" in body):
        return NoCredit(ErrorClass.REQUEST, message, status)
    if status == 429:
        return RateLimited(message, hint, status)
    if status in {408, 425} or status >= 500:
        kind = ErrorClass.TIMEOUT if status == 408 else ErrorClass.SERVER
        return Transient(kind, message, status, hint)
    kind = ErrorClass.AUTH if status in {401, 403} else ErrorClass.REQUEST
    about_text = _about_the_text(status, decoded)
    return Refused(ErrorClass.FILTERED if about_text else kind, message, status)


def _about_the_text(status: int, decoded: Any) -> bool:
    error = decoded.get("error") if isinstance(decoded, dict) else None
    if not isinstance(error, dict):
        return False
    details = error.get("metadata")
    reasons = status == 403 and isinstance(details, dict) and bool(details.get("reasons"))
    return reasons or (
        status == 400 and error.get("code") in {"content_filter", "content_policy_violation", "data_inspection_failed"}
    )


def _fit(request: Request, words: str) -> str:
    """Extract the keys from words, then shorten them: a key that was cut could not be found any more."""
    text = storable(" ".join(words.split()))
    for secret in (*request.headers.values(), *request.body_secrets.values()):
        for piece in secret.split():
            if len(piece) >= 8:
                text = text.replace(piece, "•••")
    return text if len(text) <= MOST_SAID else text[: MOST_SAID - 1] + "…"
