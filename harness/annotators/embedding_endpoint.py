"""Embeddings from an OpenAI-compatible ``/v1/embeddings`` endpoint, on this machine or elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from harness.annotators.annotator import Received
from harness.core.calls import Calls, Reply, Request
from harness.core.failures import CallError, ErrorClass, NoCredit, Refused, Transient, UsageError
from harness.endpoint.budget import LOCAL, Prices, bounded
from harness.endpoint.endpoints import Endpoint, KeySource, chat_endpoint, find_key
from harness.endpoint.reply import reported_cost, usage
from scoring.core.setup import EmbeddingFacts

MOST_INPUTS = 64
"""Texts in one call."""

_AT_ONCE = 4
"""Calls under way."""

_TOO_MANY = frozenset({413, 422})
"""Statuses by which servers say that a call holds more than they take."""

_AGAIN = (
    "then `rosetta score --rescore last --metrics semantic_score`, with --embeddings and --embeddings-model where "
    "the run was begun without them"
)
"""What follows each fix: a run remembers the endpoint and model that it was begun with."""


@dataclass(frozen=True, slots=True)
class Embedded(Reply):
    """A reply that holds vectors."""

    rows: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    """One for each text of the call, in its order."""


class EndpointEmbedder:
    """Asks an endpoint; see ``Embedder``."""

    def __init__(
        self,
        where: str,
        model: str | None,
        *,
        key: KeySource = find_key,
        offline: bool = False,
        prices: Path | None = None,
    ) -> None:
        if not model:
            raise UsageError("--embeddings names an endpoint: name its model with --embeddings-model.")
        endpoint = chat_endpoint(where.rstrip("/").removesuffix("/embeddings"))
        self.here = endpoint.local
        if offline and not endpoint.local:
            raise UsageError(
                "--offline is on, and the endpoint of --embeddings is not on this machine. Name a "
                "local folder or endpoint, or leave it out."
            )
        self.facts = EmbeddingFacts(model=model, endpoint=urlsplit(endpoint.url).hostname or endpoint.name, sha256=None)
        self.maker = f"embeddings-1:{endpoint.url}:{model}"
        self._endpoint, self._model = endpoint, model
        price = Prices(prices).price(endpoint.name, model)
        self._price = LOCAL if price is None and endpoint.local else price
        if self._price is not None:
            self._price = replace(self._price, output_per_million=0.0)  # vectors are no tokens
        secret_key = key(endpoint)
        self._headers = {} if secret_key is None else {"Authorization": f"Bearer {secret_key}"}

    def check_budget(self) -> None:
        bounded(self._price, None)

    async def embed(self, texts: Sequence[str], received: Received, calls: Calls) -> None:
        """Embed the texts (see ``Embedder``); raises CallError with status and fix, and none of the endpoint's own words.

        A refusal may quote the text that it refuses, and what is raised here is written on the card.
        """
        gate = asyncio.Semaphore(_AT_ONCE)

        async def one(batch: Sequence[str]) -> None:
            async with gate:
                received(batch, await self._batch(calls, batch))

        try:
            async with asyncio.TaskGroup() as group:
                for at in range(0, len(texts), MOST_INPUTS):
                    group.create_task(one(texts[at : at + MOST_INPUTS]))
        except ExceptionGroup as failures:
            first = _first(failures)
            if isinstance(first, CallError):
                # What happened without a full stop, with the kind of failure beside a bare status.
                kind = f" ({first.error_class})" if first.status else ""
                first.args = (f"{str(first).rstrip('.')}{kind}: {_mend(first, self._endpoint)}, {_AGAIN}.",)
            raise first from None

    async def _batch(self, calls: Calls, batch: Sequence[str]) -> npt.NDArray[np.float64]:
        """Request one batch; where it is too large for the endpoint, its halves."""
        try:
            return await self._rows(calls, batch)
        except Refused as failure:
            if failure.status not in _TOO_MANY or len(batch) == 1:
                raise
        middle = len(batch) // 2
        halves = [await self._batch(calls, half) for half in (batch[:middle], batch[middle:])]
        if halves[0].shape[1] != halves[1].shape[1]:
            raise _malformed("The endpoint gave vectors of different lengths.")
        return np.concatenate(halves)

    async def _rows(self, calls: Calls, batch: Sequence[str]) -> npt.NDArray[np.float64]:
        request = Request(
            provider=self._endpoint.name,
            url=f"{self._endpoint.url}/embeddings",
            body={"model": self._model, "input": list(batch), "encoding_format": "float"},
            read=partial(read_embeddings, count=len(batch)),
            headers=self._headers,
            price=self._price,
            cacheable=False,  # so that no word of a refusal is kept; vectors have a memo of their own
        )
        reply = await calls.send(request)
        assert isinstance(reply, Embedded)  # noqa: S101  read_embeddings makes no other
        return reply.rows


def read_embeddings(decoded: Any, count: int) -> Embedded:
    """Read the decoded JSON of a reply to ``count`` texts; raises Transient where it does not answer them.

    The items may come in any order if they say their place.
    """
    items = decoded["data"]
    if len(items) != count:
        raise _malformed(f"{len(items)} embeddings came for {count} texts.")
    ordered = {item.get("index", place): item["embedding"] for place, item in enumerate(items)}
    if set(ordered) != set(range(count)):
        raise _malformed("The embeddings do not say which text each belongs to.")
    vectors = [ordered[place] for place in range(count)]
    if not all(isinstance(vector, list) and vector for vector in vectors):
        raise _malformed("An embedding is no list of numbers.")
    if len({len(vector) for vector in vectors}) != 1:
        raise _malformed("The endpoint gave vectors of different lengths.")
    given = np.array(vectors)
    if given.dtype.kind not in "iuf":  # words, truth values, or integers that are too large
        raise _malformed("An embedding holds something that is not a number.")
    rows = given.astype(np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all() or np.abs(rows).max() > 1e18:
        raise _malformed("An embedding holds something that is no finite number.")
    cost = reported_cost(decoded)
    return Embedded("embeddings", usage=usage(decoded), reported_cost_usd=cost, rows=rows)


def _malformed(message: str) -> Transient:
    return Transient(ErrorClass.MALFORMED, message)


def _mend(failure: CallError, endpoint: Endpoint) -> str:
    """Return what a person can do about a failure before the scores are asked for again."""
    if failure.error_class in _MENDS:
        return _MENDS[failure.error_class]
    if isinstance(failure, NoCredit):
        return f"pay in at {endpoint.name}, whose account is empty"
    if failure.error_class is ErrorClass.AUTH:
        return f"store a key that holds with `rosetta key set {endpoint.name}`"
    if failure.status == 404:
        return "look at the address of --embeddings and the name of --embeddings-model"
    return "look at --embeddings-model: the endpoint does not take what it was sent"


_MENDS = {
    ErrorClass.CONNECTION: "start the server",
    ErrorClass.TIMEOUT: "wait until the server is less busy",
    ErrorClass.SERVER: "wait until the server works again",
    ErrorClass.RATE_LIMIT: "wait until the endpoint takes calls again",
    ErrorClass.TRUNCATED: "wait until the connection holds",
    ErrorClass.MALFORMED: "name an endpoint of embeddings with --embeddings",
    ErrorClass.OFFLINE: "name a model on this machine with --embeddings",
}


def _first(failures: ExceptionGroup[Exception]) -> Exception:
    """Return the first of several failures: the others follow from the same fault."""
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first
