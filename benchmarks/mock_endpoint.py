"""A local OpenAI-compatible endpoint with a fixed delay, as lean as asyncio allows.

``python -P -m benchmarks.mock_endpoint --delay 0.05`` prints its port on the first line and serves until
it is ended; ``--answers`` names a JSON object of messages with their answers, ``--reply`` is the answer to all others. GET /stats tells how many requests came, how many were under way at most, and the seconds
from the first request to the last reply.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from pathlib import Path


class Statistics:
    """What the endpoint saw."""

    def __init__(self) -> None:
        self.served = 0
        self.under_way = 0
        self.most_under_way = 0
        self.first = 0.0
        self.last = 0.0

    def arrive(self) -> None:
        """Note a request."""
        self.first = self.first or time.perf_counter()
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)

    def leave(self) -> None:
        """Note a reply."""
        self.under_way -= 1
        self.served += 1
        self.last = time.perf_counter()

    def as_json(self) -> bytes:
        """Return the figures."""
        figures = {"served": self.served, "most_under_way": self.most_under_way, "seconds": self.last - self.first}
        return json.dumps(figures).encode()


class Endpoint(asyncio.Protocol):
    """One connection: keep-alive HTTP/1.1 with a body length."""

    def __init__(self, delay: float, answers: dict[str, str], reply: str | None, seen: Statistics) -> None:
        self.delay = delay
        self.answers = answers
        self.always = reply
        self.seen = seen
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each whole request after the delay."""
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end].lower()
            length = 0
            if (at := head.find(b"content-length:")) >= 0:
                length = int(head[at + 15 :].split(b"\r\n", 1)[0])
            if len(self.buffer) < end + 4 + length:
                return
            body = self.buffer[end + 4 : end + 4 + length]
            self.buffer = self.buffer[end + 4 + length :]
            self.answer(head, body)

    def answer(self, head: bytes, body: bytes) -> None:
        """Send the figures at once, anything else later."""
        if head.startswith(b"get /stats"):
            self.send(self.seen.as_json())
            return
        self.seen.arrive()
        asyncio.get_running_loop().call_later(self.delay, self.reply, body)

    def reply(self, body: bytes) -> None:
        """Answer the last message, with itself turned a little where no answer is given; and a usage block."""
        source = json.loads(body)["messages"][-1]["content"]
        other = source[1:] + source[:1] if self.always is None else self.always
        content = self.answers.get(source, other)
        answer = {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 1,
            "model": "mock-1",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 200, "completion_tokens": 30, "total_tokens": 230},
        }
        self.seen.leave()
        self.send(json.dumps(answer, ensure_ascii=False).encode())

    def send(self, body: bytes) -> None:
        """Write one reply."""
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self.transport.write(head.encode() + body)  # type: ignore[attr-defined]


async def serve(delay: float, port: int, answers: dict[str, str], reply: str | None) -> None:
    """Listen on the loopback until ended."""
    seen = Statistics()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Endpoint(delay, answers, reply, seen), "127.0.0.1", port, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--delay", type=float, default=0.05)
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--answers", type=Path)
    arguments.add_argument("--reply")
    chosen = arguments.parse_args()
    given = json.loads(chosen.answers.read_text("utf-8")) if chosen.answers else {}
    asyncio.run(serve(chosen.delay, chosen.port, given, chosen.reply))
