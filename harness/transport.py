"""HTTP itself: the bytes of one request out, the bytes of one reply back, or a name for what broke.

Loaded with the first call only: a run that calls nothing needs none of it.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from harness.calls import Request
from harness.endpoints import is_loopback
from harness.failures import CallError, ErrorClass, Refused, Transient

MOST_BYTES = 16 * 2**20
"""A reply larger than this is not read to its end."""

CONNECT_SECONDS = 15.0


class Transport:
    """Pools of connections to endpoints. Belongs to one event loop.

    The connections are aiohttp's, behind httpx's interface: httpx's own pool looks at every connection
    for every request, which costs more than the request itself from a few dozen connections on. The
    transport is used without a client around it: cookies, redirects and ``.netrc`` have no place here.
    """

    def __init__(self, timeout_seconds: float, *, offline: bool) -> None:
        self._timeout = timeout_seconds
        self._offline = offline
        self._pools: dict[tuple[bool, str | None], httpx.AsyncBaseTransport] = {}
        self._ways: dict[str, tuple[httpx.URL, httpx.AsyncBaseTransport]] = {}

    async def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            await pool.aclose()

    async def exchange(self, request: Request) -> tuple[httpx.Response, bytes]:
        """Send a request and read the whole reply, whatever its status; raises CallError."""
        try:
            async with asyncio.timeout(self._timeout):
                url, pool = self._way(request.url)
                response = await pool.handle_async_request(_call(request, url))
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

    def _way(self, address: str) -> tuple[httpx.URL, httpx.AsyncBaseTransport]:
        """Give an address as a URL, and the pool for it; a run has very few of both."""
        if address not in self._ways:
            url = httpx.URL(address)
            secure = url.scheme == "https"
            way_out = secure, None if self._offline else _proxy(address)
            if way_out not in self._pools:
                self._pools[way_out] = _open(*way_out)
            self._ways[address] = url, self._pools[way_out]
        return self._ways[address]


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


def _call(request: Request, url: httpx.URL) -> httpx.Request:
    return httpx.Request(
        "POST",
        url,
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


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or "the endpoint"
