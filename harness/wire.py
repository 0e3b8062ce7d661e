"""The one place that talks HTTP: one request out, one decoded reply or a named failure back."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from harness.calls import Reply, Request
from harness.endpoints import is_loopback
from harness.failures import CallError, ErrorClass, RateLimited, Refused, Transient
from harness.retry import retry_after

MOST_BYTES = 16 * 2**20
"""A reply larger than this is not read to its end."""

CONNECT_SECONDS = 15.0


class Wire:
    """A pool of connections to endpoints. Belongs to one event loop.

    The connections are aiohttp's, behind httpx's interface: httpx's own pool looks at every connection
    for every request, which costs more than the request itself from a few dozen connections on.
    """

    def __init__(self, *, timeout_seconds: float, offline: bool, connections: int) -> None:
        self._timeout = timeout_seconds
        self._offline = offline
        self._connections = connections
        self._client: httpx.AsyncClient | None = None

    async def send(self, request: Request) -> tuple[Reply, int]:
        """Carry one request; gives the reply and the HTTP status.

        Raises CallError: RateLimited, Transient or Refused.
        """
        if self._offline and not is_loopback(request.url):
            raise Refused(
                ErrorClass.OFFLINE,
                "--offline is on, and the endpoint is not on this machine. Leave --offline away, "
                "or name a local endpoint.",
            )
        response, body = await self._exchange(request)
        if not response.is_success:
            raise _failure(request, response, body)
        return _read(request, body), response.status_code

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()

    async def _exchange(self, request: Request) -> tuple[httpx.Response, bytes]:
        client = self._client or self._open()
        payload = _payload(request)
        headers = {"content-type": "application/json", **request.headers}
        try:
            async with (
                asyncio.timeout(self._timeout),
                client.stream("POST", request.url, content=payload, headers=headers) as response,
            ):
                return response, await _body(response)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise _timeout_or_lost(error, self._timeout) from error
        except (httpx.ReadError, httpx.RemoteProtocolError) as error:
            raise Transient(
                ErrorClass.TRUNCATED, "The connection broke within the reply."
            ) from error
        except httpx.TransportError as error:
            raise Transient(
                ErrorClass.CONNECTION, f"No connection to {_host(request.url)}."
            ) from error
        except (httpx.InvalidURL, UnicodeError) as error:
            raise Refused(ErrorClass.REQUEST, "The endpoint's address is not a URL.") from error

    def _open(self) -> httpx.AsyncClient:
        import aiohttp
        from httpx_aiohttp import AiohttpTransport

        context = ssl.create_default_context()

        def session() -> aiohttp.ClientSession:
            connector = aiohttp.TCPConnector(
                limit=self._connections, keepalive_timeout=60, ssl=context
            )
            return aiohttp.ClientSession(connector=connector, trust_env=not self._offline)

        self._client = httpx.AsyncClient(
            transport=AiohttpTransport(verify=context, client=session),
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
        )
        return self._client


def _payload(request: Request) -> bytes:
    body = request.body
    if request.body_secrets and isinstance(body, Mapping):
        body = {**body, **request.body_secrets}
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


async def _body(response: httpx.Response) -> bytes:
    parts = bytearray()
    async for part in response.aiter_bytes():
        parts += part
        if len(parts) > MOST_BYTES:
            raise Transient(
                ErrorClass.MALFORMED, f"The reply is larger than {MOST_BYTES // 2**20} MiB."
            )
    return bytes(parts)


def _timeout_or_lost(error: Exception, seconds: float) -> Transient:
    cause = type(error.__cause__).__name__
    if "Disconnected" in cause or "OSError" in cause:
        return Transient(ErrorClass.CONNECTION, "The endpoint closed the connection.")
    if isinstance(error, httpx.ConnectTimeout):
        return Transient(ErrorClass.CONNECTION, "The endpoint did not take the connection.")
    return Transient(ErrorClass.TIMEOUT, f"No whole reply within {seconds:g} s.")


def _read(request: Request, body: bytes) -> Reply:
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Transient(ErrorClass.MALFORMED, "The reply is not JSON.") from error
    try:
        return request.read(decoded)
    except CallError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise Transient(ErrorClass.MALFORMED, "The reply has not the expected shape.") from error


def _failure(request: Request, response: httpx.Response, body: bytes) -> CallError:
    status = response.status_code
    said = _said(request, body)
    message = f"HTTP {status}" + (f": {said}" if said else "")
    hint = retry_after(response.headers.get("retry-after"))
    if status == 429 and b"insufficient_quota" not in body:
        return RateLimited(message, hint, status)
    if status in {408, 425} or status >= 500:
        kind = ErrorClass.TIMEOUT if status == 408 else ErrorClass.SERVER
        return Transient(kind, message, status, hint)
    kind = ErrorClass.AUTH if status in {401, 403} else ErrorClass.REQUEST
    return Refused(kind, message, status)


def _said(request: Request, body: bytes) -> str:
    """Give the endpoint's own words, shortened; nothing for secret entries, which they may quote."""
    if not request.cacheable:
        return ""
    text = _error_text(body).replace("\n", " ").strip()
    for secret in (*request.headers.values(), *request.body_secrets.values()):
        for piece in secret.split():
            if len(piece) >= 8:
                text = text.replace(piece, "•••")
    return text if len(text) <= 200 else text[:199] + "…"


def _error_text(body: bytes) -> str:
    try:
        decoded: Any = json.loads(body)
    except (ValueError, RecursionError):
        return body[:200].decode("utf-8", "replace")
    error = decoded.get("error", decoded) if isinstance(decoded, dict) else decoded
    if isinstance(error, dict):
        error = error.get("message", "")
    return error if isinstance(error, str) else ""


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or "the endpoint"
