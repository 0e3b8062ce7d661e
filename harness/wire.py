"""The one place that talks HTTP: one request out, one decoded reply or a named failure back."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from harness.calls import Reply, Request
from harness.endpoints import is_loopback
from harness.failures import CallError, ErrorClass, RateLimited, Refused, Transient
from harness.retry import retry_after
from harness.store.texts import storable

MOST_BYTES = 16 * 2**20
"""A reply larger than this is not read to its end."""

CONNECT_SECONDS = 15.0


class Wire:
    """Pools of connections to endpoints. Belongs to one event loop.

    The connections are aiohttp's, behind httpx's interface: httpx's own pool looks at every connection
    for every request, which costs more than the request itself from a few dozen connections on. The
    transport is used without a client around it: cookies, redirects and ``.netrc`` have no place here.
    """

    def __init__(self, *, timeout_seconds: float, offline: bool) -> None:
        self._timeout = timeout_seconds
        self._offline = offline
        self._pools: dict[tuple[bool, str | None], httpx.AsyncBaseTransport] = {}

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
        for pool in self._pools.values():
            await pool.aclose()

    async def _exchange(self, request: Request) -> tuple[httpx.Response, bytes]:
        try:
            async with asyncio.timeout(self._timeout):
                call = _call(request)
                response = await self._pool(call.url).handle_async_request(call)
                try:
                    return response, await _body(response)
                finally:
                    await response.aclose()
        except CallError:
            raise
        except Exception as error:
            failure = _lost(error, request.url, self._timeout)
            if failure is None:
                raise
            raise failure from error

    def _pool(self, url: httpx.URL) -> httpx.AsyncBaseTransport:
        """Give the pool for a URL: one for each way out, so nearly always one."""
        secure = url.scheme == "https"
        way_out = secure, None if self._offline else _proxy(str(url))
        if way_out not in self._pools:
            self._pools[way_out] = _open(*way_out)
        return self._pools[way_out]


def _proxy(url: str) -> str | None:
    """Give the proxy that the environment names for another machine; none for this one.

    The library's own reading of the environment would also send the passwords of a ``.netrc`` file.
    """
    parts = urlsplit(url)
    if is_loopback(url) or proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _open(secure: bool, proxy: str | None) -> httpx.AsyncBaseTransport:
    import aiohttp
    from httpx_aiohttp import AiohttpTransport

    context = ssl.create_default_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    def session() -> aiohttp.ClientSession:
        # the limiter bounds the connections; a second bound would make calls wait on their time
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60, ssl=context)
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

    way_out = None if proxy is None else httpx.Proxy(proxy)
    return AiohttpTransport(verify=context, client=session, proxy=way_out)


def _call(request: Request) -> httpx.Request:
    return httpx.Request(
        "POST",
        request.url,
        content=_payload(request),
        headers={"content-type": "application/json", **request.headers},
        extensions={"timeout": {"connect": CONNECT_SECONDS}},
    )


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


def _lost(error: Exception, url: str, seconds: float) -> CallError | None:
    """Name what kept a whole reply from coming; None where the fault is not the connection's."""
    from aiohttp import ClientResponseError

    if isinstance(error, ClientResponseError | httpx.DecodingError):
        return Transient(ErrorClass.MALFORMED, "The reply is not HTTP as it should be.")
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return _timeout_or_closed(error, url, seconds)
    if isinstance(error, httpx.ReadError | httpx.RemoteProtocolError):
        return Transient(ErrorClass.TRUNCATED, "The connection broke within the reply.")
    if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL | ValueError):
        return Refused(ErrorClass.REQUEST, "The endpoint's address is not a URL that can be used.")
    if isinstance(error, httpx.TransportError):
        return Transient(ErrorClass.CONNECTION, f"No connection to {_host(url)}.")
    return None


def _timeout_or_closed(error: Exception, url: str, seconds: float) -> Transient:
    """Tell a time-out from a closed connection, for which the library raises the same."""
    cause = type(error.__cause__).__name__
    if "Disconnected" in cause or "OSError" in cause:
        return Transient(ErrorClass.CONNECTION, "The endpoint closed the connection.")
    if isinstance(error, httpx.ConnectTimeout):
        return Transient(ErrorClass.CONNECTION, f"No connection to {_host(url)}.")
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
    text = storable(" ".join(_error_text(body).split()))
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
