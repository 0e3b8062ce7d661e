"""HTTP itself: the bytes of one request out, the bytes of one reply back, or a name for what broke.

The connections under httpx are aiohttp's, because its own pool looks at all of them for every call.
Loaded with the first call only: a run that calls nothing needs none of it.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import ssl
import zlib
from collections.abc import Mapping
from contextlib import aclosing
from errno import ECONNREFUSED
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx
from httpx_aiohttp import AiohttpTransport

from harness.core.calls import Request
from harness.core.failures import CallError, ErrorClass, NoServer, Refused, Transient
from harness.core.storage import storable
from harness.endpoint.endpoints import is_loopback

MOST_BYTES = 16 * 2**20
"""A reply larger than this, packed or unpacked, is not read to its end."""

FEWEST_BYTES = 512 * 2**10
"""Size that every reply may have, however few tokens it may hold."""

TOKEN_BYTES = 512
"""Bytes of JSON that one output token may take: its text, once more as reasoning, its probabilities."""

_LIMITS: Final = {"timeout": {"connect": 15.0}}
"""Seconds until there is a connection; a whole exchange is bounded by ``Transport``."""


class HttpAnswer(NamedTuple):
    """A reply as it came, unpacked."""

    status: int
    retry_after: str | None
    """The header of this name."""
    body: bytes

    @property
    def is_success(self) -> bool:
        return httpx.codes.is_success(self.status)


class Transport:
    """Pools of connections to endpoints. Belongs to one event loop.

    Calls go to the transports directly: what httpx's client adds (redirects, cookies, ``.netrc``) has no place here.
    """

    def __init__(self, timeout_seconds: float, *, offline: bool) -> None:
        self._timeout = timeout_seconds
        self._offline = offline
        self._pools: dict[tuple[bool, str | None], _Pool] = {}
        self._ways: dict[str, tuple[httpx.URL, _Pool]] = {}

    async def close(self) -> None:
        for pool in self._pools.values():
            await pool.aclose()

    async def exchange(self, request: Request) -> HttpAnswer:
        """Send a request and read the whole reply, whatever its status; raises CallError."""
        try:
            async with asyncio.timeout(self._timeout):
                url, pool = self._way(request.url)
                own = {name.lower(): value for name, value in request.headers.items()}
                # Of all packings only gzip is unpacked here, within bounds.
                every = {"content-type": "application/json", **own, "accept-encoding": "gzip"}
                content = request.body
                if request.body_secrets and isinstance(content, Mapping):
                    content = {**content, **request.body_secrets}
                payload = json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")
                headers = httpx.Headers(every, "utf-8")
                call = httpx.Request("POST", url, headers=headers, content=payload, extensions=_LIMITS)
                async with aclosing(await pool.handle_async_request(call)) as response:
                    body = await _body(response, most_bytes(request))
                    waits = response.headers.get_list("retry-after")
                    return HttpAnswer(response.status_code, next(iter(waits), None), body)
        except CallError:
            raise
        except Exception as error:
            failure = _unconnected(error, request.url) or _lost(error, self._timeout)
            if failure is None:
                raise
            raise failure from error

    def _way(self, address: str) -> tuple[httpx.URL, _Pool]:
        """Return an address as httpx reads it, with its pool; a run has very few of both."""
        if address not in self._ways:
            # Refuse what a reader of addresses takes away silently, and with it what a person meant.
            if not address.isprintable() or " " in address:
                raise ValueError("An address holds neither spaces nor control characters.")
            url = httpx.URL(address)
            proxy = None if self._offline else _proxy(address)
            kind = url.scheme == "https" or proxy is not None, proxy
            if kind not in self._pools:
                self._pools[kind] = _open(*kind)
            self._ways[address] = url, self._pools[kind]
        return self._ways[address]


class _Pool(AiohttpTransport):
    """The connections of one kind, without the cookies that aiohttp would send with the next call."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        self.get_client().cookie_jar.clear()  # nothing was awaited since they were put there
        return response


def _proxy(url: str) -> str | None:
    """Return the proxy that the environment names for another machine; none for this one.

    The library's own reading of the environment would also send the passwords of a ``.netrc`` file.
    """
    parts = urlsplit(url)
    if is_loopback(url) or proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy and urlsplit(proxy).scheme not in {"http", "https"}:
        raise Refused(
            ErrorClass.REQUEST,
            "The proxy that the environment names is none that can be used: its address begins with neither "
            "http:// nor https://.",
        )
    return proxy


def _open(secure: bool, proxy: str | None) -> _Pool:
    """Return a new pool; without ``secure`` its context holds no certificates, and so trusts nobody."""
    context = ssl.create_default_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # the limiter bounds the connections; a second bound would make calls wait on their time
    pool = _Pool(context, limits=httpx.Limits(max_connections=0, keepalive_expiry=60))
    if proxy is not None:
        pool.proxy = httpx.Proxy(proxy)
        # aiohttp wants name and password in the address
        pool.proxy.url, pool.proxy.auth = httpx.URL(proxy), None
    return pool


def most_bytes(request: Request) -> int:
    """Return how many bytes a reply may have: as its output tokens need, ``MOST_BYTES`` without a bound."""
    tokens = request.most_completion_tokens
    return MOST_BYTES if tokens is None else min(MOST_BYTES, FEWEST_BYTES + TOKEN_BYTES * tokens)


async def _body(response: httpx.Response, most: int) -> bytes:
    """Read and unpack the body; empty where the status already tells more than a body that is unsound."""
    try:
        packed = _packed(response)
        if packed:
            return await _unpacked(response, most)
        parts = bytearray()
        async for part in response.aiter_raw():
            parts += part
            if len(parts) > most:
                raise _too_large(most)
        return bytes(parts)
    except CallError:
        if response.is_success:
            raise
        return b""


def _packed(response: httpx.Response) -> bool:
    """Return whether the body is packed with gzip, once; CallError if it is packed in another way."""
    named = response.headers.get_list("content-encoding", split_commas=True)
    encodings = [name.lower() for name in named if name.lower() not in {"", "identity"}]
    if not encodings:
        return False
    if encodings in (["gzip"], ["x-gzip"]):
        return True
    how = "several times" if len(encodings) > 1 else "in a way"
    failure = Refused(
        ErrorClass.MALFORMED,
        f"The reply is packed {how}, which was not asked for (content-encoding: "
        f"{ascii(', '.join(encodings))[1:-1][:40]}). Set the endpoint to plain replies or to gzip.",
    )
    failure.taken = True
    raise failure


async def _unpacked(response: httpx.Response, most: int) -> bytes:
    """Unpack gzip as it comes, never further than one byte beyond the bound."""
    parts, read = bytearray(), 0
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    async for part in response.aiter_raw():
        read += len(part)
        left = part
        while left:
            if unpacker.eof:  # gzip allows several members, one behind the other
                unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                parts += unpacker.decompress(left, most + 1 - len(parts))
            except zlib.error:
                raise Transient(ErrorClass.MALFORMED, "The reply is no sound gzip.") from None
            if max(len(parts), read) > most:
                raise _too_large(most)
            left = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
    if read and not unpacker.eof:
        raise Transient(ErrorClass.TRUNCATED, "The reply ends within its gzip.")
    return bytes(parts)


def _too_large(most: int) -> Transient:
    size = f"{most // 2**20} MiB" if most >= 2**20 else f"{most // 2**10} KiB"
    words = "Look what the endpoint sends, or allow more output tokens (--max-tokens)."
    return Transient(ErrorClass.MALFORMED, f"The reply is larger than {size}. {words}")


def _unconnected(error: Exception, url: str) -> CallError | None:
    """Return what kept a connection from being made; None for any other fault.

    httpx's error was raised from aiohttp's, which knows the cause; for a name with several addresses it joins their errors.
    """
    cause = error.__cause__
    fault = getattr(cause, "certificate_error", None) or getattr(cause, "os_error", None)
    if isinstance(fault, ssl.SSLError):
        why = "it does not speak TLS as it should. Is it http:// instead of https://?"
        if isinstance(fault, ssl.SSLCertVerificationError):
            why = _CERTIFICATE_FAULTS.get(fault.verify_code, _UNKNOWN_MAKER)
        return Refused(ErrorClass.CONNECTION, f"No safe connection to {_host(url)}: {why}")
    if isinstance(fault, socket.gaierror):
        host = storable(str(getattr(cause, "host", None) or _host(url)))
        words = f"No address is known for {host}. Look at its spelling and at the network."
        return NoServer(ErrorClass.CONNECTION, words)
    if fault is None and not isinstance(cause, TimeoutError):
        return None
    numbers = set(re.findall(r"\[(?:Errno|WinError) (\d+)\]", str(fault)))
    joined = bool(numbers) and numbers <= {str(ECONNREFUSED), "10061"}
    refused = (joined or isinstance(fault, ConnectionRefusedError)) and is_loopback(url)
    kind = NoServer if refused else Transient
    return kind(ErrorClass.CONNECTION, f"No connection to {_host(url)}.")


_UNKNOWN_MAKER = (
    "its certificate is not one that this computer trusts (self-signed, or of an unknown maker). If it is "
    "yours, name the file of the maker's certificate in the variable SSL_CERT_FILE."
)
_OTHER_NAME = (
    "its certificate is for another name. Look at the address, or ask who runs the server for a certificate "
    "of this name."
)
_CERTIFICATE_FAULTS = {
    9: "its certificate is not valid yet. Look at this computer's date and time.",
    10: "its certificate has expired. Look at this computer's date and time, or ask who runs the server for a new one.",
    62: _OTHER_NAME,
    64: _OTHER_NAME,
}
"""OpenSSL's verify code → what is wrong (X509_V_ERR_*); every other code is about who vouches for it."""


def _lost(error: Exception, seconds: float) -> CallError | None:
    """Return what kept a whole reply from coming; None if the fault is not the connection's."""
    if isinstance(error, TimeoutError):
        return Transient(ErrorClass.TIMEOUT, f"No whole reply within {seconds:g} s.")
    if isinstance(error, httpx.ProxyError):
        return Transient(ErrorClass.CONNECTION, "The proxy lets no connection through.")
    # the transport hands on what aiohttp raises for a reply that is no HTTP, and cannot read words of a status in Latin-1
    if hasattr(error, "request_info") or isinstance(error, UnicodeEncodeError):
        failure = Transient(ErrorClass.MALFORMED, "The reply is not HTTP as it should be.")
    elif isinstance(error, ValueError | httpx.InvalidURL | httpx.UnsupportedProtocol):
        words = "The endpoint's address is not a URL that can be used."
        return Refused(ErrorClass.REQUEST, words)
    elif isinstance(error, httpx.ReadError):
        failure = Transient(ErrorClass.TRUNCATED, "The connection broke within the reply.")
    elif isinstance(error, httpx.TransportError):
        failure = Transient(ErrorClass.CONNECTION, "The endpoint closed the connection.")
    else:
        return None
    failure.taken = True
    return failure


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or "the endpoint"
