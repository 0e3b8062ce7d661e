"""No entry ever receives another entry's text; replies that are large or packed are read within a bound."""

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
from hypothesis import given
from hypothesis import strategies as st

from harness.core.calls import Reply
from harness.core.failures import CallError, ErrorClass, Refused
from harness.endpoint.client import EndpointClient
from harness.endpoint.transport import FEWEST_BYTES, most_bytes
from harness.methods.briefing import by_number, numbered
from tests.harness.endpoint.sending import GOOD, failure, request, send
from tests.harness.scripted import Answer, Scripted, completion
from tests.review.thorough import examples


def test_largest_reply_follows_its_tokens(endpoint: Scripted) -> None:
    good = json.dumps(completion("whole")).encode()
    for tokens, said in ((1, "512 KiB"), (2048, "1 MiB")):
        asked = request(endpoint.url, most_completion_tokens=tokens)
        most = most_bytes(asked)
        fits, longer = Answer(body=good + b" " * (most - len(good))), Answer(body=b" " * (most + 1))
        endpoint.answer = lambda _, fits=fits: fits  # type: ignore[misc]
        assert send(asked)[0].text == "whole"
        endpoint.answer = lambda _, longer=longer: longer  # type: ignore[misc]
        found = failure(asked)
        assert said in str(found)
        assert "--max-tokens" in str(found)
    assert most_bytes(request(endpoint.url, most_completion_tokens=10**9)) == 16 * 2**20


def test_gzip_of_several_members_is_read_whole_unless_cut(endpoint: Scripted) -> None:
    good = json.dumps(completion("whole")).encode()
    for parts in (1, 3):
        size = -(-len(good) // parts)
        body = b"".join(gzip.compress(good[at : at + size]) for at in range(0, len(good), size))
        endpoint.answer = lambda _, body=body: Answer(  # type: ignore[misc]
            body=body, headers={"content-encoding": "GZIP"}
        )
        assert send(request(endpoint.url))[0].text == "whole"
    assert endpoint.asked[0].headers["accept-encoding"] == "gzip"
    cut = Answer(body=gzip.compress(GOOD)[:-9], headers={"content-encoding": "gzip"})
    endpoint.answer = lambda _: cut
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


def test_reply_packed_twice_or_otherwise_is_refused(endpoint: Scripted) -> None:
    for encoding, body in PACKED.items():
        headers = {"content-encoding": encoding}
        good, bad = Answer(body=body, headers=headers), Answer(503, body, headers)
        endpoint.answer = lambda _, good=good: good  # type: ignore[misc]
        found = failure(request(endpoint.url))
        assert isinstance(found, Refused)
        assert found.bill is not None, "it may have been charged"
        assert "Set the endpoint to plain replies or to gzip." in str(found)
        assert "\x1b" not in str(found)
        endpoint.answer = lambda _, bad=bad: bad  # type: ignore[misc]
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
    [(ONCE, "gzip"), (PACKED["gzip, gzip"], "gzip, gzip"), (gzip.compress(b"") * 30_000, "gzip")],
    ids=["gzip", "gzip twice", "members of nothing"],
)
def test_no_packed_reply_fills_the_memory(endpoint: Scripted, body: bytes, encoding: str) -> None:
    endpoint.answer = lambda _: Answer(body=body, headers={"content-encoding": encoding})
    assert peak_of_eight(endpoint.url) < 8 * 3 * FEWEST_BYTES


def test_no_endless_reply_fills_the_memory() -> None:
    with endless() as url:
        assert peak_of_eight(url) < 8 * 3 * FEWEST_BYTES


def own(number: int) -> str:
    """The right answer for a number."""
    return f"translation <{number}>"


def written(pairs: list[tuple[int, str]]) -> str:
    return "{" + ",".join(f"{json.dumps(str(n))}:{json.dumps(text)}" for n, text in pairs) + "}"


garblings = st.lists(
    st.tuples(
        st.sampled_from(["drop", "double", "invent", "move", "empty"]),
        st.integers(0, 30),
        st.integers(0, 30),
    ),
    max_size=6,
)


@examples(15, 100)
@given(st.integers(1, 8), garblings)
def test_garbled_numbers_shift_no_text(count: int, operations: list[tuple[str, int, int]]) -> None:
    pairs = [(number, own(number)) for number in range(1, count + 1)]
    for kind, first, second in operations:
        place = first % len(pairs) if pairs else 0
        if kind == "drop" and pairs:
            pairs.pop(place)
        elif kind == "double" and pairs:
            pairs.insert(second % (len(pairs) + 1), pairs[place])
        elif kind == "invent":
            pairs.append((count + 1 + second, own(second)))
        elif kind == "move" and pairs:
            pairs.insert(second % len(pairs), pairs.pop(place))
        elif kind == "empty" and pairs:
            pairs[place] = (pairs[place][0], "")
    for number, text in enumerate(by_number(written(pairs), count), 1):
        assert text in {None, "", own(number)}


def test_a_reply_that_only_repeats_a_number_is_read_as_fast_as_it_is_long() -> None:
    """Looking through all numbers for each of them would take minutes."""
    assert by_number(written([(1, own(1))] * 200_000), 1) == [None]


@examples(15, 100)
@given(st.integers(2, 8), st.data())
def test_joined_or_split_texts_never_shift_the_rest(count: int, data: st.DataObject) -> None:
    """The model counts on by itself after it joined or split texts."""
    texts = [own(number) for number in range(1, count + 1)]
    place = data.draw(st.integers(0, count - 2))
    if data.draw(st.booleans()):
        texts[place : place + 2] = [texts[place] + " " + texts[place + 1]]
    else:
        texts[place : place + 1] = [texts[place][:5], texts[place][5:]]
    assert by_number(written(list(enumerate(texts, 1))), count) == [None] * count


@examples(24, 300)
@given(st.integers(1, 6), st.data(), st.text(max_size=200))
def test_cut_or_any_reply_gives_no_wrong_text(count: int, data: st.DataObject, reply: str) -> None:
    whole = written([(number, own(number)) for number in range(1, count + 1)])
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    for number, text in enumerate(by_number(cut, count), 1):
        assert text in {None, own(number)}
    assert len(by_number(reply, count)) == count


@examples(24, 300)
@given(st.lists(st.text(min_size=1).filter(lambda text: text == text.strip()), min_size=1))
def test_what_is_asked_can_be_answered(texts: list[str]) -> None:
    """Texts of several lines, with quotes, brackets, numbers, survive the way there and back."""
    assert by_number(numbered(texts), len(texts)) == texts


def test_known_habits_of_models() -> None:
    for reply, expected in [
        ('{"1": "a", "2": "b", "3": "c"}', ["a", "b", "c"]),
        ('{"3": "c", "1": "a", "2": "b"}', ["a", "b", "c"]),
        ('Here you are:\n```json\n{"1": "a", "2": "b", "3": "c"}\n```\nDone.', ["a", "b", "c"]),
        ('<think>{"1": "x"}</think>{"1": "a", "2": "b", "3": "c"}', ["a", "b", "c"]),
        ('{"1": "a", "3": "c"}', ["a", None, "c"]),
        ('{"1": "a", "2": "b"}', [None, None, None]),
        ('{"1": "a", "2": "b", "2": "x", "3": "c"}', ["a", None, "c"]),
        ('{"1": "a", "01": "b", "2": "b", "3": "c"}', [None, "b", "c"]),
        ('{"1": "a", "2": "b", "3": "c", "4": "d"}', [None, None, None]),
        ('{"1": "a", "2": null, "3": {"text": "c"}}', ["a", None, None]),
        ('{"1": "a", "2": "", "3": "c"}', ["a", "", "c"]),
        ('["a", "b", "c"]', [None, None, None]),
        ("1. a\n2. b\n3. c", [None, None, None]),
        ('{"1": "\\ud800x", "2": "b", "3": "c"}', ["\ufffdx", "b", "c"]),
        ("{" * 100_000, [None, None, None]),
        ('{"1": ' + "[" * 100_000 + "}", [None, None, None]),
    ]:
        assert by_number(reply, 3) == expected
