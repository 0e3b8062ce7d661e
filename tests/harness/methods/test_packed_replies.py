"""Replies that are large, packed, or packed again: read within a bound, or refused in words."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import socketserver
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from harness.core.calls import Reply
from harness.core.failures import CallError, ErrorClass, Refused
from harness.endpoint.client import EndpointClient
from harness.endpoint.transport import FEWEST_BYTES, most_bytes
from tests.harness.endpoint.sending import GOOD, failure, request, send
from tests.harness.scripted import Answer, Scripted, completion


@pytest.mark.parametrize(("tokens", "said"), [(1, "512 KiB"), (2048, "1 MiB"), (10**9, "16 MiB")])
def test_the_largest_reply_follows_the_tokens_it_may_have(
    endpoint: Scripted, tokens: int, said: str
) -> None:
    asked = request(endpoint.url, most_completion_tokens=tokens)
    most = most_bytes(asked)
    good = json.dumps(completion("whole")).encode()
    endpoint.answer = lambda _: Answer(body=good + b" " * (most - len(good)))
    assert send(asked)[0].text == "whole"
    endpoint.answer = lambda _: Answer(body=good + b" " * (most - len(good) + 1))
    found = failure(asked)
    assert said in str(found)
    assert "--max-tokens" in str(found)


@pytest.mark.parametrize("parts", [1, 3])
def test_a_gzip_of_several_members_is_read_whole(endpoint: Scripted, parts: int) -> None:
    good = json.dumps(completion("whole")).encode()
    size = -(-len(good) // parts)
    body = b"".join(gzip.compress(good[at : at + size]) for at in range(0, len(good), size))
    endpoint.answer = lambda _: Answer(body=body, headers={"content-encoding": "GZIP"})
    assert send(request(endpoint.url))[0].text == "whole"
    assert endpoint.asked[0].headers["accept-encoding"] == "gzip"


def test_a_gzip_that_is_cut_off_is_a_reply_that_was_cut(endpoint: Scripted) -> None:
    body = gzip.compress(GOOD)[:-9]
    endpoint.answer = lambda _: Answer(body=body, headers={"content-encoding": "gzip"})
    assert failure(request(endpoint.url)).error_class is ErrorClass.TRUNCATED


BLANKS = 64 * 2**20
ONCE = gzip.compress(b" " * BLANKS)
PACKED = {
    "gzip, gzip": gzip.compress(ONCE),
    "gzip,gzip , gzip": gzip.compress(gzip.compress(ONCE)),
    "br": b"\x1b\x00",
    "zstd": b"\x28\xb5\x2f\xfd",
    "deflate": b"x",
    "\x1b[31mred": b"x",
}


@pytest.mark.parametrize("encoding", PACKED)
def test_what_is_packed_twice_or_otherwise_is_refused_in_words(
    endpoint: Scripted, encoding: str
) -> None:
    headers = {"content-encoding": encoding}
    endpoint.answer = lambda _: Answer(body=PACKED[encoding], headers=headers)
    found = failure(request(endpoint.url))
    assert isinstance(found, Refused)
    assert found.bill is not None, "it may have been charged"
    assert "Set the endpoint to plain replies or to gzip." in str(found)
    assert "\x1b" not in str(found)
    endpoint.answer = lambda _: Answer(503, PACKED[encoding], headers)
    assert failure(request(endpoint.url)).status == 503


class Endless(socketserver.StreamRequestHandler):
    """Answers with chunks until the other side has gone."""

    def handle(self) -> None:
        chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
        with suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            while True:
                self.wfile.write(chunk)


@contextmanager
def endless() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Endless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


def peak_of_eight(url: str) -> int:
    """Ask for eight replies at once, each of which may have half a MiB; gives the memory they took."""
    asked = request(url, most_completion_tokens=1)

    async def eight() -> list[BaseException | tuple[Reply, int]]:
        client = EndpointClient(timeout_seconds=60, offline=False)
        try:
            calls = (client.send(asked) for _ in range(8))
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            await client.close()

    asyncio.run(eight())  # what is imported and kept is not a reply's
    gc.collect()
    tracemalloc.start()
    try:
        found = asyncio.run(eight())
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        assert all(isinstance(each, CallError) for each in found)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (ONCE, "gzip"),
        (PACKED["gzip, gzip"], "gzip, gzip"),
        (gzip.compress(b"") * 30_000, "gzip"),
    ],
    ids=["gzip", "gzip twice", "members of nothing"],
)
def test_no_packed_reply_fills_the_memory(endpoint: Scripted, body: bytes, encoding: str) -> None:
    endpoint.answer = lambda _: Answer(body=body, headers={"content-encoding": encoding})
    assert peak_of_eight(endpoint.url) < 8 * 3 * FEWEST_BYTES


def test_no_endless_reply_fills_the_memory() -> None:
    with endless() as url:
        assert peak_of_eight(url) < 8 * 3 * FEWEST_BYTES
