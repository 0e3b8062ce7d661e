"""HTTP itself: the bytes of one request out, the bytes of one reply back, or a name for what broke.

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
from errno import ECONNREFUSED
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from harness.core.calls import Request
from harness.core.failures import CallError, ErrorClass, NoServer, Refused, Transient
from harness.core.storage_problems import storable
from harness.endpoint.endpoints import is_loopback

MOST_BYTES = 16 * 2**20
"""A reply larger than this, packed or unpacked, is not read to its end."""

FEWEST_BYTES = 512 * 2**10
"""Size that every reply may have, however few tokens it may hold."""

TOKEN_BYTES = 512
"""Bytes of JSON that one output token may take: its text, once more as reasoning, its probabilities."""

CONNECT_SECONDS = 15.0


class HttpAnswer(NamedTuple):
    """A reply as it came, unpacked."""

    status: int
    retry_after: str | None
    """The header of this name."""
    body: bytes

    @property
    def is_success(self) -> bool:
        """True for a status of the 2xx."""
        return _succeeded(self.status)


def _succeeded(status: int) -> bool:
    return 200 <= status < 300


class Transport:
    """Pools of connections to endpoints. Belongs to one event loop.

    Cookies, redirects and ``.netrc`` have no place here.
    """

    def __init__(self, timeout_seconds: float, *, offline: bool) -> None:
        self._timeout = timeout_seconds
        self._offline = offline
        self._pools: dict[tuple[bool, str | None], aiohttp.ClientSession] = {}
        self._ways: dict[str, aiohttp.ClientSession] = {}

    async def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            await pool.close()

    async def exchange(self, request: Request) -> HttpAnswer:
        """Send a request and read the whole reply, whatever its status; raises CallError."""
        try:
            async with asyncio.timeout(self._timeout):
                async with self._way(request.url).post(
                    request.url,
                    data=_payload(request),
                    headers=_headers(request),
                    allow_redirects=False,
                ) as response:
                    body = await _body(response, most_bytes(request))
                    return HttpAnswer(response.status, response.headers.get("retry-after"), body)
        except CallError:
            raise
        except Exception as error:
            failure = (
                _absent(error, request.url)
                or _unsafe(error, request.url)
                or _lost(error, request.url, self._timeout)
            )
            if failure is None:
                raise
            raise failure from error

    def _way(self, address: str) -> aiohttp.ClientSession:
        """Return the pool for an address; a run has very few of both."""
        if address not in self._ways:
            secure = urlsplit(_sound(address)).scheme == "https"
            way_out = secure, None if self._offline else _proxy(address)
            if way_out not in self._pools:
                self._pools[way_out] = _open(*way_out)
            self._ways[address] = self._pools[way_out]
        return self._ways[address]


def _proxy(url: str) -> str | None:
    """Return the proxy that the environment names for another machine; none for this one.

    The library's own reading of the environment would also send the passwords of a ``.netrc`` file.
    """
    parts = urlsplit(url)
    if is_loopback(url) or proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    if found and urlsplit(found).scheme not in {"http", "https"}:
        raise Refused(
            ErrorClass.REQUEST,
            "The proxy that the environment names is none that can be used: its address begins with neither "
            "http:// nor https://.",
        )
    return found


def _sound(address: str) -> str:
    """Refuse what a reader of addresses takes away silently, and with it what a person meant."""
    if not address.isprintable() or " " in address:
        raise ValueError("An address holds neither spaces nor control characters.")
    return address


def _open(secure: bool, proxy: str | None) -> aiohttp.ClientSession:
    # the limiter bounds the connections; a second bound would make calls wait on their time
    connector = aiohttp.TCPConnector(
        limit=0, keepalive_timeout=60, ssl=ssl.create_default_context() if secure else True
    )
    return aiohttp.ClientSession(
        connector=connector,
        proxy=proxy,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    )


def _headers(request: Request) -> dict[str, str]:
    """Return a request's headers with ours; gzip is the one packing that we unpack, within bounds."""
    own = {name.lower(): value for name, value in request.headers.items()}
    return {"content-type": "application/json", **own, "accept-encoding": "gzip"}


def _payload(request: Request) -> bytes:
    body = request.body
    if request.body_secrets and isinstance(body, Mapping):
        body = {**body, **request.body_secrets}
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


def most_bytes(request: Request) -> int:
    """Return how many bytes a reply may have: as its output tokens need, ``MOST_BYTES`` without a bound."""
    tokens = request.most_completion_tokens
    return MOST_BYTES if tokens is None else min(MOST_BYTES, FEWEST_BYTES + TOKEN_BYTES * tokens)


async def _body(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Read and unpack the body; empty where the status already tells more than a body that is unsound."""
    try:
        packed = _packed(response)
        return await _unpacked(response, most) if packed else await _plain(response, most)
    except CallError:
        if _succeeded(response.status):
            raise
        return b""


def _packed(response: aiohttp.ClientResponse) -> bool:
    """Return whether the body is packed with gzip, once; CallError where it is packed in another way."""
    named = ",".join(response.headers.getall("content-encoding", ())).lower()
    encodings = [each.strip() for each in named.split(",") if each.strip() not in {"", "identity"}]
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


async def _plain(response: aiohttp.ClientResponse, most: int) -> bytes:
    parts = bytearray()
    async for part in response.content.iter_any():
        parts += part
        if len(parts) > most:
            raise _too_large(most)
    return bytes(parts)


async def _unpacked(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Unpack gzip as it comes, never further than one byte beyond the bound."""
    parts, read = bytearray(), 0
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    async for part in response.content.iter_any():
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


def _lost(error: Exception, url: str, seconds: float) -> CallError | None:
    """Name what kept a whole reply from coming; None where the fault is not the connection's."""
    if isinstance(error, aiohttp.ClientConnectionError) and not _was_there(error):
        return Transient(ErrorClass.CONNECTION, f"No connection to {_host(url)}.")
    for kinds, error_class, words in _LOST:
        if isinstance(error, kinds):
            failure = Transient(error_class, words)
            failure.taken = kinds is not aiohttp.ClientHttpProxyError
            return failure
    if isinstance(error, TimeoutError):
        return Transient(ErrorClass.TIMEOUT, f"No whole reply within {seconds:g} s.")
    if isinstance(error, ValueError | aiohttp.NonHttpUrlClientError):
        return Refused(ErrorClass.REQUEST, "The endpoint's address is not a URL that can be used.")
    return None


def _was_there(error: aiohttp.ClientConnectionError) -> bool:
    """Return whether a connection broke that had come about."""
    never = isinstance(error, aiohttp.ClientConnectorError)
    return isinstance(error, _BROKEN) and not never


_BROKEN = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
_LOST: Final[tuple[tuple[type | tuple[type, ...], ErrorClass, str], ...]] = (
    (_BROKEN, ErrorClass.CONNECTION, "The endpoint closed the connection."),
    (aiohttp.ClientPayloadError, ErrorClass.TRUNCATED, "The connection broke within the reply."),
    (aiohttp.ClientHttpProxyError, ErrorClass.CONNECTION, "The proxy lets no connection through."),
    (aiohttp.ClientResponseError, ErrorClass.MALFORMED, "The reply is not HTTP as it should be."),
)
"""What is raised, its kind, and what is said of it."""


def _unsafe(error: Exception, url: str) -> Refused | None:
    """Name a connection that could not be made safe; None for any other failure."""
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", None)
    if isinstance(cause, ssl.SSLCertVerificationError):
        why = _CERTIFICATE_FAULTS.get(cause.verify_code, _UNKNOWN_MAKER)
    elif isinstance(cause, ssl.SSLError):
        why = "it does not speak TLS as it should. Is it http:// instead of https://?"
    else:
        return None
    return Refused(ErrorClass.CONNECTION, f"No safe connection to {_host(url)}: {why}")


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
    10: "its certificate has expired. Look at this computer's date and time, or ask who runs the server for "
    "a new one.",
    62: _OTHER_NAME,
    64: _OTHER_NAME,
}
"""OpenSSL's verify code → what is wrong (X509_V_ERR_*); every other code is about who vouches for it."""


def _absent(error: Exception, url: str) -> NoServer | None:
    """Name a connection that this machine refused, or a host that has no address; None for any other failure.

    Where a name has several addresses, the library joins their errors.
    """
    cause = getattr(error, "os_error", None)
    if isinstance(cause, socket.gaierror):
        host = getattr(error, "host", None) or _host(url)
        return NoServer(
            ErrorClass.CONNECTION,
            f"No address is known for {storable(str(host))}. Look at its spelling and at the network.",
        )
    numbers = set(re.findall(r"\[(?:Errno|WinError) (\d+)\]", str(cause)))
    joined = bool(numbers) and numbers <= {str(ECONNREFUSED), "10061"}
    if not (isinstance(cause, ConnectionRefusedError) or joined) or not is_loopback(url):
        return None
    return NoServer(ErrorClass.CONNECTION, f"No connection to {_host(url)}.")


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or "the endpoint"
